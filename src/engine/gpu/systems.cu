/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building the grid of a batch on a GPU: complete the boxes, find the bounds of each system, choose
 * its cells, make the keys, and copy the particles in the order of the cells. O(n + systems).
 * Compiled without contraction to fused multiply-add, as boxes have the bits of the CPU's.
 */
#include "gpu_bounds.cuh"
#include "gpu_cells.cuh"
#include "systems.cuh"

#include "engine/box.h"

enum { THREADS = 256 }; /**< threads of a thread block */

/** Return true when a fault has been found, so that later kernels exit early. */
static __device__ __forceinline__ bool has_failed(const struct kith__gpu_systems &all)
{
    return all.small->offsets_failed || all.small->failed;
}

/* ------------------------------------------------------------------------------------- offsets */

/** Note what is wrong with an offset; the smallest set, index and fault is kept. */
static __device__ void note_offset(struct kith__gpu_batch_small *small, int set, int64_t index,
                                   int fault)
{
    atomicMax(&small->offsets_failed,
              ~((unsigned long long)set << 40 | (unsigned long long)index << 4 |
                (unsigned long long)fault));
}

/** Note what is wrong with a system; the smallest system and fault is kept. */
static __device__ void note_system(struct kith__gpu_batch_small *small, int64_t system, int fault)
{
    atomicMax(&small->failed, ~((unsigned long long)system << 8 | (unsigned long long)fault));
}

/** Check offset s of one set, and that the next is not less. */
static __device__ void check_set(const struct kith__gpu_systems &all, int set, int64_t s)
{
    const int64_t *first = set ? all.first_b : all.first_a;
    const int64_t n = set ? all.question.b.n : all.question.a.n;
    if (s == 0 && first[0] != 0) {
        note_offset(all.small, set, 0, KITH_OFFSETS_FIRST);
    }
    if (s < all.n && first[s] > first[s + 1]) {
        note_offset(all.small, set, s + 1, KITH_OFFSETS_DESCEND);
    }
    if (s == all.n && first[s] != n) {
        note_offset(all.small, set, s, KITH_OFFSETS_LAST);
    }
}

/** Check the offsets of both sets, and find the size of the largest system: a thread for each
 *  offset. */
static __global__ void check_offsets(const struct kith__gpu_systems all)
{
    const int64_t s = my_item();
    int64_t most = 0;
    if (s <= all.n) {
        check_set(all, 0, s);
        if (all.question.cross) {
            check_set(all, 1, s);
        }
    }
    if (s < all.n) {
        most = all.first_a[s + 1] - all.first_a[s];
        const int64_t other = all.first_b[s + 1] - all.first_b[s];
        most = other > most ? other : most;
    }
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        const int64_t other = from_partner(most, bits);
        most = other > most ? other : most;
    }
    if (my_lane() == 0 && most > 0) {
        atomicMax((unsigned long long *)&all.small->most, (unsigned long long)most);
    }
}

gpuError_t kith__gpu_check_offsets(const struct kith__gpu_systems *systems, gpuStream_t stream)
{
    KITH_LAUNCH(check_offsets, blocks_for(systems->n + 1, THREADS), THREADS, stream, *systems);
    return gpuGetLastError();
}

/* --------------------------------------------------------------------------------------- boxes */

/** Complete the box of each system. */
static __global__ void complete_boxes(const struct kith__gpu_systems all)
{
    const int64_t s = my_item();
    if (s >= all.n || all.small->offsets_failed) {
        return;
    }
    struct kith__gpu_system *system = &all.system[s];
    struct kith__question q = all.question;
    if (all.boxes) {
        const kith_box box = all.boxes[s];
        /* axis 3 does not exist: it stands for a wrong dim, for which refuse_box tests */
        system->fault = box.dim == q.dim ? kith__complete_box(&box, &q) : KITH_BOX_FLAG + 3;
        if (system->fault) {
            note_system(all.small, s, system->fault);
            return;
        }
    } else {
        system->fault = 0;
    }
    system->box_d = q.box_d;
    system->box_f = q.box_f;
    system->period_sum = q.period_sum;
    for (int k = 0; k < 3; k++) {
        system->height[k] = q.height[k];
    }
}

/* -------------------------------------------------------------------------------------- bounds */

/** Return true when the cells of a box do not depend on the bounds of the particles: it is periodic
 *  on all axes, and orthorhombic, so that wrapped particles are never outside. */
template <typename lattice> static __device__ __forceinline__ bool is_whole(const lattice &box)
{
    return box.orthorhombic && box.periodic[0] && box.periodic[1] && box.periodic[2];
}

/** Find the bounds of each system: a thread for each particle, the lanes of a warp with particles
 *  of one system together. Systems whose cells do not depend on the bounds are skipped, except
 *  where a particle cannot be used. Sets the system of each particle. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    bounds_of_systems(const struct kith__gpu_systems all, int set)
{
    typedef definition<real> def;
    const struct kith__question &q = all.question;
    const kith_points &points = set ? q.b : q.a;
    const int64_t *first = set ? all.first_b : all.first_a;
    const int64_t p = my_item();
    if (all.small->offsets_failed) {
        return;
    }
    int64_t mine = -1;
    bool needed = false;
    struct kith__bounds bounds = empty_bounds();
    if (p < points.n) {
        mine = find_system(first, all.n, p);
        (set ? all.of_b : all.of_a)[p] = (int32_t)mine;
        mine = all.system[mine].fault ? -1 : mine;
    }
    if (mine >= 0) {
        real r[3];
        int32_t image[3];
        const auto &box = system_box(&all.system[mine], real());
        const int fits = def::load(box, points, q.dim, p, r, image);
        if (!is_whole(box) || !fits || (image[0] | image[1] | image[2])) {
            def::bounds_add(box, p, r, fits, image, &bounds);
        } /* else it is inside the box as given */
        needed = !is_whole(box) || bounds.bad != INT64_MAX || bounds.far != INT64_MAX;
    }
    const uint32_t wrapped = max_lanes((uint32_t)bounds.wrapped);
    if (my_lane() == 0 && (int32_t)wrapped > *(volatile int32_t *)&all.small->wrapped) {
        atomicMax(&all.small->wrapped, (int32_t)wrapped);
    }
    lanes_t left = which_lanes(needed);
    while (left) {
        const int64_t system = from_lane(mine, first_lane(left));
        struct kith__gpu_bounds together;
        bounds_warp(system == mine ? bounds : empty_bounds(), &together);
        if (my_lane() == 0) {
            merge_bounds(&all.bounds[(int64_t)set * all.n + system], &together);
        }
        left &= ~which_lanes(system == mine);
    }
}

/* --------------------------------------------------------------------------------------- cells */

/** Merge the bounds of both sets of a system. Bounds that were not needed are 0, and decode to NaN,
 *  which fmin and fmax ignore.
 *  @return 0, or what is wrong with the first particle that cannot be used */
static __device__ int merge_sets(const struct kith__gpu_systems &all, int64_t s,
                                 struct kith__bounds *bounds)
{
    *bounds = empty_bounds();
    for (int set = 0; set < (all.question.cross ? 2 : 1); set++) {
        const struct kith__gpu_bounds &from = all.bounds[(int64_t)set * all.n + s];
        if (from.bad || from.far) {
            return (from.bad ? KITH_SYSTEM_NOT_FINITE : KITH_SYSTEM_FAR) + set;
        }
        const int64_t *first = set ? all.first_b : all.first_a;
        for (int k = 0; k < 3 && first[s + 1] > first[s]; k++) {
            bounds->lo[k] = fmin(bounds->lo[k], from_ordered(~from.below[k]));
            bounds->hi[k] = fmax(bounds->hi[k], from_ordered(from.above[k]));
        }
        bounds->wrapped |= from.wrapped;
    }
    return 0;
}

/** Choose one cell along axis k, whatever its width. */
static __device__ struct kith__axis one_cell(const struct kith__question &q,
                                             const struct kith__bounds *bounds, int k)
{
    struct kith__axis axis = {1, 1, 1, 0, q.box_d.periodic[k] != 0, 0, 1, 0, 1, 0, NULL, NULL};
    if (axis.periodic) {
        axis.reach = (int)ceil(kith__cell_side(&q, bounds) / q.height[k] * (1 - 1e-9));
    } else {
        axis.scale = 0; /* all coordinates are in cell 0 */
        axis.reach = 0;
    }
    return axis;
}

/** Return the width of cells that hold KITH_GPU_CELL_FILL of n particles on average, if these fill
 *  their bounding box; 0 when they coincide [length]. Axes without extent do not count. `side` is
 *  the cube root of the product of the extents; where their product overflows, the width is
 *  infinite, which gives one cell. */
static __device__ double side_by_number(const struct kith__question &q,
                                        const struct kith__bounds *bounds, int64_t n)
{
    double side = 1;
    double part = (double)KITH_GPU_CELL_FILL / (double)n; /* of a cell, of the bounding box */
    int axes = 0;
    for (int k = 0; k < 3; k++) {
        const bool periodic = q.box_d.periodic[k] != 0;
        const double extent = q.height[k] * (periodic ? 1 : bounds->hi[k] - bounds->lo[k]);
        axes += extent > 0;
        side *= extent > 0 ? cbrt(extent) : 1;
    }
    return axes == 0 ? 0 : pow(side * side * side * part, 1.0 / axes);
}

/** Choose the cells of a system of n particles: of width `side`, or wider where that gives too many
 *  cells: the width grows by a factor of 1.25, after nine turns of 2.25, up to 64 times. One cell
 *  where that does not suffice, and for a small system.
 *  @return the number of cells */
static __device__ int64_t choose_cells(const struct kith__question &q,
                                       const struct kith__bounds *bounds, int64_t n, double side,
                                       struct kith__axis axis[3])
{
    if (n > KITH_GPU_ONE_CELL) {
        for (int turn = 0; turn < 64 && side > 0; turn++) {
            const int64_t cells = kith__choose_axes(&q, bounds, bounds->lo, side, axis);
            if (cells >= 0 && cells <= n / KITH_GPU_CELL_FILL) {
                return cells;
            }
            side *= 1.25 + (turn > 8);
        }
    }
    for (int k = 0; k < 3; k++) {
        axis[k] = one_cell(q, bounds, k);
    }
    return 1;
}

/** Return kith__gpu_system.span. */
static __device__ float span_of(const struct kith__question &q)
{
    const double most = 64; /* beyond, the error of images would make too many borderline cases */
    double span = 0;
    for (int k = 0; k < 3; k++) {
        span = q.box_d.periodic[k] ? fmax(span, q.box_d.row[k][k] / q.cutoff) : span;
    }
    return q.box_d.orthorhombic && span <= most ? (float)(span * 1.0001) : -1.0f;
}

/** Plan each system: its cells, and the error bound of its pairs. A further thread sets the last
 *  element of `cells` to 0, which the prefix sum turns into the number of all cells. */
static __global__ void plan_systems(const struct kith__gpu_systems all)
{
    const int64_t s = my_item();
    if (s > all.n) {
        return;
    }
    if (s == all.n || all.small->offsets_failed || all.system[s].fault) {
        all.cells[s] = 0;
        return;
    }
    struct kith__gpu_system *system = &all.system[s];
    const struct kith__question q = question_of_system(all, s);
    const int64_t a = all.first_a[s + 1] - all.first_a[s];
    const int64_t b = all.first_b[s + 1] - all.first_b[s];
    struct kith__bounds bounds;
    const int fault = merge_sets(all, s, &bounds);
    all.cells[s] = 0;
    if (fault) {
        note_system(all.small, s, fault);
        return;
    }
    if (a > 0 || b > 0) {
        const int64_t n = a > b ? a : b;
        const double side = all.by_number ? side_by_number(q, &bounds, n)
                                          : kith__cell_side(&q, &bounds);
        all.cells[s] = choose_cells(q, &bounds, n, side, system->axis);
        system->one_cell = all.cells[s] == 1;
        for (int k = 0; k < 3; k++) {
            system->length[k] = (float)(q.box_d.row[k][k] / q.cutoff);
            system->images[k] = system->axis[k].periodic ? system->axis[k].reach : 0;
            if (!images_pack(0, system->axis[k])) {
                all.small->far_images = 1;
            }
        }
        system->definition_error = kith__definition_error(&q);
        system->span = span_of(q);
    }
}

gpuError_t kith__gpu_plan_systems(const struct kith__gpu_systems *systems, gpuStream_t stream)
{
    const struct kith__question *q = &systems->question;
    KITH_LAUNCH(complete_boxes, blocks_for(systems->n, THREADS), THREADS, stream, *systems);
    for (int set = 0; set < (q->cross ? 2 : 1); set++) {
        const int64_t n = set ? q->b.n : q->a.n;
        if (q->precision == KITH_FLOAT) {
            KITH_LAUNCH(bounds_of_systems<float>, blocks_for(n, THREADS), THREADS, stream, *systems,
                        set);
        } else {
            KITH_LAUNCH(bounds_of_systems<double>, blocks_for(n, THREADS), THREADS, stream,
                        *systems, set);
        }
    }
    KITH_LAUNCH(plan_systems, blocks_for(systems->n + 1, THREADS), THREADS, stream, *systems);
    return gpuGetLastError();
}

/* ---------------------------------------------------------------------------------------- keys */

/** Return how many bits of a word hold the index of a particle. */
static __host__ __device__ int index_bits(const struct kith__gpu_set &set)
{
    return kith__bit_length((uint64_t)set.n);
}

/** Make the words to sort: the number of a particle's cell in the batch, above its index. */
template <typename real>
static __global__ void make_keys(const struct kith__gpu_systems all, int set, uint64_t *word)
{
    typedef definition<real> def;
    const struct kith__question &q = all.question;
    const kith_points &points = set ? q.b : q.a;
    const int64_t p = my_item();
    if (p >= points.n) {
        return;
    }
    uint64_t cell = 0; /* after a fault all keys are 0: the sort has been queued */
    if (!has_failed(all)) {
        const int64_t s = (set ? all.of_b : all.of_a)[p];
        const struct kith__gpu_system *system = &all.system[s];
        const int64_t first_cell = all.cells[s];
        cell = (uint64_t)first_cell;
        if (all.cells[s + 1] - first_cell > 1) {
            real r[3];
            int32_t image[3];
            double f[3];
            int64_t c[3];
            const auto &box = system_box(system, real());
            def::load(box, points, q.dim, p, r, image);
            def::fractions(box, r, f);
            for (int k = 0; k < 3; k++) {
                c[k] = kith__uncompressed_cell(&system->axis[k], f[k]);
            }
            if (all.by_number) { /* every other row and layer runs backwards (boustrophedon) */
                c[1] = c[2] & 1 ? system->axis[1].n - 1 - c[1] : c[1];
                c[0] = (c[2] * system->axis[1].n + c[1]) & 1 ? system->axis[0].n - 1 - c[0] : c[0];
            }
            cell += (uint64_t)((c[2] * system->axis[1].n + c[1]) * system->axis[0].n + c[0]);
        }
    }
    word[p] = cell << index_bits(set ? all.b : all.a) | (uint64_t)p;
}

/** Set the first cell of each system. */
static __global__ void set_first_cells(const struct kith__gpu_systems all)
{
    const int64_t s = my_item();
    if (s < all.n && !has_failed(all)) {
        all.system[s].first_cell = all.cells[s];
    }
}

gpuError_t kith__gpu_make_system_keys(const struct kith__gpu_systems *systems, int set,
                                      uint64_t *word, gpuStream_t stream)
{
    const struct kith__question *q = &systems->question;
    const int64_t n = set ? q->b.n : q->a.n;
    if (set == 0) {
        KITH_LAUNCH(set_first_cells, blocks_for(systems->n, THREADS), THREADS, stream, *systems);
    }
    if (q->precision == KITH_FLOAT) {
        KITH_LAUNCH(make_keys<float>, blocks_for(n, THREADS), THREADS, stream, *systems, set, word);
    } else {
        KITH_LAUNCH(make_keys<double>, blocks_for(n, THREADS), THREADS, stream, *systems, set,
                    word);
    }
    return gpuGetLastError();
}

/** Copy the particles of a set in the order of the sorted words, and fill the table of first
 *  slots. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    gather(const struct kith__gpu_systems all, int set, const uint64_t *word)
{
    typedef definition<real> def;
    const struct kith__question &q = all.question;
    const kith_points &points = set ? q.b : q.a;
    const struct kith__gpu_set &to = set ? all.b : all.a;
    const int64_t slot = my_item();
    if (has_failed(all)) {
        return;
    }
    const int bits = index_bits(to);
    if (slot < to.n) {
        const uint64_t mine = word[slot];
        const int64_t p = (int64_t)(mine & (((uint64_t)1 << bits) - 1));
        /* the slot's system is that of p, too: each system keeps its range of positions */
        const int64_t s = (set ? all.of_b : all.of_a)[slot];
        real r[3];
        int32_t image[3];
        def::load(system_box(&all.system[s], real()), points, q.dim, p, r, image);
        ((real *)to.x)[slot] = r[0];
        ((real *)to.y)[slot] = r[1];
        ((real *)to.z)[slot] = r[2];
        to.id[slot] = (int32_t)p;
        to.key[slot] = mine >> bits;
        if (all.small->wrapped) {
            to.wrap[slot] = wrapping_sum(image);
        }
    }
    fill_table(slot, to.n, word, bits, all.cells[all.n], to.start);
}

gpuError_t kith__gpu_gather_systems(const struct kith__gpu_systems *systems, int set,
                                    const uint64_t *word, gpuStream_t stream)
{
    const int64_t n = set ? systems->b.n : systems->a.n;
    if (systems->question.precision == KITH_FLOAT) {
        KITH_LAUNCH(gather<float>, blocks_for(n + 1, THREADS), THREADS, stream, *systems, set,
                    word);
    } else {
        KITH_LAUNCH(gather<double>, blocks_for(n + 1, THREADS), THREADS, stream, *systems, set,
                    word);
    }
    return gpuGetLastError();
}

/* -------------------------------------------------------------------------------------- faults */

/** Decode what is wrong, and set small->detail and small->expected; one thread. */
static __global__ void find_fault(const struct kith__gpu_systems all)
{
    struct kith__gpu_batch_small *small = all.small;
    if (small->offsets_failed) {
        const unsigned long long what = ~small->offsets_failed;
        const int64_t index = (int64_t)(what >> 4 & 0xfffffffff);
        const int64_t *first = what >> 40 ? all.first_b : all.first_a;
        small->detail = first[index];
        small->expected = index > 0 ? first[index - 1] : 0;
    } else if (small->failed) {
        const unsigned long long what = ~small->failed;
        const int64_t system = (int64_t)(what >> 8);
        const int fault = (int)(what & 255);
        if (fault >= KITH_SYSTEM_NOT_FINITE) {
            const int set = fault & 1;
            const struct kith__gpu_bounds &from = all.bounds[(int64_t)set * all.n + system];
            const unsigned long long first = fault < KITH_SYSTEM_FAR ? from.bad : from.far;
            small->detail = INT64_MAX - (int64_t)first - (set ? all.first_b : all.first_a)[system];
        }
    }
}

gpuError_t kith__gpu_find_fault(const struct kith__gpu_systems *systems, gpuStream_t stream)
{
    KITH_LAUNCH(find_fault, 1, 1, stream, *systems);
    return gpuGetLastError();
}

/** Add a number to an index that is not negative: a thread for each index. */
static __global__ void add_to_indices(int32_t *index, int64_t n, int32_t by)
{
    const int64_t k = my_item();
    if (k < n && index[k] >= 0) {
        index[k] += by;
    }
}

gpuError_t kith__gpu_add_to_indices(int32_t *index, int64_t n, int32_t by, gpuStream_t stream)
{
    KITH_LAUNCH(add_to_indices, blocks_for(n, THREADS), THREADS, stream, index, n, by);
    return gpuGetLastError();
}
