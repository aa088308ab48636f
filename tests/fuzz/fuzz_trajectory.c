/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libFuzzer target of trajectories: the input is a file. The last byte of it also chooses among
 * options. Whatever the file holds, its frames are whole, and it ends or fails with a sentence.
 */
#include "fuzz_file.h"

#include <trajectories/trajectory.h>

static io_trajectory_options options_from(uint8_t choice)
{
    static const char *const frames[4] = {NULL, "1:", "::2", "-2:"};
    const unsigned fields = IO_VELOCITIES | IO_FORCES | IO_IDS | IO_MOLECULES | IO_BONDS;
    return (io_trajectory_options){.read = {.precision = choice & 1 ? KITH_FLOAT : 0,
                                            .fields = choice & 2 ? fields : 0,
                                            .species = choice & 4 ? "A,1,O" : NULL},
                                   .frames = frames[choice >> 3 & 3],
                                   .label = (io_label)(choice >> 5 & 3)};
}

static double sum_reals(const io_frame *f, const void *reals)
{
    double sum = 0;
    for (int64_t k = 0; k < 3 * f->particles.n && reals; k++)
        sum += f->particles.precision == KITH_FLOAT ? (double)((const float *)reals)[k]
                                                    : ((const double *)reals)[k];
    return sum;
}

/** Touch all that a frame has. */
static void check_frame(const io_frame *f)
{
    const io_particles *particles = &f->particles;
    double sum = sum_reals(f, particles->pos) + sum_reals(f, particles->velocity) +
                 sum_reals(f, f->force);
    for (int64_t p = 0; p < particles->n; p++) {
        require(f->species[p] >= 0 && f->species[p] < f->n_names, "a species without a name");
        sum += f->names[f->species[p]][0] + (f->molecule ? f->molecule[p] : 0) +
               (particles->id ? (double)particles->id[p] : 0);
    }
    for (int64_t k = 0; k < 2 * f->n_bonds; k++)
        require(f->bond[k] >= 0 && f->bond[k] < particles->n, "a bond of no particle");
    require(particles->n > 0 || sum == 0, "no particles, but numbers");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST_FRAMES = 20 };
    static io_summary summary;
    io_trajectory *t;
    io_error error;
    const io_frame *frame = NULL;
    const char *path = write_file(data, size);
    io_inspect(path, &summary, &error);
    const io_trajectory_options options = options_from(size ? data[size - 1] : 0);
    io_status status = io_trajectory_open(path, &options, &t, &error);
    remove_file();
    for (int k = 0; status == IO_OK && k < MOST_FRAMES; k++) {
        status = io_trajectory_next(t, &frame, &error);
        if (status != IO_OK || !frame)
            break;
        check_frame(frame);
    }
    require((status == IO_OK) == (error.text[0] == 0), "a status and its sentence disagree");
    io_trajectory_close(t);
    return summary.format == FUZZ_FORMAT ? 0 : -1; /* -1: no seed for this reader */
}
