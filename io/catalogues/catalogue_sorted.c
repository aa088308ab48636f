/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A snapshot sorted by group, as Gadget-4 sorts its own: of each type the members of group 1 first,
 * then those of group 2, and so on, those in no group last; within a group in the order of the
 * input. Layout and units are Gadget's, as in its catalogue. Positions outside of the box are
 * wrapped into it, as those of the catalogue are; all others are those of the input.
 */
#include "catalogue_gadget.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What a particle has. */
static const struct field {
    const char *name;
    size_t offset; /* of the array in io_particles */
    int columns;
    io_gadget_unit unit;
} fields[] = {{"Coordinates", offsetof(io_particles, pos), 3, IO_GADGET_LENGTH},
              {"Velocities", offsetof(io_particles, velocity), 3, IO_GADGET_VELOCITY},
              {"Masses", offsetof(io_particles, mass), 1, IO_GADGET_MASS},
              {"ParticleIDs", offsetof(io_particles, id), 1, IO_GADGET_PURE},
              {"Potential", offsetof(io_particles, potential), 1, IO_GADGET_POTENTIAL},
              {"Density", offsetof(io_particles, density), 1, IO_GADGET_DENSITY}};

/** The particles by type, then by group. */
struct order {
    int64_t begin[KITH_TYPES + 1]; /* of each type */
    int32_t *index;                /* [n] */
};

static int type_of(const io_particles *p, int64_t k)
{
    enum { DARK = 1 };
    return p->type ? p->type[k] : DARK;
}

/** Sort by counting. @return false without memory. */
static bool sort(const io_catalogue *c, struct order *out)
{
    const io_particles *p = c->particles;
    const int64_t groups = c->halos->n, keys = KITH_TYPES * (groups + 1);
    int64_t *at = calloc((size_t)keys + 1, sizeof *at);
    out->index = malloc(((size_t)p->n + 1) * sizeof *out->index);
    for (int step = 0; at && out->index && step < 2; step++) { /* count, then deal */
        for (int64_t k = 0; k < p->n; k++) {
            const int64_t group = c->labels[k] > 0 ? c->labels[k] - 1 : groups;
            const int64_t key = type_of(p, k) * (groups + 1) + group;
            if (step == 0) {
                at[key + 1]++;
            } else {
                out->index[at[key]++] = (int32_t)k;
            }
        }
        for (int64_t key = 0; step == 0 && key < keys; key++) {
            at[key + 1] += at[key];
        }
        for (int type = 0; step == 0 && type <= KITH_TYPES; type++) {
            out->begin[type] = at[type * (groups + 1)];
        }
    }
    const bool done = at && out->index;
    free(at);
    return done;
}

/** Wrap a position into the box. A position inside keeps all its bits. */
static void wrap(const kith_box *box, double r[3])
{
    double row[3][3];
    memcpy(row, box->row, sizeof row);
    if (box->dim == 2) {
        row[0][2] = row[1][2] = row[2][0] = row[2][1] = 0;
        row[2][2] = 1;
    }
    for (int k = 0; k < box->dim; k++) {
        const double *u = row[(k + 1) % 3], *v = row[(k + 2) % 3];
        double at = 0, volume = 0;
        for (int a = 0; a < 3; a++) {
            const double normal = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
            at += normal * (r[a] - box->origin[a]);
            volume += normal * row[k][a];
        }
        const double turns = box->periodic[k] && isfinite(at / volume) ? floor(at / volume) : 0;
        for (int a = 0; a < 3 && turns != 0; a++) {
            r[a] -= turns * row[k][a];
        }
    }
}

/** Copy the positions of n particles, wrapped into the box, in units of `scale`. */
static void gather_positions(const io_catalogue *c, double scale, const int32_t *index, int64_t n,
                             void *to)
{
    const io_particles *p = c->particles;
    for (int64_t k = 0; k < n; k++) {
        double r[3];
        for (int axis = 0; axis < 3; axis++) {
            r[axis] = io_real(p->pos, 3 * (int64_t)index[k] + axis, p->precision);
        }
        for (int pass = 0; pass < 2; pass++) { /* rounding may reach the upper face */
            wrap(c->box, r);
            for (int axis = 0; axis < 3 && p->precision == KITH_FLOAT; axis++) {
                r[axis] = (float)r[axis];
            }
        }
        for (int axis = 0; axis < p->dim; axis++) {
            io_put_real(to, k * p->dim + axis, p->precision, r[axis] * scale);
        }
    }
}

/** Copy the field of n particles, in units of `scale`. @param from  the array of all */
static void gather(const io_particles *p, const struct field *f, const void *from, double scale,
                   const int32_t *index, int64_t n, int columns, void *to)
{
    for (int64_t k = 0; k < n; k++) {
        for (int column = 0; column < columns; column++) {
            const int64_t at = f->columns * (int64_t)index[k] + column, row = k * columns + column;
            if (f->unit == IO_GADGET_PURE) {
                ((int64_t *)to)[row] = ((const int64_t *)from)[at];
            } else {
                io_put_real(to, row, p->precision, io_real(from, at, p->precision) * scale);
            }
        }
    }
}

static bool put_type(hid_t file, const io_catalogue *c, int type, const int32_t *index, int64_t n)
{
    const io_particles *p = c->particles;
    const hid_t real = p->precision == KITH_FLOAT ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    double scale[IO_GADGET_UNITS];
    char name[24];
    io__gadget_units(c, scale);
    snprintf(name, sizeof name, "PartType%d", type);
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    void *room = malloc(((size_t)n + 1) * 3 * sizeof(double));
    bool done = group >= 0 && room;
    for (size_t k = 0; done && k < sizeof fields / sizeof *fields; k++) {
        const struct field *f = &fields[k];
        const void *data;
        memcpy(&data, (const char *)p + f->offset, sizeof data);
        if (!data) {
            continue;
        }
        const bool flat = f->unit == IO_GADGET_LENGTH && p->dim == 2;
        const int columns = flat ? 2 : f->columns;
        if (f->unit == IO_GADGET_LENGTH) {
            gather_positions(c, scale[f->unit], index, n, room);
        } else {
            gather(p, f, data, scale[f->unit], index, n, columns, room);
        }
        const hid_t number = f->unit == IO_GADGET_PURE ? H5T_NATIVE_UINT64 : real;
        done = io__close(io__put_array(group, f->name, number, room, n, columns));
    }
    free(room);
    io__close(group);
    return done;
}

static bool put_header(hid_t file, const io_catalogue *c, const struct order *order)
{
    const double nothing[KITH_TYPES] = {0};
    uint64_t counts[KITH_TYPES];
    for (int type = 0; type < KITH_TYPES; type++) {
        counts[type] = (uint64_t)(order->begin[type + 1] - order->begin[type]);
    }
    const int types = counts[6] + counts[7] > 0 ? KITH_TYPES : 6; /* Gadget's */
    const hid_t header = H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = header >= 0 &&
                      io__put_numbers(header, "NumPart_ThisFile", H5T_NATIVE_UINT64, counts,
                                      types) &&
                      io__put_numbers(header, "NumPart_Total", H5T_NATIVE_UINT64, counts, types) &&
                      io__put_numbers(header, "MassTable", H5T_NATIVE_DOUBLE, nothing, types) &&
                      io__put_count(header, "NumFilesPerSnapshot", 1) &&
                      io__gadget_put_universe(header, c);
    io__close(header);
    return done;
}

static bool put_snapshot(hid_t file, const void *what)
{
    const io_catalogue *c = what;
    struct order order = {{0}, NULL};
    bool done = sort(c, &order) && put_header(file, c, &order) &&
                io__gadget_put_parameters(file, c);
    for (int type = 0; done && type < KITH_TYPES; type++) {
        const int64_t begin = order.begin[type], n = order.begin[type + 1] - begin;
        done = n == 0 || put_type(file, c, type, order.index + begin, n);
    }
    free(order.index);
    return done;
}

io_status io__sorted_snapshot(io_output *output, const io_catalogue *catalogue)
{
    IO_TRY(io__catalogue_check_box(output, catalogue));
    return io__hdf5_file(output, put_snapshot, catalogue);
}
