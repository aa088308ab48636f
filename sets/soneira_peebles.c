/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hierarchy of clusters within clusters: a sphere holds eta = 4 smaller spheres at random places,
 * each 1/lambda of its radius, and so on; the last ones are points. The set has density contrasts
 * at every scale, the hard case for a grid of one cell size. Soneira & Peebles, AJ 83, 845 (1978).
 */
#include "random.h"
#include "sets.h"

enum { ETA = 4 };
static const double LAMBDA = 1.9;

/** Distribute n points among the child spheres, recursively down to single points; depth
 *  log4(n). */
static double *fill_sphere(random_state *random, double *out, const double centre[3], double radius,
                           int64_t n)
{
    if (n == 1) {
        for (int k = 0; k < 3; k++) {
            *out++ = centre[k];
        }
        return out;
    }
    for (int child = 0; child < ETA; child++) {
        const int64_t share = n * (child + 1) / ETA - n * child / ETA;
        if (share == 0) {
            continue;
        }
        double v[3];
        random_in_ball(random, 1, v);
        for (int k = 0; k < 3; k++) {
            v[k] = centre[k] + radius * v[k];
        }
        out = fill_sphere(random, out, v, radius / LAMBDA, share);
    }
    return out;
}

void sets_soneira_peebles(double *xyz, int64_t n, uint64_t seed)
{
    /* Radii fall by lambda, so a point is less than radius * lambda/(lambda - 1) from the centre:
     * just under half the box. */
    const double centre[3] = {0.5, 0.5, 0.5};
    const double radius = 0.49999 * (LAMBDA - 1) / LAMBDA;
    random_state random = random_start(seed);
    if (n > 0) {
        fill_sphere(&random, xyz, centre, radius, n);
    }
}
