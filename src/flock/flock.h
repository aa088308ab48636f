/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A flock as the backends step it: two states that change places, in any order of the particles,
 * and the rules.
 */
#ifndef KITH_FLOCK_H
#define KITH_FLOCK_H

#include "core/backend.h"
#include "flock_rules.h"
#include "engine/question.h"

/** Particles at one time. Arrays have the precision of the question. */
struct kith__herd {
    void *r[3], *v[3]; /**< [n] each; r is wrapped */
    int32_t *id;       /**< [n] index in the caller's order */
};

/** Particles that were chosen, as they were at a step. */
struct kith__glance {
    int64_t n;      /**< chosen */
    int64_t choice; /**< counts choices; 0: none was made */
    bool taken;
    struct kith__buffer rank; /**< int32 [flock->n] the place of each in the choice, or -1 */
    struct kith__buffer copy; /**< where the host takes them */
    const void *r, *v;        /**< [n][3] once they are there */
};

struct kith_flock {
    kith_ctx *ctx;
    int64_t n;
    struct kith__question question; /**< points: of the state `now`, set before each step */
    struct kith__flock_rules rules;
    kith_box box;
    int64_t step;   /**< steps done */
    int64_t walled; /**< from this step on nobody is outside the walls */
    struct kith__herd now, next;
    struct kith__buffer memory; /**< of both */
    struct kith__glance glance;
    void *device; /**< the backend's own state; NULL: none yet */
};

/** Make a public call of a flock: as KITH_CALL, of the flock's context. */
#define KITH_FLOCK_CALL(flock, status, work) \
    do { \
        if (flock) { \
            KITH_CALL((flock)->ctx, status, work); \
        } else { \
            *(status) = kith__fail(NULL, KITH_INVALID, "flock is NULL"); \
        } \
    } while (0)

/** Check options against the flock's n, precision and box; fill question and rules. */
kith_status kith__flock_rules_init(struct kith_flock *flock, const kith_flock_options *options);

/** See that `now` is the state as it is. */
kith_status kith__flock_fetch(const struct kith_flock *flock);

/** Say which particle the step to come takes where numbers end. @return KITH_NOT_FINITE */
kith_status kith__flock_refuse_lost(const struct kith_flock *flock, int32_t particle);

/** Points to the state: the question's sets are its positions. */
void kith__flock_aim(struct kith_flock *flock);

/** What a backend offers. */
struct kith__flock_backend {
    /** Go `steps` further: after each, the states have changed places, flock->step is one more and
     *  kith__flock_aim was called. On failure `now` and step are those of the last whole step. */
    kith_status (*step)(kith_ctx *ctx, struct kith_flock *flock, int64_t steps);
    /** Bring the state to `now`, before the host reads it; NULL: it is always there, and in `next`
     *  while a step is under way, which no other backend needs. */
    kith_status (*fetch)(kith_ctx *ctx, const struct kith_flock *flock);
    /** Begin to copy those in flock->glance, as they are; NULL: the host does it. */
    kith_status (*glance)(kith_ctx *ctx, struct kith_flock *flock);
    /** Wait until they are there; sets glance.r and v. NULL: they are. */
    kith_status (*glanced)(kith_ctx *ctx, struct kith_flock *flock);
    /** Free flock->device; NULL: there is none. */
    void (*forget)(struct kith_flock *flock);
};

extern const struct kith__flock_backend kith__cpu_flock, kith__cuda_flock;

#endif
