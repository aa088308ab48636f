/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass over the coordinates before the grid is built: their bounds, and a check of all of them.
 */
#ifndef KITH_BOUNDS_H
#define KITH_BOUNDS_H

#include "cells.h"

/**
 * Find the bounds of the coordinates of all particles of both sets. O(n), parallel.
 * @param[out] all     the bounds, of fractional coordinates (struct kith__bounds in cells.h)
 * @param[out] inside  true when all particles are known to be inside the box as they are given, so
 *                     that none needs wrapping
 * @return KITH_OK; KITH_NOT_FINITE when a particle is not finite, KITH_LIMIT when one is too far
 *         outside a periodic box, each with the index of the first of these in the message, and in
 *         all->bad or all->far; KITH_CANCELLED
 */
kith_status kith__bounds_find(kith_ctx *ctx, const struct kith__question *question,
                              struct kith__bounds *all, bool *inside);

/** Check that the coordinates of all particles of both sets are finite, and not too far outside the
 *  box to wrap. O(n), parallel.
 *  @return as kith__bounds_find */
kith_status kith__bounds_check(kith_ctx *ctx, const struct kith__question *question);

#endif
