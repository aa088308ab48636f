/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith debye` was asked and what it found: passed from step to step.
 */
#ifndef KITH_CLI_DEBYE_H
#define KITH_CLI_DEBYE_H

#include "input.h"
#include "scatterers.h"
#include "space.h"
#include "structure.h"
#include "table.h"

#include <jansson.h>

enum { DEBYE_MOST_ELEMENTS = 64 };

typedef struct debye_task {
    options shared;
    const char *input;
    bool neutron, exact;
    double q_min, q_max, q_width; /**< [1/A] */
    double b_iso;                 /**< [A^2] of the Debye-Waller factor */
    double r_width;               /**< of the histogram; 0: by q_max */
    double r_max;                 /**< of a box's pairs; 0: half the box */
    structure_window window;      /**< of a box's pairs */
    structure_window gr_window;   /**< of F(q) */
    const char *gr;               /**< --gr; NULL: no G(r) */
    double gr_max, gr_width, q_damp;
    const char *elements; /**< "1=O,2=H": what species are; NULL: as they are called */
    table_format format;
    double unit; /**< of lengths, in A */
} debye_task;

typedef struct debye_outcome {
    input_frames from;
    bool open; /**< a cluster */
    space space;
    kith_ctx *ctx;
    int64_t particles, frames;
    int n_elements;
    char element[DEBYE_MOST_ELEMENTS][IO_NAME_LENGTH];
    scatterer scatterer[DEBYE_MOST_ELEMENTS];
    double members[DEBYE_MOST_ELEMENTS]; /**< in a frame, on the average */
    double volume;                       /**< likewise */
    int64_t n_q;
    double *q;     /**< [n_q] */
    double *pairs; /**< [partials][n_q] sum of sin(q r) / (q r) over pairs a frame, of a box
                             without what a uniform one has */
    kith_histogram histogram;
    double *intensity, *s, *f; /**< [n_q] I(q) of all, S(q), F(q) = q (S(q) - 1); one block */
    int64_t n_r;
    double *r, *g; /**< [n_r] G(r); one block */
    double count_seconds, sum_seconds;
} debye_outcome;

/** Read the frames, and count or sum their pairs. @return an exit status, reported. */
int debye_run(const debye_task *task, debye_outcome *found);

/** From the sums over pairs to I, S, F and G. @return an exit status, reported. */
int debye_make(const debye_task *task, debye_outcome *found);

/** Write -o and --gr. @return an exit status, reported. */
int debye_write(const debye_task *task, const debye_outcome *found);

void debye_print(const debye_task *task, const debye_outcome *found);
json_t *debye_json(const debye_task *task, const debye_outcome *found);

#endif
