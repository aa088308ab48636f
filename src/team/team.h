/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A team: its state, the agreement of all ranks at the end of each phase, and exchanges in parcels.
 *
 * A collective call is a sequence of phases. In each phase a rank does work of its own, which may
 * fail; then kith__team_agree makes one status of those of all ranks, and every rank goes on, or
 * none. Messages are exchanged between phases alone, when all memory that they need is allocated.
 * So no rank waits for the messages of a rank that has failed.
 */
#ifndef KITH_TEAM_H
#define KITH_TEAM_H

#include "core/context.h"

/** Numbers of the buffers of a team's scratch memory: those of team.c, move.c, ghosts.c and
 *  divide.c, then one range for the question that is being answered. */
enum {
    KITH_TEAM_PARCELS,      /**< list of parcels of an exchange */
    KITH_TEAM_SEND,         /**< items in the order of their messages, before they are sent */
    KITH_TEAM_COUNTS,       /**< scratch of a route's counting sort (move.c): a count for each
                                 range of items and rank, and the targets of an item */
    KITH_TEAM_SAMPLES,      /**< fractional coordinates and sections of sampled particles */
    KITH_TEAM_BINS,         /**< histograms of sampled coordinates, one for each plane */
    KITH_TEAM_CUTS,         /**< planes of the decomposition while they are being found */
    KITH_TEAM_LEVELS,       /**< arrays of the decomposition (struct kith__level in divide.h) */
    KITH_TEAM_BOXES,        /**< bounds of the particles of each rank, then of each range of this
                                 rank's particles */
    KITH_TEAM_REACHED,      /**< ranks that may need copies of this rank's particles (ghosts.c) */
    KITH_TEAM_QUESTION = 16 /**< first buffer of the question */
};
enum { KITH_TEAM_BUFFERS = 80 }; /**< number of buffers, of all uses */

struct kith__domains;

/** Replaces the decomposition in tests: chooses the domain of a particle. It is not called where
 *  particles are dealt by number, without domains (kith__team_deal).
 *  @param user    what kith__team_deal_by was given
 *  @param f       fractional coordinates of the particle, wrapped into the box
 *  @param global  its global index
 *  @param ranks   number of ranks
 *  @return the domain, 0 to ranks - 1: the number of the rank that gets the particle, unless
 *          domains are joined (kith__domains.host) */
typedef int kith__team_deal_fn(void *user, const double f[3], int64_t global, int ranks);

/** One rank's part of a team, opaque to callers (kith/team.h). */
struct kith_team {
    kith_ctx *ctx;            /**< the rank's context */
    kith_transport transport; /**< the way to the other ranks; closed by kith_team_close */
    int rank;                 /**< number of this rank */
    int ranks;                /**< number of ranks */
    int64_t chunk_bytes;      /**< largest parcel [bytes] */
    bool lost;                /**< the transport failed: every call returns KITH_TEAM_LOST */
    char (*messages)[512];    /**< [ranks] message of each rank, gathered where one has failed */
    kith_team_load load;      /**< how the last call divided the work */
    kith__team_deal_fn *deal; /**< replaces the decomposition in tests; NULL: multisection */
    void *deal_user;          /**< first argument of `deal` */
    kith_groups groups;       /**< components of this rank (fof_team.c); memory is reused */
    kith_halos halos;         /**< halos of this rank (halos_team.c); memory is reused */
    struct kith__buffer buffer[KITH_TEAM_BUFFERS]; /**< scratch memory */
};

/** Return from the current function unless a phase has succeeded on all ranks. Every rank evaluates
 *  it at one point of the call. */
#define KITH_AGREE(team, expression) KITH_TRY(kith__team_agree(team, expression))

/** Begin a collective call: zero the load. @return KITH_OK; KITH_TEAM_LOST when the team is lost */
kith_status kith__team_begin(kith_team *team);

/** Begin a collective call that opens an object which outlives it.
 *  @param object  this rank's memory for it; NULL: there is none
 *  @param what    the object, for the message, as "a domain"
 *  @return KITH_OK on all ranks; KITH_NO_MEMORY, KITH_TEAM_LOST */
kith_status kith__team_begin_with(kith_team *team, const void *object, const char *what);

/** Make a copy of a team for an object that outlives a call, with buffers of its own. */
void kith__team_copy_member(const kith_team *team, kith_team *member);

/** Make one status of those of all ranks. Collective.
 *  @param status  status of this rank's work; its message is in the context
 *  @return KITH_OK when all ranks passed it; else the status of the lowest rank that did not, whose
 *          message is now in this context, after "rank R: " where other ranks say something
 *          else or nothing; KITH_TEAM_LOST */
kith_status kith__team_agree(kith_team *team, kith_status status);

/** Set most_owned and most_ghosts of team->load to the largest `owned` and `ghosts` of all ranks.
 *  Collective.
 *  @return KITH_OK, KITH_TEAM_LOST */
kith_status kith__team_measure_load(kith_team *team);

/** Mark the team as lost, and abort its transport, so that the calls of the other ranks fail too.
 *  Store the message. @return KITH_TEAM_LOST */
kith_status kith__team_lose(kith_team *team);

/** Body of a collective public call: KITH_CALL (core/context.h) on the team's context, which begins
 *  with a check that all ranks make the call of this name, that of the function (__func__). */
#define KITH_TEAM_CALL(team, status, work) \
    do { \
        *(status) = kith__team_check(team); \
        if (*(status) == KITH_OK) { \
            KITH_CALL((team)->ctx, status, \
                      (*(status) = kith__team_same_call(team, __func__)) != KITH_OK ? *(status) \
                                                                                    : (work)); \
        } \
    } while (0)

/** Check that all ranks make the call of this name. Collective.
 *  @return KITH_OK, KITH_INVALID, KITH_TEAM_LOST */
kith_status kith__team_same_call(kith_team *team, const char *name);

/** Refuse a team that is NULL. @return KITH_OK, KITH_INVALID */
kith_status kith__team_check(const kith_team *team);

/** An argument that must be equal on all ranks. */
struct kith__equal {
    const char *name; /**< as the caller writes it, for the message */
    int64_t value;    /**< the number, or the bits of a double */
};

/** Return the bits of a double, to be compared. */
int64_t kith__bits(double value);

/** Return a hash of 64 bits of n numbers, by which arrays of different ranks are compared.
 *  @param number  NULL: no array, which differs from an array with n = 0 */
int64_t kith__digest(const double *number, int64_t n);

enum { KITH_TEAM_EQUALS = 64 }; /**< most arguments of one call of kith__team_equal */

/** Check that arguments are equal on all ranks. Collective.
 *  @return KITH_OK, KITH_INVALID, KITH_TEAM_LOST; on all ranks alike */
kith_status kith__team_equal(kith_team *team, const struct kith__equal *argument, int n);

/** List the precision and the box of a call as arguments that must be equal on all ranks.
 *  @param box            NULL: open space
 *  @param[out] argument  array of KITH_TEAM_SPACE elements or more
 *  @return their number */
int kith__team_space(const kith_points *points, const kith_box *box, struct kith__equal *argument);

/** Arguments that kith__team_space lists: precision and dim, and for each axis periodic, origin and
 *  three components of its row. */
enum { KITH_TEAM_SPACE = 17 };

/** Refuse points that are in device memory, which no team takes yet.
 *  @param name  "points" or "against"
 *  @return KITH_OK, KITH_INVALID (NULL), KITH_UNSUPPORTED */
kith_status kith__team_host(kith_team *team, const char *name, const kith_points *points);

/** A caller's struct of results, and its copy of full size (core/sized.h). */
struct kith__team_out {
    void *given;     /**< the caller's struct; NULL is refused */
    size_t size;     /**< its size as it states it; 0 where given is NULL */
    size_t least;    /**< its size in the version that introduced it */
    void *own;       /**< the copy, which the work fills */
    size_t own_size; /**< sizeof *own */
};

/** Initialise a kith__team_out.
 *  @param out    the caller's struct, or NULL
 *  @param least  size of *out in the version that introduced it
 *  @param own    pointer to a struct of the type of *out */
#define KITH_TEAM_OUT(out, least, own) \
    { \
        out, (out) ? (out)->size : 0, least, own, sizeof *(own) \
    }

/** The work of a collective call. @param call  its arguments and its state */
typedef kith_status kith__team_work_fn(void *call);

/** Begin a collective call, read the caller's struct of results, do the work, and write the results
 *  to the struct, also where the work fails. Collective.
 *  @return KITH_INVALID where a rank's struct is refused; KITH_TEAM_LOST; as the work */
kith_status kith__team_fill(kith_team *team, const struct kith__team_out *out,
                            kith__team_work_fn *work, void *call);

/** Refuse a result whose arrays are the caller's, or are in device memory.
 *  @param owner   the result's owner
 *  @param arrays  true when the result holds arrays: without an owner they are the caller's
 *  @param memory  where the result says that its arrays are
 *  @return KITH_OK, KITH_INVALID, KITH_UNSUPPORTED */
kith_status kith__team_check_out(kith_team *team, const void *owner, bool arrays,
                                 kith_memory memory);

/** Combine n numbers of all ranks (kith_combine). Collective. @return KITH_OK, KITH_TEAM_LOST */
kith_status kith__team_combine(kith_team *team, int op, int64_t *inout, int64_t n);

/** Replace n numbers, 4 at most, by the largest of all ranks. Collective.
 *  @param number  0 or more, or -1 where a rank has none
 *  @return KITH_OK, KITH_TEAM_LOST */
kith_status kith__team_largest(kith_team *team, double *number, int n);

/** Gather `bytes` bytes of each rank. Collective.
 *  @param[out] all  [ranks][bytes] those of all ranks, in the order of the ranks
 *  @return KITH_OK, KITH_TEAM_LOST */
kith_status kith__team_gather(kith_team *team, const void *mine, size_t bytes, void *all);

/** Make a buffer of the team hold n elements of `size` bytes; its contents are lost when it grows.
 *  @param[out] out  address of the pointer to set, of any type
 *  @return KITH_OK or KITH_NO_MEMORY */
kith_status kith__team_need(kith_team *team, int buffer, int64_t n, size_t size, void *out);

/** The messages of an exchange: ranges of one array of items to send, a range for each rank, and of
 *  one array of items that are received, a range from each rank. */
struct kith__ranges {
    int64_t *to;   /**< [ranks + 1] first item for each rank, then the number of all */
    int64_t *from; /**< [ranks + 1] first item from each rank, then the number of all */
};

/** Return the rank whose range holds an item: the last rank whose range begins at the item or
 *  before. Binary search.
 *  @param first  [ranks] first item of each rank, ascending; that of rank 0 is not after `item` */
int kith__team_rank_of(const int64_t *first, int ranks, int64_t item);

/** Allocate the list of parcels of an exchange, in either direction. It is the part of an exchange
 *  that may fail on one rank: agree on the status before kith__team_exchange. Not collective.
 *  @param size  bytes of an item
 *  @return KITH_OK or KITH_NO_MEMORY */
kith_status kith__team_parcels(kith_team *team, const struct kith__ranges *ranges, size_t size);

/** Exchange items in parcels, after kith__team_parcels with equal arguments succeeded on all ranks.
 *  Collective.
 *  @param back     false: `out` is laid out as ranges->to says, `in` as ranges->from. True: in the
 *                  other direction; `out` is laid out as ranges->from says, `in` as ranges->to
 *  @param out      items to send, and those for this rank itself, which are copied
 *  @param[out] in  items that are received
 *  @param size     bytes of an item
 *  @return KITH_OK, KITH_TEAM_LOST */
kith_status kith__team_exchange(kith_team *team, const struct kith__ranges *ranges, bool back,
                                const void *out, void *in, size_t size);

/** Deal particles by a function instead of by domains: a decomposition decides who works, never
 *  what is true. For tests. @param fn  NULL: domains again */
void kith__team_deal_by(kith_team *team, kith__team_deal_fn *fn, void *user);

#endif
