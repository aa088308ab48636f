/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith_bench: verify, then time, and keep the numbers with the machine they were taken on.
 */
#include "bench.h"
#include "bench_study.h"
#include "overlap_job.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: kith_bench pairs [options]          time pair lists\n"
    "       kith_bench lists [options]          time lists kept over steps, and by radii\n"
    "       kith_bench fof [options]            time friends of friends\n"
    "       kith_bench rdf [options]            time histograms of distances\n"
    "       kith_bench nearest [options]        time k nearest neighbours, and orders\n"
    "       kith_bench batch [options]          time many systems in one call\n"
    "       kith_bench flock [options]          time steps of boids\n"
    "       kith_bench study [options]          time flocks by the kernels of a course\n"
    "       kith_bench overlap [options]        time overlaps of replicas\n"
    "       kith_bench busy [options]           time small work on a machine that is not idle\n"
    "       kith_bench cores [options]          time arithmetic on one core and on all\n"
    "       kith_bench gpu [options]            time what a GPU does of these\n"
    "       kith_bench points SET N FILE.npy    write a set: uniform, clustered, soneira_peebles\n"
    "\n"
    "  -t, --threads LIST   numbers of threads, as in 1,2 (default: 1 and all cores)\n"
    "  -b, --backend NAME   where no list of instruction sets is run (default: cpu)\n"
    "  -c, --case NAME      run the cases whose names begin so\n"
    "  -n, --points N       points of the standard case (default: 1000000)\n"
    "  -q, --quick          5000 points, to see that it works\n"
    "  -o, --output FILE    write results as JSON\n"
    "\n"
    "Example: kith_bench pairs --threads 1,2 -o results.json\n";

/** Parse a list of numbers of threads, separated by commas. @return false when it is not one */
static bool parse_threads(const char *text, int threads[BENCH_MOST_THREADS])
{
    int n = 0;
    char *end = NULL;
    memset(threads, 0, BENCH_MOST_THREADS * sizeof *threads);
    do {
        const long value = strtol(text, &end, 10);
        if (end == text || value < 1 || value > 4096 || n == BENCH_MOST_THREADS - 1) {
            return false;
        }
        threads[n++] = (int)value;
        text = end + 1;
    } while (*end == ',');
    return *end == '\0';
}

/** Parse a number of points, of which ten times as many still have int32 indices.
 *  @return the number; 0 when the text is not one */
static int64_t parse_n(const char *text)
{
    char *end = NULL;
    const long long n = strtoll(text, &end, 10);
    return end != text && *end == '\0' && n > 0 && n <= INT32_MAX / 11 ? n : 0;
}

/** Parse the options. @return false when they are wrong */
static bool parse_options(int argc, char **argv, bench_options *options, const char **output)
{
    static const struct option names[] = {{"threads", required_argument, NULL, 't'},
                                          {"backend", required_argument, NULL, 'b'},
                                          {"case", required_argument, NULL, 'c'},
                                          {"points", required_argument, NULL, 'n'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"output", required_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};
    const int cores = harness_cores();
    *options = (bench_options){.threads = {1, cores > 1 ? cores : 0},
                               .backend = "cpu",
                               .n = 1000000,
                               .least_seconds = 0.5,
                               .store_bytes = 1 << 28};
    bool ok = true;
    for (int c; ok && (c = getopt_long(argc, argv, "t:b:c:n:qo:", names, NULL)) != -1;) {
        switch (c) {
        case 't': ok = parse_threads(optarg, options->threads); break;
        case 'b': options->backend = optarg; break;
        case 'c': options->only = optarg; break;
        case 'n': ok = (options->n = parse_n(optarg)) > 0; break;
        case 'q':
            options->n = 5000;
            options->least_seconds = 0;
            options->store_bytes = 1 << 24;
            break;
        case 'o': *output = optarg; break;
        default: ok = false;
        }
    }
    return ok && optind == argc;
}

enum { NOTHING_TO_RUN_ON = 77 }; /* the exit status where there is no GPU */

#ifndef KITH_HAVE_CUDA /* stubs of bench_gpu*.c */
bool bench_gpu_can_run(void)
{
    fputs("kith_bench: this build has no CUDA\n", stderr);
    return false;
}

bool bench_gpu_has_room(int64_t n, int64_t host, int64_t device)
{
    (void)n;
    (void)host;
    (void)device;
    return true; /* the backend says why it cannot run */
}

void *bench_gpu_upload(const void *from, size_t bytes)
{
    (void)from;
    (void)bytes;
    return NULL;
}

void *bench_gpu_fetch(const void *from, size_t bytes)
{
    (void)from;
    (void)bytes;
    return NULL;
}

void bench_gpu_free(void *memory)
{
    (void)memory;
}

bool bench_gpu_product(const overlap_job *job, double least, harness_times *times)
{
    (void)job;
    (void)least;
    (void)times;
    return true;
}

bool bench_gpu_study(const rung_truth *truth, const bench_options *options, json_t *out)
{
    (void)truth;
    (void)options;
    (void)out;
    return bench_gpu_can_run();
}

bool bench_gpu(const bench_options *options, json_t *out)
{
    (void)options;
    (void)out;
    return false;
}
#endif

/** Subcommands and their functions. */
static const struct question {
    const char *name;
    bool (*bench)(const bench_options *options, json_t *out);
} questions[] = {{"pairs", bench_pairs}, {"lists", bench_lists},     {"fof", bench_fof},
                 {"rdf", bench_rdf},     {"nearest", bench_nearest}, {"batch", bench_batch},
                 {"flock", bench_flock}, {"overlap", bench_overlap}, {"busy", bench_busy},
                 {"cores", bench_cores}, {"study", bench_study},     {"gpu", bench_gpu}};

/** Run a subcommand, and write the file of --output, which is removed after a failure.
 *  @return the exit status */
static int run(const struct question *question, int argc, char **argv)
{
    bench_options options;
    const char *output = NULL;
    bool any = false;
    FILE *file = NULL;
    if (!parse_options(argc - 1, argv + 1, &options, &output)) {
        fputs(usage, stderr);
        return 2;
    }
    if (question->bench == bench_gpu && !bench_gpu_can_run()) {
        return NOTHING_TO_RUN_ON;
    }
    options.any = &any;
    if (output && !(file = fopen(output, "w"))) {
        perror(output);
        return 1;
    }
    json_t *const out = json_object();
    put_integer(out, "schema", 1);
    harness_describe(out, argc, argv);
    bool ok = question->bench(&options, out) && any;
    if (!any) {
        fprintf(stderr, "kith_bench: no case \"%s\"\n", options.only);
    }
    if (file) {
        const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(9);
        const bool written = json_dumpf(out, file, flags) == 0 && fputc('\n', file) != EOF;
        if (fclose(file) != 0 || !written) {
            perror(output);
            ok = false;
        }
    }
    json_decref(out);
    if (output && !ok) {
        unlink(output);
    }
    return ok ? 0 : 1;
}

/** Write points in NumPy's format 1.0: 8 bytes of magic and version, 2 bytes with the length of the
 *  dictionary, 118; the dictionary as text, padded so that the data begin at byte 128; the data. */
static bool write_npy(FILE *file, const double *xyz, int64_t n)
{
    char dict[112], head[118 + 1];
    snprintf(dict, sizeof dict, "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, 3), }",
             (long long)n);
    snprintf(head, sizeof head, "%-117s\n", dict);
    return fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file) == 10 &&
           fwrite(head, 1, 118, file) == 118 &&
           fwrite(xyz, 3 * sizeof *xyz, (size_t)n, file) == (size_t)n;
}

/** The subcommand `points`: write a set to a .npy file. @return the exit status */
static int write_points(const char *set, const char *number, const char *path)
{
    const int64_t n = parse_n(number);
    double *const xyz = n > 0 ? bench_make_set(set, n) : NULL;
    FILE *const file = xyz ? fopen(path, "wb") : NULL;
    bool ok = file && write_npy(file, xyz, n);
    if (file && fclose(file) != 0) {
        ok = false;
    }
    if (!xyz) {
        fprintf(stderr, "kith_bench: no set \"%s\" of %s points\n", set, number);
    } else if (!ok) {
        perror(path);
    }
    free(xyz);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    for (size_t q = 0; argc >= 2 && q < sizeof questions / sizeof *questions; q++) {
        if (strcmp(argv[1], questions[q].name) == 0) {
            return run(&questions[q], argc, argv);
        }
    }
    if (argc == 5 && strcmp(argv[1], "points") == 0) {
        return write_points(argv[2], argv[3], argv[4]);
    }
    const bool asked = argc == 2 && strcmp(argv[1], "--help") == 0;
    fputs(usage, asked ? stdout : stderr);
    return asked ? 0 : 2;
}
