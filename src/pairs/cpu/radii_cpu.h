/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists with a radius for each particle, made by searches between classes of radius
 * (pairs/classes.h). Each function is the operation of struct kith__pairs_backend with the last
 * word of its name: count, fill or each. It sets *done to false, and does nothing else, where all
 * radii are of one class: then one search with the largest radius is as good. Call them where
 * kith__wants_classes is true.
 */
#ifndef KITH_PAIRS_RADII_CPU_H
#define KITH_PAIRS_RADII_CPU_H

#include "pairs_cpu.h"

kith_status kith__radii_count(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__list *list, int64_t *n, int64_t *neighbours,
                              bool *done);
kith_status kith__radii_fill(kith_ctx *ctx, const struct kith__question *question,
                             const struct kith__list *list, bool grow, kith_pairs *out, bool *done);
kith_status kith__radii_each(kith_ctx *ctx, const struct kith__question *question,
                             const struct kith__list *list, kith_block_fn fn, void *user,
                             bool *done);

#endif
