/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text, lines and obstacles on a frame, by cairo. Obstacles are blended by the operator SCREEN,
 * 1 - (1 - obstacle) (1 - light), so that particles in front of them stay bright; particles behind
 * spheres are not in the picture (things_hide). `unit` scales lengths with the height of a frame:
 * it is 1 pixel at 1080.
 */
#include "pictures/drawing.h"
#include "film_internal.h"

#include <math.h>

/** Move to the projection of a corner of the box.
 *  @param which  see camera_corner   @param line  draw a line to it */
static void move_to_corner(cairo_t *cr, const stage *s, const camera *c, int which, bool line)
{
    float r[3], seen[3];
    camera_corner(&s->box, which, r);
    camera_see(c, r, seen);
    (line ? cairo_line_to : cairo_move_to)(cr, (double)seen[0], (double)seen[1]);
}

/** Draw the edges of the box: each joins two corners that differ along one side. */
static void draw_edges(cairo_t *cr, const stage *s, const camera *c, double unit)
{
    for (int which = 0; which < 1 << s->box.dim; which++) {
        for (int k = 0; k < s->box.dim; k++) {
            if (!(which >> k & 1)) {
                move_to_corner(cr, s, c, which, false);
                move_to_corner(cr, s, c, which | 1 << k, true);
            }
        }
    }
    cairo_set_source_rgba(cr, 0.75, 0.78, 0.9, 0.20);
    cairo_set_line_width(cr, 1.2 * unit);
    cairo_stroke(cr);
}

/** Draw a sphere: dim in its middle, bright at its rim. */
static void draw_sphere(cairo_t *cr, const film_sphere *sphere, const camera *c)
{
    float seen[3];
    camera_see(c, sphere->centre, seen);
    const double x = (double)seen[0], y = (double)seen[1];
    const double radius = (double)(sphere->radius * c->scale * seen[2]);
    if (radius > 0) {
        cairo_pattern_t *light = cairo_pattern_create_radial(x - 0.3 * radius, y - 0.4 * radius, 0,
                                                             x, y, radius);
        cairo_pattern_add_color_stop_rgb(light, 0, 0.26, 0.30, 0.44);
        cairo_pattern_add_color_stop_rgb(light, 0.8, 0.13, 0.15, 0.24);
        cairo_pattern_add_color_stop_rgb(light, 1, 0.34, 0.40, 0.60);
        cairo_set_source(cr, light);
        cairo_arc(cr, x, y, radius, 0, 2 * M_PI);
        cairo_fill(cr);
        cairo_pattern_destroy(light);
    }
}

/** Draw a wall: its section with the box, a filled polygon, in 2-D a line. */
static void draw_wall(cairo_t *cr, const stage *s, const kith_flock_thing *wall, const camera *c,
                      double unit)
{
    float corner[FILM_CORNERS][3];
    const int n = things_wall(s, wall, corner);
    for (int k = 0; k < n; k++) {
        float seen[3];
        camera_see(c, corner[k], seen);
        cairo_line_to(cr, (double)seen[0], (double)seen[1]);
    }
    cairo_close_path(cr);
    cairo_set_source_rgb(cr, 0.10, 0.12, 0.18);
    cairo_fill_preserve(cr);
    cairo_set_source_rgb(cr, 0.34, 0.40, 0.60);
    cairo_set_line_width(cr, (n == 2 ? 4 : 1.5) * unit);
    cairo_stroke(cr);
}

/** Draw a point or a predator: a diamond, green for a point that attracts, orange for a point that
 *  repels or a predator, around which a circle shows its reach. */
static void draw_mark(cairo_t *cr, const kith_flock_thing *thing, const camera *c, double unit)
{
    const float r[3] = {(float)thing->place[0], (float)thing->place[1], (float)thing->place[2]};
    const bool draws = thing->kind == KITH_POINT && thing->weight >= 0;
    float seen[3];
    camera_see(c, r, seen);
    const double x = (double)seen[0], y = (double)seen[1], size = 9 * unit * (double)seen[2];
    cairo_set_source_rgb(cr, draws ? 0.35 : 1, draws ? 1 : 0.5, draws ? 0.65 : 0.2);
    cairo_move_to(cr, x, y - size);
    cairo_line_to(cr, x + 0.7 * size, y);
    cairo_line_to(cr, x, y + size);
    cairo_line_to(cr, x - 0.7 * size, y);
    cairo_fill(cr);
    if (thing->kind == KITH_PREDATOR && thing->reach > 0) {
        cairo_set_source_rgb(cr, 0.35, 0.18, 0.08);
        cairo_set_line_width(cr, 1.5 * unit);
        cairo_arc(cr, x, y, thing->reach * (double)(c->scale * seen[2]), 0, 2 * M_PI);
        cairo_stroke(cr);
    }
}

/** Draw all things of a frame: spheres with their images, walls and marks. */
static void draw_things(cairo_t *cr, const picture *shown, const camera *c, double unit)
{
    film_sphere sphere[FILM_SPHERES];
    const int spheres = things_spheres(shown, sphere);
    cairo_set_operator(cr, CAIRO_OPERATOR_SCREEN);
    for (int k = 0; k < spheres; k++) {
        draw_sphere(cr, &sphere[k], c);
    }
    for (int64_t t = 0; t < shown->n_things; t++) {
        const kith_flock_thing *thing = &shown->things[t];
        if (thing->kind == KITH_WALL) {
            draw_wall(cr, &shown->stage, thing, c, unit);
        } else if (thing->kind != KITH_SPHERE) {
            draw_mark(cr, thing, c, unit);
        }
    }
    cairo_set_operator(cr, CAIRO_OPERATOR_OVER);
}

void overlay_draw(uint32_t *pixels, int width, int height, const picture *shown, const camera *c)
{
    const double unit = height / 1080.0, size = 22 * unit, edge = 40 * unit;
    cairo_surface_t *page = cairo_image_surface_create_for_data(
        (unsigned char *)pixels, CAIRO_FORMAT_RGB24, width, height, width * (int)sizeof *pixels);
    cairo_t *cr = cairo_create(page);
    draw_edges(cr, &shown->stage, c, unit);
    draw_things(cr, shown, c, unit);
    if (size >= 8) { /* smaller text is illegible */
        draw_faint(cr);
        draw_text(cr, edge, height - edge, size, ANCHOR_LEFT, shown->caption);
        if (shown->stage.box.dim == 2) {
            draw_scale_bar(cr, width - edge, height - edge, unit, ANCHOR_RIGHT, (double)c->scale,
                           shown->stage.box.row[0][0] / 5, "");
        }
    }
    cairo_destroy(cr);
    cairo_surface_destroy(page);
}
