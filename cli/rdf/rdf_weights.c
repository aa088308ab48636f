/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `kith rdf --weights`: with a number w of each particle,
 *
 *     g_w(r) = sum of w_i w_j over the pairs / what it would be of particles strewn uniformly
 *     ww(r)  = sum of w_i w_j over the pairs / their number
 *
 * Strewn uniformly, a pair of a and b has the mean of w_i w_j over all pairs of a and b, W_a W_b /
 * (N_a N_b), and of one kind (W^2 - sum of w^2) / (N (N - 1)), with W the sum of w. Where weights
 * cancel, as charges do, g_w is not defined and ww says how they are arranged (Stoyan & Stoyan
 * 1994, Fractals, Random Shapes and Point Fields, 14.7: mark correlation).
 */
#include "rdf.h"
#include "common/report.h"

#include <stdlib.h>

int rdf_weights_load(const rdf_task *task, const io_frame *frame, rdf_outcome *found)
{
    io_error error = {0};
    const io_particles *p = &frame->particles;
    const bool shares = found->parts > 1;
    if (!task->weights || (!shares && !task->weights_file)) {
        return STATUS_OK; /* frames have them */
    }
    found->weights = malloc(((size_t)p->n + 1) * sizeof *found->weights);
    if (!found->weights) {
        return report_no_memory(task->weights_file ? task->weights_file : "the weights");
    }
    if (shares) {
        const input in = {.path = task->input, .particles = *p, .parts = found->parts};
        return ranks_weights_read(task->weights_file, &in, found->weights, &found->any_weight);
    }
    return report_io(io_read_numbers(task->weights_file, p->n, 0, p->n, found->weights, &error),
                     &error, false);
}

int rdf_weights_check(const rdf_task *task, const rdf_outcome *found, const io_frame *frame)
{
    const double *weights = found->weights ? found->weights : frame->weight;
    bool any = found->parts > 1 && found->any_weight;
    for (int64_t p = 0; p < frame->particles.n && !any; p++) {
        any = weights[p] != 0;
    }
    if (any) {
        return STATUS_OK;
    }
    return report_error(STATUS_INVALID, NULL, "%s: frame %lld: all weights (%s) are 0", task->input,
                        (long long)frame->index, task->weights);
}

void rdf_weights_add(const rdf_outcome *found, const ranks_weight_sums *sums,
                     const kith_histogram *h, double *row)
{
    const rdf_layout *l = &found->layout;
    const double *n = sums->n, *sum = sums->sum, *squares = sums->squares;
    for (int a = 0; a < h->n_species; a++) {
        for (int b = a; b < h->n_species; b++) {
            const double pairs = a == b ? n[a] * (n[a] - 1) : n[a] * n[b];
            const double all = sum[a] * sum[b] - (a == b ? squares[a] : 0);
            const int64_t first = kith_histogram_partial(h, a, b) * l->bins;
            for (int64_t k = first; k < first + l->bins; k++) {
                row[l->products + k] += h->sums[k];
                row[l->strewn + k] += pairs > 0 ? h->ideal[k] * all / pairs : 0;
            }
        }
    }
}

bool rdf_weights_curve(const rdf_outcome *found, rdf_curve *c)
{
    const rdf_layout *l = &found->layout;
    double *products = rdf_sum_blocks(found, c, l->products);
    double *strewn = rdf_sum_blocks(found, c, l->strewn);
    double *counts = rdf_sum_blocks(found, c, l->counts);
    const bool fits = products && strewn && counts;
    if (fits) {
        rdf_divide(found, products, strewn, c->weighted, c->weighted_error);
        rdf_divide(found, products, counts, c->product, c->product_error);
    }
    free(products);
    free(strewn);
    free(counts);
    return fits;
}
