/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 4: the library. Hits are packed in registers and converted to bins 16 at a time; where an
 * error bound leaves two bins possible, the squared edges decide. Counters are private to each lane
 * if they fit the first-level cache.
 */
#include "rung_rdf.h"

#include <string.h>

bool rung_rdf_ask(kith_ctx *ctx, const kith_points *points, const kith_box *box, int64_t bins,
                  double r_max, int64_t *counts)
{
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.bins = bins;
    options.r_max = r_max;
    options.minimum_image = box != NULL;
    kith_histogram histogram = {0};
    const bool ok = kith_rdf_count(ctx, points, box, &options, &histogram) == KITH_OK;
    if (ok) {
        memcpy(counts, histogram.counts, (size_t)bins * sizeof *counts);
    }
    kith_histogram_free(&histogram);
    return ok;
}

bool rung_rdf_mainline(const rung_input *in, const rung_bins *bins, int64_t *counts,
                       int64_t *scratch)
{
    const kith_points points = kith_points_packed(in->xyz, in->n, KITH_DOUBLE);
    const bool ok = rung_rdf_ask(in->ctx, &points, NULL, bins->n, in->cutoff, counts);
    *scratch = kith_scratch_bytes(in->ctx);
    return ok;
}
