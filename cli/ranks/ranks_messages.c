/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between the ranks of a command. A transport (kith/team.h) has parcels of known sizes
 * between two ranks: jobs have a fixed size, and the parts of an array follow from its length. What
 * may fail on one rank (memory) ends with an agreement, before messages are exchanged.
 */
#include "ranks_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t most_parcel = (int64_t)1 << 30; /* largest parcel; MPI counts in int [bytes] */

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

bool ranks__need_parcels(struct ranks *r, int64_t bytes)
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

kith_status ranks__lose(struct ranks *r)
{
    snprintf(r->message, sizeof r->message, "a rank was lost");
    r->lost = true;
    if (r->control.rank > 0) {
        r->control.abort(r->control.self);
    }
    return KITH_TEAM_LOST;
}

kith_status ranks__trade(struct ranks *r, const kith_parcel *to, int64_t n_to, kith_parcel *from,
                         int64_t n_from)
{
    const kith_transport *t = &r->control;
    return t->exchange(t->self, to, n_to, from, n_from, NULL) ? ranks__lose(r) : KITH_OK;
}

kith_status ranks__gather(struct ranks *r, const void *mine, int64_t bytes, void *all)
{
    return r->control.gather(r->control.self, mine, bytes, all) ? ranks__lose(r) : KITH_OK;
}

kith_status ranks__combine(struct ranks *r, kith_combine how, int64_t *inout, int64_t n)
{
    return r->control.combine(r->control.self, how, inout, n) ? ranks__lose(r) : KITH_OK;
}

kith_status ranks__exchange(struct ranks *r, const struct part *part, bool back)
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
    return ranks__trade(r, sends ? r->parcel : NULL, sends ? n : 0, sends ? NULL : r->parcel,
                        sends ? 0 : n);
}

kith_status ranks__agree(struct ranks *r, kith_status status)
{
    int64_t worst = status;
    RANKS_TRY(ranks__combine(r, KITH_MIN, &worst, 1));
    if (worst == KITH_NO_MEMORY) {
        snprintf(r->message, sizeof r->message, "out of memory on one of %d ranks",
                 r->control.ranks);
    } else if (worst == KITH_TEAM_LOST) {
        snprintf(r->message, sizeof r->message, "a rank was lost");
    }
    return (kith_status)worst;
}

kith_status ranks__fetch_message(struct ranks *r, kith_status status, bool names)
{
    const int64_t none = r->control.ranks;
    int64_t lowest = status != KITH_OK ? r->control.rank : none;
    RANKS_TRY(ranks__combine(r, KITH_MIN, &lowest, 1));
    if (lowest == none) {
        return KITH_OK;
    }
    int64_t sum = r->control.rank == lowest ? (int64_t)status : 0;
    char *all = malloc((size_t)r->control.ranks * MESSAGE_BYTES);
    kith_status end = ranks__agree(r, ranks__got(all));
    end = end == KITH_OK ? ranks__gather(r, r->message, MESSAGE_BYTES, all) : end;
    end = end == KITH_OK ? ranks__combine(r, KITH_SUM, &sum, 1) : end;
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

kith_status ranks__tell(struct ranks *r, struct job *job)
{
    struct part part[MOST_RANKS];
    if (r->lost) {
        return KITH_TEAM_LOST;
    }
    for (int k = 0; k < r->control.ranks && k < MOST_RANKS; k++) {
        part[k] = (struct part){(char *)job, sizeof *job};
    }
    r->message[0] = '\0';
    return ranks__exchange(r, part, false);
}

kith_status ranks__hand_on(struct ranks *r, int from, void *data, int64_t bytes)
{
    const kith_transport *t = &r->control;
    const int to = (from + 1) % t->ranks;
    const bool sends = t->rank == from, receives = t->rank == to;
    const struct part part = {data, bytes};
    const int64_t n = sends || receives ? list_part(r, 0, sends ? to : from, part) : 0;
    return ranks__trade(r, sends ? r->parcel : NULL, sends ? n : 0, sends ? NULL : r->parcel,
                        sends ? 0 : n);
}
