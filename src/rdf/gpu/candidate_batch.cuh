/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting pairs without hit masks: candidates near an i-cluster, the up to 64 query particles that
 * a warp processes together (engine/gpu/gpu_sweep.cuh), are appended to a queue. When the queue
 * holds a batch, each lane takes DEEP candidates, and bins their distances to all query particles
 * of the i-cluster. rdf_gpu.cu fills the queue. engine/gpu/i_cluster.cuh has the structs visit, the
 * i-cluster of a warp, and candidate.
 *
 * Where bins are found from square roots, coordinates in double are converted to float: relative to
 * the centre of the i-cluster, in units of kith__gpu_scale.reach, the upper edge of the last bin
 * and half a bin. They are called nearby coordinates. The roots then have an error of at most
 * `blur`, beside that of the approximate root (set_scale of rdf_gpu.c). A pair whose bin is
 * ambiguous within these errors is binned by the definition, in double.
 */
#ifndef KITH_GPU_CROWD_CUH
#define KITH_GPU_CROWD_CUH

#include "engine/gpu/gpu_sweep.cuh"
#include "tally.cuh"

/* BATCH: candidates of a batch, DEEP in each lane (gpu_sweep.cuh). QUEUE: entries of the queue of
 * candidates: less than a batch that waits, and a batch that is appended. */
enum { BATCH = DEEP * LANES, QUEUE = 2 * BATCH };

/** Type of the coordinates in shared memory and registers, for points of type real and a kernel
 *  that finds bins by WAY: that of the points, or float when `nearby` is true, for nearby
 *  coordinates. */
template <typename real, int WAY> struct held {
    enum { nearby = false };
    typedef real type;

    /** Padding value of r^2 and of coordinates, which is in no bin: NaN. */
    static __device__ __forceinline__ real none()
    {
        return no_pair((real)0);
    }
};
template <> struct held<double, BY_ROOT> {
    enum { nearby = true };
    typedef float type;

    /** Padding value of r^2 and of coordinates: beyond all bins, and twice the largest coordinate
     *  of a candidate, far_out (i_cluster.cuh). */
    static __device__ __forceinline__ float none()
    {
        return 2 * far_out;
    }
};

/** Query particles of an i-cluster, at most MOST, in shared memory. */
template <typename held_type, int MOST> struct members {
    position<held_type> i[MOST]; /**< coordinates; held.none() as x in padding entries */
    int32_t species[MOST];       /**< species; not set when there is only one */
};

/** Return a coordinate, relative to the origin of the i-cluster, as a float in units of 1 / unit; 0
 *  when unit is 0, as the i-cluster is too wide for float coordinates. */
template <typename real> static __device__ __forceinline__ float nearby(real x, double unit)
{
    return unit > 0 ? (float)((double)x * unit) : 0;
}

/** Read the query particles of an i-cluster into shared memory, and synchronise the warp. With
 *  held.nearby, coordinates are relative to v.shared->origin, which has been set.
 *  @param home  receives the query particles, padded to MOST */
template <typename real, int WAY, int MOST>
static __device__ __forceinline__ void load_members(
    const visit<real> &v, const struct kith__gpu_scale &s,
    members<typename held<real, WAY>::type, MOST> *home)
{
    typedef held<real, WAY> form;
    const struct kith__gpu_grid &grid = v.sweep->grid;
    for (int k = v.lane; k < MOST; k += LANES) {
        typename form::type at[3] = {form::none(), 0, 0};
        if (k < v.n) {
            real r[3];
            read_slot(grid.a, v.begin + k, r);
            for (int m = 0; m < 3; m++) {
                at[m] = form::nearby ? nearby(r[m] - v.shared->origin[m], v.shared->unit) : r[m];
            }
            if (s.rdf.species[0]) {
                home->species[k] = s.rdf.species[0][grid.a.id[v.begin + k]];
            }
        }
        const position<typename form::type> i = {at[0], at[1], at[2], 0};
        home->i[k] = i;
    }
    sync_warp();
}

/** Read the coordinates of a candidate: in the precision of the points, those of image (0, 0, 0);
 *  as floats relative to the i-cluster (held.nearby), those of its image. */
template <typename real>
static __device__ __forceinline__ void read_held(const visit<real> &v, const struct candidate &at,
                                                 real r[3])
{
    read_slot(v.sweep->grid.b, at.slot, r);
}
static __device__ __forceinline__ void read_held(const visit<double> &v, const struct candidate &at,
                                                 float r[3])
{
    load_candidate(v, &at, r);
    for (int k = 0; k < 3; k++) {
        r[k] = v.shared->unit > 0 ? r[k] : 0;
    }
}

/** Return the first counter of the partial histogram of species a and b. */
static __device__ __forceinline__ int64_t row_of(const struct kith__gpu_scale &s, int32_t a,
                                                 int32_t b)
{
    return kith__partial(s.rdf.n_species, s.cross, a, b) * s.rdf.bins;
}

/** Queue of candidates that are not counted yet: a ring buffer of QUEUE entries. It is first in,
 *  first out, so that candidates stay in the order of the cells: most batches then have neither
 *  periodic images nor particles of the i-cluster itself, and take a fast path (enum kind). */
struct queue {
    unsigned first, waiting; /**< index of the first entry, and number of entries */
};

/** Query particles of an i-cluster, and its queue of candidates, in shared memory. */
template <typename held_type> struct home_batch {
    members<held_type, KITH_GPU_LARGE_CLUSTER> home; /**< query particles */
    int32_t place[QUEUE];                            /**< slot of each candidate in the queue */
    int32_t shift[QUEUE]; /**< periodic image of each candidate; packed */
};

/** Candidates of one lane in a batch. Entries without a candidate have coordinates that put all
 *  their pairs beyond all bins. */
template <typename held_type> struct candidate_batch {
    struct candidate at[DEEP]; /**< slot and image; the segment is not set */
    held_type r[DEEP][3];      /**< coordinates; not moved to the image, unless they are nearby */
    int before[DEEP];          /**< pairs are counted with the first `before` query particles: all,
                                    or, when the candidate is one of them, those before it */
    int32_t species[DEEP];     /**< species; 0 when there is only one */
};

/** Restrictions that a batch satisfies; they select the code that counts it. */
enum kind {
    ALL_PAIRS, /**< one species, no particles of the i-cluster itself, and no images, unless
                    coordinates are nearby, which are those of images */
    STRAIGHT,  /**< one species, and an orthorhombic box or nearby coordinates */
    ANYTHING   /**< no restriction */
};

/** Take up to BATCH candidates from the queue, DEEP for each lane.
 *  @param[out] batch  the lane's candidates
 *  @return the kind of the batch, uniform over the warp */
template <typename real, int WAY>
static __device__ __forceinline__ enum kind take_batch(
    const visit<real> &v, const home_batch<typename held<real, WAY>::type> *all,
    const struct kith__gpu_scale &s, struct queue *queue,
    candidate_batch<typename held<real, WAY>::type> *batch)
{
    typedef held<real, WAY> form;
    const struct kith__gpu_grid &grid = v.sweep->grid;
    bool simple = true;
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        const unsigned number = (unsigned)(d * LANES + v.lane);
        const bool some = number < queue->waiting;
        const unsigned mine = (queue->first + (some ? number : 0)) % QUEUE;
        struct candidate *const at = &batch->at[d];
        at->slot = all->place[mine];
        at->shift = all->shift[mine];
        read_held(v, *at, batch->r[d]);
        if (!some) {
            batch->r[d][0] = -form::none(); /* far from padding query particles, too */
        }
        const int64_t own = at->slot - v.begin;
        const bool is_own = !s.cross && own >= 0 && own < v.n && at->shift == no_shift;
        batch->before[d] = is_own ? (int)own : v.n;
        batch->species[d] = s.rdf.species[1] ? s.rdf.species[1][grid.b.id[at->slot]] : 0;
        simple = simple && !is_own && (form::nearby || at->shift == no_shift);
    }
    const unsigned taken = queue->waiting < BATCH ? queue->waiting : BATCH;
    queue->first = (queue->first + taken) % QUEUE;
    queue->waiting -= taken;
    return s.rdf.species[0]                                   ? ANYTHING
           : which_lanes(!simple) == 0                        ? ALL_PAIRS
           : form::nearby || grid.question.box_d.orthorhombic ? STRAIGHT
                                                              : ANYTHING;
}

/** Pairs of a lane, as count_pairs (tally.cuh) takes them: pair d is of its candidate d % DEEP and
 *  query particle k + d / DEEP. */
template <typename real, int WAY, int KIND> struct lane_pairs {
    typedef held<real, WAY> form;
    typedef typename form::type type;
    enum { mixed = KIND == ANYTHING, blurred = form::nearby };
    const visit<real> &v;                    /**< the i-cluster */
    const struct kith__gpu_scale &s;         /**< from distances to counters */
    float blur;                              /**< error bound of roots [scale.reach], if blurred */
    const candidate_batch<type> &candidates; /**< candidates of the lane */
    /** [DEEP] shift of each candidate in an orthorhombic box; not set for ALL_PAIRS and nearby
     *  coordinates [length]. */
    const type (*by)[3];
    const members<type, KITH_GPU_LARGE_CLUSTER> *home; /**< query particles */
    int k;                                             /**< query particle of pair 0 */

    /** First counter of the partial of pair d. */
    __device__ __forceinline__ uint32_t first(int d) const
    {
        return mixed && s.rdf.species[0]
                   ? (uint32_t)row_of(s, home->species[k + d / DEEP], candidates.species[d % DEEP])
                   : 0;
    }

    /** r^2 of pair d: by the definition, or of nearby coordinates.
     *  @param nearly  true: fused multiply-add may be used (nearly_square_of) */
    __device__ __forceinline__ type square(int d, bool nearly) const
    {
        const position<type> i = home->i[k + d / DEEP];
        const type *const j = candidates.r[d % DEEP];
        type r[3] = {j[0] - i.x, j[1] - i.y, j[2] - i.z};
        if (KIND != ALL_PAIRS && !form::nearby) {
            if (KIND == ANYTHING && !v.sweep->grid.question.box_d.orthorhombic) {
                return skewed_square(d, i);
            }
            for (int m = 0; m < 3; m++) {
                r[m] = moved(r[m], by[d % DEEP][m]);
            }
        }
        return nearly ? nearly_square_of(r[0], r[1], r[2]) : square_of(r[0], r[1], r[2]);
    }
    /** r^2 of pair d by the definition in a skewed box. @param i  its query particle */
    __device__ __forceinline__ real skewed_square(int d, const position<type> &i) const
    {
        typedef definition<real> def;
        const type *const j = candidates.r[d % DEEP];
        const real ri[3] = {i.x, i.y, i.z};
        const real rj[3] = {j[0], j[1], j[2]};
        real apart[3];
        int32_t shift[3];
        kith__unpack_shift(candidates.at[d % DEEP].shift, shift);
        return def::separation(def::box(v.sweep->grid.question), ri, rj, shift, apart);
    }
    /** r^2 of pair d by the definition. */
    __device__ __forceinline__ real exact(int d) const
    {
        const struct candidate &at = candidates.at[d % DEEP];
        real apart[3];
        return form::nearby ? separation(v, v.begin + k + d / DEEP, at.slot, at.shift, apart)
                            : (real)square(d, false);
    }
    /** Never called: pairs that are counted one by one take single_tally of rdf_gpu.cu. */
    __device__ __forceinline__ void count(const struct kith__gpu_scale &, const struct bins &, int,
                                          uint32_t) const
    {
    }
};

/** Count the pairs of a batch of the given kind with all query particles of the i-cluster: one or
 *  two query particles at a time, as registers permit, with all candidates of the lane. */
template <typename real, int WAY, int KIND>
static __device__ __forceinline__ void count_members(
    const visit<real> &v, const struct kith__gpu_scale &s, const struct bins &counters, float blur,
    const candidate_batch<typename held<real, WAY>::type> &batch,
    const members<typename held<real, WAY>::type, KITH_GPU_LARGE_CLUSTER> *home)
{
    typedef held<real, WAY> form;
    typedef typename form::type type;
    const int at_once = KIND == ANYTHING ? 1 : 2;
    type by[DEEP][3];
    for (int d = 0; d < DEEP && KIND != ALL_PAIRS && !form::nearby; d++) {
        int32_t shift[3];
        kith__unpack_shift(batch.at[d].shift, shift);
        for (int m = 0; m < 3; m++) {
            by[d][m] = (type)shift[m] * definition<type>::box(v.sweep->grid.question).row[m][m];
        }
    }
#pragma unroll 1
    for (int k = 0; k < v.n; k += at_once) {
        const lane_pairs<real, WAY, KIND> pairs = {v, s, blur, batch, by, home, k};
        type r2[at_once * DEEP];
#pragma unroll
        for (int d = 0; d < at_once * DEEP; d++) {
            const type square = pairs.square(d, WAY == BY_ROOT);
            const bool counts = KIND == ALL_PAIRS || k + d / DEEP < batch.before[d % DEEP];
            r2[d] = counts ? square : form::none();
        }
        count_pairs<real, WAY, at_once * DEEP>(s, counters, r2, pairs);
    }
}

/** Take a batch from the queue, and count its pairs with the query particles. */
template <typename real, int WAY>
static __device__ __forceinline__ void count_batch(
    const visit<real> &v, const struct kith__gpu_scale &s, const struct bins &counters, float blur,
    const home_batch<typename held<real, WAY>::type> *all, struct queue *queue)
{
    candidate_batch<typename held<real, WAY>::type> batch;
    const enum kind kind = take_batch<real, WAY>(v, all, s, queue, &batch);
    if (kind == ALL_PAIRS) {
        count_members<real, WAY, ALL_PAIRS>(v, s, counters, blur, batch, &all->home);
    } else if (kind == STRAIGHT) {
        count_members<real, WAY, STRAIGHT>(v, s, counters, blur, batch, &all->home);
    } else {
        count_members<real, WAY, ANYTHING>(v, s, counters, blur, batch, &all->home);
    }
}

#endif
