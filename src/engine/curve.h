/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Hilbert curve: a numbering of the cells of a cube, or square, in which consecutive cells are
 * neighbours. Particles that are sorted by these numbers are mostly near each other in memory when
 * they are near each other in space.
 */
#ifndef KITH_CURVE_H
#define KITH_CURVE_H

#include "pair.h"

/** Most bits of the number of a cell along an axis: three of them fit 63 bits. */
enum { KITH_CURVE_BITS = 21 };

/** Move bit k of the lowest 21 bits to bit 3 k; the other bits of the result are 0. */
KITH_FN uint64_t kith__spread_3(uint64_t bits)
{
    bits = (bits | bits << 32) & 0x1f00000000ffffull;
    bits = (bits | bits << 16) & 0x1f0000ff0000ffull;
    bits = (bits | bits << 8) & 0x100f00f00f00f00full;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3ull;
    return (bits | bits << 2) & 0x1249249249249249ull;
}

/** Move bit k of the lowest 32 bits to bit 2 k; the other bits of the result are 0. */
KITH_FN uint64_t kith__spread_2(uint64_t bits)
{
    bits = (bits | bits << 16) & 0xffff0000ffffull;
    bits = (bits | bits << 8) & 0xff00ff00ff00ffull;
    bits = (bits | bits << 4) & 0xf0f0f0f0f0f0f0full;
    bits = (bits | bits << 2) & 0x3333333333333333ull;
    return (bits | bits << 1) & 0x5555555555555555ull;
}

/** Return the number of a cell along the Hilbert curve, by the method of J. Skilling, "Programming
 *  the Hilbert curve", AIP Conference Proceedings 707, 381 (2004).
 *  @param c     the cell: `dim` coordinates of `bits` bits, one for each axis; overwritten
 *  @param dim   2 or 3
 *  @param bits  1 to KITH_CURVE_BITS */
KITH_FN uint64_t kith__hilbert(uint32_t c[3], int dim, int bits)
{
    /* inverse undo: invert or exchange the bits below each bit */
    for (uint32_t bit = 1u << (bits - 1); bit > 1; bit /= 2) {
        for (int k = 0; k < dim; k++) {
            const uint32_t exchanged = (c[0] ^ c[k]) & (bit - 1);
            const int inverts = (c[k] & bit) != 0;
            c[0] ^= inverts ? bit - 1 : exchanged;
            c[k] ^= inverts ? 0 : exchanged;
        }
    }
    /* Gray encode */
    for (int k = 1; k < dim; k++) {
        c[k] ^= c[k - 1];
    }
    uint32_t inverted = 0;
    for (uint32_t bit = 1u << (bits - 1); bit > 1; bit /= 2) {
        inverted ^= c[dim - 1] & bit ? bit - 1 : 0;
    }
    /* interleave the bits of the coordinates */
    return dim == 2 ? kith__spread_2(c[0] ^ inverted) << 1 | kith__spread_2(c[1] ^ inverted)
                    : kith__spread_3(c[0] ^ inverted) << 2 | kith__spread_3(c[1] ^ inverted) << 1 |
                          kith__spread_3(c[2] ^ inverted);
}

#endif
