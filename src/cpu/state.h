/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The CPU backend's part of a context.
 */
#ifndef KITH_CPU_STATE_H
#define KITH_CPU_STATE_H

#include "../backend.h"
#include "all_pairs.h"
#include "kernel.h"
#include "compare.h"

/** Slots of the context's scratch beside the grid's. */
enum {
    KITH_CPU_OFFSETS = KITH_GRID_END,
    KITH_CPU_BLOCK_COUNTS,
    KITH_FOF_AHEAD,
    KITH_FOF_CROWD,
    KITH_FOF_INDEX,
    KITH_FOF_BLOCKS,
    KITH_FOF_GROUPS,
    KITH_FOF_GROUPS_SPARE,
    KITH_FOF_IDS,
    KITH_FOF_VELOCITIES,
    KITH_RDF_TABLE,
    KITH_RDF_ROWS,
    KITH_RDF_PUSH_UNITS,
    KITH_RDF_SPECIES, /* two slots each, one a set: */
    KITH_RDF_FORCES = KITH_RDF_SPECIES + 2,
    KITH_RDF_POINTS = KITH_RDF_FORCES + 2,
    KITH_WAVES_PLACES = KITH_RDF_POINTS + 2,
    KITH_WAVES_TABLES,
    KITH_FLOCK_CARGO,
    KITH_OVERLAP_PANELS,
    KITH_OVERLAP_WEIGHTS,
    KITH_OVERLAP_THREADS,
    KITH_CPU_END
};
_Static_assert((int)KITH_CPU_END <= (int)KITH_WORK_SHARED, "every purpose needs its own buffer");

struct kith__cpu {
    const struct kith__kernel *kernel;
    struct kith__sweep *sweeps; /**< one a thread */
    kith_pairs staging;         /**< pairs on their way to a block callback */
};

static inline const struct kith__kernel *kith__kernel_of(const kith_ctx *ctx)
{
    return ((const struct kith__cpu *)ctx->state)->kernel;
}

kith_status kith__cpu_pairs_count(kith_ctx *ctx, const struct kith__question *question,
                                  const struct kith__list *list, int64_t *n, int64_t *neighbours);
kith_status kith__cpu_pairs_fill(kith_ctx *ctx, const struct kith__question *question,
                                 const struct kith__list *list, bool grow, kith_pairs *out);
kith_status kith__cpu_pairs_each(kith_ctx *ctx, const struct kith__question *question,
                                 const struct kith__list *list, kith_block_fn fn, void *user);
kith_status kith__cpu_rdf_count(kith_ctx *ctx, const struct kith__question *question,
                                const struct kith__rdf *rdf);
kith_status kith__cpu_halos_measure(kith_ctx *ctx, const struct kith__question *question,
                                    const struct kith__members *members, kith_halos *out);
kith_status kith__cpu_waves_sum(kith_ctx *ctx, const struct kith__question *question,
                                const struct kith__waves *waves);
kith_status kith__cpu_debye_sum(kith_ctx *ctx, const struct kith__debye *debye);
kith_status kith__cpu_flock_step(kith_ctx *ctx, struct kith_flock *flock, int64_t steps);
kith_status kith__cpu_overlap_count(kith_ctx *ctx, const struct kith__overlap *overlap);
kith_status kith__cpu_fof_find(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__fof *fof, kith_groups *out);

#endif
