/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The search for up to 32 nearest neighbours on a GPU. A warp takes as many consecutive particles
 * as it has lanes, its queries, which are near each other, and walks the tree of the candidates
 * once for all of them.
 *
 * A filter in float, whatever the precision of the coordinates, finds the candidates of which the
 * neighbours are chosen. Each lane keeps the nearest K + SPARE candidates of its query as sorted
 * keys of 32 bits: the upper 21 bits of the float r^2, which round it down, above a code of 11 bits
 * that says which candidate of this walk it is. As r^2 is not negative, its bits are ordered as the
 * numbers are, so keys are sorted and merged by minima and maxima of integers alone. At the end the
 * lane computes r^2 of these candidates by the definition, sorts them by (r^2, j, S), and compares
 * the last neighbour with the last key: r^2 of each other candidate is at least that of the last
 * key, but for rounding errors, whose bound is known (filter_error). Groups of queries that this
 * does not decide are left to the exact search (nearest_search.cu): those with more than SPARE
 * candidates as far away as the last neighbour, for example.
 *
 * The candidates of a leaf are read by a lane each. Those within reach of the bounding box of the
 * queries are put in shared memory, where each lane tests all of them against its own query, by
 * three multiply-add operations each. The few hits are inserted later, after up to CHUNKS * CHUNK
 * tests, so that lanes insert theirs together.
 */
#include "nearest_list.cuh"
#include "nearest_node.cuh"
#include "nearest_walk.cuh"

enum {
    THREADS = 64,                  /**< threads of a block */
    OWN = LANES / KITH_GPU_LEAF,   /**< leaves that a warp reads at once; in one set, those of its
                                        own particles */
    SPARE = 4,                     /**< keys beyond the neighbours that are wanted */
    LISTED = 1 << 30,              /**< bit of an entry of `hard`: the group is in `rest` */
    PART_BLOCKS = 8192,            /**< most blocks of the kernel that searches parts of groups */
    CODE_BITS = 11,                /**< bits of a candidate's code */
    CODES = 1 << CODE_BITS,        /**< most candidates of a walk: of the search, through the tree
                                        and all images, for one set of active lanes */
    TABLE = CODES / KITH_GPU_LEAF, /**< most leaves of a walk */
    CHUNK = 32,                    /**< candidates of a mask of hits */
    CHUNKS = 3,                    /**< chunks that are tested before hits are inserted */
    ROOM = CHUNKS * CHUNK + LANES, /**< most candidates that wait to be tested: fewer than
                                        CHUNKS * CHUNK, and LANES that read_leaves appends */
    MASKS = (ROOM - 1) / CHUNK,    /**< most chunks that are tested at once */
    IMAGES = 16,                   /**< most images of the box for one walk */
    LEAF_BITS = 28                 /**< bits of a leaf's number in the table; the number of the
                                        image has the 4 bits above */
};

/** How a search ends: neighbours were written; they are not decided, as rounding errors may have
 *  changed which they are, or as numbers or the tables of a walk were exceeded; there are too many
 *  candidates between the particles of a group for one walk. */
enum searched { FOUND, UNDECIDED, TOO_FAR_APART };

/** What a step through the tree has found: leaves; no more leaves; more than the table holds. */
enum walked { SOME, NONE, FULL };

/* Slack of squared distances, for rounding errors of the tests that drop candidates early: ample,
 * as each of the few operations of a test has an error of 2^-24. */
#define KITH_WIDER (1 + 1.0f / (1 << 16))

/* Leaves at a squared distance of up to this part of `widest` are read at once; others are noted,
 * and read at the end of the walk if they are still within reach. */
#define KITH_NEAR 0.1f

/* For queries that are searched for together: let t be the smallest of their thresholds, the r^2 of
 * their last neighbours so far. No threshold of another one, and no squared distance between it and
 * the query with threshold t, is more than KITH_APART * t (choose_lanes). */
#define KITH_APART 256.0f

/* The key of no candidate. */
#define KITH_NO_KEY 0xffffffffu

/* Larger than any squared distance in the tree's unit of length, where coordinates are less than 4;
 * and a number that is larger than any sum with KITH_UNLIMITED, so that its test never hits. */
#define KITH_UNLIMITED 1e30f
#define KITH_BEYOND 1e35f

/** Shared memory of a warp. */
template <typename real> struct filter_memory {
    float4 point[ROOM]; /**< candidates that wait to be tested: position c relative to the centre of
                             the queries, and |c|^2, in the tree's unit */
    uint32_t code[ROOM]; /**< codes of these candidates: KITH_GPU_LEAF * entry of `leaf` + number
                              in the leaf */
    int32_t leaf[TABLE]; /**< leaves that have been read: number, and image above it; at the end
                              those that are to be read later */
    unsigned least2[KITH_GPU_TREE_LEVELS][LANES]; /**< of each level and lane: bits of the squared
                                                       distance of a node that is still to be
                                                       searched, or KITH_DONE */
    int32_t first[KITH_GPU_TREE_LEVELS];          /**< number of lane 0's node of each level */
    int32_t shift[IMAGES];                        /**< S of each image, packed */
    struct image_walk walk;                       /**< images that are searched */
    struct kith__gpu_unit unit;                   /**< the tree's unit of length */
    real centre[3];                               /**< centre of the active particles [length] */
    float half[3];            /**< largest distances of the active particles from the centre, along
                                   the axes, and a margin for rounding, in the tree's unit */
    float move[3];            /**< vector of the image that is searched, in the tree's unit */
    float scale;              /**< unit.scale */
    float lo[3], hi[3];       /**< bounds of the active particles in the tree's unit */
    float at_lo[3], at_hi[3]; /**< lo and hi less the vector of the image, rounded outwards */
};

/** Return `bits` shifted left by one, with the sign bit of a number as the lowest bit. */
static __device__ __forceinline__ uint32_t append_sign(uint32_t bits, float number)
{
    return __funnelshift_l(__float_as_uint(number), bits, 1);
}

/** Write four numbers to memory that is aligned to 16 bytes. */
static __device__ __forceinline__ void store_four(int32_t *to, const int32_t x[4])
{
    *(int4 *)(void *)to = make_int4(x[0], x[1], x[2], x[3]);
}
static __device__ __forceinline__ void store_four(float *to, const float x[4])
{
    *(float4 *)(void *)to = make_float4(x[0], x[1], x[2], x[3]);
}
static __device__ __forceinline__ void store_four(double *to, const double x[4])
{
    ((double2 *)(void *)to)[0] = make_double2(x[0], x[1]);
    ((double2 *)(void *)to)[1] = make_double2(x[2], x[3]);
}

/** Return a bound on the difference between r^2 by the definition and by the filter, for candidates
 *  at a distance, in the tree's unit. When each component of a vector of length d has an error of e
 *  at most, the square has one of 2 sqrt(3) d e + 3 e^2, less than 4 e (d + e). To this are added
 *  the errors of squaring and summing, relative to the square, and those of underflow of the three
 *  squares and their sum. One rounding of a float is 2^-24 at most; the divisors 2^22, 2^21 and
 *  2^20 allow for 4, 8 and 16 of them. Called once or twice in a search, so not inlined.
 *  @param unit      the tree's unit of length
 *  @param farthest  largest |q[m]| of filter_search, squared: of a position relative to the centre
 *  @param images    largest distance of an image that was searched; 0: there was none [length]
 *  @param least     smallest normal number of the precision
 *  @param square    r^2 of the candidates, in the tree's unit */
static __device__ __noinline__ double filter_error(const struct kith__gpu_unit &unit,
                                                   double farthest, double images, double least,
                                                   double square)
{
    const double distance = sqrt(square);
    const double size = (unit.longest + images) * unit.scale; /* of numbers that are rounded */
    /* error of a component */
    const double component = (sqrt(farthest) + distance) / (1 << 22) +
                             (images > 0 ? size / (1 << 21) : 0);
    return 4 * component * (distance + component) + square / (1 << 20) +
           4 * (least * unit.scale * unit.scale + (double)FLT_MIN);
}

/** Return r^2 of a pair at an image, by the definition. Rarely called, so not inlined.
 *  @param packed  S, packed */
template <typename real>
static __device__ __noinline__ real square_at(const struct kith__gpu_nearest &all, real xi, real yi,
                                              real zi, real xj, real yj, real zj, int32_t packed)
{
    typedef definition<real> def;
    const real ri[3] = {xi, yi, zi}, rj[3] = {xj, yj, zj};
    real d[3];
    int32_t s[3];
    kith__unpack_shift(packed, s);
    return def::separation(def::box(all.question), ri, rj, s, d);
}

/** The search for the neighbours of one warp's particles. What is equal in all lanes is marked
 *  so. */
template <typename real, int K> struct filter_search {
    enum {
        KEYS = K + SPARE,      /**< keys of a lane */
        BATCH = K > 8 ? 4 : 2, /**< keys that are merged into the list at once */
        SEEDS = K + 48         /**< candidates that are read first, at least (choose_seeds) */
    };
    static_assert(SEEDS + KITH_GPU_LEAF <= MASKS * CHUNK, "all seeds are tested at once");

    const struct kith__gpu_nearest &all; /**< the call; equal */
    struct filter_memory<real> *memory;  /**< shared memory of the warp; equal */
    int64_t group; /**< number of the group of LANES records that the warp takes; equal */
    int n;         /**< neighbours wanted, K at most; equal */
    real r[3];     /**< position of the lane's particle [length] */
    int32_t row;   /**< index of the lane's particle; -1: the lane has none */
    bool active;   /**< the lane's particle is searched for now */
    bool crowded;  /**< a part of a group is searched, as the whole group was too far apart: leaves
                        are tested against each active lane (within_reach); equal */
    bool few;      /**< at most a quarter of the lanes is active; equal */
    float q[3]; /**< position of the lane's particle relative to the centre, in the tree's unit */
    float farthest; /**< largest |q[m]| since `begin`, squared, of this lane */
    float most;     /**< squared cutoff and a margin, in the tree's unit; KITH_UNLIMITED without a
                         cutoff */
    float offset;   /**< number to add to |c|^2 - 2 q . c, for candidate c, so that the sum is
                         negative for hits: |q|^2 less threshold and margin */
    float widest;   /**< largest r^2 below which an active lane inserts candidates; equal */
    uint32_t key[KEYS]; /**< nearest candidates so far, sorted; the first K - n are 0 */
    uint32_t own;       /**< code of the lane's particle itself; KITH_NO_KEY in two sets */
    int n_leaves; /**< number of leaves at the beginning of the table, which have been or are being
                       read; equal */
    int n_later;  /**< leaves at the end of the table, which are to be read later; equal */
    int waiting;  /**< number of candidates that wait to be tested; equal */
    int image;    /**< number of the image that is searched, from 0, the box itself; equal */
    int boxes;    /**< largest |S[k]| of an image that was searched, or a bound on it that `begin`
                       sets; equal */
    int level;    /**< level of the nodes that are searched; equal */
    int32_t opened; /**< first node, in `level`, of the children of a node that was taken and whose
                         distances are not computed yet; -1: there are none; equal */
    int32_t seed, seed_end; /**< leaves [seed, seed_end) are searched before all others; equal */

    /** Read the lane's particle. */
    __device__ __forceinline__ filter_search(const struct kith__gpu_nearest &call, int64_t number,
                                             struct filter_memory<real> *shared)
        : all(call), memory(shared), group(number), n((int)call.out.k)
    {
        memory->unit = call.state->unit;
        memory->scale = (float)memory->unit.scale;
        const int64_t slot = group * LANES + my_lane();
        const int64_t last = all.question.a.n - 1;
        const record<real> mine = ((const record<real> *)all.records)[slot < last ? slot : last];
        r[0] = mine.x;
        r[1] = mine.y;
        r[2] = mine.z;
        row = slot <= last ? (int32_t)mine.number : -1;
    }

    /* -------------------------------------------------------------------------------- the keys */

    /** Put the smaller of two keys first. */
    static __device__ __forceinline__ void exchange(uint32_t *one, uint32_t *other)
    {
        const uint32_t least = min(*one, *other);
        *other = max(*one, *other);
        *one = least;
    }

    /** Sort a batch of keys: Batcher's odd-even merge sort. */
    static __device__ __forceinline__ void sort(uint32_t batch[BATCH])
    {
#pragma unroll
        for (int size = 1; size < BATCH; size *= 2) {
#pragma unroll
            for (int step = size; step > 0; step /= 2) {
#pragma unroll
                for (int e = step % size; e + step < BATCH; e += 2 * step) {
#pragma unroll
                    for (int m = 0; m < step; m++) {
                        if (e + m + step < BATCH &&
                            (e + m) / (2 * size) == (e + m + step) / (2 * size)) {
                            exchange(&batch[e + m], &batch[e + m + step]);
                        }
                    }
                }
            }
        }
    }

    /** Merge a batch of keys into the list: the last ones of both are lost. Bitonic merge: minima
     *  of the end of the list and the reversed batch, then half-cleaners, for the list preceded by
     *  as many keys of 0, which are not stored, as make the size a power of two. */
    __device__ __forceinline__ void merge(uint32_t batch[BATCH])
    {
        enum { SIZE = KEYS <= 16 ? 16 : KEYS <= 32 ? 32 : 64, ZEROS = SIZE - KEYS };
        sort(batch);
#pragma unroll
        for (int e = 0; e < BATCH; e++) {
            key[KEYS - 1 - e] = min(key[KEYS - 1 - e], batch[e]);
        }
#pragma unroll
        for (int step = SIZE / 2; step > 0; step /= 2) {
#pragma unroll
            for (int e = 0; e < KEYS; e++) {
                if (((e + ZEROS) & step) == 0 && e + step < KEYS) {
                    exchange(&key[e], &key[e + step < KEYS ? e + step : e]);
                }
            }
        }
    }

    /** Set offset and widest from the threshold, after keys were inserted or q changed. */
    __device__ __forceinline__ void note_threshold()
    {
        const float margin = 1.0f / (1 << 16); /* for the rounding errors of test_chunk */
        const float square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
        const float least = threshold();
        offset = active ? square - least - margin * (farthest + least) : KITH_BEYOND;
        widest = __uint_as_float(max_lanes(active ? __float_as_uint(least) : 0));
    }

    /** Return the threshold: candidates with a smaller r^2 are inserted. Not less than r^2 of the
     *  last key, unless that is more than the cutoff permits. */
    __device__ __forceinline__ float threshold() const
    {
        return __uint_as_float(min(__float_as_uint(most), key[KEYS - 1] & ~(CODES - 1u)));
    }

    /** Return a bound on the difference between r^2 by the definition and by the filter, for
     *  candidates at a distance, in the tree's unit. @param square  r^2 */
    __device__ __forceinline__ double error_bound(double square) const
    {
        return filter_error(memory->unit, farthest, boxes * all.question.period_sum,
                            sizeof(real) == sizeof(float) ? (double)FLT_MIN : DBL_MIN, square);
    }

    /* -------------------------------------------------------------------------- the candidates */

    /** Return the key of a candidate that waits, and KITH_NO_KEY for the lane's particle itself. */
    __device__ __forceinline__ uint32_t key_of(int number) const
    {
        const float4 p = memory->point[number];
        const uint32_t code = memory->code[number];
        const float x = p.x - q[0], y = p.y - q[1], z = p.z - q[2];
        const float square = __fmaf_rn(x, x, __fmaf_rn(y, y, z * z));
        return code != own ? (__float_as_uint(square) & ~(CODES - 1u)) | code : KITH_NO_KEY;
    }

    /** Test a chunk of the candidates that wait, by the sign of |c|^2 - 2 q . c + offset.
     *  @param first  its first candidate
     *  @return the hits as a bit mask: the chunk's first candidate has the highest bit */
    __device__ __forceinline__ uint32_t test_chunk(int first) const
    {
        const float4 *const point = memory->point + first;
        const float a[3] = {-2 * q[0], -2 * q[1], -2 * q[2]};
        uint32_t hits = 0;
#pragma unroll 8
        for (int c = 0; c < CHUNK; c++) {
            const float4 p = point[c];
            const float sum = __fmaf_rn(a[2], p.z,
                                        __fmaf_rn(a[1], p.y, __fmaf_rn(a[0], p.x, p.w + offset)));
            hits = append_sign(hits, sum);
        }
        return hits;
    }

    /** Test some chunks of the candidates that wait, and insert the hits.
     *  @param end  number of candidates to test: a multiple of CHUNK, MASKS * CHUNK at most */
    __device__ __forceinline__ void test_chunks(int end)
    {
        uint32_t hits[MASKS] = {0}; /* masks of the chunks, from the last one back */
#pragma unroll 1
        for (int first = 0; first < end; first += CHUNK) {
#pragma unroll
            for (int c = MASKS - 1; c > 0; c--) {
                hits[c] = hits[c - 1];
            }
            hits[0] = test_chunk(first);
        }
        int chunk = end - CHUNK; /* to which hits[0] belongs */
        while (which_lanes(has_hits(hits))) {
            uint32_t batch[BATCH];
#pragma unroll
            for (int e = 0; e < BATCH; e++) {
                if (hits[0] == 0) {
#pragma unroll
                    for (int c = 0; c + 1 < MASKS; c++) {
                        hits[c] = hits[c + 1];
                    }
                    hits[MASKS - 1] = 0;
                    chunk -= CHUNK;
                }
                const bool some = hits[0] != 0;
                const int c = __clz((int)hits[0]) % CHUNK; /* __clz(0) is 32 */
                const uint32_t one = key_of(some ? chunk + c : 0);
                hits[0] &= 0x7fffffffu >> c;
                batch[e] = some ? one : KITH_NO_KEY;
            }
            merge(batch);
        }
        note_threshold();
    }

    /** Return true when there are hits in one of the chunks. */
    static __device__ __forceinline__ bool has_hits(const uint32_t hits[MASKS])
    {
        uint32_t any = 0;
#pragma unroll
        for (int c = 0; c < MASKS; c++) {
            any |= hits[c];
        }
        return any != 0;
    }

    /** Test the candidates that wait.
     *  @param all_of_them  true: the last chunk is padded with points that are no hits; false: the
     *                      last candidates, which do not fill a chunk, go on waiting */
    __device__ __forceinline__ void test_waiting(bool all_of_them)
    {
        const int end = (waiting + (all_of_them ? CHUNK - 1 : 0)) / CHUNK * CHUNK;
        for (int at = waiting + my_lane(); at < end; at += LANES) {
            memory->point[at] = make_float4(0, 0, 0, KITH_BEYOND);
        }
        sync_warp();
        test_chunks(end);
        waiting = max(waiting - end, 0);
        sync_warp();
        if (my_lane() < waiting) { /* fewer than CHUNK */
            memory->point[my_lane()] = memory->point[end + my_lane()];
            memory->code[my_lane()] = memory->code[end + my_lane()];
        }
        sync_warp();
    }

    /** Append the candidates of OWN leaves of the table to those that wait, but for those that are
     *  too far from the bounding box of the queries.
     *  @param entry  first entry of the table to read
     *  @param end    entries of the table; those from it on are not read */
    __device__ __forceinline__ void read_leaves(int entry, int end)
    {
        const record<real> *const records = (const record<real> *)all.tree.records;
        const int mine = entry + my_lane() / KITH_GPU_LEAF;
        const int leaf = memory->leaf[mine < end ? mine : entry] & ((1 << LEAF_BITS) - 1);
        const record<real> c = records[(int64_t)leaf * KITH_GPU_LEAF + my_lane() % KITH_GPU_LEAF];
        const real away[3] = {c.x - memory->centre[0], c.y - memory->centre[1],
                              c.z - memory->centre[2]};
        float at[3], gap2 = 0, square = 0;
#pragma unroll
        for (int m = 0; m < 3; m++) {
            at[m] = in_unit(away[m], memory->move[m]);
            const float gap = fmaxf(fabsf(at[m]) - memory->half[m], 0.0f);
            gap2 = __fmaf_rn(gap, gap, gap2);
            square = __fmaf_rn(at[m], at[m], square);
        }
        const bool near = mine < end && c.number >= 0 && gap2 <= widest * KITH_WIDER;
        const lanes_t which = which_lanes(near);
        if (near) {
            const int to = waiting + count_lanes(which & lanes_below(my_lane()));
            memory->point[to] = make_float4(at[0], at[1], at[2], square);
            memory->code[to] = (uint32_t)(entry * KITH_GPU_LEAF + my_lane());
        }
        waiting += count_lanes(which);
        sync_warp();
    }

    /** Return a component in the tree's unit, moved by an image's vector.
     *  @param away  component of a difference of positions [length]
     *  @param by    component of the image's vector, in the tree's unit */
    __device__ __forceinline__ float in_unit(float away, float by) const
    {
        return __fmaf_rn(away, memory->scale, by);
    }
    __device__ __forceinline__ float in_unit(double away, float by) const
    {
        return (float)(away * memory->unit.scale) + by;
    }

    /* -------------------------------------------------------------------------------- the tree */

    /** Return the bits of a lower bound on r^2 between the active particles and those of a node, in
     *  the tree's unit. @param node  its index in the arrays of the tree */
    __device__ __forceinline__ unsigned least_square(int64_t node) const
    {
        float sum = 0;
#pragma unroll
        for (int m = 0; m < 3; m++) {
            const float below = add_down(all.tree.bound[m * all.tree.nodes + node],
                                         -memory->at_hi[m]);
            const float above = add_up(all.tree.bound[(3 + m) * all.tree.nodes + node],
                                       -memory->at_lo[m]);
            const float gap = fmaxf(fmaxf(below, -above), 0.0f);
            sum = add_down(sum, mul_down(gap, gap));
        }
        return __float_as_uint(fmaxf(sum, 0.0f));
    }

    /** Return the leaves that are within reach of an active lane: a closer test than that of the
     *  bounds of all active lanes, for queries in places of different density.
     *  @param which  mask of the leaves to test: bit l for the leaf of lane l
     *  @param mine   number of the lane's leaf
     *  @return mask of those within reach, equal in all lanes */
    __device__ __forceinline__ lanes_t within_reach(lanes_t which, int32_t mine) const
    {
        const float rounding = (4 + fabsf(memory->move[0]) + fabsf(memory->move[1]) +
                                fabsf(memory->move[2])) /
                               (1 << 22); /* of coordinates, which are less than 4 */
        const float reach2 = active ? threshold() * KITH_WIDER : -1;
        float at[3];
        for (int m = 0; m < 3; m++) {
            at[m] = lower_bound(memory->unit, (double)r[m], m) - memory->move[m];
        }
        lanes_t kept = 0;
        for (lanes_t rest = which; rest; rest &= rest - 1) {
            const int lane = first_lane(rest);
            const int64_t leaf = from_lane(mine, lane);
            float sum = 0;
#pragma unroll
            for (int m = 0; m < 3; m++) {
                const float low = all.tree.bound[m * all.tree.nodes + leaf];
                const float high = all.tree.bound[(3 + m) * all.tree.nodes + leaf];
                const float gap = fmaxf(fmaxf(low - at[m], at[m] - high) - rounding, 0.0f);
                sum = __fmaf_rn(gap, gap, sum);
            }
            kept |= which_lanes(sum <= reach2) ? (lanes_t)1 << lane : 0;
        }
        return kept;
    }

    /** Begin a walk through the tree at its last level. */
    __device__ __forceinline__ void begin_tree()
    {
        n_later = 0;
        level = all.tree.levels - 1;
        opened = 0;
    }

    /** Append leaves to the table, with the number of the image.
     *  @param wanted  the lane's leaf, number `mine`, is wanted
     *  @param which   mask of the lanes whose leaf is wanted */
    __device__ __forceinline__ void append_leaves(bool wanted, lanes_t which, int32_t mine)
    {
        if (wanted) {
            memory->leaf[n_leaves + count_lanes(which & lanes_below(my_lane()))] =
                mine | (int32_t)((uint32_t)image << LEAF_BITS);
        }
        n_leaves += count_lanes(which);
        sync_warp();
    }

    /** Walk on to the next leaves within reach, and append them to the table: those below one node
     *  that are near (KITH_NEAR; all those within reach when few lanes are active), nearest node
     *  first, while others are noted at the end of the table; then those that were noted, unless
     *  they are out of reach by then. The walk is depth first: least2 has the nodes of each level
     *  that are still to be searched. Seeds are skipped, as they have been read.
     *  @return SOME: leaves were appended; NONE: there are no more; FULL: the table is full */
    __device__ __forceinline__ enum walked next_leaves()
    {
        const struct kith__gpu_tree &tree = all.tree;
        while (true) {
            bool valid, noted = false;
            int32_t mine;
            int64_t node;
            if (opened >= 0) { /* children of the node taken last, at first the last level's nodes
                                  */
                mine = opened + my_lane();
                valid = mine < tree.count[level];
                node = tree.first[level] + mine;
            } else if (level < tree.levels) { /* take the nearest node of this level, or go up */
                const unsigned bits = memory->least2[level][my_lane()];
                const unsigned least = min_lanes(bits);
                if (least > __float_as_uint(widest)) {
                    level++;
                    continue;
                }
                const int lane = first_lane(which_lanes(bits == least));
                opened = (memory->first[level] + lane) * LANES;
                if (my_lane() == lane) {
                    memory->least2[level][lane] = KITH_DONE;
                }
                level--;
                continue;
            } else if (n_later > 0) { /* the tree is done: leaves that were noted, a lane each */
                const int some = min(n_later, (int)LANES);
                valid = my_lane() < some;
                mine = memory->leaf[TABLE - n_later + (valid ? my_lane() : 0)];
                node = mine;
                noted = true;
                n_later -= some;
            } else {
                return NONE;
            }
            unsigned bits = valid ? least_square(node) : KITH_DONE;
            if (!noted && level > 0) {
                memory->least2[level][my_lane()] = bits;
                memory->first[level] = opened;
                opened = -1;
                sync_warp();
                continue;
            }
            bool wanted = bits <= __float_as_uint(widest);
            if (!noted) {
                const bool is_seed = image == 0 && mine >= seed && mine < seed_end;
                const bool near = bits <= __float_as_uint(widest * (few ? 1.0f : KITH_NEAR));
                bool later = wanted && !near && !is_seed;
                lanes_t which = which_lanes(later);
                if (crowded && which) {
                    which = within_reach(which, mine);
                    later = which >> my_lane() & 1;
                }
                wanted = near && !is_seed;
                if (n_leaves + n_later + count_lanes(which) + LANES > TABLE) {
                    return FULL; /* `opened` stays, so the next call begins with this node again */
                }
                n_later += count_lanes(which);
                if (later) {
                    memory->leaf[TABLE - n_later + count_lanes(which & lanes_below(my_lane()))] =
                        mine;
                }
                opened = -1;
                level++;
            }
            lanes_t which = which_lanes(wanted);
            if (crowded && which) {
                which = within_reach(which, mine);
                wanted = which >> my_lane() & 1;
            }
            if (which) {
                append_leaves(wanted, which, mine);
                return SOME;
            }
        }
    }

    /** Drop the leaves that were noted and are out of reach now. The others are moved to the end of
     *  the table.
     *  @return true when the table has room for one more step: LANES leaves to read, and LANES to
     *          note */
    __device__ __forceinline__ bool drop_later()
    {
        int kept = 0;
        for (int base = TABLE - LANES; base > TABLE - LANES - n_later; base -= LANES) {
            const bool valid = base + my_lane() >= TABLE - n_later;
            const int32_t mine = memory->leaf[valid ? base + my_lane() : TABLE - 1];
            bool keeps = valid && least_square(mine) <= __float_as_uint(widest);
            const lanes_t which = within_reach(which_lanes(keeps), mine);
            keeps = which >> my_lane() & 1;
            sync_warp();
            kept += count_lanes(which);
            if (keeps) {
                memory->leaf[TABLE - kept + count_lanes(which & lanes_below(my_lane()))] = mine;
            }
            sync_warp();
        }
        n_later = kept;
        return n_leaves + n_later + 2 * LANES <= TABLE;
    }

    /** Choose the seeds: leaves near the queries that hold enough candidates to fill the lists, so
     *  that most other leaves are skipped. In one set they are the leaves of the group's own
     *  particles and those around them along the curve, else those around the leaf that is found by
     *  descending to the nearest node at each level. Sets seed, seed_end, own, and the table. */
    __device__ __forceinline__ void choose_seeds()
    {
        const int64_t leaves = all.tree.count[0];
        const int64_t wanted = max((SEEDS - 1) / KITH_GPU_LEAF + 1, (int)OWN);
        int64_t first = group * OWN - (wanted - OWN) / 2;
        if (all.question.cross) {
            for (int l = all.tree.levels - 1; l >= 0; l--) {
                const int64_t below = l == all.tree.levels - 1 ? 0 : first * LANES;
                const int64_t child = below + my_lane();
                const unsigned bits = child < all.tree.count[l]
                                          ? least_square(all.tree.first[l] + child)
                                          : KITH_DONE;
                first = below + first_lane(which_lanes(bits == min_lanes(bits)));
            }
            first -= wanted / 2;
        }
        seed = (int32_t)max(min(first, leaves - wanted), (int64_t)0);
        seed_end = (int32_t)min(seed + wanted, leaves);
        own = all.question.cross ? KITH_NO_KEY
                                 : (uint32_t)((group * OWN - seed) * KITH_GPU_LEAF + my_lane());
        for (int at = my_lane(); at < seed_end - seed; at += LANES) {
            memory->leaf[at] = seed + at;
        }
        n_leaves = seed_end - seed;
        sync_warp();
    }

    /* ------------------------------------------------------------------------------ the images */

    /** Set the vector of image walk.shift, in move, at_lo and at_hi; its entry of `shift`; and
     *  boxes. */
    __device__ __forceinline__ void set_image()
    {
        const int32_t *const s = memory->walk.shift;
        const struct kith__lattice_d &box = all.question.box_d;
        for (int m = 0; m < 3; m++) {
            const double by = ((double)s[2] * box.row[2][m] + (double)s[1] * box.row[1][m] +
                               (double)s[0] * box.row[0][m]) *
                              memory->unit.scale;
            const bool none = by == 0;
            memory->move[m] = (float)by;
            memory->at_lo[m] = none ? memory->lo[m] : add_down(memory->lo[m], -float_up(by));
            memory->at_hi[m] = none ? memory->hi[m] : add_up(memory->hi[m], -float_down(by));
            boxes = max(boxes, abs(s[m]));
        }
        memory->shift[image] = kith__pack_shift(s);
    }

    /** Return true when an image other than the box itself may be within reach. A quick test before
     *  the first image, for boxes whose rows are along the axes: the candidates are between 0 and
     *  unit.size along each axis, and their images a row further. True for other boxes and after
     *  the first image: next_image tests them. */
    __device__ __forceinline__ bool may_have_images() const
    {
        const struct kith__lattice_d &box = all.question.box_d;
        const struct kith__gpu_unit &unit = memory->unit;
        if (all.question.period_sum == 0) {
            return false;
        }
        if (!box.orthorhombic || image > 0) {
            return true;
        }
        bool near = false;
        for (int k = 0; k < 3; k++) {
            /* times 1 + boxes, see kith__image_tolerance */
            const double tolerance = 2 * kith__image_tolerance(&all.question, &all.planes, k,
                                                               unit.origin, unit.size);
            const double above = (box.row[k][k] - tolerance) * unit.scale - (double)memory->hi[k];
            const double below = (box.row[k][k] - unit.size[k] - tolerance) * unit.scale +
                                 (double)memory->lo[k];
            const double least = fmin(above, below);
            near = near || (box.periodic[k] && !(least > 0 && least * least > (double)widest));
        }
        return near;
    }

    /** Go on to the next image. @return true when there is one within reach */
    __device__ __forceinline__ bool next_image()
    {
        struct image_walk walk = memory->walk;
        bool more = next_in_slab(&walk);
        if (!more) {
            more = find_slab(all, memory->unit, active, r, (double)widest, &walk);
            begin_slab(&walk);
        }
        keep_walk(walk);
        return more;
    }

    /** Store the state of the walk through the images in the warp's shared memory. */
    __device__ __forceinline__ void keep_walk(const struct image_walk &walk)
    {
        sync_warp();
        if (my_lane() == 0) {
            memory->walk = walk;
        }
        sync_warp();
    }

    /** Search all images within reach.
     *  @return true when done; false when there are too many candidates or images for a walk */
    __device__ __forceinline__ bool search_images()
    {
        const int enough = few ? CHUNK : CHUNKS * CHUNK;
        struct image_walk walk;
        begin_walk(&walk);
        keep_walk(walk);
        image = 0;
        boxes = 0;
        while (true) {
            set_image();
            begin_tree();
            sync_warp();
            enum walked found = SOME;
            while (found != NONE) {
                int entry = n_leaves;
                found = next_leaves();
                const int end = n_leaves;
                do {
                    if (entry < end) {
                        read_leaves(entry, end);
                        entry += OWN;
                    }
                    if (waiting >= enough || found != SOME) {
                        test_waiting(found != SOME);
                    }
                } while (entry < end);
                if (found == FULL && !drop_later()) {
                    return false;
                }
            }
            if (!may_have_images() || !next_image()) {
                return true;
            }
            image++;
            /* `begin` assumes no |S[k]| above IMAGES in the error bound of the cutoff */
            if (image == IMAGES || memory->walk.slab.boxes > IMAGES) {
                return false;
            }
        }
    }

    /** Choose the seeds, in the box itself, and insert their candidates, but for those beyond the
     *  cutoff. */
    __device__ __forceinline__ void search_seeds()
    {
        for (int m = 0; m < 3; m++) {
            memory->move[m] = 0;
            memory->at_lo[m] = memory->lo[m];
            memory->at_hi[m] = memory->hi[m];
        }
        sync_warp();
        choose_seeds();
        for (int entry = 0; entry < n_leaves; entry += OWN) {
            read_leaves(entry, n_leaves);
        }
        test_waiting(true); /* the threshold is still the cutoff, or KITH_UNLIMITED */
    }

    /* ------------------------------------------------------------------------------- the result */

    /** Make lanes active: set active and few, the bounds and the centre of their particles, q,
     *  farthest and the threshold. @param which  mask of the lanes */
    __device__ __forceinline__ void activate(lanes_t which)
    {
        active = which >> my_lane() & 1;
        few = count_lanes(which) <= LANES / 4;
        float largest = 0;
        for (int m = 0; m < 3; m++) {
            /* not negative, so that bits are ordered as the numbers are; + 0: not -0 */
            const float low = fmaxf(lower_bound(memory->unit, (double)r[m], m), 0.0f) + 0.0f;
            const float high = fmaxf(upper_bound(memory->unit, (double)r[m], m), 0.0f) + 0.0f;
            const float least = __uint_as_float(
                min_lanes(active ? __float_as_uint(low) : KITH_NO_KEY));
            const float greatest = __uint_as_float(max_lanes(active ? __float_as_uint(high) : 0));
            const real middle = (real)(memory->unit.origin[m] +
                                       0.5 * ((double)least + greatest) * memory->unit.inverse);
            q[m] = in_unit((real)(r[m] - middle), 0.0f);
            const float away = fabsf(q[m]);
            const float half = __uint_as_float(max_lanes(active ? __float_as_uint(away) : 0));
            memory->lo[m] = least;
            memory->hi[m] = greatest;
            memory->centre[m] = middle;
            /* the margin is for the rounding of `gap` in read_leaves */
            memory->half[m] = half * (1 + 1.0f / (1 << 20));
            largest = fmaxf(largest, away);
        }
        farthest = fmaxf(farthest, largest * largest);
        waiting = 0;
        note_threshold();
    }

    /** Empty the lists, and make lanes active. */
    __device__ __forceinline__ void begin(lanes_t which)
    {
#pragma unroll
        for (int e = 0; e < KEYS; e++) {
            key[e] = e < K - n ? 0 : KITH_NO_KEY;
        }
        most = KITH_UNLIMITED;
        farthest = 0;
        activate(which);
        if (all.question.cutoff > 0) {
            const double cutoff = (double)most_square() * memory->unit.scale * memory->unit.scale;
            boxes = all.question.period_sum > 0 ? IMAGES : 0; /* most of any image: error_bound */
            most = fminf(float_up(cutoff + error_bound(cutoff)) * KITH_WIDER, KITH_UNLIMITED);
            note_threshold();
        }
    }

    /** Return the largest r^2 of a neighbour that the cutoff permits. */
    __device__ __forceinline__ real most_square() const
    {
        const double cutoff = all.question.cutoff;
        return cutoff > 0 ? definition<real>::square((real)cutoff) : (real)INFINITY;
    }

    /** Return S of a key's candidate, packed. */
    __device__ __forceinline__ int32_t shift_of(uint32_t one) const
    {
        const int32_t entry = memory->leaf[one % CODES / KITH_GPU_LEAF];
        return memory->shift[(uint32_t)entry >> LEAF_BITS];
    }

    /** Return the neighbour of a key, with r^2 by the definition; an empty one when r^2 is more
     *  than the cutoff permits. */
    __device__ __forceinline__ neighbour<real> neighbour_of(uint32_t one) const
    {
        const int32_t entry = memory->leaf[one % CODES / KITH_GPU_LEAF];
        const int64_t leaf = entry & ((1 << LEAF_BITS) - 1);
        const record<real> c =
            ((const record<real> *)all.tree.records)[leaf * KITH_GPU_LEAF + one % KITH_GPU_LEAF];
        const uint32_t number = (uint32_t)entry >> LEAF_BITS;
        real square = square_of(c.x - r[0], c.y - r[1], c.z - r[2]);
        if (number > 0) {
            square = square_at<real>(all, r[0], r[1], r[2], c.x, c.y, c.z, memory->shift[number]);
        }
        return square <= most_square() ? neighbour<real>::make(square, (uint32_t)c.number)
                                       : neighbour<real>::make((real)INFINITY, KITH_EMPTY);
    }

    /** Return true when a neighbour comes before another one in the order (r^2, j, S).
     *  @param one, other            the neighbours
     *  @param one_key, other_key    their keys, which lead to S */
    __device__ __forceinline__ bool comes_before(const neighbour<real> &one, uint32_t one_key,
                                                 const neighbour<real> &other,
                                                 uint32_t other_key) const
    {
        return one.is_before(other) || (boxes > 0 && one.is_equal(other) && one.j() != KITH_EMPTY &&
                                        shift_of(one_key) < shift_of(other_key));
    }

    /** Sort the neighbours of the active lanes by the definition, and write them. They are decided
     *  when r^2 of the last one, with the error bound, is less than r^2 of the last key: candidates
     *  that are in no key are then farther away. When the last key is KITH_NO_KEY, all candidates
     *  within the cutoff have keys.
     *
     *  This runs once in a search. Its arrays are in local memory and its loops are not unrolled:
     *  unrolled, with all neighbours in registers, it took half of the kernel's registers and
     *  filled the instruction cache, so that the search itself waited for instructions.
     *  @return true when they were written; false when rounding errors may have changed which they
     *          are, for at least one lane */
    __device__ __forceinline__ bool finish()
    {
        neighbour<real> found[KEYS]; /* those from K - n on are used */
        uint32_t keys[KEYS];         /* key of each of them */
#pragma unroll
        for (int e = 0; e < KEYS; e++) {
            keys[e] = key[e];
        }
#pragma unroll 1
        for (int e = K - n; e < KEYS; e++) { /* insertion sort: the keys are nearly in order */
            const uint32_t one_key = keys[e];
            neighbour<real> one = neighbour<real>::make((real)INFINITY, KITH_EMPTY);
            if (active && one_key != KITH_NO_KEY) {
                one = neighbour_of(one_key);
            }
            int at = e;
            while (at > K - n && comes_before(one, one_key, found[at - 1], keys[at - 1])) {
                found[at] = found[at - 1];
                keys[at] = keys[at - 1];
                at--;
            }
            found[at] = one;
            keys[at] = one_key;
        }
        const uint32_t last = key[KEYS - 1];
        bool decided = true;
        if (active && last != KITH_NO_KEY) {
            const real furthest = found[K - 1].j() == KITH_EMPTY ? most_square()
                                                                 : found[K - 1].r2();
            const double square = (double)furthest * memory->unit.scale * memory->unit.scale;
            decided = square + error_bound(square) < (double)__uint_as_float(last & ~(CODES - 1u));
        }
        if (which_lanes(!decided)) {
            return false;
        }
        if (active) {
            write(found + K - n, keys + K - n);
        }
        return true;
    }

    /** Write the neighbours of the lane's particle: four at a time where the rows are aligned so.
     *  @param found  [n] the neighbours, sorted
     *  @param keys   [n] their keys */
    __device__ __forceinline__ void write(const neighbour<real> *found, const uint32_t *keys) const
    {
        const kith_nearest &out = all.out;
        const bool aligned = n % 4 == 0 && ((uintptr_t)out.j | (uintptr_t)out.distances) % 16 == 0;
        const int64_t first = row * out.k;
        int32_t count = 0;
#pragma unroll 1
        for (int e = 0; e < n; e += 4) {
            int32_t j[4];
            real distance[4];
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const neighbour<real> one = found[min(e + c, n - 1)];
                const bool some = one.j() != KITH_EMPTY;
                count += some && e + c < n;
                j[c] = some ? (int32_t)one.j() : -1;
                distance[c] = some ? square_root(one.r2()) : (real)INFINITY;
            }
            if (aligned) {
                store_four(out.j + first + e, j);
                if (out.distances) {
                    store_four((real *)out.distances + first + e, distance);
                }
                continue;
            }
#pragma unroll
            for (int c = 0; c < 4; c++) {
                if (e + c < n) {
                    out.j[first + e + c] = j[c];
                    if (out.distances) {
                        ((real *)out.distances)[first + e + c] = distance[c];
                    }
                }
            }
        }
        if (out.counts) {
            out.counts[row] = count;
        }
        if (out.shifts || out.vectors) {
            write_shifts(found, keys);
        }
    }

    /** Write the packed shifts of the lane's neighbours, to where write_images reads them.
     *  @param found  [n] the neighbours, sorted
     *  @param keys   [n] their keys */
    __device__ __forceinline__ void write_shifts(const neighbour<real> *found,
                                                 const uint32_t *keys) const
    {
        const kith_nearest &out = all.out;
#pragma unroll 1
        for (int e = 0; e < n; e++) {
            const int64_t at = 3 * (row * out.k + e);
            *(out.shifts ? out.shifts + at
                         : (int32_t *)((real *)out.vectors + at)) = found[e].j() != KITH_EMPTY
                                                                        ? shift_of(keys[e])
                                                                        : memory->shift[0];
        }
    }

    /** Choose lanes whose particles are near each other, compared with how far their lists reach
     *  (KITH_APART): for others, one walk would find all that lies between them. The ratio is
     *  halved until few enough lanes are chosen.
     *  @param which  lanes to choose from
     *  @param limit  most lanes to choose
     *  @return a mask of the lanes; at least one */
    __device__ __forceinline__ lanes_t choose_lanes(lanes_t which, int limit) const
    {
        const unsigned bits = which >> my_lane() & 1 ? __float_as_uint(threshold()) : KITH_NO_KEY;
        const unsigned least = min_lanes(bits);
        const int lane = first_lane(which_lanes(bits == least)); /* in the densest place */
        const float x = q[0] - from_lane(q[0], lane), y = q[1] - from_lane(q[1], lane),
                    z = q[2] - from_lane(q[2], lane);
        const float square = fmaxf(x * x + y * y + z * z, threshold());
        const bool some = which >> my_lane() & 1;
        lanes_t chosen;
        float ratio = KITH_APART;
        do {
            chosen = which_lanes(some &&
                                 (my_lane() == lane || square <= ratio * __uint_as_float(least)));
            ratio *= 0.5f;
        } while (count_lanes(chosen) > limit && ratio > 1e-3f);
        return count_lanes(chosen) > limit ? (lanes_t)1 << lane : chosen;
    }

    /** Search for particles of the warp, and write their rows. All LANES of them are searched for
     *  by one walk or not at all. A part of them, for which this has failed before, is divided
     *  further where needed: each walk is for the lanes that choose_lanes chooses, at most `limit`.
     *  @param left  mask of their lanes
     *  @return FOUND: all rows were written; UNDECIDED, TOO_FAR_APART: some rows may be missing */
    __device__ __forceinline__ enum searched search(lanes_t left)
    {
        const double scale = memory->unit.scale;
        const bool whole = count_lanes(left) > LANES / KITH_GPU_PARTS;
        if (!(memory->unit.longest * scale < 4) ||
            (sizeof(real) == sizeof(float) && !(scale < 1e30 && scale > 1e-30))) {
            return UNDECIDED; /* differences may be beyond the range of the precision */
        }
        int limit = LANES;
        crowded = !whole;
        left &= which_lanes(row >= 0);
        while (left) {
            begin(left);
            search_seeds();
            const lanes_t some = choose_lanes(left, limit);
            if (whole && some != left) {
                return TOO_FAR_APART;
            }
            if (some != left) {
                activate(some);
            }
            if (search_images()) {
                if (!finish()) {
                    return UNDECIDED;
                }
                left &= ~some;
                limit = min(2 * limit, (int)LANES);
            } else {
                limit = count_lanes(some) / 2;
                if (whole || limit == 0) {
                    return whole ? TOO_FAR_APART : UNDECIDED;
                }
            }
        }
        return FOUND;
    }
};

/** Return the thread blocks that a multiprocessor runs at once (__launch_bounds__): the more there
 *  are, the fewer registers has each thread for its keys. Measured on an H200.
 *  @param k  most neighbours of a particle */
static constexpr int blocks_of(int k)
{
    return k <= 8 ? 12 : 10;
}

/** Find the neighbours of LANES particles by each warp. Groups whose particles are too far apart
 *  are put on the list `hard`, and groups that the filter does not decide on the list `rest`.
 *  @tparam K      most neighbours of a particle
 *  @tparam PARTS  true: search the parts of the groups on the list `hard`, each by a warp; false:
 *                 search all groups */
template <typename real, int K, bool PARTS>
static __global__ void __launch_bounds__(THREADS, blocks_of(K))
    filter(const KITH_IN_PLACE struct kith__gpu_nearest all)
{
    __shared__ struct filter_memory<real> memory[THREADS / LANES];
    const int64_t warps = (int64_t)gridDim.x * (THREADS / LANES);
    int64_t at = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / LANES;
    if (!is_usable(all)) {
        return;
    }
    const int64_t end = PARTS ? (int64_t)KITH_GPU_PARTS * all.state->n_hard
                              : (all.question.a.n + LANES - 1) / LANES;
    for (; at < end && !is_stopped(all); at += warps) {
        const int64_t group = PARTS ? all.hard[at / KITH_GPU_PARTS] & ~LISTED : at;
        const int size = LANES / KITH_GPU_PARTS;
        const lanes_t whole = ~(lanes_t)0;
        const lanes_t part = (((lanes_t)1 << size) - 1) << at % KITH_GPU_PARTS * size;
        filter_search<real, K> s(all, group, &memory[my_warp()]);
        const enum searched ending = s.search(PARTS ? part : whole);
        if (my_lane() == 0 && ending == UNDECIDED) {
            const bool first = !PARTS || (atomicOr(&all.hard[at / KITH_GPU_PARTS], (int)LISTED) &
                                          LISTED) == 0; /* a group is listed once */
            if (first) {
                all.rest[atomicAdd(&all.state->n_rest, 1)] = (int32_t)group;
            }
        } else if (my_lane() == 0 && ending == TOO_FAR_APART) {
            all.hard[atomicAdd(&all.state->n_hard, 1)] = (int32_t)group;
        }
        sync_warp();
    }
}

/** Launch the search of all groups, and that of parts of some. */
template <typename real, int K>
static void launch_filter(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    const int64_t most = PART_BLOCKS;
    const int64_t blocks = (all->question.a.n + THREADS - 1) / THREADS;
    const int64_t parts = KITH_GPU_PARTS * blocks;
    KITH_LAUNCH((filter<real, K, false>), blocks, THREADS, stream, *all);
    KITH_LAUNCH((filter<real, K, true>), parts < most ? parts : most, THREADS, stream, *all);
}

/** Launch the filter with lists of at least k neighbours. */
template <typename real>
static gpuError_t launch(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    if (all->out.k <= 8) {
        launch_filter<real, 8>(all, stream);
    } else if (all->out.k <= 16) {
        launch_filter<real, 16>(all, stream);
    } else {
        launch_filter<real, 32>(all, stream);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_nearest_filter(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    return all->question.precision == KITH_FLOAT ? launch<float>(all, stream)
                                                 : launch<double>(all, stream);
}
