/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cancelling a long search, as after Ctrl-C. The watch callback is called with the progress a few
 * times a second and may cancel the call. The context stays usable.
 */
#include <kith.h>
#include <stdio.h>

enum { N = 400000 };

static int watch(void *user, int64_t done, int64_t total)
{
    int *stop = user;
    if (*stop) {
        printf("%.2f %% done: enough\n", 100 * (double)done / (double)total);
    }
    return *stop;
}

int main(void)
{
    static float xyz[N][3];
    for (int p = 0; p < N; p++) {
        xyz[p][0] = (float)(p % 100);
        xyz[p][1] = (float)(p / 100 % 100);
        xyz[p][2] = (float)(p / 100 / 100 % 100);
    }
    int stop = 1;
    kith_options options;
    kith_options_init(&options);
    options.watch = watch;
    options.user = &stop;

    kith_ctx *ctx = NULL;
    if (kith_open(&options, &ctx) != KITH_OK) {
        fprintf(stderr, "progress_and_cancel: %s\n", kith_message(NULL));
        return 1;
    }
    /* A cutoff beyond the whole lattice makes 80 thousand million pairs: minutes of work. */
    const kith_points points = kith_points_packed(xyz, N, KITH_FLOAT);
    int64_t n = 0;
    const kith_status stopped = kith_pairs_count(ctx, &points, NULL, 1000.0, NULL, &n, NULL);
    printf("%s: %s\n", kith_status_name(stopped), kith_message(ctx));

    /* The context can be used again after a call was cancelled. */
    const kith_points few = kith_points_packed(xyz, 100, KITH_FLOAT);
    stop = 0;
    const kith_status after = kith_pairs_count(ctx, &few, NULL, 1.0, NULL, &n, NULL);

    kith_close(ctx);
    return stopped == KITH_CANCELLED && after == KITH_OK && n == 99 ? 0 : 1;
}
