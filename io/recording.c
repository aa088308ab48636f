/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that grow while a simulation runs.
 */
#include "recording.h"

#include "gsd.h"

#include <stdio.h>
#include <stdlib.h>

struct io_recording {
    io_output output;
    bool is_gsd;
    io_gsd_writer gsd;
};

io_status io_recording_open(const char *path, const io_mark *from, io_recording **out,
                            io_error *error)
{
    io_recording *made = calloc(1, sizeof *made);
    *out = NULL;
    if (!made)
        return io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    io_status status = io__output_append(&made->output, path, from->bytes, error);
    made->is_gsd = io__ends_with(path, ".gsd");
    if (status == IO_OK && made->is_gsd) {
        status = from->bytes > 0 ? io__gsd_resume(&made->output, from, &made->gsd)
                                 : io__gsd_begin(&made->output, &made->gsd);
        if (status != IO_OK)
            io__output_abort(&made->output);
    }
    if (status != IO_OK) {
        free(made);
        return status;
    }
    *out = made;
    return IO_OK;
}

io_status io_recording_frame(io_recording *recording, const io_particles *particles, int64_t step,
                             io_error *error)
{
    char facts[96];
    io_output *output = &recording->output;
    output->error = error;
    if (recording->is_gsd)
        return io__gsd_frame(output, &recording->gsd, particles, step);
    const locale_t before = io__locale_enter();
    snprintf(facts, sizeof facts, "step=%lld Time=%.17g ", (long long)step, particles->time);
    const io_status status = io__xyz_write(output, particles, facts);
    io__locale_leave(before);
    return status == IO_OK ? io__output_flush(output) : status;
}

io_status io_recording_line(io_recording *recording, const char *text, io_error *error)
{
    recording->output.error = error;
    IO_TRY(io__output_printf(&recording->output, "%s\n", text));
    return io__output_flush(&recording->output);
}

io_status io_recording_sync(io_recording *recording, io_mark *mark, io_error *error)
{
    recording->output.error = error;
    IO_TRY(io__output_sync(&recording->output));
    *mark = (io_mark){recording->output.written, recording->gsd.index, recording->gsd.room};
    return IO_OK;
}

io_status io_recording_close(io_recording *recording, io_error *error)
{
    if (!recording)
        return IO_OK;
    io_mark unwanted;
    const io_status status = io_recording_sync(recording, &unwanted, error);
    io__output_abort(&recording->output); /* without a part there is nothing to throw away */
    free(recording);
    return status;
}
