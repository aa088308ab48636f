/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of friends: a dozen dense clumps among scattered particles, and the ten largest found. The
 * first clump lies across a face of the periodic box, and is one group all the same.
 */
#include <kith.h>
#include <stdio.h>

enum { CLUMPS = 12, LARGEST = 1200, STEP = 100, FIELD = 1000, MOST = 20000 };

static double uniform(void) /* in [-1, 1) */
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1;
}

/* Clumps 0.01 across, each smaller than the one before, then a lattice of spacing 0.1. */
static int64_t make_points(float xyz[][3])
{
    int64_t n = 0;
    for (int c = 0; c < CLUMPS; c++) {
        for (int m = 0; m < LARGEST - c * STEP; m++, n++) {
            xyz[n][0] = (float)(c * 0.08 + 0.0028 * uniform());
            xyz[n][1] = (float)(0.55 + 0.0028 * uniform());
            xyz[n][2] = (float)(0.25 + 0.0028 * uniform());
        }
    }
    for (int p = 0; p < FIELD; p++, n++) {
        const int place[3] = {p % 10, p / 10 % 10, p / 100};
        for (int k = 0; k < 3; k++)
            xyz[n][k] = 0.1f * (float)place[k];
    }
    return n;
}

int main(void)
{
    static float xyz[MOST][3];
    const kith_points points = kith_points_packed(xyz, make_points(xyz), KITH_FLOAT);
    const kith_box box = kith_box_periodic(1, 1, 1);
    const double length = 0.01;

    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        fprintf(stderr, "halos: %s\n", kith_message(NULL));
        return 1;
    }
    kith_groups groups = {0}; /* of 20 and more, by default */
    if (kith_fof_find(ctx, &points, &box, length, NULL, &groups) != KITH_OK)
        fprintf(stderr, "halos: %s\n", kith_message(ctx));

    printf("%lld particles, %lld groups; the largest:\n", (long long)points.n, (long long)groups.n);
    for (int64_t g = 0; g < groups.n && g < 10; g++)
        printf("%3lld %6lld members\n", (long long)g + 1, (long long)groups.members[g]);

    int right = groups.n == CLUMPS;
    for (int64_t g = 0; g < groups.n; g++)
        right = right && groups.members[g] == LARGEST - g * STEP;
    right = right && groups.labels[0] == 1 && groups.labels[points.n - 1] == 0;
    kith_groups_free(&groups);
    kith_close(ctx);
    return right ? 0 : 1;
}
