/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bound on the rounding error of the definition of a pair, against that of random pairs at the
 * cutoff. Sweeps add it to the bounds of their own errors, which may hide that it is too small.
 */
#include "engine/cells.h"

#include <math.h>

#include "check.h"
#include "points.h"

/* A vector of random direction and of the given length. */
static void random_vector(rng *r, double length, double v[3])
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        v[k] = rng_normal(r);
        square += v[k] * v[k];
    }
    for (int k = 0; k < 3; k++) {
        v[k] *= length / sqrt(square);
    }
}

/* r^2 of the definition in float, minus r^2 in double, in squared cutoffs; 0 beyond the cutoff. */
static double definition_error(const struct kith__question *q, const float i[3], const float j[3],
                               const int32_t s[3])
{
    float d[3];
    const double r2 = (double)kith__separation_f(&q->box_f, i, j, s, d);
    double exact = 0;
    for (int m = 0; m < 3; m++) {
        double x = (double)j[m] - (double)i[m];
        for (int k = 0; k < 3; k++) {
            x += s[k] * q->box_d.row[k][m];
        }
        exact += x * x;
    }
    const double cutoff2 = q->cutoff * q->cutoff;
    return exact <= cutoff2 ? (r2 - exact) / cutoff2 : 0;
}

/* Compare the bounds of one box with the errors of pairs whose distance is close to the cutoff. */
static void check_bounds(kith_ctx *ctx, rng *r, const char *name, const kith_box *box,
                         double cutoff)
{
    enum { MANY = 200000 };
    const float origin[3] = {0, 0, 0};
    const kith_points points = kith_points_packed(origin, 1, KITH_FLOAT);
    struct kith__question q;
    CHECK(kith__question_init(ctx, &points, NULL, box, cutoff, "cutoff", &q) == KITH_OK, "%s: %s",
          name, kith_message(ctx));
    double worst[2] = {0, 0}; /* of pairs within the box, and of pairs with an image */
    for (int pair = 0; pair < MANY; pair++) {
        float i[3], j[3];
        double apart[3];
        int32_t box_of_i[3], box_of_j[3], s[3];
        random_vector(r, cutoff * rng_uniform(r, 0.98, 1), apart);
        const double f[3] = {rng_uniform(r, 0, 1), rng_uniform(r, 0, 1), rng_uniform(r, 0, 1)};
        for (int m = 0; m < 3; m++) {
            const double x = box->origin[m] + f[0] * box->row[0][m] + f[1] * box->row[1][m] +
                             f[2] * box->row[2][m];
            i[m] = (float)x;
            j[m] = (float)(x + apart[m]);
        }
        kith__wrap_f(&q.box_f, i, box_of_i);
        kith__wrap_f(&q.box_f, j, box_of_j);
        for (int k = 0; k < 3; k++) {
            s[k] = box_of_j[k] - box_of_i[k];
        }
        double *most = &worst[s[0] || s[1] || s[2]];
        *most = fmax(*most, fabs(definition_error(&q, i, j, s)));
    }
    CHECK(worst[0] <= kith__definition_error_no_image(&q), "%s: error %g, bound %g", name, worst[0],
          kith__definition_error_no_image(&q));
    CHECK(worst[1] <= kith__definition_error(&q), "%s: error %g of images, bound %g", name,
          worst[1], kith__definition_error(&q));
}

int main(void)
{
    kith_ctx *ctx = check_open("cpu", 1);
    rng r = {11};
    kith_box straight = kith_box_periodic(9, 11, 13);
    const kith_box skewed = kith_box_triclinic(9, 11, 13, 3, -4, 5);
    check_bounds(ctx, &r, "straight", &straight, 2.1);
    straight.origin[1] = -1000;
    check_bounds(ctx, &r, "far from 0", &straight, 2.1);
    check_bounds(ctx, &r, "skewed", &skewed, 2.1);
    check_bounds(ctx, &r, "skewed, many images", &skewed, 31);
    kith_close(ctx);
    return check_done();
}
