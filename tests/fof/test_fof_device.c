/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups found on a GPU from and into device memory are those found on the CPU: in a cube, and in a
 * box so skewed that the pair search finds the groups.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 3000 };

static void *to_device(const void *from, size_t bytes)
{
    void *to = NULL;
    CHECK(cudaMalloc(&to, bytes) == cudaSuccess, "%zu bytes", bytes);
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
    return to;
}

static void check_groups(kith_ctx *gpu, const kith_points *points, const kith_box *box,
                         double length, const kith_fof_options *options, const kith_groups *right,
                         kith_memory memory)
{
    static int32_t labels[N];
    static int64_t members[N];
    kith_groups found = {.memory = memory};
    for (int again = 0; again < 2; again++) {
        const kith_status status = kith_fof_find(gpu, points, box, length, options, &found);
        if (!CHECK(status == KITH_OK && found.n == right->n && found.points == N,
                   "%lld groups, expected %lld: %s", (long long)found.n, (long long)right->n,
                   kith_message(gpu))) {
            break;
        }
        CHECK(cudaMemcpy(labels, found.labels, sizeof labels, cudaMemcpyDefault) == cudaSuccess &&
                  cudaMemcpy(members, found.members, (size_t)found.n * sizeof *members,
                             cudaMemcpyDefault) == cudaSuccess,
              "copy");
        CHECK(memcmp(labels, right->labels, sizeof labels) == 0, "other labels");
        CHECK(memcmp(members, right->members, (size_t)found.n * sizeof *members) == 0,
              "other members");
    }
    kith_groups_free(&found);
}

static void check_box(kith_ctx *cpu, kith_ctx *gpu, const kith_box *box, double length,
                      const kith_fof_options *options, const double *xyz)
{
    const kith_points here = kith_points_packed(xyz, N, KITH_DOUBLE);
    void *copy = to_device(xyz, 3 * N * sizeof *xyz);
    kith_points there = kith_points_packed(copy, N, KITH_DOUBLE);
    there.memory = KITH_DEVICE;
    kith_groups right = {0};
    CHECK(kith_fof_find(cpu, &here, box, length, options, &right) == KITH_OK && right.n > 10,
          "%lld groups: %s", (long long)right.n, kith_message(cpu));
    check_groups(gpu, &here, box, length, options, &right, KITH_DEVICE);
    check_groups(gpu, &there, box, length, options, &right, KITH_HOST);
    check_groups(gpu, &there, box, length, options, &right, KITH_DEVICE);
    kith_groups_free(&right);
    CHECK(cudaFree(copy) == cudaSuccess, "free");
}

int main(int argc, char **argv)
{
    static int64_t ids[N];
    rng r = {19};
    kith_ctx *gpu = check_open(check_backend(argc, argv), 2);
    kith_ctx *cpu = check_open("cpu", 2);
    const kith_box cube = kith_box_periodic(1, 1, 1);
    const kith_box skewed = kith_box_triclinic(1, 1, 0.03, 0.4, 3.3, -2.2);
    for (int p = 0; p < N; p++) {
        ids[p] = (int64_t)rng_bits(&r);
    }
    for (int turn = 0; turn < 6; turn++) {
        const kith_box *box = turn % 2 ? &skewed : &cube;
        double *xyz = points_in_box(&r, N, box);
        double *velocities = points_in_box(&r, N, &cube);
        kith_fof_options options;
        kith_fof_options_init(&options);
        options.min_members = 2;
        options.ids = turn / 2 == 1 ? ids : NULL;
        options.velocities = turn / 2 == 2 ? velocities : NULL;
        options.velocity_length = 0.8;
        check_box(cpu, gpu, box, turn % 2 ? 0.013 : 0.04, &options, xyz);
        free(velocities);
        free(xyz);
    }
    kith_close(cpu);
    kith_close(gpu);
    return check_done();
}
