/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adds spots of light to pixels in parallel with results that do not depend on the threads. Spots
 * are sorted, stably, by the bands of rows that they touch (a counting sort); then each band is
 * drawn by one thread, so that each pixel's sum has one order. A spot is a quadratic B-spline,
 * integrated exactly over each pixel, so that its total does not depend on its position relative to
 * the pixels. O(n + pixels).
 */
#include "render_internal.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    BAND = 16,     /* rows of pixels of a band */
    PIECES = 64,   /* ranges of particles, sorted in parallel */
    POLL = 512,    /* particles or spots between two tests of the pool's stop */
    SHADES = 1024, /* entries of the table of palette colours */
    WIDEST = 48    /* most pixels that a spot touches along an axis: 3 sizes of WIDEST / 4, and 2 */
};

/** The light of a spot of weight 1. */
typedef struct tint {
    float channel[CHANNELS]; /**< linear red, green and blue, and 1, the weight */
} tint;

/** How particles of a scene become spots. */
typedef struct lens {
    const render_scene *scene; /**< particles and camera */
    int width, height, bands;  /**< size of the picture [pixels]; number of bands of rows */
    float size;                /**< size of a spot at the camera's centre [pixels]; see spot */
} lens;

/** Map zeroed memory. Huge pages make the first access to it cheap, and its release: 2 GB of small
 *  pages take 0.4 s to release, which would delay the end of an interrupted run.
 *  @return NULL without memory */
static void *map_zeroed(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

render *render_open(int width, int height, struct kith__pool *pool)
{
    const size_t pixels = (size_t)width * (size_t)height;
    const size_t blocks = ((size_t)width / GLOW_BLOCK + 1) * ((size_t)height / GLOW_BLOCK + 1);
    render *r = calloc(1, sizeof *r);
    if (!r) {
        return NULL;
    }
    r->width = width;
    r->height = height;
    r->pool = pool;
    r->memory_bytes = pixels * (CHANNELS + 3) * sizeof(float) + pixels * sizeof(uint32_t) +
                      2 * blocks * 3 * sizeof(float);
    r->memory = map_zeroed(r->memory_bytes);
    if (!r->memory) {
        free(r);
        return NULL;
    }
    r->light = r->memory;
    r->shown = r->light + pixels * CHANNELS;
    r->glow = r->shown + pixels * 3;
    r->spare = r->glow + blocks * 3;
    r->pixels = (uint32_t *)(r->spare + blocks * 3);
    render__tones(r);
    return r;
}

void render_close(render *r)
{
    if (r) {
        munmap(r->memory, r->memory_bytes);
        free(r->spots);
        free(r);
    }
}

const float *render_gathered(const render *r)
{
    return r->light;
}

/** Choose the size of spots: a quarter of the mean distance of n particles that fill 40 % of the
 *  picture, at least 0.7 pixels and, beyond that, at most 0.22 % of the height. */
static float spot_size(const render_scene *scene, int width, int height)
{
    const double area = 0.4 * (double)width * (double)height;
    const double apart = sqrt(area / (double)(scene->n > 0 ? scene->n : 1));
    const double largest = fmax(0.0022 * height, 0.7);
    return (float)fmin(fmax(0.25 * apart, 0.7), largest);
}

/** Project particle k to a spot. @return false when no part of it is in the picture, or when its
 *  position is not finite: comparisons with NaN are false. */
static bool see(const lens *l, int64_t k, spot *s)
{
    const render_scene *scene = l->scene;
    float seen[3];
    camera_see(&scene->camera, &scene->pos[3 * k], seen);
    s->x = seen[0];
    s->y = seen[1];
    s->size = fminf(l->size * seen[2], (float)WIDEST / 4);
    s->weight = seen[2] * seen[2] * seen[2]; /* nearer: a larger area, and less dimmed */
    s->value = scene->value ? scene->value[k] : 0;
    const float edge = 1.5F * s->size;
    return seen[2] > 0 && s->x > -edge && s->x < (float)l->width + edge && s->y > -edge &&
           s->y < (float)l->height + edge;
}

/** Compute the first and last band that a spot touches. */
static void bands_of(const lens *l, const spot *s, int range[2])
{
    const float edge = 1.5F * s->size;
    const int first = (int)floorf((s->y - edge) / BAND), last = (int)floorf((s->y + edge) / BAND);
    range[0] = first > 0 ? first : 0;
    range[1] = last < l->bands - 1 ? last : l->bands - 1;
}

/** Return true when the pool is stopped. Tests it only if k is a multiple of POLL, else false. */
static bool ends_early(const render *r, int64_t k)
{
    return k % POLL == 0 && kith__pool_stopped(r->pool);
}

/** One pass of the counting sort over a piece of the particles; a spot has a copy in each band that
 *  it touches.
 *  @param at     [bands] of this piece: counters in the first pass; in the second, the next free
 *                index of each band, and after it the end of its spots
 *  @param spots  receives the spots in the second pass; NULL: first pass, count only */
static void sort_piece(const render *r, const lens *l, int piece, int64_t *at, spot *spots)
{
    const int64_t n = l->scene->n, first = n * piece / PIECES, end = n * (piece + 1) / PIECES;
    for (int64_t k = first; k < end && !ends_early(r, k); k++) {
        spot s;
        int range[2];
        if (see(l, k, &s)) {
            bands_of(l, &s, range);
            for (int b = range[0]; b <= range[1]; b++) {
                if (spots) {
                    spots[at[b]] = s;
                }
                at[b]++;
            }
        }
    }
}

/** Exclusive prefix sum of counts [PIECES][bands], in the order of bands, then of pieces: the first
 *  index of each piece's spots of a band. @return the number of spots */
static int64_t place_pieces(const lens *l, int64_t *counts)
{
    int64_t sum = 0;
    for (int b = 0; b < l->bands; b++) {
        for (int p = 0; p < PIECES; p++) {
            const int64_t count = counts[p * l->bands + b];
            counts[p * l->bands + b] = sum;
            sum += count;
        }
    }
    return sum;
}

/** Make room for n spots; the array's contents are lost. @return false without memory */
static bool reserve(render *r, int64_t n)
{
    if (n > r->room) {
        free(r->spots);
        r->room = n + n / 8;
        r->spots = malloc((size_t)r->room * sizeof *r->spots);
        if (!r->spots) {
            r->room = 0;
        }
    }
    return r->spots != NULL || n == 0;
}

/** Return the integral of the quadratic B-spline with support [-1.5, 1.5] from -1.5 to u. */
static float below(float u)
{
    if (u <= -1.5F) {
        return 0;
    }
    if (u >= 1.5F) {
        return 1;
    }
    if (fabsf(u) <= 0.5F) {
        return 0.5F + u * (0.75F - u * u / 3);
    }
    const float d = 1.5F - fabsf(u);
    return u < 0 ? d * d * d / 6 : 1 - d * d * d / 6;
}

/** Compute the fraction of a spot's light in each pixel along an axis. The fractions add up to 1.
 *  @param x         middle of the spot [pixels]
 *  @param size      a third of its width [pixels]
 *  @param[out] n    number of pixels
 *  @return the first of the n pixels, which may lie outside the picture */
static int shares(float x, float size, int *n, float share[WIDEST])
{
    const int first = (int)floorf(x - 1.5F * size);
    const int last = (int)floorf(x + 1.5F * size);
    float before = 0;
    *n = last - first + 1;
    for (int k = 0; k < *n; k++) {
        const float next = k == *n - 1 ? 1 : below(((float)(first + k + 1) - x) / size);
        share[k] = next - before;
        before = next;
    }
    return first;
}

/** Add a spot to the pixels of rows [low, high). */
static void draw_spot(const render *r, const spot *s, const tint *colour, int low, int high)
{
    float across[WIDEST], down[WIDEST];
    int columns, rows;
    const int left = shares(s->x, s->size, &columns, across);
    const int top = shares(s->y, s->size, &rows, down);
    const int begin = left < 0 ? -left : 0;
    const int end = left + columns > r->width ? r->width - left : columns;
    for (int j = top < low ? low - top : 0; j < rows && top + j < high; j++) {
        const float weight = s->weight * down[j];
        float *to = r->light + ((ptrdiff_t)(top + j) * r->width + left + begin) * CHANNELS;
        for (int i = begin; i < end; i++, to += CHANNELS) {
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): i < columns */
            const float part = weight * across[i];
            for (int c = 0; c < CHANNELS; c++) {
                to[c] += part * colour->channel[c];
            }
        }
    }
}

/** Dim a band's light of earlier scenes to `afterglow` of it, then add the band's n spots. */
static void draw_band(const render *r, int band, const spot *spots, int64_t n, const tint *shade,
                      float afterglow)
{
    const int low = band * BAND, high = low + BAND < r->height ? low + BAND : r->height;
    float *light = r->light + (ptrdiff_t)low * r->width * CHANNELS;
    for (ptrdiff_t e = 0; e < (ptrdiff_t)(high - low) * r->width * CHANNELS; e++) {
        light[e] *= afterglow;
    }
    for (int64_t k = 0; k < n && !ends_early(r, k); k++) {
        const float at = spots[k].value * (SHADES - 1) + 0.5F;
        const int which = at > 0 ? at < SHADES - 1 ? (int)at : SHADES - 1 : 0;
        draw_spot(r, &spots[k], &shade[which], low, high);
    }
}

/** Fill the table of colours of a scene, [SHADES]. */
static void make_shades(const render_scene *scene, tint *shade)
{
    for (int k = 0; k < SHADES; k++) {
        palette_light(scene->palette, (double)k / (SHADES - 1), shade[k].channel);
        shade[k].channel[WEIGHT] = 1;
    }
}

/** Shared state of the loops over pieces of the particles and over bands of rows. */
struct gather_loop {
    render *render;    /**< picture that is drawn */
    const lens *lens;  /**< projection of particles */
    int64_t *at;       /**< [PIECES][bands] numbers of spots, then indices; see sort_piece */
    spot *spots;       /**< all spots, sorted by band; NULL in the pass that counts */
    const tint *shade; /**< [SHADES] colours of the palette */
    float afterglow;   /**< see render_scene */
};

/** Piece function of both passes of the counting sort. */
static void sort_one(void *state, int64_t piece, int worker)
{
    (void)worker;
    const struct gather_loop *loop = state;
    sort_piece(loop->render, loop->lens, (int)piece, loop->at + piece * loop->lens->bands,
               loop->spots);
}

/** Piece function that draws a band. Band b's spots end where those of the last piece end. */
static void draw_one(void *state, int64_t band, int worker)
{
    (void)worker;
    const struct gather_loop *loop = state;
    const int64_t *ends = loop->at + (ptrdiff_t)(PIECES - 1) * loop->lens->bands;
    const int64_t first = band ? ends[band - 1] : 0;
    draw_band(loop->render, (int)band, loop->spots + first, ends[band] - first, loop->shade,
              loop->afterglow);
}

bool render_gather(render *r, const render_scene *scene)
{
    const lens l = {.scene = scene,
                    .width = r->width,
                    .height = r->height,
                    .bands = (r->height + BAND - 1) / BAND,
                    .size = spot_size(scene, r->width, r->height)};
    int64_t *at = calloc((size_t)l.bands * (PIECES + 1), sizeof *at);
    tint *shade = malloc(SHADES * sizeof *shade);
    struct gather_loop loop = {r, &l, at, NULL, shade, scene->afterglow};
    bool room = at && shade;
    if (room) {
        make_shades(scene, shade);
        render__loop(r, PIECES, sort_one, &loop);
        const int64_t n = place_pieces(&l, at);
        room = reserve(r, n);
    }
    if (room && !kith__pool_stopped(r->pool)) { /* a stopped loop leaves incomplete counts */
        loop.spots = r->spots;
        render__loop(r, r->spots ? PIECES : 0, sort_one, &loop);
        render__loop(r, l.bands, draw_one, &loop);
        r->coloured = scene->value != NULL;
    }
    free(shade);
    free(at);
    return room;
}
