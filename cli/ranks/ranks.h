/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several ranks that answer the questions of one command, as a team (kith/team.h): processes that a
 * launcher of MPI started, or threads with a backend each (--backend cuda:0,cuda:1).
 *
 * Rank 0 is the command: it parses the options, reads the files, prints, and writes the outputs.
 * The other ranks wait for jobs. A job is a struct that rank 0 sends to all, then arrays of which
 * each rank receives its part, one call of the team, and results that travel back. So a command has
 * the messages and outputs of one process.
 *
 * Processes of MPI read a file in parts where its format allows that: each rank reads and keeps its
 * share of the particles, equal numbers of consecutive ones, and no rank holds them all. Of other
 * files rank 0 holds all particles. Threads share the arrays of rank 0.
 */
#ifndef KITH_CLI_RANKS_H
#define KITH_CLI_RANKS_H

#include "catalogues/catalogue.h"
#include "common/input.h"
#include "common/options.h"
#include "common/passes.h"
#include "common/radii.h"
#include "common/report.h"
#include "common/species.h"
#include "common/spread.h"

/** The ranks of a command, as rank 0 sees them. */
typedef struct ranks ranks;

/** Join the processes that a launcher of MPI started with this one; to be called first. All but
 *  rank 0 then do their jobs, and end the process with the exit status of rank 0. Rank 0 lets them
 *  end when it ends by exit().
 *  @param[out] several  true: there are other processes
 *  @return exit status, reported */
int ranks_join(bool *several);

/** What a verb does on all ranks, which divide whole tasks among them: called on each, rank 0 too,
 *  by its main thread.
 *  @param transport  of the ranks: each ends with as many collective calls as the others
 *  @param ctx        context of the rank, with its backend and threads
 *  @param user       rank 0: what ranks_deal was given; NULL on other ranks
 *  @return KITH_OK; KITH_TEAM_LOST: a function of the transport has failed */
typedef kith_status (*ranks_deal_fn)(const kith_transport *transport, kith_ctx *ctx, void *user);

/** Tell ranks above 0 what ranks_deal calls; to be called before ranks_join. */
void ranks_on_deal(ranks_deal_fn fn);

/** Let each rank call a function: rank 0 this one, the others that of ranks_on_deal.
 *  @param r  not NULL   @return KITH_OK; KITH_TEAM_LOST, which ranks_status reports */
kith_status ranks_deal(ranks *r, ranks_deal_fn fn, void *user);

/** Return true when each rank is to read its share of a file: the ranks are processes, and the
 *  format can be read in parts. */
bool ranks_read_shares(const options *o, const char *path);

/** Read the particles of a file, as input_read does. To be called before ranks_open.
 *  @param set     0: INPUT; 1: the second set
 *  @param shares  as ranks_read_shares says, for both sets alike, or false: rank 0 reads all. With
 *                 shares, `in` holds the share of rank 0; in->particles.all counts all particles,
 *                 and calls of this header take the shares as the points of the command
 *  @return exit status, reported */
int ranks_read(const options *o, const char *path, int set, bool shares, input *in);

/** Let the other ranks read their shares of a file, while this one reads its own by another reader.
 *  @return exit status, reported; after STATUS_OK call ranks_share_end */
int ranks_share_begin(const options *o, const char *path, int set);

/** Wait until all ranks have read their shares.
 *  @param share  that of rank 0; zeros where it could not be read
 *  @param error  how rank 0 ended reading; then that of the lowest rank that failed
 *  @return exit status, reported */
int ranks_share_end(const char *path, int set, const io_particles *share, io_error *error);

/** Number of processes that started with this one. */
int ranks_processes(void);

/** Make a pass over the particles of INPUT that ranks_read has read, of all ranks.
 *  @param p  its state   @return exit status, reported */
int ranks_pass(const input *in, pass *p);

/** Get the radii of the particles of a set that ranks_read has read: radii_read, on each rank for
 *  its share.
 *  @param in          the particles that this rank has
 *  @param[out] radii  [in->particles.n], of these particles; the other ranks keep theirs
 *  @param[out] range  range of all radii
 *  @return exit status, reported */
int ranks_radii_read(const radii_source *from, int set, const input *in, void *radii,
                     radii_range *range);

/** Number the species of the particles of a set of which each rank has read its share: each reads
 *  the frame of the options once more, as a trajectory, and numbers its particles.
 *  @param in              the share of rank 0
 *  @param[in,out] names   names of the species, of all ranks, as species_number appends them
 *  @param[out] species    [in->particles.n], of the particles of rank 0; the others keep theirs
 *  @return exit status, reported */
int ranks_species_read(const options *o, int set, const input *in, species_names *names,
                       int32_t *species);

/** Return true when a command works on several ranks: processes, or backends of --backend. */
bool ranks_several(const options *o);

/** Open a context, as engine_open does, and those of the other ranks.
 *  @param[out] out  the ranks; NULL: the context works alone. ranks_close it before the context
 *  @return exit status, reported */
int ranks_open(const options *o, kith_watch_fn watch, void *user, kith_ctx **ctx, ranks **out);

/** Close the contexts of the other ranks, and free the arrays of results. @param r  may be NULL */
void ranks_close(ranks *r);

/** Return the number of ranks. @param r  NULL: 1 */
int ranks_number(const ranks *r);

/** Return the backend of the context, or the list of backends where ranks have several:
 *  "cuda:0,cuda:1". */
const char *ranks_backend(const ranks *r, const kith_ctx *ctx);

/** Return the ranks, their backends and the threads of each as text: "3 ranks of cpu:avx512, 1
 *  thread". @param r  NULL: as engine_words */
shown_text ranks_words(const ranks *r, const kith_ctx *ctx);

/** Report a failed call of this header, as report_kith does. @return exit status */
int ranks_status(const ranks *r, const kith_ctx *ctx, kith_status status, const char *about);

/** Call kith_fof_find, or do it over all ranks.
 *  @param role_of  [IO_MOST_TYPES] roles by type, from which how->roles follow; not read without
 *  @param out      its arrays stay until ranks_close. With shares, labels are those of rank 0's
 *                  particles; the other ranks keep theirs
 *  @return as kith_fof_find; ranks_status reports it */
kith_status ranks_fof_find(ranks *r, kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           double length, const kith_fof_options *how, const uint8_t *role_of,
                           kith_groups *out);

/** Count the particles that have each label, of all ranks, after ranks_fof_find.
 *  @param[out] members  [groups->n] particles of label 1, 2, ...
 *  @return KITH_OK; KITH_NO_MEMORY; KITH_TEAM_LOST; ranks_status reports it */
kith_status ranks_groups_count(ranks *r, const kith_groups *groups, int64_t *members);

/** Give all labels other numbers, after ranks_fof_find.
 *  @param number  [groups->n + 1] number by label
 *  @return KITH_OK; KITH_NO_MEMORY; KITH_TEAM_LOST; ranks_status reports it */
kith_status ranks_groups_renumber(ranks *r, kith_groups *groups, const int32_t *number);

/** The shares of all ranks, as the writers of io.h get them. */
typedef struct ranks_rows {
    io_shares shares;          /**< what a catalogue refers to */
    ranks *r;                  /**< the ranks */
    const io_particles *share; /**< the share of rank 0 */
    const kith_groups *groups; /**< the groups; their number is read */
    kith_status status;        /**< why a function of `shares` failed; ranks_status reports it */
} ranks_rows;

/** Let writers get rows of the particles of all ranks, after ranks_fof_find: piece by piece, so
 *  that rank 0 never holds all.
 *  @param[out] rows  must stay where it is
 *  @return NULL where one rank has all particles: then writers need nothing of it */
const io_shares *ranks_rows_of(ranks *r, const io_particles *share, const kith_groups *groups,
                               ranks_rows *rows);

enum { RANKS_MOST_CLASSES = 64 }; /* species of which weights are added up */

/** Sums over the particles of a distribution with weights, by species: in the order of the
 *  particles, from rank to rank, so that they have the bits of one process. */
typedef struct ranks_weight_sums {
    double n[RANKS_MOST_CLASSES];       /**< particles */
    double sum[RANKS_MOST_CLASSES];     /**< sum of the weights */
    double squares[RANKS_MOST_CLASSES]; /**< sum of the squares of the weights */
} ranks_weight_sums;

/** Get the weights of the particles of INPUT, of which each rank has read its share.
 *  @param file          file of numbers; NULL: the masses
 *  @param in            the share of rank 0
 *  @param[out] weights  [in->particles.n], of these particles; the other ranks keep theirs
 *  @param[out] any      a weight of all ranks is not 0
 *  @return exit status, reported */
int ranks_weights_read(const char *file, const input *in, double *weights, bool *any);

/** Call kith_rdf_count, or do it over all ranks, without `against`. With shares, `how` has species
 *  and weights alone, and the other ranks count their particles whose types have a class.
 *  @param class_of_type  [IO_MOST_TYPES] with shares: species of each type, of all particles [0]
 *                        where they have no types; -1: not counted
 *  @param[out] sums      with weights: sums over the particles that are counted, of all ranks
 *  @return as kith_rdf_count; ranks_status reports it */
kith_status ranks_rdf_count(ranks *r, kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            const kith_rdf_options *how, const int32_t *class_of_type,
                            kith_histogram *out, ranks_weight_sums *sums);

/** Call kith_halos_measure, or do it over all ranks, which do not time the spheres.
 *  @param groups  numbered as the caller likes: n and labels are read
 *  @param out     its array stays until ranks_close
 *  @return as kith_halos_measure; ranks_status reports it */
kith_status ranks_halos_measure(ranks *r, kith_ctx *ctx, const kith_points *points,
                                const kith_box *box, const kith_groups *groups,
                                const kith_halo_input *known, kith_halos *out);

/** A frame that one rank counts, and its histogram. */
typedef struct ranks_frame {
    kith_points points;     /**< the particles */
    const int32_t *species; /**< [points.n] species of each */
    kith_box box;           /**< the box */
    kith_histogram
        histogram; /**< counts, ideal and centres alone, which stay until the next call */
} ranks_frame;

/** Count several frames, each on one rank: consecutive frames for each rank.
 *  @param how  options of all frames: neither weights, forces, molecules nor bonds
 *  @return as kith_rdf_count for the first frame that failed; ranks_status reports it */
kith_status ranks_frames_count(ranks *r, const kith_rdf_options *how, ranks_frame *frame,
                               int64_t n);

/** Call kith_pairs_count, or do it over all ranks. With shares, `neighbours` is for the share of
 *  rank 0, and the other ranks keep theirs for ranks_spread.
 *  @return as kith_pairs_count; ranks_status reports it */
kith_status ranks_pairs_count(ranks *r, kith_ctx *ctx, const kith_points *points,
                              const kith_box *box, double cutoff, const kith_pairs_options *how,
                              int64_t *n, int64_t *neighbours);

/** Describe the numbers of neighbours that ranks_pairs_count has counted, of all particles.
 *  @param neighbours  [n], those of rank 0's particles
 *  @return KITH_OK; KITH_TEAM_LOST, which ranks_status reports */
kith_status ranks_spread(ranks *r, const int64_t *neighbours, int64_t n, spread *out);

/** Call kith_pairs_each, or do it over all ranks, for sorted lists: each rank holds its part of the
 *  list. @return as kith_pairs_each; ranks_status reports it */
kith_status ranks_pairs_each(ranks *r, kith_ctx *ctx, const kith_points *points,
                             const kith_box *box, double cutoff, const kith_pairs_options *how,
                             kith_block_fn fn, void *user);

/** Call kith_nearest_find, or do it over all ranks. @param out  its arrays stay until ranks_close
 *  @return as kith_nearest_find; ranks_status reports it */
kith_status ranks_nearest_find(ranks *r, kith_ctx *ctx, const kith_points *points,
                               const kith_box *box, int64_t k, const kith_nearest_options *how,
                               kith_nearest *out);

/** Call kith_flock_open, or do it over all ranks: the calls below are then made on the flock of the
 *  ranks, which is closed by ranks_close.
 *  @param points, velocities  packed
 *  @param[out] out            NULL where the ranks have the flock
 *  @return as kith_flock_open; ranks_status reports it */
kith_status ranks_flock_open(ranks *r, kith_ctx *ctx, const kith_points *points,
                             const kith_points *velocities, const kith_box *box,
                             const kith_flock_options *how, kith_flock **out);

/** Call kith_flock_change, or do it over all ranks. @param flock  from ranks_flock_open
 *  @return as kith_flock_change; ranks_status reports it */
kith_status ranks_flock_change(ranks *r, kith_flock *flock, const kith_flock_options *how);

/** Call kith_flock_step, or do it over all ranks. @param flock  from ranks_flock_open
 *  @return as kith_flock_step; ranks_status reports it */
kith_status ranks_flock_step(ranks *r, kith_flock *flock, int64_t steps);

/** Return the steps done: kith_flock_steps. */
int64_t ranks_flock_steps(const ranks *r, const kith_flock *flock);

/** Call kith_flock_read, or do it over all ranks. @param flock  from ranks_flock_open
 *  @param[in,out] p  n and precision are those of the flock; receives positions and velocities
 *  @return as kith_flock_read; ranks_status reports it */
kith_status ranks_flock_read(ranks *r, kith_flock *flock, io_particles *p);

/** Copy obstacles and attractors as they are now: kith_flock_read_things. */
void ranks_flock_read_things(const ranks *r, const kith_flock *flock, kith_flock_thing *things);

/** Call kith_flock_measure, or do it over all ranks. @param flock  from ranks_flock_open
 *  @return as kith_flock_measure; ranks_status reports it */
kith_status ranks_flock_measure(ranks *r, kith_flock *flock, kith_flock_measures *out);

#endif
