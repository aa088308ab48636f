/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Taking a glance from the host's state, for one precision. Included by glance.c, see twice.h.
 */

/** Copy those chosen, in the order of the choice: r [n][3], then v. */
static void KITH_REAL(take)(const struct kith_flock *flock, real *to)
{
    const struct kith__glance *g = &flock->glance;
    const int32_t *rank = g->rank.data;
#pragma omp parallel for num_threads(kith__threads_for(flock->ctx, flock->n)) schedule(static)
    for (int64_t s = 0; s < flock->n; s++) {
        const int64_t at = rank[flock->now.id[s]];
        for (int k = 0; k < 3 && at >= 0; k++) {
            to[3 * at + k] = ((const real *)flock->now.r[k])[s];
            to[3 * (g->n + at) + k] = ((const real *)flock->now.v[k])[s];
        }
    }
}
