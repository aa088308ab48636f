/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of points hold what they say: positions, colours, and a choice that never changes.
 */
#include "check.h"
#include "web.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4000, HEAD = WEB_POINTS_HEAD };

static double pick(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24);
}

static void check_choice(int64_t n, int64_t most)
{
    web_choice choice = {0}, fewer = {0};
    unsigned char *seen = check_malloc((size_t)n + 1);
    memset(seen, 0, (size_t)n + 1);
    CHECK(web_choose(&choice, n, most) && choice.n == (n < most ? n : most), "n %lld",
          (long long)choice.n);
    double sum = 0;
    for (int64_t k = 0; k < choice.n; k++) {
        const int32_t p = choice.index[k];
        if (CHECK(p >= 0 && p < n && !seen[p], "%lld: %d is wrong or twice", (long long)k, p)) {
            seen[p] = 1;
        }
        sum += p;
    }
    CHECK(web_choose(&fewer, n, most / 3 + 1), "no choice");
    CHECK(memcmp(fewer.index, choice.index, (size_t)fewer.n * sizeof *fewer.index) == 0,
          "a smaller choice is not the beginning of a larger one");
    if (choice.n >= 1000) {
        const double expected = (double)(n - 1) / 2, sd = (double)n / sqrt(12.0 * (double)choice.n);
        CHECK(fabs(sum / (double)choice.n - expected) < 5 * sd, "mean index %g, expected %g",
              sum / (double)choice.n, expected);
    }
    web_choice_free(&choice);
    web_choice_free(&fewer);
    free(seen);
}

static void fill(float *r, float *v, int32_t *labels, uint16_t *shades)
{
    unsigned state = 7;
    for (int k = 0; k < 3 * N; k++) {
        r[k] = (float)(12 * pick(&state) - 3); /* some outside the box */
        v[k] = (float)(2 * pick(&state) - 1);
        labels[k / 3] = k % 7 == 0 ? 0 : k / 3 + 65530;
        shades[k / 3] = (uint16_t)(65535 * pick(&state));
    }
    memset(v, 0, 3 * sizeof *v); /* particle 0 stands still; 1 to 4 fly down */
    for (int p = 1; p <= 4; p++) {
        v[3 * p] = p & 1 ? 1e-9F : -1e-9F;
        v[3 * p + 1] = p & 2 ? 1e-9F : -1e-9F;
        v[3 * p + 2] = -1;
    }
}

/** The unit vector that a colour of headings stands for. */
static void unfold(unsigned colour, double d[3])
{
    const double x = (colour & 255) / 127.5 - 1, y = (colour >> 8) / 127.5 - 1;
    d[0] = x;
    d[1] = y;
    d[2] = 1 - fabs(x) - fabs(y);
    if (d[2] < 0) {
        d[0] = copysign(1 - fabs(y), x);
        d[1] = copysign(1 - fabs(x), y);
    }
    const double size = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (int k = 0; k < 3; k++) {
        d[k] /= size;
    }
}

static void check_direction(const web_scene *scene, int32_t p, unsigned direction)
{
    const float *v = (const float *)scene->velocities + 3 * p;
    const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double d[3];
    unfold(direction, d);
    if (CHECK((direction > 0) == (speed > 0), "speed %g: direction %u", speed, direction) &&
        speed > 0) {
        const double along = (d[0] * v[0] + d[1] * v[1] + d[2] * v[2]) / speed;
        CHECK(along > 0.9995, "direction off by %g", acos(along));
    }
}

static void check_colour(const web_scene *scene, int32_t p, unsigned colour)
{
    const float *v = (const float *)scene->velocities + 3 * p;
    const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (scene->colour == WEB_GROUP) {
        const unsigned label = (unsigned)scene->labels[p];
        CHECK(colour == (label == 0 ? 0 : 1 + (label - 1) % 65535), "label %u: %u", label, colour);
    } else if (scene->colour == WEB_SPEED) {
        const double t = 65535 * (speed - scene->range[0]) / (scene->range[1] - scene->range[0]);
        const double expected = fmin(fmax(t, 0), 65535);
        CHECK(fabs(colour - expected) <= 1, "speed %g: %u, expected %g", speed, colour, expected);
    } else if (scene->colour == WEB_HEADING) {
        check_direction(scene, p, colour);
    } else if (scene->colour != WEB_PLAIN) {
        CHECK(colour == scene->shades[p], "shade %u: %u", scene->shades[p], colour);
    }
}

/** Positions, by fractions of the rows: brute force through the rows themselves. */
static void check_points(web_server *server, const web_scene *scene, int64_t shown)
{
    web_choice choice = {0};
    CHECK(web_choose(&choice, scene->n, N), "no choice");
    web_blob *blob = web_points(server, scene, &choice, shown);
    const bool body = scene->colour != WEB_PLAIN && scene->colour != WEB_HEADING;
    const size_t item = scene->precise ? WEB_MANY_BYTES : body ? WEB_BODY_BYTES : WEB_FEW_BYTES;
    if (!CHECK(blob && blob->size == HEAD + item * (size_t)shown, "no blob, or of wrong size")) {
        return;
    }
    const kith_box *box = &scene->box;
    for (int64_t k = 0; k < shown; k++) {
        const unsigned char *at = blob->data + HEAD + item * (size_t)k;
        const float *r = (const float *)scene->positions + 3 * choice.index[k];
        uint16_t few[4];
        float many[3] = {0};
        memcpy(few, at, sizeof few);
        memcpy(many, at, scene->precise ? sizeof many : 0);
        double f[3], steps[3], x[3] = {box->origin[0], box->origin[1], box->origin[2]};
        for (int a = 0; a < box->dim; a++) {
            f[a] = scene->precise ? (double)many[a] : (few[a] + 0.5) / 65536;
            for (int e = 0; e < 3; e++) {
                x[e] += f[a] * box->row[a][e];
            }
        }
        /* Back along z, y, x: what is left is whole boxes along periodic axes, and little else. */
        for (int a = box->dim - 1; a >= 0; a--) {
            steps[a] = box->periodic[a] ? round((r[a] - x[a]) / box->row[a][a]) : 0;
            for (int e = 0; e <= a; e++) {
                x[e] += steps[a] * box->row[a][e];
            }
        }
        for (int e = 0; e < box->dim; e++) {
            CHECK(fabs(r[e] - x[e]) < (scene->precise ? 3e-6 : 1.2 / 65536) * 20,
                  "point %lld axis %d: %g, expected %g", (long long)k, e, x[e], (double)r[e]);
        }
        memcpy(few, at + (scene->precise ? 12 : 6), 2);
        check_colour(scene, choice.index[k], few[0]);
        uint32_t place;
        memcpy(&place, blob->data + 104, sizeof place);
        const bool directed = scene->precise || scene->colour != WEB_PLAIN;
        if (CHECK((place > 0) == directed && place < item, "directions at %u", place) && directed) {
            memcpy(few, at + place, 2);
            check_direction(scene, choice.index[k], few[0]);
        }
    }
    web_publish(server, WEB_POINTS, blob);
    web_choice_free(&choice);
}

int main(void)
{
    const int64_t sizes[][2] = {{1, 1}, {2, 5}, {1000, 1000}, {4097, 300}, {100000, 20000}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check_choice(sizes[k][0], sizes[k][1]);
    }
    float *r = check_malloc(3 * N * sizeof *r), *v = check_malloc(3 * N * sizeof *v);
    int32_t *labels = check_malloc(N * sizeof *labels);
    uint16_t *shades = check_malloc(N * sizeof *shades);
    fill(r, v, labels, shades);
    web_server *server = NULL;
    char error[256];
    const web_options options = {0};
    if (!CHECK(web_open(&options, &server, error, sizeof error), "%s", error)) {
        return check_done();
    }
    for (int c = WEB_PLAIN; c < WEB_COLOURS; c++) {
        for (int kind = 0; kind < 4; kind++) {
            web_scene scene = {.n = N,
                               .precision = KITH_FLOAT,
                               .positions = r,
                               .velocities = v,
                               .labels = labels,
                               .shades = shades,
                               .range = {0.2, 1.1},
                               .colour = (web_colour)c,
                               .precise = kind == 3};
            scene.box = kind == 0 ? kith_box_open() : kith_box_triclinic(5, 6, 7, 1, -2, 2.5);
            scene.box.dim = kind == 2 ? 2 : 3;
            scene.box.periodic[2] = kind == 0 || kind == 2 ? 0 : 1;
            web_enclose(&scene.box, &scene);
            check_points(server, &scene, c == WEB_PLAIN ? N : N / 3);
        }
    }
    web_close(server);
    free(r);
    free(v);
    free(labels);
    free(shades);
    return check_done();
}
