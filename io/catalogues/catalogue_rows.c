/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of the particles of a catalogue, in the order of the input, or sorted by type and group. The
 * particles are in memory, or several processes hold a share each, and copy rows when a writer asks
 * for them. Sorting is a counting sort: O(particles + groups).
 */
#include "catalogue_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

size_t io_row_bytes(const io_particles *particles, io_catalogue_column column)
{
    const size_t real = (size_t)particles->precision;
    switch (column) {
    case IO_COLUMN_POSITIONS:
    case IO_COLUMN_VELOCITIES: return 3 * real;
    case IO_COLUMN_IDS: return sizeof(int64_t);
    case IO_COLUMN_LABELS: return sizeof(int32_t);
    default: return real;
    }
}

const void *io_column_of(const io_particles *particles, const int32_t *labels,
                         io_catalogue_column column)
{
    switch (column) {
    case IO_COLUMN_POSITIONS: return particles->pos;
    case IO_COLUMN_VELOCITIES: return particles->velocity;
    case IO_COLUMN_MASSES: return particles->mass;
    case IO_COLUMN_IDS: return particles->id;
    case IO_COLUMN_POTENTIALS: return particles->potential;
    case IO_COLUMN_DENSITIES: return particles->density;
    default: return labels;
    }
}

int64_t io_catalogue_particles(const io_catalogue *catalogue)
{
    return catalogue->shares ? catalogue->particles->all : catalogue->particles->n;
}

bool io_catalogue_rows(const io_catalogue *catalogue, io_catalogue_column column, int64_t first,
                       int64_t n, void *to)
{
    const io__sorted rows = {.catalogue = catalogue, .order = IO_ORDER_INPUT};
    return io__catalogue_sorted(&rows, column, first, n, to);
}

int64_t io_sort_keys(int64_t groups)
{
    return KITH_TYPES * (groups + 1);
}

/** Return the key of a particle: keys are sorted by type, then by group. */
static int64_t key_of(const io_particles *share, const int32_t *labels, int64_t groups,
                      io_row_order order, int64_t k)
{
    enum { DARK = 1 }; /* the type of all particles where the input has none */
    const int type = order == IO_ORDER_GROUPS ? 0 : share->type ? share->type[k] : DARK;
    return type * (groups + 1) + (labels[k] > 0 ? labels[k] - 1 : groups);
}

void io_sort_count(const io_particles *share, const int32_t *labels, int64_t groups,
                   io_row_order order, int64_t *count)
{
    for (int64_t k = 0; k < share->n; k++) {
        count[key_of(share, labels, groups, order, k)]++;
    }
}

void io_sort_share(const io_particles *share, const int32_t *labels, int64_t groups,
                   io_row_order order, int64_t *at, int64_t *place, int32_t *index, int64_t *places)
{
    for (int64_t k = 0; k < share->n; k++) {
        const int64_t key = key_of(share, labels, groups, order, k);
        const int64_t row = at[key]++;
        index[row] = (int32_t)k;
        if (place) {
            places[row] = place[key]++;
        }
    }
}

void io_sort_types(const int64_t *at, int64_t groups, int64_t n, int64_t begin[KITH_TYPES + 1])
{
    for (int type = 0; type < KITH_TYPES; type++) {
        begin[type] = at[type * (groups + 1)];
    }
    begin[KITH_TYPES] = n;
}

bool io__catalogue_sort(const io_catalogue *catalogue, io_row_order order, io__sorted *out)
{
    const io_particles *p = catalogue->particles;
    const int64_t groups = catalogue->halos->n, keys = io_sort_keys(groups);
    *out = (io__sorted){.catalogue = catalogue, .order = order};
    if (order == IO_ORDER_INPUT) {
        return true;
    }
    if (catalogue->shares) {
        return catalogue->shares->sort(catalogue->shares->user, order, out->begin);
    }
    int64_t *at = calloc((size_t)keys, sizeof *at);
    out->index = malloc(((size_t)p->n + 1) * sizeof *out->index);
    if (!at || !out->index) {
        free(at);
        return false;
    }
    io_sort_count(p, catalogue->labels, groups, order, at);
    for (int64_t key = 0, sum = 0; key < keys; key++) {
        const int64_t count = at[key];
        at[key] = sum;
        sum += count;
    }
    io_sort_types(at, groups, p->n, out->begin);
    io_sort_share(p, catalogue->labels, groups, order, at, NULL, out->index, NULL);
    free(at);
    return true;
}

void io__catalogue_sort_free(io__sorted *rows)
{
    free(rows->index);
}

bool io__catalogue_sorted(const io__sorted *rows, io_catalogue_column column, int64_t first,
                          int64_t n, void *to)
{
    const io_catalogue *c = rows->catalogue;
    const size_t size = io_row_bytes(c->particles, column);
    assert(first >= 0 && n >= 0 && first + n <= io_catalogue_particles(c));
    if (c->shares) {
        return c->shares->rows(c->shares->user, column, rows->order, first, n, to);
    }
    const char *from = io_column_of(c->particles, c->labels, column);
    if (!rows->index && n > 0) {
        memcpy(to, from + (size_t)first * size, (size_t)n * size);
    }
    for (int64_t k = 0; k < n && rows->index; k++) {
        memcpy((char *)to + (size_t)k * size, from + (size_t)rows->index[first + k] * size, size);
    }
    return true;
}
