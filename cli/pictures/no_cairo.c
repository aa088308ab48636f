/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled instead of the files that use cairo in a build without it: a plot is an error, and films
 * have no overlay.
 */
#include "film/film_internal.h"
#include "fof/fof.h"
#include "common/report.h"

int fof_plot(const fof_task *task, const fof_outcome *found)
{
    (void)found;
    return report_error(STATUS_NO_BACKEND, "install libcairo2-dev and rebuild",
                        "--plot %s: this build of kith has no cairo, which draws pictures",
                        task->plot);
}

void overlay_draw(uint32_t *pixels, int width, int height, const picture *shown, const camera *c)
{
    (void)pixels;
    (void)width;
    (void)height;
    (void)shown;
    (void)c;
}
