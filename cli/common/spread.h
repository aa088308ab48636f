/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distribution of whole numbers (neighbours per particle, particles per group): mean, minimum,
 * maximum and a histogram for the terminal.
 */
#ifndef KITH_CLI_SPREAD_H
#define KITH_CLI_SPREAD_H

#include "report.h"

/** Most bins: more than the 64 that double in width, of 0, 1, 2 to 3, ..., 2^62 to 2^63 - 1. */
enum { SPREAD_MOST_BINS = 70 };

/** Histogram, mean and range of whole numbers. */
typedef struct spread {
    int64_t n, least, most;             /**< how many numbers, the smallest, the largest */
    double mean;                        /**< mean of the numbers */
    int bins;                           /**< bins of the histogram */
    int64_t from[SPREAD_MOST_BINS + 1]; /**< bin b holds the numbers from[b] to
                                                 from[b + 1] - 1; INT64_MAX, too, if that is the
                                                 last edge */
    int64_t count[SPREAD_MOST_BINS];    /**< [bins] how many numbers are in each bin */
} spread;

/** Describe n numbers, each 0 or more. Bins have one width, or each has twice the width of the one
 *  before if the largest number is far above the mean. */
spread spread_of(const int64_t *values, int64_t n);

/** What the bins follow from. Ranges of parts of the numbers can be combined to that of all. */
typedef struct spread_range {
    int64_t n;     /**< how many numbers */
    int64_t least; /**< the smallest; INT64_MAX where there is none */
    int64_t most;  /**< the largest; INT64_MIN where there is none */
    int64_t sum;   /**< sum of the numbers, which must be below 2^63, as the number of pairs is */
} spread_range;

/** Return number, range and sum of n numbers. */
spread_range spread_range_of(const int64_t *values, int64_t n);

/** Return mean, range and bins, without a number in them. */
spread spread_begin(const spread_range *range);

/** Count numbers in the bins of s. */
void spread_add(spread *s, const int64_t *values, int64_t n);

/** Draw the histogram, a line for each bin. */
void spread_draw(const spread *s);

/** Return mean, least, most and histogram as JSON. @param of  what is counted: "particles" */
json_t *spread_json(const spread *s, const char *of);

#endif
