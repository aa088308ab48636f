/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Differential fuzzing of the answers: random inputs from a seed, every backend of this machine
 * compared with brute force and with each other.
 *
 * A case is a function of its seed alone. Small inputs are compared with the O(n^2) oracles of the
 * tests, which share no code with the library; large ones backend against backend.
 */
#ifndef KITH_TEST_DIFFER_H
#define KITH_TEST_DIFFER_H

#include <stdbool.h>

#include "check.h"
#include "points.h"

enum { DIFFER_MOST_CONTEXTS = 6 };

/** A run of the program. */
typedef struct differ {
    kith_ctx *ctx[DIFFER_MOST_CONTEXTS]; /**< ctx[0] is the backend that the program was given */
    int contexts;
    int64_t cases;     /**< cases so far */
    int64_t large;     /**< of these, compared backend against backend alone */
    int64_t ambiguous; /**< cases without the oracle: rounding decides how points are wrapped */
} differ;

/** A random space with one or two sets of particles in it. */
typedef struct differ_input {
    kith_box box;
    bool open;           /**< the library is given NULL for a box */
    bool straight;       /**< orthorhombic, with positive sides */
    bool ambiguous;      /**< a coordinate is so near a face of a skewed box that the rounding of
                                the inverse decides how it is wrapped: no oracle */
    bool large;          /**< too many particles for the oracle */
    bool extreme;        /**< coordinates or box far from 1 */
    double scale;        /**< typical length of the box */
    double *xyz, *other; /**< [n][3], [m][3] */
    int64_t n, m;
    kith_precision precision;
    layout how;
    double cutoff;
} differ_input;

/** Which inputs an operation can use. */
typedef struct differ_wish {
    int64_t most;             /**< particles of a small input */
    int64_t larger;           /**< particles of a large one; 0: none */
    double work;              /**< n * m * images that the oracle may look at */
    double reach;             /**< the longest cutoff in heights of a periodic axis */
    bool plain;               /**< no extreme scales, outliers or denormal numbers */
    const differ_input *like; /**< precision, layout, scale, dimensions and number of sets are those
                                   of this input, and the cutoff is at most its; NULL: random */
    bool one_box;             /**< the box is that of `like`, too */
} differ_wish;

/** Make an input. Free with differ_input_free. */
differ_input differ_input_make(rng *r, const differ_wish *wish);
void differ_input_free(differ_input *input);

/** The box as the library is given it. */
const kith_box *differ_box(const differ_input *input);

/** Return true when ctx is a context of a CPU. */
bool differ_is_cpu(const kith_ctx *ctx);

/** True with probability 1 / n. */
bool differ_one_in(rng *r, int64_t n);

/** Compare rows of a fixed width, of one system or of a batch, on all contexts.
 *  @param in     the particles of all systems
 *  @param batch  NULL: one system */
void differ_rows_of(differ *d, rng *r, const differ_input *in, const kith_batch *batch);

#ifdef DIFFER_CUDA
/** Compare the lists that a GPU makes in device memory with one of a CPU.
 *  @param form      as for both lists; `against` is set by this call
 *  @param expected  sorted, in host memory */
void differ_device(kith_ctx *ctx, const differ_input *in, kith_pairs_options form,
                   const kith_pairs *expected);

/** Compare the nearest neighbours that a GPU finds in device memory with those in host memory.
 *  @param options  `against` is set by this call */
void differ_device_nearest(kith_ctx *ctx, const differ_input *in, int64_t k,
                           kith_nearest_options options, const kith_nearest *expected);
#endif

/* The operations. Each makes one case from the random numbers and compares all contexts. */
void differ_pairs(differ *d, rng *r);
void differ_fof(differ *d, rng *r);
void differ_halos(differ *d, rng *r);
void differ_rdf(differ *d, rng *r);
void differ_debye(differ *d, rng *r);
void differ_waves(differ *d, rng *r);
void differ_overlap(differ *d, rng *r);
void differ_rows(differ *d, rng *r);
void differ_order(differ *d, rng *r);
void differ_nearest(differ *d, rng *r);
void differ_batch(differ *d, rng *r);
void differ_flock(differ *d, rng *r);

#endif
