/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Find out whether `kith rdf` counts pairs within molecules, or bonded pairs, although the file
 * tells which these are: they make peaks of g(r) that are often not wanted. The summary then says
 * so.
 */
#include "rdf.h"
#include "common/report.h"

#include <stdlib.h>

/** A particle of a frame. */
typedef struct member {
    int32_t molecule;   /**< number of its molecule; -1: none */
    bool first, second; /**< the particle is in --select; in --with; neither: it is not counted */
} member;

/** Return true when a pair of these members is counted: one is in --select, the other in --with. */
static bool is_counted(const member *a, const member *b)
{
    return (a->first && b->second) || (b->first && a->second);
}

/** Describe particle p of a frame. */
static member member_of(const rdf_classes *classes, const io_frame *frame, int64_t p)
{
    const int class = classes->of_name[frame->species[p]];
    member out = {frame->molecule ? frame->molecule[p] : -1, false, false};
    if (class >= 0) {
        out.first = classes->item[class].first;
        out.second = classes->item[class].second;
    }
    return out;
}

/** Order of members for qsort: by molecule. */
static int by_molecule(const void *a, const void *b)
{
    const int32_t x = ((const member *)a)->molecule, y = ((const member *)b)->molecule;
    return (x > y) - (x < y);
}

/** Return true when a molecule contains a pair that is counted.
 *  @param sorted  [n] members, sorted by molecule */
static bool has_pair(const member *sorted, int64_t n)
{
    for (int64_t begin = 0, end; begin < n; begin = end) {
        int64_t first = 0, second = 0, both = 0;
        for (end = begin; end < n && sorted[end].molecule == sorted[begin].molecule; end++) {
            first += sorted[end].first;
            second += sorted[end].second;
            both += sorted[end].first && sorted[end].second;
        }
        const bool itself = first == 1 && second == 1 && both == 1; /* one particle is no pair */
        if (sorted[begin].molecule >= 0 && first > 0 && second > 0 && !itself) {
            return true;
        }
    }
    return false;
}

/** Sort the counted particles by molecule and look for a pair. @return exit status, reported */
static int find_molecules(const rdf_classes *classes, const io_frame *frame, bool *found)
{
    const int64_t n = frame->particles.n;
    *found = false;
    for (int64_t p = 1; p < n && !*found; p++) { /* most molecules have adjacent particles */
        const member a = member_of(classes, frame, p - 1), b = member_of(classes, frame, p);
        *found = a.molecule >= 0 && a.molecule == b.molecule && is_counted(&a, &b);
    }
    if (*found) {
        return STATUS_OK;
    }
    member *sorted = malloc((size_t)n * sizeof *sorted + 1);
    if (!sorted) {
        return report_no_memory("molecules");
    }
    for (int64_t p = 0; p < n; p++) {
        sorted[p] = member_of(classes, frame, p);
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_molecule);
    *found = has_pair(sorted, n);
    free(sorted);
    return STATUS_OK;
}

int rdf_find_inside(const rdf_task *task, const io_frame *frame, rdf_outcome *found)
{
    const rdf_classes *classes = &found->classes;
    bool molecules = false, bonds = false;
    if (frame->molecule && !task->without_molecules) {
        CLI_TRY(find_molecules(classes, frame, &molecules));
    }
    for (int64_t k = 0; k < frame->n_bonds && !task->without_bonds && !bonds; k++) {
        const member a = member_of(classes, frame, frame->bond[2 * k]);
        const member b = member_of(classes, frame, frame->bond[2 * k + 1]);
        const bool out = task->without_molecules && a.molecule >= 0 && a.molecule == b.molecule;
        bonds = !out && is_counted(&a, &b);
    }
    found->inside = molecules ? "molecules" : bonds ? "bonds" : NULL;
    return STATUS_OK;
}

const char *rdf_inside_text(const rdf_outcome *found)
{
    return !found->inside            ? NULL
           : found->inside[0] == 'm' ? "pairs within one count; --exclude-molecules leaves them out"
                                     : "bonded pairs count; --exclude-bonds leaves them out";
}
