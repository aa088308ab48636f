/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distribution of whole numbers (neighbours per particle, particles per group): mean, minimum,
 * maximum and a histogram for the terminal.
 */
#ifndef KITH_CLI_SPREAD_H
#define KITH_CLI_SPREAD_H

#include "report.h"

enum { SPREAD_MOST_BINS = 70 };

typedef struct spread {
    int64_t n, least, most;
    double mean;
    int bins;
    int64_t from[SPREAD_MOST_BINS + 1]; /**< bin b holds from[b] to from[b + 1] - 1 */
    int64_t count[SPREAD_MOST_BINS];
} spread;

/** Describe n numbers, each 0 or more. Bins are equal, or double in width when the numbers reach
 *  far beyond their mean. */
spread spread_of(const int64_t *values, int64_t n);

/** Draw the histogram, a line for each bin. */
void spread_draw(const spread *s);

/** Mean, least, most and histogram; `of` names what is counted: "particles". */
json_t *spread_json(const spread *s, const char *of);

#endif
