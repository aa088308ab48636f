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

/** Rows of numbers, each summed over consecutive frames: those of a grain, later of a block. */
typedef struct rdf_blocks {
    int64_t width;  /**< numbers in a row */
    int64_t wanted; /**< largest number of blocks */
    int64_t n;      /**< rows in use: grains; after rdf_blocks_fold, blocks */
    int64_t each;   /**< frames in a grain */
    int64_t last;   /**< frames in the last grain, at most `each` */
    int64_t grains; /**< number of grains that rdf_blocks_fold has made the blocks of */
    double **row;   /**< [4 * wanted] rows of `width` sums; NULL: not in use */
    double *total;  /**< [width] sums over all frames, after rdf_blocks_fold */
} rdf_blocks;

/** Return the largest number of rows that are kept for this number of blocks. */
int64_t rdf_blocks_most(int64_t wanted);

/** Return the number of frames from a frame on, it included, that are in its grain when they are
 *  added. @param frame  number of the frame, from 0 */
int64_t rdf_blocks_left(int64_t wanted, int64_t frame);

/** Begin without frames. @param wanted  largest number of blocks @return false: no memory */
bool rdf_blocks_start(rdf_blocks *blocks, int64_t width, int64_t wanted);

/** Count one frame more, merging grains if all rows are in use. @return the row to add the numbers
 *  of the frame to; NULL: no memory */
double *rdf_blocks_row(rdf_blocks *blocks);

/** Merge the grains to at most `wanted` blocks, and sum these to the total. */
void rdf_blocks_fold(rdf_blocks *blocks);

/** Return the ratio R = (sum of y) / (sum of x) over n blocks; NaN unless the sum of x is above 0.
 *  @param y, x        numbers of the blocks, `stride` numbers apart
 *  @param[out] error  standard error of a ratio of means, sqrt(m / (m - 1) sum (y_b - R x_b)^2) /
 *                     (sum of x), with m the number of blocks whose x is above 0; NaN where m is
 *                     below 2. W. G. Cochran, Sampling Techniques, 3rd edition (1977), 6.4 */
double rdf_ratio(const double *y, const double *x, int64_t n, int64_t stride, double *error);

/** Free the rows and zero the struct. */
void rdf_blocks_free(rdf_blocks *blocks);

#endif
