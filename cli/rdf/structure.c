/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The transform of g(r) to S(q), integrated exactly over each bin, and the fit of a power law.
 */
#include "structure.h"

#include <math.h>

/** Integrate 4 pi r^2 sin(q r) / (q r), in 2-D 2 pi r J0(q r), from 0 to r. q is above 0. */
static double integral(int dim, double q, double r)
{
    const double x = q * r, small = 1e-2;
    if (dim == 2) {
        return x < small * small ? M_PI * r * r : 2 * M_PI * r * j1(x) / q;
    }
    if (x < small) { /* sin x - x cos x loses its digits: x^3 / 3 - x^5 / 30 + x^7 / 840 */
        return 4 * M_PI * r * r * r * (1.0 / 3 - x * x / 30 + x * x * x * x / 840);
    }
    return 4 * M_PI * (sin(x) - x * cos(x)) / (q * q * q);
}

void structure_weights(int dim, double q, int64_t bins, const double *edges,
                       structure_window window, double *weights)
{
    double before = integral(dim, q, edges[0]);
    for (int64_t k = 0; k < bins; k++) {
        const double after = integral(dim, q, edges[k + 1]);
        const double x = M_PI * (edges[k] + edges[k + 1]) / 2 / edges[bins];
        weights[k] = (after - before) * (window == WINDOW_LORCH ? sin(x) / x : 1);
        before = after;
    }
}

int64_t structure_slope(int64_t n, const double *q, const double *s, double from, double to,
                        double *d, double *error)
{
    int64_t points = 0;
    double x = 0, y = 0, xx = 0, xy = 0, rest = 0;
    for (int64_t k = 0; k < n; k++) {
        if (q[k] >= from && q[k] <= to && s[k] > 0) {
            points++;
            x += log(q[k]);
            y += log(s[k]);
        }
    }
    if (points < 3) {
        return points;
    }
    x /= (double)points;
    y /= (double)points;
    for (int64_t k = 0; k < n; k++) {
        if (q[k] >= from && q[k] <= to && s[k] > 0) {
            xx += (log(q[k]) - x) * (log(q[k]) - x);
            xy += (log(q[k]) - x) * (log(s[k]) - y);
        }
    }
    const double slope = xy / xx;
    for (int64_t k = 0; k < n; k++) {
        if (q[k] >= from && q[k] <= to && s[k] > 0) {
            const double beside = log(s[k]) - y - slope * (log(q[k]) - x);
            rest += beside * beside;
        }
    }
    *d = -slope;
    *error = sqrt(rest / (double)(points - 2) / xx);
    return points;
}
