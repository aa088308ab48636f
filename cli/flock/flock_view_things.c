/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Obstacles and attractors of a flock in the live view: viewers see, add, drag and remove them.
 */
#include "flock_view.h"

#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void flock_view_send_things(flock_view *view, const flock_run *run)
{
    kith_flock_thing now[KITH_MOST_THINGS];
    const int64_t n = flock_things_now(view->task, run, now);
    json_t *list = viewer_things(now, n);
    if (json_equal(list, view->things)) {
        json_decref(list);
        return;
    }
    json_decref(view->things);
    view->things = list;
    web_publish_json(view->server, WEB_THINGS,
                     json_pack("{s:I, s:i, s:O}", "step", (json_int_t)run->step, "most",
                               (int)KITH_MOST_THINGS, "things", list));
}

/** Read three numbers. @return false: they are none */
static bool read_vector(const json_t *list, double out[3])
{
    bool fine = json_array_size(list) == 3;
    for (size_t k = 0; k < 3 && fine; k++) {
        const json_t *x = json_array_get(list, k);
        fine = json_is_number(x) && isfinite(json_number_value(x));
        out[k] = fine ? json_number_value(x) : 0;
    }
    return fine;
}

/** Bring a place into the box along the axes that bound it. Skewed boxes: it stays. */
static void confine(const kith_box *box, double place[3])
{
    for (int k = 0; k < box->dim && space_is_upright(box); k++) {
        const double side = box->row[k][k];
        if (side > 0) {
            place[k] = fmin(fmax(place[k], box->origin[k]), box->origin[k] + side);
        }
    }
    place[2] = box->dim == 3 ? place[2] : 0;
}

/** Length of the picture: the longest side of the box that is shown. */
static double extent(const flock_view *view, const flock_run *run)
{
    const kith_box *box = view->points.frame.dim ? &view->points.frame : &run->space;
    double most = 0;
    for (int k = 0; k < box->dim; k++) {
        most = fmax(most, fabs(box->row[k][k]));
    }
    return most > 0 ? most : 1;
}

/** A thing of a kind as a viewer adds it: sizes follow the box, strengths the most speed. A wall
 *  faces the middle of the box, along the axis on which it is farthest from it. */
static kith_flock_thing usual_thing(kith_flock_kind kind, const double place[3], double size,
                                    double speed, const kith_box *box)
{
    static const double radius = 0.1, near = 0.06, far = 0.2;    /* of the size of the box */
    static const double weak = 0.03, firm = 0.3, fearsome = 0.5; /* of the most speed */
    kith_flock_thing t = {.kind = kind, .weight = firm * speed, .reach = near * size};
    memcpy(t.place, place, sizeof t.place);
    if (kind == KITH_SPHERE) {
        t.radius = radius * size;
    } else if (kind == KITH_PREDATOR) {
        t.weight = fearsome * speed;
        t.speed = speed;
        t.reach = far * size;
    } else if (kind == KITH_POINT) {
        t.weight = weak * speed;
        t.reach = 0;
    } else {
        int axis = 0;
        double away[3] = {0};
        for (int k = 0; k < box->dim; k++) {
            away[k] = place[k] - box->origin[k] - box->row[k][k] / 2;
            axis = fabs(away[k]) > fabs(away[axis]) ? k : axis;
        }
        t.normal[axis] = away[axis] > 0 ? -1 : 1;
    }
    return t;
}

/** Add a thing {kind, place} to a stage. @return false: view->message says why not */
static bool add(flock_view *view, const flock_run *run, const json_t *wanted, flock_stage *next)
{
    const char *name = json_string_value(json_object_get(wanted, "kind"));
    const double most = next->model.max_speed;
    double place[3];
    kith_flock_kind kind = KITH_POINT;
    if (!viewer_thing_find(name, &kind) || !read_vector(json_object_get(wanted, "place"), place)) {
        snprintf(view->message, sizeof view->message,
                 "no thing was added: it has no kind or place");
        return false;
    }
    if (next->model.n_things == KITH_MOST_THINGS) {
        snprintf(view->message, sizeof view->message, "there are %d things, the most there can be",
                 KITH_MOST_THINGS);
        return false;
    }
    confine(&run->box, place);
    const kith_flock_thing made = usual_thing(kind, place, extent(view, run), most > 0 ? most : 1,
                                              &run->space);
    next->things[next->model.n_things] = made;
    next->given[next->model.n_things++] = made; /* where a reset of the view puts it */
    return true;
}

/** Move thing k, also to where a reset of the view puts it. */
static bool move(flock_view *view, const flock_run *run, const json_t *wanted, int64_t k,
                 flock_stage *next)
{
    double place[3];
    if (!read_vector(json_object_get(wanted, "place"), place)) {
        snprintf(view->message, sizeof view->message, "no thing was moved: it has no place");
        return false;
    }
    confine(&run->box, place);
    memcpy(next->things[k].place, place, sizeof place);
    memcpy(next->given[k].place, place, sizeof place);
    return true;
}

static void remove_thing(int64_t k, flock_stage *next)
{
    const size_t after = (size_t)(--next->model.n_things - k);
    memmove(&next->things[k], &next->things[k + 1], after * sizeof *next->things);
    memmove(&next->given[k], &next->given[k + 1], after * sizeof *next->given);
}

void flock_view_set_thing(flock_view *view, flock_run *run, const json_t *wanted)
{
    flock_stage next = *flock_view_stage(view, run);
    const json_t *added = json_object_get(wanted, "add"), *moved = json_object_get(wanted, "move");
    const json_t *which = moved ? moved : json_object_get(wanted, "remove");
    const int64_t k = json_is_integer(which) ? json_integer_value(which) : -1;
    /* Each later stage has a list of things of its own, which takes over places alone. */
    if (!moved && run->stage + 1 < view->task->n_stages) {
        snprintf(view->message, sizeof view->message,
                 "things can be moved only: a change of --at is still to come");
        return;
    }
    if (!added && !(k >= 0 && k < next.model.n_things)) {
        snprintf(view->message, sizeof view->message, "that thing does not exist");
        return;
    }
    kith_flock_read_things(run->flock, next.things); /* predators have moved */
    bool fine = true;
    if (added) {
        fine = add(view, run, added, &next);
    } else if (moved) {
        fine = move(view, run, wanted, k, &next);
    } else {
        remove_thing(k, &next);
    }
    if (fine && flock_view_change(view, run, &next)) {
        flock_view_send_things(view, run);
    }
}
