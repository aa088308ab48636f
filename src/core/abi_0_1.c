/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls as of version 0.1, for programs that were linked with it (kith.map). Its structs of results
 * had padding where `size` is now, with any contents: these calls set that to 0, which stands for
 * the fields of version 0.1. This file is compiled into the shared library alone, and where the
 * linker supports versions of symbols.
 */
#include <kith.h>

/* No other file calls these functions: they have no header. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/** Export the function kith__NAME_0_1, which follows, as version 0.1 of kith_NAME. One @ makes it a
 *  version that is not the default: new programs are linked with that of kith.map. Link-time
 *  optimisation of gcc needs the attribute, which clang does not have. */
#if defined(__has_attribute) && __has_attribute(symver)
#define KITH_OF_0_1(name) KITH_API __attribute__((symver("kith_" #name "@KITH_0.1")))
#else
#define KITH_OF_0_1(name) \
    __asm__(".symver kith__" #name "_0_1, kith_" #name "@KITH_0.1"); \
    KITH_API
#endif

/** Mark a caller's struct of results as one of version 0.1: size 0 (core/sized.h). */
#define KITH_TAKE(out) \
    do { \
        if (out) { \
            (out)->size = 0; \
        } \
    } while (0)

KITH_OF_0_1(pairs_find)
kith_status kith__pairs_find_0_1(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                 double cutoff, const kith_pairs_options *options, kith_pairs *out)
{
    KITH_TAKE(out);
    return kith_pairs_find(ctx, points, box, cutoff, options, out);
}

KITH_OF_0_1(pairs_fill)
kith_status kith__pairs_fill_0_1(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                 double cutoff, const kith_pairs_options *options, kith_pairs *out)
{
    KITH_TAKE(out);
    return kith_pairs_fill(ctx, points, box, cutoff, options, out);
}

KITH_OF_0_1(pairs_enqueue)
kith_status kith__pairs_enqueue_0_1(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                    double cutoff, const kith_pairs_options *options,
                                    const kith_pairs *out, int64_t *result)
{
    const kith_pairs zero = {0};
    /* a copy: `out` is const here, so that its size cannot be set */
    kith_pairs own = out ? *out : zero;
    own.size = 0;
    return kith_pairs_enqueue(ctx, points, box, cutoff, options, out ? &own : NULL, result);
}

KITH_OF_0_1(pairs_free)
void kith__pairs_free_0_1(kith_pairs *pairs)
{
    KITH_TAKE(pairs);
    kith_pairs_free(pairs);
}

KITH_OF_0_1(fof_find)
kith_status kith__fof_find_0_1(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                               double length, const kith_fof_options *options, kith_groups *out)
{
    KITH_TAKE(out);
    return kith_fof_find(ctx, points, box, length, options, out);
}

KITH_OF_0_1(groups_free)
void kith__groups_free_0_1(kith_groups *groups)
{
    KITH_TAKE(groups);
    kith_groups_free(groups);
}

KITH_OF_0_1(halos_measure)
kith_status kith__halos_measure_0_1(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                    const kith_groups *groups, const kith_halo_input *input,
                                    kith_halos *out)
{
    KITH_TAKE(out);
    return kith_halos_measure(ctx, points, box, groups, input, out);
}

KITH_OF_0_1(halos_free)
void kith__halos_free_0_1(kith_halos *halos)
{
    KITH_TAKE(halos);
    kith_halos_free(halos);
}

KITH_OF_0_1(rdf_count)
kith_status kith__rdf_count_0_1(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                const kith_rdf_options *options, kith_histogram *out)
{
    KITH_TAKE(out);
    return kith_rdf_count(ctx, points, box, options, out);
}

KITH_OF_0_1(histogram_free)
void kith__histogram_free_0_1(kith_histogram *histogram)
{
    KITH_TAKE(histogram);
    kith_histogram_free(histogram);
}

KITH_OF_0_1(overlap_count)
kith_status kith__overlap_count_0_1(kith_ctx *ctx, const kith_replicas *replicas,
                                    const kith_overlap_options *options, kith_overlaps *out)
{
    KITH_TAKE(out);
    return kith_overlap_count(ctx, replicas, options, out);
}

KITH_OF_0_1(overlaps_free)
void kith__overlaps_free_0_1(kith_overlaps *overlaps)
{
    KITH_TAKE(overlaps);
    kith_overlaps_free(overlaps);
}
