/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structure factors by direct sum, S(q) = |sum exp(i q.r)|^2 / N, over vectors q of a periodic box:
 * q = 2 pi (h a* + k b* + l c*) with whole h, k, l. Bins of |q| with few of them have all, those
 * with many a number of them, spread evenly over directions.
 */
#ifndef KITH_CLI_WAVES_H
#define KITH_CLI_WAVES_H

#include <kith.h>
#include <stdbool.h>

typedef struct waves {
    int64_t n, room;
    int32_t (*hkl)[3]; /**< [n], one of each q and -q: the first that is not 0 is positive */
} waves;

/** The smallest |q| along an axis of the box. */
double waves_least(const kith_box *box);

/** Choose vectors for bins of |q| from q_min on, at most `each` a bin. @return false: no memory. */
bool waves_choose(const kith_box *box, double q_min, double width, int64_t bins, int64_t each,
                  waves *out);

/** |q| of a vector in a box. */
double waves_length(const waves *w, const kith_box *box, int64_t wave);

/** The bin of a q, of bins of one width from q_min on; negative below them. */
int64_t waves_bin(double q, double q_min, double width);

void waves_free(waves *w);

#endif
