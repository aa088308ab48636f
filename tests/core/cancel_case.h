/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that take long, to be cancelled: every operation, with many particles, dense clumps and
 * many periodic images.
 */
#ifndef KITH_TEST_CANCEL_CASE_H
#define KITH_TEST_CANCEL_CASE_H

#include "kith.h"

/** Particles and arrays that the calls share. */
typedef struct cancel_sets {
    int64_t n;
    int64_t dense;     /* particles of the clump */
    int64_t few;       /* particles of calls with many images */
    double *spread;    /* [n][3] uniform in the unit box */
    double *clustered; /* [n][3] */
    double *clump;     /* [dense][3] all within 10^-3 */
    float *single;     /* [n][3] uniform in the unit box */
    double *weights;   /* [n] */
    int32_t *species;  /* [n] */
    uint8_t *roles;    /* [n] */
    int32_t *hkl;      /* [waves][3] */
    int32_t *labels;   /* [n] */
} cancel_sets;

/** Make the particles.
 *  @param n      4000 or more, a multiple of 1000
 *  @param dense  particles of the clump, up to n
 *  @param few    particles of calls with many images, up to n */
cancel_sets *cancel_sets_make(int64_t n, int64_t dense, int64_t few);

void cancel_sets_free(cancel_sets *sets);

/** One call that takes long, with what it needs. */
typedef struct cancel_case {
    const char *name;
    kith_status (*run)(kith_ctx *ctx, const cancel_sets *sets);
} cancel_case;

/* Calls of cancel_pairs.c. */
kith_status cancel_count_spread(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_count_single(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_count_clump(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_count_images(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_count_most_images(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_count_images_between(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_find_sorted(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_find_rows(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_find_images(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_each_clump(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_each_sorted(kith_ctx *ctx, const cancel_sets *s);
kith_status cancel_each_image(kith_ctx *ctx, const cancel_sets *s);

/** All calls. @param[out] n  how many they are */
const cancel_case *cancel_cases(int *n);

#endif
