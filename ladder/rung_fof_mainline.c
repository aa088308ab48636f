/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 4: the library. Particles are sorted by subcells whose diagonal is at most the cutoff: all
 * particles of a subcell are one group, without a distance. Subcells that are near are united at
 * the first pair found, and are not tested if they are one group already.
 */
#include "rung_fof.h"

#include <string.h>

bool rung_fof_mainline(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch)
{
    const kith_points points = kith_points_packed(in->xyz, in->n, KITH_DOUBLE);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = least;
    kith_groups groups = {0};
    const bool ok = kith_fof_find(in->ctx, &points, NULL, in->cutoff, &options, &groups) == KITH_OK;
    if (ok && in->n > 0) {
        memcpy(labels, groups.labels, (size_t)in->n * sizeof *labels);
    }
    kith_groups_free(&groups);
    *scratch = kith_scratch_bytes(in->ctx);
    return ok;
}
