/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks of a command: jobs, and arrays that travel with them. Every function of a job runs on all
 * ranks, with equal numbers of collective calls: what may fail on one rank (memory) ends with an
 * agreement, before messages are exchanged.
 *
 * A transport (kith/team.h) has parcels of known sizes between two ranks. Jobs have a fixed size;
 * the parts of an array follow from its length. The team has a transport of its own.
 *
 * Functions come in pairs: ranks_X, called in rank 0, describes a job, sends it and calls do_X; the
 * other ranks receive the job in serve(), and call do_X, too.
 */
#include "ranks.h"

#include "engine.h"
#include "launcher.h"
#include "pool.h"
#include "progress.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t most_parcel = (int64_t)1 << 30; /* largest parcel; MPI counts in int [bytes] */

/* MESSAGE_BYTES: as long as a message of the library. BACKENDS_BYTES: longest --backend, with its
 * end. */
enum { MOST_RANKS = LAUNCHER_MOST_RANKS, MESSAGE_BYTES = 512, BACKENDS_BYTES = 1024 };

/** What a job does. */
enum job_kind {
    JOB_END,          /**< end the rank */
    JOB_READ,         /**< read a share of a file */
    JOB_PASS,         /**< make a pass over the shares */
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
    JOB_MEASURE       /**< measure the flock */
};

/** Arrays that travel with a job: elements of job.whole, and of ranks.column, received arrays and
 *  results. RESULTS are those of the current job, WIDE_LABELS labels as int64_t, NUMBERS numbers by
 *  label, REQUEST a struct request. SORTED and SORTED_ROWS are those of io_sort_share, which
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
    int set;                       /**< READ: index of the set */
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
    /** FLOCK, CHANGE: its things are those below, its factors the column FACTORS, and it has no
     *  array of species. */
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
    void *column[COLUMNS];       /**< arrays that were received, or results */
    int64_t *members;            /**< rank 0: sizes of groups */
    kith_parcel *parcel;         /**< [room] parcels of an exchange; at least one for each rank */
    size_t room;                 /**< capacity of `parcel` */
    bool lost;                   /**< the control transport has failed: it is not used again */
    char message[MESSAGE_BYTES]; /**< why a call failed; "": the context says it */
    pthread_t thread;            /**< threads: this rank's, but of rank 0 */
    struct ranks *all;           /**< threads: [ranks] all of them */
};

/* The ranks of MPI; NULL: there are none. */
static struct ranks *processes;

/* ------------------------------------------------------------------------- messages and parts */

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

/** Append the parcels of one part to the n in r->parcel. @return number of parcels now */
static int64_t list_part(struct ranks *r, int64_t n, int peer, struct part part)
{
    for (int64_t at = 0; at < part.bytes; at += most_parcel) {
        const int64_t left = part.bytes - at;
        r->parcel[n++] = (kith_parcel){
            .peer = peer, .data = part.data + at, .bytes = left < most_parcel ? left : most_parcel};
    }
    return n;
}

/** Make room for the parcels of the parts of all ranks: one for each whole parcel of the bytes, and
 *  one for each rank, whose last parcel may be shorter. A rank joins with room for parcels of 0
 *  bytes, so that it can receive a job without more memory.
 *  @param bytes  of all parts together   @return false: no memory; the room is as it was */
static bool need_parcels(struct ranks *r, int64_t bytes)
{
    const size_t most = (size_t)(bytes / most_parcel) + (size_t)r->control.ranks;
    if (most > r->room) {
        kith_parcel *more = malloc(most * sizeof *more);
        if (!more) {
            return false;
        }
        free(r->parcel);
        r->parcel = more;
        r->room = most;
    }
    return true;
}

/** Note that the control transport has failed. A rank above 0 ends all ranks, which would wait for
 *  it; rank 0 reports the failure first, and ends the others when it closes them.
 *  @return KITH_TEAM_LOST */
static kith_status lose(struct ranks *r)
{
    snprintf(r->message, sizeof r->message, "a rank was lost");
    r->lost = true;
    if (r->control.rank > 0) {
        r->control.abort(r->control.self);
    }
    return KITH_TEAM_LOST;
}

/* The functions of the control transport. Return KITH_OK, KITH_TEAM_LOST. */

static kith_status trade(struct ranks *r, const kith_parcel *to, int64_t n_to, kith_parcel *from,
                         int64_t n_from)
{
    const kith_transport *t = &r->control;
    return t->exchange(t->self, to, n_to, from, n_from, NULL) ? lose(r) : KITH_OK;
}

static kith_status gather(struct ranks *r, const void *mine, int64_t bytes, void *all)
{
    return r->control.gather(r->control.self, mine, bytes, all) ? lose(r) : KITH_OK;
}

static kith_status combine(struct ranks *r, kith_combine how, int64_t *inout, int64_t n)
{
    return r->control.combine(r->control.self, how, inout, n) ? lose(r) : KITH_OK;
}

/** Send a part from rank 0 to each other rank or, if `back`, from these to rank 0. To be called
 *  after need_parcels.
 *  @param part  rank 0: [ranks] the parts; others: their own
 *  @return KITH_OK, KITH_TEAM_LOST */
static kith_status exchange(struct ranks *r, const struct part *part, bool back)
{
    const kith_transport *t = &r->control;
    int64_t n = 0;
    for (int peer = 1; peer < t->ranks && t->rank == 0; peer++) {
        n = list_part(r, n, peer, part[peer]);
    }
    if (t->rank > 0) {
        n = list_part(r, n, 0, *part);
    }
    const bool sends = (t->rank == 0) != back;
    return trade(r, sends ? r->parcel : NULL, sends ? n : 0, sends ? NULL : r->parcel,
                 sends ? 0 : n);
}

/** Make one status of those of all ranks: KITH_OK, which is 0, only where all have it. Others are
 *  negative, so that the minimum is an error. */
static kith_status agree(struct ranks *r, kith_status status)
{
    int64_t worst = status;
    RANKS_TRY(combine(r, KITH_MIN, &worst, 1));
    if (worst == KITH_NO_MEMORY) {
        snprintf(r->message, sizeof r->message, "out of memory on one of %d ranks",
                 r->control.ranks);
    } else if (worst == KITH_TEAM_LOST) {
        snprintf(r->message, sizeof r->message, "a rank was lost");
    }
    return (kith_status)worst;
}

/** Return KITH_NO_MEMORY where memory is NULL. A rank that needs no memory passes `r`. */
static kith_status got(const void *memory)
{
    return memory ? KITH_OK : KITH_NO_MEMORY;
}

/** Set r->message to that of the lowest rank that failed, and return its status. The status is a
 *  sum over ranks, to which that rank alone contributes.
 *  @param status  that of this rank
 *  @param names   the message begins with the number of the rank */
static kith_status fetch_message(struct ranks *r, kith_status status, bool names)
{
    const int64_t none = r->control.ranks;
    int64_t lowest = status != KITH_OK ? r->control.rank : none;
    RANKS_TRY(combine(r, KITH_MIN, &lowest, 1));
    if (lowest == none) {
        return KITH_OK;
    }
    int64_t sum = r->control.rank == lowest ? (int64_t)status : 0;
    char *all = malloc((size_t)r->control.ranks * MESSAGE_BYTES);
    kith_status end = agree(r, got(all));
    end = end == KITH_OK ? gather(r, r->message, MESSAGE_BYTES, all) : end;
    end = end == KITH_OK ? combine(r, KITH_SUM, &sum, 1) : end;
    if (end == KITH_OK) {
        const char *why = all + lowest * MESSAGE_BYTES;
        if (names) {
            snprintf(r->message, sizeof r->message, "rank %d: %.480s", (int)lowest, why);
        } else {
            snprintf(r->message, sizeof r->message, "%.500s", why);
        }
        end = (kith_status)sum;
    }
    free(all);
    return end;
}

/** Send a job from rank 0 to all; at the other ranks, receive it into *job.
 *  @return KITH_OK, KITH_TEAM_LOST */
static kith_status tell(struct ranks *r, struct job *job)
{
    struct part part[MOST_RANKS];
    if (r->lost) {
        return KITH_TEAM_LOST;
    }
    for (int k = 0; k < r->control.ranks && k < MOST_RANKS; k++) {
        part[k] = (struct part){(char *)job, sizeof *job};
    }
    r->message[0] = '\0';
    return exchange(r, part, false);
}

/** Allocate an array of n rows for a column, received or a result, and free the one before. One
 *  byte more, as malloc(0) may return NULL. @return the array; NULL: no memory */
static void *need_column(struct ranks *r, enum column column, int64_t n, size_t size)
{
    free(r->column[column]);
    r->column[column] = malloc((size_t)n * size + 1);
    return r->column[column];
}

/** First row of the part of a rank. */
static int64_t first_of(const struct ranks *r, int64_t n, int rank)
{
    return kith__piece_begin(n, r->control.ranks, rank);
}

/** Send each rank its part of an array of n rows, or bring the parts together at rank 0.
 *  @param whole  rank 0: [n] the array; its own part is at the beginning
 *  @param mine   other ranks: their part */
static kith_status move_parts(struct ranks *r, char *whole, char *mine, int64_t n, size_t size,
                              bool back)
{
    struct part part[MOST_RANKS];
    const int rank = r->control.rank;
    const int64_t own = first_of(r, n, rank + 1) - first_of(r, n, rank);
    for (int k = 0; k < r->control.ranks && rank == 0; k++) {
        const int64_t first = first_of(r, n, k);
        part[k] = (struct part){whole + (size_t)first * size,
                                (first_of(r, n, k + 1) - first) * (int64_t)size};
    }
    if (rank > 0) {
        part[0] = (struct part){mine, own * (int64_t)size};
    }
    RANKS_TRY(agree(r, need_parcels(r, n * (int64_t)size) ? KITH_OK : KITH_NO_MEMORY));
    return exchange(r, part, back);
}

/** Bring an array of n rows together at rank 0.
 *  @param mine        the part of this rank
 *  @param[out] whole  rank 0: address of the pointer to the array, which stays until the ranks are
 *                     closed; NULL at other ranks */
static kith_status bring(struct ranks *r, enum column column, const void *mine, int64_t n,
                         size_t size, void *whole)
{
    const bool root = r->control.rank == 0;
    const int64_t own = first_of(r, n, r->control.rank + 1) - first_of(r, n, r->control.rank);
    char *array = root ? need_column(r, column, n, size) : NULL;
    RANKS_TRY(agree(r, got(root ? (void *)array : r)));
    if (root) {
        if (own > 0) {
            memcpy(array, mine, (size_t)own * size);
        }
        memcpy(whole, &array, sizeof array);
    }
    return move_parts(r, array, (char *)(uintptr_t)mine, n, size, true);
}

/** Bring rows of all ranks together at rank 0, in the order of the ranks.
 *  @param held  [ranks] rows of each rank
 *  @param rows  rank 0: room for all, its own are at the beginning; others: their own */
static kith_status bring_held(struct ranks *r, const int64_t *held, void *rows, size_t size)
{
    struct part part[MOST_RANKS];
    int64_t all = 0;
    for (int k = 0; k < r->control.ranks; k++) {
        part[k] = (struct part){(char *)rows + (size_t)all * size, held[k] * (int64_t)size};
        all += held[k];
    }
    if (r->control.rank > 0) {
        part[0] = (struct part){rows, held[r->control.rank] * (int64_t)size};
    }
    RANKS_TRY(agree(r, got(need_parcels(r, all * (int64_t)size) ? r : NULL)));
    return exchange(r, part, true);
}

/** Return the array of a column in the share that this rank has read. */
static const void *share_array(const struct ranks *r, enum column column)
{
    const io_particles *p = &r->share[column == AGAINST];
    switch ((int)column) {
    case XYZ:
    case AGAINST: return p->pos;
    case IDS: return p->id;
    case VELOCITIES: return p->velocity;
    case MASSES: return p->mass;
    case TYPES: return p->type;
    case POTENTIALS: return p->potential;
    case DENSITIES: return p->density;
    default: assert(!"a column of a file"); return NULL;
    }
}

/** Give each rank its part of an array of one row for each particle: a pointer into it, or in
 *  another process a copy.
 *  @param size       bytes of a row
 *  @param[out] mine  the part; NULL where the column does not travel */
static kith_status scatter(struct ranks *r, const struct job *job, enum column column, size_t size,
                           const void **mine)
{
    const char *whole = job->whole[column];
    const int rank = r->control.rank;
    const bool second = column == AGAINST || column == SPECIES_AGAINST ||
                        column == MOLECULES_AGAINST || column == RADII_AGAINST;
    const int64_t n = second ? job->n_against : job->n;
    const int64_t first = first_of(r, n, rank);
    *mine = NULL;
    if (!whole) {
        return KITH_OK;
    }
    if (job->shares) {
        *mine = rank == 0 ? whole : share_array(r, column);
        return KITH_OK;
    }
    if (!r->mpi || rank == 0) {
        *mine = whole + (size_t)first * size;
    }
    if (!r->mpi) {
        return KITH_OK;
    }
    char *copy = rank > 0 ? need_column(r, column, first_of(r, n, rank + 1) - first, size) : NULL;
    RANKS_TRY(agree(r, got(rank > 0 ? (void *)copy : r)));
    *mine = rank > 0 ? copy : *mine;
    return move_parts(r, (char *)(uintptr_t)whole, copy, n, size, false);
}

/** Give each rank an array of `bytes` bytes: a pointer to it, or in another process a copy. */
static kith_status share(struct ranks *r, const struct job *job, enum column column, int64_t bytes,
                         const void **mine)
{
    struct part part[MOST_RANKS];
    const bool copies = r->mpi && r->control.rank > 0;
    *mine = job->whole[column];
    if (!*mine || !r->mpi) {
        return KITH_OK;
    }
    char *here = copies ? need_column(r, column, bytes, 1) : (char *)(uintptr_t)*mine;
    for (int k = 0; k < r->control.ranks && k < MOST_RANKS; k++) {
        part[k] = (struct part){here, bytes};
    }
    *mine = here;
    RANKS_TRY(agree(r, got(here && need_parcels(r, bytes * r->control.ranks) ? r : NULL)));
    return exchange(r, part, false);
}

/** Scatter the positions, which are packed. */
static kith_status scatter_points(struct ranks *r, const struct job *job, kith_points *mine)
{
    const int rank = r->control.rank;
    const void *xyz = NULL;
    RANKS_TRY(scatter(r, job, XYZ, 3 * (size_t)job->precision, &xyz));
    *mine = kith_points_packed(xyz, first_of(r, job->n, rank + 1) - first_of(r, job->n, rank),
                               job->precision);
    return KITH_OK;
}

/** Scatter the positions of the second set, if there is one.
 *  @param[out] mine   the points of this rank; they must stay as long as *given
 *  @param[out] given  for the options of the library: mine, or NULL */
static kith_status scatter_against(struct ranks *r, const struct job *job, kith_points *mine,
                                   const kith_points **given)
{
    const int rank = r->control.rank;
    const int64_t n = job->n_against;
    const void *xyz = NULL;
    RANKS_TRY(scatter(r, job, AGAINST, 3 * (size_t)job->precision, &xyz));
    *mine = kith_points_packed(xyz, first_of(r, n, rank + 1) - first_of(r, n, rank),
                               job->precision);
    *given = job->has_against ? mine : NULL;
    return KITH_OK;
}

/** Give each rank all bonds, and the offsets into them from its first particle on.
 *  @param[out] offsets, bonds  for the options of the library; NULL: there are none */
static kith_status scatter_bonds(struct ranks *r, const struct job *job, const int64_t **offsets,
                                 const int32_t **bonds)
{
    const void *every_offset, *every_bond;
    RANKS_TRY(share(r, job, BOND_OFFSETS, (job->n + 1) * (int64_t)sizeof **offsets, &every_offset));
    RANKS_TRY(share(r, job, BONDS, job->bonds * (int64_t)sizeof **bonds, &every_bond));
    *offsets = every_offset;
    *offsets += every_offset ? first_of(r, job->n, r->control.rank) : 0;
    *bonds = every_bond;
    return KITH_OK;
}

/** Describe the bonds of a job, in rank 0. @param offsets  NULL: there are none */
static void describe_bonds(struct job *job, const int64_t *offsets, const int32_t *bonds)
{
    if (offsets) {
        job->whole[BOND_OFFSETS] = offsets;
        job->whole[BONDS] = bonds;
        job->bonds = offsets[job->n];
    }
}

/** Describe the positions of a job, in rank 0. @param against  NULL: there is one set */
static void describe_sets(const struct ranks *r, struct job *job, const kith_points *points,
                          const kith_box *box, const kith_points *against)
{
    job->shares = r->shares;
    job->n = r->shares ? r->of_set[0] : points->n;
    job->precision = points->precision;
    job->whole[XYZ] = points->x;
    job->has_box = box != NULL;
    job->has_against = against != NULL;
    if (box) {
        job->box = *box;
    }
    if (against) {
        job->n_against = r->shares ? r->of_set[1] : against->n;
        job->whole[AGAINST] = against->x;
    }
}

/** Return the box of a job. */
static const kith_box *box_of(const struct job *job)
{
    return job->has_box ? &job->box : NULL;
}

/* ------------------------------------------------------------------------------------- groups */

/** Convert the labels of this rank's particles to int32_t, and bring them together at rank 0 unless
 *  ranks have shares. @param[out] out  the labels; at ranks above 0 their own */
static kith_status collect_labels(struct ranks *r, const struct job *job, int32_t **out)
{
    const kith_team_groups *groups = &r->groups;
    const bool root = r->control.rank == 0;
    const int64_t n = root && !job->shares ? job->n : groups->points;
    int32_t *labels = need_column(r, RESULTS, n, sizeof *labels);
    RANKS_TRY(agree(r, got(labels)));
    for (int64_t k = 0; k < groups->points; k++) {
        labels[k] = (int32_t)groups->labels[k];
    }
    *out = labels;
    return job->shares
               ? KITH_OK
               : move_parts(r, (char *)labels, (char *)labels, job->n, sizeof *labels, true);
}

/** Bring the labels and sizes of groups together at rank 0. */
static kith_status collect_groups(struct ranks *r, const struct job *job, kith_groups *out)
{
    const kith_team_groups *groups = &r->groups;
    int64_t held[MOST_RANKS];
    const bool root = r->control.rank == 0;
    int32_t *labels;
    int64_t *members = groups->members;
    RANKS_TRY(collect_labels(r, job, &labels));
    if (root) {
        free(r->members);
        members = r->members = malloc((size_t)groups->n * sizeof *members + 1);
    }
    RANKS_TRY(agree(r, got(members || !root ? r : NULL)));
    RANKS_TRY(gather(r, &groups->held, sizeof groups->held, held));
    if (root) {
        memcpy(members, groups->members, (size_t)groups->held * sizeof *members);
        *out = (kith_groups){.n = groups->n,
                             .points = job->shares ? groups->points : job->n,
                             .labels = labels,
                             .members = members,
                             .memory = KITH_HOST,
                             .size = out->size};
    }
    return bring_held(r, held, members, sizeof *members);
}

/** Make the roles of the particles of this rank's share from their types.
 *  @param[out] roles  NULL where there are none */
static kith_status share_roles(struct ranks *r, const struct job *job, const void **roles)
{
    const io_particles *p = &r->share[0];
    *roles = job->whole[ROLES];
    if (!*roles) {
        return KITH_OK;
    }
    uint8_t *mine = r->control.rank > 0 ? need_column(r, ROLES, p->n, sizeof *mine) : NULL;
    RANKS_TRY(agree(r, got(r->control.rank > 0 ? (void *)mine : r)));
    for (int64_t k = 0; mine && k < p->n; k++) {
        mine[k] = job->role_of[p->type[k]];
    }
    *roles = mine ? mine : *roles;
    return KITH_OK;
}

/** Find the groups, and bring them together at rank 0. @param out  NULL at ranks above 0 */
static kith_status do_fof(struct ranks *r, const struct job *job, kith_groups *out)
{
    kith_points points;
    kith_fof_options o = job->fof;
    const void *ids, *roles;
    RANKS_TRY(scatter_points(r, job, &points));
    RANKS_TRY(scatter(r, job, IDS, sizeof *o.ids, &ids));
    RANKS_TRY(job->shares ? share_roles(r, job, &roles)
                          : scatter(r, job, ROLES, sizeof *o.roles, &roles));
    RANKS_TRY(scatter(r, job, VELOCITIES, 3 * (size_t)job->precision, &o.velocities));
    o.ids = ids;
    o.roles = roles;
    RANKS_TRY(kith_team_fof_find(r->team, &points, box_of(job), job->length, &o, &r->groups));
    return collect_groups(r, job, out);
}

kith_status ranks_fof_find(ranks *r, kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           double length, const kith_fof_options *how, const uint8_t *role_of,
                           kith_groups *out)
{
    if (!r) {
        return kith_fof_find(ctx, points, box, length, how, out);
    }
    struct job job = {
        .kind = JOB_FOF,
        .length = length,
        .fof = *how,
        .whole = {[IDS] = how->ids, [ROLES] = how->roles, [VELOCITIES] = how->velocities}};
    describe_sets(r, &job, points, box, NULL);
    memcpy(job.role_of, role_of, sizeof job.role_of);
    RANKS_TRY(tell(r, &job));
    return do_fof(r, &job, out);
}

/** Count the labels of the groups of all ranks. @param[out] members  [n]; zeroed before */
static kith_status do_count_labels(struct ranks *r, int64_t n, int64_t *members)
{
    int64_t *mine = members ? members : need_column(r, NUMBERS, n, sizeof *mine);
    RANKS_TRY(agree(r, got(mine)));
    memset(mine, 0, (size_t)n * sizeof *mine);
    for (int64_t k = 0; k < r->groups.points; k++) {
        if (r->groups.labels[k] > 0) {
            mine[r->groups.labels[k] - 1]++;
        }
    }
    return combine(r, KITH_SUM, mine, n);
}

kith_status ranks_groups_count(ranks *r, const kith_groups *groups, int64_t *members)
{
    if (r && r->shares) {
        struct job job = {.kind = JOB_COUNT_LABELS, .groups = groups->n};
        RANKS_TRY(tell(r, &job));
        return do_count_labels(r, groups->n, members);
    }
    memset(members, 0, (size_t)groups->n * sizeof *members);
    for (int64_t k = 0; k < groups->points; k++) {
        if (groups->labels[k] > 0) {
            members[groups->labels[k] - 1]++;
        }
    }
    return KITH_OK;
}

/** Give the labels of this rank's share other numbers. */
static kith_status do_renumber(struct ranks *r, const struct job *job)
{
    const void *at;
    const int64_t bytes = (job->groups + 1) * (int64_t)sizeof(int32_t);
    RANKS_TRY(share(r, job, NUMBERS, bytes, &at));
    const int32_t *number = at;
    for (int64_t k = 0; k < r->groups.points; k++) {
        r->groups.labels[k] = number[r->groups.labels[k]];
    }
    return KITH_OK;
}

kith_status ranks_groups_renumber(ranks *r, kith_groups *groups, const int32_t *number)
{
    for (int64_t k = 0; k < groups->points; k++) {
        groups->labels[k] = number[groups->labels[k]];
    }
    if (!r || !r->shares) {
        return KITH_OK;
    }
    struct job job = {.kind = JOB_RENUMBER, .groups = groups->n, .whole = {[NUMBERS] = number}};
    RANKS_TRY(tell(r, &job));
    return do_renumber(r, &job);
}

/* --------------------------------------------------------------------------- rows of particles */

/** The share of particles that this rank has read. */
static const io_particles *own_share(const struct ranks *r, const struct job *job)
{
    return r->control.rank == 0 ? job->share : &r->share[0];
}

/** Send bytes from rank `from` to the next one. To be called by all ranks, after need_parcels.
 *  @param data  rank `from`: the bytes; the next one: where they are stored */
static kith_status hand_on(struct ranks *r, int from, void *data, int64_t bytes)
{
    const kith_transport *t = &r->control;
    const bool sends = t->rank == from, receives = t->rank == from + 1;
    const struct part part = {data, bytes};
    const int64_t n = sends || receives ? list_part(r, 0, sends ? from + 1 : from, part) : 0;
    return trade(r, sends ? r->parcel : NULL, sends ? n : 0, sends ? NULL : r->parcel,
                 sends ? 0 : n);
}

/** Turn n counts into the sums of those before each. */
static void sum_before(int64_t *count, int64_t n)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t here = count[k];
        count[k] = sum;
        sum += here;
    }
}

/** Sort the particles of all shares: each rank sorts its own, and gets the row of each among those
 *  of all ranks. The first row of each key travels from rank to rank, as particles of equal keys
 *  are in the order of the ranks.
 *  @param[out] begin  as io_shares.sort says */
static kith_status do_sort(struct ranks *r, const struct job *job, int64_t begin[KITH_TYPES + 1])
{
    const kith_transport *t = &r->control;
    const io_particles *p = own_share(r, job);
    const int64_t keys = io_sort_keys(job->groups), bytes = keys * (int64_t)sizeof(int64_t);
    const int64_t *wide = r->groups.labels;
    int64_t *at = need_column(r, NUMBERS, keys, sizeof *at);
    int64_t *first = need_column(r, FIRST_ROWS, keys, sizeof *first);
    int32_t *labels = need_column(r, ROWS, p->n, sizeof *labels);
    int32_t *index = need_column(r, SORTED, p->n, sizeof *index);
    int64_t *rows = need_column(r, SORTED_ROWS, p->n, sizeof *rows);
    const bool fits = at && first && labels && index && rows && need_parcels(r, bytes);
    RANKS_TRY(agree(r, got(fits ? r : NULL)));
    for (int64_t k = 0; k < p->n; k++) {
        labels[k] = (int32_t)wide[k];
    }
    memset(at, 0, (size_t)bytes);
    io_sort_count(p, labels, job->groups, job->order, at);
    memcpy(first, at, (size_t)bytes);
    RANKS_TRY(combine(r, KITH_SUM, first, keys));
    sum_before(at, keys);
    sum_before(first, keys);
    io_sort_types(first, job->groups, p->all, begin);
    for (int k = 0; k < t->ranks; k++) {
        if (t->rank == k) {
            io_sort_share(p, labels, job->groups, job->order, at, first, index, rows);
        }
        RANKS_TRY(k + 1 < t->ranks ? hand_on(r, k, first, bytes) : KITH_OK);
    }
    return KITH_OK;
}

/** Return how many rows of this rank's share are before a row of all. */
static int64_t rows_before(const struct ranks *r, const io_particles *p, io_row_order order,
                           int64_t row)
{
    const int64_t *rows = r->column[SORTED_ROWS];
    if (order == IO_ORDER_INPUT) {
        const int64_t before = row - first_of(r, p->all, r->control.rank);
        return before < 0 ? 0 : before < p->n ? before : p->n;
    }
    int64_t low = 0, high = p->n; /* binary search: rows before `low` are before it, not `high` */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (rows[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** Copy n rows of a column of this rank's share, from its row `begin` on. */
static void copy_rows(const struct ranks *r, const struct job *job, const io_particles *p,
                      int64_t begin, int64_t n, char *to)
{
    const size_t size = io_row_bytes(p, job->field);
    const char *from = io_column_of(p, NULL, job->field);
    const int32_t *index = job->order == IO_ORDER_INPUT ? NULL : r->column[SORTED];
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = index ? index[begin + k] : begin + k;
        const int32_t label = from ? 0 : (int32_t)r->groups.labels[at];
        memcpy(to + (size_t)k * size, from ? from + (size_t)at * size : (const char *)&label, size);
    }
}

/** Bring job->n rows of a column of all shares to rank 0.
 *  @param[out] to  rank 0: [n] the rows; NULL at other ranks */
static kith_status do_rows(struct ranks *r, const struct job *job, char *to)
{
    const io_particles *p = own_share(r, job);
    const bool root = r->control.rank == 0, sorted = job->order != IO_ORDER_INPUT;
    const size_t size = io_row_bytes(p, job->field);
    const int64_t begin = rows_before(r, p, job->order, job->first);
    const int64_t own = rows_before(r, p, job->order, job->first + job->n) - begin;
    const int64_t room = root ? job->n : own;
    int64_t held[MOST_RANKS];
    char *rows = root && !sorted ? to : need_column(r, ROWS, room, size);
    int64_t *number = need_column(r, ROW_NUMBERS, sorted ? room : 0, sizeof *number);
    RANKS_TRY(agree(r, got(rows && number ? r : NULL)));
    RANKS_TRY(gather(r, &own, sizeof own, held));
    copy_rows(r, job, p, begin, own, rows);
    RANKS_TRY(bring_held(r, held, rows, size));
    if (!sorted) {
        return KITH_OK;
    }
    const int64_t *sorted_rows = r->column[SORTED_ROWS];
    memcpy(number, sorted_rows + begin, (size_t)own * sizeof *number);
    RANKS_TRY(bring_held(r, held, number, sizeof *number));
    for (int64_t k = 0; k < job->n && root; k++) {
        memcpy(to + (size_t)(number[k] - job->first) * size, rows + (size_t)k * size, size);
    }
    return KITH_OK;
}

/** Note how a job of io_shares ended. @return true when it succeeded */
static bool end_of_shares(ranks_rows *rows, kith_status status)
{
    rows->status = status;
    return status == KITH_OK;
}

static bool sort_shares(void *user, io_row_order order, int64_t begin[KITH_TYPES + 1])
{
    ranks_rows *rows = user;
    struct job job = {
        .kind = JOB_SORT, .order = order, .groups = rows->groups->n, .share = rows->share};
    kith_status status = tell(rows->r, &job);
    status = status == KITH_OK ? do_sort(rows->r, &job, begin) : status;
    return end_of_shares(rows, status);
}

static bool rows_of_shares(void *user, io_catalogue_column column, io_row_order order,
                           int64_t first, int64_t n, void *to)
{
    ranks_rows *rows = user;
    struct job job = {.kind = JOB_ROWS,
                      .order = order,
                      .field = column,
                      .first = first,
                      .n = n,
                      .share = rows->share};
    kith_status status = tell(rows->r, &job);
    status = status == KITH_OK ? do_rows(rows->r, &job, to) : status;
    return end_of_shares(rows, status);
}

const io_shares *ranks_rows_of(ranks *r, const io_particles *share, const kith_groups *groups,
                               ranks_rows *rows)
{
    *rows = (ranks_rows){.shares = {.user = rows, .sort = sort_shares, .rows = rows_of_shares},
                         .r = r,
                         .share = share,
                         .groups = groups};
    return r && r->shares ? &rows->shares : NULL;
}

/* --------------------------------------------------------------------------------------- halos */

/** Measure the groups, and bring the halos together at rank 0.
 *  @param labels  the labels of this rank's particles
 *  @param out     NULL at ranks above 0 */
static kith_status measure_halos(struct ranks *r, const struct job *job, const kith_points *points,
                                 const kith_halo_input *known, int64_t *labels, kith_halos *out)
{
    const kith_team_groups groups = {.n = job->groups,
                                     .points = points->n,
                                     .labels = labels,
                                     .memory = KITH_HOST,
                                     .size = sizeof groups};
    kith_team_halos found = {.size = sizeof found, .stride = sizeof(kith_halo)};
    kith_halo *all = NULL;
    kith_status status = kith_team_halos_measure(r->team, points, box_of(job), &groups, known,
                                                 &found);
    if (status == KITH_OK) {
        status = bring(r, HALOS, found.halo, job->groups, sizeof *all, &all);
    }
    kith_team_halos_free(&found);
    if (status == KITH_OK && out) {
        out->n = job->groups;
        out->halo = all;
        out->memory = KITH_HOST;
        out->sphere_seconds = NAN; /* a part of the call of the team */
    }
    return status;
}

/** Receive the arrays of the particles, and measure the halos. @param out  NULL at ranks above 0 */
static kith_status do_halos(struct ranks *r, const struct job *job, kith_halos *out)
{
    const size_t real = (size_t)job->precision;
    kith_points points;
    kith_halo_input known;
    kith_halo_input_init(&known);
    memcpy(known.sphere_density, job->sphere_density, sizeof known.sphere_density);
    const void *types, *given = NULL;
    RANKS_TRY(scatter_points(r, job, &points));
    if (!job->shares) {
        RANKS_TRY(scatter(r, job, LABELS, sizeof(int32_t), &given));
    }
    RANKS_TRY(scatter(r, job, MASSES, real, &known.masses));
    RANKS_TRY(scatter(r, job, VELOCITIES, 3 * real, &known.velocities));
    RANKS_TRY(scatter(r, job, POTENTIALS, real, &known.potentials));
    RANKS_TRY(scatter(r, job, DENSITIES, real, &known.densities));
    RANKS_TRY(scatter(r, job, TYPES, 1, &types));
    known.types = types;
    if (job->shares) { /* the labels are those that JOB_FOF has left here */
        return measure_halos(r, job, &points, &known, r->groups.labels, out);
    }
    const int32_t *narrow = given;
    int64_t *labels = need_column(r, WIDE_LABELS, points.n, sizeof *labels);
    RANKS_TRY(agree(r, got(labels)));
    for (int64_t p = 0; p < points.n; p++) {
        labels[p] = narrow[p];
    }
    return measure_halos(r, job, &points, &known, labels, out);
}

kith_status ranks_halos_measure(ranks *r, kith_ctx *ctx, const kith_points *points,
                                const kith_box *box, const kith_groups *groups,
                                const kith_halo_input *known, kith_halos *out)
{
    if (!r) {
        return kith_halos_measure(ctx, points, box, groups, known, out);
    }
    struct job job = {.kind = JOB_HALOS,
                      .groups = groups->n,
                      .whole = {[LABELS] = groups->labels,
                                [MASSES] = known->masses,
                                [VELOCITIES] = known->velocities,
                                [POTENTIALS] = known->potentials,
                                [DENSITIES] = known->densities,
                                [TYPES] = known->types}};
    memcpy(job.sphere_density, known->sphere_density, sizeof job.sphere_density);
    describe_sets(r, &job, points, box, NULL);
    RANKS_TRY(tell(r, &job));
    return do_halos(r, &job, out);
}

/* -------------------------------------------------------------------------- pair distributions */

/** Choose the particles of this rank's share whose types have a class, above rank 0.
 *  @param[out] species  the class of each */
static kith_status choose_particles(struct ranks *r, const struct job *job, kith_points *points,
                                    const int32_t **species)
{
    const io_particles *p = &r->share[0];
    const size_t row = 3 * (size_t)job->precision;
    int32_t *class = need_column(r, SPECIES, p->n, sizeof *class);
    char *xyz = need_column(r, XYZ, p->n, row);
    RANKS_TRY(agree(r, got(class && xyz ? r : NULL)));
    int64_t n = 0;
    for (int64_t k = 0; k < p->n; k++) {
        class[n] = job->class_of_type[p->type ? p->type[k] : 0];
        if (class[n] >= 0) {
            memcpy(xyz + (size_t)n * row, (const char *)p->pos + (size_t)k * row, row);
            n++;
        }
    }
    *points = kith_points_packed(xyz, n, job->precision);
    *species = class;
    return KITH_OK;
}

/** Give each rank its particles, with the arrays of the options. */
static kith_status scatter_distribution(struct ranks *r, const struct job *job, kith_points *points,
                                        kith_rdf_options *o)
{
    const void *species, *molecules, *weights, *edges;
    RANKS_TRY(scatter_points(r, job, points));
    RANKS_TRY(scatter(r, job, SPECIES, sizeof *o->species, &species));
    RANKS_TRY(scatter(r, job, MOLECULES, sizeof *o->molecules, &molecules));
    RANKS_TRY(scatter(r, job, WEIGHTS, sizeof *o->weights, &weights));
    RANKS_TRY(scatter(r, job, FORCES, 3 * (size_t)job->precision, &o->forces));
    RANKS_TRY(scatter_bonds(r, job, &o->bond_offsets, &o->bonds));
    RANKS_TRY(share(r, job, EDGES, (o->bins + 1) * (int64_t)sizeof *o->edges, &edges));
    o->species = species;
    o->molecules = molecules;
    o->weights = weights;
    o->edges = edges;
    return KITH_OK;
}

/** Give each rank the edges of the bins, and its particles: rank 0 has chosen its own. */
static kith_status choose_distribution(struct ranks *r, const struct job *job, kith_points *points,
                                       kith_rdf_options *o)
{
    const void *edges;
    RANKS_TRY(share(r, job, EDGES, (o->bins + 1) * (int64_t)sizeof *o->edges, &edges));
    o->edges = edges;
    if (r->control.rank > 0) {
        return choose_particles(r, job, points, &o->species);
    }
    RANKS_TRY(agree(r, KITH_OK));
    *points = kith_points_packed(job->whole[XYZ], job->held, job->precision);
    return KITH_OK;
}

/** Count a histogram over all ranks. @param out  NULL at ranks above 0, which drop it */
static kith_status do_rdf(struct ranks *r, const struct job *job, kith_histogram *out)
{
    kith_points points;
    kith_rdf_options o = job->rdf;
    kith_histogram own = {0};
    RANKS_TRY(job->shares ? choose_distribution(r, job, &points, &o)
                          : scatter_distribution(r, job, &points, &o));
    const kith_status status = kith_team_rdf_count(r->team, &points, box_of(job), &o,
                                                   out ? out : &own);
    kith_histogram_free(&own);
    return status;
}

kith_status ranks_rdf_count(ranks *r, kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            const kith_rdf_options *how, const int32_t *class_of_type,
                            kith_histogram *out)
{
    if (!r) {
        return kith_rdf_count(ctx, points, box, how, out);
    }
    struct job job = {.kind = JOB_RDF,
                      .rdf = *how,
                      .held = points->n,
                      .whole = {[SPECIES] = how->species,
                                [MOLECULES] = how->molecules,
                                [WEIGHTS] = how->weights,
                                [FORCES] = how->forces,
                                [EDGES] = how->edges}};
    describe_sets(r, &job, points, box, NULL);
    describe_bonds(&job, how->bond_offsets, how->bonds);
    if (job.shares) {
        memcpy(job.class_of_type, class_of_type, sizeof job.class_of_type);
    }
    RANKS_TRY(tell(r, &job));
    return do_rdf(r, &job, out);
}

/** A frame in a message; positions and species follow, each filled up to 8 bytes. */
struct frame_head {
    int64_t n;                /**< particles */
    kith_box box;             /**< the box */
    kith_precision precision; /**< of the positions */
};

/** Bytes of an array in a message: whole words of 8 bytes. */
static int64_t filled(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/** Bytes of the positions of a frame, filled up; of its species. */
static int64_t bytes_of_positions(const struct frame_head *head)
{
    return filled(3 * head->n * (int64_t)head->precision);
}

static int64_t bytes_of_species(const struct frame_head *head)
{
    return filled(head->n * (int64_t)sizeof(int32_t));
}

/** Describe a frame. */
static struct frame_head head_of(const ranks_frame *frame)
{
    return (struct frame_head){frame->points.n, frame->box, frame->points.precision};
}

/** Bytes of the message with frames [begin, end). */
static int64_t bytes_of_frames(const ranks_frame *frame, int64_t begin, int64_t end)
{
    int64_t bytes = 0;
    for (int64_t k = begin; k < end; k++) {
        const struct frame_head head = head_of(&frame[k]);
        bytes += filled(sizeof head) + bytes_of_positions(&head) + bytes_of_species(&head);
    }
    return bytes;
}

/** Write the message with n frames. */
static void pack_frames(const ranks_frame *frame, int64_t n, char *to)
{
    for (int64_t k = 0; k < n; k++) {
        const struct frame_head head = head_of(&frame[k]);
        memcpy(to, &head, sizeof head);
        to += filled(sizeof head);
        if (head.n > 0) {
            memcpy(to, frame[k].points.x, 3 * (size_t)head.n * (size_t)head.precision);
            memcpy(to + bytes_of_positions(&head), frame[k].species,
                   (size_t)head.n * sizeof *frame[k].species);
        }
        to += bytes_of_positions(&head) + bytes_of_species(&head);
    }
}

/** Numbers of a histogram in a message: counts, ideal and centres, of 8 bytes each. */
static int64_t numbers_of(const kith_rdf_options *o)
{
    const int64_t partials = (int64_t)o->n_species * (o->n_species + 1) / 2;
    return 2 * partials * o->bins + o->n_species;
}

/** Count the frame of a message. @param[out] numbers  [numbers_of(o)] */
static kith_status count_frame(kith_ctx *ctx, const char *message, kith_rdf_options o,
                               const struct frame_head *head, char *numbers)
{
    const char *xyz = message + filled(sizeof *head);
    const kith_points points = kith_points_packed(xyz, head->n, head->precision);
    kith_histogram h = {0};
    o.species = (const int32_t *)(const void *)(xyz + bytes_of_positions(head));
    const kith_status status = kith_rdf_count(ctx, &points, &head->box, &o, &h);
    if (status == KITH_OK) {
        const size_t bytes = (size_t)h.partials * (size_t)h.bins * sizeof *h.counts;
        memcpy(numbers, h.counts, bytes);
        memcpy(numbers + bytes, h.ideal, bytes);
        memcpy(numbers + 2 * bytes, h.centres, (size_t)h.n_species * sizeof *h.centres);
    }
    kith_histogram_free(&h);
    return status;
}

/** Send each rank its frames: one message, in column ROWS of each rank, at the end of which rank 0
 *  has those of the others. @param[out] message  the frames of this rank */
static kith_status deal_frames(struct ranks *r, const struct job *job, const ranks_frame *frame,
                               char **message)
{
    const kith_transport *t = &r->control;
    struct part part[MOST_RANKS], size[MOST_RANKS];
    int64_t bytes[MOST_RANKS + 1] = {0}, own = 0, all = 0;
    const bool root = t->rank == 0;
    for (int k = 0; k < t->ranks; k++) {
        bytes[k] = root ? bytes_of_frames(frame, first_of(r, job->n, k), first_of(r, job->n, k + 1))
                        : 0;
        size[k] = (struct part){(char *)&bytes[k], sizeof bytes[k]};
        all += bytes[k];
    }
    size[0].data = (char *)(root ? &bytes[0] : &own);
    RANKS_TRY(agree(r, got(need_parcels(r, t->ranks * (int64_t)sizeof own) ? r : NULL)));
    RANKS_TRY(exchange(r, size, false));
    char *rows = need_column(r, ROWS, root ? all : own, 1);
    RANKS_TRY(agree(r, got(rows && need_parcels(r, root ? all : own) ? r : NULL)));
    *message = rows;
    part[0] = (struct part){rows, own};
    for (int k = 0; k < t->ranks && root; k++) {
        const int64_t begin = first_of(r, job->n, k);
        pack_frames(frame + begin, first_of(r, job->n, k + 1) - begin, rows);
        part[k] = (struct part){rows, bytes[k]};
        rows += bytes[k];
    }
    return exchange(r, part, false);
}

/** Count frames, each on one rank. @param frame  rank 0: [job->n]; NULL at other ranks */
static kith_status do_frames(struct ranks *r, const struct job *job, ranks_frame *frame)
{
    const bool root = r->control.rank == 0;
    kith_rdf_options o = job->rdf;
    const size_t each = (size_t)numbers_of(&o) * sizeof(int64_t);
    int64_t held[MOST_RANKS];
    const void *edges;
    char *message;
    for (int k = 0; k < r->control.ranks; k++) {
        held[k] = first_of(r, job->n, k + 1) - first_of(r, job->n, k);
    }
    const int64_t own = held[r->control.rank];
    RANKS_TRY(share(r, job, EDGES, (o.bins + 1) * (int64_t)sizeof *o.edges, &edges));
    RANKS_TRY(deal_frames(r, job, frame, &message));
    char *numbers = need_column(r, RESULTS, root ? job->n : own, each);
    RANKS_TRY(agree(r, got(numbers)));
    kith_status status = KITH_OK;
    o.edges = edges;
    for (int64_t k = 0; k < own && status == KITH_OK; k++) {
        struct frame_head head;
        memcpy(&head, message, sizeof head);
        status = count_frame(r->ctx, message, o, &head, numbers + (size_t)k * each);
        message += filled(sizeof head) + bytes_of_positions(&head) + bytes_of_species(&head);
    }
    if (status != KITH_OK) {
        snprintf(r->message, sizeof r->message, "%.500s", kith_message(r->ctx));
    }
    RANKS_TRY(fetch_message(r, status, false));
    RANKS_TRY(bring_held(r, held, numbers, each));
    for (int64_t k = 0; k < job->n && root; k++) {
        kith_histogram *h = &frame[k].histogram;
        char *at = numbers + (size_t)k * each;
        *h = (kith_histogram){.bins = o.bins, .n_species = o.n_species, .frames = 1};
        h->partials = o.n_species * (o.n_species + 1) / 2;
        h->counts = (int64_t *)(void *)at;
        h->ideal = (double *)(void *)(at + (size_t)h->partials * (size_t)o.bins * sizeof *h->ideal);
        h->centres = (int64_t *)(void *)(at + each) - o.n_species;
    }
    return KITH_OK;
}

kith_status ranks_frames_count(ranks *r, const kith_rdf_options *how, ranks_frame *frame, int64_t n)
{
    struct job job = {.kind = JOB_FRAMES, .rdf = *how, .n = n, .whole = {[EDGES] = how->edges}};
    RANKS_TRY(tell(r, &job));
    return do_frames(r, &job, frame);
}

/* -------------------------------------------------------------------------------------- pairs */

/** Give each rank the arrays of a list's rules for its particles, in the options. */
static kith_status scatter_rules(struct ranks *r, const struct job *job, kith_pairs_options *o)
{
    const int64_t entries = (int64_t)o->n_species * o->n_species;
    const void *species, *molecules, *species_against, *molecules_against, *cutoffs;
    const size_t real = (size_t)job->precision;
    RANKS_TRY(scatter(r, job, SPECIES, sizeof *o->species, &species));
    RANKS_TRY(scatter(r, job, MOLECULES, sizeof *o->molecules, &molecules));
    RANKS_TRY(scatter(r, job, SPECIES_AGAINST, sizeof *o->species, &species_against));
    RANKS_TRY(scatter(r, job, MOLECULES_AGAINST, sizeof *o->molecules, &molecules_against));
    RANKS_TRY(scatter(r, job, RADII, real, &o->radii));
    RANKS_TRY(scatter(r, job, RADII_AGAINST, real, &o->radii_against));
    RANKS_TRY(share(r, job, CUTOFFS, entries * (int64_t)sizeof *o->cutoffs, &cutoffs));
    o->species = species;
    o->molecules = molecules;
    o->species_against = species_against;
    o->molecules_against = molecules_against;
    o->cutoffs = cutoffs;
    return scatter_bonds(r, job, &o->bond_offsets, &o->bonds);
}

/** Make the job of a list, in rank 0. The command has no active particles. */
static struct job list_job(const struct ranks *r, enum job_kind kind, const kith_points *points,
                           const kith_box *box, double cutoff, const kith_pairs_options *how)
{
    assert(!how->active);
    struct job job = {.kind = kind,
                      .length = cutoff,
                      .pairs = *how,
                      .whole = {[SPECIES] = how->species,
                                [MOLECULES] = how->molecules,
                                [SPECIES_AGAINST] = how->species_against,
                                [MOLECULES_AGAINST] = how->molecules_against,
                                [RADII] = how->radii,
                                [RADII_AGAINST] = how->radii_against,
                                [CUTOFFS] = how->cutoffs}};
    describe_sets(r, &job, points, box, how->against);
    describe_bonds(&job, how->bond_offsets, how->bonds);
    return job;
}

/** Count pairs over all ranks.
 *  @param[out] n           number of pairs
 *  @param[out] neighbours  rank 0: [particles, or those of its share]; NULL: not wanted */
static kith_status do_pairs(struct ranks *r, const struct job *job, int64_t *n, int64_t *neighbours)
{
    kith_points points, against;
    kith_pairs_options o = job->pairs;
    int64_t *mine = neighbours;
    const bool wanted = job->whole[RESULTS] != NULL;
    RANKS_TRY(scatter_points(r, job, &points));
    RANKS_TRY(scatter_against(r, job, &against, &o.against));
    RANKS_TRY(scatter_rules(r, job, &o));
    if (wanted && r->control.rank > 0) {
        mine = need_column(r, RESULTS, points.n, sizeof *mine);
    }
    RANKS_TRY(agree(r, got(wanted ? (void *)mine : r)));
    RANKS_TRY(kith_team_pairs_count(r->team, &points, box_of(job), job->length, &o, n, mine));
    return wanted && !job->shares
               ? move_parts(r, (char *)neighbours, (char *)mine, job->n, sizeof *mine, true)
               : KITH_OK;
}

kith_status ranks_pairs_count(ranks *r, kith_ctx *ctx, const kith_points *points,
                              const kith_box *box, double cutoff, const kith_pairs_options *how,
                              int64_t *n, int64_t *neighbours)
{
    if (!r) {
        return kith_pairs_count(ctx, points, box, cutoff, how, n, neighbours);
    }
    struct job job = list_job(r, JOB_PAIRS, points, box, cutoff, how);
    job.whole[RESULTS] = neighbours;
    RANKS_TRY(tell(r, &job));
    return do_pairs(r, &job, n, neighbours);
}

/** Put the numbers of neighbours of all ranks together.
 *  @param neighbours  [n] those of this rank's particles */
static kith_status do_spread(struct ranks *r, const int64_t *neighbours, int64_t n, spread *out)
{
    spread_range range = spread_range_of(neighbours, n);
    int64_t sums[2] = {range.n, range.sum};
    RANKS_TRY(combine(r, KITH_SUM, sums, 2));
    RANKS_TRY(combine(r, KITH_MIN, &range.least, 1));
    RANKS_TRY(combine(r, KITH_MAX, &range.most, 1));
    range.n = sums[0];
    range.sum = sums[1];
    *out = spread_begin(&range);
    spread_add(out, neighbours, n);
    return combine(r, KITH_SUM, out->count, out->bins);
}

kith_status ranks_spread(ranks *r, const int64_t *neighbours, int64_t n, spread *out)
{
    if (!r || !r->shares) {
        *out = spread_of(neighbours, n);
        return KITH_OK;
    }
    struct job job = {.kind = JOB_SPREAD};
    RANKS_TRY(tell(r, &job));
    return do_spread(r, neighbours, n, out);
}

/* -------------------------------------------------------------------------------------- lists */

/** The arrays of a list of pairs, and their number. */
enum { LIST_I, LIST_J, LIST_DISTANCES, LIST_VECTORS, LIST_SHIFTS, LIST_ARRAYS };

/** The list of a rank, sorted, on its way to rank 0. */
struct list {
    kith_team_pairs pairs;     /**< the list, in numbers of the rank at first */
    size_t size[LIST_ARRAYS];  /**< bytes of an element of each array; 0: not in the list */
    char *mine[LIST_ARRAYS];   /**< the arrays of the list, with numbers of all particles */
    int64_t at;                /**< first pair that has not travelled yet */
    int64_t room;              /**< rank 0: pairs of a block that fit */
    char *ranked[LIST_ARRAYS]; /**< rank 0: a block in the order of the ranks */
    char *merged[LIST_ARRAYS]; /**< rank 0: the block in the order of the list */
};

/** Put numbers of all particles into the list, and describe its arrays. */
static void describe_list(const struct job *job, struct list *list)
{
    kith_team_pairs *pairs = &list->pairs;
    const size_t real = (size_t)job->precision;
    const unsigned extras = job->pairs.extras;
    const int64_t *ids = pairs->ids_against ? pairs->ids_against : pairs->ids;
    for (int64_t p = 0; p < pairs->n; p++) {
        pairs->i[p] = (int32_t)pairs->ids[pairs->i[p]];
        pairs->j[p] = (int32_t)ids[pairs->j[p]];
    }
    list->size[LIST_I] = list->size[LIST_J] = sizeof *pairs->i;
    list->size[LIST_DISTANCES] = extras & KITH_DISTANCES ? real : 0;
    list->size[LIST_VECTORS] = extras & KITH_VECTORS ? 3 * real : 0;
    list->size[LIST_SHIFTS] = extras & KITH_SHIFTS ? 3 * sizeof *pairs->shifts : 0;
    list->mine[LIST_I] = (char *)pairs->i;
    list->mine[LIST_J] = (char *)pairs->j;
    list->mine[LIST_DISTANCES] = pairs->distances;
    list->mine[LIST_VECTORS] = pairs->vectors;
    list->mine[LIST_SHIFTS] = (char *)pairs->shifts;
}

/** Make room for the pairs of a block at rank 0. @return false: no memory */
static bool need_block(struct list *list, int64_t n)
{
    for (int a = 0; a < LIST_ARRAYS && n > list->room; a++) {
        free(list->ranked[a]);
        free(list->merged[a]);
        list->ranked[a] = malloc((size_t)n * list->size[a] + 1);
        list->merged[a] = malloc((size_t)n * list->size[a] + 1);
    }
    list->room = n > list->room ? n : list->room;
    bool fits = true;
    for (int a = 0; a < LIST_ARRAYS && list->room > 0; a++) {
        fits = fits && list->ranked[a] && list->merged[a];
    }
    return fits;
}

/** Merge the parts of the ranks by i: the pairs of one i come from one rank.
 *  @param next  [parts] first pair of each part; changed
 *  @param end   [parts] end of each part */
static void merge_block(const struct list *list, int parts, int64_t *next, const int64_t *end)
{
    const int32_t *i = (const int32_t *)(const void *)list->ranked[LIST_I];
    for (int64_t to = 0;;) {
        int least = -1;
        for (int k = 0; k < parts; k++) {
            least = next[k] < end[k] && (least < 0 || i[next[k]] < i[next[least]]) ? k : least;
        }
        if (least < 0) {
            return;
        }
        const int64_t from = next[least];
        while (next[least] < end[least] && i[next[least]] == i[from]) {
            next[least]++;
        }
        const int64_t n = next[least] - from;
        for (int a = 0; a < LIST_ARRAYS; a++) {
            const size_t size = list->size[a];
            memcpy(list->merged[a] + (size_t)to * size, list->ranked[a] + (size_t)from * size,
                   (size_t)n * size);
        }
        to += n;
    }
}

/** Bring the pairs with i below `end` that have not travelled yet to rank 0.
 *  @param[out] block  rank 0: the pairs, sorted */
static kith_status bring_block(struct ranks *r, struct list *list, int64_t end, kith_pairs *block)
{
    const kith_transport *t = &r->control;
    struct part part[MOST_RANKS];
    int64_t held[MOST_RANKS], first[MOST_RANKS], last[MOST_RANKS];
    int64_t n = 0, all = 0;
    while (list->at + n < list->pairs.n && list->pairs.i[list->at + n] < end) {
        n++;
    }
    RANKS_TRY(gather(r, &n, sizeof n, held));
    for (int k = 0; k < t->ranks; k++) {
        first[k] = all;
        all += held[k];
        last[k] = all;
    }
    RANKS_TRY(agree(r, got(t->rank > 0 || need_block(list, all) ? r : NULL)));
    for (int a = 0; a < LIST_ARRAYS; a++) {
        const size_t size = list->size[a];
        for (int k = 0; k < t->ranks && t->rank == 0 && size > 0; k++) {
            part[k] = (struct part){list->ranked[a] + (size_t)first[k] * size,
                                    held[k] * (int64_t)size};
        }
        if (size > 0) {
            char *mine = list->mine[a] + (size_t)list->at * size;
            if (t->rank == 0) {
                memcpy(list->ranked[a], mine, (size_t)n * size);
            } else {
                part[0] = (struct part){mine, n * (int64_t)size};
            }
            RANKS_TRY(agree(r, got(need_parcels(r, all * (int64_t)size) ? r : NULL)));
            RANKS_TRY(exchange(r, part, true));
        }
    }
    list->at += n;
    if (t->rank == 0) {
        merge_block(list, t->ranks, first, last);
    }
    *block = (kith_pairs){.n = all,
                          .i = (int32_t *)(void *)list->merged[LIST_I],
                          .j = (int32_t *)(void *)list->merged[LIST_J],
                          .distances = list->merged[LIST_DISTANCES],
                          .vectors = list->merged[LIST_VECTORS],
                          .shifts = (int32_t *)(void *)list->merged[LIST_SHIFTS],
                          .memory = KITH_HOST};
    return KITH_OK;
}

/** Find the list, and pass it on block by block. @param fn  NULL at ranks above 0 */
static kith_status do_list(struct ranks *r, const struct job *job, kith_block_fn fn, void *user)
{
    struct list list = {.at = 0};
    kith_points points, against;
    kith_pairs_options o = job->pairs;
    RANKS_TRY(scatter_points(r, job, &points));
    RANKS_TRY(scatter_against(r, job, &against, &o.against));
    RANKS_TRY(scatter_rules(r, job, &o));
    kith_status status = kith_team_pairs_find(r->team, &points, box_of(job), job->length, &o,
                                              &list.pairs);
    /* A block holds the pairs of `rows` consecutive i: about block_pairs pairs on average, fewer
     * where particles have less than one pair each. */
    const double each = (double)list.pairs.all / (double)(job->n > 0 ? job->n : 1);
    const int64_t rows = 1 + (int64_t)((double)job->pairs.block_pairs / (each > 1 ? each : 1));
    int64_t done = 0;
    describe_list(job, &list);
    for (int64_t first = 0; first < job->n && status == KITH_OK; first += rows) {
        kith_pairs block = {0};
        int64_t stop = 0;
        status = bring_block(r, &list, first + rows, &block);
        if (status == KITH_OK && r->control.rank == 0 && block.n > 0) {
            stop = fn(user, &block, done) != 0;
        }
        done += block.n;
        status = status == KITH_OK ? combine(r, KITH_MAX, &stop, 1) : status;
        status = status == KITH_OK && stop ? KITH_CANCELLED : status;
    }
    for (int a = 0; a < LIST_ARRAYS; a++) {
        free(list.ranked[a]);
        free(list.merged[a]);
    }
    kith_team_pairs_free(&list.pairs);
    return status;
}

kith_status ranks_pairs_each(ranks *r, kith_ctx *ctx, const kith_points *points,
                             const kith_box *box, double cutoff, const kith_pairs_options *how,
                             kith_block_fn fn, void *user)
{
    if (!r) {
        return kith_pairs_each(ctx, points, box, cutoff, how, fn, user);
    }
    struct job job = list_job(r, JOB_LIST, points, box, cutoff, how);
    RANKS_TRY(tell(r, &job));
    return do_list(r, &job, fn, user);
}

/* -------------------------------------------------------------------------- nearest neighbours */

/** Bring the rows of all ranks together at rank 0. @param out  NULL at ranks above 0 */
static kith_status bring_rows(struct ranks *r, const struct job *job,
                              const kith_team_nearest *found, kith_nearest *out)
{
    const size_t k = (size_t)job->k, real = (size_t)job->precision;
    const unsigned extras = job->nearest.extras;
    kith_nearest all = {.rows = job->n, .k = job->k};
    int32_t *j = need_column(r, RESULTS, found->rows * job->k, sizeof *j);
    RANKS_TRY(agree(r, got(j)));
    for (int64_t e = 0; e < found->rows * job->k; e++) {
        j[e] = (int32_t)found->j[e];
    }
    RANKS_TRY(bring(r, NEAREST_COUNTS, found->counts, job->n, sizeof *all.counts, &all.counts));
    RANKS_TRY(bring(r, NEAREST_J, j, job->n, k * sizeof *j, &all.j));
    if (extras & KITH_DISTANCES) {
        RANKS_TRY(bring(r, NEAREST_DISTANCES, found->distances, job->n, k * real, &all.distances));
    }
    if (extras & KITH_VECTORS) {
        RANKS_TRY(bring(r, NEAREST_VECTORS, found->vectors, job->n, 3 * k * real, &all.vectors));
    }
    if (extras & KITH_SHIFTS) {
        RANKS_TRY(bring(r, NEAREST_SHIFTS, found->shifts, job->n, 3 * k * sizeof *all.shifts,
                        &all.shifts));
    }
    if (out) {
        all.size = out->size;
        *out = all;
    }
    return KITH_OK;
}

/** Find nearest neighbours, and bring the rows together. @param out  NULL at ranks above 0 */
static kith_status do_nearest(struct ranks *r, const struct job *job, kith_nearest *out)
{
    kith_points points, against;
    kith_nearest_options o = job->nearest;
    kith_team_nearest found = {.size = sizeof found};
    RANKS_TRY(scatter_points(r, job, &points));
    RANKS_TRY(scatter_against(r, job, &against, &o.against));
    kith_status status = kith_team_nearest_find(r->team, &points, box_of(job), job->k, &o, &found);
    status = status == KITH_OK ? bring_rows(r, job, &found, out) : status;
    kith_team_nearest_free(&found);
    return status;
}

kith_status ranks_nearest_find(ranks *r, kith_ctx *ctx, const kith_points *points,
                               const kith_box *box, int64_t k, const kith_nearest_options *how,
                               kith_nearest *out)
{
    if (!r) {
        return kith_nearest_find(ctx, points, box, k, how, out);
    }
    struct job job = {.kind = JOB_NEAREST, .k = k, .nearest = *how};
    describe_sets(r, &job, points, box, how->against);
    RANKS_TRY(tell(r, &job));
    return do_nearest(r, &job, out);
}

/* -------------------------------------------------------------------------------------- flocks */

/** Describe the options of a flock in a job, in rank 0. Too many things or species are refused by
 *  the library, which does not read them then. */
static void describe_model(struct job *job, const kith_flock_options *how)
{
    job->flock = *how;
    if (how->things && how->n_things > 0 && how->n_things <= KITH_MOST_THINGS) {
        memcpy(job->things, how->things, (size_t)how->n_things * sizeof *how->things);
    }
    if (how->n_species > 0 && how->n_species <= KITH_MOST_SPECIES) {
        job->whole[FACTORS] = how->factors;
    }
    assert(!how->species); /* the command has those that the library gives without an array */
}

/** Give each rank the options of a flock. */
static kith_status share_model(struct ranks *r, const struct job *job, kith_flock_options *model)
{
    const int64_t kinds = job->flock.n_species;
    const void *factors = NULL;
    *model = job->flock;
    RANKS_TRY(share(r, job, FACTORS, kinds * kinds * (int64_t)sizeof *model->factors, &factors));
    model->things = model->things ? job->things : NULL;
    model->factors = factors;
    return KITH_OK;
}

/** Start a flock. */
static kith_status do_flock(struct ranks *r, const struct job *job)
{
    kith_flock_options model;
    const void *given = NULL;
    kith_points points;
    RANKS_TRY(scatter_points(r, job, &points));
    RANKS_TRY(scatter(r, job, VELOCITIES, 3 * (size_t)job->precision, &given));
    RANKS_TRY(share_model(r, job, &model));
    const kith_points velocities = kith_points_packed(given, points.n, job->precision);
    kith_team_flock_close(r->flock);
    return kith_team_flock_open(r->team, &points, &velocities, box_of(job), &model, &r->flock);
}

kith_status ranks_flock_open(ranks *r, kith_ctx *ctx, const kith_points *points,
                             const kith_points *velocities, const kith_box *box,
                             const kith_flock_options *how, kith_flock **out)
{
    if (!r) {
        return kith_flock_open(ctx, points, velocities, box, how, out);
    }
    struct job job = {.kind = JOB_FLOCK};
    *out = NULL;
    describe_sets(r, &job, points, box, NULL);
    describe_model(&job, how);
    job.whole[VELOCITIES] = velocities->x;
    RANKS_TRY(tell(r, &job));
    return do_flock(r, &job);
}

/** Change the options of the flock. */
static kith_status do_change(struct ranks *r, const struct job *job)
{
    kith_flock_options model;
    RANKS_TRY(share_model(r, job, &model));
    return kith_team_flock_change(r->flock, &model);
}

kith_status ranks_flock_change(ranks *r, kith_flock *flock, const kith_flock_options *how)
{
    if (!r) {
        return kith_flock_change(flock, how);
    }
    struct job job = {.kind = JOB_CHANGE};
    describe_model(&job, how);
    RANKS_TRY(tell(r, &job));
    return do_change(r, &job);
}

kith_status ranks_flock_step(ranks *r, kith_flock *flock, int64_t steps)
{
    if (!r) {
        return kith_flock_step(flock, steps);
    }
    struct job job = {.kind = JOB_STEP, .steps = steps};
    RANKS_TRY(tell(r, &job));
    return kith_team_flock_step(r->flock, steps);
}

int64_t ranks_flock_steps(const ranks *r, const kith_flock *flock)
{
    return r ? kith_team_flock_steps(r->flock) : kith_flock_steps(flock);
}

/** Bring the state of the flock to rank 0.
 *  @param p  rank 0: receives it; others: NULL */
static kith_status do_state(struct ranks *r, const struct job *job, io_particles *p)
{
    const int rank = r->control.rank;
    const int64_t own = first_of(r, job->n, rank + 1) - first_of(r, job->n, rank);
    const size_t size = 3 * (size_t)job->precision;
    void *positions = p ? p->pos : need_column(r, FLOCK_POSITIONS, own, size);
    void *velocities = p ? p->velocity : need_column(r, FLOCK_VELOCITIES, own, size);
    RANKS_TRY(agree(r, got(positions && velocities ? positions : NULL)));
    RANKS_TRY(kith_team_flock_read(r->flock, positions, velocities));
    RANKS_TRY(move_parts(r, positions, positions, job->n, size, true));
    return move_parts(r, velocities, velocities, job->n, size, true);
}

kith_status ranks_flock_read(ranks *r, kith_flock *flock, io_particles *p)
{
    if (!r) {
        return kith_flock_read(flock, p->pos, p->velocity);
    }
    struct job job = {.kind = JOB_STATE, .n = p->n, .precision = p->precision};
    RANKS_TRY(tell(r, &job));
    return do_state(r, &job, p);
}

void ranks_flock_read_things(const ranks *r, const kith_flock *flock, kith_flock_thing *things)
{
    if (r) {
        kith_team_flock_read_things(r->flock, things);
    } else {
        kith_flock_read_things(flock, things);
    }
}

kith_status ranks_flock_measure(ranks *r, kith_flock *flock, kith_flock_measures *out)
{
    if (!r) {
        return kith_flock_measure(flock, out);
    }
    struct job job = {.kind = JOB_MEASURE};
    RANKS_TRY(tell(r, &job));
    return kith_team_flock_measure(r->flock, out);
}

/* ------------------------------------------------------------------------------------- reading */

/** What rank 0 tells the others to read. */
struct request {
    char path[PATH_MAX];                       /**< the file */
    char dataset[PATH_MAX], species[PATH_MAX]; /**< options; "": not given */
    io_read_options read;                      /**< the other options; its pointers are NULL */
};

/** How reading a share ended. */
struct reading {
    io_error error;  /**< status, and why it failed */
    int64_t all;     /**< particles of all shares */
    int dim;         /**< number of coordinates */
    int64_t bytes;   /**< size of the file */
    unsigned fields; /**< bits IO_MASSES | ...: fields that were read */
    int precision;   /**< of the reals */
};

/** Describe what was read. */
static struct reading describe_reading(const io_particles *p, const io_error *error)
{
    return (struct reading){.error = *error,
                            .all = p->all,
                            .dim = p->dim,
                            .bytes = p->bytes,
                            .precision = (int)p->precision,
                            .fields = (p->mass ? (unsigned)IO_MASSES : 0) |
                                      (p->velocity ? (unsigned)IO_VELOCITIES : 0) |
                                      (p->id ? (unsigned)IO_IDS : 0) |
                                      (p->type ? (unsigned)IO_TYPES : 0) |
                                      (p->potential ? (unsigned)IO_POTENTIALS : 0) |
                                      (p->density ? (unsigned)IO_DENSITIES : 0)};
}

/** Make one error of those of all ranks: that of the lowest rank that failed.
 *  @param[in,out] error  that of this rank */
static io_status agree_on_reading(struct ranks *r, const io_particles *share, const char *path,
                                  io_error *error)
{
    const struct reading mine = describe_reading(share, error);
    struct reading *all = malloc((size_t)r->control.ranks * sizeof *all);
    kith_status status = agree(r, got(all));
    status = status == KITH_OK ? gather(r, &mine, sizeof mine, all) : status;
    if (status != KITH_OK) {
        free(all);
        snprintf(error->text, sizeof error->text, "%.800s: %.100s", path, r->message);
        return error->status = status == KITH_TEAM_LOST ? IO_UNSUPPORTED : IO_NO_MEMORY;
    }
    *error = all[0].error;
    for (int k = 1; k < r->control.ranks && error->status == IO_OK; k++) {
        *error = all[k].error;
        if (error->status == IO_OK &&
            (all[k].all != all[0].all || all[k].dim != all[0].dim || all[k].bytes != all[0].bytes ||
             all[k].precision != all[0].precision || all[k].fields != all[0].fields)) {
            error->status = IO_FORMAT;
            snprintf(error->text, sizeof error->text,
                     "%.800s: rank %d reads another file of this name than rank 0", path, k);
        }
    }
    free(all);
    return error->status;
}

/** Read the share of a rank above 0. */
static void do_read(struct ranks *r, const struct job *job)
{
    const void *at;
    if (share(r, job, REQUEST, sizeof(struct request), &at) != KITH_OK) {
        return;
    }
    const struct request *request = at;
    io_particles *into = &r->share[job->set];
    io_read_options read = request->read;
    io_error error = {0};
    read.dataset = *request->dataset ? request->dataset : NULL;
    read.species = *request->species ? request->species : NULL;
    read.watch = progress_watch_interrupt;
    read.part = r->control.rank;
    io_particles_free(into);
    (void)io_read(request->path, &read, into, &error);
    (void)agree_on_reading(r, into, request->path, &error);
}

/** Return true when a text, or NULL, fits a field of a request; an empty text does not. */
static bool fits_request(const char *text)
{
    return !text || (*text && strlen(text) < PATH_MAX);
}

bool ranks_read_shares(const options *o, const char *path)
{
    io_error unused;
    bool can = false;
    return processes && !o->read.columns && !o->read.radii && fits_request(path) &&
           fits_request(o->read.dataset) && fits_request(o->read.species) &&
           io_reads_parts(path, &o->read, &can, &unused) == IO_OK && can;
}

int ranks_share_begin(const options *o, const char *path, int set)
{
    struct ranks *r = processes;
    struct request *request = calloc(1, sizeof *request);
    if (!request) {
        return report_no_memory(path);
    }
    assert(!o->read.columns && !o->read.radii); /* ranks_read_shares */
    request->read = o->read;
    request->read.dataset = request->read.species = NULL; /* pointers of this process */
    request->read.watch = NULL;
    request->read.user = NULL;
    request->read.parts = r->control.ranks;
    request->read.threads = o->threads;
    snprintf(request->path, sizeof request->path, "%s", path);
    snprintf(request->dataset, sizeof request->dataset, "%s",
             o->read.dataset ? o->read.dataset : "");
    snprintf(request->species, sizeof request->species, "%s",
             o->read.species ? o->read.species : "");
    struct job job = {.kind = JOB_READ, .set = set, .whole = {[REQUEST] = request}};
    const void *sent;
    kith_status told = tell(r, &job);
    told = told == KITH_OK ? share(r, &job, REQUEST, sizeof *request, &sent) : told;
    free(request);
    return ranks_status(r, NULL, told, path);
}

int ranks_share_end(const char *path, int set, const io_particles *share, io_error *error)
{
    struct ranks *r = processes;
    CLI_TRY(report_io(agree_on_reading(r, share, path, error), error, false));
    r->shares = true;
    r->of_set[set] = share->all;
    return STATUS_OK;
}

int ranks_processes(void)
{
    return processes ? processes->control.ranks : 1;
}

int ranks_read(const options *o, const char *path, int set, bool shares, input *in)
{
    if (!shares) {
        return input_read(o, path, in);
    }
    options mine = *o;
    io_error error = {0};
    mine.read.parts = ranks_processes();
    CLI_TRY(ranks_share_begin(o, path, set));
    (void)input_try(&mine, path, in, &error);
    CLI_TRY(ranks_share_end(path, set, &in->particles, &error));
    input_note_frames(o, in);
    return STATUS_OK;
}

/** Make a pass, rank after rank; its state travels from rank 0 to the last one, and back.
 *  @param p  rank 0: the state; others: where it is received */
static kith_status do_pass(struct ranks *r, const io_particles *share, pass *p)
{
    const kith_transport *t = &r->control;
    for (int k = 0; k < t->ranks; k++) {
        const int next = (k + 1) % t->ranks;
        const kith_parcel to = {.peer = next, .data = p, .bytes = sizeof *p};
        kith_parcel from = {.peer = k, .data = p, .bytes = sizeof *p};
        if (t->rank == k) {
            pass_over(p, share);
        }
        RANKS_TRY(trade(r, &to, t->rank == k, &from, t->rank == next));
    }
    return KITH_OK;
}

int ranks_pass(const input *in, pass *p)
{
    if (in->parts == 1) {
        pass_over(p, &in->particles);
        return STATUS_OK;
    }
    struct job job = {.kind = JOB_PASS};
    kith_status status = tell(processes, &job);
    status = status == KITH_OK ? do_pass(processes, &in->particles, p) : status;
    return ranks_status(processes, NULL, status, in->path);
}

/* ------------------------------------------------------------------ opening and closing ranks */

/** Count the names of a list of backends. */
static int count_backends(const char *list)
{
    int names = 1;
    for (const char *at = list; *at; at++) {
        names += *at == ',';
    }
    return names;
}

/** Return true when a list has more than one name, and they differ. */
static bool backends_differ(const char *list)
{
    const size_t length = strcspn(list, ",");
    for (const char *at = list + length; *at == ','; at += strcspn(at, ",")) {
        at++;
        if (strcspn(at, ",") != length || memcmp(at, list, length) != 0) {
            return true;
        }
    }
    return false;
}

/** Copy the name of the backend that a rank uses from the list. */
static void choose_backend(const struct ranks *r, const char *list, char out[BACKENDS_BYTES])
{
    const int names = count_backends(list);
    for (int turn = (r->mpi ? launcher_local_rank() : r->control.rank) % names; turn > 0; turn--) {
        list = strchr(list, ',') + 1;
    }
    snprintf(out, BACKENDS_BYTES, "%.*s", (int)strcspn(list, ","), list);
}

/** Open the context of a rank above 0, or that of rank 0, with a progress bar. */
static kith_status open_context(struct ranks *r, const struct job *job, kith_watch_fn watch,
                                void *user)
{
    char backend[BACKENDS_BYTES];
    kith_options settings;
    kith_options_init(&settings);
    choose_backend(r, job->backends, backend);
    settings.backend = *backend ? backend : NULL;
    settings.threads = job->threads;
    settings.watch = watch;
    settings.user = user;
    const kith_status status = kith_open(&settings, &r->ctx);
    if (status != KITH_OK) {
        snprintf(r->message, sizeof r->message, "%.500s", kith_message(NULL));
    }
    return status;
}

/** Close the team and the context of a rank; rank 0's context is the command's. */
static void close_member(struct ranks *r)
{
    kith_team_groups_free(&r->groups);
    kith_team_flock_close(r->flock);
    r->flock = NULL;
    for (int set = 0; set < 2; set++) {
        io_particles_free(&r->share[set]);
    }
    r->shares = false;
    kith_team_close(r->team);
    if (r->control.rank > 0) {
        kith_close(r->ctx);
    }
    r->team = NULL;
    r->ctx = NULL;
    for (int c = 0; c < COLUMNS; c++) {
        free(r->column[c]);
        r->column[c] = NULL;
    }
    free(r->members);
    r->members = NULL;
}

/** Open the context and the team of a rank. */
static kith_status do_open(struct ranks *r, const struct job *job, kith_watch_fn watch, void *user)
{
    kith_status status = open_context(r, job, watch, user);
    RANKS_TRY(fetch_message(r, status, true));
    if (r->mpi) {
        RANKS_TRY(agree(r, launcher_transport(&r->work)));
    }
    kith_transport work = r->work;
    memset(&r->work, 0, sizeof r->work);
    status = kith_team_open(r->ctx, &work, NULL, &r->team);
    if (status != KITH_OK) {
        snprintf(r->message, sizeof r->message, "%.500s", kith_message(r->ctx));
    }
    return status;
}

/** Do the jobs of a rank above 0 until it is told to end. @return the exit status of rank 0 */
static int serve(struct ranks *r)
{
    for (;;) {
        struct job job;
        spread unused;
        kith_flock_measures measures;
        int64_t n, begin[KITH_TYPES + 1];
        if (tell(r, &job) != KITH_OK) {
            close_member(r);
            return STATUS_NO_BACKEND;
        }
        switch (job.kind) { /* rank 0 has the statuses too, or the transport is lost (lose) */
        case JOB_READ: do_read(r, &job); break;
        case JOB_OPEN: (void)do_open(r, &job, progress_watch_interrupt, NULL); break;
        case JOB_PASS: (void)do_pass(r, &r->share[0], &(pass){.kind = PASS_FIELDS}); break;
        case JOB_FOF: (void)do_fof(r, &job, NULL); break;
        case JOB_COUNT_LABELS: (void)do_count_labels(r, job.groups, NULL); break;
        case JOB_RENUMBER: (void)do_renumber(r, &job); break;
        case JOB_HALOS: (void)do_halos(r, &job, NULL); break;
        case JOB_SORT: (void)do_sort(r, &job, begin); break;
        case JOB_ROWS: (void)do_rows(r, &job, NULL); break;
        case JOB_NEAREST: (void)do_nearest(r, &job, NULL); break;
        case JOB_RDF: (void)do_rdf(r, &job, NULL); break;
        case JOB_FRAMES: (void)do_frames(r, &job, NULL); break;
        case JOB_PAIRS: (void)do_pairs(r, &job, &n, NULL); break;
        case JOB_SPREAD: (void)do_spread(r, r->column[RESULTS], r->share[0].n, &unused); break;
        case JOB_LIST: (void)do_list(r, &job, NULL, NULL); break;
        case JOB_FLOCK: (void)do_flock(r, &job); break;
        case JOB_CHANGE: (void)do_change(r, &job); break;
        case JOB_STEP: (void)kith_team_flock_step(r->flock, job.steps); break;
        case JOB_STATE: (void)do_state(r, &job, NULL); break;
        case JOB_MEASURE: (void)kith_team_flock_measure(r->flock, &measures); break;
        case JOB_CLOSE: close_member(r); break;
        case JOB_END: close_member(r); return job.status;
        }
    }
}

/** Free a rank, whose context and team are closed. */
static void free_member(struct ranks *r)
{
    kith_transport_close(&r->work);
    kith_transport_close(&r->control);
    free(r->parcel);
    r->parcel = NULL;
    r->room = 0;
}

/** For on_exit, in rank 0 of MPI: let the other ranks end with this status. */
static void end_processes(int status, void *unused)
{
    struct job job = {.kind = JOB_END, .status = status};
    (void)unused;
    if (tell(processes, &job) != KITH_OK) {
        processes->control.abort(processes->control.self);
    }
    free_member(processes);
    launcher_end();
}

int ranks_join(bool *several)
{
    static struct ranks self = {.mpi = true};
    int all = 1;
    CLI_TRY(launcher_begin(&all, &self.control));
    *several = all > 1;
    if (!*several) {
        return STATUS_OK;
    }
    if (!need_parcels(&self, 0)) {
        (void)report_no_memory("the ranks");
        self.control.abort(self.control.self);
        return STATUS_NO_MEMORY;
    }
    if (self.control.rank > 0) {
        (void)dup2(STDERR_FILENO, STDOUT_FILENO); /* these ranks print nothing, but MPI may */
        progress_catch_signals();
        const int end = serve(&self);
        free_member(&self);
        launcher_end();
        exit(end);
    }
    processes = &self;
    (void)setenv("NO_COLOR", "1", 0); /* the terminal may be the launcher's, which ends in a file */
    (void)on_exit(end_processes, NULL);
    return STATUS_OK;
}

/** Main function of the thread of a rank. */
static void *run_thread(void *argument)
{
    (void)serve(argument);
    return NULL;
}

/** Let the threads of some ranks end, and free all ranks. @param started  ranks that were started,
 *  rank 0 included */
static void end_threads(struct ranks *all, int started)
{
    struct job job = {.kind = JOB_END};
    const int n = all->control.ranks;
    if (started < n || tell(all, &job) != KITH_OK) {
        all->control.abort(all->control.self);
    }
    for (int k = 1; k < started; k++) {
        pthread_join(all[k].thread, NULL);
    }
    for (int k = 0; k < n; k++) {
        free_member(&all[k]);
    }
    free(all);
}

/** Start a thread for each rank but the first. @return rank 0; NULL: no memory or no thread */
static struct ranks *start_threads(int n)
{
    struct ranks *all = calloc((size_t)n, sizeof *all);
    kith_transport *control = calloc((size_t)n, sizeof *control);
    kith_transport *work = calloc((size_t)n, sizeof *work);
    int started = 0;
    if (all && control && work && kith_transport_threads(n, control) == KITH_OK) {
        bool fits = kith_transport_threads(n, work) == KITH_OK;
        for (int k = 0; k < n; k++) {
            all[k] = (struct ranks){.control = control[k], .work = work[k], .all = all};
            fits = fits && need_parcels(&all[k], 0);
        }
        started = 1;
        while (fits && started < n &&
               pthread_create(&all[started].thread, NULL, run_thread, &all[started]) == 0) {
            started++;
        }
        if (started < n) {
            end_threads(all, started);
            all = NULL;
        }
    } else {
        free(all);
        all = NULL;
    }
    free(control);
    free(work);
    return all;
}

/** Return the list of backends that the options or the environment give; "": none. */
static const char *listed_backends(const options *o)
{
    const char *asked = o->backend ? o->backend : getenv("KITH_BACKEND");
    return asked ? asked : "";
}

bool ranks_several(const options *o)
{
    return processes || count_backends(listed_backends(o)) > 1;
}

int ranks_open(const options *o, kith_watch_fn watch, void *user, kith_ctx **ctx, ranks **out)
{
    const char *list = listed_backends(o);
    const int names = count_backends(list);
    *out = NULL;
    if (!ranks_several(o)) {
        return engine_open(o, watch, user, ctx);
    }
    if (strlen(list) >= BACKENDS_BYTES || names > MOST_RANKS) {
        return report_error(STATUS_INVALID, NULL, "--backend: the list of backends is too long");
    }
    if (*list == ',' || strstr(list, ",,") || (names > 1 && list[strlen(list) - 1] == ',')) {
        return report_error(STATUS_INVALID, NULL, "--backend: got '%s', a name is empty", list);
    }
    struct ranks *r = processes ? processes : start_threads(names);
    if (!r) {
        return report_no_memory("the ranks of --backend");
    }
    struct job job = {.kind = JOB_OPEN, .threads = o->threads};
    snprintf(job.backends, sizeof job.backends, "%s", list);
    snprintf(r->list, sizeof r->list, "%s", backends_differ(list) ? list : "");
    if (!r->mpi) { /* the ranks of a process share its threads */
        const int threads = (o->threads > 0 ? o->threads : kith__default_threads()) / names;
        job.threads = threads > 0 ? threads : 1;
    }
    *out = r;
    progress_unstoppable(true);
    kith_status status = tell(r, &job);
    status = status == KITH_OK ? do_open(r, &job, watch, user) : status;
    progress_unstoppable(false);
    *ctx = r->ctx;
    return ranks_status(r, NULL, status, NULL);
}

void ranks_close(ranks *r)
{
    if (!r) {
        return;
    }
    struct job job = {.kind = JOB_CLOSE};
    (void)tell(r, &job);
    close_member(r);
    if (!r->mpi) {
        end_threads(r->all, r->control.ranks);
    }
}

int ranks_number(const ranks *r)
{
    return r ? r->control.ranks : 1;
}

const char *ranks_backend(const ranks *r, const kith_ctx *ctx)
{
    return r && *r->list ? r->list : kith_backend(ctx);
}

shown_text ranks_words(const ranks *r, const kith_ctx *ctx)
{
    const int threads = kith_threads(ctx);
    if (!r) {
        return report_text(engine_words(ctx).s);
    }
    shown_text words;
    snprintf(words.s, sizeof words.s, "%d ranks of %s, %d thread%s", r->control.ranks,
             ranks_backend(r, ctx), threads, threads == 1 ? "" : "s");
    return words;
}

int ranks_status(const ranks *r, const kith_ctx *ctx, kith_status status, const char *about)
{
    if (status == KITH_OK || !r || !r->message[0]) {
        return report_kith(ctx, status, about);
    }
    return report_kith_text(status, about, r->message);
}
