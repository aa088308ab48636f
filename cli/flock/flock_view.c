/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith flock --view: the flock flies as viewers wish, and they see it. What is done for viewers may
 * take two per cent of the time: points 1.3 of it, measures 0.6. While the flock stands still,
 * everything is free.
 */
#include "flock_view.h"

#include "common/progress.h"
#include "common/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double POINTS_SHARE = 0.013, SAMPLE_SHARE = 0.006;
static const double WATCHED_SHARE = 0.25; /* each, of a run without end: it is there to be seen */
static const double POINTS_EVERY = 0.033, WATCHED_EVERY = 0.016; /* [s] */
static const double SAMPLE_EVERY = 0.1, STATE_EVERY = 0.5;       /* [s] */
static const double BATCH = 0.02, WATCHED_BATCH = 0.004; /* steps between checks for viewers [s] */
static const double SEND_RATE = 1e9; /* at which the system copies bytes to a viewer [bytes/s] */
static const double LONGEST_WAIT = 0.1, BUSY_WAIT = 0.002; /* [s] */
static const double ENDLESS_LIMIT = 60;                    /* [steps/s] */

int flock_view_open(flock_task *task, flock_run *run)
{
    flock_view *view = calloc(1, sizeof *view);
    if (!view) {
        return report_no_memory("the live view");
    }
    view->task = task;
    view->colour = WEB_HEADING;
    view->limit = task->endless ? ENDLESS_LIMIT : 0;
    view->glance.share = task->endless ? WATCHED_SHARE : POINTS_SHARE;
    view->sample.share = task->endless ? WATCHED_SHARE : SAMPLE_SHARE;
    view->shown = view->sampled = view->inspected = -1;
    view->skip = 1;
    run->view = view;
    CLI_TRY(viewer_open(&task->shared, &view->server));
    return flock_points_open(&view->points, view->server)
               ? STATUS_OK
               : report_error(STATUS_NO_MEMORY, NULL, "no thread for the live view");
}

static bool is_recorded(const flock_run *run, const flock_task *task)
{
    return run->record || run->measures || run->film || task->restart;
}

/** Return true when viewers may start another preset. */
static bool has_presets(const flock_view *view, const flock_run *run)
{
    return !is_recorded(run, view->task) && !view->task->input && view->task->n_stages == 1;
}

/** Names of presets that viewers may start. */
static json_t *preset_names(const flock_view *view, const flock_run *run)
{
    json_t *list = json_array();
    for (int k = 0; flock_preset_name(k) && has_presets(view, run); k++) {
        json_array_append_new(list, json_string(flock_preset_name(k)));
    }
    return list;
}

static void send_state(flock_view *view, const flock_run *run, bool ended)
{
    const bool recorded = is_recorded(run, view->task);
    const char *preset = view->task->preset;
    char seed[24], title[40];
    snprintf(title, sizeof title, "kith flock%s%s", preset ? ": " : "", preset ? preset : "");
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)view->task->start.model.seed);
    web_publish_json(
        view->server, WEB_STATE,
        json_pack(
            "{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:b, s:b, s:b, s:s, s:s, s:o, s:o, s:s, s:b, s:o,"
            " s:[s,s,s,s,s,s,s]}",
            "kind", "flock", "title", title, "particles", (json_int_t)run->in.particles.n, "step",
            (json_int_t)run->step, "rate", view->rate, "limit", view->limit, "time_step",
            flock_view_stage(view, run)->model.time_step, "paused", view->paused, "ended", ended,
            "can_reset", !recorded, "seed", seed, "colour", viewer_colour_name(view->colour),
            "colours", viewer_colours(viewer_colours_of(true, true), "flock"), "rules",
            flock_view_rules(view, run), "message", *view->message ? view->message : view->held,
            "held", *view->held != '\0', "presets", preset_names(view, run), "columns", "step",
            "polarisation", "milling", "speed", "neighbours", "flocks", "largest"));
    view->announced = true;
    view->last_state = progress_clock();
}

void flock_view_close(flock_run *run)
{
    flock_view *view = run->view;
    if (view) {
        flock_points_close(&view->points);
        if (view->server && run->flock) {
            send_state(view, run, true);
        }
        web_close(view->server);
        json_decref(view->things);
        free(view);
        run->view = NULL;
    }
}

/** Store the cost of work, and when it may be done again: when the cost is its share of the
 *  time. */
static void spend(view_share *s, double since, double extra)
{
    const double now = progress_clock();
    s->cost = now - since + extra;
    s->next = now + s->cost * (1 / s->share - 1);
}

/** Return true when the work may be done now. @param free  time until the next step is due [s] */
static bool may(const view_share *s, double now, double free)
{
    return s->cost < free || now >= s->next;
}

static void read_flock(flock_run *run)
{
    (void)kith_flock_read(run->flock, run->in.particles.pos, run->in.particles.velocity);
}

/** Give the glance to the thread; steps made since it was taken may have hidden its transfer. */
static void hand_over(flock_view *view, flock_run *run)
{
    const double start = progress_clock();
    view_points *p = &view->points;
    flock_points_hand_over(p, run);
    const double sent = p->beside ? 0 : (double)p->bytes * web_viewers(view->server) / SEND_RATE;
    spend(&view->glance, start, view->taking + sent);
    if (view->sample.cost <= 0) { /* the first sample waits for the share of the first points */
        view->sample.next = view->glance.next;
    }
}

/** Take a glance if one is wanted and its share of time allows. It is read after some steps,
 *  which hide the transfer from a GPU; at once if there is no transfer. @return time that it
 *  took [s] */
static double show_points(flock_view *view, flock_run *run, double now, double free)
{
    const double every = view->task->endless ? WATCHED_EVERY : POINTS_EVERY;
    if (view->shown == run->step || !may(&view->glance, now, free) ||
        now < view->last_shown + every || !web_wants_points(view->server)) {
        return 0;
    }
    const bool taken = flock_points_take(view, run);
    view->shown = run->step;
    view->last_shown = now;
    view->taking = progress_clock() - now;
    if (taken && (free > 0 || !view->points.beside)) {
        hand_over(view, run);
    }
    return view->taking;
}

/** Append a row to the curves. If they are full, drop every second row, and store half as many
 *  samples from then on. */
static void keep_row(flock_view *view, const flock_sample *s)
{
    if (++view->skipped < view->skip) {
        return;
    }
    view->skipped = 0;
    if (view->rows == VIEW_ROWS) {
        for (size_t k = 0; k < VIEW_ROWS / 2; k++) {
            memcpy(view->curve[k], view->curve[2 * k], sizeof view->curve[k]);
        }
        view->rows /= 2;
        view->skip *= 2;
    }
    const float row[VIEW_COLUMNS] = {(float)s->step,           (float)s->all.polarisation,
                                     (float)s->all.milling,    (float)s->all.mean_speed,
                                     (float)s->all.neighbours, (float)s->flocks,
                                     (float)s->largest};
    memcpy(view->curve[view->rows++], row, sizeof row);
}

static void send_sample(flock_view *view, flock_run *run)
{
    const double start = progress_clock();
    flock_sample sample;
    read_flock(run);
    view->sampled = run->step;
    view->last_sample = start;
    if (flock_take_sample(view->task, run, &sample) != KITH_OK) {
        return; /* the next step reports the error */
    }
    keep_row(view, &sample);
    const size_t size = (size_t)view->rows * sizeof view->curve[0];
    web_blob *blob = web_blob_new(view->server, WEB_CURVES, size);
    if (blob) {
        memcpy(blob->data, view->curve, size);
        web_publish(view->server, WEB_CURVES, blob);
    }
    spend(&view->sample, start, 0);
}

/** Send what is new and wanted. @param free  time until the next step is due [s] */
static void show(flock_view *view, flock_run *run, double free)
{
    const double now = progress_clock();
    if (web_viewers(view->server) == 0) {
        return;
    }
    if (now - view->last_state >= STATE_EVERY) {
        const double late = now - view->last_state, before = view->rate;
        view->rate = (double)(run->step - view->rate_step) / late;
        view->rate_step = run->step;
        view->announced = view->announced && view->rate == before;
        view->last_state = now;
    }
    if (!view->announced) {
        send_state(view, run, false);
    }
    const view_progress come = flock_points_progress(&view->points);
    if (come == VIEW_TAKEN) {
        hand_over(view, run);
    } else if (come != VIEW_BUSY) {
        view->shown = come == VIEW_FAILED ? -1 : view->shown;
        free -= show_points(view, run, now, free);
    }
    if (view->sampled != run->step && may(&view->sample, now, free) &&
        now >= view->last_sample + SAMPLE_EVERY) {
        send_sample(view, run);
    }
}

/** Read a seed: a whole number, or its digits, as numbers of JavaScript end at 2^53.
 *  @return false: it is none */
static bool read_seed(const json_t *wanted, uint64_t *seed)
{
    const char *digits = json_string_value(wanted);
    if (json_is_integer(wanted) && json_integer_value(wanted) >= 0) {
        *seed = (uint64_t)json_integer_value(wanted);
        return true;
    }
    if (!digits || !*digits || digits[strspn(digits, "0123456789")] != '\0') {
        return false;
    }
    errno = 0;
    *seed = strtoull(digits, NULL, 10);
    return errno == 0;
}

static void ask_reset(flock_view *view, const flock_run *run, const json_t *seed)
{
    if (is_recorded(run, view->task)) {
        snprintf(view->message, sizeof view->message, "no reset: this run is being recorded");
    } else if (!read_seed(seed, &view->seed)) {
        snprintf(view->message, sizeof view->message,
                 "no reset: a seed is a whole number from 0 to 2^64 - 1");
    } else {
        view->reset = true;
    }
}

static void ask_preset(flock_view *view, const flock_run *run, const char *name)
{
    if (!has_presets(view, run)) {
        snprintf(view->message, sizeof view->message,
                 "no preset: this run is recorded, has --at, or began with a file");
    } else if (!flock_use_preset(view->task, name)) {
        snprintf(view->message, sizeof view->message, "there is no preset %.40s", name);
    } else {
        view->reset = true;
        view->seed = view->task->start.model.seed;
    }
}

/** Execute a command of a viewer. */
static void obey(flock_view *view, flock_run *run, const json_t *command)
{
    const json_t *pause = json_object_get(command, "pause");
    const json_t *step = json_object_get(command, "step");
    const json_t *limit = json_object_get(command, "limit");
    const json_t *colour = json_object_get(command, "colour");
    const json_t *inspect = json_object_get(command, "inspect");
    json_t *rules = json_object_get(command, "set");
    view->message[0] = '\0';
    if (json_is_boolean(pause)) {
        view->paused = json_is_true(pause);
        view->ahead = 0;
    }
    if (json_is_integer(step) && json_integer_value(step) > 0) {
        enum { MOST = 1000000 };
        view->paused = true;
        view->ahead = json_integer_value(step) < MOST ? json_integer_value(step) : MOST;
    }
    if (json_is_number(limit)) {
        const double value = json_number_value(limit);
        view->limit = isfinite(value) && value > 0 ? value : 0;
        view->due = 0;
    }
    if (json_is_string(colour) &&
        viewer_colour_find(json_string_value(colour), viewer_colours_of(true, true),
                           &view->colour)) {
        view->shown = -1;
    }
    if (json_is_integer(inspect)) {
        view->inspected = json_integer_value(inspect);
        view->shown = view->inspected >= 0 ? -1 : view->shown;
    }
    if (json_is_object(rules)) {
        flock_view_set_rules(view, run, rules);
    }
    if (json_object_get(command, "thing")) {
        flock_view_set_thing(view, run, json_object_get(command, "thing"));
    }
    if (json_is_string(json_object_get(command, "preset"))) {
        ask_preset(view, run, json_string_value(json_object_get(command, "preset")));
    }
    if (json_object_get(command, "reset")) {
        ask_reset(view, run, json_object_get(command, "reset"));
    }
    view->announced = false;
}

/** Restart the flock from a seed. @return false: it failed, which was reported */
static bool start_anew(flock_view *view, flock_run *run)
{
    flock_points_forget(&view->points);
    kith_flock_close(run->flock);
    run->flock = NULL;
    input_free(&run->in);
    run->in = (input){0};
    run->step = 0;
    run->n_samples = 0;
    view->task->start.model.seed = view->seed;
    for (int64_t k = 0; k < view->task->n_stages; k++) {
        flock_stage *stage = &view->task->stage[k];
        stage->model.seed = view->seed;
        memcpy(stage->things, stage->given, sizeof stage->things); /* predators go back */
    }
    view->held[0] = '\0';
    view->reset = false;
    view->shown = view->sampled = -1;
    view->rows = 0;
    view->skip = 1;
    view->epoch++;
    view->rate_step = 0;
    return flock_start(view->task, run) == STATUS_OK && flock_open(view->task, run) == STATUS_OK;
}

/** Time to wait before the next step [s]. */
static double waiting(const flock_view *view, double now)
{
    if (view->paused) {
        return view->ahead > 0 ? 0 : HUGE_VAL;
    }
    return view->limit > 0 && view->due > now ? view->due - now : 0;
}

static int64_t batch(const flock_view *view, int64_t most)
{
    enum { LONGEST = 1000 };
    if (view->limit > 0 || view->paused || !(view->step_seconds > 0)) {
        return 1;
    }
    const double steps = (view->task->endless ? WATCHED_BATCH : BATCH) / view->step_seconds;
    const int64_t n = steps < 1 ? 1 : steps < LONGEST ? (int64_t)steps : LONGEST;
    return n < most ? n : most;
}

/** Pause a run that cannot make its next step, with a sentence that says what to do. The flock is
 *  in the state after its last whole step. */
static void hold(flock_view *view, const flock_run *run)
{
    const kith_flock_options *m = &flock_view_stage(view, run)->model;
    const char *remedy = m->max_speed > 0 ? "take a smaller time step" : "set a most speed";
    view->paused = true;
    view->ahead = 0;
    view->announced = false;
    if (*view->changed) {
        snprintf(view->held, sizeof view->held,
                 "Paused at step %lld: the next one leaves the range of numbers. The slider \"%s\" "
                 "was changed "
                 "last: move it back, or %s; then go on.",
                 (long long)run->step, view->changed, remedy);
    } else {
        snprintf(
            view->held, sizeof view->held,
            "Paused at step %lld: the next one leaves the range of numbers. Lower a weight, or "
            "%s; then go on.",
            (long long)run->step, remedy);
    }
}

static kith_status go_on(flock_view *view, flock_run *run, int64_t steps, double now)
{
    const double before = run->seconds;
    kith_status status = flock_step(run, steps);
    const bool lost = status == KITH_NOT_FINITE || status == KITH_LIMIT;
    if (lost && (view->task->endless || view->steered || web_viewers(view->server) > 0)) {
        hold(view, run);
        status = KITH_OK;
    } else if (status == KITH_OK && *view->held) {
        view->held[0] = '\0';
        view->announced = false;
    }
    view->step_seconds = (run->seconds - before) / (double)steps;
    view->ahead -= view->ahead > 0;
    /* A flock that cannot keep up with the limit does not catch up later. */
    view->due = view->limit > 0 ? fmax(view->due + 1 / view->limit, now) : 0;
    return status;
}

/** Wait for commands of viewers, but not while points are being encoded or sent. */
static void wait_for_news(flock_view *view, const flock_run *run, double wait)
{
    const bool busy = flock_points_progress(&view->points) == VIEW_BUSY;
    const double soon = view->last_shown + WATCHED_EVERY - progress_clock();
    const bool points = view->shown != run->step;
    const double most = points && (busy || soon > 0) ? fmax(soon, BUSY_WAIT) : LONGEST_WAIT;
    web_wait(view->server, points && !busy && soon <= 0, fmin(wait, most));
}

kith_status flock_view_advance(flock_run *run, int64_t steps)
{
    flock_view *view = run->view;
    const int64_t goal = run->step + steps;
    kith_status status = KITH_OK;
    while (status == KITH_OK && run->step < goal) {
        for (json_t *command; (command = web_next_command(view->server)) != NULL;) {
            obey(view, run, command);
            json_decref(command);
        }
        if (view->reset) {
            return start_anew(view, run) ? KITH_OK : KITH_CANCELLED;
        }
        if (progress_interrupted()) {
            run->left = view->task->endless && !view->task->restart;
            return run->left ? KITH_OK : KITH_CANCELLED;
        }
        const double now = progress_clock(), wait = waiting(view, now);
        show(view, run, wait);
        if (wait > 0) {
            wait_for_news(view, run, wait);
        } else {
            status = go_on(view, run, batch(view, goal - run->step), now);
        }
    }
    show(view, run, 0);
    if (view->points.taken) { /* there may be no further step that hides the transfer */
        hand_over(view, run);
    }
    if (progress_interrupted() && view->task->endless && !view->task->restart) {
        run->left = true;
        return KITH_OK;
    }
    return status;
}
