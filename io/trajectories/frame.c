/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One frame of a trajectory: memory for it, kept from frame to frame, and the choice of species.
 */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

void io__frame_free(io_frame *frame)
{
    io_particles_free(&frame->particles);
    free(frame->species);
    free(frame->force);
    free(frame->molecule);
    free(frame->weight);
    free(frame->bond);
    *frame = (io_frame){0};
}

/** Allocate what a frame has beside its particles. */
static io_status alloc_own(const io_frames *frames, io_frame *frame, int64_t n, unsigned fields)
{
    const size_t room = (size_t)n + 1; /* never 0 */
    frame->species = malloc(room * sizeof *frame->species);
    if (fields & IO_FORCES) {
        frame->force = malloc(room * 3 * frame->particles.precision);
    }
    if (fields & IO_MOLECULES) {
        frame->molecule = malloc(room * sizeof *frame->molecule);
    }
    if (fields & IO_WEIGHTS) {
        frame->weight = malloc(room * sizeof *frame->weight);
    }
    if (!frame->species || (!frame->weight && fields & IO_WEIGHTS) ||
        (!frame->force && fields & IO_FORCES) || (!frame->molecule && fields & IO_MOLECULES)) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for %lld particles",
                             (long long)n);
    }
    return IO_OK;
}

io_status io__frame_alloc(io_frames *frames, io_frame *out, int64_t n, kith_precision native,
                          unsigned present)
{
    const unsigned fields = io__fields_wanted(frames->file) & present;
    const kith_precision given = frames->file->options->precision;
    io_particles *particles = &out->particles;
    frames->present = present;
    frames->native = native;
    if (n > out->room || fields != out->fields || !out->species ||
        particles->precision != (given ? given : native)) {
        io__frame_free(out);
        IO_TRY(io__particles_alloc(frames->file, particles, n, 3, native));
        IO_TRY(io__particles_add(frames->file, particles, fields & (IO_VELOCITIES | IO_IDS)));
        IO_TRY(alloc_own(frames, out, n, fields));
        out->fields = fields;
        out->room = n;
    }
    particles->n = n;
    particles->dim = 3;
    particles->box = io__box_open();
    particles->has_box = particles->has_time = out->has_step = false;
    out->n_bonds = 0;
    return IO_OK;
}

io_status io__frame_adopt(const io_frames *frames, io_frame *out, io_particles particles,
                          unsigned present)
{
    io__frame_free(out);
    out->particles = particles;
    out->fields = io__fields_wanted(frames->file) & (present | (IO_FORCES - 1));
    return alloc_own(frames, out, particles.n, out->fields);
}

io_status io__frame_alloc_bonds(const io_frames *frames, io_frame *out, int64_t n)
{
    int32_t *bond = realloc(out->bond, ((size_t)n + 1) * 2 * sizeof *bond);
    if (!bond) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for %lld bonds", (long long)n);
    }
    out->bond = bond;
    out->n_bonds = n;
    return IO_OK;
}

io_status io__frame_unnamed(io_frames *frames, io_frame *out)
{
    int32_t number;
    IO_TRY(io__labels_number(frames->file, &frames->labels, (io_token){"", 0}, &number));
    for (int64_t p = 0; p < out->particles.n; p++) {
        out->species[p] = number;
    }
    return IO_OK;
}

/** Keep the rows p of an array for which place[p] >= 0. */
static void keep(void *array, size_t bytes, const int32_t *place, int64_t n)
{
    for (int64_t p = 0; p < n && array; p++) {
        if (place[p] >= 0) {
            memmove((char *)array + (size_t)place[p] * bytes, (char *)array + (size_t)p * bytes,
                    bytes);
        }
    }
}

/** Keep the bonds between particles that are kept. */
static void keep_bonds(io_frame *frame, const int32_t *place)
{
    int64_t n = 0;
    for (int64_t k = 0; k < frame->n_bonds; k++) {
        const int32_t i = place[frame->bond[2 * k]], j = place[frame->bond[2 * k + 1]];
        if (i < 0 || j < 0) {
            continue;
        }
        frame->bond[2 * n] = i;
        frame->bond[2 * n++ + 1] = j;
    }
    frame->n_bonds = n;
}

io_status io__frame_select(io_frames *frames, io_frame *frame, bool check)
{
    io_particles *particles = &frame->particles;
    const int64_t n = particles->n;
    io_species wanted;
    IO_TRY(io__species_parse(frames->file, &wanted));
    if (wanted.n == 0) {
        return IO_OK;
    }
    int32_t *place = malloc(((size_t)n + 1) * sizeof *place);
    if (!place) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory to choose species");
    }
    int32_t kept = 0;
    for (int64_t p = 0; p < n; p++) {
        const char *name = frames->labels.name[frame->species[p]];
        const int at = io__species_find(&wanted, (io_token){name, strlen(name)});
        place[p] = at >= 0 ? kept++ : -1;
        if (at >= 0) {
            wanted.item[at].n++;
        }
    }
    const size_t row = 3 * (size_t)particles->precision;
    keep(particles->pos, row, place, n);
    keep(particles->velocity, row, place, n);
    keep(particles->id, sizeof *particles->id, place, n);
    keep(frame->species, sizeof *frame->species, place, n);
    keep(frame->force, row, place, n);
    keep(frame->molecule, sizeof *frame->molecule, place, n);
    keep(frame->weight, sizeof *frame->weight, place, n);
    keep_bonds(frame, place);
    free(place);
    particles->n = kept;
    return check ? io__species_check(frames->file, &wanted) : IO_OK;
}
