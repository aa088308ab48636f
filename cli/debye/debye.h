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

/** What was asked: the values of the options. */
typedef struct debye_task {
    options shared;
    const char *input;            /**< path of the trajectory */
    bool neutron;                 /**< neutrons; else X-rays */
    bool exact;                   /**< --exact: sum over pairs; else over a histogram of them */
    double q_min, q_max, q_width; /**< values of q [1/A] */
    double b_iso;                 /**< B of the Debye-Waller factor [A^2] */
    double r_width;               /**< width of a bin of the histogram [length]; 0: by q_max */
    double r_max;               /**< largest distance of pairs in a box [length]; 0: half the box */
    bool has_window;            /**< --window is given */
    structure_window window;    /**< window over the pairs of a box */
    structure_window gr_window; /**< window over F(q), for G(r) */
    const char *gr;             /**< --gr: file of G(r); NULL: no G(r) */
    double gr_max, gr_width;    /**< values of r of G(r) [A] */
    double q_damp;              /**< damping of G(r) by the instrument [1/A] */
    const char *elements;       /**< --elements "1=O,2=H"; NULL: species are named as elements */
    table_format format;        /**< --format of the output */
    const char *unit;           /**< --unit of length, "A" or "nm"; NULL: of the file, else A */
} debye_task;

/** What was found. */
typedef struct debye_outcome {
    input_frames from;         /**< what is known of the trajectory */
    double angstrom;           /**< the unit of length in Angstrom */
    char unit[IO_NAME_LENGTH]; /**< unit of length in the file; "": the file has none */
    bool begun;                /**< a frame was read: `open` and `space` are known */
    bool open;                 /**< a cluster in open space; else a periodic box */
    double reach;  /**< largest distance counted [length]: of a cluster the longest in any
                                    frame; of a box --r-max, or half the smallest box */
    double *edges; /**< [histogram.bins + 1] edges of bins if --r-width does not divide
                                    `reach`; else NULL */
    space space;   /**< the box of the first frame */
    kith_ctx *ctx; /**< the library */
    int64_t particles, frames;                         /**< particles in a frame; frames counted */
    int n_elements;                                    /**< number of elements */
    char element[DEBYE_MOST_ELEMENTS][IO_NAME_LENGTH]; /**< [n_elements] names */
    scatterer scatterer[DEBYE_MOST_ELEMENTS];          /**< [n_elements] how each scatters */
    double members[DEBYE_MOST_ELEMENTS];               /**< [n_elements] atoms, mean over frames */
    int64_t n_q;                                       /**< number of q */
    double *q;                                         /**< [n_q] values of q [1/A] */
    double *pairs;             /**< [partials][n_q] sum of sin(q r) / (q r) over pairs, mean over
                                    frames; of a box less that of a uniform density */
    kith_histogram histogram;  /**< of the distances of pairs; empty with --exact */
    double *intensity, *s, *f; /**< [n_q] I(q), S(q), F(q) = q (S(q) - 1); one block of memory */
    int64_t n_r;               /**< number of r; 0 without --gr */
    double *r, *g;             /**< [n_r] r [A], G(r) [1/A^2]; one block of memory */
    double count_seconds;      /**< time in which pairs were counted or summed [s] */
    double sum_seconds;        /**< time of transforms [s] */
    double write_seconds;      /**< time to write the outputs [s]; NaN before */
} debye_outcome;

/** A frame and what is counted in it: a record of lanes.h. Zero it first; debye_frame_free frees
 *  it. */
typedef struct debye_frame {
    int64_t particles;        /**< particles in the frame, virtual sites included */
    kith_box box;             /**< box of the frame */
    kith_points points;       /**< the atoms, without virtual sites */
    void *pos;                /**< [points.n][3] their positions */
    int32_t *element;         /**< [points.n] index of the element of each atom */
    kith_rdf_options how;     /**< what to count; not used with --exact */
    kith_histogram histogram; /**< of this frame; not used with --exact */
    double *sums;             /**< [partials][n_q] of this frame; used with --exact alone */
    kith_ctx *ctx;            /**< the context that counted it; has the message of a failure */
    kith_status counted;      /**< status of counting */
    double seconds;           /**< time to count it [s] */
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

/** Read the frames, and count or sum their pairs. @return exit status, reported */
int debye_run(const debye_task *task, debye_outcome *found);

/** Compute I(q), S(q), F(q) and G(r) from the sums over pairs. @return exit status, reported */
int debye_make(const debye_task *task, debye_outcome *found);

/** Write -o and --gr. @return exit status, reported */
int debye_write(const debye_task *task, const debye_outcome *found);

void debye_print(const debye_task *task, const debye_outcome *found);
json_t *debye_json(const debye_task *task, const debye_outcome *found);

#endif
