/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of friends of friends on a GPU: particles in random order, in float, linked at 0.2
 * of their mean spacing, from device memory to device memory. Labels are first compared with the
 * CPU backend's, groups of 2 and more; groups of 20 and more are then timed by the host's clock, as
 * the host is asked how many there are.
 *
 * With the catalogue, which is compared too, the groups are measured there. Any numbers do for the
 * particles' velocities.
 */
#include "bench_gpu_fof.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "fof_job.h"

/* times: of options->n. */
static const struct {
    const char *set;
    int64_t times;
} cases[] = {
    {"uniform", 1}, {"clustered", 1}, {"uniform", 10}, {"clustered", 10}, {"clustered", 100}};

/* Particles in both memories. */
typedef struct problem {
    const char *set;
    int64_t n;
    float *xyz, *on_device; /* [n][3] */
    kith_ctx *cpu, *gpu;
} problem;

static bool fail(const problem *p, const char *what)
{
    fprintf(stderr, "kith_bench: fof %s, %lld particles: %s\n", p->set, (long long)p->n, what);
    return false;
}

/* A context of its own for each case, so that scratch is that of the case alone. */
static bool problem_open(problem *p)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = "cpu";
    if (kith_open(&options, &p->cpu) != KITH_OK) {
        return fail(p, kith_message(NULL));
    }
    options.backend = "cuda";
    return kith_open(&options, &p->gpu) == KITH_OK || fail(p, kith_message(NULL));
}

static void problem_close(problem *p)
{
    kith_close(p->cpu);
    kith_close(p->gpu);
    p->cpu = p->gpu = NULL;
}

static bool problem_make(problem *p, const char *set, int64_t n)
{
    const size_t bytes = (size_t)n * 3 * sizeof *p->xyz;
    *p = (problem){.set = set, .n = n, .xyz = fof_job_make_points(set, n)};
    return (p->xyz && cudaMalloc((void **)&p->on_device, bytes) == cudaSuccess &&
            cudaMemcpy(p->on_device, p->xyz, bytes, cudaMemcpyHostToDevice) == cudaSuccess) ||
           fail(p, "no memory");
}

static void problem_free(problem *p)
{
    cudaFree(p->on_device);
    free(p->xyz);
}

static fof_job make_job(const problem *p, bool periodic, bool catalogue)
{
    kith_points points = kith_points_packed(p->on_device, p->n, KITH_FLOAT);
    points.memory = KITH_DEVICE;
    fof_job j = fof_job_make(p->set, &points, periodic);
    j.ctx = p->gpu;
    j.groups.memory = j.halos.memory = KITH_DEVICE;
    j.catalogue = catalogue;
    j.input.velocities = p->on_device;
    return j;
}

/* Has the device the same bytes? */
static bool is_same(const problem *p, const char *what, const void *right, const void *on_device,
                    size_t bytes)
{
    void *const copy = malloc(bytes + 1);
    bool ok = copy && cudaMemcpy(copy, on_device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    ok = (ok || fail(p, "no memory to compare")) &&
         (memcmp(copy, right, bytes) == 0 || fail(p, what));
    free(copy);
    return ok;
}

/* Are labels, and halos, in device memory the CPU's? */
static bool is_right(const problem *p, const fof_job *found)
{
    fof_job right = *found;
    right.ctx = p->cpu;
    right.points = kith_points_packed(p->xyz, p->n, KITH_FLOAT);
    right.input.velocities = p->xyz;
    right.groups = (kith_groups){0};
    right.halos = (kith_halos){0};
    bool ok = fof_job_find(&right) || fail(p, kith_message(p->cpu));
    ok = ok && (right.groups.n == found->groups.n || fail(p, "wrong number of groups")) &&
         is_same(p, "wrong labels", right.groups.labels, found->groups.labels,
                 (size_t)p->n * sizeof *right.groups.labels) &&
         is_same(p, "wrong halos", right.halos.halo, found->halos.halo,
                 (size_t)right.halos.n * sizeof *right.halos.halo);
    fof_job_free(&right);
    return ok;
}

static bool verify(const problem *p, bool periodic, bool catalogue)
{
    fof_job j = make_job(p, periodic, catalogue);
    j.options.min_members = catalogue ? FOF_JOB_LEAST : FOF_JOB_LEAST_COMPARED;
    const bool ok = (fof_job_find(&j) || fail(p, kith_message(p->gpu))) && is_right(p, &j);
    fof_job_free(&j);
    return ok;
}

static int64_t largest(const kith_groups *groups)
{
    int64_t members = 0;
    const bool ok = groups->n == 0 || cudaMemcpy(&members, groups->members, sizeof members,
                                                 cudaMemcpyDefault) == cudaSuccess;
    return ok ? members : -1;
}

static bool measure(const problem *p, const bench_options *options, bool periodic, bool catalogue,
                    json *out)
{
    harness_times times;
    fof_job j = make_job(p, periodic, catalogue);
    const bool ok = harness_time(fof_job_find, &j, options->least_seconds, &times);
    if (ok) {
        fof_job_report(&j, largest(&j.groups), &times, out);
    } else {
        fail(p, kith_message(p->gpu));
    }
    fof_job_free(&j);
    return ok;
}

/* Everything that is asked about one set. */
static bool run(const char *set, int64_t n, const bench_options *options, json *out)
{
    problem p;
    bool ok = problem_make(&p, set, n);
    for (int c = 0; ok && c < 3; c++) {
        const bool periodic = c > 0, catalogue = c > 1;
        ok = problem_open(&p) && verify(&p, periodic, catalogue) &&
             measure(&p, options, periodic, catalogue, out);
        problem_close(&p);
    }
    problem_free(&p);
    return ok;
}

static bool is_wanted(const char *only, const char *set)
{
    return !only || strcmp(only, "fof") == 0 ||
           (strncmp(only, "fof ", 4) == 0 && strcmp(only + 4, set) == 0);
}

/* Do host and device have room? Points are doubles first, and the CPU finds the groups too. */
static bool has_room(int64_t n)
{
    const size_t host = 120, device = 72;
    size_t available = 0, total = 0;
    return n <= INT32_MAX - 64 && (int64_t)host * n < harness_memory() &&
           cudaMemGetInfo(&available, &total) == cudaSuccess && (size_t)n * device < available;
}

bool bench_gpu_fof(const bench_options *options, json *out)
{
    bool ok = true, headed = false;
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        const int64_t n = options->n * cases[c].times;
        if (!is_wanted(options->only, cases[c].set)) {
            continue;
        }
        if (!headed) {
            fof_job_print_head();
            headed = true;
        }
        if (has_room(n)) {
            ok = run(cases[c].set, n, options, out);
        } else {
            printf("%-15s %lld particles left out: no memory\n", cases[c].set, (long long)n);
        }
    }
    return ok;
}
