/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups where particles have roles, for every backend: those that link are grouped by themselves,
 * then the others are attached.
 */
#ifndef KITH_ROLES_H
#define KITH_ROLES_H

#include "backend.h"

/** As the backend's fof_find, for a question in host memory and options with roles or min_links. */
kith_status kith__fof_by_roles(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__fof *fof, kith_groups *out);

#endif
