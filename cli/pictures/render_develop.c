/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From light to a picture. The scale of brightness is asinh, linear for faint pixels and
 * logarithmic for bright ones (Lupton et al. 2004, PASP 116, 133), so that single particles and
 * dense groups are both visible. Then a bloom, called glow, is added: a fraction of the picture,
 * averaged over blocks of pixels and blurred by a Gaussian along each axis in turn.
 */
#include "render_internal.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    OCTAVE = 8,         /* bins of the histogram of weights for each factor of 2 */
    BINS = 48 * OCTAVE, /* of weights from 2^-20 to 2^28 */
    REACH = 14          /* radius of the blur [blocks]; three standard deviations */
};

static const double BRIGHTEST = 0.003; /* fraction of the pixels with light that are white */
/* Argument of asinh for white, of which more brightens faint pixels; factor of the glow. */
static const float CONTRAST = 14, GLOW = 0.30F;
static const float GROUND[3] = {0.0033F, 0.0030F, 0.0050F}; /* linear colour of the background */

void render__tones(render *r)
{
    for (int k = 0; k < TONES; k++) {
        palette_light(PALETTE_RISING, (double)k / (TONES - 1), r->rising[k]);
        for (int c = 0; k > 0 && c < 3; c++) {
            r->rising[k][c] -= r->rising[0][c]; /* no weight: no light but GROUND's, added later */
        }
        r->bytes[k] = (unsigned char)(palette_to_srgb((double)k / (TONES - 1)) + 0.5);
    }
    memset(r->rising[0], 0, sizeof r->rising[0]);
}

/** Return the gathered light of a row, [width][CHANNELS]. */
static const float *gathered(const render *r, int row)
{
    return r->light + (ptrdiff_t)row * r->width * CHANNELS;
}

/** Return the developed light of a row, [width][3]. */
static float *shown(const render *r, int row)
{
    return r->shown + 3 * (ptrdiff_t)row * r->width;
}

/** A histogram of the weights of pixels, on a logarithmic scale. */
struct weights {
    const render *render;        /**< the picture */
    _Atomic int64_t count[BINS]; /**< pixels with a weight of 2^(k / OCTAVE - 20) and more */
};

/** Add rows [begin, end) to the histogram. */
static void count_rows(void *state, int64_t begin, int64_t end)
{
    struct weights *weights = state;
    int64_t count[BINS] = {0};
    for (int64_t j = begin; j < end; j++) {
        const float *at = gathered(weights->render, (int)j);
        for (int i = 0; i < weights->render->width; i++) {
            const float w = at[CHANNELS * i + WEIGHT];
            if (w > 1e-6F) {
                const int bin = (int)((log2f(w) + 20) * OCTAVE);
                count[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1]++;
            }
        }
    }
    for (int bin = 0; bin < BINS; bin++) {
        atomic_fetch_add_explicit(&weights->count[bin], count[bin], memory_order_relaxed);
    }
}

/** Return the weight that is shown as white: the fraction BRIGHTEST, at most, of the pixels with
 *  light have more. It is the upper edge of a bin. 0: no pixel has light. */
static double brightest(const render *r)
{
    struct weights weights = {.render = r};
    int64_t count[BINS], all = 0;
    kith__pool_for(r->pool, kith__pool_threads(r->pool), r->height, 1, count_rows, &weights);
    for (int bin = 0; bin < BINS; bin++) {
        count[bin] = weights.count[bin];
        all += count[bin];
    }
    int64_t above = 0;
    int bin = BINS - 1;
    for (; bin > 0 && (double)(above + count[bin]) <= BRIGHTEST * (double)all; bin--) {
        above += count[bin];
    }
    return all ? exp2((bin + 1.0) / OCTAVE - 20) : 0;
}

/** Return the brightness of a weight on the asinh scale: 1 for `white`, more above it. */
static float tone(float weight, float white)
{
    return asinhf(CONTRAST * weight / white) / asinhf(CONTRAST);
}

/** Convert the gathered light of a row to developed light. Without values, the weight selects the
 *  colour. With values, the mean colour of the pixel's spots is scaled by the square of the tone,
 *  and pixels near white and brighter turn pale. */
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

/** Add a row of developed light to the averages of its row of blocks. */
static void add_to_blocks(const render *r, int j, float *blocks)
{
    const float *at = shown(r, j);
    for (int i = 0; i < r->width; i++) {
        for (int c = 0; c < 3; c++) {
            blocks[3 * (i / GLOW_BLOCK) + c] += at[3 * i + c] / (float)(GLOW_BLOCK * GLOW_BLOCK);
        }
    }
}

/** Shared state of the loop that blurs an image of blocks along one axis. */
struct blur_loop {
    const float *from;          /**< [down][across][3] the image */
    float *to;                  /**< [down][across][3] receives the blurred image */
    int across, down;           /**< number of blocks along x and y */
    bool along_rows;            /**< blur along x; else along y */
    float share[2 * REACH + 1]; /**< weight of the neighbour k - REACH blocks away */
    float sum;                  /**< sum of share */
};

/** Blur rows [begin, end). Blocks outside the image count as dark, so the border loses light. */
static void blur_rows(void *state, int64_t begin, int64_t end)
{
    const struct blur_loop *loop = state;
    const int across = loop->across;
    const ptrdiff_t step = 3 * (loop->along_rows ? 1 : (ptrdiff_t)across);
    for (int j = (int)begin; j < end; j++) {
        for (int i = 0; i < across; i++) {
            const int before = loop->along_rows ? i : j,
                      behind = (loop->along_rows ? across : loop->down) - 1 - before;
            const int low = before < REACH ? -before : -REACH,
                      high = behind < REACH ? behind : REACH;
            const float *near = loop->from + 3 * ((ptrdiff_t)j * across + i) + low * step;
            float red = 0, green = 0, blue = 0;
            for (int k = low; k <= high; k++, near += step) {
                red += loop->share[k + REACH] * near[0];
                green += loop->share[k + REACH] * near[1];
                blue += loop->share[k + REACH] * near[2];
            }
            float *out = loop->to + 3 * ((ptrdiff_t)j * across + i);
            out[0] = red / loop->sum;
            out[1] = green / loop->sum;
            out[2] = blue / loop->sum;
        }
    }
}

/** Blur along one axis: a Gaussian of REACH / 3 blocks. */
static void blur(struct kith__pool *pool, const float *from, float *to, int across, int down,
                 bool along_rows)
{
    struct blur_loop loop = {from, to, across, down, along_rows, {0}, 0};
    for (int k = -REACH; k <= REACH; k++) {
        loop.share[k + REACH] = expf(-4.5F * (float)(k * k) / (float)(REACH * REACH));
        loop.sum += loop.share[k + REACH];
    }
    kith__pool_for(pool, kith__pool_threads(pool), down, 1, blur_rows, &loop);
}

/** Find the two blocks along an axis between whose middles a pixel lies, for interpolation.
 *  @param[out] near  indices of the blocks; equal at the upper border
 *  @return the weight of the second block, 0 to 1; the weight of the first is 1 minus it */
static float between(int pixel, int blocks, int near[2])
{
    const float at = ((float)pixel + 0.5F) / GLOW_BLOCK - 0.5F;
    const int low = at < 0 ? 0 : (int)at;
    near[0] = low;
    near[1] = low + 1 < blocks ? low + 1 : low;
    return at < 0 ? 0 : at - (float)low;
}

/** Add background and bloom to a row of light and convert it to pixels. Between the middles of two
 *  blocks the bloom is linear, so its end points are computed only where the blocks change. */
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

static int blocks_across(const render *r)
{
    return (r->width + GLOW_BLOCK - 1) / GLOW_BLOCK;
}

static int blocks_down(const render *r)
{
    return (r->height + GLOW_BLOCK - 1) / GLOW_BLOCK;
}

/** Develop the rows of pixels of one row of blocks. */
static void develop_blocks(void *state, int64_t y, int worker)
{
    (void)worker;
    const render *r = state;
    const int across = blocks_across(r);
    float *blocks = r->glow + 3 * y * across;
    memset(blocks, 0, 3 * (size_t)across * sizeof *blocks);
    for (int64_t j = GLOW_BLOCK * y; j < GLOW_BLOCK * (y + 1) && j < r->height; j++) {
        develop_row(r, (int)j);
        add_to_blocks(r, (int)j, blocks);
    }
}

/** Piece function that writes row j of the picture. */
static void write_one(void *state, int64_t j, int worker)
{
    (void)worker;
    const render *r = state;
    write_row(r, (int)j, blocks_across(r), blocks_down(r));
}

uint32_t *render_develop(render *r)
{
    const int across = blocks_across(r), down = blocks_down(r);
    const double now = brightest(r);
    r->white = r->white > 0 && now > 0 ? r->white * pow(now / r->white, 0.1) : now;

    render__loop(r, down, develop_blocks, r);
    blur(r->pool, r->glow, r->spare, across, down, true);
    blur(r->pool, r->spare, r->glow, across, down, false);
    render__loop(r, r->height, write_one, r);
    return r->pixels;
}
