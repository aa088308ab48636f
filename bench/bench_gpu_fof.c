/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of friends of friends on a GPU: particles in random order, in float, linked at 0.2
 * of their mean spacing, from device memory to device memory. Labels are first compared with the
 * CPU backend's, groups of 2 and more; groups of 20 and more are then timed by the host's clock, as
 * the number of groups is copied to the host on the way.
 *
 * With the catalogue, which is compared too, the groups are measured on the GPU; positions serve as
 * velocities. With roles, half of the particles is attached to groups but does not link
 * (KITH_ATTACH).
 */
#include "bench.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fof_job.h"

/* Memory for each particle [byte], by which too large cases are skipped. In host memory there are
 * points in double first, and the CPU's search. */
enum { HOST_BYTES = 120, DEVICE_BYTES = 72 };

/** A form of the search. */
typedef struct ask {
    bool periodic, catalogue, roles; /**< periodic box; measure groups; roles are given */
} ask;

static const ask asks[] = {{.periodic = false},
                           {.periodic = true},
                           {.periodic = true, .catalogue = true},
                           {.periodic = true, .roles = true}};

/* Sets of points, and their size in units of options->n; with roles, or all other forms. */
static const struct {
    const char *name, *set;
    int64_t times;
    bool roles;
} cases[] = {{"fof uniform", "uniform", 1, false},       {"fof clustered", "clustered", 1, false},
             {"fof uniform", "uniform", 10, false},      {"fof clustered", "clustered", 10, false},
             {"fof clustered", "clustered", 100, false}, {"fof roles", "uniform", 1, true},
             {"fof roles", "clustered", 1, true},        {"fof roles", "uniform", 10, true}};

/** Particles in both memories. */
typedef struct problem {
    const char *set;                  /**< name of the set */
    int64_t n;                        /**< number of particles */
    float *xyz, *on_device;           /**< [n][3] each, positions in host and in device memory */
    uint8_t *roles, *roles_on_device; /**< [n] roles, see kith_role */
    kith_ctx *cpu, *gpu;              /**< contexts, while a form of the search is run */
} problem;

/** Print a failure. @return false */
static bool fail(const problem *p, const char *what)
{
    fprintf(stderr, "kith_bench: fof %s, %lld particles: %s\n", p->set, (long long)p->n, what);
    return false;
}

/** Open contexts: each form of the search has its own, so that the scratch memory that is reported
 *  is that of the form alone. */
static bool problem_open(problem *p)
{
    p->cpu = bench_open("cpu", 0);
    p->gpu = bench_open("cuda", 0);
    return p->cpu && p->gpu;
}

static void problem_close(problem *p)
{
    kith_close(p->cpu);
    kith_close(p->gpu);
    p->cpu = p->gpu = NULL;
}

/** Make a set in both memories. @return false, reported, without memory */
static bool problem_make(problem *p, const char *set, int64_t n)
{
    const size_t bytes = (size_t)n * 3 * sizeof *p->xyz;
    *p = (problem){.set = set, .n = n, .xyz = fof_job_make_points(set, n)};
    p->roles = malloc((size_t)n);
    for (int64_t k = 0; p->roles && k < n; k++) {
        p->roles[k] = k % 2 ? KITH_LINK : KITH_ATTACH;
    }
    return (p->xyz && p->roles && cudaMalloc((void **)&p->on_device, bytes) == cudaSuccess &&
            cudaMemcpy(p->on_device, p->xyz, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
            cudaMalloc((void **)&p->roles_on_device, (size_t)n) == cudaSuccess &&
            cudaMemcpy(p->roles_on_device, p->roles, (size_t)n, cudaMemcpyHostToDevice) ==
                cudaSuccess) ||
           fail(p, "no memory");
}

static void problem_free(problem *p)
{
    cudaFree(p->on_device);
    cudaFree(p->roles_on_device);
    free(p->xyz);
    free(p->roles);
}

/** Return the job of a form of the search on the GPU. */
static fof_job make_job(const problem *p, const ask *a)
{
    kith_points points = kith_points_packed(p->on_device, p->n, KITH_FLOAT);
    points.memory = KITH_DEVICE;
    fof_job j = fof_job_make(p->set, &points, a->periodic);
    j.ctx = p->gpu;
    j.groups.memory = j.halos.memory = KITH_DEVICE;
    j.catalogue = a->catalogue;
    j.input.velocities = p->on_device;
    j.options.roles = a->roles ? p->roles_on_device : NULL;
    j.options.memory = KITH_DEVICE;
    return j;
}

/** Return true when an array in host or device memory is equal to the right one; else print
 *  `what`. */
static bool is_same(const problem *p, const char *what, const void *right, const void *found,
                    size_t bytes)
{
    void *const copy = malloc(bytes + 1);
    bool ok = copy && cudaMemcpy(copy, found, bytes, cudaMemcpyDefault) == cudaSuccess;
    ok = (ok || fail(p, "no memory to compare")) &&
         (memcmp(copy, right, bytes) == 0 || fail(p, what));
    free(copy);
    return ok;
}

/** Return true when labels and halos are bitwise equal to those of the CPU. */
static bool is_right(const problem *p, const fof_job *found)
{
    fof_job right = *found;
    right.ctx = p->cpu;
    right.points = kith_points_packed(p->xyz, p->n, KITH_FLOAT);
    right.input.velocities = p->xyz;
    right.options.roles = found->options.roles ? p->roles : NULL;
    right.options.memory = KITH_HOST;
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

/** Run a search, and return true when its result is right. */
static bool verify(const problem *p, const ask *a)
{
    fof_job j = make_job(p, a);
    j.options.min_members = a->catalogue ? FOF_JOB_LEAST : FOF_JOB_LEAST_COMPARED;
    const bool ok = (fof_job_find(&j) || fail(p, kith_message(p->gpu))) && is_right(p, &j);
    fof_job_free(&j);
    return ok;
}

/** Return the members of the largest group, group 1, from host or device memory; -1 on failure. */
static int64_t largest(const kith_groups *groups)
{
    int64_t members = 0;
    const bool ok = groups->n == 0 || cudaMemcpy(&members, groups->members, sizeof members,
                                                 cudaMemcpyDefault) == cudaSuccess;
    return ok ? members : -1;
}

/** Time a search, and add its result. */
static bool measure(const problem *p, const bench_options *options, const ask *a, json_t *out)
{
    harness_times times;
    fof_job j = make_job(p, a);
    const bool ok = harness_time(fof_job_find, &j, options->least_seconds, &times);
    if (ok) {
        fof_job_report(&j, largest(&j.groups), &times, out);
    } else {
        fail(p, kith_message(p->gpu));
    }
    fof_job_free(&j);
    return ok;
}

/** Run the form of the search with roles, or all others, for one set. */
static bool run(const char *set, int64_t n, bool roles, const bench_options *options, json_t *out)
{
    problem p;
    bool ok = problem_make(&p, set, n);
    for (size_t k = 0; ok && k < sizeof asks / sizeof *asks; k++) {
        if (asks[k].roles == roles) {
            ok = problem_open(&p) && verify(&p, &asks[k]) && measure(&p, options, &asks[k], out);
            problem_close(&p);
        }
    }
    problem_free(&p);
    return ok;
}

bool bench_gpu_fof(const bench_options *options, json_t *out)
{
    bool ok = true;
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        const int64_t n = options->n * cases[c].times;
        if (!bench_wants(options, cases[c].name)) {
            continue;
        }
        if (n <= INT32_MAX - 64 && bench_gpu_has_room(n, HOST_BYTES, DEVICE_BYTES)) {
            ok = run(cases[c].set, n, cases[c].roles, options, out);
        } else {
            printf("%-15s %lld particles skipped: too little memory\n", cases[c].set, (long long)n);
        }
    }
    return ok;
}
