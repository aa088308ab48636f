/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing particles as NumPy array, tipsy, text and extended XYZ; HDF5 is written by
 * hdf5/hdf5_write.c.
 */
#include "core/io_internal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/** Write positions as an array of shape [n][dim]. */
static io_status write_npy(io_output *output, const io_particles *particles)
{
    const int dim = particles->dim == 2 ? 2 : 3;
    const int64_t size = particles->precision;
    IO_TRY(io__npy_begin(output, 'f', (int)size, particles->n, dim));
    if (dim == 3) {
        return io__output_write(output, particles->pos, 3 * particles->n * size);
    }
    for (int64_t p = 0; p < particles->n; p++) {
        IO_TRY(io__output_write(output, (const char *)particles->pos + 3 * p * size, 2 * size));
    }
    return IO_OK;
}

/** Write standard tipsy: big-endian, with dark particles of mass 1/n. */
static io_status write_tipsy(io_output *output, const io_particles *particles)
{
    enum { NUMBERS = 9 }; /* mass, position, velocity, softening, potential */
    const uint32_t n = (uint32_t)particles->n, dim = particles->dim == 2 ? 2 : 3;
    /* time (a double), number in all, dimensions, numbers of gas, dark, star, and padding */
    const uint32_t header[8] = {0, 0, htonl(n), htonl(dim), 0, htonl(n)};
    const kith_precision precision = particles->precision;
    IO_TRY(io__output_write(output, header, sizeof header));
    for (int64_t p = 0; p < particles->n; p++) {
        float values[NUMBERS] = {1.0f / (float)n};
        for (int axis = 0; axis < 3; axis++) {
            values[1 + axis] = (float)io_real(particles->pos, 3 * p + axis, precision);
            if (particles->velocity) {
                values[4 + axis] = (float)io_real(particles->velocity, 3 * p + axis, precision);
            }
        }
        uint32_t record[NUMBERS];
        memcpy(record, values, sizeof record);
        for (int k = 0; k < NUMBERS; k++) {
            record[k] = htonl(record[k]);
        }
        IO_TRY(io__output_write(output, record, sizeof record));
    }
    return IO_OK;
}

char io__species_letter(uint8_t species)
{
    return (char)(species < 26 ? 'A' + species : '?');
}

/** Rows of particles in a text. */
typedef struct rows {
    const io_particles *particles; /* the particles */
    const uint8_t *species;        /* species, which a line begins with [n]; NULL: not written */
    const char *first;             /* text that a line begins with, if it has no species */
    int dim;                       /* number of coordinates */
    const void *velocity; /* velocities [n][3], of particles->precision; NULL: not written */
} rows;

/** Print the components of a vector of particle p, each with a blank behind it. */
static char *put_vector(char *out, const rows *r, const void *vectors, int64_t p)
{
    const kith_precision precision = r->particles->precision;
    for (int axis = 0; axis < r->dim; axis++) {
        out = io__number_put(out, io_real(vectors, 3 * p + axis, precision),
                             precision == KITH_FLOAT ? 9 : 17);
        *out++ = ' ';
    }
    return out;
}

/** Format the line of particle p. @param user  rows */
static char *put_row(const void *user, int64_t p, char *out)
{
    const rows *r = user;
    if (r->species) {
        *out++ = io__species_letter(r->species[p]);
        *out++ = ' ';
    } else {
        out = stpcpy(out, r->first);
    }
    out = put_vector(out, r, r->particles->pos, p);
    if (r->velocity) {
        out = put_vector(out, r, r->velocity, p);
    }
    out[-1] = '\n';
    return out;
}

/** Write one line for each particle: its species or the text `first`, dim coordinates and, unless
 *  velocity is NULL, as many components of the velocity, with the digits that are needed to read
 *  back equal bits. */
static io_status write_rows(io_output *output, const io_particles *particles,
                            const uint8_t *species, const char *first, int dim,
                            const void *velocity)
{
    const rows r = {particles, species, first, dim, velocity};
    return io__output_lines(output, particles->n, put_row, &r);
}

static io_status write_text(io_output *output, const io_particles *particles)
{
    const int dim = particles->dim == 2 ? 2 : 3;
    IO_TRY(io__output_printf(output, dim == 2 ? "# x y\n" : "# x y z\n"));
    return write_rows(output, particles, NULL, "", dim, NULL);
}

io_status io__xyz_write(io_output *output, const io_particles *particles, const uint8_t *species,
                        const char *facts)
{
    IO_TRY(io__output_printf(output, "%lld\n", (long long)particles->n));
    if (particles->has_box) {
        const kith_box *box = &particles->box;
        const double(*row)[3] = box->row;
        IO_TRY(io__output_printf(output,
                                 "Lattice=\"%.17g %.17g %.17g %.17g %.17g %.17g %.17g "
                                 "%.17g %.17g\" Origin=\"%.17g %.17g %.17g\" pbc=\"%c %c %c\" ",
                                 row[0][0], row[0][1], row[0][2], row[1][0], row[1][1], row[1][2],
                                 row[2][0], row[2][1], row[2][2], box->origin[0], box->origin[1],
                                 box->origin[2], "FT"[box->periodic[0] != 0],
                                 "FT"[box->periodic[1] != 0], "FT"[box->periodic[2] != 0]));
    }
    IO_TRY(io__output_printf(output, "%sProperties=species:S:1:pos:R:3%s\n", facts,
                             particles->velocity ? ":velo:R:3" : ""));
    return write_rows(output, particles, species, "X ", 3, particles->velocity);
}

static io_status write_xyz(io_output *output, const io_particles *particles)
{
    return io__xyz_write(output, particles, NULL, "");
}

io_status io_write_particles(const char *path, io_format format, const io_particles *particles,
                             io_error *error)
{
    static io_status (*const writers[])(io_output *, const io_particles *) = {
        [IO_NPY] = write_npy,   [IO_HDF5] = io__hdf5_write, [IO_TIPSY] = write_tipsy,
        [IO_TEXT] = write_text, [IO_XYZ] = write_xyz,
    };
    error = io__error_begin(error);
    if (format <= IO_UNKNOWN || format > IO_XYZ) {
        return io__fail(error, path, IO_INVALID, "no format of particle files was chosen");
    }
    if (particles->n < 0 || particles->n > INT32_MAX) {
        return io__fail(error, path, IO_LIMIT, "%lld particles; at most %d can be written",
                        (long long)particles->n, INT32_MAX);
    }
    io_output output;
    IO_TRY(io__output_open(&output, path, error));
    const locale_t before = io__locale_set_c();
    const io_status status = writers[format](&output, particles);
    io__locale_restore(before);
    return io__output_end(&output, status);
}
