/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith view --record: the frames of a file as a film. Of a file with one frame in 3-D, the film
 * shows one full turn of the box.
 */
#include "view.h"

#include "common/progress.h"
#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double STILL_TURN = 30, MOVING_TURN = 6; /* defaults of --film-turn [degrees/s] */

/** Choose colours of groups by multiples of the golden ratio modulo 1, which lie far apart for
 *  groups next in size. Particles in no group have the dark end of the palette.
 *  @return [particles] colours from 0 to 1, to be freed; NULL: no groups, or no memory */
static float *colours_of(const view_run *run)
{
    static const double golden = 0.6180339887498949, darkest = 0.4;
    const int32_t *labels = run->groups.labels;
    float *value = labels ? malloc(((size_t)run->now->n + 1) * sizeof *value) : NULL;
    for (int64_t k = 0; value && k < run->now->n; k++) {
        const double place = labels[k] * golden;
        value[k] = labels[k] > 0 ? (float)(darkest + (1 - darkest) * (place - floor(place))) : 0;
    }
    return value;
}

/** Return the number of frames of the film: of a trajectory those from --frame on; of one frame
 *  those of a full turn, or 1. */
static int64_t count_frames(const film_options *how, const view_run *run)
{
    static const double most = 1e6;
    const double turn = fabs(how->turn);
    if (run->frames > 1) {
        return run->frames - run->frame;
    }
    return run->now->dim == 3 && turn > 0 ? (int64_t)fmin(fmax(how->rate * 360 / turn, 1), most)
                                          : 1;
}

/** Add the current frame to the film. @param number  index of the frame in the film
 *  @return exit status, reported */
static int add(film *f, const view_run *run, const float *value, int64_t number)
{
    char caption[80] = "";
    if (run->frames > 1) {
        snprintf(caption, sizeof caption, "frame %lld", (long long)run->frame);
    }
    const film_frame frame = {.particles = run->now,
                              .box = &run->space.box,
                              .value = value,
                              .number = number,
                              .caption = caption,
                              .things = run->shot->things.item,
                              .n_things = run->shot->things.n};
    return film_add(f, &frame);
}

/** Add all frames; the first one is read already.
 *  @return exit status, reported, except STATUS_INTERRUPTED */
static int add_all(const view_task *task, view_run *run, film *f, int64_t frames, progress *bar)
{
    const int64_t first = run->frame;
    float *value = colours_of(run);
    int status = STATUS_OK;
    for (int64_t k = 0; k < frames && status == STATUS_OK; k++) {
        if (run->frames > 1 && k > 0) {
            status = view_go_to(task, run, first + k);
            if (status != STATUS_OK) {
                if (status != STATUS_INTERRUPTED) {
                    view_report(task, run, status);
                }
                break;
            }
            free(value);
            value = colours_of(run);
        }
        status = add(f, run, value, k);
        bar->items = k + 1;
        if (status == STATUS_OK && progress_watch(bar, k + 1, frames)) {
            status = STATUS_INTERRUPTED;
        }
    }
    free(value);
    return status;
}

int view_record(const view_task *task, view_run *run)
{
    film *f = NULL;
    film_options how = task->film;
    how.turn = isfinite(how.turn) ? how.turn : run->frames > 1 ? MOVING_TURN : STILL_TURN;
    how.afterglow = run->frames > 1 ? how.afterglow : 0; /* one frame: the camera alone moves */
    how.threads = task->shared.threads;
    CLI_TRY(film_open(&how, 0, &f));
    progress bar = progress_start("filming", "frames", 0, task->shared.quiet);
    int status = film_finish(f, add_all(task, run, f, count_frames(&how, run), &bar));
    progress_end(&bar);
    if (status == STATUS_INTERRUPTED) {
        int64_t step;
        const int64_t held = film_held(f, &step);
        (void)report_error(status, NULL, "interrupted; %s has %lld frame%s", film_path(f),
                           (long long)held, held == 1 ? "" : "s");
    } else if (status == STATUS_OK && task->shared.json) {
        status = report_json(json_pack("{s:s, s:s, s:o, s:o, s:I}", "kith", kith_version(), "verb",
                                       "view", "input", report_json_text(task->file), "film",
                                       report_json_text(film_path(f)), "frames",
                                       (json_int_t)bar.items));
    } else if (status == STATUS_OK && !task->shared.quiet) {
        printf("film       %s, %s frame%s\n", report_text(film_path(f)).s,
               report_count(bar.items).s, bar.items == 1 ? "" : "s");
    }
    film_free(f);
    return status;
}
