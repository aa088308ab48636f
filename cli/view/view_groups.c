/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups in the live view: read from a file as labels, or found by friends-of-friends; measured,
 * and sent to the page.
 */
#include "view.h"

#include "catalogues/catalogue.h"
#include "common/report.h"

#include <stdio.h>
#include <stdlib.h>

/** Copy the library's message to run->message. @return the exit status for a failed call */
static int trouble(view_run *run, kith_status status)
{
    snprintf(run->message, sizeof run->message, "groups: %.480s", kith_message(run->ctx));
    return status == KITH_CANCELLED ? STATUS_INTERRUPTED : STATUS_INVALID;
}

/** Read --labels into run->groups. @return exit status; run->message has the error */
static int read_labels(const view_task *task, view_run *run)
{
    const int64_t n = run->now->n;
    io_error error = {0};
    run->labels = calloc((size_t)n + 1, sizeof *run->labels);
    if (!run->labels) {
        snprintf(run->message, sizeof run->message, "no memory for labels");
        return STATUS_NO_MEMORY;
    }
    run->groups = (kith_groups){.points = n, .labels = run->labels};
    if (io_read_labels(task->labels, n, run->now->id, run->labels, &run->groups.n, &error) !=
        IO_OK) {
        snprintf(run->message, sizeof run->message, "%.500s", error.text);
        return report_io_status(error.status, false);
    }
    return STATUS_OK;
}

/** Find the groups with linking length --link. @return exit status; run->message has the error */
static int find(const view_task *task, view_run *run, const kith_points *points)
{
    kith_fof_options how;
    kith_fof_options_init(&how);
    how.min_members = task->members;
    const kith_status status = kith_fof_find(run->ctx, points, &run->space.box, task->link, &how,
                                             &run->groups);
    return status == KITH_OK ? STATUS_OK : trouble(run, status);
}

/** Return the masses of particles; NULL: the file has none, or all are 0, as kith fof takes
 *  them. */
static const void *masses_of(const io_particles *p)
{
    for (int64_t k = 0; p->mass && k < p->n; k++) {
        if (io_real(p->mass, k, p->precision) != 0) {
            return p->mass;
        }
    }
    return NULL;
}

int view_group(const view_task *task, view_run *run)
{
    const io_particles *p = run->now;
    const kith_points points = kith_points_packed(p->pos, p->n, p->precision);
    if (!task->labels && !(task->link > 0)) {
        return STATUS_OK;
    }
    CLI_TRY(task->labels ? read_labels(task, run) : find(task, run, &points));
    kith_halo_input known;
    kith_halo_input_init(&known);
    known.masses = masses_of(p);
    known.velocities = p->velocity;
    known.potentials = p->potential;
    const kith_status measured = kith_halos_measure(run->ctx, &points, &run->space.box,
                                                    &run->groups, &known, &run->halos);
    if (measured != KITH_OK) {
        return trouble(run, measured);
    }
    if (!viewer_tags_follow(&run->tags, run->groups.labels, p->n)) {
        snprintf(run->message, sizeof run->message, "no memory for colours of groups");
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

json_t *view_groups_json(const view_run *run)
{
    enum { MOST = 1000 }; /* groups that are listed; labels are in the order of size */
    const bool moving = run->now && run->now->velocity;
    const bool heavy = run->now && masses_of(run->now);
    json_t *list = json_array();
    for (int64_t g = 0; g < run->halos.n && g < MOST; g++) {
        const kith_halo *h = &run->halos.halo[g];
        json_t *one = json_pack(
            "{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:[o, o]}", "label", (json_int_t)g + 1, "colour",
            (json_int_t)run->tags.of[g + 1], "members", (json_int_t)h->members, "centre",
            report_json_reals(h->centre, 3), "radius", report_json_real(h->radius_rms),
            "radius_max", report_json_real(h->radius_max), "mass",
            heavy ? report_json_real(h->mass) : json_null(), "shape",
            report_json_real(h->axis_length[1] / h->axis_length[0]),
            report_json_real(h->axis_length[2] / h->axis_length[0]));
        if (moving) {
            json_object_set_new(one, "velocity", report_json_reals(h->velocity, 3));
            json_object_set_new(one, "dispersion", report_json_real(h->dispersion));
        }
        json_array_append_new(list, one);
    }
    return json_pack("{s:I, s:o}", "groups", (json_int_t)run->groups.n, "largest", list);
}
