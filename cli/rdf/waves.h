/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structure factors by direct sum, S(q) = |sum exp(i q.r)|^2 / N, over vectors q of a periodic box:
 * q = h a* + k b* + l c* with whole h, k, l, where a*, b*, c* are the rows of 2 pi times the
 * transposed inverse of the matrix of the box. A bin of |q| takes all vectors in it, or, if they
 * are too many, a given number of them, spread evenly over directions.
 */
#ifndef KITH_CLI_WAVES_H
#define KITH_CLI_WAVES_H

#include <kith.h>
#include <stdbool.h>

/** A list of vectors q. */
typedef struct waves {
    int64_t n;         /**< number of vectors */
    int64_t capacity;  /**< length of the array */
    int32_t (*hkl)[3]; /**< [n] h, k, l; of q and -q the one whose first number that is not 0 is
                            positive */
} waves;

/** Return the smallest |q| along an axis of the box [1/length]. */
double waves_least(const kith_box *box);

/** Choose vectors for each bin of |q|.
 *  @param q_min  lower edge of the first bin   @param width  width of every bin [1/length]
 *  @param each   largest number of vectors of a bin
 *  @param[out] out  the vectors, to be freed by waves_free
 *  @return false: no memory */
bool waves_choose(const kith_box *box, double q_min, double width, int64_t bins, int64_t each,
                  waves *out);

/** Return |q| of a vector in a box [1/length]. @param wave  number of the vector */
double waves_length(const waves *w, const kith_box *box, int64_t wave);

/** Return the number of the bin of q, where bins have one width and the first begins at q_min;
 *  negative if q is below it. */
int64_t waves_bin(double q, double q_min, double width);

/** Free the vectors of a list. */
void waves_free(waves *w);

#endif
