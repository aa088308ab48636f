/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The definition of what a pair counts as, read by the C and the CUDA compiler: the counter of its
 * squared distance, and the product of its weights. A partial histogram, that of the pairs of two
 * given species, has counter 0 for pairs below the first edge, k + 1 for bin k, and bins + 1 for
 * pairs above the last edge. A pair is in bin k when edge2[k] <= r^2 < edge2[k + 1], with the
 * squared edges of kith__rdf (rdf.h); the last bin includes its upper edge.
 */
#ifndef KITH_COUNTER_H
#define KITH_COUNTER_H

#include "pair_force.h"

#define KITH_PER_PRECISION "rdf/counter_real.h"
#include "core/per_precision.h"

/** Return w_i * w_j, rounded to double, in units of 1 / weight_scale, then rounded towards 0; less
 *  than 2^62 in size.
 *  @param i, j  caller's indices, in set 0 and in set 1 */
KITH_FN int64_t kith__product(const struct kith__rdf *rdf, int32_t i, int32_t j)
{
    const double product = KITH_MUL_d(rdf->weights[0][i], rdf->weights[1][j]);
    return (int64_t)KITH_MUL_d(product, rdf->weight_scale);
}

#endif
