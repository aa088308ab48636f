/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading one set of particles, or all frames of a trajectory, with a progress bar.
 */
#include "input.h"

#include "progress.h"

#include <core/quote.h>

int input_read(const options *o, const char *path, input *in)
{
    io_error error = {0};
    CLI_TRY(report_io(input_try(o, path, in, &error), &error, false));
    input_note_frames(o, in);
    return STATUS_OK;
}

void input_note_frames(const options *o, const input *in)
{
    const int64_t frames = in->particles.frames;
    const bool chosen = option_is_set(option_find(reading_options, "frame")) ||
                        option_is_set(option_find(one_frame_options, "frame"));
    const bool tells = !chosen && !o->quiet && !o->json;
    if (tells && frames > 1) {
        (void)report_error(STATUS_OK, NULL,
                           "%s: note: frame 0 of %lld is read; --frame K reads another", in->path,
                           (long long)frames);
    } else if (tells && frames < 0) {
        (void)report_error(STATUS_OK, NULL,
                           "%s: note: frame 0 is read, and more follow; --frame K reads another",
                           in->path);
    }
}

io_status input_try(const options *o, const char *path, input *in, io_error *error)
{
    progress bar = progress_start("reading", "B", -1, o->quiet);
    io_read_options read = o->read;
    read.watch = progress_watch;
    read.user = &bar;
    read.threads = o->threads;
    in->path = path;
    in->frame = read.frame;
    in->parts = read.parts > 0 ? (int)read.parts : 1;
    const io_status status = io_read(path, &read, &in->particles, error);
    in->seconds = progress_end(&bar);
    return status;
}

void input_free(input *in)
{
    io_particles_free(&in->particles);
}

io_trajectory_options input_how(const options *o)
{
    io_trajectory_options how = {
        .read = o->read, .frames = o->frames, .label = o->label, .topology = o->topology};
    how.read.threads = o->threads;
    return how;
}

void input_warn_guessed(const char *path, const io_frame *frame)
{
    if (frame->guessed[0]) {
        (void)report_error(STATUS_OK, "a PDB with columns 77-78 or a CIF as --topology says them",
                           "%s: warning: elements are taken from names of atoms: %s", path,
                           frame->guessed);
    }
}

/** Pass each frame to `take`. @param seconds  the time of waiting for frames is added */
static int take_all(const char *path, io_trajectory *t, input_frame_fn take, void *user,
                    double *seconds)
{
    const io_frame *frame = NULL;
    io_error error = {0};
    for (bool any = false;; any = true) {
        const double start = progress_clock();
        const io_status status = io_trajectory_next(t, &frame, &error);
        *seconds += progress_clock() - start;
        if (status == IO_CANCELLED || progress_interrupted()) {
            return STATUS_INTERRUPTED;
        }
        CLI_TRY(report_io(status, &error, false));
        if (!frame) {
            return any ? STATUS_OK
                       : report_error(STATUS_FORMAT,
                                      "its program ended before it wrote one, or wrote another "
                                      "file; give that, or run it again",
                                      "%s: holds no frames", path);
        }
        CLI_TRY(take(user, frame));
    }
}

int input_each_frame(const char *path, const io_trajectory_options *how, input_frame_fn take,
                     void *user, input_frames *from)
{
    io_error error = {0};
    io_trajectory *t = NULL;
    CLI_TRY(report_io(io_trajectory_open(path, how, &t, &error), &error, false));
    from->wanted = io_trajectory_frames(t);
    io_quote(from->description, sizeof from->description, IO_QUOTE_SHOWN,
             io_trajectory_description(t));
    const int status = take_all(path, t, take, user, &from->seconds);
    io_trajectory_close(t);
    return status;
}

int input_survey(const char *path, const io_trajectory_options *how, bool quiet,
                 input_frame_fn take, void *user)
{
    io_error error = {0};
    io_trajectory *t = NULL;
    progress bar = progress_start("surveying", "B", -1, quiet);
    io_trajectory_options survey = *how;
    survey.read.watch = progress_watch;
    survey.read.user = &bar;
    int status = report_io(io_trajectory_open(path, &survey, &t, &error), &error, false);
    if (status == STATUS_OK && io_trajectory_frames(t) != 1) {
        double seconds = 0;
        status = take_all(path, t, take, user, &seconds);
    }
    io_trajectory_close(t);
    progress_end(&bar);
    return status;
}

kith_points input_points(const input *in)
{
    return kith_points_packed(in->particles.pos, in->particles.n, in->particles.precision);
}

/** Return true when the file has other frames than the one that was read. */
static bool is_of_many(const input *in)
{
    return in->particles.frames != 0 && in->particles.frames != 1;
}

json_t *input_json(const input *in)
{
    const int64_t frames = in->particles.frames;
    json_t *value = json_pack(
        "{s:o, s:I, s:s, s:i, s:I, s:i, s:o}", "path", report_json_text(in->path), "particles",
        (json_int_t)in->particles.all, "precision", report_precision(in->particles.precision),
        "dim", in->particles.dim, "bytes", (json_int_t)in->particles.bytes, "parts", in->parts,
        "read_seconds", report_json_real(in->seconds));
    if (is_of_many(in)) {
        json_object_set_new(value, "frame", json_integer(in->frame));
        json_object_set_new(value, "frames", frames > 0 ? json_integer(frames) : json_null());
    }
    return value;
}

printed input_words(const input *in)
{
    const int64_t bytes = in->particles.bytes, frames = in->particles.frames;
    const printed frame = !is_of_many(in) ? report_format("%s", "")
                          : frames > 0 ? report_format(", frame %lld of %lld", (long long)in->frame,
                                                       (long long)frames)
                                       : report_format(", frame %lld", (long long)in->frame);
    return report_format("%s, %s%s; read %s in %s, %s/s", report_count(in->particles.all).s,
                         report_precision(in->particles.precision), frame.s, report_bytes(bytes).s,
                         report_seconds(in->seconds).s,
                         report_bytes((int64_t)report_rate((double)bytes, in->seconds)).s);
}
