/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each public call made twice with equal arguments: the second one allocates nothing, but for the
 * calls that kith.h names.
 */
#include <string.h>

#include "alloc.h"
#include "world.h"

/** Return true when kith.h says that a call allocates each time; the world's halos have spheres. */
static int allocates(const char *name)
{
    return strcmp(name, "kith_flock_open") == 0 || strcmp(name, "kith_glance_choose") == 0 ||
           strcmp(name, "kith_halos_measure") == 0 || strcmp(name, "kith_verlet_open") == 0;
}

static kith_status measure_halos(world *w)
{
    const kith_points points = kith_points_packed(w->xyz, WORLD_POINTS, KITH_DOUBLE);
    const kith_groups groups = {.n = 2, .points = WORLD_POINTS, .labels = w->labels};
    return kith_halos_measure(w->ctx, &points, NULL, &groups, NULL, &w->halos);
}

int main(int argc, char **argv)
{
    world *w = world_open(check_backend(argc, argv), NULL, NULL);
    for (int c = 0; c < n_calls; c++) {
        CHECK(calls[c].make(w, NO_FAULT) == KITH_OK, "%s: %s", calls[c].name, kith_message(w->ctx));
        const int64_t first = alloc_count();
        CHECK(calls[c].make(w, NO_FAULT) == KITH_OK, "%s: %s", calls[c].name, kith_message(w->ctx));
        CHECK((alloc_count() > first) == allocates(calls[c].name), "%s, again: %lld allocations",
              calls[c].name, (long long)(alloc_count() - first));
    }
    CHECK(measure_halos(w) == KITH_OK, "%s", kith_message(w->ctx));
    const int64_t first = alloc_count();
    CHECK(measure_halos(w) == KITH_OK, "%s", kith_message(w->ctx));
    CHECK(alloc_count() == first, "halos without spheres, again: %lld allocations",
          (long long)(alloc_count() - first));
    world_close(w);
    return check_done();
}
