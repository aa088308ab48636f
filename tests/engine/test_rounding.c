/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rounding to float is not removed by the compiler: gcc 12.2 does so with two adjacent casts.
 */
#include "engine/pair.h"
#include "check.h"

/* Round two adjacent numbers in place. Not inlined, so that the numbers are unknown. */
__attribute__((noinline)) static void round_two(double x[2])
{
    const double first = KITH_ROUND_f(x[0]);
    const double second = KITH_ROUND_f(x[1]);
    x[0] = first;
    x[1] = second;
}

int main(void)
{
    volatile double given[2] = {0.1, 0.2}; /* so that no conversion is done at compile time */
    double x[2] = {given[0], given[1]};
    round_two(x);
    CHECK(x[0] == 0x1.99999ap-4 && x[1] == 0x1.99999ap-3, "0.1 and 0.2 are rounded to %a and %a",
          x[0], x[1]);
    return check_done();
}
