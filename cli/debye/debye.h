/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith debye` was asked and what it found: passed from step to step.
 */
#ifndef KITH_CLI_DEBYE_H
#define KITH_CLI_DEBYE_H

#include "common/input.h"
#include "scatterers.h"
#include "common/space.h"
#include "rdf/structure.h"
#include "common/table.h"

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
    bool has_window;              /**< --window is given */
    structure_window window;      /**< of a box's pairs */
    structure_window gr_window;   /**< of F(q) */
    const char *gr;               /**< --gr; NULL: no G(r) */
    double gr_max, gr_width, q_damp;
    const char *elements; /**< "1=O,2=H": what species are; NULL: as they are called */
    table_format format;
    const char *unit; /**< of lengths: "A" or "nm"; NULL: what the file says, else A */
} debye_task;

typedef struct debye_outcome {
    input_frames from;
    double angstrom;           /**< in the unit of lengths */
    char unit[IO_NAME_LENGTH]; /**< of lengths, that the file says; "": it does not */
    bool begun;                /**< a frame was seen: open and space are known */
    bool open;                 /**< a cluster */
    double reach;  /**< what r_max is: of a cluster the longest distance in any frame; of a box
                       --r-max, or half the smallest box [length] */
    double *edges; /**< [histogram.bins + 1] where --r-width does not divide r_max; or NULL */
    space space;
    kith_ctx *ctx;
    int64_t particles, frames;
    int n_elements;
    char element[DEBYE_MOST_ELEMENTS][IO_NAME_LENGTH];
    scatterer scatterer[DEBYE_MOST_ELEMENTS];
    double members[DEBYE_MOST_ELEMENTS]; /**< in a frame, on the average */
    int64_t n_q;
    double *q;     /**< [n_q] */
    double *pairs; /**< [partials][n_q] sum of sin(q r) / (q r) over pairs a frame, of a box
                             without what a uniform one has */
    kith_histogram histogram;
    double *intensity, *s, *f; /**< [n_q] I(q) of all, S(q), F(q) = q (S(q) - 1); one block */
    int64_t n_r;
    double *r, *g; /**< [n_r] G(r); one block */
    double count_seconds, sum_seconds;
    double write_seconds; /**< in which outputs were written; NaN until they are */
} debye_outcome;

/** A frame on its way from the trajectory to the sums over frames. Zero it first;
 *  debye_frame_free. */
typedef struct debye_frame {
    int64_t particles; /**< in the frame, with virtual sites */
    kith_box box;
    kith_points points; /**< the atoms, of `pos` */
    void *pos;
    int32_t *element;         /**< [points.n] of each atom */
    kith_rdf_options how;     /**< bins; unused by --exact */
    kith_histogram histogram; /**< of this frame; unused by --exact */
    double *sums;             /**< [partials][n_q] of this frame, by --exact */
    kith_ctx *ctx;            /**< that counted it, and has the message where that failed */
    kith_status counted;
    double seconds;
} debye_frame;

/** Number of sums over pairs: partials times q. */
int64_t debye_sums(const debye_outcome *found);

/** Count a frame that was prepared. Prints nothing, so that any thread may call it with a context
 *  of its own. @return false: failed */
bool debye_frame_count(const debye_task *task, const debye_outcome *found, kith_ctx *ctx,
                       debye_frame *f);

/** Report how counting a frame went. @return exit status, reported but for STATUS_INTERRUPTED */
int debye_frame_report(const debye_task *task, const debye_frame *f);

/** Add a frame that was counted to the sums over frames. @return exit status, reported */
int debye_frame_add(const debye_task *task, debye_outcome *found, debye_frame *f);
void debye_frame_free(debye_frame *f);

/** Read the frames, and count or sum their pairs. @return an exit status, reported. */
int debye_run(const debye_task *task, debye_outcome *found);

/** From the sums over pairs to I, S, F and G. @return an exit status, reported. */
int debye_make(const debye_task *task, debye_outcome *found);

/** Write -o and --gr. @return an exit status, reported. */
int debye_write(const debye_task *task, const debye_outcome *found);

void debye_print(const debye_task *task, const debye_outcome *found);
json_t *debye_json(const debye_task *task, const debye_outcome *found);

#endif
