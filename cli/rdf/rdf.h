/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith rdf` was asked and what it found: passed from step to step.
 */
#ifndef KITH_CLI_RDF_H
#define KITH_CLI_RDF_H

#include "common/input.h"
#include "rdf_blocks.h"
#include "common/space.h"
#include "structure.h"
#include "common/table.h"
#include "waves.h"

#include <jansson.h>

enum { RDF_MOST_CLASSES = 64 };

typedef struct rdf_task {
    options shared;
    const char *input;
    double r_min, r_max; /**< r_max 0: half the box; its corner with minimum_image */
    int64_t bins;
    double width;      /**< --width; 0: by bins */
    bool log;          /**< equal ratios of edges */
    const char *edges; /**< --edges; NULL: by the above */
    bool minimum_image;
    const char *select, *with; /**< NULL: all, as select */
    bool partials;
    bool without_molecules, without_bonds; /**< leave pairs in one molecule, or bonded, out */
    const char *weights;                   /**< --weights: a column or a file; NULL: none */
    const char *weights_file;              /**< --weights, where it is a file; else NULL */
    int64_t blocks;
    bool force;              /**< --estimator force */
    double kT;               /**< --temperature, in units of force times length */
    const char *temperature; /**< --temperature, as it was given */
    bool trust;              /**< --trust-temperature */
    table_format format;
    const char *unit;             /**< of lengths; NULL: what the file's format has */
    const char *plot;             /**< --plot; NULL: none */
    const char *sq;               /**< --sq; NULL: no S(q) */
    double q_min, q_max, q_width; /**< 0: by the box and the density */
    int64_t q_vectors;            /**< in a bin at most; 0: no direct sum */
    structure_window window;
    double slope[2]; /**< range of q to fit; 0: none */
} rdf_task;

/** Particles that are counted as one kind. */
typedef struct rdf_class {
    char name[IO_NAME_LENGTH];
    bool first, second; /**< of --select, of --with */
    int64_t members;    /**< in the first frame */
} rdf_class;

typedef struct rdf_classes {
    int n;
    rdf_class item[RDF_MOST_CLASSES];
    int n_names;   /**< species of the trajectory that are known */
    int *of_name;  /**< [n_names] class of each; -1: not wanted */
    bool has_rest; /**< some species are not wanted */
} rdf_classes;

/** A distribution: of the classes a and b, or of --select with --with. Errors are standard errors
 *  from blocks; NaN where there is one block. */
typedef struct rdf_curve {
    char name[2 * IO_NAME_LENGTH];
    int a, b;                          /**< -1: of the selections */
    double *g, *g_error;               /**< [bins] */
    double *n, *n_error;               /**< [bins] running coordination, to the end of each bin */
    double *count;                     /**< [bins] pairs */
    int64_t peak, low;                 /**< highest bin, and the lowest after it; -1: none */
    double *force, *force_error;       /**< [bins] g by forces; NULL: not wanted */
    double *zero, *infinity, *weight;  /**< [bins] what it is made of */
    double kT, kT_error;               /**< that brings forces and counts together */
    double *weighted, *weighted_error; /**< [bins] g_w; NULL: not wanted */
    double *product, *product_error;   /**< [bins] mean of w_i w_j */
    double gain;                       /**< median ratio of the variances by counts and by forces */
} rdf_curve;

/** S(q) of the classes a and b, or of all. */
typedef struct rdf_factor {
    char name[2 * IO_NAME_LENGTH];
    int a, b;                /**< -1: all */
    double *fz, *fz_error;   /**< [q_bins] Faber-Ziman, by transform; of all: S(q) */
    double *al, *al_error;   /**< Ashcroft-Langreth, by transform; of all: as fz */
    double *sum, *sum_error; /**< Ashcroft-Langreth, by direct sum; of all: S(q) */
} rdf_factor;

/** The sums over vectors q of a frame. Zero it first; rdf_sums_free. */
typedef struct rdf_sums {
    waves waves;       /**< vectors q of the box */
    double rows[3][3]; /**< rows of the box that these vectors belong to */
    double *value;     /**< [waves.n][classes][2] real and imaginary parts; NULL: no vectors yet */
} rdf_sums;

typedef struct rdf_structure {
    double *room; /**< of all arrays below */
    bool direct;
    int64_t bins;
    double q_min, width;
    int64_t most_waves;               /**< vectors of the frame that has most */
    double *low, *high, *q, *vectors; /**< [bins]; q: mean of the vectors, or the middle */
    int n;
    rdf_factor *factor; /**< [n] of all first */
    int64_t slope_points;
    double slope, slope_error;
} rdf_structure;

/** Where the numbers of a frame are in a row of the blocks. */
typedef struct rdf_layout {
    int64_t bins, partials;
    int64_t frames, volume, centres, counts, ideal;
    int64_t force;                  /**< [partials][bins + 2] */
    int64_t products, strewn;       /**< sums of w_i w_j, and of particles strewn uniformly */
    int64_t vectors, q_sum, direct; /**< of S(q) */
    int64_t width;
} rdf_layout;

/** What the boxes of all frames have in common: default ranges of r and q follow from it, so that
 *  they do not depend on the order of the frames. */
typedef struct rdf_extent {
    bool known;
    double half;        /**< the smallest half height [length] */
    double corner;      /**< the smallest half diagonal, of boxes with right angles [length] */
    double least_q;     /**< the smallest q along an axis of a box [1/length] */
    double most_volume; /**< the largest volume; area in two dimensions */
} rdf_extent;

/** The temperature that velocities tell: sums over frames of kT, one number a frame. */
typedef struct rdf_kinetic {
    int64_t frames;
    double sum, squares; /**< of kT and kT^2 [force times length] */
} rdf_kinetic;

typedef struct rdf_outcome {
    input_frames from;
    const char *unit;               /**< of lengths; "": not known */
    char file_unit[IO_NAME_LENGTH]; /**< as the file says it; "": it does not */
    int64_t particles;              /**< in each frame */
    kith_precision precision;
    space space;       /**< of the first frame */
    rdf_extent extent; /**< of all frames, or of the first where the options say the ranges */
    double least_volume, most_volume;
    int64_t frames; /**< counted */
    int64_t first_index, last_index, last_step;
    bool partial;          /**< stopped before the last frame */
    char partial_text[96]; /**< what is said of it */
    kith_rdf_options how;
    double *edges;   /**< [how.bins + 1] */
    bool narrower;   /**< the last bin is narrower than the others */
    double *middle;  /**< [how.bins] of each bin */
    double *shells;  /**< [how.bins] volumes between them, with forces */
    double *weights; /**< [particles] from a file; NULL: none */
    rdf_classes classes;
    const char *inside; /**< "molecules" or "bonds": pairs within these are known and counted */
    rdf_layout layout;
    rdf_blocks blocks;
    int n_curves;
    rdf_curve *curve;
    double *curve_room;  /**< of all arrays of the curves */
    int64_t pairs;       /**< counted in all */
    rdf_kinetic kinetic; /**< of frames whose velocities, masses and units are known */
    bool distrusted;     /**< --temperature is not that of the forces, or of the velocities */
    rdf_structure structure;
    kith_ctx *ctx;
    double count_seconds; /**< in which frames were being counted */
    double sum_seconds;   /**< in which frames were being summed over vectors q */
    double write_seconds; /**< in which outputs were written; NaN until they are */
} rdf_outcome;

/** Read the trajectory and count. @return an exit status, reported; also OK where Ctrl-C came after
 *  some frames. */
int rdf_run(const rdf_task *task, rdf_outcome *found);

/** Extend the extent by the box of a frame. */
void rdf_extent_add(const kith_box *box, rdf_extent *extent);

/** Choose the bins of r by the options and found->extent. @return an exit status, reported. */
int rdf_choose_bins(const rdf_task *task, rdf_outcome *found);

/** Give each species of the frame that is new a class. @return an exit status, reported. */
int rdf_classify(const rdf_task *task, const io_frame *frame, rdf_classes *classes);

/** Fail where a species that was asked for is on no particle. @return exit status, reported. */
int rdf_check_selection(const rdf_task *task, const io_frame *frame);

/** What is counted of a frame. Zero it first; rdf_part_free. */
typedef struct rdf_part {
    kith_points points;
    const void *forces; /**< NULL: not wanted */
    void *pos, *force;  /**< copies of those that are wanted, where not all are */
    double *weight;
    int32_t *species, *molecule, *place, *bonds;
    int64_t *bond_offsets;
} rdf_part;

/** Pick the particles of a frame that have a class.
 *  @param copy  let the part hold copies of all arrays, so that it outlasts the frame
 *  @return exit status, reported */
int rdf_pick(const rdf_task *task, const rdf_outcome *found, const io_frame *frame, bool copy,
             rdf_part *part);
void rdf_part_free(rdf_part *part);

/** A frame on its way from the trajectory to the blocks. Zero it first; rdf_frame_free. */
typedef struct rdf_frame {
    int64_t index, step; /**< of the frame in the file, and of the simulation */
    int64_t particles;   /**< in the frame, with those that are not counted */
    kith_box box;
    rdf_part part;
    int n_classes;       /**< classes of particles when the frame was read */
    rdf_kinetic kinetic; /**< of this frame alone */
    rdf_sums sums;
    double *row;   /**< [layout.width] what the frame adds to a row of the blocks */
    kith_ctx *ctx; /**< that counted it, and has the message where that failed */
    kith_status counted;
    double count_seconds, sum_seconds;
} rdf_frame;

/** Count a frame that was prepared: fill its row. Prints nothing, so that any thread may call it
 *  with a context of its own. @return false: failed */
bool rdf_frame_count(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx, rdf_frame *f);

/** Report how counting a frame went. @return exit status, reported but for STATUS_INTERRUPTED */
int rdf_frame_report(const rdf_task *task, const rdf_frame *f);

/** Add a frame that was counted to the results. @return exit status, reported */
int rdf_frame_add(rdf_outcome *found, const rdf_frame *f);
void rdf_frame_free(rdf_frame *f);

/** Set found->inside by the first frame. @return exit status, reported */
int rdf_find_inside(const rdf_task *task, const io_frame *frame, rdf_outcome *found);

/** Summary text on pairs within molecules or bonds, or NULL. */
const char *rdf_inside_text(const rdf_outcome *found);

/** Cut room into n arrays of `each` numbers. @return what is behind them. */
double *rdf_carve(double *room, int64_t each, double **const arrays[], int n);

/** From blocks to curves. @return an exit status, reported. */
int rdf_make_curves(const rdf_task *task, rdf_outcome *found);

/** Read the file of --weights, if it is one, for the first frame's particles. @return exit status,
 *  reported */
int rdf_weights_load(const rdf_task *task, const io_frame *frame, rdf_outcome *found);

/** Fail where all weights are 0. @return exit status, reported. */
int rdf_weights_check(const rdf_task *task, const rdf_outcome *found, const io_frame *frame);

/** Add a frame's sums of w_i w_j to its row. */
void rdf_weights_add(const rdf_outcome *found, const rdf_part *part, const kith_histogram *h,
                     double *row);

/** From blocks to a curve's g_w and ww. @return false: no memory. */
bool rdf_weights_curve(const rdf_outcome *found, rdf_curve *curve);

/** Sum what the blocks have for each partial, [partials][bins] from number `at` of a row on, over
 *  those of a curve. @return [blocks][bins], to be freed; NULL: no memory */
double *rdf_sum_blocks(const rdf_outcome *found, const rdf_curve *curve, int64_t at);

/** y / x in each bin, of sums of blocks, [blocks][bins]. */
void rdf_divide(const rdf_outcome *found, const double *y, const double *x, double *value,
                double *error);

/** How often pairs of classes a <= b are in a curve. */
double rdf_weight(const rdf_classes *classes, const rdf_curve *curve, int a, int b);

/** "0.72": k_B T; "300,kcal": kelvin, where forces are in kcal/mol, kJ/mol or eV by length. */
bool rdf_parse_temperature(const char *text, double *kT);

/** Find the temperature that the velocities of a frame tell: no frame or one. */
rdf_kinetic rdf_temperature_of(const io_frame *frame);

/** Mean and standard error of the temperature that velocities tell; NaN where none is known. */
void rdf_temperature_kinetic(const rdf_kinetic *kinetic, double *kT, double *error);

/** Fail where --temperature is not what forces and counts tell, or velocities, beyond the error of
 *  that; with --trust-temperature set found->distrusted and the gains to NaN instead.
 *  @return exit status, reported */
int rdf_temperature_judge(const rdf_task *task, rdf_outcome *found);

/** Fail where all forces are 0. @return exit status, reported. */
int rdf_force_check(const rdf_task *task, const io_frame *frame);

/** Add what the forces of a frame tell to its row. @return false: no memory. */
bool rdf_force_add(const rdf_task *task, const rdf_outcome *found, const kith_histogram *h,
                   double *row);

/** From rows, before they are blocks, to the weights of a curve. @return false: no memory. */
bool rdf_force_weights(const rdf_outcome *found, rdf_curve *curve);

/** From blocks to its g by forces. @return false: no memory. */
bool rdf_force_curve(const rdf_task *task, const rdf_outcome *found, rdf_curve *curve);

/** Index of the partial of classes a and b. */
int64_t rdf_partial(const rdf_classes *classes, int a, int b);

/** Whether the bins and selections are those of S(q). */
bool rdf_structure_can(const rdf_task *task, const rdf_outcome *found);

/** Choose the bins of q of S(q) by the options and found->extent. @return an exit status,
 *  reported. */
int rdf_structure_begin(const rdf_task *task, rdf_outcome *found);

/** Check that the vectors q of a frame's box are within limits. @return exit status, reported */
int rdf_structure_check(const rdf_task *task, const rdf_outcome *found, const kith_box *box);

/** Sum over a frame's particles, and add to its row. For any thread.
 *  @return the status of ctx, which has the message */
kith_status rdf_structure_sum(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx,
                              rdf_frame *f);
void rdf_sums_free(rdf_sums *sums);

/** From blocks to S(q). @return an exit status, reported. */
int rdf_structure_make(const rdf_task *task, rdf_outcome *found);

/** S by transform of each factor, Ashcroft-Langreth, at other q, [factors][n]; to be freed.
 *  @return NULL: no memory */
double *rdf_structure_line(const rdf_task *task, const rdf_outcome *found, int64_t n,
                           const double *q);

/** Write --sq. @return an exit status, reported. */
int rdf_structure_write(const rdf_task *task, const rdf_outcome *found);
void rdf_structure_free(rdf_structure *structure);

/** Write -o. @return an exit status, reported. */
int rdf_write(const rdf_task *task, const rdf_outcome *found);

/** Draw --plot. @return an exit status, reported. */
int rdf_plot(const rdf_task *task, const rdf_outcome *found);

void rdf_print(const rdf_task *task, const rdf_outcome *found);
json_t *rdf_json(const rdf_task *task, const rdf_outcome *found);

#endif
