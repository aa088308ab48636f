/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 3: list the candidates, then compact, the way of data-parallel primitives (sort, scan,
 * transform, compact), where each step is one call of a library, for example Thrust:
 *
 *   sort      points by cell, so that a cell is a range of adjacent points in memory;
 *   scan      the numbers of candidates of each point: the later points of its own cell and all
 *             points of the 13 cells ahead, so that each pair is tested once;
 *   transform write every candidate (i, j) with a flag: 1 if it is within the cutoff;
 *   compact   keep the candidates with flag 1.
 *
 * Points of a cell are adjacent and each pair is tested once. The cost is memory: a sphere fills 4
 * pi / 3 of the 27 cubes around it, so 27 / (4 pi / 3) = 6.45 candidates are written for each pair.
 */
#include "rung.h"

#include <stdlib.h>

typedef struct candidates {
    int64_t n;
    int64_t *offset; /* first candidate of each point [points] */
    int32_t *i, *j;  /* [n] */
    uint8_t *flag;   /* [n]: 1 within the cutoff */
} candidates;

static void scan_candidates(const rung_sorted *sorted, int64_t n, candidates *all)
{
    int64_t from[14], to[14];
    all->n = 0;
    for (int64_t p = 0; p < n; p++) {
        all->offset[p] = all->n;
        const int ranges = rung_ranges_ahead(sorted, p, from, to);
        for (int r = 0; r < ranges; r++) {
            all->n += to[r] - from[r];
        }
    }
}

static void write_candidates(const rung_sorted *sorted, int64_t n, double cutoff, candidates *all)
{
    int64_t from[14], to[14];
    for (int64_t p = 0; p < n; p++) {
        int64_t c = all->offset[p];
        const int ranges = rung_ranges_ahead(sorted, p, from, to);
        for (int r = 0; r < ranges; r++) {
            for (int64_t q = from[r]; q < to[r]; q++, c++) {
                all->i[c] = sorted->id[p];
                all->j[c] = sorted->id[q];
                all->flag[c] = rung_is_pair(sorted->xyz + 3 * p, sorted->xyz + 3 * q, cutoff);
            }
        }
    }
}

static bool compact(const candidates *all, kith_pairs *list)
{
    int64_t kept = 0;
    for (int64_t c = 0; c < all->n; c++) {
        kept += all->flag[c];
    }
    if (!rung_reserve(list, kept)) {
        return false;
    }
    for (int64_t c = 0; c < all->n; c++) {
        if (all->flag[c] && !rung_append(list, all->i[c], all->j[c])) {
            return false;
        }
    }
    return true;
}

bool rung_candidates(const rung_input *in, kith_pairs *list, int64_t *scratch)
{
    rung_sorted sorted;
    candidates all = {0};
    list->n = 0;
    bool ok = rung_sort(in, &sorted, scratch);
    all.offset = malloc(((size_t)in->n + 1) * sizeof *all.offset);
    ok = ok && all.offset;
    if (ok) {
        scan_candidates(&sorted, in->n, &all);
        all.i = calloc((size_t)all.n + 1, 2 * sizeof *all.i + sizeof *all.flag);
        ok = all.i;
    }
    if (ok) {
        all.j = all.i + all.n;
        all.flag = (uint8_t *)(all.j + all.n);
        write_candidates(&sorted, in->n, in->cutoff, &all);
        ok = compact(&all, list);
    }
    *scratch += in->n * (int64_t)sizeof *all.offset +
                all.n * (int64_t)(2 * sizeof *all.i + sizeof *all.flag);
    rung_sorted_free(&sorted);
    free(all.offset);
    free(all.i);
    return ok;
}
