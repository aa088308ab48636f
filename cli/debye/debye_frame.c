/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One frame of `kith debye`: count its pairs by distance, or sum over them exactly, and add that to
 * the sums over frames. Counting a frame reads what all frames share and writes to that frame
 * alone, so that several threads may count frames at one time.
 */
#include "debye.h"
#include "common/engine.h"
#include "common/report.h"

#include <kith/debye.h>
#include <stdlib.h>
#include <string.h>

int64_t debye_sums(const debye_outcome *found)
{
    return found->n_elements * (found->n_elements + 1) / 2 * found->n_q;
}

/** Sum sin(q r) / (q r) over the pairs of a frame into f->sums (kith_debye_sum). */
static kith_status sum_pairs(const debye_task *task, const debye_outcome *found, kith_ctx *ctx,
                             debye_frame *f)
{
    kith_debye_options o;
    kith_debye_options_init(&o);
    o.q_min = task->q_min * found->angstrom;
    o.q_width = task->q_width * found->angstrom;
    o.n_q = found->n_q;
    o.species = f->element;
    o.n_species = found->n_elements;
    if (!f->sums) {
        f->sums = malloc((size_t)debye_sums(found) * sizeof *f->sums);
    }
    return f->sums ? kith_debye_sum(ctx, &f->points, &o, f->sums) : KITH_NO_MEMORY;
}

/** Set the counts of a histogram to 0, and keep its arrays. An `owner` of NULL says that it has no
 *  arrays yet. */
static void clear_histogram(kith_histogram *h)
{
    const size_t counters = (size_t)(h->partials * h->bins);
    if (h->owner) {
        memset(h->counts, 0, counters * sizeof *h->counts);
        memset(h->ideal, 0, counters * sizeof *h->ideal);
    }
}

bool debye_frame_count(const debye_task *task, const debye_outcome *found, kith_ctx *ctx,
                       debye_frame *f)
{
    const double start = progress_clock();
    f->ctx = ctx;
    if (task->exact) {
        f->counted = sum_pairs(task, found, ctx, f);
    } else {
        clear_histogram(&f->histogram);
        f->counted = kith_rdf_count(ctx, &f->points, &f->box, &f->how, &f->histogram);
    }
    f->seconds = progress_clock() - start;
    return f->counted == KITH_OK;
}

int debye_frame_report(const debye_task *task, const debye_frame *f)
{
    return f->counted == KITH_NO_MEMORY ? report_no_memory("the sums of a frame")
                                        : engine_status(f->ctx, f->counted, task->input);
}

/** Add the counts of a frame. The first frame's arrays are moved to the result; its emptied
 *  histogram then adds nothing. */
static void add_histogram(kith_histogram *all, kith_histogram *h)
{
    if (!all->owner) {
        *all = *h;
        *h = (kith_histogram){0};
    }
    for (int64_t k = 0; k < h->partials * h->bins; k++) {
        all->counts[k] += h->counts[k];
        all->ideal[k] += h->ideal[k];
    }
}

int debye_frame_add(const debye_task *task, debye_outcome *found, debye_frame *f)
{
    const int64_t n = task->exact ? debye_sums(found) : 0;
    if (n > 0 && !found->pairs) {
        found->pairs = calloc((size_t)n, sizeof *found->pairs);
        if (!found->pairs) {
            return report_no_memory("sums");
        }
    }
    for (int64_t k = 0; k < n; k++) {
        found->pairs[k] += f->sums[k];
    }
    add_histogram(&found->histogram, &f->histogram);
    found->count_seconds += f->seconds;
    found->particles = f->particles;
    found->frames++;
    return STATUS_OK;
}

void debye_frame_free(debye_frame *f)
{
    kith_histogram_free(&f->histogram);
    free(f->element);
    free(f->pos);
    free(f->sums);
    *f = (debye_frame){0};
}
