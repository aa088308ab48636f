/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of this folder share: jobs, ranks, messages and arrays that travel with a job.
 *
 * Every function of a job runs on all ranks, with equal numbers of collective calls: what may fail
 * on one rank (memory) ends with an agreement, before messages are exchanged. Functions come in
 * pairs: ranks_X, called in rank 0, describes a job, sends it and calls ranks__do_X; the other
 * ranks receive the job in ranks.c, and call ranks__do_X, too. The control transport carries jobs
 * and arrays; the team has a transport of its own.
 */
#ifndef KITH_CLI_RANKS_INTERNAL_H
#define KITH_CLI_RANKS_INTERNAL_H

#include "launcher.h"
#include "ranks.h"

#include <pthread.h>

/* MESSAGE_BYTES: as long as a message of the library. BACKENDS_BYTES: longest --backend, with its
 * end. */
enum { MOST_RANKS = LAUNCHER_MOST_RANKS, MESSAGE_BYTES = 512, BACKENDS_BYTES = 1024 };

/** What a job does. */
enum job_kind {
    JOB_END,          /**< end the rank */
    JOB_READ,         /**< read a share of a file */
    JOB_PASS,         /**< make a pass over the shares */
    JOB_RADII,        /**< get the radii of the particles of a share */
    JOB_SPECIES,      /**< number the species of the particles of a share */
    JOB_WEIGHTS,      /**< get the weights of the particles of a share */
    JOB_OPEN,         /**< open context and team */
    JOB_CLOSE,        /**< close context and team, and free shares and results */
    JOB_FOF,          /**< find friends-of-friends groups */
    JOB_COUNT_LABELS, /**< count the particles of each label */
    JOB_RENUMBER,     /**< renumber the labels */
    JOB_HALOS,        /**< measure halos */
    JOB_SORT,         /**< sort the particles of the shares by group */
    JOB_ROWS,         /**< bring rows of the shares to rank 0 */
    JOB_RDF,          /**< count a histogram of distances */
    JOB_FRAMES,       /**< count a histogram of each of several frames, each on one rank */
    JOB_PAIRS,        /**< count pairs, and neighbours of each particle */
    JOB_SPREAD,       /**< describe the numbers of neighbours that JOB_PAIRS has left */
    JOB_LIST,         /**< find pairs, and bring them to rank 0 block by block */
    JOB_NEAREST,      /**< find nearest neighbours */
    JOB_FLOCK,        /**< start a flock */
    JOB_CHANGE,       /**< change the options of the flock */
    JOB_STEP,         /**< advance the flock */
    JOB_STATE,        /**< bring the state of the flock to rank 0 */
    JOB_MEASURE,      /**< measure the flock */
    JOB_DEAL          /**< call the function of ranks_on_deal */
};

/** Arrays that travel with a job: elements of job.whole, and of ranks.column, received arrays and
 *  results. RESULTS are those of the current job, WIDE_LABELS labels as int64_t, NUMBERS numbers by
 *  label, REQUEST a struct request, a radii_source or a path. SORTED and SORTED_ROWS are those of
 *  io_sort_share, which
 *  JOB_SORT leaves; ROWS and ROW_NUMBERS what JOB_ROWS sends. */
enum column {
    XYZ,
    AGAINST,
    IDS,
    ROLES,
    VELOCITIES,
    SPECIES,
    MOLECULES,
    WEIGHTS,
    FORCES,
    SPECIES_AGAINST,
    MOLECULES_AGAINST,
    RADII,
    RADII_AGAINST,
    CUTOFFS,
    BOND_OFFSETS,
    BONDS,
    EDGES,
    LABELS,
    MASSES,
    TYPES,
    POTENTIALS,
    DENSITIES,
    RESULTS,
    WIDE_LABELS,
    NEAREST_COUNTS,
    NEAREST_J,
    NEAREST_DISTANCES,
    NEAREST_VECTORS,
    NEAREST_SHIFTS,
    FACTORS,
    FLOCK_POSITIONS,
    FLOCK_VELOCITIES,
    HALOS,
    REQUEST,
    NUMBERS,
    FIRST_ROWS,
    SORTED,
    SORTED_ROWS,
    ROWS,
    ROW_NUMBERS,
    COLUMNS
};

/** What rank 0 tells all ranks to do. In another process, pointers in it only say whether there is
 *  an array. */
struct job {
    enum job_kind kind;            /**< which of the fields below count */
    int status;                    /**< END: exit status */
    int threads;                   /**< OPEN: threads of each rank; 0: its share of the machine */
    char backends[BACKENDS_BYTES]; /**< OPEN: names of backends, which ranks use in turn */
    int set;                       /**< READ, RADII, SPECIES: index of the set */
    bool shares;                   /**< each rank has read its share of the particles: arrays of
                                        particles do not travel */
    int64_t n;                     /**< particles */
    int64_t n_against;             /**< PAIRS, LIST, NEAREST: particles of the second set */
    bool has_against;              /**< the call has a second set */
    int64_t groups;                /**< HALOS, COUNT_LABELS, RENUMBER, SORT: groups */
    double sphere_density[KITH_SPHERES]; /**< HALOS: densities of spheres */
    io_row_order order;                  /**< SORT, ROWS: the order of rows */
    io_catalogue_column field;           /**< ROWS: the column */
    int64_t first;                       /**< ROWS: first row; there are n */
    const io_particles *share;           /**< SORT, ROWS: rank 0: its share */
    int64_t bonds; /**< RDF, PAIRS, LIST: bonds, those before the first particle's included */
    int64_t k;     /**< NEAREST: neighbours of each particle */
    kith_precision precision;       /**< of the positions */
    bool has_box;                   /**< the call has a box */
    kith_box box;                   /**< the box */
    double length;                  /**< linking length or cutoff */
    const void *whole[COLUMNS];     /**< rank 0: [n] arrays; NULL: the column does not travel */
    kith_fof_options fof;           /**< FOF */
    uint8_t role_of[IO_MOST_TYPES]; /**< FOF with shares: roles by type */
    kith_rdf_options rdf;           /**< RDF */
    int64_t held;                   /**< RDF with shares: particles that rank 0 has chosen */
    int32_t class_of_type[IO_MOST_TYPES]; /**< RDF with shares: as for ranks_rdf_count */
    kith_pairs_options pairs;             /**< PAIRS, LIST */
    kith_nearest_options nearest;         /**< NEAREST */
    /** FLOCK, CHANGE: its things are those below, its factors the column FACTORS, its species, of
     *  one byte, the column SPECIES. */
    kith_flock_options flock;
    kith_flock_thing things[KITH_MOST_THINGS]; /**< FLOCK, CHANGE: [flock.n_things] */
    int64_t steps;                             /**< STEP */
};

/** One rank. */
struct ranks {
    kith_transport control;      /**< carries jobs and arrays */
    kith_transport work;         /**< threads: the team's transport, until the team takes it */
    bool mpi;                    /**< ranks are processes of MPI; false: threads */
    char list[BACKENDS_BYTES];   /**< backends that ranks use in turn; "": one for all */
    bool shares;                 /**< each rank has read its share of the particles */
    int64_t of_set[2];           /**< with shares: particles of each set, of all ranks */
    io_particles share[2];       /**< with shares, ranks above 0: the share of each set */
    kith_ctx *ctx;               /**< the rank's context; rank 0: the command's */
    kith_team *team;             /**< the team */
    kith_team_groups groups;     /**< result of FOF */
    kith_team_flock *flock;      /**< the flock; NULL: none */
    int64_t flown;               /**< rank 0: particles of the flock, of all ranks */
    void *column[COLUMNS];       /**< arrays that were received, or results */
    int64_t *members;            /**< rank 0: sizes of groups */
    kith_parcel *parcel;         /**< [room] parcels of an exchange; at least one for each rank */
    size_t room;                 /**< capacity of `parcel` */
    bool lost;                   /**< the control transport has failed: it is not used again */
    char message[MESSAGE_BYTES]; /**< why a call failed; "": the context says it */
    pthread_t thread;            /**< threads: this rank's, but of rank 0 */
    struct ranks *all;           /**< threads: [ranks] all of them */
};

/** The ranks of MPI, as rank 0 sees them; NULL: there are none. */
extern struct ranks *ranks__processes;

/** Return the status of a call unless it is KITH_OK. */
#define RANKS_TRY(call) \
    do { \
        const kith_status status_ = (call); \
        if (status_ != KITH_OK) { \
            return status_; \
        } \
    } while (0)

/** Bytes that rank 0 sends to, or receives from, a rank. */
struct part {
    char *data;    /**< where they are, or where they are to be stored; not written when they are
                        sent */
    int64_t bytes; /**< number of bytes */
};

/* ---------------------------------------------------------------------------- ranks_messages.c */

/** Make room for the parcels of the parts of all ranks: one for each whole parcel of the bytes, and
 *  one for each rank, whose last parcel may be shorter. A rank joins with room for parcels of 0
 *  bytes, so that it can receive a job without more memory.
 *  @param bytes  of all parts together   @return false: no memory; the room is as it was */
bool ranks__need_parcels(struct ranks *r, int64_t bytes);

/** Call the function `exchange` of the control transport. @return KITH_OK, KITH_TEAM_LOST */
kith_status ranks__trade(struct ranks *r, const kith_parcel *to, int64_t n_to, kith_parcel *from,
                         int64_t n_from);

/** Call the function `gather` of the control transport. @return KITH_OK, KITH_TEAM_LOST */
kith_status ranks__gather(struct ranks *r, const void *mine, int64_t bytes, void *all);

/** Call the function `combine` of the control transport. @return KITH_OK, KITH_TEAM_LOST */
kith_status ranks__combine(struct ranks *r, kith_combine how, int64_t *inout, int64_t n);

/** Send a part from rank 0 to each other rank or, if `back`, from these to rank 0. To be called
 *  after ranks__need_parcels.
 *  @param part  rank 0: [ranks] the parts; others: their own
 *  @return KITH_OK, KITH_TEAM_LOST */
kith_status ranks__exchange(struct ranks *r, const struct part *part, bool back);

/** Make one status of those of all ranks: KITH_OK, which is 0, only where all have it. Others are
 *  negative, so that the minimum is an error. */
kith_status ranks__agree(struct ranks *r, kith_status status);

/** Return KITH_NO_MEMORY where memory is NULL. A rank that needs no memory passes `r`. */
static inline kith_status ranks__got(const void *memory)
{
    return memory ? KITH_OK : KITH_NO_MEMORY;
}

/** Set r->message to that of the lowest rank that failed, and return its status. The status is a
 *  sum over ranks, to which that rank alone contributes.
 *  @param status  that of this rank
 *  @param names   the message begins with the number of the rank */
kith_status ranks__fetch_message(struct ranks *r, kith_status status, bool names);

/** Note that the control transport has failed. A rank above 0 ends all ranks, which would wait for
 *  it; rank 0 reports the failure first, and ends the others when it closes them.
 *  @return KITH_TEAM_LOST */
kith_status ranks__lose(struct ranks *r);

/** Send a job from rank 0 to all; at the other ranks, receive it into *job.
 *  @return KITH_OK, KITH_TEAM_LOST */
kith_status ranks__tell(struct ranks *r, struct job *job);

/** Send bytes from rank `from` to the next one, from the last one to rank 0. To be called by all
 *  ranks; for more bytes than ranks have parcels, after ranks__need_parcels.
 *  @param data  rank `from`: the bytes; the next one: where they are stored */
kith_status ranks__hand_on(struct ranks *r, int from, void *data, int64_t bytes);

/* ------------------------------------------------------------------------------ ranks_arrays.c */

/** Allocate an array of n rows for a column, received or a result, and free the one before. One
 *  byte more, as malloc(0) may return NULL. @return the array; NULL: no memory */
void *ranks__need_column(struct ranks *r, enum column column, int64_t n, size_t size);

/** Return the index of the first of n rows that is in the part of a rank. */
int64_t ranks__first_of(const struct ranks *r, int64_t n, int rank);

/** Return how many of n rows are in the part of a rank. */
int64_t ranks__rows_of(const struct ranks *r, int64_t n, int rank);

/** Send each rank its part of an array of n rows, or bring the parts together at rank 0.
 *  @param whole  rank 0: [n] the array; its own part is at the beginning
 *  @param mine   other ranks: their part */
kith_status ranks__move_parts(struct ranks *r, char *whole, char *mine, int64_t n, size_t size,
                              bool back);

/** Bring an array of n rows together at rank 0.
 *  @param mine        the part of this rank
 *  @param[out] whole  rank 0: address of the pointer to the array, which stays until the ranks are
 *                     closed; NULL at other ranks */
kith_status ranks__bring(struct ranks *r, enum column column, const void *mine, int64_t n,
                         size_t size, void *whole);

/** Bring rows of all ranks together at rank 0, in the order of the ranks.
 *  @param held  [ranks] rows of each rank
 *  @param rows  rank 0: room for all, its own are at the beginning; others: their own */
kith_status ranks__bring_held(struct ranks *r, const int64_t *held, void *rows, size_t size);

/** Give each rank its part of an array of one row for each particle: a pointer into it, or in
 *  another process a copy.
 *  @param size       bytes of a row
 *  @param[out] mine  the part; NULL where the column does not travel */
kith_status ranks__scatter(struct ranks *r, const struct job *job, enum column column, size_t size,
                           const void **mine);

/** Give each rank an array of `bytes` bytes: a pointer to it, or in another process a copy. */
kith_status ranks__share(struct ranks *r, const struct job *job, enum column column, int64_t bytes,
                         const void **mine);

/** Scatter the positions, which are packed. */
kith_status ranks__scatter_points(struct ranks *r, const struct job *job, kith_points *mine);

/** Scatter the positions of the second set, if there is one.
 *  @param[out] mine   the points of this rank; they must stay as long as *given
 *  @param[out] given  for the options of the library: mine, or NULL */
kith_status ranks__scatter_against(struct ranks *r, const struct job *job, kith_points *mine,
                                   const kith_points **given);

/** Give each rank all bonds, and the offsets into them from its first particle on.
 *  @param[out] offsets, bonds  for the options of the library; NULL: there are none */
kith_status ranks__scatter_bonds(struct ranks *r, const struct job *job, const int64_t **offsets,
                                 const int32_t **bonds);

/** Describe the bonds of a job, in rank 0. @param offsets  NULL: there are none */
void ranks__describe_bonds(struct job *job, const int64_t *offsets, const int32_t *bonds);

/** Describe the positions of a job, in rank 0. @param against  NULL: there is one set */
void ranks__describe_sets(const struct ranks *r, struct job *job, const kith_points *points,
                          const kith_box *box, const kith_points *against);

/** Return the box of a job. */
const kith_box *ranks__box_of(const struct job *job);

/* ------------------------------------------------------------------------------ ranks_groups.c */

/** Find the groups, and bring them together at rank 0. @param out  NULL at ranks above 0 */
kith_status ranks__do_fof(struct ranks *r, const struct job *job, kith_groups *out);

/** Count the labels of the groups of all ranks. @param[out] members  [n]; zeroed before */
kith_status ranks__do_count_labels(struct ranks *r, int64_t n, int64_t *members);

/** Give the labels of this rank's share other numbers. */
kith_status ranks__do_renumber(struct ranks *r, const struct job *job);

/* -------------------------------------------------------------------------------- ranks_rows.c */

/** Sort the particles of all shares: each rank sorts its own, and gets the row of each among those
 *  of all ranks. The first row of each key travels from rank to rank, as particles of equal keys
 *  are in the order of the ranks.
 *  @param[out] begin  as io_shares.sort says */
kith_status ranks__do_sort(struct ranks *r, const struct job *job, int64_t begin[KITH_TYPES + 1]);

/** Bring job->n rows of a column of all shares to rank 0.
 *  @param[out] to  rank 0: [n] the rows; NULL at other ranks */
kith_status ranks__do_rows(struct ranks *r, const struct job *job, char *to);

/* ------------------------------------------------------------------------------- ranks_halos.c */

/** Receive the arrays of the particles, and measure the halos. @param out  NULL at ranks above 0 */
kith_status ranks__do_halos(struct ranks *r, const struct job *job, kith_halos *out);

/* --------------------------------------------------------------------------------- ranks_rdf.c */

/** Count a histogram over all ranks.
 *  @param out           NULL at ranks above 0, which drop it
 *  @param[in,out] sums  with shares and weights: sums of the weights, from rank 0 to the last one,
 *                       and back */
kith_status ranks__do_rdf(struct ranks *r, const struct job *job, kith_histogram *out,
                          ranks_weight_sums *sums);

/* ------------------------------------------------------------------------------ ranks_frames.c */

/** Count frames, each on one rank. @param frame  rank 0: [job->n]; NULL at other ranks */
kith_status ranks__do_frames(struct ranks *r, const struct job *job, ranks_frame *frame);

/* ------------------------------------------------------------------------------- ranks_pairs.c */

/** Give each rank the arrays of a list's rules for its particles, in the options. */
kith_status ranks__scatter_rules(struct ranks *r, const struct job *job, kith_pairs_options *o);

/** Make the job of a list, in rank 0. The command has no active particles. */
struct job ranks__list_job(const struct ranks *r, enum job_kind kind, const kith_points *points,
                           const kith_box *box, double cutoff, const kith_pairs_options *how);

/** Count pairs over all ranks.
 *  @param[out] n           number of pairs
 *  @param[out] neighbours  rank 0: [particles, or those of its share]; NULL: not wanted */
kith_status ranks__do_pairs(struct ranks *r, const struct job *job, int64_t *n,
                            int64_t *neighbours);

/** Put the numbers of neighbours of all ranks together.
 *  @param neighbours  [n] those of this rank's particles */
kith_status ranks__do_spread(struct ranks *r, const int64_t *neighbours, int64_t n, spread *out);

/* -------------------------------------------------------------------------------- ranks_list.c */

/** Find the list, and pass it on block by block. @param fn  NULL at ranks above 0 */
kith_status ranks__do_list(struct ranks *r, const struct job *job, kith_block_fn fn, void *user);

/* ----------------------------------------------------------------------------- ranks_nearest.c */

/** Find nearest neighbours, and bring the rows together. @param out  NULL at ranks above 0 */
kith_status ranks__do_nearest(struct ranks *r, const struct job *job, kith_nearest *out);

/* ------------------------------------------------------------------------------- ranks_flock.c */

/** Start a flock. */
kith_status ranks__do_flock(struct ranks *r, const struct job *job);

/** Change the options of the flock. */
kith_status ranks__do_change(struct ranks *r, const struct job *job);

/** Bring the state of the flock to rank 0.
 *  @param p  rank 0: receives it; others: NULL */
kith_status ranks__do_state(struct ranks *r, const struct job *job, io_particles *p);

/* ----------------------------------------------------------------------------- ranks_reading.c */

/** Read the share of a rank above 0. */
void ranks__do_read(struct ranks *r, const struct job *job);

/** Get the radii of the particles of a share. @param radii, range  NULL at ranks above 0
 *  @param p          the share
 *  @param[out] error  how it ended on all ranks */
kith_status ranks__do_radii(struct ranks *r, const struct job *job, const io_particles *p,
                            void *radii, radii_range *range, io_error *error);

/** Get the weights of the particles of a share, in column WEIGHTS at ranks above 0.
 *  @param p           the share
 *  @param weights     rank 0: [p->n] receives them; NULL at ranks above 0
 *  @param[out] any    a weight of all ranks is not 0
 *  @param[out] error  how it ended on all ranks */
kith_status ranks__do_weights(struct ranks *r, const struct job *job, const io_particles *p,
                              double *weights, bool *any, io_error *error);

/** Number the species of the particles of a share, rank after rank.
 *  @param p              the share
 *  @param[in,out] names  the names; they travel from rank 0 to the last one, and back
 *  @param species        rank 0: [p->n] receives the numbers; NULL at ranks above 0
 *  @param[out] error     how reading ended on all ranks */
kith_status ranks__do_species(struct ranks *r, const struct job *job, const io_particles *p,
                              species_names *names, int32_t *species, io_error *error);

/** Make a pass, rank after rank; its state travels from rank 0 to the last one, and back.
 *  @param p  rank 0: the state; others: where it is received */
kith_status ranks__do_pass(struct ranks *r, const io_particles *share, pass *p);

#endif
