/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups as the backends find them.
 */
#ifndef KITH_FOF_BACKEND_H
#define KITH_FOF_BACKEND_H

#include "core/backend.h"
#include "engine/question.h"

/** What groups are wanted: kith_fof_options, checked. */
struct kith__fof {
    int64_t min_members, min_links;
    const int64_t *ids;
    const uint8_t *roles;
    const void *velocities;
    double velocity_length; /**< rounded to the precision */
};

/** What a backend offers. */
struct kith__fof_backend {
    /** The question has parts whose particles are friends. labels [a.n] are the library's. */
    kith_status (*find)(kith_ctx *ctx, const struct kith__question *question,
                        const struct kith__fof *fof, kith_groups *out);
};

extern const struct kith__fof_backend kith__cpu_fof, kith__cuda_fof;

#endif
