/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's own arrays behind a kith_groups, and groups that are the same for all backends.
 */
#ifndef KITH_GROUPS_H
#define KITH_GROUPS_H

#include "backend.h"

/** Make room for the labels of `points` particles, and one more. @return KITH_OK or
 *  KITH_NO_MEMORY. */
kith_status kith__groups_need(kith_ctx *ctx, int64_t points, kith_groups *out);

/** Make room for n groups. @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__groups_number(kith_ctx *ctx, int64_t n, kith_groups *out);

/** As the backend's fof_find, where particles have roles or need links: those that link are grouped
 *  by themselves, then the others are attached. The question is in host memory. */
kith_status kith__fof_by_roles(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__fof *fof, kith_groups *out);

#endif
