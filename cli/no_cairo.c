/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stands in for the pictures in a build without cairo.
 */
#include "fof.h"
#include "report.h"

int fof_plot(const fof_task *task, const fof_outcome *found)
{
    (void)found;
    return report_error(STATUS_NO_BACKEND, "install libcairo2-dev and rebuild",
                        "--plot %s: this build of kith has no cairo, which draws pictures",
                        task->plot);
}
