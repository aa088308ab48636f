/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words and lines on a frame, by cairo.
 */
#include "pictures/drawing.h"
#include "film_internal.h"

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

void overlay_draw(uint32_t *pixels, int width, int height, const picture *shown, const camera *c)
{
    const double unit = height / 1080.0, size = 22 * unit, edge = 40 * unit;
    cairo_surface_t *page = cairo_image_surface_create_for_data(
        (unsigned char *)pixels, CAIRO_FORMAT_RGB24, width, height, width * (int)sizeof *pixels);
    cairo_t *cr = cairo_create(page);
    draw_edges(cr, &shown->stage, c, unit);
    if (size >= 8) {
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
