/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traversal of the cells near a clump, one clump for each lane of a warp. A traversal yields runs
 * of consecutive clumps, one run at a time. As some runs are long and most are empty, all lanes
 * share the clumps of the warp's runs. Each clump within reach (with dense cells: only if it is in
 * another tree) is appended, paired with the lane's clump, to a queue in shared memory; when the
 * queue holds a pair for each lane, the pairs are tested.
 *
 * Clumps, dense cells and reach are defined in fof/subcells.h, the state of a search in fof_gpu.h,
 * operations of a warp in engine/gpu/device.cuh. "Packed" means by pack() of clump_pairs.cuh: three
 * integers in one word. Template parameters: `real` is the type of coordinates, `number` that of
 * cell numbers; with DENSE there are dense cells, without it code for them is not compiled.
 */
#ifndef KITH_TRAVERSAL_CUH
#define KITH_TRAVERSAL_CUH

#include "clump_pairs.cuh"

/* -------------------------------------------------------------------------------------- runs */

/** A run of consecutive clumps that one lane has found. */
struct run {
    int32_t begin, n;  /**< first clump and number of clumps */
    bool checked;      /**< all are within reach; cell and relative are unused */
    int32_t cell;      /**< number of the cell that `relative` is counted from. The lower 32 bits
                            suffice, as cells of one row are subtracted */
    uint32_t relative; /**< coordinates of the subcell of the lane's clump, counted from the first
                            subcell of that cell; packed */
    uint32_t shift;    /**< periodic image of the run; packed */
};

/** Traversal of the cells near one clump: row by row of cells, in a row cell by cell or several
 *  cells at once, in a dense cell row by row of subcells. Coordinates are packed, as registers are
 *  few.
 *  @tparam number  type of cell numbers: int64_t, or int32_t where there is a table of cells and
 *                  their number is below 2^31 - 1 */
template <typename number> struct traversal {
    int32_t clump; /**< the clump */
    int32_t root;  /**< root of its tree, or another node of it; NO_ROOT when nodes are particles */
    uint32_t subcell; /**< coordinates of its subcell in its cell; packed */
    number at;        /**< x coordinate of its cell */
    /* the row of cells that is traversed */
    number ahead;      /**< number of the row's cell at x coordinate `at` */
    int x, high;       /**< next and last cell of the row, counted from `at` */
    uint32_t relative; /**< subcell of the clump, counted from the first one of `ahead`; packed */
    uint32_t shift;    /**< periodic image of the row along y and z; packed */
    bool own;          /**< the row holds the clump's own cell */
    /* the dense cell of that row that is traversed */
    int32_t dense_begin;    /**< first clump of the dense cell */
    uint32_t index;         /**< number of the dense cell, in f.index */
    bool dense_is_one_tree; /**< all its clumps are in one tree */
    bool dense_is_own;      /**< it is the clump's own cell */
    int dense_x;            /**< x coordinate of the clump's subcell, counted from the first subcell
                                 of the dense cell */
    uint32_t dense_shift;   /**< periodic image of the dense cell; packed */
    int y, z;               /**< coordinates of the next row of subcells in the dense cell */
    int low_y;              /**< y of the first row within reach */
    int high_y, high_z;     /**< y and z of the last rows within reach; z > high_z: no dense cell is
                                 traversed */
};

enum { NO_ROOT = -1 }; /**< traversal.root where nodes are particles: clumps have no root */

/* Flags in the upper bits of f.dense, above the number of the dense cell: the clumps of the dense
 * cell are in several trees. The kernel `flatten` of link.cu sets them. */
enum : uint32_t {
    MIXED_BEFORE = 1u << 30, /**< after the pass over adjacent subcells */
    MIXED = 1u << 31         /**< after the pass over the whole cell */
};

/** Start the traversal of cells low to high of the row that is y, z away from the clump's cell. The
 *  row is empty if it is outside an open axis.
 *  @param at         coordinates of the clump's cell
 *  @param y, z       offset of the row [cells]
 *  @param low, high  first and last cell, as offsets along x from the clump's cell */
template <typename number>
static __device__ __forceinline__ void start_row(const struct kith__gpu_friends &f,
                                                 const number at[3], int y, int z, int low,
                                                 int high, traversal<number> *t)
{
    const struct kith__axis *axis = f.axis;
    number to[2] = {at[1] + y, at[2] + z};
    int32_t shift[2];
    const bool is = wrap(axis[1], &to[0], &shift[0]) && wrap(axis[2], &to[1], &shift[1]);
    t->at = at[0];
    t->ahead = (to[1] * (number)axis[1].n + to[0]) * (number)axis[0].n + at[0];
    t->own = y == 0 && z == 0;
    t->x = low;
    t->high = is ? high : low - 1;
    t->relative = pack(unpack(t->subcell, 0), unpack(t->subcell, 1) - y * axis[1].subcells,
                       unpack(t->subcell, 2) - z * axis[2].subcells);
    t->shift = is ? pack(0, shift[0], shift[1]) : 0;
}

/** Set a run of clumps [begin, end), not yet tested for reach. @param cell, relative, shift  as in
 *  struct run */
static __device__ __forceinline__ void set_run(int32_t cell, uint32_t relative, uint32_t shift,
                                               int32_t begin, int32_t end, struct run *run)
{
    run->begin = begin;
    run->n = end > begin ? end - begin : 0;
    run->checked = false;
    run->cell = cell;
    run->relative = relative;
    run->shift = shift;
}

/** Take the rest of the row as one run, if its cells are contiguous in the table, none beyond the
 *  box along x, and hold fewer than KITH_DENSE clumps. In the clump's own cell only later clumps
 *  are taken. @return true when the run was set */
template <typename number>
static __device__ __forceinline__ bool take_row(const struct kith__gpu_friends &f,
                                                traversal<number> *t, struct run *run)
{
    if (!f.table || t->at + t->x < 0 || t->at + t->high >= (number)f.axis[0].n) {
        return false;
    }
    const bool own = t->own && t->x == 0;
    const int32_t begin = own ? t->clump + 1 : (int32_t)f.start[t->ahead + t->x];
    const int32_t end = (int32_t)f.start[t->ahead + t->high + 1];
    if (end - begin >= KITH_DENSE) {
        return false;
    }
    set_run((int32_t)t->ahead, t->relative, t->shift, begin, end, run);
    t->x = t->high + 1;
    return true;
}

/** Return true when all clumps of the dense cell are in one tree, and the traversal's clump is in
 *  it. */
template <typename number>
static __device__ __forceinline__ bool is_in_dense_tree(const struct kith__gpu_friends &f,
                                                        const traversal<number> &t)
{
    return t.dense_is_one_tree && root_of(f.parent, t.dense_begin) == t.root;
}

/** Parameters of one pass over all clumps; link.cu has the order of the passes. */
struct pass {
    int most;       /**< most subcells to test on each side, if fewer than are within reach */
    uint32_t mixed; /**< MIXED or MIXED_BEFORE: the flag of dense cells whose clumps are in several
                         trees; 0: these are not known in this pass */
};

/** Take the next cell of the row: as one run, or, when it is dense, start the traversal of its rows
 *  of subcells. *run is not changed when the cell is dense or outside an open axis. */
template <bool DENSE, typename number>
static __device__ __forceinline__ void enter_cell(const struct kith__gpu_friends &f,
                                                  const struct kith__subcells &subcells,
                                                  const struct pass &pass, traversal<number> *t,
                                                  struct run *run)
{
    const struct kith__axis *axis = f.axis;
    const int x = t->x++;
    number to = t->at + x;
    int32_t shift;
    if (!wrap(axis[0], &to, &shift)) {
        return;
    }
    const number cell = t->ahead - t->at + to;
    const int32_t begin = first_clump(f, cell);
    const int32_t end = first_clump(f, (number)(cell + 1));
    const bool own = t->own && x == 0;
    const int dense_x = unpack(t->subcell, 0) - x * axis[0].subcells;
    const uint32_t dense_shift = pack(shift, unpack(t->shift, 1), unpack(t->shift, 2));
    if (!DENSE || end - begin < KITH_DENSE) {
        set_run((int32_t)cell, pack(dense_x, unpack(t->relative, 1), unpack(t->relative, 2)),
                dense_shift, own ? t->clump + 1 : begin, end, run);
        return;
    }
    const int y = unpack(t->relative, 1), reach_y = at_most(subcells.reach[1], pass.most);
    const int z = unpack(t->relative, 2), reach_z = at_most(subcells.reach[2], pass.most);
    const uint32_t marked = f.dense[begin / KITH_DENSE];
    t->dense_begin = begin;
    t->index = marked & ~(MIXED | MIXED_BEFORE);
    t->dense_is_one_tree = pass.mixed && !(marked & pass.mixed);
    t->dense_is_own = own;
    t->dense_x = dense_x;
    t->dense_shift = dense_shift;
    t->low_y = at_least(y - reach_y, 0);
    t->high_y = at_most(y + reach_y, axis[1].subcells - 1);
    t->high_z = at_most(z + reach_z, axis[2].subcells - 1);
    t->y = own ? y : t->low_y;
    t->z = own ? z : at_least(z - reach_z, 0);
}

/** Take the next row of subcells of a dense cell as one run; *run is not changed when no subcell of
 *  the row is within reach. In the clump's own row only the subcells after its own are taken. */
template <typename number>
static __device__ __forceinline__ void next_subcell_row(const struct kith__gpu_friends &f,
                                                        const struct kith__subcells &subcells,
                                                        const struct pass &pass,
                                                        traversal<number> *t, struct run *run)
{
    const int dy = abs(t->y - unpack(t->relative, 1));
    const int dz = abs(t->z - unpack(t->relative, 2));
    const int dx = at_most(subcells.row_reach[dz][dy], pass.most);
    const bool same = t->dense_is_own && dy == 0 && dz == 0;
    const int low = at_least(same ? t->dense_x + 1 : t->dense_x - dx, 0);
    const int high = at_most(t->dense_x + dx, KITH_MOST_SUBCELLS - 1);
    if (low <= high) {
        const struct kith__subcell_row row =
            f.index[(int64_t)t->index * subcells.rows + t->z * f.axis[1].subcells + t->y];
        const unsigned below = (1u << low) - 1;
        const unsigned wanted = row.mask & ((2u << high) - 1) & ~below;
        run->begin = t->dense_begin + row.first + __popc(row.mask & below);
        run->n = __popc(wanted);
        run->checked = true;
        run->shift = t->dense_shift;
    }
    if (++t->y > t->high_y) {
        t->y = t->low_y;
        t->z++;
    }
}

/** Return true when the traversal is in a dense cell, and has not visited all of its rows. */
template <bool DENSE, typename number>
static __device__ __forceinline__ bool in_dense_cell(const traversal<number> &t)
{
    return DENSE && t.z <= t.high_z && t.y <= t.high_y;
}

/** Advance a traversal to its next run, which may be empty. */
template <bool DENSE, typename number>
static __device__ __forceinline__ void next_run(const struct kith__gpu_friends &f,
                                                const struct kith__subcells &subcells,
                                                const struct pass &pass, traversal<number> *t,
                                                struct run *run)
{
    run->n = 0;
    if (in_dense_cell<DENSE>(*t)) {
        next_subcell_row(f, subcells, pass, t, run);
    } else if (t->x <= t->high && !take_row(f, t, run)) {
        enter_cell<DENSE>(f, subcells, pass, t, run);
    }
}

/* -------------------------------------------------------------------------------------- queue */

/** Queue of a warp in shared memory: pairs of clumps to be tested. Its length is kept in a register
 *  of each lane, n. */
struct pair_queue {
    /** The pairs; fewer than LANES between two calls. */
    struct kith__gpu_clump_pair pair[2 * LANES];
};

/** Append this lane's pair of clumps if `wanted`; when there is a pair for each lane, test the last
 *  ones. All lanes of the warp must call it.
 *  @param n  length of the queue, equal in all lanes */
template <typename real>
static __device__ __forceinline__ void append_pair(const struct kith__gpu_friends &f,
                                                   struct pair_queue *pair_queue, int *n,
                                                   const struct kith__gpu_clump_pair &pair,
                                                   bool wanted)
{
    const lanes_t with = which_lanes(wanted);
    if (wanted) {
        pair_queue->pair[*n + count_lanes(with & lanes_below(my_lane()))] = pair;
    }
    *n += count_lanes(with);
    if (*n >= LANES) {
        *n -= LANES;
        sync_warp();
        test_pair<real>(f, pair_queue->pair[*n + my_lane()], true);
        sync_warp();
    }
}

/** Test the pairs that are left in the queue. */
template <typename real>
static __device__ __forceinline__ void test_queued(const struct kith__gpu_friends &f,
                                                   struct pair_queue *pair_queue, int n)
{
    sync_warp();
    if (n > 0) {
        test_pair<real>(f, pair_queue->pair[my_lane()], my_lane() < n);
    }
}

/** Return true when clump b is within reach of the lane's clump.
 *  @param cell, relative  as in struct run; clump b is in the row of cells of `cell` */
static __device__ __forceinline__ bool in_reach(const struct kith__gpu_friends &f,
                                                const struct kith__subcells &subcells, int32_t b,
                                                int32_t cell, uint32_t relative)
{
    const uint64_t key = f.key[b];
    int subcell[3];
    kith__subcell_of(f.axis, key, subcell);
    const int cells = (int)((uint32_t)(key >> subcells.bits) - (uint32_t)cell);
    const int dx = abs(cells * f.axis[0].subcells + subcell[0] - unpack(relative, 0));
    const int dy = abs(subcell[1] - unpack(relative, 1));
    const int dz = abs(subcell[2] - unpack(relative, 2));
    return dy <= subcells.reach[1] && dz <= subcells.reach[2] && dx <= subcells.row_reach[dz][dy];
}

/** Distribute the clumps of all lanes' runs over the lanes, and append those within reach to the
 *  queue, each paired with the clump of the lane that found it. With dense cells, only clumps in
 *  another tree; without, that test costs more than it saves. All lanes of the warp must call it.
 *  @param t, run         traversal and run of this lane
 *  @param[in,out] n      length of the queue */
template <typename real, bool DENSE, typename number>
static __device__ __forceinline__ void distribute_runs(const struct kith__gpu_friends &f,
                                                       const struct kith__subcells &subcells,
                                                       const traversal<number> &t,
                                                       const struct run &run,
                                                       struct pair_queue *pair_queue, int *n)
{
    if (!which_lanes(run.n > 0)) {
        return;
    }
    const int lane = my_lane();
    const int before = scan_lanes(run.n, lane) - run.n;
    const int total = from_lane(before + run.n, LANES - 1);
    for (int from = 0; from < total; from += LANES) {
        const int k = from + lane; /* number of this lane's clump among those of all runs */
        const int owner = owner_of(before, k);
        const int32_t b = from_lane(run.begin - before, owner) + k;
        const int32_t cell = from_lane(run.cell, owner);
        const uint32_t relative = from_lane(run.relative, owner);
        const bool checked = DENSE && from_lane((int)run.checked, owner);
        const struct kith__gpu_clump_pair pair = {from_lane(t.clump, owner), b,
                                                  from_lane(run.shift, owner)};
        bool wanted = k < total;
        wanted = wanted && (checked || in_reach(f, subcells, b, cell, relative));
        if (DENSE) {
            const int32_t root = from_lane(t.root, owner);
            wanted = wanted && (root == NO_ROOT || parent_of(f.parent, b) != root);
        }
        append_pair<real>(f, pair_queue, n, pair, wanted);
    }
}

/** Advance the traversals of all lanes to their ends, and append pairs to the queue. Leaves a dense
 *  cell as soon as all its clumps are in the tree of the traversal's clump. */
template <typename real, bool DENSE, typename number>
static __device__ __forceinline__ void traverse(const struct kith__gpu_friends &f,
                                                const struct kith__subcells &subcells,
                                                const struct pass &pass, traversal<number> &t,
                                                struct pair_queue *pair_queue, int *n)
{
    while (which_lanes(in_dense_cell<DENSE>(t) || t.x <= t.high)) {
        struct run run = {0, 0, false, 0, 0, 0};
        next_run<DENSE>(f, subcells, pass, &t, &run);
        if (DENSE && run.n > 0 && t.root != NO_ROOT) {
            t.root = root_of(f.parent, t.root);
            if (run.checked && is_in_dense_tree(f, t)) {
                run.n = 0;
                t.z = t.high_z + 1; /* leave the dense cell */
            }
        }
        distribute_runs<real, DENSE>(f, subcells, t, run, pair_queue, n);
    }
}

#endif
