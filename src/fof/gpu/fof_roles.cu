/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends with roles on a GPU: kernels that select the particles of each role, count the
 * friends of those that link, and find the nearest friend of those that are attached.
 *
 * Friends of a particle are searched by one thread, among the clumps within reach of its subcell
 * (fof/subcells.h): its own subcell first, then cell by cell; the clumps of a dense cell row by row
 * of subcells. Subcells further away than the nearest friend so far are skipped. An attached
 * particle that would be compared with more than MOST_TESTED others is left to the search for
 * nearest neighbours (src/nearest/), so that the cost is O(n) or, with very many particles in one
 * subcell, O(n log n). With velocities it is O(k) for each attached particle near a clump of k.
 *
 * With min_links the friends of each particle that links are counted until there are min_links.
 * Without velocities those of its own clump are not tested one by one. Of the k particles in other
 * clumps within reach, all may be tested: O(min_links) where most of them are friends, else O(k).
 */
#include "cells_near.cuh"
#include "fof/nearest_friend.h"
#include "fof_roles.h"

enum {
    THREADS = 256,        /**< threads of a block, for kernels that copy */
    NEAR_THREADS = 128,   /**< threads of a block, for kernels that search */
    ASK_EACH = 1 << 12,   /**< particles of a clump between two tests of the stop flag */
    MOST_TESTED = 1 << 12 /**< particles that an attached particle is compared with, where it may be
                               left to another search */
};

/* --------------------------------------------------------------------------------------- checks */

template <typename real>
static __global__ void find_faults(const uint8_t *roles, const real *velocities, int64_t n,
                                   struct kith__gpu_fof_faults *faults)
{
    const int64_t p = my_item();
    if (p < n && roles && roles[p] > KITH_IGNORE) {
        atomicMax(&faults->role, (unsigned long long)(INT64_MAX - p));
    }
    if (p < n && velocities) {
        const real *v = velocities + 3 * p;
        if ((v[0] - v[0]) + (v[1] - v[1]) + (v[2] - v[2]) != 0) { /* infinite or NaN */
            atomicMax(&faults->velocity, (unsigned long long)(INT64_MAX - p));
        }
    }
}

gpuError_t kith__gpu_find_faults(const uint8_t *roles, const void *velocities,
                                 kith_precision precision, int64_t n,
                                 struct kith__gpu_fof_faults *faults, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(n, THREADS);
    if (precision == KITH_FLOAT) {
        KITH_LAUNCH(find_faults<float>, blocks, THREADS, stream, roles, (const float *)velocities,
                    n, faults);
    } else {
        KITH_LAUNCH(find_faults<double>, blocks, THREADS, stream, roles, (const double *)velocities,
                    n, faults);
    }
    return gpuGetLastError();
}

/* ----------------------------------------------------------------------------------- selections */

static __global__ void count_roles(const uint8_t *roles, int64_t n, int64_t *rank)
{
    const int64_t p = my_item();
    if (p <= n) {
        const int role = p < n ? roles[p] : KITH_IGNORE;
        rank[p] = role == KITH_LINK     ? 1
                  : role == KITH_ATTACH ? (int64_t)1 << KITH_GPU_ATTACHED_BIT
                                        : 0;
    }
}

gpuError_t kith__gpu_count_roles(const uint8_t *roles, int64_t n, int64_t *rank, gpuStream_t stream)
{
    KITH_LAUNCH(count_roles, blocks_for(n + 1, THREADS), THREADS, stream, roles, n, rank);
    return gpuGetLastError();
}

/** Copy the index and the coordinates of each particle to the selection of its role. */
template <typename real>
static __global__ void select_roles(const kith_points points, int dim, const uint8_t *roles,
                                    const int64_t *rank, const struct kith__gpu_selection link,
                                    const struct kith__gpu_selection attached)
{
    const int64_t p = my_item();
    const int role = p < points.n ? roles[p] : KITH_IGNORE;
    if (role == KITH_IGNORE) {
        return;
    }
    const struct kith__gpu_selection &to = role == KITH_LINK ? link : attached;
    const int64_t at = role == KITH_LINK ? rank[p] & 0xffffffff : rank[p] >> KITH_GPU_ATTACHED_BIT;
    const int64_t from = p * points.stride;
    real *const xyz = (real *)to.xyz + 3 * at;
    to.index[at] = (int32_t)p;
    xyz[0] = ((const real *)points.x)[from];
    xyz[1] = ((const real *)points.y)[from];
    xyz[2] = dim == 3 ? ((const real *)points.z)[from] : 0;
}

gpuError_t kith__gpu_select_roles(const struct kith__question *q, const uint8_t *roles,
                                  const int64_t *rank, const struct kith__gpu_selection *link,
                                  const struct kith__gpu_selection *attached, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(q->a.n, THREADS);
    if (q->precision == KITH_FLOAT) {
        KITH_LAUNCH(select_roles<float>, blocks, THREADS, stream, q->a, q->dim, roles, rank, *link,
                    *attached);
    } else {
        KITH_LAUNCH(select_roles<double>, blocks, THREADS, stream, q->a, q->dim, roles, rank, *link,
                    *attached);
    }
    return gpuGetLastError();
}

/** Copy the rows of `width` items of a selection. */
template <typename item>
static __global__ void select_rows(const struct kith__gpu_selection selection, int width,
                                   const item *from, item *to)
{
    const int64_t k = my_item();
    if (k < selection.n * width) {
        const int64_t at = k / width;
        to[k] = from[(int64_t)selection.index[at] * width + (k - at * width)];
    }
}

gpuError_t kith__gpu_select_ids(const struct kith__gpu_selection *selection, const int64_t *ids,
                                int64_t *to, gpuStream_t stream)
{
    KITH_LAUNCH(select_rows<int64_t>, blocks_for(selection->n, THREADS), THREADS, stream,
                *selection, 1, ids, to);
    return gpuGetLastError();
}

gpuError_t kith__gpu_select_vectors(const struct kith__gpu_selection *selection,
                                    kith_precision precision, const void *vectors, void *to,
                                    gpuStream_t stream)
{
    const int64_t blocks = blocks_for(3 * selection->n, THREADS);
    if (precision == KITH_FLOAT) {
        KITH_LAUNCH(select_rows<float>, blocks, THREADS, stream, *selection, 3,
                    (const float *)vectors, (float *)to);
    } else {
        KITH_LAUNCH(select_rows<double>, blocks, THREADS, stream, *selection, 3,
                    (const double *)vectors, (double *)to);
    }
    return gpuGetLastError();
}

/* -------------------------------------------------------------------- clumps near a particle */

/** A particle whose friends are searched. */
template <typename real> struct searcher {
    real r[3];       /**< wrapped position [length] */
    const real *v;   /**< [3] velocity; NULL: none */
    int64_t cell[3]; /**< coordinates of its cell */
    int subcell[3];  /**< coordinates of its subcell in the cell */
    float within[3]; /**< position in the subcell, 0 to 1 along each axis but for rounding errors
                          [subcells] */
    uint64_t key;    /**< key of the subcell */
    const struct kith__subcells *subcells; /**< geometry of subcells, in shared memory */
};

/** Find the cell of a particle whose position, velocity and key are set, and where in it it is. */
template <typename real>
static __device__ __forceinline__ void find_place(const struct kith__gpu_friends &f,
                                                  searcher<real> *p)
{
    typedef definition<real> def;
    const struct kith__axis *axis = f.axis;
    double fraction[3];
    const int64_t row = row_of_cell((int64_t)(p->key >> f.subcells.bits), axis[0].n, &p->cell[0]);
    p->cell[2] = row_of_cell(row, axis[1].n, &p->cell[1]);
    kith__subcell_of(axis, p->key, p->subcell);
    def::fractions(def::box(f.question), p->r, fraction);
    for (int k = 0; k < 3; k++) {
        const double cells = (fraction[k] - axis[k].anchor) * axis[k].scale -
                             (double)(axis[k].first + p->cell[k]);
        p->within[k] = (float)(cells * axis[k].subcells - p->subcell[k]);
    }
}

/** Return the distance along axis k from the particle to a subcell that is `away` subcells from its
 *  own [linking lengths]. */
template <typename real>
static __device__ __forceinline__ float gap_along(const struct kith__gpu_near &near,
                                                  const searcher<real> &p, int k, int away)
{
    const float gap = away > 0   ? (float)away - p.within[k]
                      : away < 0 ? p.within[k] - (float)(away + 1)
                                 : 0;
    return gap * near.width[k];
}

/** Return true when no particle of a subcell is within a distance.
 *  @param x, y, z  distances to the subcell along the axes [linking lengths]
 *  @param most2    square of the distance [linking lengths^2] */
static __device__ __forceinline__ bool is_beyond(const struct kith__gpu_near &near, float x,
                                                 float y, float z, float most2)
{
    const float rounding = 0.9999f;
    /* the axes of a skewed box are not perpendicular: only the longest distance is a bound */
    const float gap = near.f.question.box_d.orthorhombic ? sqrtf(x * x + y * y + z * z)
                                                         : fmaxf(fmaxf(x, y), z);
    const float least = gap - near.slack;
    return least > 0 && least * least * rounding > most2;
}

/** One row of cells, at one image, that is traversed for a particle. */
struct cell_row {
    int64_t ahead; /**< number that the cell at the particle's x coordinate has, or would have, in
                           this row at this image */
    int away_y;    /**< rows of subcells along y from the first one of the row of cells to the
                           particle's */
    int away_z;    /**< the number along z */
    int32_t shift[3]; /**< periodic image */
};

/** Visit the clumps [begin, end) of a row of cells that are within reach, one by one.
 *  @return false when the visitor wants no more */
template <typename real, class Visitor>
static __device__ __forceinline__ bool visit_each(const struct kith__gpu_near &near,
                                                  const searcher<real> &p,
                                                  const struct cell_row &row, int32_t begin,
                                                  int32_t end, Visitor &visitor)
{
    const struct kith__gpu_friends &f = near.f;
    for (int32_t c = begin; c < end; c++) {
        const uint64_t key = f.key[c];
        int to[3];
        kith__subcell_of(f.axis, key, to);
        const int cells = (int)((int64_t)(key >> f.subcells.bits) - row.ahead);
        const int dx = cells * f.axis[0].subcells + to[0] - p.subcell[0];
        const int dy = to[1] - row.away_y;
        const int dz = to[2] - row.away_z;
        if (abs(dy) > p.subcells->reach[1] || abs(dz) > p.subcells->reach[2] ||
            abs(dx) > p.subcells->row_reach[abs(dz)][abs(dy)] ||
            (dx | dy | dz) == 0 || /* the particle's own clump has been visited */
            is_beyond(near, gap_along(near, p, 0, dx), gap_along(near, p, 1, dy),
                      gap_along(near, p, 2, dz), visitor.most2)) {
            continue;
        }
        if (!visitor.visit(near, p, f.first[c], f.first[c + 1], row.shift)) {
            return false;
        }
    }
    return true;
}

/** Visit the clumps of a dense cell that are within reach, row by row of subcells.
 *  @param cell        number of the cell
 *  @param begin, end  its clumps
 *  @return false when the visitor wants no more */
template <typename real, class Visitor>
static __device__ __noinline__ bool visit_rows(const struct kith__gpu_near &near,
                                               const searcher<real> &p, const struct cell_row &row,
                                               int64_t cell, int32_t begin, int32_t end,
                                               Visitor &visitor)
{
    const struct kith__gpu_friends &f = near.f;
    const struct kith__axis *axis = f.axis;
    const int reach_y = p.subcells->reach[1], reach_z = p.subcells->reach[2];
    const int away_x = p.subcell[0] - (int)(cell - row.ahead) * axis[0].subcells;
    const int last_z = at_most(row.away_z + reach_z, axis[2].subcells - 1);
    const int last_y = at_most(row.away_y + reach_y, axis[1].subcells - 1);
    for (int z = at_least(row.away_z - reach_z, 0); z <= last_z; z++) {
        for (int y = at_least(row.away_y - reach_y, 0); y <= last_y; y++) {
            const int dy = y - row.away_y, dz = z - row.away_z;
            const int reach = p.subcells->row_reach[abs(dz)][abs(dy)];
            const int low = at_least(away_x - reach, 0);
            const int high = at_most(away_x + reach, axis[0].subcells - 1);
            if (low > high || is_beyond(near, 0, gap_along(near, p, 1, dy),
                                        gap_along(near, p, 2, dz), visitor.most2)) {
                continue;
            }
            const uint64_t first = ((((uint64_t)cell << axis[2].subcell_bits | (uint64_t)z)
                                     << axis[1].subcell_bits) |
                                    (uint64_t)y)
                                   << axis[0].subcell_bits;
            begin = (int32_t)find_key(f.key, begin, end - begin, (int64_t)(first + low));
            int32_t after = begin; /* clump after the last of the row within reach */
            while (after < end && f.key[after] <= first + (uint64_t)high) {
                after++;
            }
            if (!visit_each(near, p, row, begin, after, visitor)) {
                return false;
            }
            begin = after;
        }
    }
    return true;
}

/** Visit the clumps [begin, end) of one cell.
 *  @return false when the visitor wants no more */
template <typename real, class Visitor>
static __device__ __forceinline__ bool visit_cell(const struct kith__gpu_near &near,
                                                  const searcher<real> &p,
                                                  const struct cell_row &row, int64_t cell,
                                                  int32_t begin, int32_t end, Visitor &visitor)
{
    return end - begin < KITH_DENSE ? visit_each(near, p, row, begin, end, visitor)
                                    : visit_rows(near, p, row, cell, begin, end, visitor);
}

/** Visit the clumps of cells low to high of a row. Cells inside the box are consecutive in the
 *  table: where they hold few clumps, these are visited together.
 *  @param number     number of the row's first cell
 *  @param low, high  first and last cell, as offsets along x from the particle's cell
 *  @return false when the visitor wants no more */
template <typename real, class Visitor>
static __device__ __forceinline__ bool visit_row(const struct kith__gpu_near &near,
                                                 const searcher<real> &p, struct cell_row &row,
                                                 int64_t number, int low, int high,
                                                 Visitor &visitor)
{
    const struct kith__gpu_friends &f = near.f;
    const struct kith__axis &axis = f.axis[0];
    const int64_t x = p.cell[0];
    row.shift[0] = 0;
    row.ahead = number + x;
    if (x + low >= 0 && x + high < axis.n) {
        const int32_t begin = first_clump(f, row.ahead + low);
        const int32_t end = first_clump(f, row.ahead + high + 1);
        if (end - begin < KITH_DENSE) {
            return visit_each(near, p, row, begin, end, visitor);
        }
    }
    for (int dx = low; dx <= high; dx++) {
        int64_t to = x + dx;
        if (!wrap(axis, &to, &row.shift[0])) {
            continue;
        }
        const int64_t cell = number + to;
        row.ahead = cell - dx;
        if (!visit_cell(near, p, row, cell, first_clump(f, cell), first_clump(f, cell + 1),
                        visitor)) {
            return false;
        }
    }
    return true;
}

/** Visit all clumps within reach of a particle, except the one of its own subcell, which is visited
 *  at its images only.
 *  @param visitor  has the function
 *                      bool visit(near, particle, begin, end, shift)
 *                  for the slots [begin, end) of a clump at a periodic image, which returns false
 *                  when no more are wanted; and most2, the square of the distance beyond which
 *                  friends are not wanted [linking lengths^2] */
template <typename real, class Visitor>
static __device__ __forceinline__ void visit_near(const struct kith__gpu_near &near,
                                                  const searcher<real> &p, Visitor &visitor)
{
    const struct kith__gpu_friends &f = near.f;
    const struct kith__axis *axis = f.axis;
    const struct kith__subcells &s = *p.subcells;
    const int low = s.cell_low[0][p.subcell[0]], high = s.cell_high[0][p.subcell[0]];
    struct cell_row row;
    for (int dz = s.cell_low[2][p.subcell[2]]; dz <= s.cell_high[2][p.subcell[2]]; dz++) {
        int64_t z = p.cell[2] + dz;
        if (!wrap(axis[2], &z, &row.shift[2])) {
            continue;
        }
        row.away_z = p.subcell[2] - dz * axis[2].subcells;
        for (int dy = s.cell_low[1][p.subcell[1]]; dy <= s.cell_high[1][p.subcell[1]]; dy++) {
            int64_t y = p.cell[1] + dy;
            if (!wrap(axis[1], &y, &row.shift[1])) {
                continue;
            }
            row.away_y = p.subcell[1] - dy * axis[1].subcells;
            if (!visit_row(near, p, row, (z * axis[1].n + y) * axis[0].n, low, high, visitor)) {
                return;
            }
        }
    }
}

/** Compute r^2 from a particle to an image of the particle in slot s, by the definition, and return
 *  true when the two are friends.
 *  @param most  a bound: particles further away are not wanted [length^2] */
template <typename real>
static __device__ __forceinline__ bool is_friend(const struct kith__gpu_friends &f,
                                                 const searcher<real> &p, int64_t s,
                                                 const int32_t shift[3], real most, real *r2)
{
    typedef definition<real> def;
    const real rj[3] = {((const real *)f.x)[s], ((const real *)f.y)[s], ((const real *)f.z)[s]};
    real d[3];
    *r2 = def::separation(def::box(f.question), p.r, rj, shift, d);
    return *r2 <= most && (!p.v || def::phase(*r2, (real)f.question.cutoff, p.v,
                                              (const real *)f.velocities + 3 * (int64_t)f.id[s],
                                              (real)f.velocity_length) <= 1);
}

/* ---------------------------------------------------------------------------------------- links */

/** Visitor that counts friends until there are enough. */
struct link_counter {
    float most2;    /**< 1: friends are within the linking length */
    int64_t slot;   /**< slot of the particle, which is no friend of itself at any image */
    int64_t wanted; /**< friends that are enough */
    int64_t links;  /**< friends so far */

    template <typename real>
    __device__ __forceinline__ bool visit(const struct kith__gpu_near &near,
                                          const searcher<real> &p, int64_t begin, int64_t end,
                                          const int32_t shift[3])
    {
        const struct kith__gpu_friends &f = near.f;
        const real most = square_of_cutoff<real>(f);
        for (int64_t s = begin; s < end && links < wanted; s++) {
            real r2;
            links += s != slot && is_friend(f, p, s, shift, most, &r2);
            if ((s - begin) % ASK_EACH == ASK_EACH - 1 && is_stopped(f)) {
                return false;
            }
        }
        return links < wanted;
    }
};

/** Return the clump that holds a slot. Binary search. */
static __device__ __forceinline__ int32_t clump_of(const struct kith__gpu_friends &f, int64_t slot)
{
    int32_t low = 0;
    int32_t high = (int32_t)f.n - 1;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (f.first[middle] <= slot) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/** Count the friends of each particle that links, and attach it where it has too few. */
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS)
    demote(const KITH_IN_PLACE struct kith__gpu_near near, uint8_t *roles)
{
    __shared__ struct kith__subcells subcells;
    const struct kith__gpu_friends &f = near.f;
    const int64_t slot = my_item();
    copy_subcells(f, &subcells);
    if (slot >= f.particles || is_stopped(f)) {
        return;
    }
    const int32_t clump = clump_of(f, slot);
    const int64_t begin = f.first[clump], end = f.first[clump + 1];
    const int32_t no_shift[3] = {0, 0, 0};
    struct link_counter counter = {1, slot, near.min_links, 0};
    searcher<real> p = {
        {((const real *)f.x)[slot], ((const real *)f.y)[slot], ((const real *)f.z)[slot]},
        f.velocities ? (const real *)f.velocities + 3 * (int64_t)f.id[slot] : NULL};
    p.key = f.key[clump];
    p.subcells = &subcells;
    bool more;
    if (f.by_clump) { /* all particles of a clump are friends */
        counter.links = end - begin - 1;
        more = counter.links < counter.wanted;
    } else {
        more = counter.visit(near, p, begin, end, no_shift);
    }
    if (more) {
        find_place(f, &p);
        visit_near(near, p, counter);
    }
    if (counter.links < counter.wanted) {
        roles[near.link_index[f.id[slot]]] = KITH_ATTACH;
    }
}

gpuError_t kith__gpu_demote(const struct kith__gpu_near *near, uint8_t *roles, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(near->f.particles, NEAR_THREADS);
    if (near->f.question.precision == KITH_FLOAT) {
        KITH_LAUNCH(demote<float>, blocks, NEAR_THREADS, stream, *near, roles);
    } else {
        KITH_LAUNCH(demote<double>, blocks, NEAR_THREADS, stream, *near, roles);
    }
    return gpuGetLastError();
}

/* ------------------------------------------------------------------------------ nearest friend */

/** Visitor that finds the nearest friend. */
template <typename real> struct nearest_finder {
    float most2;       /**< square of the distance of the nearest friend, 1 before there is one
                             [linking lengths^2] */
    real nearest;      /**< the square by the definition; before there is a friend the square of the
                             linking length [length^2] */
    int32_t friend_id; /**< id of the nearest friend; -1: none so far */
    int64_t left;      /**< particles that may still be compared; -1: there are more near it */

    __device__ __forceinline__ bool visit(const struct kith__gpu_near &near,
                                          const searcher<real> &p, int64_t begin, int64_t end,
                                          const int32_t shift[3])
    {
        const struct kith__gpu_friends &f = near.f;
        const int64_t last = end - begin < left ? end : begin + left;
        for (int64_t s = begin; s < last; s++) {
            real r2;
            if (is_friend(f, p, s, shift, nearest, &r2) &&
                kith__is_nearer_friend((double)r2, f.id[s], (double)nearest, friend_id)) {
                nearest = r2;
                most2 = (float)((double)r2 * near.inverse_square);
                friend_id = f.id[s];
                if (r2 == 0) { /* ids ascend in a clump: no later particle of it is nearer */
                    left -= s - begin;
                    return true;
                }
            }
            if ((s - begin) % ASK_EACH == ASK_EACH - 1 && is_stopped(f)) {
                return false;
            }
        }
        left = last < end ? -1 : left - (end - begin);
        return left >= 0;
    }
};

/** Find the nearest friend of each attached particle. */
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS)
    attach(const KITH_IN_PLACE struct kith__gpu_near near, int32_t *nearest, int32_t *crowded)
{
    __shared__ struct kith__subcells subcells;
    const struct kith__gpu_friends &f = near.f;
    const struct kith__gpu_set &set = near.attached;
    const int64_t slot = my_item();
    copy_subcells(f, &subcells);
    if (slot >= set.n || is_stopped(f)) {
        return;
    }
    const int32_t id = set.id[slot];
    searcher<real> p = {
        {((const real *)set.x)[slot], ((const real *)set.y)[slot], ((const real *)set.z)[slot]},
        near.velocities ? (const real *)near.velocities + 3 * (int64_t)near.attached_index[id]
                        : NULL};
    p.key = set.key[slot] >> set.id_bits;
    p.subcells = &subcells;
    find_place(f, &p);
    nearest_finder<real> finder = {1, square_of_cutoff<real>(f), -1,
                                   p.v ? INT64_MAX : (int64_t)MOST_TESTED};
    const int64_t cell = (int64_t)(p.key >> f.subcells.bits);
    const int32_t begin = first_clump(f, cell), end = first_clump(f, cell + 1);
    const int32_t own = (int32_t)find_key(f.key, begin, end - begin, (int64_t)p.key);
    if (own < end && f.key[own] == p.key) {
        const int32_t no_shift[3] = {0, 0, 0};
        (void)finder.visit(near, p, f.first[own], f.first[own + 1], no_shift);
    }
    if (finder.left >= 0) {
        visit_near(near, p, finder);
    }
    nearest[id] = finder.friend_id;
    if (finder.left < 0) {
        crowded[atomicAdd(&f.small->n_crowded, 1)] = id;
    }
}

gpuError_t kith__gpu_attach(const struct kith__gpu_near *near, int32_t *nearest, int32_t *crowded,
                            gpuStream_t stream)
{
    const int64_t blocks = blocks_for(near->attached.n, NEAR_THREADS);
    if (near->f.question.precision == KITH_FLOAT) {
        KITH_LAUNCH(attach<float>, blocks, NEAR_THREADS, stream, *near, nearest, crowded);
    } else {
        KITH_LAUNCH(attach<double>, blocks, NEAR_THREADS, stream, *near, nearest, crowded);
    }
    return gpuGetLastError();
}

static __global__ void set_nearest(const int32_t *crowded, const int32_t *found, int64_t n,
                                   int32_t *nearest)
{
    const int64_t k = my_item();
    if (k < n) {
        nearest[crowded[k]] = found[k];
    }
}

gpuError_t kith__gpu_set_nearest(const int32_t *crowded, const int32_t *found, int64_t n,
                                 int32_t *nearest, gpuStream_t stream)
{
    KITH_LAUNCH(set_nearest, blocks_for(n, THREADS), THREADS, stream, crowded, found, n, nearest);
    return gpuGetLastError();
}

/* --------------------------------------------------------------------------------------- labels */

/** Write the label of each particle that links, and of each that is attached. */
static __global__ void label_roles(const struct kith__gpu_selection link,
                                   const struct kith__gpu_selection attached,
                                   const int32_t *of_link, const int32_t *nearest, int32_t *labels)
{
    const int64_t k = my_item();
    if (k < link.n) {
        labels[link.index[k]] = of_link[k];
    } else if (k - link.n < attached.n) {
        const int32_t id = nearest[k - link.n];
        labels[attached.index[k - link.n]] = id < 0 ? 0 : of_link[id];
    }
}

gpuError_t kith__gpu_label_roles(const struct kith__gpu_selection *link,
                                 const struct kith__gpu_selection *attached, const int32_t *of_link,
                                 const int32_t *nearest, int32_t *labels, gpuStream_t stream)
{
    KITH_LAUNCH(label_roles, blocks_for(link->n + attached->n, THREADS), THREADS, stream, *link,
                *attached, of_link, nearest, labels);
    return gpuGetLastError();
}
