/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radii of particles: reading, scaling and checking. Cost: one pass over the particles.
 */
#include "radii.h"

#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Scale the radii, and store them in the precision of the particles.
 *  @param raw    the radii as they were read, of type `given`
 *  @param about  the file that holds them */
static io_status take(const radii_source *from, const io_particles *particles, const char *about,
                      const void *raw, kith_precision given, void *radii, radii_range *range,
                      io_error *error)
{
    for (int64_t p = 0; p < particles->n; p++) {
        const double read = io_real(raw, p, given);
        if (!isfinite(read) || read < 0) {
            (void)snprintf(error->text, sizeof error->text,
                           "%.800s: %s: the radius of particle %lld is %g; expected a finite "
                           "number, 0 or more",
                           about, from->option, (long long)(particles->first + p), read);
            return error->status = IO_FORMAT;
        }
        io_put_real(radii, p, particles->precision, read * from->scale);
        const double radius = io_real(radii, p, particles->precision);
        if (!isfinite(radius)) {
            (void)snprintf(error->text, sizeof error->text,
                           "%.800s: %s: the radius of particle %lld, %g times %g, leaves the range "
                           "of %s coordinates",
                           about, from->option, (long long)(particles->first + p), from->scale,
                           read, report_precision(particles->precision));
            return error->status = IO_INVALID;
        }
        range->least = fmin(range->least, radius);
        range->most = fmax(range->most, radius);
    }
    return IO_OK;
}

io_status radii_read(const radii_source *from, const io_particles *particles, void *radii,
                     radii_range *range, io_error *error)
{
    const size_t n = (size_t)particles->n;
    *range = (radii_range){.least = INFINITY};
    *error = (io_error){.status = IO_OK};
    if (from->zeros) {
        memset(radii, 0, n * (size_t)particles->precision);
        return IO_OK;
    }
    if (!*from->file) {
        return take(from, particles, from->path, particles->radius, particles->precision, radii,
                    range, error);
    }
    double *numbers = malloc((n + 1) * sizeof *numbers);
    if (!numbers) {
        (void)snprintf(error->text, sizeof error->text, "no memory for the radii");
        return error->status = IO_NO_MEMORY;
    }
    io_status status = io_read_numbers(from->file, particles->all, particles->first, particles->n,
                                       numbers, error);
    if (status == IO_OK) {
        status = take(from, particles, from->file, numbers, KITH_DOUBLE, radii, range, error);
    }
    free(numbers);
    return status;
}
