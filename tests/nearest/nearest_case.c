/* SPDX-License-Identifier: BSD-3-Clause */
#include "nearest_case.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"

static int by_distance(const void *a, const void *b)
{
    const oracle_pair *p = a, *q = b;
    if (p->i != q->i) {
        return p->i < q->i ? -1 : 1;
    }
    if (p->r2 != q->r2) {
        return p->r2 < q->r2 ? -1 : 1;
    }
    if (p->j != q->j) {
        return p->j < q->j ? -1 : 1;
    }
    for (int k = 2; k >= 0; k--) {
        if (p->shift[k] != q->shift[k]) {
            return p->shift[k] < q->shift[k] ? -1 : 1;
        }
    }
    return 0;
}

void nearest_sort(oracle_list *list)
{
    if (list->n > 0) {
        qsort(list->pairs, (size_t)list->n, sizeof *list->pairs, by_distance);
    }
}

static double real_at(const void *data, int64_t at, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)data)[at] : ((const double *)data)[at];
}

/** Check entry `at` of a row against a pair of the oracle; NULL: it must be empty. */
static bool is_entry(const kith_nearest *got, int64_t at, kith_precision precision,
                     const oracle_pair *pair)
{
    bool same = got->j[at] == (pair ? pair->j : -1) &&
                (!got->distances || real_at(got->distances, at, precision) ==
                                        (pair ? pair->distance : (double)INFINITY));
    for (int m = 0; m < 3; m++) {
        same = same && (!got->shifts || got->shifts[3 * at + m] == (pair ? pair->shift[m] : 0)) &&
               (!got->vectors ||
                real_at(got->vectors, 3 * at + m, precision) == (pair ? pair->vector[m] : 0));
    }
    return same;
}

void nearest_check(const char *name, const kith_nearest *got, int64_t n, int64_t k,
                   kith_precision precision, const oracle_list *list)
{
    CHECK(got->rows == n && got->k == k, "%s: %lld rows of %lld", name, (long long)got->rows,
          (long long)got->k);
    int64_t next = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = 0;
        for (int64_t e = 0; e < k; e++) {
            const bool some = next < list->n && list->pairs[next].i == i;
            const oracle_pair *pair = some ? &list->pairs[next++] : NULL;
            count += some;
            CHECK(is_entry(got, i * k + e, precision, pair),
                  "%s: neighbour %lld of %lld is %d, expected %d at %.17g", name, (long long)e,
                  (long long)i, got->j[i * k + e], pair ? pair->j : -1,
                  pair ? pair->distance : (double)INFINITY);
        }
        CHECK(got->counts[i] == count, "%s: %d neighbours of %lld, expected %lld", name,
              got->counts[i], (long long)i, (long long)count);
        for (; next < list->n && list->pairs[next].i == i; next++) {} /* those beyond k */
    }
}
