/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The frames that `kith view` steps through, and g(r) of each.
 */
#include "view.h"

#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int view_start(const view_task *task, view_run *run)
{
    io_error error = {0};
    io_summary summary;
    CLI_TRY(report_io(io_inspect(task->file, &summary, &error), &error, false));
    run->frames = summary.frames;
    const io_format f = summary.format;
    run->weighed = f == IO_XYZ || f == IO_LAMMPS || f == IO_GSD || f == IO_CHEMFILES ||
                   (f == IO_HDF5 && run->frames > 1);
    if (task->labels && run->frames > 1) {
        return report_error(STATUS_INVALID, NULL, "%s has %lld frames, but labels belong to one",
                            task->file, (long long)run->frames);
    }
    return STATUS_OK;
}

/** Open the file to read from a frame on, with all fields that the live view can show. */
static io_status open_at(const view_task *task, view_run *run, int64_t frame, io_error *error)
{
    snprintf(run->from, sizeof run->from, "%lld:", (long long)frame);
    io_trajectory_options how = {
        .read = task->shared.read, .frames = run->from, .weights = run->weighed ? "mass" : NULL};
    how.read.frame = 0;
    how.read.threads = task->shared.threads;
    how.read.fields = IO_MASSES | IO_VELOCITIES | IO_TYPES | IO_POTENTIALS |
                      (run->weighed ? (unsigned)IO_WEIGHTS : 0) |
                      (task->labels ? (unsigned)IO_IDS : 0);
    return io_trajectory_open(task->file, &how, &run->trajectory, error);
}

/** Read a frame. The file is opened again unless the frame follows the one read last.
 *  @return exit status; on failure run->message has the error, and no frame is shown */
static int read_frame(const view_task *task, view_run *run, int64_t frame)
{
    io_error error = {0};
    io_status status = IO_OK;
    run->shot = NULL;
    run->now = NULL;
    run->step = NAN;
    if (!run->trajectory || run->next != frame) {
        io_trajectory_close(run->trajectory);
        run->trajectory = NULL;
        status = open_at(task, run, frame, &error);
    }
    if (status == IO_OK) {
        status = io_trajectory_next(run->trajectory, &run->shot, &error);
    }
    if (status == IO_OK && run->shot) {
        run->now = &run->shot->particles;
        run->step = run->shot->has_step ? (double)run->shot->step : NAN;
        run->next = frame + 1;
        return STATUS_OK;
    }
    io_trajectory_close(run->trajectory);
    run->trajectory = NULL;
    run->shot = NULL;
    if (run->frames > 1 && status != IO_CANCELLED) {
        snprintf(run->message, sizeof run->message, "frame %lld: %.450s", (long long)frame,
                 error.status ? error.text : "the file ends before it");
    } else {
        snprintf(run->message, sizeof run->message, "%.500s", error.text);
    }
    return status == IO_OK ? STATUS_FORMAT : report_io_status(status, false);
}

/** Return the index of the first particle whose position is not finite; -1: none. */
static int64_t find_lost(const io_particles *p)
{
    for (int64_t e = 0; e < 3 * p->n; e++) {
        if (!isfinite(io_real(p->pos, e, p->precision))) {
            return e / 3;
        }
    }
    return -1;
}

int view_go_to(const view_task *task, view_run *run, int64_t frame)
{
    CLI_TRY(read_frame(task, run, frame));
    const int64_t lost = find_lost(run->now);
    if (lost >= 0) {
        run->now = NULL;
        snprintf(run->message, sizeof run->message, "frame %lld: particle %lld is not finite",
                 (long long)frame, (long long)lost);
        return STATUS_NOT_FINITE;
    }
    run->frame = frame;
    /* While the number of particles is constant, an index is taken as one particle in all
     * frames. */
    run->epoch += run->particles != run->now->n;
    run->particles = run->now->n;
    run->again = true;
    int status = space_choose(&task->shared, task->file, run->now, &run->space);
    if (status != STATUS_OK) {
        run->now = NULL; /* species and groups are those of another frame */
        return status;
    }
    run->shown = run->space.box;
    status = view_survey(run);
    status = status == STATUS_OK ? view_group(task, run) : status;
    run->colour = view_colours(run) >> run->colour & 1 ? run->colour : WEB_PLAIN;
    return status;
}

int view_report(const view_task *task, const view_run *run, int status)
{
    const char *hint = strstr(run->message, "masses:")
                           ? "leave its species out with --species, or correct the file"
                           : NULL;
    const bool named = strncmp(run->message, task->file, strlen(task->file)) == 0 ||
                       (task->labels &&
                        strncmp(run->message, task->labels, strlen(task->labels)) == 0);
    if (!run->message[0]) {
        return status;
    }
    return named ? report_error(status, hint, "%s", run->message)
                 : report_error(status, hint, "%s: %s", task->file, run->message);
}

/** Choose the range of g(r): half the smallest side, or less, so that at the mean density some
 *  most_pairs pairs are within it: n^2 / (2 volume) ball r^3 of them, in 2-D with r^2.
 *  @return 0 when the box is not periodic along all axes */
static double reach(const io_particles *p, const kith_box *box)
{
    static const double most_pairs = 2e7, ball = 4.18879020478639; /* 4 pi / 3; above pi of 2-D */
    double volume = 1, least = HUGE_VAL;
    for (int k = 0; k < box->dim; k++) {
        const double side = box->row[k][k];
        if (!box->periodic[k] || !(side > 0)) {
            return 0;
        }
        volume *= side;
        least = side < least ? side : least;
    }
    const double n = (double)p->n;
    const double r = box->dim == 3 ? cbrt(2 * most_pairs * volume / (n * n * ball))
                                   : sqrt(2 * most_pairs * volume / (n * n * ball));
    return fmin(r, 0.499 * least);
}

json_t *view_plot_json(view_run *run)
{
    enum { BINS = 200 };
    const io_particles *p = run->now;
    if (!p || p->n < 2) {
        return NULL;
    }
    const double r_max = reach(p, &run->space.box);
    if (!(r_max > 0)) {
        return NULL;
    }
    kith_rdf_options how;
    kith_rdf_options_init(&how);
    how.bins = BINS;
    how.r_max = r_max;
    const kith_points points = kith_points_packed(p->pos, p->n, p->precision);
    kith_histogram histogram = {0};
    json_t *value = NULL;
    if (kith_rdf_count(run->ctx, &points, &run->space.box, &how, &histogram) == KITH_OK) {
        double r[BINS], g[BINS];
        kith_rdf_g(&histogram, 0, 0, g);
        for (int k = 0; k < BINS; k++) {
            r[k] = (histogram.edges[k] + histogram.edges[k + 1]) / 2;
        }
        value = json_pack("{s:s, s:I, s:o, s:o}", "title", "g(r)", "frame", (json_int_t)run->frame,
                          "x", report_json_reals(r, BINS), "y", report_json_reals(g, BINS));
    }
    kith_histogram_free(&histogram);
    return value;
}

void view_end(view_run *run)
{
    web_close(run->server);
    web_choice_free(&run->choice);
    kith_halos_free(&run->halos);
    viewer_tags_free(&run->tags);
    if (!run->labels) {
        kith_groups_free(&run->groups);
    }
    free(run->labels);
    kith_close(run->ctx);
    kith__pool_close(run->pool);
    free(run->kinds.count);
    free(run->kinds.shade);
    io_trajectory_close(run->trajectory);
}
