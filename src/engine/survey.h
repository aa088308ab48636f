/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One look at the coordinates, before anything is done with them.
 */
#ifndef KITH_SURVEY_H
#define KITH_SURVEY_H

#include "cells.h"

/**
 * Survey all particles, of both sets.
 * @param[out] plain  are all known to be in the box as they are given?
 * @return KITH_OK; KITH_NOT_FINITE with the first index in the message; KITH_LIMIT when a particle
 *         is too far outside a periodic box.
 */
kith_status kith__survey_all(kith_ctx *ctx, const struct kith__question *question,
                             struct kith__survey *all, bool *plain);

/** The same where the coordinates are only to be checked. */
kith_status kith__survey_check(kith_ctx *ctx, const struct kith__question *question);

#endif
