/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of groups that have attached members: by falling number of all members, as Gadget-4
 * orders its catalogues; of equal groups the library's order decides, by members that link, then by
 * the smallest id. --min-members counts all members, too. Catalogue, labels, sorted snapshot and
 * summary then number the groups alike. Cost: one pass over the labels and a sort of the groups.
 */
#include "fof.h"
#include "common/report.h"

#include <stdlib.h>

/** A group, to be sorted. */
typedef struct ranked {
    int64_t members, label; /* number of all its members; label that the library gave, from 1 */
} ranked;

/** Order of groups for qsort: by descending number of members, then by ascending label. */
static int by_members(const void *a, const void *b)
{
    const ranked *one = a, *other = b;
    if (one->members != other->members) {
        return one->members > other->members ? -1 : 1;
    }
    return one->label < other->label ? -1 : one->label > other->label;
}

/** Give the groups their final numbers, and drop those that are too small: label 0.
 *  @param members  [n] number of all members of label 1, 2, ... of the library
 *  @param rank     [n] scratch
 *  @param number   [n + 1] final label by the library's label; zeros before */
static kith_status renumber(fof_outcome *found, const int64_t *members, ranked *rank,
                            int32_t *number, int64_t min_members)
{
    kith_groups *groups = &found->groups;
    for (int64_t g = 0; g < groups->n; g++) {
        rank[g] = (ranked){members[g], g + 1};
    }
    qsort(rank, (size_t)groups->n, sizeof *rank, by_members);
    int64_t kept = 0;
    while (kept < groups->n && rank[kept].members >= min_members) {
        found->linked_members[kept] = groups->members[rank[kept].label - 1];
        number[rank[kept].label] = (int32_t)kept + 1;
        kept++;
    }
    const kith_status status = ranks_groups_renumber(found->ranks, groups, number);
    for (int64_t g = 0; g < kept; g++) {
        groups->members[g] = rank[g].members;
    }
    groups->n = kept;
    return status;
}

int fof_order_groups(const fof_task *task, fof_outcome *found)
{
    const size_t n = (size_t)found->groups.n;
    if (!fof_attaches(task, found)) {
        return STATUS_OK;
    }
    ranked *rank = malloc((n + 1) * sizeof *rank);
    int32_t *number = calloc(n + 1, sizeof *number);
    found->linked_members = malloc((n + 1) * sizeof *found->linked_members);
    int64_t *members = malloc((n + 1) * sizeof *members);
    const bool room = rank && number && members && found->linked_members;
    kith_status status = room ? ranks_groups_count(found->ranks, &found->groups, members)
                              : KITH_NO_MEMORY;
    if (status == KITH_OK) {
        status = renumber(found, members, rank, number, task->min_members);
    }
    free(members);
    free(number);
    free(rank);
    return room ? ranks_status(found->ranks, found->ctx, status, task->input)
                : report_no_memory("the order of groups");
}
