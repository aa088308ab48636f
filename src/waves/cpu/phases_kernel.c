/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves: powers of phase factors, and their products. Compiled once for each
 * instruction set.
 */
#include "phases.h"
#include "engine/cpu/simd.h"

/* Number of partial sums of a chunk: equal on all instruction sets, so that sums have equal bits.
 * A partial sum is a lane of one of LANES / D vectors of D doubles. */
enum { LANES = 8 };

static const double two_pi = 6.283185307179586;

/* Power m is the product of powers m / 2 and m - m / 2: rounding errors grow as log m, those of
 * repeated multiplication by power 1 as m. */
void KITH_OF_ISA(fill_phases)(const double *phases, int n, int32_t most, double *table)
{
    double *one = table + 2 * (int64_t)KITH_CHUNK; /* power 1; not there when most is 0 */
    for (int p = 0; p < KITH_CHUNK; p++) {
        const double x = p < n ? two_pi * phases[3 * (int64_t)p] : 0;
        table[p] = p < n ? 1 : 0;
        table[KITH_CHUNK + p] = 0;
        if (most > 0) {
            one[p] = p < n ? cos(x) : 0;
            one[KITH_CHUNK + p] = p < n ? sin(x) : 0;
        }
    }
    for (int32_t m = 2; m <= most; m++) {
        const double *a = table + 2 * (int64_t)(m / 2) * KITH_CHUNK;
        const double *b = table + 2 * (int64_t)(m - m / 2) * KITH_CHUNK;
        double *to = table + 2 * (int64_t)m * KITH_CHUNK;
        for (int p = 0; p < KITH_CHUNK; p++) {
            to[p] = a[p] * b[p] - a[KITH_CHUNK + p] * b[KITH_CHUNK + p];
            to[KITH_CHUNK + p] = a[p] * b[KITH_CHUNK + p] + a[KITH_CHUNK + p] * b[p];
        }
    }
}

void KITH_OF_ISA(add_phases)(const int32_t hkl[3], const double *const table[3], double sum[2])
{
    const double *t[3];
    vd sign[3]; /* -1: the power is negative, and the imaginary part changes its sign */
    for (int k = 0; k < 3; k++) {
        const int32_t power = hkl[k] < 0 ? -hkl[k] : hkl[k];
        t[k] = table[k] + 2 * (int64_t)power * KITH_CHUNK;
        sign[k] = (hkl[k] < 0 ? -1.0 : 1.0) - (vd){0};
    }
    vd real[LANES / D] = {{0}}, imaginary[LANES / D] = {{0}};
    for (int at = 0; at < KITH_CHUNK; at += LANES) {
        for (int v = 0; v < LANES / D; v++) {
            const int p = at + v * D;
            const vd ar = vd_load(t[0] + p), ai = sign[0] * vd_load(t[0] + KITH_CHUNK + p);
            const vd br = vd_load(t[1] + p), bi = sign[1] * vd_load(t[1] + KITH_CHUNK + p);
            const vd cr = vd_load(t[2] + p), ci = sign[2] * vd_load(t[2] + KITH_CHUNK + p);
            const vd re = ar * br - ai * bi, im = ar * bi + ai * br;
            real[v] += re * cr - im * ci;
            imaginary[v] += re * ci + im * cr;
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        sum[0] += real[lane / D][lane % D];
        sum[1] += imaginary[lane / D][lane % D];
    }
}
