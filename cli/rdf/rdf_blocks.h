/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over blocks of frames, for error bars, when the number of frames is not known in advance.
 * Frames are summed in grains of equal length; when there are too many grains, each two adjacent
 * ones are merged. Blocks are made of grains at the end.
 */
#ifndef KITH_CLI_RDF_BLOCKS_H
#define KITH_CLI_RDF_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rdf_blocks {
    int64_t width;  /**< numbers in a row */
    int64_t wanted; /**< blocks at most */
    int64_t n;      /**< rows in use: grains, after rdf_blocks_fold blocks */
    int64_t each;   /**< frames in a grain */
    int64_t last;   /**< frames in the last grain */
    int64_t grains; /**< that rdf_blocks_fold made the blocks of */
    double **row;   /**< [4 * wanted] sums, width numbers each */
    double *total;  /**< [width], after rdf_blocks_fold */
} rdf_blocks;

/** Rows there are at most for so many blocks. */
int64_t rdf_blocks_most(int64_t wanted);

/** Return the number of frames from a frame on, it included, that are in its grain when they are
 *  added. @param frame  number of the frame, from 0 */
int64_t rdf_blocks_left(int64_t wanted, int64_t frame);

/** Begin. @return false: no memory. */
bool rdf_blocks_start(rdf_blocks *blocks, int64_t width, int64_t wanted);

/** Make room for a frame. @return the row to add it to; NULL: no memory. */
double *rdf_blocks_row(rdf_blocks *blocks);

/** Make the blocks of the grains, and the total. */
void rdf_blocks_fold(rdf_blocks *blocks);

/** Sum of y / sum of x over n blocks, whose sums are `stride` numbers apart; NaN unless the latter
 *  is above 0. @param[out] error  the standard error of a ratio of means, with m / (m - 1) for the
 *  one that is taken from them, m the blocks whose x is above 0; NaN where m is below 2.
 *  W. G. Cochran, Sampling Techniques, 3rd edition (1977), section 6.4. */
double rdf_ratio(const double *y, const double *x, int64_t n, int64_t stride, double *error);

void rdf_blocks_free(rdf_blocks *blocks);

#endif
