/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's own arrays behind a kith_groups.
 */
#ifndef KITH_GROUPS_H
#define KITH_GROUPS_H

#include "context.h"

/** Make room for the labels of `points` particles, and one more. @return KITH_OK or
 *  KITH_NO_MEMORY. */
kith_status kith__groups_need(kith_ctx *ctx, int64_t points, kith_groups *out);

/** Make room for n groups. @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__groups_number(kith_ctx *ctx, int64_t n, kith_groups *out);

#endif
