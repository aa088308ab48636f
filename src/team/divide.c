/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recursive multisection. Space is cut into slabs by planes across the axis along which particles
 * extend furthest, each slab across the next axis, each part of it across the last. The ranks of a
 * section are divided evenly among its parts, and the planes are put so that each part has
 * particles in proportion to its ranks: they are quantiles. Any number of ranks works, also a prime
 * one.
 *
 * A quantile is found by histograms: the interval that holds it is divided into BINS bins,
 * particles are counted, the counts of all ranks are added, and the interval becomes the bin that
 * holds the quantile, in ROUNDS rounds at most. Planes depend on these sums alone, which are
 * integers, so all ranks derive equal planes. A sample of at most SAMPLES particles times the
 * number of ranks is counted; of it a rank with many particles has more. Cost: O(samples * planes
 * of a section), and for each axis 1 + ROUNDS collective sums at most.
 */
#include "divide.h"

#include <assert.h>
#include <string.h>

enum {
    SAMPLES = 1 << 16, /**< most sampled particles, for each rank of the team */
    BINS = 128,        /**< bins of an interval */
    ROUNDS = 6         /**< most refinements: the last interval is 128^-6 = 2^-42 of the first */
};

/** Fractional coordinates are limited to this absolute value, so that no difference overflows. */
static const double farthest = 1e300;

/** The interval that holds a quantile. */
struct cut {
    double lo, hi;  /**< ends of the interval [boxes] */
    int64_t below;  /**< samples of the section below lo */
    int64_t target; /**< samples of the section that are to be below the plane */
};

/** The particles that are counted. */
struct samples {
    int64_t n;       /**< samples of this rank */
    double (*f)[3];  /**< [n] fractional coordinates */
    int32_t *inside; /**< [n] section that holds each, of the level that is being cut */
};

kith_status kith__team_bounds(kith_team *team, const struct kith__question *question,
                              const struct kith__set *sets, int n_sets, struct kith__bounds *bounds)
{
    kith_status status = KITH_OK;
    *bounds = (struct kith__bounds){.lo = {DBL_MAX, DBL_MAX, DBL_MAX},
                                    .hi = {-DBL_MAX, -DBL_MAX, -DBL_MAX},
                                    .bad = INT64_MAX,
                                    .far = INT64_MAX};
    for (int s = 0; s < n_sets && status == KITH_OK; s++) {
        struct kith__question one = *question;
        struct kith__bounds own;
        bool inside;
        one.a = one.b = sets[s].points;
        one.cross = false;
        status = kith__bounds_find(team->ctx, &one, &own, &inside);
        if (status == KITH_NOT_FINITE || status == KITH_LIMIT) {
            const int64_t p = status == KITH_LIMIT ? own.far : own.bad;
            status = kith__refuse(team->ctx, question, sets[s].name, status,
                                  sets[s].base[team->rank] + p);
        }
        for (int k = 0; k < 3 && status == KITH_OK; k++) {
            bounds->lo[k] = fmin(bounds->lo[k], own.lo[k]);
            bounds->hi[k] = fmax(bounds->hi[k], own.hi[k]);
        }
    }
    KITH_AGREE(team, status);
    double all[6];
    double(*of)[6] = NULL;
    memcpy(all, bounds->lo, sizeof bounds->lo);
    memcpy(all + 3, bounds->hi, sizeof bounds->hi);
    KITH_AGREE(team, kith__team_need(team, KITH_TEAM_BOXES, team->ranks, sizeof *of, &of));
    KITH_TRY(kith__team_gather(team, all, sizeof all, of));
    for (int r = 0; r < team->ranks; r++) {
        for (int k = 0; k < 3; k++) {
            bounds->lo[k] = fmin(bounds->lo[k], of[r][k]);
            bounds->hi[k] = fmax(bounds->hi[k], of[r][3 + k]);
        }
    }
    return KITH_OK;
}

/** Return a hash of 64 bits, which is spread evenly where x is not: the mixing function of the
 *  random number generator SplitMix64. */
static uint64_t spread(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/** Sample the particles of this rank: one, chosen at random, of each `every` consecutive ones; of
 *  the last ones of a set, which may be fewer, one or none. The choice is a hash of the global
 *  index of the first. */
static kith_status take_samples(kith_team *team, const struct kith__question *q,
                                const struct kith__set *sets, int n_sets, struct samples *out)
{
    int64_t all = 0;
    int64_t own = 0;
    for (int s = 0; s < n_sets; s++) {
        all += sets[s].base[team->ranks];
        own += sets[s].points.n;
    }
    const int64_t most = (int64_t)SAMPLES * team->ranks;
    const int64_t every = all / most + 1;
    const int64_t n = own / every + n_sets; /* the last range of a set may be shorter */
    struct { /* at least as large as an element of each array: both are put into one buffer */
        double f[3];
        int32_t inside;
    } * memory;
    KITH_TRY(kith__team_need(team, KITH_TEAM_SAMPLES, n, sizeof *memory, &memory));
    out->f = (double(*)[3])(void *)memory;
    out->inside = (int32_t *)(void *)(out->f + n);
    out->n = 0;
    for (int s = 0; s < n_sets; s++) {
        const int64_t base = sets[s].base[team->rank];
        for (int64_t begin = 0; begin < sets[s].points.n; begin += every) {
            enum { COST = 20 }; /* of a sample [ns] */
            const int64_t p = begin + (int64_t)(spread((uint64_t)(base + begin)) % (uint64_t)every);
            if (kith__skip(team->ctx, out->n, COST)) {
                break;
            }
            if (p >= sets[s].points.n) {
                continue;
            }
            double *f = out->f[out->n];
            kith__team_fractions(q, &sets[s].points, p, f);
            for (int k = 0; k < 3; k++) {
                f[k] = f[k] > -farthest ? f[k] : -farthest; /* also where f[k] is not a number */
                f[k] = f[k] < farthest ? f[k] : farthest;
            }
            out->inside[out->n++] = 0;
        }
    }
    return kith__proceed(team->ctx);
}

/** Return the length along an axis that particles occupy [length], limited to 1e-100 to 1e100, so
 *  that quotients of two of them are finite and not 0. */
static double extent(const struct kith__question *q, const struct kith__bounds *bounds, int k)
{
    const double boxes = fmin(bounds->hi[k], farthest) - fmax(bounds->lo[k], -farthest);
    const double length = boxes * q->height[k];
    return length > 1e-100 && length < 1e100 ? length : length > 1 ? 1e100 : 1e-100;
}

/** Order the axes by falling extent: insertion sort. @param[out] axis  [dim] the axes */
static void order_axes(const double length[3], int dim, int axis[3])
{
    for (int k = 0; k < dim; k++) {
        int at = k;
        for (; at > 0 && length[axis[at - 1]] < length[k]; at--) {
            axis[at] = axis[at - 1];
        }
        axis[at] = k;
    }
}

/** Return into how many parts to cut a section of `ranks` ranks so that domains are about cubes: a
 *  cube of 1 / ranks of the section's volume has the side s, and the number is length[0] / s,
 *  rounded, 1 to ranks.
 *  @param length  [left] extents of the section along this level's axis, then the later ones
 *  @param left    number of these axes: levels that are still to be cut */
static int parts_of(int ranks, const double *length, int left)
{
    if (left == 1) {
        return ranks;
    }
    int parts = 1;
    for (; parts < ranks; parts++) {
        /* length[0] / s <= parts + 1/2 where cubes of side length[0] / (parts + 1/2) are no larger
         * than those of side s: `ranks` or more of them fill the section */
        double cubes = 1;
        const double side = length[0] / (parts + 0.5);
        for (int k = 0; k < left; k++) {
            cubes *= length[k] / side;
        }
        if (cubes >= ranks) {
            break;
        }
    }
    return parts;
}

/** Lay out the sections and the ranks of all levels: all but the planes.
 *  @param length  [dim] extents of all particles along the axes [length]
 *  @param memory  [levels][3][ranks + 1] doubles: room for `plane`, and for `first` and `rank`,
 *                 which are int */
static void lay_out(int ranks, const double length[3], int dim, double *memory,
                    struct kith__domains *domains)
{
    int axis[3];
    double left[3]; /* extents, in the order in which their axes are cut */
    order_axes(length, dim, axis);
    for (int l = 0; l < dim; l++) {
        left[l] = length[axis[l]];
    }
    domains->levels = dim;
    for (int l = 0; l < dim; l++) {
        struct kith__level *level = &domains->level[l];
        const struct kith__level *above = l > 0 ? &domains->level[l - 1] : NULL;
        level->plane = memory + (size_t)l * 3 * ((size_t)ranks + 1);
        level->first = (int *)(void *)(level->plane + ranks + 1);
        level->rank = (int *)(void *)(level->plane + 2 * ((size_t)ranks + 1));
        level->axis = axis[l];
        level->sections = above ? above->first[above->sections] : 1;
        int part = 0;
        for (int s = 0; s < level->sections; s++) {
            const int begin = above ? above->rank[s] : 0;
            const int n = (above ? above->rank[s + 1] : ranks) - begin;
            const int parts = parts_of(n, left + l, dim - l);
            level->first[s] = part;
            for (int p = 0; p < parts; p++) {
                level->rank[part++] = begin + (int)kith__piece_begin(n, parts, p);
            }
        }
        level->first[level->sections] = part;
        level->rank[part] = ranks;
    }
}

/** Return the bin of an interval that holds f, 0 to BINS - 1. In an interval without width it is 0,
 *  as 0 / 0 is not larger than 0. */
static int bin_of(const struct cut *cut, double f)
{
    const double t = (f - cut->lo) / (cut->hi - cut->lo) * BINS;
    return t > 0 ? t < BINS - 1 ? (int)t : BINS - 1 : 0;
}

/** Return the lower end of a bin. @param bin  BINS: the upper end of the interval, unrounded */
static double end_of(const struct cut *cut, int bin)
{
    return bin == BINS ? cut->hi : cut->lo + (cut->hi - cut->lo) * (1.0 * bin / BINS);
}

/** Count the samples in the bins of the intervals of all planes of a level.
 *  @param[out] bins  [parts][BINS] zeroed first */
static void count_bins(const struct samples *samples, const struct kith__level *level,
                       const struct cut *cut, int64_t *bins)
{
    memset(bins, 0, (size_t)level->first[level->sections] * BINS * sizeof *bins);
    for (int64_t p = 0; p < samples->n; p++) {
        const double f = samples->f[p][level->axis];
        const int section = samples->inside[p];
        for (int c = level->first[section] + 1; c < level->first[section + 1]; c++) {
            if (f >= cut[c].lo && f <= cut[c].hi) {
                bins[(int64_t)c * BINS + bin_of(&cut[c], f)]++;
            }
        }
    }
}

/** Narrow the interval of a plane to the bin in which the target lies.
 *  @return true when that bin holds few samples, or has no width: no further round is needed */
static bool narrow(struct cut *cut, const int64_t *bins)
{
    /* few: at most a thousandth of the samples that are to be below the plane */
    enum { FEW = 1000 };
    int bin = 0;
    while (bin < BINS - 1 && cut->below + bins[bin] <= cut->target) {
        cut->below += bins[bin++];
    }
    const double lo = end_of(cut, bin);
    const double hi = end_of(cut, bin + 1);
    cut->lo = lo;
    cut->hi = hi > lo ? hi : lo;
    return bins[bin] <= cut->target / FEW || !(cut->hi > cut->lo);
}

/** Count the samples of all ranks in each section.
 *  @param[out] counts  [sections] */
static kith_status count_sections(kith_team *team, const struct samples *samples, int sections,
                                  int64_t *counts)
{
    memset(counts, 0, (size_t)sections * sizeof *counts);
    for (int64_t p = 0; p < samples->n; p++) {
        counts[samples->inside[p]]++;
    }
    return kith__team_combine(team, KITH_SUM, counts, sections);
}

/** Set the first interval, which is that of all particles, and the target of each plane of a level:
 *  the share of its section's samples below it is the share of the section's ranks below it.
 *  @param counts  [sections] samples of each section */
static void begin_cuts(const struct kith__level *level, const struct kith__bounds *bounds,
                       const int64_t *counts, struct cut *cut)
{
    for (int s = 0; s < level->sections; s++) {
        const int first = level->first[s];
        const int last = level->first[s + 1];
        const int64_t ranks = level->rank[last] - level->rank[first];
        for (int c = first; c < last; c++) {
            const int64_t below = level->rank[c] - level->rank[first];
            /* target: counts[s] * below / ranks, without overflow of the product */
            cut[c] = (struct cut){.lo = fmax(bounds->lo[level->axis], -farthest),
                                  .hi = fmin(bounds->hi[level->axis], farthest),
                                  .target = counts[s] / ranks * below +
                                            counts[s] % ranks * below / ranks};
        }
    }
}

/** Find the planes of a level, and the part in which each sample is.
 *  @param cut   [ranks] scratch: the interval of each plane
 *  @param bins  [ranks][BINS] scratch: first the samples of each section, then histograms */
static kith_status cut_level(kith_team *team, struct samples *samples,
                             const struct kith__bounds *bounds, struct kith__level *level,
                             struct cut *cut, int64_t *bins)
{
    const int parts = level->first[level->sections];
    KITH_TRY(count_sections(team, samples, level->sections, bins));
    begin_cuts(level, bounds, bins, cut);
    bool done = parts == level->sections; /* no section is cut */
    for (int round = 0; round < ROUNDS && !done; round++) {
        count_bins(samples, level, cut, bins);
        KITH_TRY(kith__team_combine(team, KITH_SUM, bins, (int64_t)parts * BINS));
        done = true;
        for (int s = 0; s < level->sections; s++) {
            for (int c = level->first[s] + 1; c < level->first[s + 1]; c++) {
                const bool fine = narrow(&cut[c], bins + (int64_t)c * BINS);
                done = done && fine;
            }
        }
    }
    for (int c = 0; c < parts; c++) {
        level->plane[c] = cut[c].lo;
    }
    for (int64_t p = 0; p < samples->n; p++) {
        const int section = samples->inside[p];
        int part = level->first[section];
        while (part + 1 < level->first[section + 1] &&
               samples->f[p][level->axis] >= level->plane[part + 1]) {
            part++;
        }
        samples->inside[p] = part;
    }
    return KITH_OK;
}

kith_status kith__team_divide(kith_team *team, const struct kith__question *q,
                              const struct kith__set *sets, int n_sets,
                              const struct kith__bounds *bounds, struct kith__domains *domains)
{
    const int64_t ranks = team->ranks;
    struct samples samples = {0};
    struct cut *cut;
    int64_t *bins;
    double *memory;
    kith_status status = take_samples(team, q, sets, n_sets, &samples);
    status = status ? status : kith__team_need(team, KITH_TEAM_CUTS, ranks, sizeof *cut, &cut);
    status = status ? status
                    : kith__team_need(team, KITH_TEAM_BINS, ranks * BINS, sizeof *bins, &bins);
    status = status ? status
                    : kith__team_need(team, KITH_TEAM_LEVELS, 9 * (ranks + 1), sizeof *memory,
                                      &memory);
    KITH_AGREE(team, status);
    double length[3] = {1, 1, 1};
    for (int k = 0; k < q->dim; k++) {
        length[k] = extent(q, bounds, k);
    }
    domains->host = NULL;
    lay_out(team->ranks, length, q->dim, memory, domains);
    for (int l = 0; l < domains->levels; l++) {
        KITH_TRY(cut_level(team, &samples, bounds, &domains->level[l], cut, bins));
    }
    return KITH_OK;
}
