/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The numbering of groups on CPU cores, from a forest whose paths lead through the ranges of nodes
 * of all threads: a thread follows parents that other threads change meanwhile.
 */
#include "fof/cpu/friends.h"

#include <stdlib.h>

#include "check.h"
#include "points.h"

enum { N = 1 << 15, ROUNDS = 200 };

/** Number the groups of one tree of all particles, which are the nodes: a path through the even
 *  nodes, to which odd nodes are attached at random. Its group must have N members.
 *  @param memory  [3 N] coordinates of the grid, overwritten
 *  @param parent  [N] the forest, overwritten */
static void check_path(kith_ctx *ctx, rng *r, int32_t *memory, _Atomic int32_t *parent)
{
    kith_groups groups = {.size = sizeof groups};
    struct kith__grid grid = {.a = {.n = N, .x = memory, .y = memory + N, .z = memory + 2 * N}};
    struct kith__friends friends = {.grid = &grid, .parent = parent};
    const struct kith__fof fof = {.min_members = 2};
    CHECK(kith__groups_need(ctx, N, &groups) == KITH_OK, "%s", kith_message(ctx));
    grid.a.id = groups.labels;
    for (int32_t node = 0; node < N; node++) {
        grid.a.id[node] = node;
        parent[node] = node == 0       ? 0
                       : node % 2 == 0 ? node - 2
                                       : (int32_t)rng_below(r, (uint64_t)node);
    }
    CHECK(kith__number(ctx, &friends, &fof, &groups) == KITH_OK, "%s", kith_message(ctx));
    CHECK(groups.n == 1 && groups.members[0] == N, "%lld groups, of %lld members",
          (long long)groups.n, (long long)(groups.n > 0 ? groups.members[0] : 0));
    int64_t unlabelled = 0;
    for (int64_t p = 0; p < N; p++) {
        unlabelled += groups.labels[p] != 1;
    }
    CHECK(unlabelled == 0, "%lld of %d particles are not in group 1", (long long)unlabelled, N);
    kith_groups_free(&groups);
}

int main(int argc, char **argv)
{
    static const double origin[3] = {0, 0, 0}, unit[3] = {1, 1, 1};
    kith_ctx *ctx = check_open(check_backend(argc, argv), 8);
    rng r = {1};
    double *xyz = points_uniform(&r, N, origin, unit);
    int32_t *memory = check_malloc(3 * N * sizeof *memory);
    _Atomic int32_t *parent = check_malloc(N * sizeof *parent);
    /* a search by which the context has the scratch memory that the numbering uses */
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    kith_groups groups = {0};
    CHECK(kith_fof_find(ctx, &points, NULL, 1e-3, NULL, &groups) == KITH_OK, "%s",
          kith_message(ctx));
    kith_groups_free(&groups);
    for (int round = 0; round < ROUNDS && check_failures() == 0; round++) {
        check_path(ctx, &r, memory, parent);
    }
    kith_close(ctx);
    free(xyz);
    free(memory);
    free(parent);
    return check_done();
}
