/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Palettes: colours of numbers.
 */
#ifndef KITH_CLI_PALETTE_H
#define KITH_CLI_PALETTE_H

#include <stdint.h>

typedef enum palette {
    PALETTE_RISING, /**< dark to light: densities */
    PALETTE_LIT,    /**< blue to yellow, none of it dark: speeds */
    PALETTE_CIRCLE  /**< all hues, equally light, 1 equal to 0: directions */
} palette;

/** The colour of a number from 0 to 1, as 0xffRRGGBB. */
uint32_t palette_colour(palette which, double t);

/** The colour of a number from 0 to 1, as linear red, green and blue, 0 to 1 each. */
void palette_light(palette which, double t, float rgb[3]);

/** Light from 0 to 1 as a byte of sRGB. */
double palette_to_srgb(double light);

#endif
