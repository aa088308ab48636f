/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith flock` says: a line for each look, and the summary.
 */
#include "flock.h"

#include "engine.h"
#include "report.h"

#include <stdio.h>

void flock_print_sample(const flock_sample *sample)
{
    printf("step %lld: polarisation %.4f, milling %.4f, speed %.4g, %.4g neighbours, ",
           (long long)sample->step, sample->all.polarisation, sample->all.milling,
           sample->all.mean_speed, sample->all.neighbours);
    printf("%s flock%s", report_count(sample->flocks).s, sample->flocks == 1 ? "" : "s");
    if (sample->flocks > 0) {
        printf(", largest %s", report_count(sample->largest).s);
    }
    putchar('\n');
}

json_t *flock_sample_json(const flock_sample *s)
{
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:I, s:I}", "step", (json_int_t)s->step,
                     "polarisation", report_json_real(s->all.polarisation), "milling",
                     report_json_real(s->all.milling), "mean_speed",
                     report_json_real(s->all.mean_speed), "neighbours",
                     report_json_real(s->all.neighbours), "flocks", (json_int_t)s->flocks,
                     "largest", (json_int_t)s->largest);
}

void flock_print_summary(const flock_task *task, const flock_run *run)
{
    const int64_t steps = run->step - run->first;
    printf("particles  %s\nbox        ", report_count(run->in.particles.n).s);
    space_print_box(&run->space.box);
    printf("\nsteps      %lld to %lld in %s, %s each, by ", (long long)run->first,
           (long long)run->step, report_seconds(run->seconds).s,
           report_seconds(steps > 0 ? run->seconds / (double)steps : 0).s);
    engine_print(run->ctx);
    putchar('\n');
    if (task->shared.output) {
        printf("recorded   %s\n", task->shared.output);
    }
    if (run->film) {
        printf("film       %s\n", film_path(run->film));
    }
    if (task->restart) {
        printf("restart    %s\n", task->restart);
    }
}

json_t *flock_summary_json(const flock_task *task, const flock_run *run)
{
    const int64_t steps = run->step - run->first;
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:s, s:i, s:o, s:o, s:o}", "kith",
                     kith_version(), "verb", "flock", "particles", (json_int_t)run->in.particles.n,
                     "first_step", (json_int_t)run->first, "last_step", (json_int_t)run->step,
                     "seconds", report_json_real(run->seconds), "step_seconds",
                     report_json_real(steps > 0 ? run->seconds / (double)steps : 0), "backend",
                     kith_backend(run->ctx), "threads", kith_threads(run->ctx), "box",
                     space_box_json(&run->space.box), "output",
                     task->shared.output ? report_json_text(task->shared.output) : json_null(),
                     "film", run->film ? report_json_text(film_path(run->film)) : json_null());
}
