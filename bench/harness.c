/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Timing, the speed of memory, and a description of machine, build and run.
 */
#include "harness.h"

#include <ladder_driver.h>
#include <kith.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

void harness_summarise(double *times, int n, harness_times *out)
{
    ladder_sort(times, n);
    out->repeats = n;
    out->median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
    out->least = times[0];
    out->most = times[n - 1];
}

/** Run work, and measure its time. @return false when it failed */
static bool run_once(harness_work work, void *user, double *seconds)
{
    const double start = ladder_now();
    const bool ok = work(user);
    *seconds = ladder_now() - start;
    return ok;
}

/** Time one function, or two alternately: see harness_time and harness_time_turns. */
static bool time_works(const harness_work *work, int works, void *user, double least,
                       harness_times *out)
{
    double times[2][HARNESS_MOST_REPEATS];
    double total = 0;
    int n = 0;
    for (int w = 0; w < works; w++) {
        if (!run_once(work[w], user, &out[w].first)) {
            return false;
        }
    }
    for (; n < HARNESS_MOST_REPEATS && (n < HARNESS_LEAST_REPEATS || total < works * least); n++) {
        for (int w = 0; w < works; w++) {
            if (!run_once(work[w], user, &times[w][n])) {
                return false;
            }
            total += times[w][n];
        }
    }
    for (int w = 0; w < works; w++) {
        harness_summarise(times[w], n, &out[w]);
    }
    return true;
}

bool harness_time(harness_work work, void *user, double least, harness_times *out)
{
    return time_works(&work, 1, user, least, out);
}

bool harness_time_turns(const harness_work work[2], void *user, double least, harness_times out[2])
{
    return time_works(work, 2, user, least, out);
}

void harness_write_times(json_t *out, const harness_times *times)
{
    put_integer(out, "repeats", times->repeats);
    put_number(out, "seconds", times->median);
    put_number(out, "seconds_min", times->least);
    put_number(out, "seconds_max", times->most);
}

/** State of the test of the store rate. */
typedef struct store_test {
    char *buffer;            /**< [bytes] memory that is written */
    int64_t bytes;           /**< size of the buffer */
    int threads;             /**< threads that write */
    struct kith__pool *pool; /**< pool of these threads */
    bool stream;             /**< by non-temporal stores, which bypass the caches; else memset */
} store_test;

/** Write memory by non-temporal stores, where SSE2 has them; `bytes` is a multiple of 16. */
static void store_stream(char *to, int64_t bytes)
{
#if defined(__SSE2__)
    const __m128i value = _mm_set1_epi32(1);
    for (int64_t b = 0; b < bytes; b += 16) {
        _mm_stream_si128((__m128i *)(void *)(to + b), value);
    }
    _mm_sfence();
#else
    memset(to, 1, (size_t)bytes);
#endif
}

static void store_range(void *state, int64_t begin, int64_t end)
{
    const store_test *const test = state;
    if (test->stream) {
        store_stream(test->buffer + begin, end - begin);
    } else {
        memset(test->buffer + begin, 2, (size_t)(end - begin));
    }
}

/** A harness_work: write the whole buffer. */
static bool store_all(void *user)
{
    enum { BLOCK = 1 << 20 };
    store_test *const test = user;
    kith__pool_chunks(test->pool, test->threads, test->bytes / BLOCK * BLOCK, BLOCK, store_range,
                      test);
    return true;
}

double harness_store_rate(int threads, int64_t bytes)
{
    harness_times times;
    store_test test = {aligned_alloc(64, (size_t)bytes), bytes, threads, kith__pool_open(threads),
                       false};
    double rate = 0;
    for (int s = 0; test.buffer && s < 2; s++) {
        test.stream = s;
        if (harness_time(store_all, &test, 0, &times) && (double)bytes / times.median > rate) {
            rate = (double)bytes / times.median;
        }
    }
    kith__pool_close(test.pool);
    free(test.buffer);
    return rate;
}

void harness_for(int64_t n, int64_t grain, kith__range_fn *fn, void *state)
{
    struct kith__pool *pool = kith__pool_open(harness_cores());
    kith__pool_chunks(pool, kith__pool_threads(pool), n, grain, fn, state);
    kith__pool_close(pool);
}

int64_t harness_memory(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

int harness_cores(void)
{
    cpu_set_t usable;
    const long cores = sched_getaffinity(0, sizeof usable, &usable) == 0
                           ? CPU_COUNT(&usable)
                           : sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 1 ? (int)cores : 1;
}

/** Find the first line of a file, or of a command's output, that begins with a prefix, and copy its
 *  rest, without the separators that follow the prefix. If there is none, `out` is unchanged. */
static void find_line(FILE *file, const char *prefix, char *out, size_t size)
{
    char line[512];
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, prefix, strlen(prefix)) == 0) {
            const char *const value = line + strlen(prefix) + strspn(line + strlen(prefix), "\t :");
            snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
            return;
        }
    }
}

/** Add the object "machine". */
static void describe_machine(json_t *out)
{
    char cpu[256] = "unknown";
    FILE *const info = fopen("/proc/cpuinfo", "r");
    struct utsname name;
    find_line(info, "model name", cpu, sizeof cpu);
    if (info) {
        fclose(info);
    }
    json_t *const machine = put_object(out, "machine");
    put_text(machine, "cpu", cpu);
    put_integer(machine, "cores", sysconf(_SC_NPROCESSORS_ONLN));
    put_integer(machine, "memory_bytes", harness_memory());
    if (uname(&name) == 0) {
        put_text(machine, "architecture", name.machine);
        put_text(machine, "system", name.release);
    }
}

/** Add the object "build". */
static void describe_build(json_t *out)
{
    char commit[128] = "unknown";
    static const char source[] = KITH_BENCH_SOURCE; /* "": it was no git repository */
    static const char command[] = "git -C '" KITH_BENCH_SOURCE
                                  "' describe --always --dirty 2>/dev/null";
    // NOLINTNEXTLINE(cert-env33-c): no word of the command is input
    FILE *const git = source[0] ? popen(command, "r") : NULL;
    find_line(git, "", commit, sizeof commit);
    if (git) {
        pclose(git);
    }
    json_t *const build = put_object(out, "build");
    put_text(build, "version", kith_version());
    const char *told = getenv("KITH_COMMIT"); /* set where the sources were copied without git */
    put_text(build, "commit", told ? told : commit);
    put_text(build, "compiler", KITH_BENCH_COMPILER);
    put_text(build, "flags", KITH_BENCH_FLAGS);
}

void harness_describe(json_t *out, int argc, char **argv)
{
    static const char *const settings[] = {"OMP_NUM_THREADS", "KITH_BACKEND"};
    char text[1024];
    const time_t now = time(NULL);
    describe_machine(out);
    describe_build(out);
    json_t *const run = put_object(out, "run");
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    put_text(run, "date", text);
    json_t *const command = put_array(run, "command");
    for (int a = 0; a < argc; a++) {
        json_array_append_new(command, json_string(argv[a]));
    }
    json_t *const environment = put_object(run, "environment");
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        if (getenv(settings[s])) {
            put_text(environment, settings[s], getenv(settings[s]));
        }
    }
}
