/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Palettes: lightness or hue changes with the number, about evenly to the eye. sRGB (IEC
 * 61966-2-1) stores light by a nonlinear curve; sums and blurs of light need linear values.
 */
#include "palette.h"

#include <math.h>

/** Convert an sRGB value of 0 to 255 to linear light, 0 to 1. */
static double from_srgb(double byte)
{
    const double c = byte / 255;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

double palette_to_srgb(double light)
{
    const double x = fmin(fmax(light, 0), 1);
    return 255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055);
}

/** Interpolate linearly between n evenly spaced colours.
 *  @param stops     [n] colours as red, green, blue of sRGB
 *  @param t         place, clamped to 0 (first stop) to 1 (last stop)
 *  @param[out] rgb  sRGB values, 0 to 255, not rounded */
static void mix(const unsigned char (*stops)[3], int n, double t, double rgb[3])
{
    const double at = fmin(fmax(t, 0), 1) * (n - 1);
    const int low = at < n - 1 ? (int)at : n - 2;
    for (int k = 0; k < 3; k++) {
        rgb[k] = stops[low][k] + (at - low) * (stops[low + 1][k] - stops[low][k]);
    }
}

/** Compute the colour of hue t [turns] with lightness 0.75 and chroma 0.12 in Oklab (Ottosson
 *  2020): with these values, every hue lies within sRGB. The matrices convert Oklab to the cube
 *  roots of cone responses, and cone responses to linear sRGB.
 *  @param[out] rgb  sRGB values, 0 to 255, not rounded */
static void hue(double t, double rgb[3])
{
    const double lightness = 0.75, chroma = 0.12;
    const double a = chroma * cos(2 * M_PI * t), b = chroma * sin(2 * M_PI * t);
    const double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    rgb[0] = palette_to_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    rgb[1] = palette_to_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    rgb[2] = palette_to_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

/** Compute the colour of t in a palette. @param[out] rgb  sRGB values, 0 to 255, not rounded */
static void bytes_of(palette which, double t, double rgb[3])
{
    /* Lightness rises from 0 to 98 of CIELAB, by 7 to 12 from each colour to the next; hue from
     * blue over red to yellow. */
    static const unsigned char rising[][3] = {{0, 0, 4},       {20, 14, 54},   {59, 15, 112},
                                              {100, 26, 128},  {140, 41, 129}, {183, 55, 121},
                                              {222, 73, 104},  {247, 112, 92}, {254, 159, 109},
                                              {254, 207, 146}, {252, 253, 191}};
    /* Lightness from 55 to 90: each colour is visible on a dark background. */
    static const unsigned char lit[][3] = {{70, 130, 230},  {60, 165, 225},  {75, 192, 195},
                                           {120, 210, 150}, {190, 220, 110}, {255, 225, 110}};
    if (which == PALETTE_CIRCLE) {
        hue(t, rgb);
    } else if (which == PALETTE_LIT) {
        mix(lit, sizeof lit / sizeof *lit, t, rgb);
    } else {
        mix(rising, sizeof rising / sizeof *rising, t, rgb);
    }
}

uint32_t palette_colour(palette which, double t)
{
    double rgb[3];
    bytes_of(which, t, rgb);
    uint32_t colour = 0xff;
    for (int k = 0; k < 3; k++) {
        colour = colour << 8 | (uint32_t)(rgb[k] + 0.5);
    }
    return colour;
}

void palette_light(palette which, double t, float rgb[3])
{
    double bytes[3];
    bytes_of(which, t, bytes);
    for (int k = 0; k < 3; k++) {
        rgb[k] = (float)from_srgb(bytes[k]);
    }
}
