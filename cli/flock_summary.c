/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The summary that `kith flock` ends with.
 */
#include "flock.h"

#include "engine.h"
#include "report.h"

#include <stdio.h>

void flock_print_summary(const flock_task *task, const flock_run *run)
{
    const int64_t steps = run->step - run->first;
    printf("particles  %s\nbox        ", report_count(run->in.particles.n).s);
    space_print_box(&run->space);
    printf("\nsteps      %lld to %lld in %s, %s each, by %s\n", (long long)run->first,
           (long long)run->step, report_seconds(run->seconds).s,
           report_seconds(steps > 0 ? run->seconds / (double)steps : 0).s,
           engine_words(run->ctx).s);
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
                     space_box_json(&run->space), "output", report_json_text(task->shared.output),
                     "film", report_json_text(film_path(run->film)));
}
