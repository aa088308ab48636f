/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inverse square root of pair forces, in plain double operations, against sqrt.
 */
#include "rdf/pair_force.h"

#include <math.h>

#include "check.h"
#include "points.h"

int main(void)
{
    enum { MANY = 200000 };
    rng r = {4};
    double worst = 0;
    for (int k = 0; k < MANY; k++) {
        const double x = ldexp(rng_uniform(&r, 1, 4), 2 * ((int)rng_below(&r, 400) - 200));
        worst = fmax(worst, fabs(kith__inverse_root(x) * sqrt(x) - 1));
    }
    CHECK(worst < 8 * 0x1p-53, "1 / sqrt(x) is off by %g of it", worst);
    return check_done();
}
