/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of pair distributions.
 */
#ifndef KITH_BENCH_RDF_H
#define KITH_BENCH_RDF_H

#include "bench_pairs.h"

/** Verify and time every case. Writes the array "results", and a table to stdout.
 *  @return false when a count is wrong or a call failed; stderr says which */
bool bench_rdf(const bench_options *options, json *out);

#endif
