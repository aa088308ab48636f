/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radii that nobody checked, as kith_pairs_enqueue has them in device memory: the test that kernels
 * share with the CPU lists no pair where the rule reads a radius that is negative or NaN.
 */
#include "pairs/rules.h"

#include <math.h>

#include "check.h"

int main(void)
{
    const double h[] = {NAN, -1, -INFINITY, -1e-300, 0, 1, 2, INFINITY};
    enum { RADII = sizeof h / sizeof *h };
    float single[RADII];
    for (int k = 0; k < RADII; k++)
        single[k] = k == 3 ? -1e-40F : (float)h[k];
    for (int rule = KITH_RADIUS_GATHER; rule <= KITH_RADIUS_SUM; rule++) {
        struct kith__rules rules = {.radius_rule = (kith_radius_rule)rule, .by_distance = true};
        for (int pair = 0; pair < RADII * RADII; pair++) {
            const int i = pair / RADII, j = pair % RADII;
            const bool reads_i = rule != KITH_RADIUS_SCATTER, reads_j = rule != KITH_RADIUS_GATHER;
            const bool good = (!reads_i || h[i] >= 0) && (!reads_j || h[j] >= 0);
            const double most = !reads_j                     ? h[i]
                                : !reads_i                   ? h[j]
                                : rule == KITH_RADIUS_EITHER ? fmax(h[i], h[j])
                                : rule == KITH_RADIUS_BOTH   ? fmin(h[i], h[j])
                                                             : h[i] + h[j];
            for (double r2 = 0; r2 < 20; r2 = r2 * 2 + 1) {
                rules.radii[0] = rules.radii[1] = h;
                const bool found = kith__is_listed_d(&rules, i, j, r2);
                rules.radii[0] = rules.radii[1] = single;
                const bool as_float = kith__is_listed_f(&rules, i, j, (float)r2);
                const bool listed = good && r2 <= most * most;
                CHECK(found == listed && as_float == listed,
                      "rule %d, radii %g and %g, r2 %g: %d in double, %d in float, expected %d",
                      rule, h[i], h[j], r2, found, as_float, listed);
            }
        }
    }
    return check_done();
}
