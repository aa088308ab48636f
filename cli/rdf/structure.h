/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structure factors from pair distributions. docs/rdf.md has the formulae and their sources.
 */
#ifndef KITH_CLI_STRUCTURE_H
#define KITH_CLI_STRUCTURE_H

#include <stdint.h>

/** What a transform to a finite r is multiplied by: sin(pi r / R) / (pi r / R), or 1. */
typedef enum structure_window { WINDOW_LORCH, WINDOW_NONE } structure_window;

/** Their names, for option_word. */
#define STRUCTURE_WINDOWS "lorch or none"

/** Weights of bins so that the Faber-Ziman partial is
 *      A(q) = 1 + density * sum_k weight[k] (g[k] - 1)
 *  with g constant within each bin: the integral over it is exact, the window that of its middle.
 *  @param dim    3, or 2
 *  @param edges  [bins + 1] from 0; R is the last */
void structure_weights(int dim, double q, int64_t bins, const double *edges,
                       structure_window window, double *weights);

/** The exponent d of S(q) = C q^-d, by least squares of log S over log q for from <= q <= to and
 *  S > 0. @param[out] error  its standard error. @return points used; below 3 d is not set. */
int64_t structure_slope(int64_t n, const double *q, const double *s, double from, double to,
                        double *d, double *error);

#endif
