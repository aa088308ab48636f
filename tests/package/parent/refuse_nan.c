/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A coordinate that is not a number is refused, also where the parent is compiled with -ffast-math,
 * by which a compiler assumes that there is none.
 */
#include <kith.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    double xyz[2][3] = {{0, 0, 0}, {0, 0, 0}};
    memset(&xyz[1][1], 0xff, sizeof xyz[1][1]);
    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        puts(kith_message(NULL));
        return 1;
    }
    const kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    kith_pairs list = {0};
    const kith_status status = kith_pairs_find(ctx, &points, NULL, 1, NULL, &list);
    printf("%s: %s\n", kith_status_name(status), kith_message(ctx));
    kith_pairs_free(&list);
    kith_close(ctx);
    return status == KITH_NOT_FINITE ? 0 : 1;
}
