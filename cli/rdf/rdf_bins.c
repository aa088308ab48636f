/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which bins `kith rdf` counts in, and what the box allows.
 */
#include "common/bin_edges.h"
#include "common/box.h"
#include "common/parse.h"
#include "rdf.h"
#include "common/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BINS = 1 << 20 }; /* most bins of r */

/** Half the diagonal of a box with right angles: the longest distance of nearest images. */
static double half_diagonal(const kith_box *box)
{
    double sum = 0;
    for (int k = 0; k < box->dim; k++) {
        sum += box->row[k][k] * box->row[k][k];
    }
    return sqrt(sum) / 2;
}

void rdf_extent_add(const kith_box *box, rdf_extent *extent)
{
    const rdf_extent one = {true, box_half_height(box), half_diagonal(box), waves_least(box),
                            box_volume(box)};
    if (!extent->known) {
        *extent = one;
        return;
    }
    extent->half = fmin(extent->half, one.half);
    extent->corner = fmin(extent->corner, one.corner);
    extent->least_q = fmin(extent->least_q, one.least_q);
    extent->most_volume = fmax(extent->most_volume, one.most_volume);
}

/** Report too many bins. @return exit status */
static int too_many(const rdf_task *task, double bins)
{
    return report_error(STATUS_LIMIT, NULL, "%s: %.15g bins, more than 2^20", task->input, bins);
}

/** Read edges, and set how.bins, from a file of numbers separated by white space; # begins a
 *  comment. @return exit status, reported */
static int read_edges(const rdf_task *task, FILE *file, rdf_outcome *found)
{
    char *line = NULL;
    size_t room = 0;
    int64_t n = 0;
    int status = STATUS_OK;
    for (int64_t at = 1; status == STATUS_OK && getline(&line, &room, file) >= 0; at++) {
        char *save = NULL;
        line[strcspn(line, "#")] = '\0';
        for (char *word = strtok_r(line, " \t\r\n", &save); word && status == STATUS_OK;
             word = strtok_r(NULL, " \t\r\n", &save)) {
            double value = 0;
            if (!parse_real(word, &value) || !isfinite(value) || value < 0 ||
                (n > 0 && value <= found->edges[n - 1])) {
                status = report_error(STATUS_INVALID, NULL,
                                      "%s, line %lld: got '%s', expected rising numbers from 0",
                                      task->edges, (long long)at, word);
            } else if (n > MOST_BINS) {
                status = too_many(task, (double)n);
            } else {
                found->edges[n++] = value;
            }
        }
    }
    free(line);
    if (status == STATUS_OK && n < 2) {
        status = report_error(STATUS_INVALID, NULL, "%s: %lld edges, expected two or more",
                              task->edges, (long long)n);
    }
    found->how.bins = n - 1;
    return status;
}

static int edges_of_file(const rdf_task *task, rdf_outcome *found)
{
    FILE *file = fopen(task->edges, "re");
    if (!file) {
        return report_error(STATUS_INPUT, NULL, "%s: %s", task->edges, strerror(errno));
    }
    const int status = read_edges(task, file, found);
    (void)fclose(file);
    found->how.edges = found->edges;
    return status;
}

/** Choose the range of r and the number of bins. Without --r-max, bins of a given width are all
 *  whole: as many as fit.
 *  @return exit status, reported */
static int choose_range(const rdf_task *task, rdf_outcome *found, double *bins)
{
    kith_rdf_options *how = &found->how;
    how->r_min = task->r_min;
    how->r_max = task->r_max > 0       ? task->r_max
                 : task->minimum_image ? found->extent.corner
                                       : found->extent.half;
    if (how->r_max <= how->r_min) {
        return report_error(STATUS_INVALID, NULL, "--r-min: got %s, expected less than r_max, %s",
                            report_real(how->r_min).s, report_real(how->r_max).s);
    }
    const double range = how->r_max - how->r_min;
    if (task->width > range * (1 + 1e-9)) { /* here and below 1e-9 allows for rounding */
        return report_error(STATUS_INVALID, NULL,
                            "--width: got %s, expected at most the range of r, %s",
                            report_real(task->width).s, report_real(range).s);
    }
    *bins = !(task->width > 0) ? (double)task->bins
            : task->r_max > 0  ? bin_edges_count(how->r_min, how->r_max, task->width)
                               : floor(range / task->width * (1 + 1e-9));
    if (task->width > 0 && !(task->r_max > 0)) {
        how->r_max = fmin(how->r_min + *bins * task->width, how->r_max);
    }
    return *bins > MOST_BINS ? too_many(task, *bins) : STATUS_OK;
}

/** Fill in edges of equal ratios or equal widths; the last edge is r_max exactly. */
static int edges_by_number(const rdf_task *task, rdf_outcome *found)
{
    kith_rdf_options *how = &found->how;
    double bins = 0;
    CLI_TRY(choose_range(task, found, &bins));
    how->bins = (int64_t)bins;
    for (int64_t k = 0; k < how->bins; k++) {
        const double t = (double)k / bins;
        found->edges[k] = task->log ? how->r_min * pow(how->r_max / how->r_min, t)
                                    : how->r_min + (double)k * (how->r_max - how->r_min) / bins;
    }
    found->edges[how->bins] = how->r_max;
    found->narrower = task->width > 0 &&
                      bin_edges_fill(how->r_min, how->r_max, task->width, how->bins, found->edges);
    how->edges = task->log || found->narrower ? found->edges : NULL;
    return STATUS_OK;
}

int rdf_choose_bins(const rdf_task *task, rdf_outcome *found)
{
    found->edges = malloc((MOST_BINS + 2) * sizeof *found->edges);
    found->middle = malloc(MOST_BINS * sizeof *found->middle);
    if (!found->edges || !found->middle) {
        return report_no_memory("bins");
    }
    kith_rdf_options_init(&found->how);
    found->how.minimum_image = task->minimum_image;
    CLI_TRY(task->edges ? edges_of_file(task, found) : edges_by_number(task, found));
    for (int64_t k = 0; k < found->how.bins; k++) {
        found->middle[k] = (found->edges[k] + found->edges[k + 1]) / 2;
    }
    return STATUS_OK;
}
