/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program: kith_differ [BACKEND] [--seed S] [--only NAME] [--cases N | --seconds T]
 *
 * Runs cases of all operations by turns, from seed S (1 unless given), N of them (one of each
 * operation where only a seed is given) or for T seconds. Before the first failure of a case it
 * prints the command that repeats it. With KITH_TEST_DEEP in the environment, and nothing of this
 * said, it runs for minutes from a seed that the clock gives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "differ.h"

static const struct operation {
    const char *name;
    void (*run)(differ *d, rng *r);
} operations[] = {{"pairs", differ_pairs}, {"fof", differ_fof},         {"rdf", differ_rdf},
                  {"halos", differ_halos}, {"flock", differ_flock},     {"debye", differ_debye},
                  {"waves", differ_waves}, {"overlap", differ_overlap}, {"rows", differ_rows},
                  {"order", differ_order}, {"nearest", differ_nearest}, {"batch", differ_batch}};

enum { OPERATIONS = sizeof operations / sizeof *operations };

/** What is to be run. */
typedef struct plan {
    const char *backend;
    const char *only; /**< NULL: all operations */
    uint64_t seed;
    int64_t cases; /**< seeds */
    double seconds;
    bool deep; /**< for as long as deep_seconds says */
} plan;

/* Of a deep run: the three instruction sets of a CPU make ten minutes, of which each is compared
 * with the others; a GPU has ten minutes of its own. */
static const double deep_seconds_cpu = 200, deep_seconds_gpu = 600;

bool differ_is_cpu(const kith_ctx *ctx)
{
    return strncmp(kith_backend(ctx), "cpu", 3) == 0;
}

/** Open a context of another backend, if this machine has it. */
static void open_other(differ *d, const char *backend, int threads)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.threads = threads;
    kith_ctx *ctx = NULL;
    if (kith_open(&options, &ctx) == KITH_OK) {
        d->ctx[d->contexts++] = ctx;
    }
}

/** The backend, it with one thread, and the CPU's other instruction sets. */
static void open_all(differ *d, const char *backend)
{
    static const char *const others[] = {"cpu:baseline", "cpu:avx2", "cpu:avx512"};
    d->ctx[d->contexts++] = check_open(backend, 2);
    open_other(d, backend, 1);
    for (int k = 0; k < 3; k++) {
        if (strcmp(others[k], kith_backend(d->ctx[0])) != 0) {
            open_other(d, others[k], k + 1);
        }
    }
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Run one operation with one seed. */
static void run_case(differ *d, const plan *p, const struct operation *operation, uint64_t seed)
{
    char command[160];
    snprintf(command, sizeof command, "kith_differ %s --seed %llu --only %s", p->backend,
             (unsigned long long)seed, operation->name);
    check_case(command);
    rng r = {seed};
    r.counter = rng_bits(&r);
    operation->run(d, &r);
    check_case(NULL);
    d->cases++;
}

static int usage(void)
{
    fprintf(stderr, "kith_differ [BACKEND] [--seed S] [--only NAME] [--cases N | --seconds T]\n");
    return EXIT_FAILURE;
}

/** Read the arguments. @return whether they make sense. */
static bool parse(int argc, char **argv, plan *p)
{
    bool seeded = false, sized = false;
    for (int k = 1; k < argc; k++) {
        const char *word = argv[k];
        if (word[0] != '-') {
            p->backend = word;
            continue;
        }
        if (++k == argc) {
            return false;
        }
        if (strcmp(word, "--seed") == 0) {
            p->seed = strtoull(argv[k], NULL, 10);
            seeded = true;
        } else if (strcmp(word, "--only") == 0) {
            p->only = argv[k];
        } else if (strcmp(word, "--cases") == 0) {
            p->cases = strtoll(argv[k], NULL, 10);
            sized = true;
        } else if (strcmp(word, "--seconds") == 0) {
            p->seconds = strtod(argv[k], NULL);
            p->cases = INT64_MAX;
            sized = true;
        } else {
            return false;
        }
    }
    if (seeded && !sized) {
        p->cases = 1;
    }
    if (!seeded && !sized && getenv("KITH_TEST_DEEP")) {
        p->deep = true;
        p->cases = INT64_MAX;
        p->seed = (uint64_t)now();
    }
    int known = p->only == NULL;
    for (int k = 0; k < OPERATIONS; k++) {
        known |= p->only && strcmp(p->only, operations[k].name) == 0;
    }
    return known;
}

int main(int argc, char **argv)
{
    plan p = {.backend = "auto", .seed = 1, .cases = 40 / (1 + check_brief() / 3), .seconds = 1e9};
    if (!parse(argc, argv, &p)) {
        return usage();
    }
    differ d = {0};
    open_all(&d, p.backend);
    if (p.deep) {
        p.seconds = differ_is_cpu(d.ctx[0]) ? deep_seconds_cpu : deep_seconds_gpu;
    }
    const double end = now() + p.seconds;
    for (int64_t k = 0; k < p.cases && now() < end; k++) {
        for (int o = 0; o < OPERATIONS; o++) {
            if (!p.only || strcmp(p.only, operations[o].name) == 0) {
                run_case(&d, &p, &operations[o], p.seed + (uint64_t)k);
            }
        }
    }
    if (argc > 2 || p.deep) {
        printf("%lld cases from seed %llu, %d contexts: %lld large, %lld without the oracle, "
               "%d failures\n",
               (long long)d.cases, (unsigned long long)p.seed, d.contexts, (long long)d.large,
               (long long)d.ambiguous, check_failures());
    }
    for (int k = 0; k < d.contexts; k++) {
        kith_close(d.ctx[k]);
    }
    return check_done();
}
