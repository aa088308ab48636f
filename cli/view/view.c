/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith view: particles, halos and trajectories in a browser. This file has the options, the
 * messages to the page (web/web.h), and the loop that obeys its commands.
 */
#include "view.h"

#include "common/engine.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>

/** Refuse options that contradict each other. */
static const option_row view_options[] = {
    {"labels", 0, "FILE", "the group of each particle: .npy, .grp, .hdf5 of kith fof", 1,
     FILE_AT(view_task, labels, FILE_READ)},
    {"link", 0, "LENGTH", "in place of labels: find groups with this length", 1,
     POSITIVE_AT(view_task, link)},
    {"members", 0, "N", "smaller groups found are none; default 20", 1,
     FROM_ONE_AT(view_task, members)},
    {0}};

static void check_task(void *at, struct argp_state *state)
{
    const view_task *task = at;
    option_refuse(state, task->labels && task->link > 0,
                  "--labels and --link both give groups: leave one out");
    option_refuse(state, option_is_set(option_find(view_options, "members")) && !(task->link > 0),
                  "--members is of groups that are found: it needs --link LENGTH");
    option_refuse(state, task->film.path && (task->shared.port > 0 || task->shared.address),
                  "--record makes a film, which needs no browser: leave out --port and --address");
    film_check_options(&task->film, state);
}

static const command_line view_line = {
    .operand = "FILE",
    .operand_at = offsetof(view_task, file),
    .tables = {{.rows = view_options},
               {.rows = reading_options},
               {.rows = space_options},
               {.rows = engine_options},
               {.rows = viewing_options},
               {.rows = report_options},
               {.rows = film_option_rows, .base = offsetof(view_task, film)}},
    .check = check_task,
    .help = "Look at particles, halos and trajectories in a browser, until Ctrl-C. The address that"
            " is printed opens on this machine; the ssh line beside it brings it to another."
            " --record: no browser, but a film."
            "\vExample:\n"
            "  kith make clustered 100k --seed 1 -o halos.h5\n"
            "  kith view halos.h5 --box 1 --link 0.003"};

/** Send what is shown, and what can be changed: the message WEB_STATE. */
static void send_state(const view_task *task, view_run *run)
{
    const bool grouped = task->labels || task->link > 0;
    const io_particles *p = run->now;
    web_publish_json(
        run->server, WEB_STATE,
        json_pack("{s:s, s:o, s:I, s:I, s:I, s:o, s:s, s:o, s:o, s:b, s:s}", "kind", "file",
                  "title", report_json_text(task->file), "particles", (json_int_t)(p ? p->n : 0),
                  "frame", (json_int_t)run->frame, "frames", (json_int_t)run->frames, "step",
                  report_json_real(run->step), "colour", viewer_colour_name(run->colour), "colours",
                  viewer_colours(view_colours(run), "group"), "legend", view_legend_json(run),
                  "grouped", grouped, "message", run->message));
}

/** Send the values of the particle that a viewer has selected, if it is among the points sent. */
static void send_particle(const view_run *run, const web_scene *scene)
{
    const io_particles *p = run->now;
    const int64_t k = run->inspected;
    if (k < 0 || k >= run->choice.n) {
        return;
    }
    const int64_t at = run->choice.index[k];
    json_t *one = viewer_particle(scene, k, at, at);
    if (p->id) {
        json_object_set_new(one, "id", json_integer(p->id[at]));
    }
    if (run->kinds.mass[1] > 0) {
        json_object_set_new(one, "mass", report_json_real(view_mass(run, at)));
    }
    const char *species = run->shot->names[run->shot->species[at]];
    if (*species) {
        json_object_set_new(one, "species", report_json_text(species));
    }
    if (p->type) {
        json_object_set_new(one, "type", json_integer(p->type[at]));
    }
    if (p->potential) {
        json_object_set_new(one, "potential",
                            report_json_real(io_real(p->potential, at, p->precision)));
    }
    if (run->groups.labels) {
        json_object_set_new(one, "group", json_integer(run->groups.labels[at]));
    }
    web_publish_json(run->server, WEB_PARTICLE, one);
}

/** Return the obstacles and attractors that a recording of a flock has at this frame, as JSON. */
static json_t *view_things_json(const view_run *run)
{
    const io_things *things = &run->shot->things;
    return json_pack("{s:I, s:i, s:o}", "step", (json_int_t)run->shot->step, "most",
                     (int)KITH_MOST_THINGS, "things", viewer_things(things->item, things->n));
}

/** Send the particles of the frame, as many as viewers ask for, and the selected one. Where too
 *  many messages of points exist, run->again stays set, and the caller retries. */
static void send_points(view_run *run)
{
    const io_particles *p = run->now;
    web_scene scene = {.n = p->n,
                       .precision = p->precision,
                       .positions = p->pos,
                       .velocities = p->velocity,
                       .labels = run->tags.n == p->n ? run->tags.tag : NULL,
                       .shades = run->kinds.shade,
                       .box = run->shown,
                       .step = (double)run->frame,
                       .time = p->has_time ? p->time : NAN,
                       .frame = (uint32_t)run->frame,
                       .epoch = run->epoch,
                       .colour = run->colour,
                       .pool = run->pool,
                       .precise = true};
    const int64_t shown = viewer_points(run->server, p->n);
    if (!web_choose(&run->choice, p->n, shown)) {
        return;
    }
    if (run->colour == WEB_MASS || run->colour == WEB_SPECIES) {
        view_shade(run);
    }
    web_enclose(&run->shown, &scene);
    scene.box = run->shown;
    if (scene.colour == WEB_SPEED) {
        viewer_speed_range(&scene, &run->choice, scene.range);
    }
    web_blob *blob = web_points(run->server, &scene, &run->choice, shown);
    run->again = !blob;
    web_publish(run->server, WEB_POINTS, blob);
    send_particle(run, &scene);
}

/** Send the frame to viewers: state, points, groups, curves. */
static void send_frame(const view_task *task, view_run *run)
{
    send_state(task, run);
    if (run->now) {
        send_points(run);
        web_publish_json(run->server, WEB_GROUPS, view_groups_json(run));
        web_publish_json(run->server, WEB_PLOT, view_plot_json(run));
        web_publish_json(run->server, WEB_THINGS, view_things_json(run));
    }
}

/** Obey a command of the page: {"colour": name}, {"inspect": index of a point, or -1} or {"frame":
 *  index}. Anything else is ignored. @return STATUS_OK or STATUS_INTERRUPTED */
static int obey(const view_task *task, view_run *run, const json_t *command)
{
    const json_t *frame = json_object_get(command, "frame");
    const json_t *colour = json_object_get(command, "colour");
    const json_t *inspect = json_object_get(command, "inspect");
    run->message[0] = '\0';
    if (json_is_string(colour) &&
        viewer_colour_find(json_string_value(colour), view_colours(run), &run->colour)) {
        run->again = true;
    }
    if (json_is_integer(inspect)) {
        run->inspected = json_integer_value(inspect);
        run->again = run->again || run->inspected >= 0;
    }
    if (json_is_integer(frame) && run->frames > 1) {
        const json_int_t k = json_integer_value(frame);
        if (k >= 0 && k < run->frames) {
            const int status = view_go_to(task, run, k);
            if (status != STATUS_OK && status != STATUS_INTERRUPTED && !run->message[0]) {
                snprintf(run->message, sizeof run->message,
                         "frame %lld has no box for these options: see the terminal", (long long)k);
            }
            send_frame(task, run);
            return status == STATUS_INTERRUPTED ? status : STATUS_OK;
        }
    }
    send_state(task, run);
    return STATUS_OK;
}

/** Serve until Ctrl-C. Points are sent again when the picture has changed, or when a viewer asks
 *  for more points than any did before. @return exit status */
static int serve(const view_task *task, view_run *run)
{
    static const double a_while = 0.05; /* longest delay until Ctrl-C is noticed [s] */
    int status = STATUS_OK;
    int64_t wanted = 0; /* most points that viewers have asked for */
    send_frame(task, run);
    while (status == STATUS_OK && !progress_interrupted()) {
        for (json_t *command; (command = web_next_command(run->server)) != NULL;) {
            status = status == STATUS_OK ? obey(task, run, command) : status;
            json_decref(command);
        }
        const int64_t points = web_points_wanted(run->server);
        if (run->now && (run->again || points > wanted)) {
            wanted = points > wanted ? points : wanted;
            send_points(run);
        }
        web_wait(run->server, run->again, a_while);
    }
    return status == STATUS_INTERRUPTED ? STATUS_OK : status;
}

/** Read the first frame, then make a film of the file or serve it. @return exit status, reported */
static int look(const view_task *task, view_run *run)
{
    progress bar = progress_start("looking", "steps", 0, true);
    CLI_TRY(view_start(task, run));
    CLI_TRY(engine_open(&task->shared, progress_watch, &bar, &run->ctx));
    const int status = view_go_to(task, run, task->shared.read.frame);
    if (status != STATUS_OK) {
        return status == STATUS_INTERRUPTED ? report_interrupted(NULL)
                                            : view_report(task, run, status);
    }
    if (task->film.path) {
        return view_record(task, run);
    }
    run->colour = run->groups.labels    ? WEB_GROUP
                  : run->now->velocity  ? WEB_SPEED
                  : run->kinds.used > 1 ? WEB_SPECIES
                                        : WEB_PLAIN;
    CLI_TRY(viewer_open(&task->shared, &run->server));
    run->pool = kith__pool_open(kith_threads(run->ctx));
    return serve(task, run);
}

int verb_view(int argc, char **argv)
{
    view_task task = {.members = 20};
    film_options_init(&task.film);
    task.film.turn = NAN;
    task.film.colour = FILM_DENSITY;
    command_line_parse(&view_line, argc, argv, &task);
    progress_catch_signals();

    view_run run = {.frames = 1, .inspected = -1, .step = NAN};
    const int status = look(&task, &run);
    view_end(&run);
    return status;
}
