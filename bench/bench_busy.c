/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of a machine that runs other programs, too. Small calls with the default number of
 * threads are timed alternately with one thread: on the machine as it is, and beside processes that
 * spin on every core. Then several processes run at one time, all with the default number of
 * threads or all with one thread. The counts that calls return are compared between the contexts
 * first. As a call is shorter than a time slice of the scheduler, some tenths of a second of calls
 * are timed together.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum { MOST_COPIES = 64 }; /* processes that are started at one time */

/** A call that is timed, of `n` random particles. */
typedef struct job {
    int64_t n;                        /**< number of particles */
    int64_t (*call)(struct job *job); /**< does one call and returns a count, which is equal for any
                                           number of threads; -1: it failed */
    kith_ctx *ctx;                    /**< context of the job */
    double *xyz;                      /**< [n][3] positions in the unit cube */
    int calls;                        /**< calls in one piece of timed work */
    kith_flock *flock;                /**< the flock of step_flock; NULL before its first call */
} job;

/* The calls of cases[]: see job.call. */
static int64_t find_pairs(job *j)
{
    const kith_points points = kith_points_packed(j->xyz, j->n, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    int64_t n = 0;
    return kith_pairs_count(j->ctx, &points, &box, 0.07, NULL, &n, NULL) == KITH_OK ? n : -1;
}

static int64_t find_groups(job *j)
{
    const kith_points points = kith_points_packed(j->xyz, j->n, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_groups groups = {0};
    const double length = 0.2 / cbrt((double)j->n);
    const bool ok = kith_fof_find(j->ctx, &points, &box, length, NULL, &groups) == KITH_OK;
    const int64_t n = ok ? groups.n : -1;
    kith_groups_free(&groups);
    return n;
}

static int64_t count_distances(job *j)
{
    const kith_points points = kith_points_packed(j->xyz, j->n, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.bins = 200;
    options.r_max = 0.45;
    kith_histogram histogram = {0};
    const bool ok = kith_rdf_count(j->ctx, &points, &box, &options, &histogram) == KITH_OK;
    int64_t n = ok ? 0 : -1;
    for (int64_t k = 0; ok && k < histogram.bins; k++) {
        n += histogram.counts[k];
    }
    kith_histogram_free(&histogram);
    return n;
}

static int64_t step_flock(job *j)
{
    if (!j->flock) { /* first call: a box with 31 neighbours within the default radius of 5 */
        const double side = cbrt((double)j->n * 523.6 / 31);
        const kith_box box = kith_box_periodic(side, side, side);
        for (int64_t k = 0; k < 3 * j->n; k++) {
            j->xyz[k] *= side;
        }
        const kith_points points = kith_points_packed(j->xyz, j->n, KITH_DOUBLE);
        if (kith_flock_open(j->ctx, &points, &points, &box, NULL, &j->flock) != KITH_OK) {
            return -1;
        }
    }
    return kith_flock_step(j->flock, 1) == KITH_OK ? 0 : -1;
}

/* Small work, because other processes slow it most. */
static const struct {
    const char *name;        /**< name of the case */
    int64_t n;               /**< number of particles */
    int64_t (*call)(job *j); /**< see job.call */
} cases[] = {{"pairs", 20000, find_pairs},
             {"flock", 5000, step_flock},
             {"rdf", 1000, count_distances},
             {"fof", 100000, find_groups}};

/** Open job number c of cases[]. @param threads  0: the default. @return false without memory */
static bool job_open(job *j, int c, int threads)
{
    *j = (job){.n = cases[c].n, .call = cases[c].call};
    j->ctx = bench_open("cpu", threads);
    j->xyz = bench_make_set("uniform", j->n);
    return j->ctx && j->xyz;
}

static void job_close(job *j)
{
    kith_flock_close(j->flock);
    kith_close(j->ctx);
    free(j->xyz);
}

/** Do j->calls calls. @return false when one failed */
static bool call_often(job *j)
{
    bool ok = true;
    for (int k = 0; ok && k < j->calls; k++) {
        ok = j->call(j) >= 0;
    }
    return ok;
}

/* Works of harness_time_turns: the calls of the first of two jobs, and of the second. */
static bool call_first(void *jobs)
{
    return call_often(jobs);
}

static bool call_second(void *jobs)
{
    return call_often((job *)jobs + 1);
}

/** Set the number of calls of both jobs, so that those of the first take some seconds. */
static bool choose_calls(job jobs[2], double seconds)
{
    harness_times once;
    jobs[0].calls = 1;
    const bool ok = harness_time(call_first, jobs, 0, &once);
    const double calls = ok ? seconds / once.median : 0;
    jobs[0].calls = jobs[1].calls = calls > 1 ? (int)calls : 1;
    return ok;
}

/** Kill processes. @return the processor time that they used [s] */
static double stop(pid_t *process, int n)
{
    double seconds = 0;
    for (int p = 0; p < n; p++) {
        struct rusage used = {0};
        kill(process[p], SIGKILL);
        wait4(process[p], NULL, 0, &used);
        seconds += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    }
    return seconds;
}

/** Start as many spinning processes as there are cores. @return their number */
static int start_spinning(pid_t process[MOST_COPIES])
{
    int n = 0;
    for (const int cores = harness_cores(); n < cores && n < MOST_COPIES; n++) {
        process[n] = fork();
        if (process[n] < 0) {
            break;
        }
        for (volatile long spin = 0; process[n] == 0; spin++) {}
    }
    return n;
}

/** Time one thread and the default number of threads alternately.
 *  @param c         index of the case
 *  @param spinning  other processes spin meanwhile, one for each core
 *  @return false, reported, on failure */
static bool time_turns(int c, bool spinning, const bench_options *options, json_t *out)
{
    static const harness_work works[2] = {call_first, call_second};
    harness_times times[2];
    pid_t process[MOST_COPIES];
    job jobs[2];
    bool ok = job_open(&jobs[0], c, 1);
    ok = job_open(&jobs[1], c, 0) && ok;
    ok = ok && jobs[0].call(&jobs[0]) == jobs[1].call(&jobs[1]) &&
         choose_calls(jobs, 0.5 * options->least_seconds);
    const int n = ok && spinning ? start_spinning(process) : 0;
    ok = ok && (!spinning || n > 0) &&
         harness_time_turns(works, jobs, options->least_seconds, times);
    (void)stop(process, n);
    if (ok) {
        json_t *const row = bench_begin(out, cases[c].name, "uniform", cases[c].n);
        put_integer(row, "spinning", n);
        put_integer(row, "calls", jobs[0].calls);
        put_number(row, "one_thread_seconds", times[0].median);
        put_number(row, "ratio", times[1].median / times[0].median);
        bench_end(row, KITH_DOUBLE, jobs[1].ctx, &times[1]);
    } else {
        fprintf(stderr, "kith_bench: %s: a call failed, or counts differ between threads\n",
                cases[c].name);
    }
    job_close(&jobs[1]);
    job_close(&jobs[0]);
    return ok;
}

/** Count the calls that `copies` processes do together in some seconds. The counters are in shared
 *  memory, as the processes are killed at the end.
 *  @param[out] each  calls in a second of processor time: it does not change when other programs
 *                    take time from these processes, but when these waste time
 *  @return the calls; 0: a process could not be started */
static double count_calls(int c, int threads, int copies, double seconds, double *each)
{
    int64_t *const calls = mmap(NULL, (size_t)copies * sizeof *calls, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t process[MOST_COPIES];
    int n = 0;
    if (calls == MAP_FAILED) {
        return 0;
    }
    for (; n < copies && (process[n] = fork()) >= 0; n++) {
        if (process[n] == 0) {
            job j;
            if (job_open(&j, c, threads) && j.call(&j) >= 0) {
                for (calls[n] = 0; j.call(&j) >= 0;) {
                    calls[n]++;
                }
            }
            _exit(1);
        }
    }
    const struct timespec wait = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&wait, NULL);
    const double used = stop(process, n);
    double sum = 0;
    for (int p = 0; p < n; p++) {
        sum += n == copies ? (double)calls[p] : 0;
    }
    *each = used > 0 ? sum / used : 0;
    munmap(calls, (size_t)copies * sizeof *calls);
    return sum;
}

/** Compare the calls of twice as many processes as there are cores, all with the default number of
 *  threads, with those of as many processes with one thread each, alternately: the median ratios of
 *  calls, and of calls in a second of processor time. @return false, reported, on failure */
static bool time_processes(int c, const bench_options *options, json_t *out)
{
    enum { TURNS = 5 };
    const int copies = 2 * harness_cores() < MOST_COPIES ? 2 * harness_cores() : MOST_COPIES;
    const double seconds = options->least_seconds > 0 ? 4 * options->least_seconds : 0.5;
    double ratio[TURNS];
    double work_ratio[TURNS];
    harness_times summary;
    harness_times work_summary;
    for (int t = 0; t < TURNS; t++) {
        double each_one = 0;
        double each_many = 0;
        const double one = count_calls(c, 1, copies, seconds, &each_one);
        const double many = count_calls(c, 0, copies, seconds, &each_many);
        if (one <= 0) {
            fprintf(stderr, "kith_bench: %s: no call ended in %g s\n", cases[c].name, seconds);
            return false;
        }
        ratio[t] = many / one;
        work_ratio[t] = each_many / each_one;
    }
    harness_summarise(ratio, TURNS, &summary);
    harness_summarise(work_ratio, TURNS, &work_summary);
    json_t *const row = bench_begin(out, cases[c].name, "uniform", cases[c].n);
    put_integer(row, "processes", copies);
    put_number(row, "throughput_ratio", summary.median);
    put_number(row, "throughput_ratio_min", summary.least);
    put_number(row, "throughput_ratio_max", summary.most);
    put_number(row, "work_ratio", work_summary.median);
    put_number(row, "work_ratio_min", work_summary.least);
    put_number(row, "work_ratio_max", work_summary.most);
    printf("%-6s %8lld %d processes: %5.2f of the calls of as many on one thread (%.2f to %.2f); "
           "in a second of processor time %.2f (%.2f to %.2f)\n",
           cases[c].name, (long long)cases[c].n, copies, summary.median, summary.least,
           summary.most, work_summary.median, work_summary.least, work_summary.most);
    fflush(stdout);
    return true;
}

bool bench_busy(const bench_options *options, json_t *out)
{
    bool ok = true;
    json_t *const list = put_array(out, "busy");
    for (int c = 0; ok && c < (int)(sizeof cases / sizeof *cases); c++) {
        if (bench_wants(options, cases[c].name)) {
            ok = time_turns(c, false, options, list) && time_turns(c, true, options, list) &&
                 time_processes(c, options, list);
        }
    }
    return ok;
}
