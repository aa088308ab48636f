/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `kith debye`: its options (debye_task) and its results (debye_outcome), passed from step to step.
 *
 * For N atoms with scattering amplitudes f_i at distances r_ij, by Debye's formula:
 *     I(q) = sum_ij f_i f_j sin(q r_ij) / (q r_ij)           scattered intensity
 *     S(q) = 1 + (I(q) / N - <f^2>) / <f>^2                  structure factor
 *     F(q) = q (S(q) - 1)                                    reduced structure function
 *     G(r) = 2 / pi int F(q) W(q) sin(q r) dq                reduced pair distribution function
 * The terms i != j of I are damped by the Debye-Waller factor exp(-B q^2 / (8 pi^2)). A partial is
 * a pair of elements (a, b), a <= b; partials are in the order (0, 0), (0, 1), ..., (1, 1), ...
 */
#ifndef KITH_CLI_DEBYE_H
#define KITH_CLI_DEBYE_H

#include "common/input.h"
#include "scatterers.h"
#include "common/space.h"
#include "rdf/structure.h"
#include "common/table.h"

#include <jansson.h>

enum { DEBYE_MOST_ELEMENTS = 64 }; /* elements and ions of one run */

/** One species of --elements "1=O,2=H", and its element; neither text is terminated. */
typedef struct debye_renaming {
    const char *name;      /**< name of the species in the file */
    size_t length;         /**< length of `name` [bytes]; 0: particles without a name */
    const char *element;   /**< name of the element or ion */
    size_t element_length; /**< length of `element` [bytes] */
} debye_renaming;

/** Read the next species of --elements, and advance *at to the one after it, or to the end of the
 *  text. Blanks may stand around names, '=' and commas. @return false: a syntax error */
bool debye_next_element(const char **at, debye_renaming *out);

/** The values of the options. */
typedef struct debye_task {
    options shared;               /**< options that verbs share */
    const char *input;            /**< path of the trajectory */
    bool neutron;                 /**< neutrons; else X-rays */
    bool exact;                   /**< --exact: sum over pairs; else over a histogram of them */
    double q_min, q_max, q_width; /**< first q, bound above q, step of q [1/A] */
    double b_iso;                 /**< B of the Debye-Waller factor [A^2] */
    double r_width;               /**< width of a bin of the histogram [length]; 0: by q_max */
    double r_max;               /**< largest distance of pairs in a box [length]; 0: half the box */
    bool has_window;            /**< --window is given */
    structure_window window;    /**< window over the pairs of a box */
    structure_window gr_window; /**< window over F(q), for G(r) */
    const char *gr;             /**< --gr: file of G(r); NULL: no G(r) */
    double gr_max, gr_width;    /**< bound and step of r of G(r), which begins at 0 [A] */
    double q_damp;              /**< D of the damping exp(-(r D)^2 / 2) of G(r) [1/A] */
    const char *elements;       /**< --elements "1=O,2=H"; NULL: species are named as elements */
    table_format format;        /**< --format of the output */
    const char *unit;           /**< --unit of length, "A" or "nm"; NULL: of the file, else A */
} debye_task;

/** The results. Here "length" is the unit of length of the file. */
typedef struct debye_outcome {
    input_frames from;         /**< description of the trajectory, and time to read it */
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
    double *pairs;             /**< [partials][n_q] sum of sin(q r) / (q r) over all pairs, each
                                    once, of all frames; of a box less that of a uniform density */
    kith_histogram histogram;  /**< distances of the pairs of all frames; empty with --exact */
    double *intensity, *s, *f; /**< [n_q] I(q), S(q), F(q) = q (S(q) - 1); one block of memory */
    int64_t n_r;               /**< number of values of r; 0 without --gr */
    double *r, *g;             /**< [n_r] r [A], G(r) [1/A^2]; one block of memory */
    double count_seconds;      /**< time in which pairs were counted or summed [s] */
    double sum_seconds;        /**< time of transforms [s] */
    double write_seconds;      /**< time to write the outputs [s]; NaN until they are written */
} debye_outcome;

/** A frame and what is counted in it: a record of lanes.h. Zero it first; debye_frame_free frees
 *  it. */
typedef struct debye_frame {
    int64_t particles;        /**< particles in the frame, with its virtual sites, which are sites
                                   of a force field without an atom */
    kith_box box;             /**< box of the frame */
    kith_points points;       /**< the atoms, without virtual sites */
    void *pos;                /**< [points.n][3] their positions */
    int32_t *element;         /**< [points.n] index of the element of each atom */
    kith_rdf_options how;     /**< what to count; not used with --exact */
    kith_histogram histogram; /**< distances of this frame; not used with --exact */
    double *sums;             /**< [partials][n_q] as debye_outcome.pairs, of this frame; used with
                                   --exact alone */
    kith_ctx *ctx;            /**< the context that counted it; has the message of a failure */
    kith_status counted;      /**< status of counting */
    double seconds;           /**< time to count it [s] */
} debye_frame;

/** Return the number of sums over pairs: partials times values of q. */
int64_t debye_sums(const debye_outcome *found);

/** Count a frame that was prepared. Prints nothing, so that any thread may call it with a context
 *  of its own. @return false: failed */
bool debye_frame_count(const debye_task *task, const debye_outcome *found, kith_ctx *ctx,
                       debye_frame *f);

/** Report the error of a frame that was counted, if any.
 *  @return exit status; an error is reported unless it is STATUS_INTERRUPTED */
int debye_frame_report(const debye_task *task, const debye_frame *f);

/** Add a frame that was counted to the sums over frames. The first frame's histogram is moved to
 *  the outcome. @return exit status, reported */
int debye_frame_add(const debye_task *task, debye_outcome *found, debye_frame *f);

/** Free the arrays of a frame, and zero it. */
void debye_frame_free(debye_frame *f);

/** Read the frames, and count or sum their pairs. @return exit status, reported */
int debye_run(const debye_task *task, debye_outcome *found);

/** Compute I(q), S(q), F(q) and G(r) from the sums over pairs. @return exit status, reported */
int debye_make(const debye_task *task, debye_outcome *found);

/** Write -o and --gr. @return exit status, reported */
int debye_write(const debye_task *task, const debye_outcome *found);

/** Print the summary for the terminal. */
void debye_print(const debye_task *task, const debye_outcome *found);

/** Return the summary as a new JSON object; NULL without memory. */
json_t *debye_json(const debye_task *task, const debye_outcome *found);

#endif
