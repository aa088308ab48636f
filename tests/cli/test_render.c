/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The renderer of films against what is known by heart: the light of one spot, its place and
 * colour, what is left of it after a frame, where a camera sees the box, where particles wrap to;
 * the same bits for any number of threads.
 */
#include "check.h"
#include "film/film_internal.h"
#include "pictures/render.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 96, HEIGHT = 64, CHANNELS = 4 };

/** A camera that sees x and y as pixels. */
static camera plain(void)
{
    return (camera){.row = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}}, .scale = 1};
}

/** Sum of each channel, and the first moments of the weight. */
static void add_up(const render *r, double sum[CHANNELS], double middle[2])
{
    const float *light = render_gathered(r);
    memset(sum, 0, CHANNELS * sizeof *sum);
    middle[0] = middle[1] = 0;
    for (int k = 0; k < WIDTH * HEIGHT; k++) {
        for (int c = 0; c < CHANNELS; c++) {
            sum[c] += (double)light[CHANNELS * k + c];
        }
        middle[0] += (double)light[CHANNELS * k + 3] * (k % WIDTH + 0.5);
        middle[1] += (double)light[CHANNELS * k + 3] * (k / WIDTH + 0.5); /* row */
    }
}

static render *gather(render *r, const render_scene *scene)
{
    CHECK(render_gather(r, scene), "no memory");
    return r;
}

static void test_one_spot(void)
{
    render *r = render_open(WIDTH, HEIGHT, NULL);
    float pos[3] = {0}, value = 0.25F, colour[3];
    double sum[CHANNELS], middle[2];
    const render_scene scene = {
        .n = 1, .pos = pos, .value = &value, .palette = PALETTE_CIRCLE, .camera = plain()};
    palette_light(PALETTE_CIRCLE, 0.25, colour);
    for (int k = 0; k < 50; k++) {
        pos[0] = 10 + 1.37F * (float)k;
        pos[1] = 9 + 0.91F * (float)k;
        add_up(gather(r, &scene), sum, middle);
        CHECK(fabs(sum[3] - 1) < 1e-5, "weight %.9g at %g, %g", sum[3], (double)pos[0],
              (double)pos[1]);
        CHECK(fabs(middle[0] - (double)pos[0]) < 0.03 && fabs(middle[1] - (double)pos[1]) < 0.03,
              "middle %g, %g of %g, %g", middle[0], middle[1], (double)pos[0], (double)pos[1]);
        for (int c = 0; c < 3; c++) {
            CHECK(fabs(sum[c] - (double)colour[c]) < 2e-3, "colour %g, expected %g", sum[c],
                  (double)colour[c]);
        }
    }
    static const float edges[][3] = {{0, 30, 0.5F},      {WIDTH, 30, 0.5F}, {40, 0, 0.5F},
                                     {40, HEIGHT, 0.5F}, {0, 0, 0.25F},     {-9, 30, 0},
                                     {40, HEIGHT + 9, 0}};
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
        memcpy(pos, edges[k], 2 * sizeof *pos);
        add_up(gather(r, &scene), sum, middle);
        CHECK(fabs(sum[3] - (double)edges[k][2]) < 1e-5, "weight %g at edge %d", sum[3], (int)k);
    }
    render_close(r);
}

static void test_afterglow(void)
{
    render *r = render_open(WIDTH, HEIGHT, NULL);
    const float pos[3] = {40, 30, 0};
    double sum[CHANNELS], middle[2];
    render_scene scene = {.n = 1, .pos = pos, .camera = plain(), .afterglow = 0.5F};
    const double expected[] = {1, 1.5, 1.75};
    for (int k = 0; k < 3; k++) {
        add_up(gather(r, &scene), sum, middle);
        CHECK(fabs(sum[3] - expected[k]) < 1e-5, "weight %g in frame %d", sum[3], k);
    }
    scene.n = 0;
    add_up(gather(r, &scene), sum, middle);
    CHECK(fabs(sum[3] - 0.875) < 1e-5, "weight %g after the last", sum[3]);
    scene.afterglow = 0;
    add_up(gather(r, &scene), sum, middle);
    CHECK(sum[3] == 0, "weight %g of nothing", sum[3]);
    const uint32_t *pixels = render_develop(r);
    for (int k = 1; k < WIDTH * HEIGHT; k++) {
        CHECK(pixels[k] == pixels[0], "pixel %d of nothing", k);
    }
    render_close(r);
}

/** Particles all over, some outside, some not finite. */
static void scatter(float *pos, float *value, int n)
{
    uint32_t state = 1;
    for (int k = 0; k < 3 * n; k++) {
        state = state * 1664525u + 1013904223u;
        pos[k] = (float)(state >> 8) / 0x1p24F * 120 - 12;
        value[k / 3] = (float)(state >> 16) / 65536;
    }
    pos[30] = NAN;
    pos[61] = INFINITY;
    pos[92] = -INFINITY;
    pos[120] = 3e38F;
}

static void test_threads(void)
{
    enum { N = 20000, LIGHT = WIDTH * HEIGHT * CHANNELS };
    static const kith_box box = {.row = {{96, 0, 0}, {0, 96, 0}, {0, 0, 96}}, .dim = 3};
    float *pos = check_malloc(3 * N * sizeof *pos), *value = check_malloc(N * sizeof *value);
    float *light = check_malloc(LIGHT * sizeof *light);
    uint32_t *pixels = check_malloc(WIDTH * HEIGHT * sizeof *pixels);
    scatter(pos, value, N);
    for (int valued = 0; valued < 2; valued++) {
        for (int threads = 1; threads <= 5; threads += threads) {
            struct kith__pool *pool = kith__pool_open(threads);
            render *r = render_open(WIDTH, HEIGHT, pool);
            render_scene scene = {.n = N, .pos = pos, .afterglow = 0.8F};
            scene.value = valued ? value : NULL;
            for (int frame = 0; frame < 2; frame++) {
                scene.camera = camera_look(&box, 7 * frame, WIDTH, HEIGHT);
                gather(r, &scene);
                const uint32_t *now = render_develop(r);
                if (threads == 1 && frame) {
                    memcpy(light, render_gathered(r), LIGHT * sizeof *light);
                    memcpy(pixels, now, WIDTH * HEIGHT * sizeof *pixels);
                } else if (frame) {
                    CHECK(!memcmp(light, render_gathered(r), LIGHT * sizeof *light) &&
                              !memcmp(pixels, now, WIDTH * HEIGHT * sizeof *pixels),
                          "%d threads give other bits", threads);
                }
            }
            render_close(r);
            kith__pool_close(pool);
        }
    }
    double sum = 0;
    for (int k = 0; k < LIGHT; k++) {
        sum += isfinite(light[k]) ? (double)light[k] : 1e9;
    }
    CHECK(sum > 100 && sum < 1e9, "light %g", sum);
    free(pos);
    free(value);
    free(light);
    free(pixels);
}

/** A callback of kith__pool_watch that stops after some calls. */
struct countdown {
    int calls; /* so far */
    int most;  /* before it stops */
};

static bool is_over(void *user)
{
    struct countdown *down = user;
    return ++down->calls > down->most;
}

/** Drawing ends soon after a stop, also where all particles are in one row of pixels. */
static void test_stop(void)
{
    enum { N = 20000, LATE = 20 };
    static const kith_box box = {.row = {{96, 0, 0}, {0, 96, 0}, {0, 0, 96}}, .dim = 3};
    float *pos = check_malloc(3 * N * sizeof *pos);
    for (int k = 0; k < 3 * N; k++) {
        pos[k] = 0;
    }
    float light[2];
    int calls = INT_MAX;
    for (int late = 0; late < 2; late++) {
        struct countdown down = {.most = late ? calls - LATE : INT_MAX};
        struct kith__pool *pool = kith__pool_open(1);
        kith__pool_watch(pool, is_over, &down);
        render *r = render_open(WIDTH, HEIGHT, pool);
        const render_scene scene = {
            .n = N, .pos = pos, .camera = camera_look(&box, 0, WIDTH, HEIGHT)};
        gather(r, &scene);
        light[late] = 0;
        for (int k = 0; k < WIDTH * HEIGHT * CHANNELS; k++) {
            light[late] += render_gathered(r)[k];
        }
        CHECK(late ? down.calls < down.most + 4 : down.calls > 2 * LATE, "%d calls of %d",
              down.calls, down.most);
        calls = down.calls;
        render_close(r);
        kith__pool_close(pool);
    }
    CHECK(light[1] > 0 && light[1] < 0.9F * light[0], "light %g and %g", (double)light[0],
          (double)light[1]);
    free(pos);
}

/** Where spots are many it is brighter. */
static void test_tones(void)
{
    enum { N = 111 };
    float pos[3 * N] = {0};
    render *r = render_open(WIDTH, HEIGHT, NULL);
    for (int k = 0; k < N; k++) { /* 1, 10 and 100 spots */
        pos[3 * k] = k < 1 ? 16.5F : k < 11 ? 48.5F : 80.5F;
        pos[3 * k + 1] = 32.5F;
    }
    const render_scene scene = {.n = N, .pos = pos, .camera = plain()};
    const uint32_t *pixels = render_develop(gather(r, &scene)) + 32 * WIDTH;
    const int red[] = {pixels[2] >> 16 & 255, pixels[16] >> 16 & 255, pixels[48] >> 16 & 255,
                       pixels[80] >> 16 & 255};
    CHECK(red[0] + 3 < red[1] && red[1] + 10 < red[2] && red[2] + 10 < red[3] && red[3] > 200,
          "red of nothing %d, of 1, 10, 100 spots %d, %d, %d", red[0], red[1], red[2], red[3]);
    render_close(r);
}

static void test_camera(void)
{
    static const kith_box boxes[] = {
        {.origin = {-5, 20, 3}, .row = {{10, 0, 0}, {0, 4, 0}, {0, 0, 6}}, .dim = 3},
        {.row = {{10, 0, 0}, {3, 9, 0}, {-2, 4, 12}}, .dim = 3},
        {.origin = {-5, 20, 0}, .row = {{10, 0, 0}, {0, 40, 0}}, .dim = 2}};
    for (int b = 0; b < 3; b++) {
        double low = 1e9, high = -1e9;
        for (int turn = 0; turn < 360; turn += 15) {
            const camera c = camera_look(&boxes[b], turn, 1920, 1080);
            for (int which = 0; which < 1 << boxes[b].dim; which++) {
                float r[3], seen[3];
                camera_corner(&boxes[b], which, r);
                camera_see(&c, r, seen);
                CHECK(seen[0] > 0 && seen[0] < 1920 && seen[1] > 0 && seen[1] < 1080,
                      "box %d at %d degrees: a corner at %g, %g", b, turn, (double)seen[0],
                      (double)seen[1]);
                low = fmin(low, (double)seen[1]);
                high = fmax(high, (double)seen[1]);
            }
        }
        CHECK(high - low > 0.85 * 1080, "box %d fills %g of 1080 pixels", b, high - low);
    }
    const camera c = camera_look(&boxes[2], 30, 1920, 1080);
    const float places[][5] = {{0, 40, 0, 960, 540},
                               {0, 50, 0, 960, 540 - 10 * 24.84F},
                               {5, 40, 0, 960 + 5 * 24.84F, 540}};
    for (int k = 0; k < 3; k++) {
        float seen[3];
        camera_see(&c, places[k], seen);
        CHECK(fabsf(seen[0] - places[k][3]) < 0.01F && fabsf(seen[1] - places[k][4]) < 0.01F,
              "place %d of a plane at %g, %g", k, (double)seen[0], (double)seen[1]);
    }
}

/** A particle and its periodic images are at one place, inside the stage. */
static void test_stage(void)
{
    const kith_box box = {.origin = {1, -2, 3},
                          .row = {{10, 0, 0}, {3, 9, 0}, {-2, 4, 12}},
                          .periodic = {1, 1, 1},
                          .dim = 3};
    double pos[3 * 27];
    float placed[3 * 27];
    for (int k = 0; k < 27; k++) {
        const double f[3] = {0.3 + k % 3 - 1, 0.9 + k / 3 % 3 - 1, 0.2 + k / 9 - 1};
        for (int a = 0; a < 3; a++) {
            pos[3 * k + a] = box.origin[a] + f[0] * box.row[0][a] + f[1] * box.row[1][a] +
                             f[2] * box.row[2][a];
        }
    }
    io_particles p = {.n = 27, .dim = 3, .precision = KITH_DOUBLE, .pos = pos};
    stage s = stage_of(&box, &p);
    stage_place(&s, &p, NULL, placed);
    for (int e = 0; e < 3 * 27; e++) {
        const int a = e % 3;
        const double expected = -0.2 * box.row[0][a] + 0.4 * box.row[1][a] - 0.3 * box.row[2][a];
        CHECK(fabs((double)placed[e] - expected) < 1e-5, "image %d: %g, expected %g", e / 3,
              (double)placed[e], expected);
    }
    const kith_box open = kith_box_open();
    s = stage_of(&open, &p);
    stage_place(&s, &p, NULL, placed);
    for (int e = 0; e < 3 * 27; e++) {
        CHECK(fabs(2 * (double)placed[e]) < s.box.row[e % 3][e % 3], "%d is off the stage", e / 3);
    }
}

int main(void)
{
    test_one_spot();
    test_afterglow();
    test_threads();
    test_stop();
    test_tones();
    test_camera();
    test_stage();
    return check_done();
}
