/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The search for nearest neighbours in all small systems of a batch at once. The particles of each
 * system are sorted by its cells, and cut into leaves of as many particles as a warp has lanes. A
 * warp takes the particles of one leaf, a lane each, and keeps the list of each in registers. It
 * tests the leaves of its own system whose bounding boxes are near enough, in the box itself and
 * then in images from the nearest on (nearest/images.h). As consecutive cells of a system touch
 * (kith__gpu_systems.by_number), the particles of a leaf are near each other. The lower bound of
 * the distance of two bounding boxes is computed by the operations that define r^2 of a pair, so
 * that it needs no margin for rounding (nearest/cpu/nearest_kernel.c). A system of n particles
 * costs O(n^2 / LANES^2) tests of bounding boxes; so large systems are searched by a tree, one by
 * one.
 */
#include "nearest_batch.h"

#include "engine/gpu/systems.cuh"
#include "nearest_rows.cuh"
#include "nearest_walk.cuh"

enum {
    THREADS = 128,           /**< threads of a block */
    WARPS = THREADS / LANES, /**< warps of a block */
    ASK_EACH = 32            /**< images between two readings of the stop flag */
};
static_assert((int)LANES == (int)KITH_GPU_FANOUT, "a lane takes a particle of a leaf");

/** A leaf. */
struct leaf_range {
    int64_t system; /**< number of the leaf's system */
    int64_t number; /**< number of the leaf in its system */
    int64_t begin;  /**< first slot, in the set */
    int n;          /**< number of its particles; 0: no leaf has the number that was looked for, or
                         its system is not small */
};

/** Return the number of the first leaf of system s (struct kith__gpu_nearest_batch).
 *  @param first  [systems + 1] first particle of each system in the set */
static __device__ __forceinline__ int64_t first_leaf_of(const int64_t *first, int64_t s)
{
    return first[s] / LANES + s;
}

/** Return true when nothing can be searched, as a system or an offset cannot be used. */
static __device__ __forceinline__ bool has_fault(const struct kith__gpu_systems &all)
{
    return all.small->offsets_failed || all.small->failed;
}

/** Return true when a system is searched together with others. */
static __device__ __forceinline__ bool is_small(const struct kith__gpu_systems &all, int64_t s)
{
    return kith__nearest_is_small(all.first_a[s + 1] - all.first_a[s],
                                  all.first_b[s + 1] - all.first_b[s]);
}

/** Return the leaf of a set that has a number: its system is found by binary search.
 *  @param set  0: set a, 1: set b */
static __device__ __forceinline__ struct leaf_range find_leaf(const struct kith__gpu_systems &all,
                                                              int set, int64_t number)
{
    const int64_t *first = set ? all.first_b : all.first_a;
    int64_t low = 0;
    int64_t high = all.n; /* the leaf is one of systems [low, high) */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (first_leaf_of(first, middle) <= number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    struct leaf_range leaf;
    leaf.system = low;
    leaf.number = number - first_leaf_of(first, low);
    leaf.begin = first[low] + leaf.number * LANES;
    const int64_t left = first[low + 1] - leaf.begin; /* particles from the leaf on */
    leaf.n = !is_small(all, low) || left < 0 ? 0 : (int)min(left, (int64_t)LANES);
    return leaf;
}

/** Read the position of a slot. */
template <typename real>
static __device__ __forceinline__ void read_position(const struct kith__gpu_set &set, int64_t slot,
                                                     real r[3])
{
    r[0] = ((const real *)set.x)[slot];
    r[1] = ((const real *)set.y)[slot];
    r[2] = ((const real *)set.z)[slot];
}

/** Return the smallest value of all lanes, in every lane. */
template <typename real> static __device__ __forceinline__ real least_of_lanes(real value)
{
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        const real other = from_partner(value, bits);
        value = other < value ? other : value;
    }
    return value;
}

/** Return normal[k] . r [length], each operation rounded once: images.h bounds its errors. */
template <typename real>
static __device__ __forceinline__ double along_normal(const struct kith__image_planes &planes,
                                                      int k, const real r[3])
{
    const double *normal = planes.normal[k];
    return KITH_ADD_d(
        KITH_ADD_d(KITH_MUL_d(normal[0], (double)r[0]), KITH_MUL_d(normal[1], (double)r[1])),
        KITH_MUL_d(normal[2], (double)r[2]));
}

/* ------------------------------------------------------------------------------------- bounds */

/** Find the planes of each system, a thread each, and clear its bounds. */
static __global__ void __launch_bounds__(THREADS)
    find_planes(const struct kith__gpu_nearest_batch all)
{
    const int64_t s = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (s >= all.systems.n || has_fault(all.systems)) {
        return;
    }
    const struct kith__question q = question_of_system(all.systems, s);
    const struct kith__gpu_extent none = {};
    kith__find_image_planes(&q, &all.system[s].planes);
    all.system[s].extent = none;
}

/** Find the bounds of the leaves of a set, a warp for each, and merge them into those of the
 *  systems. The bounds of the leaves of candidates are also written to all.bounds. Lanes without a
 *  particle take the last one of the leaf, which changes no bound.
 *  @param set  0: set a, 1: set b */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    measure_leaves(const KITH_IN_PLACE struct kith__gpu_nearest_batch all, int set)
{
    const int64_t number = (int64_t)blockIdx.x * WARPS + my_warp();
    if (has_fault(all.systems)) {
        return;
    }
    const struct leaf_range leaf = find_leaf(all.systems, set, number);
    if (leaf.n <= 0) {
        return;
    }
    const bool candidates = set == (int)all.systems.question.cross;
    struct kith__gpu_nearest_system &own = all.system[leaf.system];
    real r[3];
    read_position(set ? all.systems.b : all.systems.a, leaf.begin + min(my_lane(), leaf.n - 1), r);
    for (int k = 0; k < 3; k++) {
        const real low = least_of_lanes(r[k]), high = -least_of_lanes(-r[k]);
        if (my_lane() == 0) {
            atomicMax(&own.extent.below[k], ~ordered((double)low));
            atomicMax(&own.extent.above[k], ordered((double)high));
        }
        if (my_lane() == 0 && candidates) {
            real *const bounds = (real *)all.bounds + 6 * number;
            bounds[k] = low;
            bounds[3 + k] = high;
        }
    }
    for (int k = 0; k < 3 && candidates; k++) {
        if (own.planes.periodic[k]) {
            const double along = along_normal(own.planes, k, r);
            const double low = least_of_lanes(along), high = -least_of_lanes(-along);
            if (my_lane() == 0) {
                atomicMax(&own.extent.along_below[k], ~ordered(low));
                atomicMax(&own.extent.along_above[k], ordered(high));
            }
        }
    }
}

/** Compute the tolerances of each system, a thread each, from its bounds. */
static __global__ void __launch_bounds__(THREADS)
    find_tolerances(const struct kith__gpu_nearest_batch all)
{
    const int64_t s = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (s >= all.systems.n || has_fault(all.systems)) {
        return;
    }
    const struct kith__question q = question_of_system(all.systems, s);
    struct kith__gpu_nearest_system &own = all.system[s];
    double low[3], size[3];
    for (int k = 0; k < 3; k++) {
        low[k] = from_ordered(~own.extent.below[k]);
        size[k] = from_ordered(own.extent.above[k]) - low[k];
    }
    for (int k = 0; k < 3; k++) {
        own.tolerance[k] = own.planes.periodic[k]
                               ? kith__image_tolerance(&q, &own.planes, k, low, size)
                               : 0;
    }
}

/** Launch measure_leaves for a set, a warp for each number of a leaf. */
template <typename real>
static void launch_measure(const struct kith__gpu_nearest_batch *all, int set, gpuStream_t stream)
{
    const int64_t n = set ? all->systems.b.n : all->systems.a.n;
    const int64_t leaves = kith__gpu_nearest_leaves(&all->systems, n);
    KITH_LAUNCH(measure_leaves<real>, (leaves + WARPS - 1) / WARPS, THREADS, stream, *all, set);
}

gpuError_t kith__gpu_nearest_measure(const struct kith__gpu_nearest_batch *all, gpuStream_t stream)
{
    const int64_t blocks = (all->systems.n + THREADS - 1) / THREADS;
    KITH_LAUNCH(find_planes, blocks, THREADS, stream, *all);
    for (int set = 0; set < (all->systems.question.cross ? 2 : 1); set++) {
        if (all->systems.question.precision == KITH_FLOAT) {
            launch_measure<float>(all, set, stream);
        } else {
            launch_measure<double>(all, set, stream);
        }
    }
    KITH_LAUNCH(find_tolerances, blocks, THREADS, stream, *all);
    return gpuGetLastError();
}

/* ------------------------------------------------------------------------------------- search */

/** Which vectors are added to a separation: none in the box itself; else those of an image, in a
 *  box whose rows are along the axes, or in any box. */
enum motion { AT_HOME, STRAIGHT, SKEWED };

/** Return the bits of r^2 as a float, rounded down (bits_below) or up (bits_above). As it is not
 *  negative, the bits of these floats are ordered as the floats are. */
static __device__ __forceinline__ unsigned bits_below(float r2)
{
    return __float_as_uint(r2);
}
static __device__ __forceinline__ unsigned bits_below(double r2)
{
    return __float_as_uint(fmaxf(float_down(r2), 0.0f));
}
static __device__ __forceinline__ unsigned bits_above(float r2)
{
    return __float_as_uint(r2);
}
static __device__ __forceinline__ unsigned bits_above(double r2)
{
    return __float_as_uint(float_up(r2));
}

/** Shared memory of a warp. */
template <typename real> struct leaf_shared {
    record<real> candidate[LANES]; /**< candidates of the leaf that is being tested */
};

/** The search for the particles of one leaf. What is equal in all lanes is marked so. */
template <typename real, int K> struct leaf_search {
    const struct kith__gpu_nearest_batch &all;     /**< the call; equal */
    const struct kith__gpu_nearest_system &own;    /**< the system; equal */
    const typename definition<real>::lattice &box; /**< box of the system; equal */
    record<real> *candidate;            /**< [LANES] shared memory: candidates that are tested */
    int64_t system;                     /**< number of the system; equal */
    int64_t first, last;                /**< slots [first, last) of the system in set b; equal */
    const real *bounds;                 /**< [leaves][6] bounds of the system's leaves in set b, as
                                             kith__gpu_nearest_batch.bounds; equal */
    int64_t own_leaf;                   /**< number, in the system, of the leaf of candidates that
                                             consists of the particles themselves; -1: there are two
                                             sets; equal */
    real x, y, z;                       /**< position of the lane's particle [length] */
    int64_t row;                        /**< index of the lane's particle; -1: the lane has none */
    real low[3], high[3];               /**< bounds of the positions of all lanes [length]; equal */
    double below[3], above[3];          /**< bounds of normal[k] . r of all lanes [length]; equal */
    neighbour_list<real, K, true> list; /**< the lane's neighbours so far */
    real reach2;            /**< largest r^2 of a neighbour; -1: no particle [length^2] */
    unsigned widest;        /**< bits of the largest reach2, rounded up to float; equal */
    struct image_walk walk; /**< images that are searched; equal */
    int32_t packed;         /**< packed shift of the image that is searched; equal */
    real move[3][3];        /**< S[k] * row[k], rounded products [length]; equal */
    enum motion moved_by;   /**< how candidates are moved; equal */

    /** Read the lane's particle, and compute the bounds of the particles of all lanes. Lanes
     *  without a particle take the last one of the leaf, which changes no bound. */
    __device__ __forceinline__ leaf_search(const struct kith__gpu_nearest_batch &call,
                                           const struct leaf_range &leaf, record<real> *shared)
        : all(call), own(call.system[leaf.system]),
          box(system_box(&call.systems.system[leaf.system], real())), candidate(shared),
          system(leaf.system)
    {
        const struct kith__gpu_systems &systems = all.systems;
        const int64_t slot = leaf.begin + min(my_lane(), leaf.n - 1);
        real r[3];
        read_position(systems.a, slot, r);
        x = r[0];
        y = r[1];
        z = r[2];
        row = my_lane() < leaf.n ? systems.a.id[slot] : -1;
        for (int k = 0; k < 3; k++) {
            low[k] = least_of_lanes(r[k]);
            high[k] = -least_of_lanes(-r[k]);
            below[k] = above[k] = 0;
            if (own.planes.periodic[k]) {
                const double along = along_normal(own.planes, k, r);
                below[k] = least_of_lanes(along);
                above[k] = -least_of_lanes(-along);
            }
        }
        first = systems.first_b[system];
        last = systems.first_b[system + 1];
        bounds = (const real *)all.bounds + 6 * first_leaf_of(systems.first_b, system);
        own_leaf = systems.question.cross ? -1 : leaf.number;
    }

    /* ------------------------------------------------------------------------------- the lists */

    /** Set reach2 and widest from the lists. */
    __device__ __forceinline__ void find_reach()
    {
        reach2 = row >= 0 ? list.entry[K - 1].r2() : -1;
        widest = max_lanes(row >= 0 ? bits_above(reach2) : 0);
    }

    /** Return a component of a separation at the image, by the definition. */
    template <motion MOTION> __device__ __forceinline__ real at_image(real d, int m) const
    {
        return MOTION == AT_HOME    ? d
               : MOTION == STRAIGHT ? moved(d, move[m][m])
                                    : moved(moved(moved(d, move[2][m]), move[1][m]), move[0][m]);
    }

    /** Return the squared distance from the lane's particle to a candidate, by the definition. */
    template <motion MOTION> __device__ __forceinline__ real square_to(const record<real> &r) const
    {
        return square_of(at_image<MOTION>(r.x - x, 0), at_image<MOTION>(r.y - y, 1),
                         at_image<MOTION>(r.z - z, 2));
    }

    /** Test the first n of `candidate`, and insert those that are near enough. First each lane
     *  records its hits in a mask, then all lanes insert theirs together. */
    template <motion MOTION> __device__ __forceinline__ void test_candidates(int n)
    {
        const bool only_others = MOTION == AT_HOME && own_leaf >= 0;
        lanes_t near = 0;
#pragma unroll 4
        for (int c = 0; c < n; c++) {
            near |= (lanes_t)(square_to<MOTION>(candidate[c]) <= reach2) << c;
        }
        while (which_lanes(near != 0)) {
            const bool some = near != 0;
            const record<real> r = candidate[some ? first_lane(near) : 0];
            const neighbour<real> one = neighbour<real>::make(square_to<MOTION>(r),
                                                              (uint32_t)r.number);
            near &= near - 1;
            if (some && !(only_others && r.number == row) &&
                list.comes_before(one, packed, K - 1)) {
                list.insert(one, packed);
            }
        }
        find_reach();
    }

    /* ------------------------------------------------------------------------------ the leaves */

    /** Copy the candidates of a leaf to shared memory, and test them.
     *  @param number  number of the leaf in its system */
    __device__ __forceinline__ void test_leaf(int64_t number)
    {
        const int64_t begin = first + number * LANES;
        const int n = (int)min(last - begin, (int64_t)LANES);
        sync_warp(); /* the candidates of the leaf before have been read */
        if (my_lane() < n) {
            real r[3];
            read_position(all.systems.b, begin + my_lane(), r);
            candidate[my_lane()] = {r[0], r[1], r[2], all.systems.b.id[begin + my_lane()]};
        }
        sync_warp();
        if (moved_by == AT_HOME) {
            test_candidates<AT_HOME>(n);
        } else if (moved_by == STRAIGHT) {
            test_candidates<STRAIGHT>(n);
        } else {
            test_candidates<SKEWED>(n);
        }
    }

    /** Return the bits of a lower bound on r^2 between the particles and those of a leaf.
     *  @param number  number of the leaf in its system */
    __device__ __forceinline__ unsigned least_square(int64_t number) const
    {
        real gap[3];
#pragma unroll
        for (int m = 0; m < 3; m++) {
            real from = bounds[6 * number + m] - high[m];
            real to = bounds[6 * number + 3 + m] - low[m];
            if (moved_by != AT_HOME) {
                from = at_image<SKEWED>(from, m); /* in a straight box the other products are 0 */
                to = at_image<SKEWED>(to, m);
            }
            gap[m] = from > 0 ? from : to < 0 ? -to : 0;
        }
        return bits_below(square_of(gap[0], gap[1], gap[2]));
    }

    /** Search one image of the candidates: in the box itself first the leaf of the particles, then
     *  of each LANES leaves the nearest first. */
    __device__ __forceinline__ void search_image()
    {
        const int64_t leaves = (last - first + LANES - 1) / LANES;
        const int64_t itself = moved_by == AT_HOME ? own_leaf : -1;
        if (itself >= 0) {
            test_leaf(itself);
        }
        for (int64_t from = 0; from < leaves; from += LANES) {
            const int64_t mine = from + my_lane();
            unsigned bits = mine < leaves && mine != itself ? least_square(mine) : KITH_DONE;
            unsigned least = min_lanes(bits);
            while (least <= widest) {
                const int lane = first_lane(which_lanes(bits == least));
                bits = my_lane() == lane ? KITH_DONE : bits;
                test_leaf(from + lane);
                least = min_lanes(bits);
            }
        }
    }

    /* ------------------------------------------------------------------------------ the images */

    /** Set moved_by, packed and move to the image walk.shift. */
    __device__ __forceinline__ void set_image()
    {
        const bool at_home = walk.shift[0] == 0 && walk.shift[1] == 0 && walk.shift[2] == 0;
        moved_by = at_home ? AT_HOME : box.orthorhombic ? STRAIGHT : SKEWED;
        packed = kith__pack_shift(walk.shift);
        for (int k = 0; k < 3; k++) {
            for (int m = 0; m < 3; m++) {
                move[k][m] = (real)walk.shift[k] * box.row[k][m];
            }
        }
    }

    /** Find the nearest slab of images that have not been searched.
     *  @return false when there is none within reach */
    __device__ __forceinline__ bool find_slab()
    {
        double all_low[3], all_high[3];
        for (int k = 0; k < 3; k++) {
            all_low[k] = from_ordered(~own.extent.along_below[k]);
            all_high[k] = from_ordered(own.extent.along_above[k]);
        }
        if (!kith__next_slab(&own.planes, below, above, all_low, all_high, &walk.searched,
                             &walk.slab)) {
            return false;
        }
        const double least = walk.slab.distance -
                             own.tolerance[walk.slab.axis] * (1 + walk.slab.boxes);
        const double most2 = (double)-least_of_lanes(-reach2); /* `widest` may overflow */
        return !(least > 0 && least * least > most2);
    }

    /** Go on to the next image.
     *  @return true when there is one within reach; false also when it may be too many boxes away:
     *          the system is then refused (kith__gpu_batch_small.refused) */
    __device__ __forceinline__ bool next_image()
    {
        if (!next_in_slab(&walk)) {
            if (!find_slab()) {
                return false;
            }
            if (walk.slab.boxes > KITH_MAX_IMAGES) {
                atomicMax(&all.systems.small->refused, ~(unsigned long long)system);
                return false;
            }
            begin_slab(&walk);
        }
        set_image();
        return true;
    }

    /** Find the neighbours, and write the rows. */
    __device__ __forceinline__ void search()
    {
        const double cutoff = all.systems.question.cutoff;
        const real most = cutoff > 0 ? definition<real>::square((real)cutoff) : (real)INFINITY;
        const int k = (int)all.out.k;
        list.clear(row >= 0 ? k : 0, most);
        find_reach();
        begin_walk(&walk);
        set_image();
        int images = 0;
        bool more = last > first;
        while (more) {
            search_image();
            more = next_image() && (++images % ASK_EACH > 0 || !is_stopped());
        }
        if (row >= 0) {
            const int count = write_entries(all.out, list, row, 0, k, packed);
            if (all.out.counts) {
                all.out.counts[row] = count;
            }
        }
    }

    /** Return true, in every lane, when the host has set the stop flag: the counter of a sweep,
     *  which is not used otherwise here. */
    __device__ __forceinline__ bool is_stopped() const
    {
        const unsigned flag = *(const volatile unsigned *)&all.systems.small->next;
        return which_lanes(flag >= KITH_GPU_STOP) != 0;
    }
};

/** Find the neighbours of the particles of all leaves, a warp for each. */
template <typename real, int K>
static __global__ void __launch_bounds__(THREADS)
    search_leaves(const KITH_IN_PLACE struct kith__gpu_nearest_batch all)
{
    __shared__ struct leaf_shared<real> shared[WARPS];
    const int64_t number = (int64_t)blockIdx.x * WARPS + my_warp();
    if (has_fault(all.systems)) {
        return;
    }
    const struct leaf_range leaf = find_leaf(all.systems, 0, number);
    if (leaf.n <= 0) {
        return;
    }
    leaf_search<real, K> s(all, leaf, shared[my_warp()].candidate);
    if (!s.is_stopped()) {
        s.search();
    }
}

/** Write vectors and shifts of the entries of small systems, a thread for each entry. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    write_images(const KITH_IN_PLACE struct kith__gpu_nearest_batch all)
{
    const struct kith__gpu_systems &systems = all.systems;
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= systems.a.n * all.out.k || has_fault(systems)) {
        return;
    }
    const int64_t s = systems.of_a[at / all.out.k];
    if (is_small(systems, s)) {
        write_image<real>(systems.question, system_box(&systems.system[s], real()), all.out, at);
    }
}

/** Launch the search with lists of at least k entries, and write_images where it is needed. */
template <typename real>
static gpuError_t launch(const struct kith__gpu_nearest_batch *all, gpuStream_t stream)
{
    const int64_t k = all->out.k, entries = all->systems.a.n * k;
    const int64_t leaves = kith__gpu_nearest_leaves(&all->systems, all->systems.a.n);
    const int64_t blocks = (leaves + WARPS - 1) / WARPS;
    if (k <= 8) {
        KITH_LAUNCH((search_leaves<real, 8>), blocks, THREADS, stream, *all);
    } else if (k <= 16) {
        KITH_LAUNCH((search_leaves<real, 16>), blocks, THREADS, stream, *all);
    } else {
        KITH_LAUNCH((search_leaves<real, KITH_GPU_FILTER_MOST>), blocks, THREADS, stream, *all);
    }
    if (all->out.vectors || all->out.shifts) {
        KITH_LAUNCH(write_images<real>, (entries + THREADS - 1) / THREADS, THREADS, stream, *all);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_nearest_together(const struct kith__gpu_nearest_batch *all, gpuStream_t stream)
{
    return all->systems.question.precision == KITH_FLOAT ? launch<float>(all, stream)
                                                         : launch<double>(all, stream);
}
