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
    const size_t n = (size_t)frame->particles.n;
    if (!task->weights_file) {
        return STATUS_OK;
    }
    found->weights = malloc((n + 1) * sizeof *found->weights);
    if (!found->weights) {
        return report_no_memory(task->weights_file);
    }
    return report_io(
        io_read_numbers(task->weights_file, (int64_t)n, 0, (int64_t)n, found->weights, &error),
        &error, false);
}

int rdf_weights_check(const rdf_task *task, const rdf_outcome *found, const io_frame *frame)
{
    const double *weights = found->weights ? found->weights : frame->weight;
    for (int64_t p = 0; p < frame->particles.n; p++) {
        if (weights[p] != 0) {
            return STATUS_OK;
        }
    }
    return report_error(STATUS_INVALID, NULL, "%s: frame %lld: all weights (%s) are 0", task->input,
                        (long long)frame->index, task->weights);
}

void rdf_weights_add(const rdf_outcome *found, const rdf_part *part, const kith_histogram *h,
                     double *row)
{
    const rdf_layout *l = &found->layout;
    double n[RDF_MOST_CLASSES] = {0}, sum[RDF_MOST_CLASSES] = {0}, squares[RDF_MOST_CLASSES] = {0};
    for (int64_t p = 0; p < part->points.n; p++) {
        const double w = part->weight[p];
        n[part->species[p]]++;
        sum[part->species[p]] += w;
        squares[part->species[p]] += w * w;
    }
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
