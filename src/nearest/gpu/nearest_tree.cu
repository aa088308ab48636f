/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building the tree of nearest neighbours on a GPU. The particles are sorted along a Hilbert curve,
 * so consecutive ones are near each other, whatever their distribution. Runs of KITH_GPU_LEAF
 * particles are the leaves, runs of KITH_GPU_FANOUT leaves the nodes above these, and so on. O(n).
 */
#include "engine/curve.h"
#include "nearest_radii.cuh"

enum {
    THREADS = 256,    /**< threads of a block */
    BOUNDS_MOST = 512 /**< most blocks of the kernel find_bounds: more would wait for atomics */
};

/** Read the position of particle p of a set, and wrap it into the box.
 *  @param set  0: the points, 1: the candidates when cross
 *  @return 0 when it is too far outside the box to be wrapped. Kernels after find_bounds ignore
 *          this: find_bounds has recorded it in state->extent, and the call will fail */
template <typename real>
static __device__ __forceinline__ int read_position(const struct kith__gpu_nearest &all, int set,
                                                    int64_t p, real r[3])
{
    typedef definition<real> def;
    const struct kith__question &q = all.question;
    int32_t image[3];
    return def::load(def::box(q), set ? q.b : q.a, q.dim, p, r, image);
}

/* --------------------------------------------------------------------------------------- bounds */

/** Bounds of some particles along three directions: axes, or the normals of kith__image_planes. */
struct range3 {
    double lo[3], hi[3]; /**< lower and upper bounds [length] */
};

/** Extend the bounds along direction k by a number x. */
static __device__ __forceinline__ void add_to_range(struct range3 *range, int k, double x)
{
    range->lo[k] = fmin(range->lo[k], x);
    range->hi[k] = fmax(range->hi[k], x);
}

/** Merge the ranges of all lanes of the warp into bounds in shared memory, encoded as in
 *  kith__gpu_extent. */
static __device__ __forceinline__ void merge_range(struct range3 range, unsigned long long below[3],
                                                   unsigned long long above[3])
{
    for (int k = 0; k < 3; k++) {
        for (int bits = LANES / 2; bits > 0; bits /= 2) {
            range.lo[k] = fmin(range.lo[k], from_partner(range.lo[k], bits));
            range.hi[k] = fmax(range.hi[k], from_partner(range.hi[k], bits));
        }
        if (my_lane() == 0) {
            atomicMax(&below[k], ~ordered(range.lo[k]));
            atomicMax(&above[k], ordered(range.hi[k]));
        }
    }
}

/** Find the bounds of a set, and its first particle that cannot be used: state->extent[set], which
 *  is zero at the beginning. Each thread block merges its own in shared memory first. Along axes
 *  that are not periodic the normals are 0, and so are the bounds of normal[k] . r. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    find_bounds(const KITH_IN_PLACE struct kith__gpu_nearest all, int set)
{
    __shared__ struct kith__gpu_extent block;
    enum { NUMBERS = sizeof block / sizeof block.bad };
    /* all numbers of the struct as one array: they have one type, and atomicMax merges each */
    unsigned long long *const number = block.below;
    if ((int)threadIdx.x < NUMBERS) {
        number[threadIdx.x] = 0;
    }
    __syncthreads();
    const int64_t n = set ? all.question.b.n : all.question.a.n;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    struct range3 axes = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    struct range3 along = axes;
    for (int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += step) {
        real r[3];
        const int fits = read_position(all, set, p, r);
        const double position[3] = {r[0], r[1], r[2]};
        if (!kith__is_finite(position)) {
            atomicMax(&block.bad, (unsigned long long)(INT64_MAX - p));
        } else if (!fits) {
            atomicMax(&block.far, (unsigned long long)(INT64_MAX - p));
        }
        for (int k = 0; k < 3; k++) {
            add_to_range(&axes, k, position[k]);
            const double *normal = all.planes.normal[k];
            double sum = 0;
            for (int m = 0; m < 3; m++) {
                sum = KITH_ADD_d(sum, KITH_MUL_d(normal[m], position[m]));
            }
            add_to_range(&along, k, sum);
        }
    }
    merge_range(axes, block.below, block.above);
    merge_range(along, block.along_below, block.along_above);
    __syncthreads();
    if ((int)threadIdx.x < NUMBERS) {
        atomicMax(&all.state->extent[set].below[threadIdx.x], number[threadIdx.x]);
    }
}

/** Choose the unit of length (kith__gpu_unit), by one thread: the largest extent of particles or
 *  images becomes 1 to 2. */
static __global__ void find_unit(const KITH_IN_PLACE struct kith__gpu_nearest all)
{
    const struct kith__gpu_extent *e = all.state->extent;
    struct kith__gpu_unit unit = {{0, 0, 0}, {0, 0, 0}, 0, 1, 1};
    for (int k = 0; k < 3; k++) {
        double lo = from_ordered(~e[0].below[k]), hi = from_ordered(e[0].above[k]);
        if (all.question.cross) {
            lo = fmin(lo, from_ordered(~e[1].below[k]));
            hi = fmax(hi, from_ordered(e[1].above[k]));
        }
        unit.origin[k] = lo;
        unit.size[k] = hi - lo;
        unit.longest = fmax(unit.longest, unit.size[k]);
    }
    const double largest = fmax(unit.longest, all.question.period_sum); /* images are as far away */
    if (largest > 0 && largest < DBL_MAX) {
        /* scale and inverse are normal numbers */
        const int power = max(-1000, min(1000, ilogb(largest)));
        unit.scale = ldexp(1.0, -power);
        unit.inverse = ldexp(1.0, power);
    }
    all.state->unit = unit;
}

/* ----------------------------------------------------------------------------------------- keys */

/** Write the key and index of each particle of a set. The key is the number, along a Hilbert curve,
 *  of the cell of the particle in a cube of 2^key_bits cells along each axis. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    make_keys(const KITH_IN_PLACE struct kith__gpu_nearest all, int set, uint64_t *key, int32_t *id)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= (set ? all.question.b.n : all.question.a.n)) {
        return;
    }
    const double cells = (double)(1 << all.key_bits);
    const struct kith__gpu_unit unit = all.state->unit;
    const double per_length = unit.longest > 0 ? cells / unit.longest : 0;
    real r[3];
    uint32_t c[3];
    read_position(all, set, p, r);
    for (int k = 0; k < 3; k++) {
        const double at = ((double)r[k] - unit.origin[k]) * per_length;
        c[k] = (uint32_t)fmin(fmax(at, 0.0), cells - 1); /* 0 when it is not a number */
    }
    key[p] = kith__hilbert(c, 3, all.key_bits);
    id[p] = (int32_t)p;
}

/* ---------------------------------------------------------------------------------------- nodes */

/** Write the records of the points, when there are two sets. @param id  [a.n] sorted indices */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    write_points(const KITH_IN_PLACE struct kith__gpu_nearest all, const int32_t *id)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s < all.question.a.n) {
        real r[3];
        read_position(all, 0, id[s], r);
        const record<real> one = {r[0], r[1], r[2], id[s]};
        ((record<real> *)all.records)[s] = one;
    }
}

/** Bounds and least index of one node. */
struct node {
    float bound[6];   /**< as in kith__gpu_tree */
    int32_t least_id; /**< least index of the node's particles */
    float radius;     /**< as in kith__gpu_tree */
};

/** Merge the nodes of an aligned run of `size` lanes, of which this lane is one: a butterfly
 *  reduction. Each of these lanes gets the merged node.
 *  @param size  number of lanes, a power of two */
static __device__ __forceinline__ void merge_nodes(struct node *one, int size)
{
    for (int k = 0; k < 3; k++) {
        one->bound[k] = min_among(one->bound[k], size);
        one->bound[3 + k] = -min_among(-one->bound[3 + k], size);
    }
    one->radius = -min_among(-one->radius, size);
    for (int bits = size / 2; bits > 0; bits /= 2) {
        one->least_id = min(one->least_id, from_partner(one->least_id, bits));
    }
}

/** Write a node to the arrays of the tree. @param number  its index in them */
static __device__ __forceinline__ void write_node(const struct kith__gpu_tree &tree, int64_t number,
                                                  const struct node &one)
{
    for (int k = 0; k < 6; k++) {
        tree.bound[k * tree.nodes + number] = one.bound[k];
    }
    tree.least_id[number] = one.least_id;
    tree.radius[number] = one.radius;
}

/** Write the records of the candidates, and the leaves: a thread takes a particle. Threads after
 *  the last particle take its position, which does not change the bounds of the last leaf.
 *  @param id  [tree.n] sorted indices */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    make_leaves(const KITH_IN_PLACE struct kith__gpu_nearest all, const int32_t *id)
{
    const struct kith__gpu_tree &tree = all.tree;
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const struct kith__gpu_unit unit = all.state->unit;
    const int32_t mine = id[s < tree.n ? s : tree.n - 1];
    real r[3];
    struct node leaf;
    read_position(all, all.question.cross, mine, r);
    for (int k = 0; k < 3; k++) {
        leaf.bound[k] = lower_bound(unit, (double)r[k], k);
        leaf.bound[3 + k] = upper_bound(unit, (double)r[k], k);
    }
    leaf.least_id = mine;
    leaf.radius = all.has_radii ? radius_bound(unit, ((const real *)all.rules.radii[1])[mine]) : 0;
    merge_nodes(&leaf, KITH_GPU_LEAF);
    if (s < tree.count[0] * KITH_GPU_LEAF) {
        const record<real> one = {r[0], r[1], r[2], s < tree.n ? mine : -1};
        ((record<real> *)tree.records)[s] = one;
        if (s % KITH_GPU_LEAF == 0) {
            write_node(tree, s / KITH_GPU_LEAF, leaf);
        }
    }
}

/** Make the nodes of a level from those of the level below: a thread takes one of these. A warp has
 *  the KITH_GPU_FANOUT nodes below one node. Threads after the last node take that one, which does
 *  not change the node above it.
 *  @param level  the level to make, 1 or more */
static __global__ void __launch_bounds__(THREADS)
    make_nodes(const KITH_IN_PLACE struct kith__gpu_nearest all, int level)
{
    const struct kith__gpu_tree &tree = all.tree;
    const int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t n = tree.count[level - 1];
    const int64_t child = tree.first[level - 1] + (c < n ? c : n - 1);
    struct node one;
    for (int k = 0; k < 6; k++) {
        one.bound[k] = tree.bound[k * tree.nodes + child];
    }
    one.least_id = tree.least_id[child];
    one.radius = tree.radius[child];
    merge_nodes(&one, LANES);
    if (c < n && my_lane() == 0) {
        write_node(tree, tree.first[level] + c / LANES, one);
    }
}

/* ------------------------------------------------------------------------------------- launches */

/* Launch a kernel for floats or doubles, as the question says, on the caller's `stream`. */
#define LAUNCH(kernel, blocks, all, ...) \
    do { \
        if ((all)->question.precision == KITH_FLOAT) { \
            KITH_LAUNCH(kernel<float>, blocks, THREADS, stream, *(all), __VA_ARGS__); \
        } else { \
            KITH_LAUNCH(kernel<double>, blocks, THREADS, stream, *(all), __VA_ARGS__); \
        } \
    } while (0)

gpuError_t kith__gpu_nearest_bounds(const struct kith__gpu_nearest *all, int set,
                                    gpuStream_t stream)
{
    const int64_t blocks = blocks_for(set ? all->question.b.n : all->question.a.n, THREADS);
    LAUNCH(find_bounds, blocks < BOUNDS_MOST ? blocks : BOUNDS_MOST, all, set);
    return gpuGetLastError();
}

gpuError_t kith__gpu_nearest_unit(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    KITH_LAUNCH(find_unit, 1, 1, stream, *all);
    return gpuGetLastError();
}

gpuError_t kith__gpu_nearest_keys(const struct kith__gpu_nearest *all, int set, uint64_t *key,
                                  int32_t *id, gpuStream_t stream)
{
    LAUNCH(make_keys, blocks_for(set ? all->question.b.n : all->question.a.n, THREADS), all, set,
           key, id);
    return gpuGetLastError();
}

gpuError_t kith__gpu_nearest_points(const struct kith__gpu_nearest *all, const int32_t *id,
                                    gpuStream_t stream)
{
    LAUNCH(write_points, blocks_for(all->question.a.n, THREADS), all, id);
    return gpuGetLastError();
}

gpuError_t kith__gpu_nearest_tree(const struct kith__gpu_nearest *all, const int32_t *id,
                                  gpuStream_t stream)
{
    const struct kith__gpu_tree *tree = &all->tree;
    LAUNCH(make_leaves, blocks_for(tree->count[0] * KITH_GPU_LEAF, THREADS), all, id);
    for (int level = 1; level < tree->levels; level++) {
        KITH_LAUNCH(make_nodes, blocks_for(tree->count[level - 1], THREADS), THREADS, stream, *all,
                    level);
    }
    return gpuGetLastError();
}
