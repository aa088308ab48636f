/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The gain of a machine from its cores: an arithmetic loop, run by one thread, and by n threads at
 * one time, alternately. The loop uses no memory, so its gain is an upper limit for programs: it is
 * below n where processors share a core, reduce their clock rate, or run other programs. The
 * threads are not those of kith's pool, whose gain is compared with this one.
 */
#include <pthread.h>
#include <stdio.h>

#include "bench.h"

enum {
    CHAINS = 8,              /* independent chains of operations */
    STEPS = 4 * 1000 * 1000, /* operations of each chain */
    MOST = 4096              /* threads, the most that --threads accepts */
};

/** Threads that run the loop. */
typedef struct crowd {
    int threads;       /**< number of threads */
    double sums[MOST]; /**< result of each thread, so that the loop is not optimised away */
} crowd;

/** Multiply and add in CHAINS independent chains, which hide the latency of the units. */
static void *calculate(void *out)
{
    double x[CHAINS];
    double sum = 0;
    for (int c = 0; c < CHAINS; c++) {
        x[c] = 1 + 1e-3 * c;
    }
    for (int step = 0; step < STEPS; step++) {
        for (int c = 0; c < CHAINS; c++) {
            x[c] = x[c] * 0.999999 + 1e-6;
        }
    }
    for (int c = 0; c < CHAINS; c++) {
        sum += x[c];
    }
    *(double *)out = sum;
    return NULL;
}

/** A harness_work: run the loop in this thread. */
static bool run_one(void *user)
{
    (void)calculate(((crowd *)user)->sums);
    return true;
}

/** A harness_work: run the loop in all threads. @return false when one could not be started */
static bool run_all(void *user)
{
    crowd *c = user;
    pthread_t threads[MOST];
    int n = 0;
    while (n < c->threads && pthread_create(&threads[n], NULL, calculate, &c->sums[n]) == 0) {
        n++;
    }
    for (int t = 0; t < n; t++) {
        pthread_join(threads[t], NULL);
    }
    return n == c->threads;
}

bool bench_cores(const bench_options *options, json_t *out)
{
    static crowd all;
    json_t *list = put_array(out, "cores");
    if (!bench_wants(options, "cores")) {
        return true;
    }
    for (int t = 0; bench_has_run(options, t); t++) {
        harness_times times[2];
        all.threads = options->threads[t] > 0 ? options->threads[t] : harness_cores();
        if (!harness_time_turns((const harness_work[]){run_one, run_all}, &all, 0, times)) {
            fprintf(stderr, "kith_bench: cores: %d threads could not be started\n", all.threads);
            return false;
        }
        const double gain = all.threads * times[0].median / times[1].median;
        json_t *row = put_object(list, NULL);
        put_integer(row, "threads", all.threads);
        put_number(row, "one_thread_seconds", times[0].median);
        put_number(row, "gain", gain);
        harness_write_times(row, &times[1]);
        printf("cores: %d threads do %.2f times the arithmetic of one\n", all.threads, gain);
        fflush(stdout);
    }
    return true;
}
