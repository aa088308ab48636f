/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A result of a search for nearest neighbours, compared with the oracle's list of pairs.
 */
#ifndef KITH_TEST_NEAREST_CASE_H
#define KITH_TEST_NEAREST_CASE_H

#include "oracle.h"

/** Sort a full list by i, then by the order of neighbours: r2, j, Sc, Sb, Sa. */
void nearest_sort(oracle_list *list);

/**
 * Check a result to the last bit. Extras that it does not have are not checked.
 * @param name  of the case, for messages
 * @param n     particles
 * @param k     entries of a row
 * @param list  sorted by nearest_sort; it holds at least the first k pairs of each particle, or all
 *              of them where there are fewer
 */
void nearest_check(const char *name, const kith_nearest *got, int64_t n, int64_t k,
                   kith_precision precision, const oracle_list *list);

#endif
