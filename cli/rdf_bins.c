/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which bins `kith rdf` counts in, and what the box allows.
 */
#include "parse.h"
#include "rdf.h"
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BINS = 1 << 20 };

static double half_diagonal(const kith_box *box)
{
    double sum = 0;
    for (int k = 0; k < box->dim; k++) {
        sum += box->row[k][k] * box->row[k][k];
    }
    return sqrt(sum) / 2;
}

static int too_many(const rdf_task *task, double bins)
{
    return report_error(STATUS_LIMIT, NULL, "%s: %.15g bins, more than 2^20", task->input, bins);
}

/** Read numbers, apart by white space; # begins a comment. */
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

/** Equal ratios, or equal widths. */
static int edges_by_number(const rdf_task *task, rdf_outcome *found)
{
    kith_rdf_options *how = &found->how;
    const kith_box *box = &found->space.box;
    const double half = task->minimum_image ? half_diagonal(box) : box_half_height(box);
    double bins = (double)task->bins;
    how->r_min = task->r_min;
    how->r_max = task->r_max > 0 ? task->r_max : half;
    if (how->r_max <= how->r_min) {
        return report_error(STATUS_INVALID, NULL, "--r-min: got %s, expected less than r_max, %s",
                            report_real(how->r_min).s, report_real(how->r_max).s);
    }
    if (task->width > 0) {
        /* The last bin ends at r_max or before; a width that was meant to fit does. */
        bins = floor((how->r_max - how->r_min) / task->width * (1 + 1e-9));
        how->r_max = how->r_min + bins * task->width;
    }
    if (bins < 1) {
        return report_error(STATUS_INVALID, NULL, "--width: got %s, expected at most r_max, %s",
                            report_real(task->width).s, report_real(task->r_max).s);
    }
    if (bins > MOST_BINS) {
        return too_many(task, bins);
    }
    how->bins = (int64_t)bins;
    how->edges = task->log ? found->edges : NULL;
    for (int64_t k = 0; k <= how->bins; k++) {
        const double t = (double)k / bins;
        found->edges[k] = task->log ? how->r_min * pow(how->r_max / how->r_min, t)
                                    : how->r_min + (double)k * (how->r_max - how->r_min) / bins;
    }
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
