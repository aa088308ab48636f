/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a particle file.
 */
#include "input.h"

#include "progress.h"
#include "report.h"

#include <stdio.h>

io_status input_read(const options *o, const char *path, input *in, io_error *error)
{
    progress bar = progress_start("reading", "B", -1, o->quiet);
    io_read_options read = o->read;
    read.watch = progress_watch;
    read.user = &bar;
    in->path = path;
    const io_status status = io_read(path, &read, &in->particles, error);
    in->seconds = progress_end(&bar);
    in->bytes = in->particles.bytes;
    return status;
}

void input_free(input *in)
{
    io_particles_free(&in->particles);
}

io_trajectory_options input_how(const options *o)
{
    return (io_trajectory_options){
        .read = o->read, .frames = o->frames, .label = o->label, .topology = o->topology};
}

int input_each_frame(io_trajectory *from, input_frame_fn take, void *user, double *seconds)
{
    const io_frame *frame = NULL;
    io_error error = {0};
    for (;;) {
        const double start = progress_clock();
        const io_status status = io_trajectory_next(from, &frame, &error);
        *seconds += progress_clock() - start;
        if (status == IO_CANCELLED || progress_interrupted()) {
            return STATUS_INTERRUPTED;
        }
        if (status != IO_OK) {
            return report_io(&error, false);
        }
        if (!frame) {
            return STATUS_OK;
        }
        const int taken = take(user, frame);
        if (taken != STATUS_OK) {
            return taken;
        }
    }
}

kith_points input_points(const input *in)
{
    return kith_points_packed(in->particles.pos, in->particles.n, in->particles.precision);
}

static const char *precision_name(kith_precision precision)
{
    return precision == KITH_FLOAT ? "float" : "double";
}

json_t *input_json(const input *in)
{
    return json_pack("{s:o, s:I, s:s, s:i, s:I, s:o}", "path", report_json_text(in->path),
                     "particles", (json_int_t)in->particles.n, "precision",
                     precision_name(in->particles.precision), "dim", in->particles.dim, "bytes",
                     (json_int_t)in->bytes, "read_seconds", report_json_real(in->seconds));
}

void input_print(const input *in)
{
    printf("%s, %s; read %s in %s, %s/s\n", report_count(in->particles.n).s,
           precision_name(in->particles.precision), report_bytes(in->bytes).s,
           report_seconds(in->seconds).s,
           report_bytes((int64_t)report_rate((double)in->bytes, in->seconds)).s);
}
