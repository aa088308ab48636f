/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From the histogram of distances to I(q), S(q), F(q) and G(r), which debye.h defines.
 *
 * The sum over the bins of a cluster is O(bins n_q). Bins have one width, so that sines are not
 * computed for each bin: in a block of BLOCK bins with r_j = r_0 + j width,
 *     sum_j n_j sin(q r_j) = sin(q r_0) sum_j n_j cos(q j width)
 *                          + cos(q r_0) sum_j n_j sin(q j width)
 * where cos(q j width) and sin(q j width) are tables for one q, shared by all blocks. A bin costs
 * two products for each q. Distances are taken as uniformly distributed within their bin.
 */
#include "debye.h"
#include "common/progress.h"
#include "common/report.h"

#include <math.h>
#include <pool.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 64, /* bins of a block */
    LANES = 8   /* partial sums of a block, whatever the width of the machine's vectors */
};

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* Compile a function for several instruction sets; the loader selects one (GNU ifunc). The order of
 * additions is written out, so that each gives identical sums. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_PROCESSOR \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/** Compute the two sums of each block: sum_j n_j cos(q j width) and sum_j n_j sin(q j width).
 *  @param n             [blocks][BLOCK] weights of bins
 *  @param cosine, sine  [BLOCK] tables of cos(q j width) and sin(q j width)
 *  @param[out] out      [blocks][2] */
FOR_EACH_PROCESSOR
static void sum_blocks(int64_t blocks, const double *n, const double *cosine, const double *sine,
                       double (*out)[2])
{
    for (int64_t b = 0; b < blocks; b++) {
        lanes in = {0}, beside = {0}, value, factor;
        for (int j = 0; j < BLOCK; j += LANES) {
            memcpy(&value, n + b * BLOCK + j, sizeof value);
            memcpy(&factor, cosine + j, sizeof factor);
            in += value * factor;
            memcpy(&factor, sine + j, sizeof factor);
            beside += value * factor;
        }
        out[b][0] = ((in[0] + in[4]) + (in[1] + in[5])) + ((in[2] + in[6]) + (in[3] + in[7]));
        out[b][1] = ((beside[0] + beside[4]) + (beside[1] + beside[5])) +
                    ((beside[2] + beside[6]) + (beside[3] + beside[7]));
    }
}

/** Return the sum of counts sin(q r) / (q r) over the bins of a cluster, for one q > 0.
 *  @param q      [1/A]
 *  @param width  width of a bin [A]
 *  @param n      [bins] counts / r at the middle of each bin, padded with zeros to whole blocks
 *  The last factor, sin(q width / 2) / (q width / 2), averages sin(q r) over a bin. */
static double sum_bins(double q, double width, int64_t bins, const double *n)
{
    enum { AT_ONCE = 64 }; /* blocks of a call of sum_blocks; bounds the array of their sums */
    double cosine[BLOCK], sine[BLOCK], part[AT_ONCE][2], sum = 0;
    for (int j = 0; j < BLOCK; j++) {
        cosine[j] = cos(q * j * width);
        sine[j] = sin(q * j * width);
    }
    const int64_t blocks = (bins + BLOCK - 1) / BLOCK;
    for (int64_t first = 0; first < blocks; first += AT_ONCE) {
        const int64_t left = blocks - first < AT_ONCE ? blocks - first : AT_ONCE;
        sum_blocks(left, n + first * BLOCK, cosine, sine, part);
        for (int64_t b = 0; b < left; b++) {
            const double phase = q * ((double)((first + b) * BLOCK) + 0.5) * width;
            sum += sin(phase) * part[b][0] + cos(phase) * part[b][1];
        }
    }
    const double half = q * width / 2;
    return sum / q * (half > 1e-8 ? sin(half) / half : 1);
}

/** Shared state of a parallel loop over the points of a curve. */
struct curve_loop {
    const debye_task *task; /**< options; not used by transform_cluster_range */
    debye_outcome *found;   /**< histogram, and the curves that are computed */
    int32_t partial;        /**< partial that transform_cluster_range computes */
    const double *n;        /**< [bins] counts of the partial divided by r [1/A], zero-padded */
    double width;           /**< width of a bin [A] */
    atomic_bool full;       /**< memory was exhausted */
};

/** Run a loop over n points of a curve, on as many threads as the context has. */
static void loop_over_points(const debye_outcome *found, int64_t n, kith__range_fn *fn,
                             struct curve_loop *loop)
{
    struct kith__pool *pool = kith__pool_open(kith_threads(found->ctx));
    kith__pool_chunks(pool, kith__pool_threads(pool), n, 1, fn, loop);
    kith__pool_close(pool);
}

/** Transform one partial of a cluster at the values [begin, end) of q. At q = 0 each pair adds 1,
 *  the limit of sin(q r) / (q r). */
static void transform_cluster_range(void *state, int64_t begin, int64_t end)
{
    const struct curve_loop *loop = state;
    const debye_outcome *found = loop->found;
    const kith_histogram *h = &found->histogram;
    const int32_t p = loop->partial;
    for (int64_t at = begin; at < end; at++) {
        double sum = 0;
        for (int64_t k = 0; k < h->bins && !(found->q[at] > 0); k++) {
            sum += (double)h->counts[p * h->bins + k];
        }
        found->pairs[p * found->n_q + at] = found->q[at] > 0 ? sum_bins(found->q[at], loop->width,
                                                                        h->bins, loop->n)
                                                             : sum;
    }
}

/** Compute found->pairs of a cluster from its histogram. @return false without memory */
static bool transform_cluster(debye_outcome *found)
{
    const kith_histogram *h = &found->histogram;
    const double width = h->edges[h->bins] / (double)h->bins * found->angstrom;
    const int64_t room = h->bins + BLOCK;
    double *n = calloc((size_t)room, sizeof *n);
    for (int32_t p = 0; p < h->partials && n; p++) {
        for (int64_t k = 0; k < h->bins; k++) {
            n[k] = (double)h->counts[p * h->bins + k] / (((double)k + 0.5) * width);
        }
        struct curve_loop loop = {.found = found, .partial = p, .n = n, .width = width};
        loop_over_points(found, found->n_q, transform_cluster_range, &loop);
    }
    free(n);
    return n != NULL;
}

/** Transform all partials of a box at the values [begin, end) of q. structure_weights gives the
 *  integral of sin(q r) / (q r) over the volume of each shell, times the window; it is multiplied
 *  by the excess number density of pairs in the shell. */
static void transform_box_range(void *state, int64_t begin, int64_t end)
{
    struct curve_loop *loop = state;
    const debye_task *task = loop->task;
    debye_outcome *found = loop->found;
    const kith_histogram *h = &found->histogram;
    for (int64_t at = begin; at < end; at++) {
        double *weights = malloc((size_t)h->bins * sizeof *weights);
        if (!weights) {
            atomic_store(&loop->full, true);
            continue;
        }
        structure_weights(3, found->q[at] * found->angstrom, h->bins, h->edges, task->window,
                          weights);
        for (int32_t p = 0; p < h->partials; p++) {
            double sum = 0;
            for (int64_t k = 0; k < h->bins; k++) {
                const double ideal = h->ideal[p * h->bins + k];
                const double r = h->edges[k], s = h->edges[k + 1];
                const double shell = 4 * M_PI / 3 * (s - r) * (s * s + s * r + r * r);
                const double counts = (double)h->counts[p * h->bins + k];
                sum += ideal > 0 ? weights[k] / shell * (counts - ideal) : 0;
            }
            found->pairs[p * found->n_q + at] = sum;
        }
        free(weights);
    }
}

/** Compute found->pairs of a box: the transform, up to the histogram's end, of the excess of the
 *  counts over h->ideal, the counts of a uniform density. @return false without memory */
static bool transform_box(const debye_task *task, debye_outcome *found)
{
    struct curve_loop loop = {.task = task, .found = found};
    loop_over_points(found, found->n_q, transform_box_range, &loop);
    return !atomic_load(&loop.full);
}

/** Compute I, S and F from the sums over pairs. Each pair is summed once, which the factor 2 makes
 *  the double sum over i != j. */
static void make_intensity(const debye_task *task, debye_outcome *found)
{
    double all = 0;
    for (int a = 0; a < found->n_elements; a++) {
        all += found->members[a];
    }
    for (int64_t at = 0; at < found->n_q; at++) {
        double mean = 0, square = 0, pairs = 0, f[DEBYE_MOST_ELEMENTS];
        for (int a = 0; a < found->n_elements; a++) {
            f[a] = scatterer_at(&found->scatterer[a], found->q[at]);
            mean += found->members[a] / all * f[a];
            square += found->members[a] / all * f[a] * f[a];
        }
        int64_t partial = 0;
        for (int a = 0; a < found->n_elements; a++) {
            for (int b = a; b < found->n_elements; b++, partial++) {
                pairs += 2 * f[a] * f[b] * found->pairs[partial * found->n_q + at];
            }
        }
        const double waller = exp(-task->b_iso * found->q[at] * found->q[at] / (8 * M_PI * M_PI));
        pairs *= waller / all / (double)found->frames;
        found->intensity[at] = all * (square + pairs);
        found->s[at] = 1 + pairs / (mean * mean);
        found->f[at] = found->q[at] * (found->s[at] - 1);
    }
}

/** Compute G(r) at the values [begin, end) of r. The window of Lorch is sin(x) / x with x = pi q /
 *  q_max, where q_max is the end of the last step of q. */
static void make_gr_range(void *state, int64_t begin, int64_t end)
{
    const struct curve_loop *loop = state;
    const debye_task *task = loop->task;
    debye_outcome *found = loop->found;
    const double last = found->q[found->n_q - 1] + task->q_width;
    for (int64_t k = begin; k < end; k++) {
        const double r = (double)k * task->gr_width;
        double sum = 0;
        for (int64_t at = 0; at < found->n_q; at++) {
            const double x = M_PI * found->q[at] / last;
            const double window = task->gr_window == WINDOW_LORCH && x > 0 ? sin(x) / x : 1;
            sum += found->f[at] * window * sin(found->q[at] * r);
        }
        found->r[k] = r;
        found->g[k] = 2 / M_PI * task->q_width * sum *
                      exp(-r * task->q_damp * r * task->q_damp / 2);
    }
}

/** Compute G(r) = 2 / pi int F(q) W(q) sin(q r) dq by the rectangle rule, times the damping of
 *  --q-damp. */
static void make_gr(const debye_task *task, debye_outcome *found)
{
    struct curve_loop loop = {.task = task, .found = found};
    loop_over_points(found, found->n_r, make_gr_range, &loop);
}

int debye_make(const debye_task *task, debye_outcome *found)
{
    const double start = progress_clock();
    const size_t n = (size_t)found->n_q,
                 partials = (size_t)(found->n_elements * (found->n_elements + 1) / 2);
    found->n_r = task->gr ? (int64_t)ceil(task->gr_max / task->gr_width * (1 - 1e-12)) : 0;
    found->intensity = malloc(3 * n * sizeof(double));
    found->r = malloc(2 * ((size_t)found->n_r + 1) * sizeof(double));
    if (!task->exact) {
        found->pairs = malloc(partials * n * sizeof(double));
    }
    bool fits = found->intensity && found->r && found->pairs;
    if (fits && !task->exact) {
        fits = found->open ? transform_cluster(found) : transform_box(task, found);
    }
    if (!fits) {
        return report_no_memory("I(q)");
    }
    found->s = found->intensity + n;
    found->f = found->s + n;
    found->g = found->r + found->n_r;
    make_intensity(task, found);
    make_gr(task, found);
    found->sum_seconds = progress_clock() - start;
    return STATUS_OK;
}
