/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bins of a given width, for `kith rdf --width` and `kith debye --r-width`.
 */
#ifndef KITH_CLI_BIN_EDGES_H
#define KITH_CLI_BIN_EDGES_H

#include <stdbool.h>
#include <stdint.h>

/** Return the number of bins of a given width from r_min to r_max. The last bin ends at r_max, and
 *  is narrower when the range is not a multiple of the width. The number is a double, as it may be
 *  too large for an integer. */
double bin_edges_count(double r_min, double r_max, double width);

/** Compute the edges of the bins that bin_edges_count counts.
 *  @param bins        bin_edges_count, as an integer
 *  @param[out] edges  [bins + 1]; the last is r_max exactly
 *  @return true when the last bin is narrower than the others */
bool bin_edges_fill(double r_min, double r_max, double width, int64_t bins, double *edges);

#endif
