/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Colours of groups that last from frame to frame. The majority vote of Boyer and Moore finds for
 * each group, in one pass over the particles, the colour that more than half of them had, if there
 * is one. Of two groups in which one colour leads, the larger group keeps it.
 */
#include "viewer.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TAGS = 65535 }; /* colours that the uint16 of a message of points can hold */

/** The votes of one group's particles for a colour. */
typedef struct ballot {
    int32_t tag;   /**< colour that leads */
    int64_t votes; /**< votes for it that no vote for another has cancelled */
} ballot;

/** Make room for n particles; those beyond the former n have no colour. @return false: no memory */
static bool grow(viewer_tags *tags, int64_t n)
{
    if (n > tags->room) {
        int32_t *tag = realloc(tags->tag, (size_t)n * sizeof *tag);
        if (!tag) {
            return false;
        }
        tags->tag = tag;
        tags->room = n;
    }
    if (n > tags->n) {
        memset(tags->tag + tags->n, 0, (size_t)(n - tags->n) * sizeof *tags->tag);
    }
    return true;
}

/** Return the largest label, which is the number of groups; 0: none. */
static int32_t largest_label(const int32_t *labels, int64_t n)
{
    int32_t most = 0;
    for (int64_t p = 0; p < n; p++) {
        most = labels[p] > most ? labels[p] : most;
    }
    return most;
}

/** Cast the votes: each particle of a group votes for the colour that it had.
 *  @param of  [groups + 1] ballots, all 0 at first */
static void vote(const viewer_tags *tags, const int32_t *labels, int64_t n, ballot *of)
{
    for (int64_t p = 0; p < n; p++) {
        const int32_t tag = tags->tag[p];
        if (labels[p] <= 0 || tag == 0) {
            continue;
        }
        ballot *group = &of[labels[p]];
        if (group->votes == 0) {
            *group = (ballot){tag, 1};
        } else {
            group->votes += group->tag == tag ? 1 : -1;
        }
    }
}

/** Choose the colours of all groups, in the order of size.
 *  @param of      [groups + 1] ballots
 *  @param taken   [MOST_TAGS + 1] true for colours that have a group; all false at first */
static void choose(viewer_tags *tags, const ballot *of, int32_t groups, bool *taken)
{
    int32_t used = 0;
    for (int32_t g = 1; g <= groups; g++) {
        const bool keeps = of[g].votes > 0 && !taken[of[g].tag];
        tags->of[g] = keeps ? of[g].tag : 0;
        taken[of[g].tag] = taken[of[g].tag] || keeps;
        used += keeps;
    }
    for (int32_t g = 1; g <= groups; g++) {
        while (tags->of[g] == 0) { /* groups beyond MOST_TAGS share colours */
            const int32_t tag = 1 + tags->next;
            tags->next = (tags->next + 1) % MOST_TAGS;
            if (!taken[tag] || used >= MOST_TAGS) {
                tags->of[g] = tag;
                taken[tag] = true;
                used++;
            }
        }
    }
}

bool viewer_tags_follow(viewer_tags *tags, const int32_t *labels, int64_t n)
{
    const int32_t groups = largest_label(labels, n);
    ballot *of = calloc((size_t)groups + 1, sizeof *of);
    bool *taken = calloc(MOST_TAGS + 1, sizeof *taken);
    int32_t *colours = malloc(((size_t)groups + 1) * sizeof *colours);
    const bool enough = of && taken && colours && grow(tags, n);
    if (enough) {
        free(tags->of);
        tags->of = colours;
        tags->of[0] = 0;
        vote(tags, labels, n, of);
        choose(tags, of, groups, taken);
        for (int64_t p = 0; p < n; p++) {
            tags->tag[p] = labels[p] > 0 ? tags->of[labels[p]] : 0;
        }
        tags->n = n;
    } else {
        free(colours);
    }
    free(of);
    free(taken);
    return enough;
}

void viewer_tags_free(viewer_tags *tags)
{
    free(tags->tag);
    free(tags->of);
    *tags = (viewer_tags){0};
}
