/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of a published snapshot, ../shared/data/fof/dark.std: 32,768 dark particles in a box of
 * side 1 about the origin. The counts are those of the University of Washington's `fof`, which
 * tests r < length where kith tests r <= length; in this set no group hangs on that.
 */
#include <unistd.h>

#include "check.h"
#include "io.h"

/* Sizes from which groups are counted. */
enum { SIZES = 3 };
static const int64_t least[SIZES] = {1, 8, 20};

static const struct answer {
    double length; /* 0.2 of the mean spacing in the middle */
    int64_t periodic[SIZES], largest, isolated;
} answers[] = {
    {0.003125, {17913, 185, 68}, 2859, 17926},
    {0.00625, {11142, 237, 80}, 4889, 11173},
    {0.0125, {6380, 211, 85}, 7382, 6447},
};

static void find(kith_ctx *ctx, const kith_points *points, const kith_box *box, double length,
                 int64_t min_members, kith_groups *groups)
{
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = min_members;
    CHECK(kith_fof_find(ctx, points, box, length, &options, groups) == KITH_OK, "%s",
          kith_message(ctx));
}

static void check_answer(kith_ctx *ctx, const kith_points *points, const struct answer *a)
{
    kith_box box = kith_box_periodic(1, 1, 1);
    box.origin[0] = box.origin[1] = box.origin[2] = -0.5;
    kith_groups groups = {0};
    for (int s = 0; s < SIZES; s++) {
        find(ctx, points, &box, a->length, least[s], &groups);
        CHECK(groups.n == a->periodic[s] && groups.members[0] == a->largest,
              "length %g: %lld groups of %lld or more, the largest of %lld; expected %lld, %lld",
              a->length, (long long)groups.n, (long long)least[s], (long long)groups.members[0],
              (long long)a->periodic[s], (long long)a->largest);
    }
    find(ctx, points, NULL, a->length, 1, &groups);
    CHECK(groups.n == a->isolated, "length %g, isolated: %lld groups, expected %lld", a->length,
          (long long)groups.n, (long long)a->isolated);
    kith_groups_free(&groups);
}

int main(int argc, char **argv)
{
    const char *path = argc > 2 ? argv[2] : "";
    if (access(path, R_OK) != 0)
        return check_skip("no %s (public data, kept apart)", path);
    io_particles snapshot = {0};
    io_error error;
    if (!CHECK(io_read(path, NULL, &snapshot, &error) == IO_OK, "%s", error.text)) {
        return check_done();
    }
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    const kith_points points = kith_points_packed(snapshot.pos, snapshot.n, snapshot.precision);
    for (size_t a = 0; a < sizeof answers / sizeof *answers; a++) {
        check_answer(ctx, &points, &answers[a]);
    }
    kith_close(ctx);
    io_particles_free(&snapshot);
    return check_done();
}
