/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A neighbour list of a fixed shape: rows of `width` neighbours, filled up with a number that is no
 * particle. The first width is too small; the library says which one is needed.
 */
#include <kith.h>
#include <math.h>
#include <stdio.h>

enum { N = 500, ROOM = 64 };

int main(void)
{
    static double xyz[N][3];
    static int32_t j[N * ROOM], counts[N];
    static double distances[N * ROOM];
    for (int p = 0; p < N; p++) { /* a spiral */
        xyz[p][0] = 0.5 + 0.4 * sqrt((double)p / N) * cos(2.4 * p);
        xyz[p][1] = 0.5 + 0.4 * sqrt((double)p / N) * sin(2.4 * p);
        xyz[p][2] = fmod(0.618 * p, 1);
    }
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        puts(kith_message(NULL));
        return 1;
    }
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.layout = KITH_MATRIX;
    options.extras = KITH_DISTANCES;
    options.sorted = 1;
    options.width = 4;
    options.fill = N; /* one behind the last particle, as is usual in JAX */
    kith_pairs list = {.size = sizeof list,
                       .capacity = (int64_t)N * ROOM,
                       .j = j,
                       .counts = counts,
                       .distances = distances};
    kith_status status = kith_pairs_fill(ctx, &points, &box, 0.15, &options, &list);
    if (status == KITH_CAPACITY) {
        printf("%lld rows are too short: %s\n", (long long)list.overflowed, kith_message(ctx));
        options.width = list.widest;
        status = kith_pairs_fill(ctx, &points, &box, 0.15, &options, &list);
    }
    if (status != KITH_OK) {
        puts(kith_message(ctx));
        return 1;
    }
    int64_t found = 0;
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        for (int64_t k = 0; k < list.width; k++) {
            const int64_t e = i * list.width + k;
            const int is_neighbour = j[e] < N;
            found += is_neighbour;
            wrong += is_neighbour != (k < counts[i]) || is_neighbour != (distances[e] <= 0.15);
        }
    }
    printf("%lld neighbours in rows of %lld\n", (long long)found, (long long)list.width);
    wrong += found != list.n || options.width == 4;
    kith_close(ctx);
    return wrong ? 1 : 0;
}
