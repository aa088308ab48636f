/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The study of flocks on a GPU: each rung of the ladder against the number of boids, one of them
 * against the number of threads in a block, and one against the width of cells; the library, with a
 * viewer and without.
 */
#include "bench_study.h"
#include "rung_flock_gpu.h"

/** A rung on a GPU. */
typedef struct climber {
    rung_flock_gpu gpu; /**< its state */
    int64_t at_once;    /**< steps of a call of climb */
} climber;

/** A harness_work: do some steps of a rung. */
static bool climb(void *user)
{
    climber *c = user;
    return rung_flock_gpu_go(&c->gpu, c->at_once);
}

/** Time a rung. @param[out] seconds  of a step @return false, reported */
static bool study_rung(const study_case *c, const struct rung_flock_gpu_way *way,
                       const bench_options *options, double *seconds, json_t *out)
{
    climber up = {.gpu = {.one = way->one, .width = c->cell_width, .threads = c->threads}};
    rung_herd start = {0};
    const bool ok = rung_herd_make(&start, c->n, study_side) &&
                    rung_flock_gpu_put(&up.gpu, &start) &&
                    study_time(c, "cuda", options, climb, &up, &up.at_once, seconds, out);
    if (!ok) {
        fprintf(stderr, "kith_bench: study: %s, %lld boids: no memory, or the device failed\n",
                c->rung, (long long)c->n);
    }
    (void)rung_flock_gpu_free(&up.gpu);
    rung_herd_free(&start);
    return ok;
}

/** Time each rung and the library against the number of boids. */
static bool study_numbers(const bench_options *options, json_t *out)
{
    bool ok = true;
    for (int w = 0; ok && w <= RUNG_FLOCK_GPU_WAYS; w++) { /* the last once more, with a viewer */
        const bool viewed = w == RUNG_FLOCK_GPU_WAYS;
        const struct rung_flock_gpu_way *way = &rung_flock_gpu_ways[w - viewed];
        double seconds = 0;
        for (int k = 0; ok && k < STUDY_NUMBERS && seconds < study_slowest; k++) {
            const study_case c = {.rung = way->one ? way->name : "kith",
                                  .n = study_number(options, k),
                                  .cell_width = way->width,
                                  .viewed = viewed};
            ok = way->one ? study_rung(&c, way, options, &seconds, out)
                          : study_library(&c, options, &seconds, out);
        }
    }
    return ok;
}

/** Time one rung against the threads of a block, and one against the width of cells. */
static bool study_shapes(const bench_options *options, json_t *out)
{
    enum { COHERENT = 2, ANY_WIDTH = 3, FIRST = 5, LAST = 8, STEP = 3 };
    static const double widths[] = {1.67, 2.505, 3.34, 5.01, 6.67, 10.01, 20};
    bool ok = true;
    double seconds;
    for (int k = FIRST; k <= LAST; k += STEP) {
        const int64_t n = study_number(options, k);
        for (int threads = 32; ok && threads <= 1024; threads *= 2) {
            const study_case c = {.rung = "blocks", .n = n, .threads = threads};
            ok = study_rung(&c, &rung_flock_gpu_ways[COHERENT], options, &seconds, out);
        }
        for (size_t w = 0; ok && w < sizeof widths / sizeof *widths; w++) {
            const study_case c = {.rung = "widths", .n = n, .cell_width = widths[w]};
            ok = study_rung(&c, &rung_flock_gpu_ways[ANY_WIDTH], options, &seconds, out);
        }
    }
    return ok;
}

bool bench_gpu_study(const rung_truth *truth, const bench_options *options, json_t *out)
{
    double store_rate;
    if (!bench_gpu_describe(options, out, &store_rate) || !rung_flock_gpu_check(truth)) {
        return false;
    }
    json_t *list = put_array(out, "study");
    return study_numbers(options, list) && study_shapes(options, list);
}
