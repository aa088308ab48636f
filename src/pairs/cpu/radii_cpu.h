/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists with a radius for each particle, whose radii are worth the division into classes. Each
 * operation is that of struct kith__pairs_backend, and sets *done to false where it has done
 * nothing, as one search with the largest radius is as good.
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
