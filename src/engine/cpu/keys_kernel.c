/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys of particles, computed in vectors of doubles, which hold them exactly: the numbers of cells
 * and subcells are whole numbers, which are combined by multiplication and addition. Adding 2^52 to
 * the key leaves it in the bits of the fraction, from where it is taken as an integer.
 */
#include "keys.h"
#include "simd.h"

/* Particles whose keys are computed together. */
enum { BLOCK = 64 };

/** Copy the coordinates of particles [begin, begin + n) to at[3][BLOCK], converted to double. In
 *  two dimensions at[2] keeps its zeros. */
static void read_block(const struct kith__question *question, const kith_points *points,
                       int64_t begin, int n, double at[3][BLOCK])
{
    const void *const axis[3] = {points->x, points->y, points->z};
    for (int k = 0; k < 3 && k < question->dim; k++) {
        if (question->precision == KITH_FLOAT) {
            const float *from = (const float *)axis[k] + begin * points->stride;
            for (int l = 0; l < n; l++) {
                at[k][l] = (double)from[l * points->stride];
            }
        } else {
            const double *from = (const double *)axis[k] + begin * points->stride;
            for (int l = 0; l < n; l++) {
                at[k][l] = from[l * points->stride];
            }
        }
    }
}

/** Return 2^52 + key of D particles, from particle l of a block on. The key is the number of the
 *  cell, (z * n_y + y) * n_x + x, followed by the bits of the subcell along z, y and x. An
 *  expression `number - (vd){0}` is the number in all lanes. */
static inline vd keys_of(const struct kith__key_axis key_axis[3], double at[3][BLOCK], int l)
{
    vd key = {0};
    vd subcells = {0};
    for (int k = 2; k >= 0; k--) {
        const struct kith__key_axis *a = &key_axis[k];
        vd u = ((vd_load(&at[k][l]) - a->origin) * a->inverse - a->anchor) * a->scale - a->first;
        u = vd_max(u, (vd){0});
        const vd cell = vd_whole(vd_min(u, a->last_cell - (vd){0}));
        const vd subcell = vd_min((u - cell) * a->subcells, a->last_subcell - (vd){0});
        key = key * (a->last_cell + 1) + cell;
        subcells = subcells * a->subcell_scale + vd_whole(subcell);
    }
    const double below = key_axis[0].subcell_scale * key_axis[1].subcell_scale *
                         key_axis[2].subcell_scale;
    return key * below + subcells + (double)((uint64_t)1 << KITH_PLAIN_BITS);
}

void KITH_OF_ISA(write_elements)(const struct kith__question *question, const kith_points *points,
                                 const struct kith__key_axis key_axis[3], int64_t begin,
                                 int64_t end, int low, uint64_t *elements)
{
    const int above = 64 - KITH_PLAIN_BITS;
    double at[3][BLOCK] = {{0}};
    for (int64_t p = begin; p < end; p += BLOCK) {
        const int n = end - p < BLOCK ? (int)(end - p) : BLOCK;
        read_block(question, points, p, n, at);
        uint64_t block[BLOCK];
        for (int l = 0; l < n; l += D) { /* the last vector may have lanes beyond n: not used */
            /* the shifts clear sign and exponent, which are the high 12 bits of a double */
            const vp key = (vp)keys_of(key_axis, at, l) << above >> above << low;
            memcpy(&block[l], &key, sizeof key);
        }
        for (int l = 0; l < n; l++) {
            elements[p + l] = block[l] | (uint64_t)(p + l);
        }
    }
}
