/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bins of a given width. Their number is rounded up, but for rounding errors of the quotient.
 */
#include "bin_edges.h"

#include <math.h>

/* Relative tolerance: a range meant to be a multiple of the width is one up to rounding. */
static const double slack = 1e-9;

double bin_edges_count(double r_min, double r_max, double width)
{
    return fmax(ceil((r_max - r_min) / width * (1 - slack)), 1);
}

bool bin_edges_fill(double r_min, double r_max, double width, int64_t bins, double *edges)
{
    for (int64_t k = 0; k < bins; k++) {
        edges[k] = r_min + (double)k * width;
    }
    edges[bins] = r_max;
    /* twice the tolerance of bin_edges_count: a last bin that is full up to rounding is not
     * narrower */
    return r_max - r_min < (double)bins * width * (1 - 2 * slack);
}
