/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The transform of g(r) to S(q) against closed forms: a hard core, a Gaussian hole, the Ginibre
 * process in the plane, hard spheres after Percus and Yevick; the slope of a power law.
 */
#include <math.h>
#include <rdf/structure.h>

#include "check.h"

enum { BINS = 20000 };

static const double pi = 3.141592653589793;
static double edges[BINS + 1], g[BINS], weights[BINS];

/** S(q) of g up to r_max. */
static double transform(int dim, double density, double q, double r_max, structure_window window)
{
    for (int64_t k = 0; k <= BINS; k++) {
        edges[k] = (double)k * r_max / BINS;
    }
    structure_weights(dim, q, BINS, edges, window, weights);
    double sum = 0;
    for (int64_t k = 0; k < BINS; k++) {
        sum += weights[k] * (g[k] - 1);
    }
    return 1 + density * sum;
}

static double middle(int64_t k, double r_max)
{
    return ((double)k + 0.5) * r_max / BINS;
}

/** g(r) = 1 beyond the core: bins are exact, so that only rounding is left. */
static void check_core(void)
{
    static const double qs[] = {1e-9, 1e-3, 0.0099, 0.0101, 0.5, 3, 20};
    for (int64_t k = 0; k < BINS; k++) {
        g[k] = middle(k, 4) < 1 ? 0 : 1;
    }
    for (int k = 0; k < 7; k++) {
        const double q = qs[k];
        const double core = q < 0.1 ? 4 * pi * (1.0 / 3 - q * q / 30 + q * q * q * q / 840)
                                    : 4 * pi * (sin(q) - q * cos(q)) / (q * q * q);
        const double s = transform(3, 0.1, q, 4, WINDOW_NONE);
        CHECK(fabs(s - (1 - 0.1 * core)) < 1e-9, "core: S(%g) is %.12g, expected %.12g", q, s,
              1 - 0.1 * core);
        const double flat = q < 0.1 ? pi * (1 - q * q / 8) : 2 * pi * j1(q) / q;
        const double s2 = transform(2, 0.1, q, 4, WINDOW_NONE);
        CHECK(fabs(s2 - (1 - 0.1 * flat)) < 1e-9, "disc: S(%g) is %.12g, expected %.12g", q, s2,
              1 - 0.1 * flat);
    }
}

static void check_gaussians(void)
{
    static const double ginibre[] = {0.076494, 0.272623};
    for (int64_t k = 0; k < BINS; k++) {
        const double r = middle(k, 8);
        g[k] = 1 - exp(-pi * r * r);
    }
    for (int q = 1; q <= 2; q++) {
        const double flat = transform(2, 1, q, 8, WINDOW_NONE);
        CHECK(fabs(flat - ginibre[q - 1]) < 1e-6, "Ginibre: S(%d) is %.8g", q, flat);
        const double s = transform(3, 0.5, q, 8, WINDOW_NONE);
        const double expected = 1 - 0.5 * exp(-q * q / (4 * pi));
        CHECK(fabs(s - expected) < 1e-6, "hole: S(%d) is %.8g, expected %.8g", q, s, expected);
        /* The window makes little of what is far within r_max. */
        const double lorch = transform(3, 0.5, q, 8, WINDOW_LORCH);
        CHECK(fabs(lorch - expected) < 0.02 && lorch != s, "hole, Lorch: S(%d) is %.8g", q, lorch);
    }
}

/** r h(r) of hard spheres of diameter 1 by Baxter's equation, marched along r (J. W. Perram,
 *  Mol. Phys. 30, 1505, 1975): r h = 2 pi rho int_0^1 Q(t) (r - t) h(r - t) dt beyond the core. */
static void solve_percus_yevick(double eta, double r_max)
{
    enum { CORE = 1000, N = 20 * CORE };
    static double y[N + 1], kernel[CORE + 1];
    const double rho = 6 * eta / pi, step = 1.0 / CORE, d = (1 - eta) * (1 - eta);
    for (int j = 0; j <= CORE; j++) {
        const double t = j * step;
        const double value = (1 + 2 * eta) / d * (t * t - 1) / 2 - 1.5 * eta / d * (t - 1);
        kernel[j] = 2 * pi * rho * value * step * (j == 0 || j == CORE ? 0.5 : 1);
    }
    double contact = 0;
    for (int i = 0; i <= N; i++) {
        y[i] = -i * step;
        if (i < CORE) {
            continue;
        }
        double sum = 0;
        for (int j = 1; j <= CORE; j++) {
            sum += kernel[j] * y[i - j];
        }
        y[i] = sum / (1 - kernel[0]);
        if (i == CORE) { /* from here on its mean over both sides of the jump */
            contact = sum - kernel[0];
            y[i] = (contact - 1) / 2;
        }
    }
    CHECK(fabs(contact + 1 - (1 + eta / 2) / d) < 1e-3, "contact value %.6g of eta %g", contact + 1,
          eta);
    for (int64_t k = 0; k < BINS; k++) {
        const double r = middle(k, r_max);
        const int i = (int)(r * CORE);
        const double left = i == CORE ? contact : y[i], right = i + 1 == CORE ? -1 : y[i + 1];
        g[k] = 1 + (left + (right - left) * (r * CORE - i)) / r;
    }
}

static void check_percus_yevick(void)
{
    static const struct {
        double eta, q, s;
    } known[] = {{0.3, 1e-6, 0.093789}, {0.3, 5, 0.77817}, {0.3, 6.3381, 1.51551},
                 {0.3, 10, 0.85521},    {0.4, 1e-6, 0.04}, {0.4, 6.6395, 2.04758}};
    for (int k = 0; k < 6; k++) {
        solve_percus_yevick(known[k].eta, 20);
        const double s = transform(3, 6 * known[k].eta / pi, known[k].q, 20, WINDOW_NONE);
        CHECK(fabs(s - known[k].s) < 1e-3, "hard spheres of eta %g: S(%g) is %.6g, expected %.6g",
              known[k].eta, known[k].q, s, known[k].s);
    }
}

static void check_slope(void)
{
    double q[40], s[40], d = 0, error = 1;
    for (int k = 0; k < 40; k++) {
        q[k] = 0.1 * (k + 1);
        s[k] = k < 20 ? 3 * pow(q[k], -1.8) : k % 2 ? -1 : (double)NAN;
    }
    CHECK(structure_slope(40, q, s, 0.15, 1.5, &d, &error) == 14, "points of the slope");
    CHECK(fabs(d - 1.8) < 1e-12 && error < 1e-10, "slope %.15g +- %g", d, error);
    CHECK(structure_slope(40, q, s, 2.05, 4, &d, &error) == 0, "points that cannot be used");
    CHECK(structure_slope(40, q, s, 0.15, 0.35, &d, &error) == 2, "two points");
    s[5] *= 2;
    (void)structure_slope(40, q, s, 0.1, 2, &d, &error);
    CHECK(error > 0.01 && fabs(d - 1.8) < 3 * error, "slope %.6g +- %g", d, error);
}

int main(void)
{
    check_core();
    check_gaussians();
    check_percus_yevick();
    check_slope();
    return check_done();
}
