/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bins of a given width, for `kith rdf --width` and `kith debye --r-width`.
 */
#ifndef KITH_CLI_BIN_EDGES_H
#define KITH_CLI_BIN_EDGES_H

#include <stdbool.h>
#include <stdint.h>

/** Number of bins from r_min to r_max of which all have this width, but for the last, which ends at
 *  r_max and is narrower where the range is no multiple of the width. A whole number, as a double:
 *  it may be too large for an integer. */
double bin_edges_count(double r_min, double r_max, double width);

/** Fill the edges of these bins.
 *  @param[out] edges  [bins + 1]; the last is r_max exactly
 *  @return whether the last bin is narrower than the others */
bool bin_edges_fill(double r_min, double r_max, double width, int64_t bins, double *edges);

#endif
