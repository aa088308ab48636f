/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith rdf` was asked and what it found: passed from step to step.
 */
#ifndef KITH_CLI_RDF_H
#define KITH_CLI_RDF_H

#include "common/input.h"
#include "ranks/ranks.h"
#include "rdf_blocks.h"
#include "common/space.h"
#include "structure.h"
#include "common/table.h"
#include "waves.h"

#include <jansson.h>

/** Most classes of particles, each of one or more species. */
enum { RDF_MOST_CLASSES = RANKS_MOST_CLASSES };

/** What was asked: the values of the options. */
typedef struct rdf_task {
    options shared;            /**< the options that verbs share */
    const char *input;         /**< path of the trajectory */
    double r_min, r_max;       /**< range of r [length]; r_max 0: half the box, or its corner with
                                    minimum_image */
    int64_t bins;              /**< number of bins of r */
    double width;              /**< --width of a bin [length]; 0: by `bins` */
    bool log;                  /**< --log: edges of bins have equal ratios */
    const char *edges;         /**< --edges: file of the edges of bins; NULL: by the fields above */
    bool minimum_image;        /**< --minimum-image: the nearest image of each pair alone */
    const char *select, *with; /**< --select, --with; NULL: all species, and those of --select */
    bool partials;             /**< --partials: a curve for each pair of classes */
    bool without_molecules;    /**< omit pairs within a molecule */
    bool without_bonds;        /**< omit bonded pairs */
    const char *weights;       /**< --weights: name of a column, or a file; NULL: none */
    const char *weights_file;  /**< --weights if it is a file, else NULL */
    int64_t blocks;            /**< blocks of frames for errors, at most */
    bool force;                /**< --estimator force */
    double kT;                 /**< --temperature [force times length] */
    const char *temperature;   /**< --temperature as it was given */
    bool trust;                /**< --trust-temperature */
    table_format format;       /**< --format of the output */
    const char *unit;          /**< --unit of length; NULL: that of the file or its format */
    const char *plot;          /**< --plot: file of the figure; NULL: none */
    const char *sq;            /**< --sq: file of S(q); NULL: no S(q) */
    double q_min, q_max, q_width; /**< bins of q [1/length]; 0: by the box and the density */
    int64_t q_vectors;            /**< vectors q in a bin at most; 0: no direct sum */
    structure_window window;      /**< window of the transform from g(r) to S(q) */
    double slope[2];              /**< range of q in which a power law is fitted; 0: no fit */
} rdf_task;

/** A class: species whose particles are counted together. */
typedef struct rdf_class {
    char name[IO_NAME_LENGTH]; /**< name of the species, or of --select or --with */
    bool first, second;        /**< the class is in --select; in --with */
    int64_t members;           /**< particles in the first frame */
} rdf_class;

/** All classes, and the class of each species. */
typedef struct rdf_classes {
    int n;                            /**< number of classes */
    rdf_class item[RDF_MOST_CLASSES]; /**< [n] the classes */
    int n_names;                      /**< species of the trajectory so far */
    int *of_name;                     /**< [n_names] class of each species; -1: not counted */
    bool has_rest;                    /**< some species are not counted */
} rdf_classes;

/** A pair distribution: of the classes a and b, or of --select with --with. Errors are standard
 *  errors from blocks of frames; NaN if there is one block. */
typedef struct rdf_curve {
    char name[2 * IO_NAME_LENGTH]; /**< "O-H" */
    int a, b;                      /**< classes; -1: --select and --with */
    double *g, *g_error;           /**< [bins] g(r) */
    double *n, *n_error;           /**< [bins] running coordination to the end of each bin */
    double *count;                 /**< [bins] pairs counted, each once */
    int64_t peak, low;             /**< highest bin, and the lowest bin after it; -1: none */
    double *force, *force_error;   /**< [bins] g(r) by forces; NULL: not asked for */
    double *zero, *infinity;       /**< [bins] g(r) by forces, integrated from 0; from infinity */
    double *weight;                /**< [bins] weight of their difference in `force` */
    double kT, kT_error;           /**< temperature at which forces fit the counts best [force x
                                        length] */
    double *weighted, *weighted_error; /**< [bins] g_w(r), with weights; NULL: not asked for */
    double *product, *product_error;   /**< [bins] mean of w_i w_j */
    double gain;                       /**< variance by counts / by forces: median over bins */
} rdf_curve;

/** S(q) of the classes a and b, or of all. */
typedef struct rdf_factor {
    char name[2 * IO_NAME_LENGTH]; /**< "O-H", or "all" */
    int a, b;                      /**< classes; -1: all particles */
    double *fz, *fz_error;         /**< [q bins] Faber-Ziman partial by transform; of all: S(q) */
    double *al, *al_error;   /**< [q bins] Ashcroft-Langreth partial by transform; of all: S(q) */
    double *sum, *sum_error; /**< [q bins] Ashcroft-Langreth partial by direct sum; of all: S(q) */
} rdf_factor;

/** Sums of exp(i q.r) over the particles of a frame. Zero it first; rdf_sums_free frees it. */
typedef struct rdf_sums {
    waves waves;       /**< vectors q of the box */
    double rows[3][3]; /**< rows of the box that these vectors belong to */
    double *value;     /**< [waves.n][classes][2] real and imaginary parts; NULL: no vectors yet */
} rdf_sums;

/** S(q) in bins of q. */
typedef struct rdf_structure {
    double *room;              /**< memory of all arrays below */
    bool direct;               /**< direct sums are made, too */
    int64_t bins;              /**< bins of q */
    double q_min, width;       /**< low edge of the first bin; width of each [1/length] */
    int64_t most_waves;        /**< vectors q of the frame that has most */
    double *low, *high;        /**< [bins] edges of each bin [1/length] */
    double *q;                 /**< [bins] mean |q| of the vectors, or the middle of the bin */
    double *vectors;           /**< [bins] number of vectors, summed over frames */
    int n;                     /**< number of factors */
    rdf_factor *factor;        /**< [n]; the first is that of all particles */
    int64_t slope_points;      /**< points that the power law was fitted to; 0: none was */
    double slope, slope_error; /**< exponent d of S ~ q^-d */
} rdf_structure;

/** Layout of a row of the blocks: first two sizes, then offsets of what a frame adds to it. A
 *  partial is a pair of classes a <= b; rdf_partial gives its index. */
typedef struct rdf_layout {
    int64_t bins, partials; /**< sizes: bins of r, and pairs of classes */
    int64_t frames;         /**< number of frames: 1 */
    int64_t volume;         /**< volume of the box */
    int64_t centres;        /**< [classes] particles of each class */
    int64_t counts;         /**< [partials][bins] pairs */
    int64_t ideal;          /**< [partials][bins] pairs expected of an ideal gas */
    int64_t force;          /**< [partials][bins + 2] numbers from forces; see rdf_force.c */
    int64_t products;       /**< [partials][bins] sums of w_i w_j over pairs */
    int64_t strewn;         /**< [partials][bins] sums of w_i w_j expected of an ideal gas */
    int64_t vectors;        /**< [q bins] number of vectors q */
    int64_t q_sum;          /**< [q bins] sum of |q| over the vectors */
    int64_t direct;         /**< [partials][q bins] sums of S over the vectors */
    int64_t direct_all;     /**< [q bins] sums of S of all particles that are counted */
    int64_t width;          /**< numbers in a row */
} rdf_layout;

/** What the boxes of all frames have in common: default ranges of r and q follow from it, so that
 *  they do not depend on the order of the frames. */
typedef struct rdf_extent {
    bool known;         /**< a box was added; if false, the numbers below are not set */
    double half;        /**< the smallest half height [length] */
    double corner;      /**< the smallest half diagonal, of boxes with right angles [length] */
    double least_q;     /**< the smallest q along an axis of a box [1/length] */
    double most_volume; /**< the largest volume; area in two dimensions */
} rdf_extent;

/** The temperature from velocities: sums over frames of the kT of a frame. */
typedef struct rdf_kinetic {
    int64_t frames;      /**< frames whose kT is known */
    double sum, squares; /**< sums of kT and of kT^2 [force times length] */
} rdf_kinetic;

/** What was found. */
typedef struct rdf_outcome {
    input_frames from;                /**< what is known of the trajectory */
    const char *unit;                 /**< unit of length; "": not known */
    char file_unit[IO_NAME_LENGTH];   /**< unit of length in the file; "": the file has none */
    int64_t particles;                /**< particles in each frame */
    kith_precision precision;         /**< precision of the coordinates */
    space space;                      /**< box of the first frame */
    rdf_extent extent;                /**< of all frames; of the first if the options give ranges */
    double least_volume, most_volume; /**< smallest and largest volume of a box */
    int64_t frames;                   /**< frames counted */
    int64_t first_index, last_index;  /**< index in the file of the first and the last of them */
    int64_t last_step;                /**< step of the simulation of the last of them */
    bool partial;                     /**< the run was stopped before the last frame */
    char partial_text[96];            /**< a sentence that says so */
    kith_rdf_options how;             /**< what is counted in a frame */
    double *edges;                    /**< [how.bins + 1] edges of the bins of r */
    bool narrower;                    /**< the last bin is narrower than the others */
    double *middle;                   /**< [how.bins] middle of each bin */
    double *shells;                   /**< [how.bins] volume of the shell of each bin; by forces */
    double *weights;                  /**< [particles] weights from a file, or of a share; NULL:
                                           none */
    bool any_weight;                  /**< with shares: a weight of all ranks is not 0 */
    rdf_classes classes;              /**< what is counted together */
    const char *inside;               /**< "molecules" or "bonds": pairs within these are known, and
                                           counted; NULL: not known, or not counted */
    rdf_layout layout;                /**< layout of a row of the blocks */
    rdf_blocks blocks;                /**< sums over frames */
    int n_curves;                     /**< number of curves */
    rdf_curve *curve;                 /**< [n_curves] the curves */
    double *curve_room;               /**< memory of all arrays of the curves */
    int64_t pairs;                    /**< pairs counted in all frames */
    rdf_kinetic kinetic;              /**< of frames with velocities, masses and known units */
    bool distrusted;                  /**< forces or velocities contradict --temperature */
    rdf_structure structure;          /**< S(q) */
    kith_ctx *ctx;                    /**< the library */
    ranks *ranks;                     /**< the ranks that count pairs; NULL: ctx alone */
    int parts;                        /**< ranks that have read a share each; 1: rank 0 read all */
    int64_t n_of_type[IO_MOST_TYPES]; /**< with shares: particles of each type, of all ranks */
    int32_t class_of_type[IO_MOST_TYPES]; /**< with shares: class of each type, of all particles [0]
                                               where they have no types; -1: not counted */
    double count_seconds;                 /**< time in which frames were counted [s] */
    double sum_seconds;   /**< time in which frames were summed over vectors q [s] */
    double write_seconds; /**< time to write the outputs [s]; NaN before */
} rdf_outcome;

/** Read the trajectory and count. @return exit status, reported; STATUS_OK also if Ctrl-C stopped
 *  it after some frames */
int rdf_run(const rdf_task *task, rdf_outcome *found);

/** Extend the extent by the box of a frame. */
void rdf_extent_add(const kith_box *box, rdf_extent *extent);

/** Choose the bins of r by the options and found->extent. @return exit status, reported */
int rdf_choose_bins(const rdf_task *task, rdf_outcome *found);

/** Give each new species of the frame a class. @return exit status, reported */
int rdf_classify(const rdf_task *task, const io_frame *frame, rdf_classes *classes);

/** Fail if a species of --select or --with has no particle. @return exit status, reported */
int rdf_check_selection(const rdf_task *task, const io_frame *frame);

/** The particles of a frame that are counted. Zero it first; rdf_part_free frees it. */
typedef struct rdf_part {
    kith_points points;    /**< their positions: of the frame, or `pos` */
    const void *forces;    /**< [points.n][3] forces: of the frame, or `force`; NULL: not used */
    void *pos, *force;     /**< [points.n][3] copies, if the frame's own are not used */
    double *weight;        /**< [points.n] weights, if --weights needs them */
    int32_t *species;      /**< [points.n] class of each */
    int32_t *molecule;     /**< [points.n] molecule of each, if --exclude-molecules needs it */
    int32_t *place;        /**< [particles] index of each particle in the part; -1: not counted */
    int32_t *bonds;        /**< compressed rows of bonded particles, for --exclude-bonds */
    int64_t *bond_offsets; /**< [points.n + 1] first entry of each row of `bonds` */
    int64_t room;          /**< particles that the arrays have room for */
    int64_t bond_room;     /**< bonds that `bonds` has room for */
    size_t row;            /**< size of a row of `pos` and `force` [byte] */
} rdf_part;

/** Pick the particles of a frame that have a class. Arrays of the frame before are used again where
 *  they are large enough.
 *  @param copy  let the part hold copies of all arrays, so that it outlasts the frame
 *  @return exit status, reported */
int rdf_pick(const rdf_task *task, const rdf_outcome *found, const io_frame *frame, bool copy,
             rdf_part *part);
void rdf_part_free(rdf_part *part);

/** What the row of a frame holds. */
typedef enum rdf_row_of {
    RDF_ROW_OF_FRAME, /**< the numbers of the frame */
    RDF_ROW_OF_GRAIN, /**< the sums of all frames of its grain so far */
    RDF_NO_ROW        /**< nothing: a later frame has the row of the grain */
} rdf_row_of;

/** A frame and what is counted in it: a record of lanes.h. Zero it first; rdf_frame_free frees
 *  it. */
typedef struct rdf_frame {
    int64_t index, step;  /**< index of the frame in the file; step of the simulation */
    int64_t particles;    /**< particles in the frame, counted or not */
    kith_box box;         /**< box of the frame */
    rdf_part part;        /**< particles that are counted */
    int n_classes;        /**< classes known when the frame was read */
    rdf_kinetic kinetic;  /**< of this frame alone */
    rdf_sums sums;        /**< direct sums */
    double *row;          /**< [layout.width] what the frame adds to a row of the blocks */
    rdf_row_of row_of;    /**< what `row` holds */
    kith_ctx *ctx;        /**< the context that counted it; has the message of a failure */
    kith_status counted;  /**< status of counting */
    int64_t bad_frame;    /**< after a failure: index in the file of the frame that has failed; -1:
                               not known */
    int64_t bad_particle; /**< its first counted particle, by index in the frame, of which a
                               coordinate is not finite; -1: none, or not known */
    double count_seconds; /**< time to count it [s] */
    double sum_seconds;   /**< time to sum it over vectors q [s] */
} rdf_frame;

/** Find out which of the frames of a call that has failed is to blame, and note it in all of them.
 *  @param frame  [n] */
void rdf_frames_blame(const rdf_outcome *found, rdf_frame *const *frame, int64_t n);

/** Allocate and zero the row of a frame. @return false: no memory */
bool rdf_row_clear(const rdf_outcome *found, rdf_frame *f);

/** Fill a row with the counts of a histogram, whose frames have this volume in sum. */
void rdf_row_fill(const rdf_outcome *found, const kith_histogram *h, double volume, double *row);

/** Count a frame that was prepared: fill its row. Prints nothing, so that any thread may call it
 *  with a context of its own. @return false: failed */
bool rdf_frame_count(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx, rdf_frame *f);

/** Count small frames that were prepared with copies, each on one of the ranks. Frames of which
 *  more than positions and classes is needed are counted one by one, on all ranks.
 *  @param frame  [n]   @return false: failed */
bool rdf_frames_count(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx,
                      rdf_frame *const *frame, int64_t n);

/** Frames that are counted by one call: their particles, and the sums of their grain. Zero it
 *  first; rdf_batch_free frees it. */
typedef struct rdf_batch {
    kith_histogram sum;     /**< sums over the frames of the grain */
    double volume;          /**< sum of the volumes of their boxes */
    void *xyz;              /**< [particles][3] positions of the frames of a call */
    size_t bytes;           /**< size of xyz */
    int32_t *species;       /**< [most_particles] class of each particle */
    int64_t most_particles; /**< particles that species has room for */
    int64_t *offsets;       /**< [most_systems + 1] first particle of each frame */
    kith_box *boxes;        /**< [most_systems] box of each frame */
    int64_t most_systems;   /**< frames that offsets and boxes have room for */
} rdf_batch;

/** Return how many frames, from a frame on, rdf_batch_count may be given at once; 0: batches do not
 *  make these sums faster.
 *  @param frame  number of the frame among those that are counted, from 0 */
int64_t rdf_batch_frames(const rdf_task *task, const rdf_outcome *found, int64_t frame);

/** Count frames that were prepared with copies: those after the last call's. Prints nothing.
 *  @param first  number of the first of them   @param n  at most rdf_batch_frames
 *  @return false: failed; the statuses of the frames up to the first bad one are set */
bool rdf_batch_count(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx, int64_t first,
                     rdf_frame *const *frames, int64_t n, rdf_batch *batch);
void rdf_batch_free(rdf_batch *batch);

/** Report how counting a frame went. @return exit status, reported but for STATUS_INTERRUPTED */
int rdf_frame_report(const rdf_task *task, const rdf_outcome *found, const rdf_frame *f);

/** Add a frame that was counted to the results. @return exit status, reported */
int rdf_frame_add(rdf_outcome *found, const rdf_frame *f);
void rdf_frame_free(rdf_frame *f);

/** Set found->inside by the first frame. @return exit status, reported */
int rdf_find_inside(const rdf_task *task, const io_frame *frame, rdf_outcome *found);

/** Summary text on pairs within molecules or bonds, or NULL. */
const char *rdf_inside_text(const rdf_outcome *found);

/** Divide memory into n arrays of `each` numbers. @return the memory behind them */
double *rdf_carve(double *room, int64_t each, double **const arrays[], int n);

/** List the curves and compute them from the blocks, which are folded. @return exit status,
 *  reported */
int rdf_make_curves(const rdf_task *task, rdf_outcome *found);

/** Read the file of --weights, if it is one, for the first frame's particles; where each rank has a
 *  share, also those that the frame has.
 *  @return exit status, reported */
int rdf_weights_load(const rdf_task *task, const io_frame *frame, rdf_outcome *found);

/** Fail if all weights are 0. @return exit status, reported */
int rdf_weights_check(const rdf_task *task, const rdf_outcome *found, const io_frame *frame);

/** Add a frame's sums of w_i w_j to its row. @param sums  of the particles that are counted */
void rdf_weights_add(const rdf_outcome *found, const ranks_weight_sums *sums,
                     const kith_histogram *h, double *row);

/** Compute g_w and the mean of w_i w_j of a curve from the blocks. @return false: no memory */
bool rdf_weights_curve(const rdf_outcome *found, rdf_curve *curve);

/** Sum over the partials of a curve. @param at  offset in a row of the blocks of [partials][bins]
 *  @return [blocks][bins], to be freed; NULL: no memory */
double *rdf_sum_blocks(const rdf_outcome *found, const rdf_curve *curve, int64_t at);

/** Divide the sums of y by those of x in each bin, with rdf_ratio.
 *  @param y, x               [blocks][bins] sums of the blocks
 *  @param[out] value, error  [bins] */
void rdf_divide(const rdf_outcome *found, const double *y, const double *x, double *value,
                double *error);

/** Return how many times an unordered pair of classes a <= b counts in a curve: 0, 1, or 2. */
double rdf_weight(const rdf_classes *classes, const rdf_curve *curve, int a, int b);

/** Read --temperature. "0.72" is k_B T; "300,kcal" is kelvin, where forces are in kcal/mol, kJ/mol
 *  or eV by length. @param[out] kT  [force times length]
 *  @return false if the text is no temperature above 0 */
bool rdf_parse_temperature(const char *text, double *kT);

/** Compute the temperature from the velocities of a frame. @return .frames is 0 if it has none, or
 *  no masses or units */
rdf_kinetic rdf_temperature_of(const io_frame *frame);

/** Mean and standard error of the temperature from velocities; NaN if it is not known. */
void rdf_temperature_kinetic(const rdf_kinetic *kinetic, double *kT, double *error);

/** Fail if --temperature differs from that of forces and counts, or from that of velocities, by
 *  more than their errors allow. With --trust-temperature set found->distrusted and the gains to
 *  NaN instead.
 *  @return exit status, reported */
int rdf_temperature_judge(const rdf_task *task, rdf_outcome *found);

/** Fail if all forces are 0. @return exit status, reported */
int rdf_force_check(const rdf_task *task, const io_frame *frame);

/** Add the sums over the forces of a frame to its row. @return false: no memory */
bool rdf_force_add(const rdf_task *task, const rdf_outcome *found, const kith_histogram *h,
                   double *row);

/** Compute the weights of a curve by forces from the grains, before rdf_blocks_fold.
 *  @return false: no memory */
bool rdf_force_weights(const rdf_outcome *found, rdf_curve *curve);

/** Compute g(r) by forces of a curve from the blocks. @return false: no memory */
bool rdf_force_curve(const rdf_task *task, const rdf_outcome *found, rdf_curve *curve);

/** Return the index of the partial of classes a and b, in either order. */
int64_t rdf_partial(const rdf_classes *classes, int a, int b);

/** Return true when the transform of g(r) to S(q) is defined: the bins of r begin at 0, and without
 *  --partials, --select and --with are equal or have no particle in common. */
bool rdf_structure_can(const rdf_task *task, const rdf_outcome *found);

/** Choose the bins of q of S(q) by the options and found->extent.
 *  @return exit status, reported */
int rdf_structure_begin(const rdf_task *task, rdf_outcome *found);

/** Check that the vectors q of a frame's box are within limits. @return exit status, reported */
int rdf_structure_check(const rdf_task *task, const rdf_outcome *found, const kith_box *box);

/** Sum over a frame's particles, and add to its row. For any thread.
 *  @return the status of ctx, which has the message */
kith_status rdf_structure_sum(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx,
                              rdf_frame *f);
void rdf_sums_free(rdf_sums *sums);

/** Compute S(q) by transform and by direct sum from the blocks. @return exit status, reported */
int rdf_structure_make(const rdf_task *task, rdf_outcome *found);

/** S by transform of each factor, Ashcroft-Langreth, at other q, [factors][n]; to be freed.
 *  @return NULL: no memory */
double *rdf_structure_line(const rdf_task *task, const rdf_outcome *found, int64_t n,
                           const double *q);

/** Write --sq. @return exit status, reported */
int rdf_structure_write(const rdf_task *task, const rdf_outcome *found);
void rdf_structure_free(rdf_structure *structure);

/** Write -o. @return exit status, reported */
int rdf_write(const rdf_task *task, const rdf_outcome *found);

/** Draw --plot. @return exit status, reported */
int rdf_plot(const rdf_task *task, const rdf_outcome *found);

/** Print the summary. */
void rdf_print(const rdf_task *task, const rdf_outcome *found);

/** Return the summary as JSON. */
json_t *rdf_json(const rdf_task *task, const rdf_outcome *found);

#endif
