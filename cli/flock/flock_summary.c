/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith flock` ends with: a summary, and its measures over time, drawn by gnuplot.
 */
#include "flock.h"

#include "common/gnuplot.h"
#include "ranks/ranks.h"
#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** Return the number of leaders among n boids. */
static int64_t leaders_of(const kith_flock_options *m, int64_t n)
{
    return m->leader_weight > 0 ? (int64_t)floor(m->leaders * (double)n + 0.5) : 0;
}

/** Print the rules of roles, the noise and the time step that are on in the last stage. */
static void print_model(const flock_task *task, const flock_run *run)
{
    const kith_flock_options *m = &task->stage[run->stage].model;
    printf("model      time step %s, seed %llu", report_real(m->time_step).s,
           (unsigned long long)m->seed);
    if (m->noise > 0) {
        printf(", %snoise %s", m->gaussian ? "normal " : "", report_real(m->noise).s);
    }
    if (m->repulsion.radius > 0 && m->repulsion.weight > 0) {
        printf(", repulsion %s,%s", report_real(m->repulsion.radius).s,
               report_real(m->repulsion.weight).s);
    }
    if (m->n_species > 0) {
        printf(", %lld species", (long long)m->n_species);
    }
    const char *before = ": ";
    for (int k = 0; k < FLOCK_SPECIES; k++) {
        if (run->species_name[k][0]) {
            printf("%s%s is %d", before, report_text(run->species_name[k]).s, k);
            before = ", ";
        }
    }
    if (leaders_of(m, run->in.particles.n) > 0) {
        printf(", %s leaders", report_count(leaders_of(m, run->in.particles.n)).s);
    }
    putchar('\n');
}

void flock_print_summary(const flock_task *task, const flock_run *run)
{
    const int64_t steps = run->step - run->first;
    if (task->preset) {
        printf("preset     %s\n", task->preset);
    }
    printf("particles  %s\nbox        ", report_count(run->in.particles.n).s);
    space_put_box(stdout, &run->space);
    putchar('\n');
    print_model(task, run);
    printf("steps      %lld to %lld in %s, %s each, by %s\n", (long long)run->first,
           (long long)run->step, report_seconds(run->seconds).s,
           report_seconds(steps > 0 ? run->seconds / (double)steps : 0).s,
           ranks_words(run->ranks, run->ctx).s);
    if (task->shared.output) {
        printf("recorded   %s\n", report_text(task->shared.output).s);
    }
    if (run->film) {
        printf("film       %s\n", report_text(film_path(run->film)).s);
    }
    if (task->restart) {
        printf("restart    %s\n", report_text(task->restart).s);
    }
}

/** Append a clause: how many frames or measures a file holds. */
static void add_file(char *text, size_t room, const char *name, int64_t n, const char *what,
                     int64_t last)
{
    const size_t used = strlen(text);
    if (!name || used >= room) {
        return;
    }
    if (n > 0) {
        snprintf(text + used, room - used, "; %.300s has %lld %s, up to step %lld", name,
                 (long long)n, what, (long long)last);
    } else {
        snprintf(text + used, room - used, "; %.300s has no %s of this run", name, what);
    }
}

/** Report an interruption of a run with a restart file. Only a run that is interrupted between
 *  steps saves where it stands; a measurement that was cut short is repeated by the next run. */
static int report_restart(const flock_task *task, const flock_run *run)
{
    if (run->saved < 0) {
        return report_error(STATUS_INTERRUPTED, NULL,
                            "interrupted at step %lld; %s was not written", (long long)run->step,
                            task->restart);
    }
    return report_error(STATUS_INTERRUPTED, "run the command again to continue from there",
                        "interrupted at step %lld; %s holds step %lld", (long long)run->step,
                        task->restart, (long long)run->saved);
}

int flock_report_interrupted(const flock_task *task, const flock_run *run)
{
    char text[1600] = "";
    if (task->restart) {
        fflush(stdout);
        return report_restart(task, run);
    }
    const int64_t n = run->n_samples;
    add_file(text, sizeof text, task->shared.output, run->frames, "frames", run->last_frame);
    add_file(text, sizeof text, task->measures, n, "measures", n ? run->samples[n - 1].step : 0);
    if (run->film) {
        int64_t last = 0;
        const int64_t held = film_held(run->film, &last);
        add_file(text, sizeof text, film_path(run->film), held, "frames", last);
    }
    fflush(stdout);
    return report_error(STATUS_INTERRUPTED, NULL, "interrupted at step %lld%s",
                        (long long)run->step, text);
}

json_t *flock_summary_json(const flock_task *task, const flock_run *run)
{
    const int64_t steps = run->step - run->first;
    const kith_flock_options *m = &task->stage[run->stage].model;
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:I, s:I, s:I, s:o, s:o, s:s, s:i, s:i, s:o, s:o, s:o}", "kith",
        kith_version(), "verb", "flock", "preset", report_json_text(task->preset), "particles",
        (json_int_t)run->in.particles.n, "first_step", (json_int_t)run->first, "last_step",
        (json_int_t)run->step, "seconds", report_json_real(run->seconds), "step_seconds",
        report_json_real(steps > 0 ? run->seconds / (double)steps : 0), "backend",
        ranks_backend(run->ranks, run->ctx), "threads", kith_threads(run->ctx), "ranks",
        ranks_number(run->ranks), "box", space_box_json(&run->space), "output",
        report_json_text(task->shared.output), "film", report_json_text(film_path(run->film)));
    report_json_set(object, "time_step", report_json_real(m->time_step));
    report_json_set(object, "seed", /* a number of JSON ends at 2^63 here */
                    m->seed <= INT64_MAX
                        ? json_integer((json_int_t)m->seed)
                        : report_json_text(report_format("%llu", (unsigned long long)m->seed).s));
    report_json_set(object, "noise", report_json_real(m->noise));
    report_json_set(object, "gaussian", json_boolean(m->gaussian));
    report_json_set(object, "repulsion",
                    report_json_reals((double[]){m->repulsion.radius, m->repulsion.weight}, 2));
    report_json_set(object, "species", json_integer((json_int_t)m->n_species));
    json_t *names = json_array();
    for (int k = 0; k < m->n_species; k++) {
        json_array_append_new(
            names, report_json_text(run->species_name[k][0] ? run->species_name[k] : NULL));
    }
    report_json_set(object, "species_names", names);
    report_json_set(object, "leaders",
                    json_integer((json_int_t)leaders_of(m, run->in.particles.n)));
    return object;
}

static void put_data(FILE *out, const void *what)
{
    const flock_run *run = what;
    fputs("# step polarisation milling neighbours\n", out);
    for (int64_t k = 0; k < run->n_samples; k++) {
        const flock_sample *s = &run->samples[k];
        fprintf(out, "%lld %.9g %.9g %.9g\n", (long long)s->step, s->all.polarisation,
                s->all.milling, s->all.neighbours);
    }
}

static void put_figure(FILE *out, const void *what)
{
    (void)what;
    fprintf(out,
            "set xlabel 'step'\nset ylabel 'order'\nset yrange [0:1]\n"
            "set y2label 'neighbours, dashed'\nset ytics nomirror\nset y2tics\n"
            "set key outside top center horizontal\n"
            "plot data using 1:2 with lines lw 2 lc rgb '%s' title 'polarisation', "
            "'' using 1:3 with lines lw 2 lc rgb '%s' title 'milling', "
            "'' using 1:4 axes x1y2 with lines lw 2 dt 2 lc rgb '%s' title 'neighbours'\n",
            gnuplot_colours[0], gnuplot_colours[1], gnuplot_colours[6]);
}

int flock_plot(const flock_task *task, const flock_run *run)
{
    return gnuplot_draw(task->plot, put_data, put_figure, run, task->restart != NULL);
}
