/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stands in for the pictures, and for the words on films, in a build without cairo.
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
