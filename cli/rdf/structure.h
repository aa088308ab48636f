/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structure factors from pair distributions. docs/rdf.md has the formulae and their sources.
 */
#ifndef KITH_CLI_STRUCTURE_H
#define KITH_CLI_STRUCTURE_H

#include <stdint.h>

/** Window that g(r) - 1 is multiplied by in a transform up to r = R: sin(pi r / R) / (pi r / R), by
 *  Lorch, or 1. */
typedef enum structure_window { WINDOW_LORCH, WINDOW_NONE } structure_window;

/** Names of the windows in the order of the enumeration, for option_word. */
#define STRUCTURE_WINDOWS "lorch or none"

/** Compute weights of bins so that the Faber-Ziman partial is
 *      A(q) = 1 + density * sum_k weight[k] (g[k] - 1)
 *  with g constant within each bin: the integral over it is exact, the window that of its middle.
 *  @param dim    3, or 2
 *  @param edges  [bins + 1] from 0; R is the last
 *  @param[out] weights  [bins] */
void structure_weights(int dim, double q, int64_t bins, const double *edges,
                       structure_window window, double *weights);

/** Fit the exponent d of S(q) = C q^-d by least squares of log S over log q, for from <= q <= to
 *  and S > 0.
 *  @param q, s        [n] points
 *  @param[out] error  standard error of d
 *  @return number of points used; if it is below 3, d and error are not set */
int64_t structure_slope(int64_t n, const double *q, const double *s, double from, double to,
                        double *d, double *error);

#endif
