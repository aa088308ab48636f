/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sample sort. Every rank draws samples of its groups at random; all samples, sorted, give
 * splitters, by which groups go to ranks; each rank sorts what it receives. Ranks then hold
 * consecutive parts of the order, and a prefix sum of their lengths numbers all groups.
 */
#include "renumber.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/** Buffers, from the first one of the caller on. */
enum {
    SAMPLES = KITH_ROUTE_BUFFERS, /**< after the route: samples and splitters, later lengths */
    TARGETS,                      /**< rank that each group goes to */
    ARRIVED,                      /**< kith__numbered.group */
    ORDER,                        /**< groups that arrived, while they are sorted */
    NUMBERS,                      /**< numbers of the groups that arrived */
    BUFFERS_END
};
_Static_assert((int)BUFFERS_END <= (int)KITH_NUMBER_BUFFERS, "every purpose needs its own buffer");

enum { SAMPLES_EACH = 64 }; /* samples of each rank: the more, the more even are the parts */

/** A group that arrived, to be sorted. */
struct arrived {
    struct kith__sized group; /**< the group; the first member, for by_number */
    int64_t at;               /**< position of the group in the messages */
};

/** Compare two groups, for qsort: by falling size, then by id, then by name. Serves struct arrived
 *  too. */
static int by_number(const void *left, const void *right)
{
    const struct kith__sized *a = left;
    const struct kith__sized *b = right;
    if (a->size != b->size) {
        return a->size > b->size ? -1 : 1;
    }
    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    return (a->name > b->name) - (a->name < b->name);
}

/** Draw samples, and choose a splitter for each rank but the first: the first group of its part.
 *  Collective.
 *  @param[out] splitter  [ranks] in the order of the groups; entry 0 is not used */
static kith_status choose_splitters(kith_team *team, int buffer, const struct kith__sized *group,
                                    int64_t n, struct kith__sized **splitter)
{
    /* sample of a rank without groups: in the order of by_number it comes after all groups */
    const struct kith__sized none = {-1, INT64_MAX, INT64_MAX};
    const int ranks = team->ranks;
    struct kith__sized mine[SAMPLES_EACH];
    struct kith__sized *all = NULL;
    const int64_t many = (int64_t)ranks * SAMPLES_EACH;
    KITH_AGREE(team, kith__team_need(team, buffer + SAMPLES, many + ranks, sizeof *all, &all));
    uint64_t random = (uint64_t)team->rank;
    for (int k = 0; k < SAMPLES_EACH; k++) {
        /* a linear congruential generator (Knuth, MMIX), whose low bits are not random enough */
        random = random * 6364136223846793005u + 1442695040888963407u;
        mine[k] = n > 0 ? group[(int64_t)((random >> 20) % (uint64_t)n)] : none;
    }
    KITH_TRY(kith__team_gather(team, mine, sizeof mine, all));
    qsort(all, (size_t)many, sizeof *all, by_number);
    int64_t used = many; /* samples that are groups */
    while (used > 0 && all[used - 1].size < 0) {
        used--;
    }
    *splitter = all + many;
    for (int r = 0; r < ranks; r++) {
        (*splitter)[r] = used > 0 ? all[used * r / ranks] : none;
    }
    return KITH_OK;
}

/** Return the rank whose part holds a group, by a binary search: the last rank whose splitter is
 *  not after the group. */
static int part_of(const struct kith__sized *splitter, int ranks, const struct kith__sized *group)
{
    int rank = 0;
    for (int n = ranks; n > 1;) {
        const int half = n / 2;
        rank += by_number(&splitter[rank + half], group) <= 0 ? half : 0;
        n -= half;
    }
    return rank;
}

/** Sort the groups that arrived, part->group, and list their numbers in the order of the messages.
 *  @param order        [part->n] scratch
 *  @param[out] number  [part->n] the numbers */
static void sort_part(struct kith__numbered *part, struct arrived *order, int64_t *number)
{
    for (int64_t g = 0; g < part->n; g++) {
        order[g] = (struct arrived){part->group[g], g};
    }
    qsort(order, (size_t)part->n, sizeof *order, by_number);
    for (int64_t g = 0; g < part->n; g++) {
        part->group[g] = order[g].group;
        number[order[g].at] = part->first + g + 1;
    }
}

kith_status kith__team_number(kith_team *team, int buffer, const struct kith__sized *group,
                              int64_t n, int64_t *number, struct kith__numbered *part)
{
    struct kith__sized *splitter = NULL;
    struct kith__route route;
    struct arrived *order = NULL;
    int64_t *numbers = NULL;
    int32_t *target = NULL;
    KITH_TRY(choose_splitters(team, buffer, group, n, &splitter));
    KITH_AGREE(team, kith__team_need(team, buffer + TARGETS, n, sizeof *target, &target));
    for (int64_t g = 0; g < n; g++) {
        target[g] = part_of(splitter, team->ranks, &group[g]);
    }
    KITH_TRY(kith__route_to(team, buffer, n, target, &route));
    part->n = route.received;
    kith_status status = kith__team_need(team, buffer + ARRIVED, part->n, sizeof *part->group,
                                         &part->group);
    status = status ? status
                    : kith__team_need(team, buffer + ORDER, part->n, sizeof *order, &order);
    status = status ? status
                    : kith__team_need(team, buffer + NUMBERS, part->n, sizeof *numbers, &numbers);
    KITH_AGREE(team, status);
    KITH_TRY(kith__route_send(team, &route, group, sizeof *group, part->group));
    /* the memory of the splitters, which are not needed any more, holds the lengths of all parts */
    int64_t *lengths = team->buffer[buffer + SAMPLES].data;
    KITH_TRY(kith__team_gather(team, &part->n, sizeof part->n, lengths));
    part->all = kith__prefix_sum(lengths, team->ranks);
    part->first = lengths[team->rank];
    sort_part(part, order, numbers);
    KITH_AGREE(team, kith__proceed(team->ctx));
    return kith__route_home(team, &route, numbers, sizeof *numbers, number);
}
