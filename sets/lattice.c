/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cubic lattices: sets with distances that equal a cutoff exactly, and with points on faces of
 * cells.
 */
#include "sets.h"

/** The largest m with basis * m^3 <= n. */
static int64_t cells_per_side(int64_t n, int basis)
{
    int64_t m = 0;
    while ((m + 1) * (m + 1) * (m + 1) <= n / basis) {
        m++;
    }
    return m;
}

int64_t sets_lattice(double *xyz, int64_t n, int basis)
{
    /* Sites of one cell, in half cells. */
    static const int sc[][3] = {{0, 0, 0}};
    static const int bcc[][3] = {{0, 0, 0}, {1, 1, 1}};
    static const int fcc[][3] = {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
    const int(*sites)[3] = basis == 1 ? sc : basis == 2 ? bcc : basis == 4 ? fcc : NULL;
    if (!sites) {
        return 0;
    }

    const int64_t m = cells_per_side(n, basis);
    double *out = xyz;
    for (int64_t cell = 0; cell < m * m * m; cell++) {
        const int64_t corner[3] = {cell % m, cell / m % m, cell / (m * m)};
        for (int s = 0; s < basis; s++) {
            for (int k = 0; k < 3; k++) {
                *out++ = (double)(2 * corner[k] + sites[s][k]) / (double)(2 * m);
            }
        }
    }
    return basis * m * m * m;
}
