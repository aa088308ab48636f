/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The exact search for nearest neighbours on a GPU, for any k: r^2 of each candidate is computed by
 * the definition of a pair (engine/pair.h), in the precision of the coordinates. A warp takes as
 * many consecutive particles as it has lanes, which are near each other; each lane keeps the list
 * of its own. The warp walks the tree of the candidates once for all its particles, nearest node
 * first, testing the nodes below one node at a time, a lane each; a leaf is tested by all lanes
 * together, each for its own particle. Candidates that are near enough wait as bits of a mask until
 * several leaves have been tested, so that lanes insert theirs together.
 *
 * A first kernel searches the box itself. Groups of particles that may have neighbours in images of
 * the box are put on the list `rim`, for a second kernel, which searches images from the nearest
 * on (nearest/images.h).
 *
 * A list has at most LONGEST entries. More neighbours are found in passes: each finds those that
 * come after the last one of the pass before. The second kernel then begins anew, with the first
 * pass and the box itself.
 *
 * With radii (pairs/rules.h) a candidate is tested against the radii when it is inserted. A node is
 * skipped also when it is farther away than the largest radii of the active particles and of the
 * node's permit. Kernels with radii are instances of their own, and search all groups.
 */
#include "nearest_radii.cuh"
#include "nearest_rows.cuh"
#include "nearest_walk.cuh"

enum {
    THREADS = 128,                /**< threads of a block */
    OWN = LANES / KITH_GPU_LEAF,  /**< leaves of a warp's own particles */
    WAITING = 64 / KITH_GPU_LEAF, /**< most leaves whose candidates wait: a mask has 64 bits */
    LONGEST = 32,                 /**< longest list */
    LISTED_MOST = 1024,           /**< most blocks of a kernel that takes groups of a list */
    ASK_EACH = 256                /**< nodes between two readings of the stop flag */
};
static_assert((int)LANES == (int)KITH_GPU_FANOUT, "a lane takes one of the nodes below a node");

/** Which images of the candidates a kernel searches: none; any, in a box whose rows are along the
 *  axes; any, in a skewed box. */
enum images { NO_IMAGES, STRAIGHT, SKEWED };

/** How a search ends: all neighbours were found; the host has set the stop flag; those in the box
 *  itself were found, but images of the box may have nearer ones. */
enum ending { FINISHED, STOPPED, AT_RIM };

/** Return `bits` shifted left by one, with the sign bit of a number as the lowest bit. */
static __device__ __forceinline__ uint32_t append_sign(uint32_t bits, float number)
{
    return __funnelshift_l(__float_as_uint(number), bits, 1);
}
static __device__ __forceinline__ uint32_t append_sign(uint32_t bits, double number)
{
    return __funnelshift_l((uint32_t)__double2hiint(number), bits, 1);
}

/** An image of the candidates, or for S = 0 the box itself: adding a vector of 0 does not change
 *  r^2. */
template <typename real> struct image_shift {
    int32_t packed;              /**< S, packed */
    real move[3][3];             /**< S[k] * row[k]: rounded products, which are added in the order
                                      c, b, a [length] */
    float low[3][3], high[3][3]; /**< move in the tree's unit of length, rounded down and up */
};

/** Nodes that are still to be searched, at most one for each lane at each level; in shared memory,
 *  where each thread of the block has a column. */
struct open_nodes {
    unsigned least2[KITH_GPU_TREE_LEVELS][THREADS]; /**< bits of the node's squared distance, in the
                                                         tree's unit, or KITH_DONE */
    int32_t first[KITH_GPU_TREE_LEVELS][THREADS]; /**< number, in its level, of lane 0's node; equal
                                                       in the columns of a warp */
};

/** The search for the particles of one warp. What is equal in all lanes is marked so.
 *  @tparam K       longest list
 *  @tparam IMAGES  which images are searched
 *  @tparam PASSES  more than K neighbours are to be found, in passes
 *  @tparam RADII   pairs are permitted by radii; else members of radii are not set */
template <typename real, int K, images IMAGES, bool PASSES, bool RADII> struct warp_search {
    const struct kith__gpu_nearest &all; /**< the call; equal */
    struct open_nodes *open;             /**< shared memory: nodes that are still to be searched */
    double scale;                        /**< factor to the tree's unit of length; equal */
    int64_t group;         /**< number of the group of LANES records that the warp takes; equal */
    real x, y, z;          /**< position of the lane's particle [length] */
    int64_t row;           /**< index of the lane's particle; -1: the lane has none */
    float low[3], high[3]; /**< bounds of the position of the lane's particle, in the tree's unit */
    real radius;           /**< radius of the lane's particle; 0 without one [length] */
    float most_radius;     /**< bound on the radii of the active lanes, in the tree's unit; equal */
    bool active;           /**< the lane's particle is searched for now */
    float lo[3], hi[3];    /**< bounds of the active lanes' positions, in the tree's unit; equal */
    neighbour_list<real, K, IMAGES != NO_IMAGES> list; /**< the lane's neighbours so far */
    bool later;            /**< true in all passes but the first; equal */
    neighbour<real> after; /**< last neighbour of the pass before: `list` has later ones alone */
    int32_t after_shift;   /**< S of `after`, packed */
    int32_t count;         /**< neighbours of the lane that were written */
    real reach2;           /**< largest r^2 of a neighbour; -1 when not active [length^2] */
    unsigned widest;       /**< bits of the largest reach2, in the tree's unit, rounded up; equal */
    uint32_t last_j;       /**< largest j of the active lanes' last neighbours; KITH_EMPTY while a
                                list is not full; equal */
    uint64_t waiting;      /**< bit mask of the candidates that wait to be inserted into the lane's
                                list: KITH_GPU_LEAF bits for each leaf */
    int32_t leaf;          /**< lane l: leaf number l of those that wait */
    int n_waiting;         /**< leaves that wait; equal */
    int64_t seed, seed_end;  /**< leaves [seed, seed_end) are searched before all others; equal */
    int steps;               /**< nodes searched; equal */
    int level;               /**< level of the nodes that are searched; equal */
    image_shift<real> image; /**< image that is being searched; equal */
    struct image_walk walk;  /**< order of the images that are searched; equal */

    /** Read the lane's particle. */
    __device__ __forceinline__ warp_search(const struct kith__gpu_nearest &call, int64_t number,
                                           struct open_nodes *shared)
        : all(call), open(shared), group(number), later(false), steps(0)
    {
        const struct kith__gpu_unit unit = all.state->unit;
        scale = unit.scale;
        const int64_t slot = group * LANES + my_lane();
        const int64_t n = all.question.a.n;
        const record<real> mine = ((const record<real> *)all.records)[slot < n ? slot : n - 1];
        const double r[3] = {mine.x, mine.y, mine.z};
        x = mine.x;
        y = mine.y;
        z = mine.z;
        row = slot < n ? mine.number : -1;
        radius = RADII && row >= 0 ? ((const real *)all.rules.radii[0])[row] : 0;
        for (int k = 0; k < 3; k++) {
            low[k] = lower_bound(unit, r[k], k);
            high[k] = upper_bound(unit, r[k], k);
        }
    }

    /* -------------------------------------------------------------------------------- the list */

    /** Return the largest r^2 of a neighbour that the cutoff permits, and the lane's radius with
     *  any of a candidate. */
    __device__ __forceinline__ real most_square() const
    {
        typedef definition<real> def;
        const double cutoff = all.question.cutoff;
        const real most = cutoff > 0 ? def::square((real)cutoff) : (real)INFINITY;
        if (!RADII) {
            return most;
        }
        const real h = radius_of_pair(all.rules.radius_rule, radius,
                                      (real)all.rules.most_radius[1]);
        return min(most, def::square(h));
    }

    /** Empty the list before a pass. @param n  neighbours to find in it */
    __device__ __forceinline__ void clear(int n)
    {
        list.clear(row >= 0 ? n : 0, most_square());
        waiting = 0;
        n_waiting = 0;
        leaf = 0;
    }

    /** Return the lane's reach2 in the tree's unit, rounded up. */
    __device__ __forceinline__ float reach() const
    {
        return float_up((double)list.entry[K - 1].r2() * scale * scale);
    }

    /** Set reach2, widest and last_j from the lists. */
    __device__ __forceinline__ void find_reach()
    {
        const neighbour<real> &last = list.entry[K - 1];
        reach2 = active ? last.r2() : -1;
        widest = max_lanes(active ? __float_as_uint(reach()) : 0);
        last_j = max_lanes(active ? last.j() : 0);
    }

    /** Make active the lanes of a run, which begins at a multiple of its size.
     *  @param size  number of its lanes, a power of two */
    __device__ __forceinline__ void activate(int begin, int size)
    {
        active = my_lane() / size == begin / size;
        for (int k = 0; k < 3; k++) {
            lo[k] = from_lane(min_among(low[k], size), begin);
            hi[k] = from_lane(-min_among(-high[k], size), begin);
        }
        if (RADII) {
            const float bound = radius_bound(all.state->unit, radius);
            most_radius = __uint_as_float(max_lanes(active ? __float_as_uint(bound) : 0));
        }
        find_reach();
    }

    /** Return a component of a separation at the image, by the definition. */
    __device__ __forceinline__ real at_image(real d, int m) const
    {
        return IMAGES == NO_IMAGES ? d
               : IMAGES == STRAIGHT
                   ? moved(d, image.move[m][m])
                   : moved(moved(moved(d, image.move[2][m]), image.move[1][m]), image.move[0][m]);
    }

    /** Return the squared distance from the lane's particle to a candidate, by the definition. */
    __device__ __forceinline__ real square_to(const record<real> &r) const
    {
        return square_of(at_image(r.x - x, 0), at_image(r.y - y, 1), at_image(r.z - z, 2));
    }

    /** Insert the candidates that wait. */
    __device__ __forceinline__ void insert_waiting()
    {
        const bool only_others = !all.question.cross && (IMAGES == NO_IMAGES || is_box_itself());
        while (which_lanes(waiting != 0)) {
            const bool some = waiting != 0;
            const int bit = some ? __ffsll((long long)waiting) - 1 : 0;
            waiting &= waiting - 1;
            const int64_t slot = (int64_t)from_lane(leaf, bit / KITH_GPU_LEAF) * KITH_GPU_LEAF +
                                 bit % KITH_GPU_LEAF;
            const record<real> r = ((const record<real> *)all.tree.records)[slot];
            const neighbour<real> one = neighbour<real>::make(square_to(r), (uint32_t)r.number);
            bool wanted = some && r.number >= 0 && !(only_others && r.number == row) &&
                          list.comes_before(one, image.packed, K - 1);
            if (RADII && wanted) {
                const real other = ((const real *)all.rules.radii[1])[r.number];
                wanted = radii_permit(all.rules.radius_rule, radius, other, one.r2());
            }
            if (PASSES && later) {
                wanted = wanted &&
                         (after.is_before(one) || (IMAGES != NO_IMAGES && after.is_equal(one) &&
                                                   after_shift < image.packed));
            }
            if (wanted) {
                list.insert(one, image.packed);
            }
        }
        n_waiting = 0;
        find_reach();
    }

    /** Test the candidates of a leaf, and add those within the lane's reach to those that wait.
     *  @param number  number of the leaf */
    __device__ __forceinline__ void test_leaf(int64_t number)
    {
        const record<real> *from = (const record<real> *)all.tree.records + number * KITH_GPU_LEAF;
        uint32_t far = 0; /* the candidate tested last has the lowest bit */
        record<real> r[KITH_GPU_LEAF];
#pragma unroll
        for (int c = 0; c < KITH_GPU_LEAF; c++) {
            r[c] = from[c];
        }
#pragma unroll
        for (int c = 0; c < KITH_GPU_LEAF; c++) {
            const real r2 = square_to(r[c]);
            far = append_sign(far, reach2 - r2); /* negative when r2 is beyond reach */
            if (PASSES) { /* an earlier pass has found the neighbours that come before `after` */
                far |= later && r2 < after.r2();
            }
        }
        /* reversed, so that candidate c has bit c */
        const uint32_t near = __brev(~far) >> (32 - KITH_GPU_LEAF);
        if (which_lanes(near)) {
            waiting |= (uint64_t)near << (n_waiting * KITH_GPU_LEAF);
            leaf = my_lane() == n_waiting ? (int32_t)number : leaf;
            n_waiting++;
        }
    }

    /* -------------------------------------------------------------------------------- the tree */

    /** Return the bits of a lower bound on r^2 between the active particles and those of a node, in
     *  the tree's unit. @param node  its index in the arrays of the tree */
    __device__ __forceinline__ unsigned least_square(int64_t node) const
    {
        float sum = 0;
#pragma unroll
        for (int m = 0; m < 3; m++) {
            float below = add_down(all.tree.bound[m * all.tree.nodes + node], -hi[m]);
            float above = add_up(all.tree.bound[(3 + m) * all.tree.nodes + node], -lo[m]);
            for (int k = 2; k >= 0; k--) {
                if (IMAGES == SKEWED || (IMAGES == STRAIGHT && k == m)) {
                    below = add_down(below, image.low[k][m]);
                    above = add_up(above, image.high[k][m]);
                }
            }
            const float gap = fmaxf(fmaxf(below, -above), 0.0f);
            sum = add_down(sum, mul_down(gap, gap));
        }
        /* the sum may be NaN beyond the range of float, which fmaxf makes 0: still a lower bound */
        return __float_as_uint(fmaxf(sum, 0.0f));
    }

    /** Compute the distances of LANES nodes of this level, a lane each, and store them in `open`.
     *  Seeds, lanes without a node, and nodes with which radii permit no pair, get KITH_DONE.
     *  @param first  number of lane 0's node in the level */
    __device__ __forceinline__ void open_level(int64_t first)
    {
        const int64_t child = first + my_lane();
        const bool is_seed = level == 0 && child >= seed && child < seed_end;
        unsigned bits = KITH_DONE;
        if (child < all.tree.count[level] && !is_seed) {
            const int64_t node = all.tree.first[level] + child;
            bits = least_square(node);
            if (RADII && bits > most_square_bits(all.rules.radius_rule, most_radius,
                                                 all.tree.radius[node])) {
                bits = KITH_DONE;
            }
        }
        open->least2[level][threadIdx.x] = bits;
        open->first[level][threadIdx.x] = (int32_t)first;
        steps++;
    }

    /** Remove the nearest node of this level from those that are still to be searched.
     *  @param[out] node  its number in the level
     *  @return the bits of its distance */
    __device__ __forceinline__ unsigned take_nearest(int64_t *node)
    {
        const unsigned mine = open->least2[level][threadIdx.x];
        const unsigned least = min_lanes(mine);
        const int lane = first_lane(which_lanes(mine == least));
        *node = (int64_t)open->first[level][threadIdx.x] + lane;
        if (my_lane() == lane) {
            open->least2[level][threadIdx.x] = KITH_DONE;
        }
        return least;
    }

    /** Find the next leaf to test, depth first: the nearest node of each level first.
     *  @return its number; -1: there is none within reach */
    __device__ __forceinline__ int64_t next_leaf()
    {
        const struct kith__gpu_tree &tree = all.tree;
        while (level < tree.levels) {
            int64_t node;
            const unsigned least = take_nearest(&node);
            if (least > widest) {
                level++;
                continue;
            }
            /* of neighbours at one distance, those with small indices come first */
            if (least == widest && (uint32_t)tree.least_id[tree.first[level] + node] > last_j) {
                continue;
            }
            if (level == 0) {
                return node;
            }
            level--;
            open_level(node * LANES);
        }
        return -1;
    }

    /** Return true when few nodes of level 1 are within reach of the active particles, so that one
     *  walk for all of them is cheap. Counts them by a walk through the upper levels; overwrites
     *  `level` and `open`. */
    __device__ __forceinline__ bool is_compact()
    {
        const int few = 48;
        /* a list that is not full may reach twice as far as that of the pass before */
        const float full = reach();
        const float likely = later && isinf(full) ? float_up(4 * after.r2() * scale * scale) : full;
        const unsigned widest_likely = max_lanes(active ? __float_as_uint(likely) : 0);
        int near = 0;
        level = all.tree.levels - 1;
        open_level(0);
        while (level < all.tree.levels && near <= few) {
            const unsigned mine = open->least2[level][threadIdx.x];
            if (level <= 1) {
                near += level == 0 ? 0 : count_lanes(which_lanes(mine <= widest_likely));
                level++;
                continue;
            }
            int64_t node;
            if (take_nearest(&node) > widest_likely) {
                level++;
            } else {
                level--;
                open_level(node * LANES);
            }
        }
        return near <= few;
    }

    /** Make active the longest run of lanes from `begin` on whose particles are near each other,
     *  compared with how far their lists reach: for particles that are far apart, one walk would
     *  test all candidates between them.
     *  @return its size */
    __device__ __forceinline__ int activate_run(int begin)
    {
        int size = LANES;
        for (bool found = false; !found; size /= found ? 1 : 2) {
            if (begin % size == 0) {
                activate(begin, size);
                found = size == 1 || is_compact();
            }
        }
        return size;
    }

    /** Choose the seeds: leaves near the warp's particles that hold enough candidates to fill the
     *  lists, one more than a list has entries, as a particle is not its own neighbour. Most other
     *  leaves are then skipped. In one set they begin with the leaves of the
     *  warp's own particles, else around the leaf that is found by descending to the nearest node
     *  at each level. Sets seed and seed_end. */
    __device__ __forceinline__ void choose_seeds()
    {
        const int64_t leaves = all.tree.count[0];
        const int64_t enough = (min((int)min(all.out.k, (int64_t)K) + 1, 64) - 1) / KITH_GPU_LEAF +
                               1;
        const int64_t wanted = max(enough, (int64_t)OWN);
        int64_t begin = group * OWN;
        seed = seed_end = 0; /* all leaves count while these are found */
        if (all.question.cross) {
            level = all.tree.levels - 1;
            open_level(0);
            (void)take_nearest(&begin);
            while (level > 0) {
                level--;
                open_level(begin * LANES);
                (void)take_nearest(&begin);
            }
            begin -= wanted / 2;
        }
        seed = max(min(begin, leaves - wanted), (int64_t)0);
        seed_end = min(seed + wanted, leaves);
    }

    /** Search one image of the candidates: first the seeds, for all lanes, then the tree, for one
     *  run of lanes after the other (activate_run). While a lane's reach is infinite, candidates
     *  are inserted after each leaf, as all of them would wait.
     *  @return FINISHED, STOPPED, or in the box itself AT_RIM */
    __device__ __forceinline__ enum ending search_image()
    {
        const bool has_seeds = IMAGES == NO_IMAGES || (PASSES && is_box_itself());
        activate(0, LANES);
        seed = seed_end = 0;
        if (has_seeds) {
            choose_seeds();
        }
        int64_t next_seed = seed;
        int begin = 0, size = 0; /* lanes that are active; 0: not chosen yet */
        while (true) {
            const bool is_seed = next_seed < seed_end;
            const int64_t next = is_seed ? next_seed++ : size > 0 ? next_leaf() : -1;
            if (next >= 0) {
                test_leaf(next);
            }
            if (next < 0 || (is_seed && next_seed == seed_end) || n_waiting == WAITING ||
                widest == __float_as_uint(INFINITY)) {
                insert_waiting();
            }
            if (next < 0) { /* go on with the next lanes */
                begin += size;
                if (begin == LANES) {
                    break;
                }
                size = activate_run(begin);
                level = all.tree.levels - 1;
                open_level(0);
            }
            if (steps >= ASK_EACH) {
                steps = 0;
                if (is_stopped(all)) {
                    return STOPPED;
                }
            }
        }
        activate(0, LANES);
        return IMAGES == NO_IMAGES && all.question.period_sum > 0 && find_slab() ? AT_RIM
                                                                                 : FINISHED;
    }

    /* ------------------------------------------------------------------------------ the images */

    /** Return true when S of the image that is searched is 0. */
    __device__ __forceinline__ bool is_box_itself() const
    {
        return walk.shift[0] == 0 && walk.shift[1] == 0 && walk.shift[2] == 0;
    }

    /** Begin with the box itself. */
    __device__ __forceinline__ void begin_images()
    {
        begin_walk(&walk);
        set_image();
    }

    /** Set `image` to the image walk.shift. */
    __device__ __forceinline__ void set_image()
    {
        image.packed = kith__pack_shift(walk.shift);
        if (IMAGES == NO_IMAGES) {
            return;
        }
        const typename definition<real>::lattice &box = definition<real>::box(all.question);
        for (int k = 0; k < 3; k++) {
            for (int m = 0; m < 3; m++) {
                image.move[k][m] = (real)walk.shift[k] * box.row[k][m];
                image.low[k][m] = float_down((double)image.move[k][m] * scale);
                image.high[k][m] = float_up((double)image.move[k][m] * scale);
            }
        }
    }

    /** Find the nearest slab of images that have not been searched. All lanes are active.
     *  @return false when there is none within reach */
    __device__ __forceinline__ bool find_slab()
    {
        const real r[3] = {x, y, z};
        return ::find_slab(all, all.state->unit, true, r, (double)__uint_as_float(widest), &walk);
    }

    /** Go on to the next image. @return false when there is none within reach; all.state->status is
     *  KITH_LIMIT then when it may be too many boxes away */
    __device__ __forceinline__ bool next_image()
    {
        if (!next_in_slab(&walk)) {
            if (!find_slab()) {
                return false;
            }
            if (walk.slab.boxes > KITH_MAX_IMAGES) {
                all.state->status = KITH_LIMIT;
                return false;
            }
            begin_slab(&walk);
        }
        set_image();
        return true;
    }

    /* ---------------------------------------------------------------------------------- passes */

    /** Read the list of n neighbours that the first kernel has found in the box itself from the
     *  result, and compute r^2 of each again. The shift of all is 0: image.packed at the start of
     *  the walk. */
    __device__ __forceinline__ void restore(int n)
    {
        typedef definition<real> def;
        const struct kith__question &q = all.question;
        list.clear(0, 0);
        for (int e = 0; e < n; e++) {
            const int32_t j = row >= 0 ? all.out.j[row * all.out.k + e] : -1;
            neighbour<real> one = neighbour<real>::make(row >= 0 ? most_square() : 0,
                                                        row >= 0 ? KITH_EMPTY : 0);
            if (j >= 0) {
                real r[3];
                int32_t wrapping[3];
                def::load(def::box(q), q.b, q.dim, j, r, wrapping);
                one = neighbour<real>::make(square_of(r[0] - x, r[1] - y, r[2] - z), (uint32_t)j);
            }
            list.append(one, image.packed);
        }
        activate(0, LANES);
    }

    /** Find n neighbours: one pass. In a later pass only those that come after `after`. */
    __device__ __forceinline__ enum ending search(int n)
    {
        clear(n);
        begin_images();
        bool more = true;
        if (IMAGES != NO_IMAGES && !PASSES) { /* the first kernel has searched the box itself */
            restore(n);
            more = next_image();
        }
        enum ending ending = FINISHED;
        while (more && ending == FINISHED) {
            ending = search_image();
            more = IMAGES != NO_IMAGES && ending == FINISHED && next_image();
        }
        return ending;
    }

    /** Write the neighbours of a pass, and set `later` and `after` for the next one.
     *  @param done  neighbours of earlier passes
     *  @param n     neighbours that this pass was to find */
    __device__ __forceinline__ void write(int64_t done, int n)
    {
        const kith_nearest &out = all.out;
        const int found = row < 0 ? 0 : write_entries(out, list, row, done, n, image.packed);
        count = done > 0 ? count + found : found;
        if (row >= 0 && out.counts) {
            out.counts[row] = count;
        }
        later = true;
        after = list.entry[K - 1];
        after_shift = IMAGES != NO_IMAGES ? list.shift[K - 1] : image.packed;
    }
};

/** Find the neighbours of the particles of a group, in passes of K neighbours; without PASSES there
 *  is one. A group whose search ends AT_RIM is put on the list `rim`.
 *  @param open  shared memory of the thread block */
template <typename real, int K, images IMAGES, bool PASSES, bool RADII>
static __device__ __forceinline__ void search_group(const struct kith__gpu_nearest &all,
                                                    int64_t group, struct open_nodes *open)
{
    warp_search<real, K, IMAGES, PASSES, RADII> s(all, group, open);
    enum ending ending = FINISHED;
    for (int64_t done = 0; done < all.out.k && ending == FINISHED; done += K) {
        const int n = (int)min(all.out.k - done, (int64_t)K);
        ending = PASSES && is_stopped(all) ? STOPPED : s.search(n);
        if (ending != STOPPED) {
            s.write(done, n);
        }
        if (!PASSES) {
            break;
        }
    }
    if (ending == AT_RIM && my_lane() == 0) {
        all.rim[atomicAdd(&all.state->at_rim, 1)] = (int32_t)group;
    }
}

/** Find the neighbours of LANES particles by each warp. The kernel without images searches all
 *  groups with PASSES or RADII, else those of the list `rest`, which the filter has not decided. It
 *  puts groups that may have neighbours in images on the list `rim`, whose groups the kernel with
 *  images searches.
 *  @tparam K       longest list
 *  @tparam PASSES  there are more than K neighbours to find
 *  @tparam RADII   pairs are permitted by radii */
template <typename real, int K, images IMAGES, bool PASSES, bool RADII>
static __global__ void __launch_bounds__(THREADS)
    search(const KITH_IN_PLACE struct kith__gpu_nearest all)
{
    __shared__ struct open_nodes open;
    if (!is_usable(all)) {
        return;
    }
    const bool whole = PASSES || RADII; /* there was no filter */
    const int32_t *const list = IMAGES != NO_IMAGES ? all.rim : whole ? NULL : all.rest;
    const int64_t groups = IMAGES != NO_IMAGES ? all.state->at_rim
                           : whole             ? (all.question.a.n + LANES - 1) / LANES
                                               : all.state->n_rest;
    const int64_t warps = (int64_t)gridDim.x * (THREADS / LANES);
    int64_t at = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / LANES;
    for (; at < groups && !is_stopped(all); at += warps) {
        search_group<real, K, IMAGES, PASSES, RADII>(all, list ? list[at] : at, &open);
    }
}

/** Write vectors and shifts of all entries of the result. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    write_images(const KITH_IN_PLACE struct kith__gpu_nearest all)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < all.question.a.n * all.out.k && is_usable(all)) {
        write_image<real>(all.question, definition<real>::box(all.question), all.out, at);
    }
}

/** Launch the search of the box itself, and that of images where there may be some. */
template <typename real, int K, bool PASSES, bool RADII>
static void launch_search(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    const int64_t most = LISTED_MOST;
    const int64_t blocks = (all->question.a.n + THREADS - 1) / THREADS;
    const int64_t listed = blocks < most ? blocks : most;
    const bool straight = all->question.box_d.orthorhombic;
    KITH_LAUNCH((search<real, K, NO_IMAGES, PASSES, RADII>), PASSES || RADII ? blocks : listed,
                THREADS, stream, *all);
    if (all->question.period_sum > 0 && straight) {
        KITH_LAUNCH((search<real, K, STRAIGHT, PASSES, RADII>), listed, THREADS, stream, *all);
    } else if (all->question.period_sum > 0) {
        KITH_LAUNCH((search<real, K, SKEWED, PASSES, RADII>), listed, THREADS, stream, *all);
    }
}

/** Launch the search by radii, with lists of at least k entries, or in passes. */
template <typename real>
static void launch_by_radii(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    if (all->out.k <= 8) {
        launch_search<real, 8, false, true>(all, stream);
    } else if (all->out.k <= LONGEST) {
        launch_search<real, LONGEST, false, true>(all, stream);
    } else {
        launch_search<real, LONGEST, true, true>(all, stream);
    }
}

/** Launch the search with lists of at least k entries, or in passes, and write_images where it is
 *  needed. */
template <typename real>
static gpuError_t launch(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    const int64_t k = all->out.k;
    if (all->has_radii) {
        launch_by_radii<real>(all, stream);
    } else if (k <= 8) {
        launch_search<real, 8, false, false>(all, stream);
    } else if (k <= 16) {
        launch_search<real, 16, false, false>(all, stream);
    } else if (k <= LONGEST) {
        launch_search<real, LONGEST, false, false>(all, stream);
    } else {
        launch_search<real, LONGEST, true, false>(all, stream);
    }
    if (all->out.vectors || all->out.shifts) {
        const int64_t entries = all->question.a.n * k;
        KITH_LAUNCH(write_images<real>, (entries + THREADS - 1) / THREADS, THREADS, stream, *all);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_nearest_search(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    return all->question.precision == KITH_FLOAT ? launch<float>(all, stream)
                                                 : launch<double>(all, stream);
}
