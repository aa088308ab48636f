/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that grow while a simulation runs (recording.h). A table of the open text files and their
 * complete lengths is kept for a handler of signals, which truncates them there.
 */
#include "recording.h"

#include "gsd.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TEXTS = 4 }; /* entries of texts; further open files are not truncated */

/** The open text files. A handler of signals reads this table. */
static struct {
    atomic_int fd;            /* descriptor of the file; 0: the entry is free */
    _Atomic int64_t complete; /* size of the file up to its last complete frame or line [byte] */
} texts[MOST_TEXTS];

struct io_recording {
    io_output output;  /* the file */
    int text;          /* index of its entry in texts; MOST_TEXTS: none */
    bool is_gsd;       /* the format is GSD, else text */
    io_gsd_writer gsd; /* state of a GSD file */
};

/** Record the current length of the output as the end of its last complete frame. */
static void note_complete(const io_recording *recording)
{
    if (recording->text < MOST_TEXTS) {
        atomic_store(&texts[recording->text].complete, recording->output.written);
    }
}

void io_cut_recordings(void)
{
    for (int k = 0; k < MOST_TEXTS; k++) {
        const int fd = atomic_load(&texts[k].fd);
        if (fd > 0) {
            (void)!ftruncate(fd, (off_t)atomic_load(&texts[k].complete));
        }
    }
}

uint64_t io_sum(const void *data, int64_t size)
{
    const unsigned char *byte = data, *end = byte + size;
    uint64_t h = 0xcbf29ce484222325u;
    for (; end - byte >= (int64_t)sizeof h; byte += sizeof h) {
        uint64_t word;
        memcpy(&word, byte, sizeof word);
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 29; /* a product carries bits upwards only: mix high bits into low ones */
    }
    for (; byte < end; byte++) {
        h = (h ^ *byte) * 0x100000001b3u;
    }
    return h;
}

io_status io_recording_open(const char *path, const io_mark *from, io_recording **out,
                            io_error *error)
{
    io_recording *made = calloc(1, sizeof *made);
    *out = NULL;
    if (!made) {
        return io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    }
    io_status status = io__output_append(&made->output, path, from, error);
    made->is_gsd = io__ends_with(path, ".gsd");
    if (status == IO_OK && made->is_gsd) {
        status = from->bytes > 0 ? io__gsd_resume(&made->output, from, &made->gsd)
                                 : io__gsd_begin(&made->output, &made->gsd);
        if (status != IO_OK) {
            io__output_abort(&made->output);
        }
    }
    if (status != IO_OK) {
        free(made);
        return status;
    }
    made->text = made->is_gsd ? MOST_TEXTS : 0;
    while (made->text < MOST_TEXTS && atomic_load(&texts[made->text].fd) > 0) {
        made->text++;
    }
    note_complete(made);
    if (made->text < MOST_TEXTS) {
        atomic_store(&texts[made->text].fd, made->output.fd);
    }
    *out = made;
    return IO_OK;
}

/** Append the things to a text of key=value pairs for the comment of a frame.
 *  @param facts  [room], ends with 0 */
static void tell_things(const io_things *things, char *facts, size_t room)
{
    for (int64_t k = 0; k < things->n; k++) {
        double number[IO_THING_NUMBERS];
        size_t used = strlen(facts);
        io_thing_numbers(&things->item[k], number);
        used += (size_t)snprintf(facts + used, room - used, "kith_thing%lld=\"", (long long)k);
        for (int m = 0; m < IO_THING_NUMBERS; m++) {
            used += (size_t)snprintf(facts + used, room - used, "%s%.17g", m > 0 ? " " : "",
                                     number[m]);
        }
        snprintf(facts + used, room - used, "\" ");
    }
}

io_status io_recording_frame(io_recording *recording, const io_particles *particles,
                             const io_things *things, int64_t step, io_error *error)
{
    /* Bytes of step and time; of a thing: a key, then numbers of at most 24 letters. */
    enum { CLOCK = 96, THING = 32 + IO_THING_NUMBERS * 26 };
    static const io_things none;
    char facts[CLOCK + THING * KITH_MOST_THINGS];
    io_output *output = &recording->output;
    output->error = error;
    things = things ? things : &none;
    if (recording->is_gsd) {
        return io__gsd_frame(output, &recording->gsd, particles, things, step);
    }
    const locale_t before = io__locale_set_c();
    snprintf(facts, CLOCK, "step=%lld Time=%.17g ", (long long)step, particles->time);
    tell_things(things, facts, sizeof facts);
    const io_status status = io__xyz_write(output, particles, particles->type, facts);
    io__locale_restore(before);
    IO_TRY(status);
    IO_TRY(io__output_flush(output));
    note_complete(recording);
    return IO_OK;
}

io_status io_recording_line(io_recording *recording, const char *text, io_error *error)
{
    recording->output.error = error;
    IO_TRY(io__output_printf(&recording->output, "%s\n", text));
    IO_TRY(io__output_flush(&recording->output));
    note_complete(recording);
    return IO_OK;
}

io_status io_recording_sync(io_recording *recording, io_mark *mark, io_error *error)
{
    recording->output.error = error;
    IO_TRY(io__output_sync(&recording->output));
    *mark = (io_mark){.bytes = recording->output.written,
                      .index = recording->gsd.index,
                      .room = recording->gsd.room};
    /* The tail is of the last frame: the index of GSD is patched later. */
    const int64_t begin = recording->is_gsd ? recording->gsd.frame_begin : 0;
    const int64_t end = recording->is_gsd ? recording->gsd.frame_end : mark->bytes;
    const int64_t size = end - begin < IO_TAIL ? end - begin : IO_TAIL;
    char tail[IO_TAIL];
    if (io__get(recording->output.fd, tail, size, end - size) == size) { /* no pipe */
        mark->tail_at = end - size;
        mark->tail_bytes = size;
        mark->tail_sum = io_sum(tail, size);
    }
    return IO_OK;
}

io_status io_recording_close(io_recording *recording, io_error *error)
{
    if (!recording) {
        return IO_OK;
    }
    if (recording->text < MOST_TEXTS) {
        atomic_store(&texts[recording->text].fd, 0); /* before the descriptor is closed */
    }
    recording->output.error = error;
    const io_status status = io__output_commit(&recording->output);
    free(recording);
    return status;
}
