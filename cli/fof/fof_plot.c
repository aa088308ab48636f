/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The picture of `kith fof`: the density of matter, projected along z, with a circle for each halo;
 * beside it how many halos there are above each mass, and the largest of them.
 */
#include "pictures/density_map.h"
#include "pictures/drawing.h"
#include "fof.h"
#include "pictures/palette.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/** Size of the page, and longer side of the map [pixels]; most circles; halos in the table. */
enum { WIDTH = 1600, HEIGHT = 1000, PANEL = 860, MOST_CIRCLES = 2000, LISTED = 8 };

/** The picture being drawn. */
typedef struct picture {
    cairo_t *cr;                   /* context of cairo that draws on the page */
    const fof_task *task;          /* the options */
    const fof_outcome *found;      /* the results */
    io_unit_name units;            /* names of the units */
    char unit[IO_NAME_LENGTH + 1]; /* unit of length after a number: " kpc/h" */
    double low[2], size[2];        /* low corner and size of the region shown [length] */
    double side;                   /* the longer of the sizes [length] */
    bool wraps[2];                 /* the region is the whole of a periodic box along x, y */
    frame map;                     /* rectangle of the map on the page [pixels] */
    double mean, dark, bright; /* surface densities: the mean of the map; those of the darkest and
                                  the brightest colour [mean] */
    bool no_memory;            /* memory was exhausted */
} picture;

enum { BLOCK = 1 << 16 }; /* particles that are looked at together */

/** What is done with a block of particles.
 *  @param pos   [n][3] positions   @param mass  [n] masses; NULL: 1 each */
typedef void block_fn(void *user, const void *pos, const void *mass, int64_t n);

/** Pass all particles on, block by block: other ranks may hold a share of them.
 *  @return false: no memory, or a rank was lost */
static bool each_block(const picture *d, bool masses, block_fn *take, void *user)
{
    const io_catalogue *c = &d->found->catalogue;
    const int64_t all = io_catalogue_particles(c);
    void *pos = malloc(BLOCK * io_row_bytes(c->particles, IO_COLUMN_POSITIONS));
    void *mass = malloc(BLOCK * io_row_bytes(c->particles, IO_COLUMN_MASSES));
    bool done = pos && mass;
    for (int64_t first = 0; first < all && done; first += BLOCK) {
        const int64_t n = all - first < BLOCK ? all - first : BLOCK;
        done = io_catalogue_rows(c, IO_COLUMN_POSITIONS, first, n, pos) &&
               (!masses || io_catalogue_rows(c, IO_COLUMN_MASSES, first, n, mass));
        if (done) {
            take(user, pos, masses ? mass : NULL, n);
        }
    }
    free(mass);
    free(pos);
    return done;
}

/** The range of coordinates along x and y. */
struct range {
    kith_precision precision; /* of the positions */
    double low[2], high[2];   /* the range [length] */
};

/** block_fn: extend a struct range. */
static void extend(void *user, const void *pos, const void *mass, int64_t n)
{
    struct range *range = user;
    (void)mass;
    for (int64_t q = 0; q < n; q++) {
        for (int k = 0; k < 2; k++) {
            const double x = io_real(pos, 3 * q + k, range->precision);
            range->low[k] = fmin(range->low[k], x);
            range->high[k] = fmax(range->high[k], x);
        }
    }
}

/** Choose the region: the whole of an upright box, else all particles.
 *  @return false: no memory, or a rank was lost */
static bool choose_extent(picture *d)
{
    const kith_box *box = &d->found->space.box;
    const io_particles *p = &d->found->in.particles;
    const bool upright = box->row[0][1] == 0 && box->row[0][2] == 0 && box->row[1][0] == 0 &&
                         box->row[1][2] == 0 && box->row[2][0] == 0 && box->row[2][1] == 0;
    struct range range = {p->precision, {INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    d->wraps[0] = upright && box->periodic[0];
    d->wraps[1] = upright && box->periodic[1];
    if (!(d->wraps[0] && d->wraps[1]) && !each_block(d, false, extend, &range)) {
        return false;
    }
    for (int k = 0; k < 2; k++) {
        const double low = range.low[k], high = range.high[k];
        const double edge = high > low ? 0.01 * (high - low) : 0.5;
        d->low[k] = d->wraps[k] ? box->origin[k] : p->all ? low - edge : 0;
        d->size[k] = d->wraps[k] ? box->row[k][k] : p->all ? high - low + 2 * edge : 1;
    }
    d->side = fmax(d->size[0], d->size[1]);
    d->map = (frame){40, 100, PANEL * d->size[0] / d->side, PANEL * d->size[1] / d->side};
    return true;
}

/** Position along an axis, in units of the side. */
static double placed(const picture *d, double x, int axis)
{
    const double at = x - d->low[axis];
    const double boxes = d->wraps[axis] ? floor(at / d->size[axis]) : 0;
    return (at - boxes * d->size[axis]) / d->side;
}

/** A map that is being made, and scratch. */
struct mapping {
    const picture *d;     /* the picture */
    density_map *map;     /* the map */
    bool adds;            /* particles are added; else they are counted */
    float uv[2 * BLOCK];  /* coordinates of a block */
    float weights[BLOCK]; /* weights of a block */
};

/** block_fn: count the particles of a block, or add them. @param user  a struct mapping */
static void map_block(void *user, const void *pos, const void *mass, int64_t n)
{
    struct mapping *m = user;
    const kith_precision precision = m->d->found->in.particles.precision;
    for (int64_t k = 0; k < n; k++) {
        for (int axis = 0; axis < 2; axis++) {
            m->uv[2 * k + axis] = (float)placed(m->d, io_real(pos, 3 * k + axis, precision), axis);
        }
        m->weights[k] = mass ? (float)io_real(mass, k, precision) : 1;
    }
    if (m->adds) {
        density_map_add(m->map, m->uv, m->weights, n);
    } else {
        density_map_count(m->map, m->uv, n);
    }
}

/** Compute the map of surface density, [MAP_SIDE][MAP_SIDE], to be freed (pictures/density_map.h).
 *  NULL without memory, or where a rank was lost. */
static float *make_map(const picture *d)
{
    const bool whole = d->wraps[0] && d->wraps[1] && d->size[0] == d->size[1];
    struct mapping *m = malloc(sizeof *m);
    float *map = NULL;
    if (m) {
        m->d = d;
        m->adds = false;
        m->map = density_map_begin(whole);
        bool done = m->map && each_block(d, false, map_block, m);
        m->adds = true;
        done = done && each_block(d, d->found->masses != NULL, map_block, m);
        map = m->map ? density_map_end(m->map) : NULL;
        if (!done) {
            free(map);
            map = NULL;
        }
    }
    free(m);
    return map;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Choose the densities of the darkest and the brightest colour: 5 % of the pixels that are not
 *  empty are darker, 0.05 % brighter. One pixel of STEP^2 is sampled. */
static void choose_tones(picture *d, const float *map)
{
    enum { STEP = 4, MOST = MAP_SIDE / STEP * MAP_SIDE / STEP };
    const int columns = (int)(MAP_SIDE * d->size[0] / d->side);
    const int rows = (int)(MAP_SIDE * d->size[1] / d->side);
    double *some = malloc(MOST * sizeof *some), sum = 0;
    int n = 0, all = 0;
    d->no_memory = d->no_memory || !some;
    d->mean = d->dark = d->bright = 1;
    for (int j = 0; j < rows && some; j += STEP) {
        for (int i = 0; i < columns; i += STEP) {
            const double value = (double)map[j * MAP_SIDE + i];
            sum += value;
            all++;
            if (value > 0) {
                some[n++] = value;
            }
        }
    }
    if (n > 0) {
        qsort(some, (size_t)n, sizeof *some, by_value);
        d->mean = sum / all;
        d->dark = fmax(some[n / 20] / d->mean, 1e-3);
        d->bright = fmax(some[(int64_t)n * 9995 / 10000] / d->mean, 10 * d->dark);
    }
    free(some);
}

/** Draw the map: the logarithm of the density in colours. */
static void draw_map(const picture *d, const float *map)
{
    cairo_t *cr = d->cr;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, MAP_SIDE, MAP_SIDE);
    if (cairo_surface_status(image) == CAIRO_STATUS_SUCCESS) {
        unsigned char *data = cairo_image_surface_get_data(image);
        const int stride = cairo_image_surface_get_stride(image);
        for (int j = 0; j < MAP_SIDE; j++) { /* y runs up */
            uint32_t *row = (uint32_t *)(void *)(data + (ptrdiff_t)(MAP_SIDE - 1 - j) * stride);
            for (int i = 0; i < MAP_SIDE; i++) {
                const double value = fmax((double)map[j * MAP_SIDE + i] / d->mean, 1e-30);
                row[i] = palette_colour(PALETTE_RISING,
                                        log(value / d->dark) / log(d->bright / d->dark));
            }
        }
        cairo_surface_mark_dirty(image);
    }
    cairo_save(cr);
    cairo_rectangle(cr, d->map.x, d->map.y, d->map.width, d->map.height);
    cairo_clip(cr);
    cairo_translate(cr, d->map.x, d->map.y + d->map.height - PANEL);
    cairo_scale(cr, (double)PANEL / MAP_SIDE, (double)PANEL / MAP_SIDE);
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_GOOD);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(image);
}

/** Index of the spherical overdensity that circles show; -1: none was measured. */
static int shown_sphere(const picture *d)
{
    const bool *measured = d->found->catalogue.sphere;
    return measured[IO_SPHERE_VIRIAL] ? IO_SPHERE_VIRIAL
           : measured[IO_SPHERE_200M] ? IO_SPHERE_200M
                                      : -1;
}

/** Return the radius of the circle of a halo [length]. */
static double shown_radius(const picture *d, const kith_halo *halo)
{
    const int sphere = shown_sphere(d);
    const bool has = sphere >= 0 && halo->sphere_radius[sphere] > 0;
    return has ? halo->sphere_radius[sphere] : 2 * halo->radius_rms;
}

/** Draw a circle for each of the largest halos, and for its images where the map is periodic. */
static void draw_circles(const picture *d)
{
    const kith_halos *halos = &d->found->halos;
    const double least = 1.5; /* pixels: smaller circles are not visible */
    cairo_t *cr = d->cr;
    cairo_save(cr);
    cairo_rectangle(cr, d->map.x, d->map.y, d->map.width, d->map.height);
    cairo_clip(cr);
    for (int64_t h = 0; h < halos->n && h < MOST_CIRCLES; h++) {
        const kith_halo *halo = &halos->halo[h];
        const double r = fmax(shown_radius(d, halo) / d->side * PANEL, least);
        const double u = placed(d, halo->centre[0], 0), v = placed(d, halo->centre[1], 1);
        for (int image = 0; image < 9; image++) {
            const int sx = image % 3 - 1, sy = image / 3 - 1;
            if ((sx && !d->wraps[0]) || (sy && !d->wraps[1])) {
                continue;
            }
            const double x = d->map.x + (u + sx * d->size[0] / d->side) * PANEL;
            const double y = d->map.y + d->map.height - (v + sy * d->size[1] / d->side) * PANEL;
            cairo_new_sub_path(cr);
            cairo_arc(cr, x, y, r, 0, 2 * M_PI);
        }
        cairo_set_source_rgba(cr, 0, 0, 0, 0.35); /* visible on a bright ground */
        cairo_set_line_width(cr, r > 6 ? 3 : 2);
        cairo_stroke_preserve(cr);
        cairo_set_source_rgba(cr, 1, 1, 1, r > 6 ? 0.9 : 0.55);
        cairo_set_line_width(cr, r > 6 ? 1.4 : 0.9);
        cairo_stroke(cr);
    }
    cairo_restore(cr);
}

static void draw_colour_bar(const picture *d)
{
    cairo_t *cr = d->cr;
    const double x = d->map.x + d->map.width + 14, width = 16;
    const double top = d->map.y, bottom = d->map.y + d->map.height;
    for (int k = 0; k < (int)(bottom - top); k++) {
        const uint32_t c = palette_colour(PALETTE_RISING, 1 - k / (bottom - top));
        cairo_set_source_rgb(cr, (c >> 16 & 255) / 255.0, (c >> 8 & 255) / 255.0,
                             (c & 255) / 255.0);
        cairo_rectangle(cr, x, top + k, width, 1.5);
        cairo_fill(cr);
    }
    const log_axis axis = {d->dark, d->bright, bottom, top - bottom};
    draw_faint(cr);
    for (int power = (int)ceil(log10(d->dark)); power <= (int)floor(log10(d->bright)); power++) {
        const double y = draw_along(&axis, pow(10, power));
        cairo_rectangle(cr, x + width, y - 0.5, 5, 1);
        cairo_fill(cr);
        draw_power(cr, x + width + 9, y + 5, 15, ANCHOR_LEFT, power);
    }
    cairo_save(cr);
    cairo_translate(cr, x + width + 52, (top + bottom) / 2);
    cairo_rotate(cr, -M_PI / 2);
    draw_text(cr, 0, 0, 16, ANCHOR_MIDDLE, "surface density / mean");
    cairo_restore(cr);
}

static void draw_title(const picture *d)
{
    const fof_outcome *found = d->found;
    const int64_t n = found->in.particles.all;
    const char *slash = strrchr(d->task->input, '/');
    char text[512];
    snprintf(text, sizeof text, "%s halo%s in %.300s", report_count(found->groups.n).s,
             found->groups.n == 1 ? "" : "s", report_text(slash ? slash + 1 : d->task->input).s);
    draw_ink(d->cr);
    draw_text_bold(d->cr, d->map.x, 50, 30, ANCHOR_LEFT, text);
    int used = 0;
    if (found->spacing != SPACING_AUTO) {
        used = snprintf(text, sizeof text, "friends-of-friends with b = %s, ",
                        report_real(d->task->b).s);
    } else {
        used = snprintf(text, sizeof text, "friends-of-friends, ");
    }
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "linking length %.4g%s · %s members and more · %.3g %% of %s particles",
                     found->length, d->unit, report_count(d->task->min_members).s,
                     n ? 100 * (double)found->grouped / (double)n : 0.0, report_count(n).s);
    if (found->velocity_length > 0) {
        used += snprintf(text + used, sizeof text - (size_t)used, " · in velocity %.4g",
                         found->velocity_length);
    }
    if (d->task->min_links > 0) {
        used += snprintf(text + used, sizeof text - (size_t)used, " · %s links and more",
                         report_count(d->task->min_links).s);
    }
    if (found->cosmology.known) {
        snprintf(text + used, sizeof text - (size_t)used, " · redshift %.3g",
                 found->cosmology.redshift);
    }
    draw_faint(d->cr);
    draw_text(d->cr, d->map.x, 82, 18, ANCHOR_LEFT, text);
    static const char *const circles[] = {
        [IO_SPHERE_VIRIAL] = "circles: virial radius", [IO_SPHERE_200M] = "circles: R200m"};
    const int sphere = shown_sphere(d);
    draw_text(d->cr, d->map.x, d->map.y + d->map.height + 26, 16, ANCHOR_LEFT,
              sphere >= 0 ? circles[sphere] : "circles: twice the rms radius");
}

/** Draw the ticks of a logarithmic axis. @param up  the axis is vertical */
static void draw_axis(const picture *d, const log_axis *axis, const frame *f, bool up)
{
    cairo_t *cr = d->cr;
    const int first = (int)floor(log10(axis->from)), last = (int)ceil(log10(axis->to));
    const bool short_axis = axis->to < 20 * axis->from;
    for (int power = first; power <= last; power++) {
        for (int digit = 1; digit < 10; digit++) {
            const double value = digit * pow(10, power), at = draw_along(axis, value);
            if (value < axis->from * 0.999 || value > axis->to * 1.001) {
                continue;
            }
            const double length = digit == 1 ? 9 : 4;
            draw_faint(cr);
            if (up) {
                cairo_rectangle(cr, f->x, at - 0.5, length, 1);
            } else {
                cairo_rectangle(cr, at - 0.5, f->y + f->height - length, 1, length);
            }
            cairo_fill(cr);
            draw_ink(cr);
            const double x = up ? f->x - 8 : at, y = up ? at + 6 : f->y + f->height + 24;
            if (digit == 1) {
                draw_power(cr, x, y, 16, up ? ANCHOR_RIGHT : ANCHOR_MIDDLE, power);
            } else if (short_axis && (digit == 2 || digit == 5)) {
                draw_text(cr, x, y, 16, up ? ANCHOR_RIGHT : ANCHOR_MIDDLE, report_real(value).s);
            }
        }
    }
}

/** Draw the number of halos above each size. @param sizes  [n] ascending */
static void draw_steps(const picture *d, const double *sizes, int64_t n, const log_axis *x,
                       const log_axis *y)
{
    cairo_t *cr = d->cr;
    cairo_set_source_rgb(cr, 254 / 255.0, 159 / 255.0, 109 / 255.0);
    cairo_set_line_width(cr, 2.5);
    for (int64_t k = n - 1; k >= 0; k--) { /* sizes rise: n - k halos have sizes[k] and more */
        const double at = draw_along(x, sizes[k]);
        if (k == n - 1) {
            cairo_move_to(cr, at, y->begin);
        }
        cairo_line_to(cr, at, draw_along(y, (double)(n - k)));
        if (k > 0) {
            cairo_line_to(cr, draw_along(x, sizes[k - 1]), draw_along(y, (double)(n - k)));
        }
    }
    cairo_stroke(cr);
}

/** Plot the number of halos above each mass. */
static void draw_mass_function(picture *d, const frame *f)
{
    const kith_halos *halos = &d->found->halos;
    cairo_t *cr = d->cr;
    char text[IO_NAME_LENGTH + 32] = "members N";
    double *sizes = malloc(((size_t)halos->n + 1) * sizeof *sizes);
    d->no_memory = d->no_memory || !sizes;
    draw_faint(cr);
    cairo_set_line_width(cr, 1);
    cairo_rectangle(cr, f->x, f->y, f->width, f->height);
    cairo_stroke(cr);
    if (sizes && halos->n > 0) {
        for (int64_t h = 0; h < halos->n; h++) {
            const kith_halo *halo = &halos->halo[h];
            sizes[h] = d->found->masses ? halo->mass : (double)halo->members;
        }
        qsort(sizes, (size_t)halos->n, sizeof *sizes, by_value);
        const log_axis x = {sizes[0] / 1.3, sizes[halos->n - 1] * 1.6, f->x, f->width};
        const log_axis y = {0.7, 2 * (double)halos->n, f->y + f->height, -f->height};
        draw_axis(d, &x, f, false);
        draw_axis(d, &y, f, true);
        draw_steps(d, sizes, halos->n, &x, &y);
    }
    free(sizes);
    if (d->found->masses) {
        snprintf(text, sizeof text, *d->units.mass ? "mass M [%s]" : "mass M%s", d->units.mass);
    }
    draw_ink(cr);
    draw_text(cr, f->x + f->width / 2, f->y + f->height + 54, 17, ANCHOR_MIDDLE, text);
    cairo_save(cr);
    cairo_translate(cr, f->x - 54, f->y + f->height / 2);
    cairo_rotate(cr, -M_PI / 2);
    draw_text(cr, 0, 0, 17, ANCHOR_MIDDLE, d->found->masses ? "halos above M" : "halos above N");
    cairo_restore(cr);
}

/** List the largest halos. */
static void draw_table(const picture *d, const frame *f)
{
    const kith_halos *halos = &d->found->halos;
    const int sphere = shown_sphere(d);
    const bool masses = d->found->masses != NULL;
    cairo_t *cr = d->cr;
    char text[64];
    draw_faint(cr);
    draw_text(cr, f->x + 0.07 * f->width, f->y, 16, ANCHOR_RIGHT, "halo");
    draw_text(cr, f->x + 0.33 * f->width, f->y, 16, ANCHOR_RIGHT, "members");
    draw_text(cr, f->x + 0.64 * f->width, f->y, 16, ANCHOR_RIGHT, masses ? "mass" : "");
    draw_text(cr, f->x + f->width, f->y, 16, ANCHOR_RIGHT,
              sphere == IO_SPHERE_VIRIAL ? "virial radius"
              : sphere >= 0              ? "R200m"
                                         : "rms radius");
    for (int64_t h = 0; h < halos->n && h < LISTED; h++) {
        const kith_halo *halo = &halos->halo[h];
        const double y = f->y + 30 * (double)(h + 1);
        draw_ink(cr);
        snprintf(text, sizeof text, "%d", (int)h + 1);
        draw_text(cr, f->x + 0.07 * f->width, y, 17, ANCHOR_RIGHT, text);
        draw_text(cr, f->x + 0.33 * f->width, y, 17, ANCHOR_RIGHT, report_count(halo->members).s);
        if (masses) {
            snprintf(text, sizeof text, "%.5g", halo->mass);
            draw_text(cr, f->x + 0.64 * f->width, y, 17, ANCHOR_RIGHT, text);
        }
        snprintf(text, sizeof text, "%.4g%.40s",
                 sphere >= 0 ? halo->sphere_radius[sphere] : halo->radius_rms, d->unit);
        draw_text(cr, f->x + f->width, y, 17, ANCHOR_RIGHT, text);
    }
}

/** Draw the page. @return false without memory */
static bool draw_all(picture *d, const float *map)
{
    draw_background(d->cr, WIDTH, HEIGHT);
    choose_tones(d, map);
    draw_map(d, map);
    draw_circles(d);
    draw_scale_bar(d->cr, d->map.x + 24, d->map.y + d->map.height - 28, 1, ANCHOR_LEFT,
                   PANEL / d->side, d->size[0] / 5, d->unit);
    draw_colour_bar(d);
    draw_title(d);
    draw_mass_function(d, &(frame){1100, 100, 460, 500});
    draw_table(d, &(frame){1050, 714, 510, 0});
    return !d->no_memory && cairo_status(d->cr) == CAIRO_STATUS_SUCCESS;
}

static int draw_page(picture *d, const char *path)
{
    cairo_surface_t *page = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
    d->cr = cairo_create(page);
    float *map = choose_extent(d) ? make_map(d) : NULL;
    int status = STATUS_OK;
    if (map && draw_all(d, map)) {
        status = draw_save(page, path);
    } else if (d->found->rows.status != KITH_OK) {
        status = ranks_status(d->found->ranks, d->found->ctx, d->found->rows.status, path);
    } else {
        status = report_error(STATUS_NO_MEMORY, NULL, "%s: no memory to draw with", path);
    }
    free(map);
    cairo_destroy(d->cr);
    cairo_surface_destroy(page);
    return status;
}

int fof_plot(const fof_task *task, const fof_outcome *found)
{
    const size_t length = strlen(task->plot);
    if (length < 4 || strcasecmp(task->plot + length - 4, ".png") != 0) {
        return report_error(STATUS_INVALID, NULL,
                            "%s: no known format of pictures has this ending; expected .png",
                            task->plot);
    }
    picture d = {.task = task, .found = found};
    io_unit_names(&found->in.particles.units, &d.units);
    snprintf(d.unit, sizeof d.unit, *d.units.length ? " %s" : "%s", d.units.length);
    return draw_page(&d, task->plot);
}
