/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Palettes: colours of numbers.
 */
#ifndef KITH_CLI_PALETTE_H
#define KITH_CLI_PALETTE_H

#include <stdint.h>

/** A function from numbers, 0 to 1, to colours. Numbers outside this range are clamped, or, by
 *  PALETTE_CIRCLE, taken as periodic. */
typedef enum palette {
    PALETTE_RISING, /**< dark to light; for densities */
    PALETTE_LIT,    /**< blue to yellow, without dark colours; for speeds */
    PALETTE_CIRCLE  /**< all hues at one lightness, 1 equal to 0; for directions */
} palette;

/** The colour of a number from 0 to 1, as 0xffRRGGBB. */
uint32_t palette_colour(palette which, double t);

/** The colour of a number from 0 to 1, as linear red, green and blue, 0 to 1 each. */
void palette_light(palette which, double t, float rgb[3]);

/** Convert linear light, clamped to 0 to 1, to an sRGB value of 0 to 255, not rounded. */
double palette_to_srgb(double light);

#endif
