/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From light to a picture: asinh keeps both the lonely and the crowded in sight (Lupton et al.
 * 2004), and what is bright glows a little on what is beside it.
 */
#include "render_internal.h"

#include <math.h>
#include <string.h>

enum {
    OCTAVE = 8, /* bins of a histogram of weights */
    BINS = 48 * OCTAVE,
    REACH = 14 /* of the glow, in blocks */
};

static const double BRIGHTEST = 0.003; /* of the pixels with light are white */
static const float CONTRAST = 14, GLOW = 0.30F;
static const float GROUND[3] = {0.0033F, 0.0030F, 0.0050F};

void render__tones(render *r)
{
    for (int k = 0; k < TONES; k++) {
        palette_light(PALETTE_RISING, (double)k / (TONES - 1), r->rising[k]);
        for (int c = 0; k > 0 && c < 3; c++) {
            r->rising[k][c] -= r->rising[0][c]; /* nothing gives no light */
        }
        r->bytes[k] = (unsigned char)(palette_to_srgb((double)k / (TONES - 1)) + 0.5);
    }
    memset(r->rising[0], 0, sizeof r->rising[0]);
}

static const float *gathered(const render *r, int row)
{
    return r->light + (ptrdiff_t)row * r->width * CHANNELS;
}

static float *shown(const render *r, int row)
{
    return r->shown + 3 * (ptrdiff_t)row * r->width;
}

/** The weight that all but the brightest pixels are below. */
static double brightest(const render *r)
{
    int64_t count[BINS] = {0}, all = 0;
#pragma omp parallel for reduction(+ : count[:BINS], all)
    for (int j = 0; j < r->height; j++) {
        const float *at = gathered(r, j);
        for (int i = 0; i < r->width; i++) {
            const float w = at[CHANNELS * i + WEIGHT];
            if (w > 1e-6F) {
                const int bin = (int)((log2f(w) + 20) * OCTAVE);
                count[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1]++;
                all++;
            }
        }
    }
    int64_t above = 0;
    int bin = BINS - 1;
    for (; bin > 0 && (double)(above + count[bin]) <= BRIGHTEST * (double)all; bin--) {
        above += count[bin];
    }
    return all ? exp2((bin + 1.0) / OCTAVE - 20) : 0;
}

/** Brightness of a weight: 1 is white. */
static float tone(float weight, float white)
{
    return asinhf(CONTRAST * weight / white) / asinhf(CONTRAST);
}

/** Turn what has gathered in a row into light to show. */
static void develop_row(const render *r, int j)
{
    const float *at = gathered(r, j);
    float *out = shown(r, j);
    for (int i = 0; i < r->width; i++, at += CHANNELS, out += 3) {
        const float w = at[WEIGHT];
        const float t = w > 0 ? tone(w, (float)r->white) : 0;
        if (!r->coloured) {
            memcpy(out, r->rising[t < 1 ? (int)(t * (TONES - 1)) : TONES - 1], 3 * sizeof *out);
            continue;
        }
        const float bright = t * t, pale = fminf(fmaxf(t - 0.75F, 0), 0.6F);
        for (int c = 0; c < 3; c++) {
            out[c] = w > 0 ? bright * ((1 - pale) * at[c] / w + pale) : 0;
        }
    }
}

/** Add up a row of pixels in its row of blocks. */
static void add_to_blocks(const render *r, int j, float *blocks)
{
    const float *at = shown(r, j);
    for (int i = 0; i < r->width; i++) {
        for (int c = 0; c < 3; c++) {
            blocks[3 * (i / GLOW_BLOCK) + c] += at[3 * i + c] / (float)(GLOW_BLOCK * GLOW_BLOCK);
        }
    }
}

/** Blur along one axis: a Gaussian of REACH / 3 blocks. */
static void blur(const float *from, float *to, int across, int down, bool along_rows)
{
    float share[2 * REACH + 1], sum = 0;
    for (int k = -REACH; k <= REACH; k++) {
        share[k + REACH] = expf(-4.5F * (float)(k * k) / (float)(REACH * REACH));
        sum += share[k + REACH];
    }
    const ptrdiff_t step = 3 * (along_rows ? 1 : (ptrdiff_t)across);
#pragma omp parallel for
    for (int j = 0; j < down; j++) {
        for (int i = 0; i < across; i++) {
            const int before = along_rows ? i : j,
                      behind = (along_rows ? across : down) - 1 - before;
            const int low = before < REACH ? -before : -REACH,
                      high = behind < REACH ? behind : REACH;
            const float *near = from + 3 * ((ptrdiff_t)j * across + i) + low * step;
            float red = 0, green = 0, blue = 0;
            for (int k = low; k <= high; k++, near += step) {
                red += share[k + REACH] * near[0];
                green += share[k + REACH] * near[1];
                blue += share[k + REACH] * near[2];
            }
            float *out = to + 3 * ((ptrdiff_t)j * across + i);
            out[0] = red / sum;
            out[1] = green / sum;
            out[2] = blue / sum;
        }
    }
}

/** Two blocks and how far a pixel is from the middle of the first to that of the second. */
static float between(int pixel, int blocks, int near[2])
{
    const float at = ((float)pixel + 0.5F) / GLOW_BLOCK - 0.5F;
    const int low = at < 0 ? 0 : (int)at;
    near[0] = low;
    near[1] = low + 1 < blocks ? low + 1 : low;
    return at < 0 ? 0 : at - (float)low;
}

static void write_row(const render *r, int j, int across, int down)
{
    const float *at = shown(r, j);
    int rows[2], columns[2], last = -1;
    const float v = between(j, down, rows);
    const float *upper = r->glow + 3 * (ptrdiff_t)rows[0] * across;
    const float *lower = r->glow + 3 * (ptrdiff_t)rows[1] * across;
    float left[3] = {0}, rise[3] = {0};
    for (int i = 0; i < r->width; i++) {
        const float u = between(i, across, columns);
        for (int c = 0; columns[0] != last && c < 3; c++) {
            const int a = 3 * columns[0] + c, b = 3 * columns[1] + c;
            left[c] = GROUND[c] + GLOW * ((1 - v) * upper[a] + v * lower[a]);
            rise[c] = GROUND[c] + GLOW * ((1 - v) * upper[b] + v * lower[b]) - left[c];
        }
        last = columns[0];
        uint32_t pixel = 0xff;
        for (int c = 0; c < 3; c++) {
            const float light = at[3 * i + c] + left[c] + u * rise[c];
            pixel = pixel << 8 | r->bytes[light < 1 ? (int)(light * (TONES - 1)) : TONES - 1];
        }
        r->pixels[(ptrdiff_t)j * r->width + i] = pixel;
    }
}

uint32_t *render_develop(render *r)
{
    const int across = (r->width + GLOW_BLOCK - 1) / GLOW_BLOCK;
    const int down = (r->height + GLOW_BLOCK - 1) / GLOW_BLOCK;
    const double now = brightest(r);
    r->white = r->white > 0 && now > 0 ? r->white * pow(now / r->white, 0.1) : now;

#pragma omp parallel for schedule(dynamic)
    for (int y = 0; y < down; y++) {
        float *blocks = r->glow + 3 * (ptrdiff_t)y * across;
        memset(blocks, 0, 3 * (size_t)across * sizeof *blocks);
        for (int j = GLOW_BLOCK * y; j < GLOW_BLOCK * (y + 1) && j < r->height; j++) {
            develop_row(r, j);
            add_to_blocks(r, j, blocks);
        }
    }
    blur(r->glow, r->spare, across, down, true);
    blur(r->spare, r->glow, across, down, false);
#pragma omp parallel for
    for (int j = 0; j < r->height; j++) {
        write_row(r, j, across, down);
    }
    return r->pixels;
}
