/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations of the sweeps over a grid (gpu_sweep.cuh) and over a batch (batch_sweep.cuh) that work
 * by rows, the pairs of one query particle. A sweep gives a mask of query particles for each
 * candidate; the transposed masks of 32 candidates are one word for each query particle, whose bits
 * are its hits among them (transpose_lanes).
 *
 * A list is written from packets. A warp collects words of an i-cluster in a packet in shared
 * memory. When the packet is full, or the i-cluster ends, it lists the hits of all rows, row after
 * row; then consecutive lanes write consecutive pairs (coalesced), and all lanes have work.
 *
 * The rows of a KITH_MATRIX list have room for `width` hits: further ones are counted alone. A row
 * that will be sorted keeps its first hits in the order of the sort: each further hit replaces the
 * last one, if it comes before it.
 *
 * Cluster, the type of an i-cluster, has the members
 *     coordinate     the type of coordinates, float or double
 *     lane, n        number of this lane; number of query particles
 *     begin          slot of the first query particle in set a; the others follow
 *     shared->id     [n] the caller's index of each query particle
 * and overloads of
 *     set_a(cluster), set_b(cluster)    the sets of particles
 *     images_of(cluster)                whether images are corrected for wrapping
 *     upper_mask(cluster, j, shift)     query particles that have the pair in a half list
 *     separation(cluster, i, slot, shift, d)    r^2 of a pair, by the definition
 *     question_of(cluster), box_of(cluster)     the question and the box
 * which extras.cuh has for the sweep over a grid, and pairs_batch.cu for the sweep over a batch.
 */
#ifndef KITH_GPU_PACKET_CUH
#define KITH_GPU_PACKET_CUH

#include "extras.cuh"

enum {
    PACKET_ROWS = 32,            /**< most query particles of an i-cluster */
    PACKET_DEEP = 2,             /**< candidates in each lane at a time, as in both sweeps */
    PACKET_GROUPS = 256 / LANES, /**< most candidates of each lane in a packet */
    /** Most candidates in a packet. */
    PACKET_CANDIDATES = PACKET_GROUPS * LANES,
    PACKET_HITS = PACKET_ROWS * PACKET_DEEP * LANES /**< most hits: those of one take() fit */
};

/** Operation: count the hits of each particle, from a sweep that finds pairs from both ends; with
 *  UPPER those of a half list. */
template <bool UPPER> struct count_rows {
    struct shared {
    };
    int64_t *counts; /**< [a.n] the counts, by the caller's index; those of a particle that has no
                          candidates may not be set */
    int32_t hits;    /**< hits of query particle number lane % PACKET_ROWS of the i-cluster */

    template <class Cluster> __device__ bool begin(const Cluster &, shared *)
    {
        hits = 0;
        return true;
    }
    template <class Cluster, class Candidate>
    __device__ __forceinline__ void take(const Cluster &c, shared *,
                                         const Candidate at[PACKET_DEEP],
                                         const uint32_t found[PACKET_DEEP])
    {
#pragma unroll
        for (int d = 0; d < PACKET_DEEP; d++) {
            uint32_t mask = found[d];
            if (UPPER && mask) {
                mask &= upper_mask(c, set_b(c).id[at[d].slot], at[d].shift);
            }
            hits += __popc(transpose_lanes(mask, c.lane));
        }
    }
    template <class Cluster> __device__ void end(const Cluster &c, shared *)
    {
        /* of 64 lanes (HIP), lanes l and l + 32 have hits of row l */
        hits += LANES == PACKET_ROWS ? 0 : from_partner(hits, PACKET_ROWS);
        if (c.lane < c.n) {
            counts[c.shared->id[c.lane]] = hits;
        }
    }
};

/** Where the indices of a query particle's pairs are written. Hit h of the packet becomes pair
 *  base + h of the arrays; base may be negative. Aligned for one load of 16 bytes. */
struct __align__(16) packet_row
{
    int64_t base; /**< index of its first pair in the arrays less that of its first hit in the
                       packet */
    int32_t *j;   /**< list.j + base */
};

/** Where the images of a query particle's pairs are written. Aligned for one load of 16 bytes. */
struct __align__(16) packet_images
{
    int32_t *shifts; /**< list.shifts + 3 base */
    int32_t wrap;    /**< kith__gpu_set.wrap of the query particle, added to packed images */
    int32_t limit;   /**< copy of packet::limit of the query particle; set for a matrix */
};

/** What write_list writes: a template parameter. */
enum kith__rows {
    ROWS_OF_LIST,   /**< a list with offsets, or one to which pairs are appended */
    ROWS_OF_MATRIX, /**< rows of a KITH_MATRIX list */
    ROWS_TO_SORT    /**< rows of a KITH_MATRIX list that are sorted afterwards */
};

/** A packet of hits, in shared memory, one for each warp. write_list is slow where its member
 *  `slow` is true. */
template <bool EXTRAS, kith__rows ROWS> struct packet {
    /** Bit b of word[g][l] is set when candidate g * LANES + l / 32 * 32 + b is a hit of query
     *  particle l % 32. */
    uint32_t word[PACKET_GROUPS][LANES];
    int32_t who[PACKET_CANDIDATES]; /**< index of each candidate in the caller's order; its slot in
                                         set b when write_list is slow */
    int32_t
        shift[EXTRAS ? PACKET_CANDIDATES : 1]; /**< image of each candidate, packed; corrected for
                                                    the wrapping of the candidate unless
                                                    write_list is slow */
    struct packet_row row[PACKET_ROWS];        /**< where the pairs of each query particle go */
    struct packet_images images[EXTRAS ? PACKET_ROWS : 1]; /**< where the images of its pairs go */
    uint16_t hit[PACKET_HITS]; /**< the hits, row after row: number of the query particle *
                                    PACKET_CANDIDATES + number of the candidate */

    /** Of a matrix: index in `hit` behind the last hit that fits in the row of each query
     *  particle. */
    uint16_t limit[ROWS == ROWS_OF_LIST ? 1 : PACKET_ROWS];
};

/** Members of write_list for the rows of a matrix; none for a list, as an empty base class takes no
 *  registers. */
template <kith__rows ROWS> struct matrix_rows {
    struct kith__gpu_matrix matrix; /**< the rows; its list is that of write_list */
    int64_t from; /**< index in the arrays of the first entry of the row of query particle number
                       `lane`; -1: it is not among the rows that are written */
};
template <> struct matrix_rows<ROWS_OF_LIST> {
};

/** Replace the last entry of a full row, in the order of the sort, by a hit if that comes before
 *  it. The whole warp must call. Not inlined, as only rows that overflow need it.
 *  @param list   the arrays
 *  @param begin  index in the arrays of the first entry of the row
 *  @param width  entries of the row
 *  @param key    j above the packed image of the hit, as in row_in_list
 *  @param lane   number of this lane */
template <typename real>
static __device__ __noinline__ void replace_last(const struct kith__gpu_list &list, int64_t begin,
                                                 int64_t width, uint64_t key, int lane)
{
    const struct row_in_list<real> row = {
        &list, begin
    };
    uint64_t last = 0; /* largest key, and its entry: of this lane's entries, then of all */
    int64_t at = -1;
    for (int64_t e = lane; e < width; e += LANES) {
        const uint64_t one = row.get(e);
        if (one >= last) {
            last = one;
            at = e;
        }
    }
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        const uint64_t other = from_partner(last, bits);
        const int64_t other_at = from_partner(at, bits);
        if (other > last || (other == last && other_at > at)) {
            last = other;
            at = other_at;
        }
    }
    if (lane == 0 && key < last) {
        row.set(at, key);
    }
    sync_warp();
}

/** Operation: write a list, from a sweep that finds pairs from both ends; with UPPER a half list.
 *  ROWS_OF_LIST: with offsets the list is written by rows, without each warp appends the pairs that
 *  it finds. Else the rows of a matrix are written. EXTRAS: the list has distances, vectors or
 *  images. */
template <bool UPPER, bool EXTRAS, kith__rows ROWS = ROWS_OF_LIST>
struct write_list : matrix_rows<ROWS> {
    typedef struct packet<EXTRAS, ROWS> shared;
    enum { MATRIX = ROWS != ROWS_OF_LIST };
    struct kith__gpu_list list; /**< the part of the list that is written */
    const int64_t *offsets;     /**< [a.n + 1] first pair of each row; NULL: pairs are appended */
    unsigned long long *total;  /**< number of pairs appended so far; used when offsets is NULL */
    int64_t at;                 /**< index in the arrays of the next pair of query particle number
                                     `lane` */
    int n;                      /**< hits in the packet */
    int groups;                 /**< candidates of each lane in the packet */
    bool wrapped;               /**< images are corrected for wrapping */
    bool slow; /**< write pairs one by one, by write() instead of write_lanes(): extras are computed
                    by the definition or kept for later, corrected images cannot be packed, or the
                    arrays may not hold all rows */

    /** Begin the rows of an i-cluster in a matrix: set `from` and `at`.
     *  @return false when none of them is written */
    template <class Cluster> __device__ __forceinline__ bool begin_rows(const Cluster &c)
    {
        this->from = -1;
        if (c.lane < c.n) {
            const int32_t i = c.shared->id[c.lane];
            const bool inside = this->matrix.first <= i && i < this->matrix.last;
            this->from = inside ? (i - this->matrix.first) * this->matrix.width : -1;
            at = inside ? this->from : 0;
        }
        return which_lanes(this->from >= 0) != 0;
    }

    /** Begin an i-cluster. @return false when the arrays hold none of its pairs */
    template <class Cluster> __device__ bool begin(const Cluster &c, shared *packed)
    {
        const struct images images = images_of(c);
        [[maybe_unused]] int64_t end = 0;
        n = groups = 0;
        at = 0;
        wrapped = EXTRAS && images.wrapped;
        slow = EXTRAS &&
               (has_vector(list) || list.extras_later || (images.wrapped && !images.pack));
        if (EXTRAS && c.lane < c.n) {
            packed->images[c.lane].wrap = wrapped ? set_a(c).wrap[c.begin + c.lane] : 0;
        }
        if constexpr (MATRIX) {
            return begin_rows(c);
        } else {
            if (offsets && c.lane < c.n) {
                const int32_t i = c.shared->id[c.lane];
                at = offsets[i] - list.base;
                end = offsets[i + 1] - list.base;
            }
            slow = slow || (offsets && which_lanes(at < 0 || end > list.capacity) != 0);
            return !offsets || which_lanes(end > at && at < list.capacity && end > 0) != 0;
        }
    }

    /** Add the hits of this lane's candidates to the packet, after writing it if it lacks room. */
    template <class Cluster, class Candidate>
    __device__ __forceinline__ void take(const Cluster &c, shared *packed,
                                         const Candidate candidate[PACKET_DEEP],
                                         const uint32_t found[PACKET_DEEP])
    {
        uint32_t mask[PACKET_DEEP];
        int32_t who[PACKET_DEEP];
        int32_t shift[PACKET_DEEP];
        uint32_t hits = 0;
#pragma unroll
        for (int d = 0; d < PACKET_DEEP; d++) {
            const int32_t slot = candidate[d].slot;
            mask[d] = found[d];
            who[d] = slot;
            shift[d] = candidate[d].shift;
            if (found[d] && (UPPER || !slow)) {
                const int32_t j = set_b(c).id[slot];
                if (UPPER) {
                    mask[d] &= upper_mask(c, j, shift[d]);
                }
                who[d] = slow ? slot : j;
                if (EXTRAS && wrapped && !slow) {
                    shift[d] -= set_b(c).wrap[slot];
                }
            }
            hits += (uint32_t)__popc(mask[d]);
        }
        hits = add_lanes(hits);
        if (n + (int)hits > PACKET_HITS || groups + PACKET_DEEP > PACKET_GROUPS) {
            flush(c, packed);
        }
#pragma unroll
        for (int d = 0; d < PACKET_DEEP; d++) {
            const int number = (groups + d) * LANES + c.lane;
            packed->word[groups + d][c.lane] = transpose_lanes(mask[d], c.lane);
            packed->who[number] = who[d];
            if (EXTRAS) {
                packed->shift[number] = shift[d];
            }
        }
        n += (int)hits;
        groups += PACKET_DEEP;
    }

    /** End an i-cluster: write the packet, and the counts of a matrix. */
    template <class Cluster> __device__ void end(const Cluster &c, shared *packed)
    {
        if (n > 0) {
            flush(c, packed);
        }
        if constexpr (MATRIX) {
            if (c.lane < c.n && this->from >= 0) {
                this->matrix.counts[c.shared->id[c.lane]] = at - this->from;
            }
        }
    }

    /** Set how many hits of the packet fit in this lane's row.
     *  @param row     number of the query particle
     *  @param before  index in packet::hit of its first hit
     *  @param own     number of its hits in the packet */
    __device__ __forceinline__ void limit_row(shared *packed, int row, int before, int own)
    {
        const int64_t room = this->from < 0 ? 0 : this->matrix.width - (at - this->from);
        const int limit = before + (room >= own ? own : room > 0 ? (int)room : 0);
        packed->limit[row] = (uint16_t)limit;
        if (EXTRAS) {
            packed->images[row].limit = limit;
        }
    }

    /** Return true when hit h of the packet, of query particle k, fits in its row; always in a
     *  list. */
    __device__ __forceinline__ bool fits(const shared *packed, unsigned k, int h) const
    {
        if constexpr (MATRIX) {
            return h < packed->limit[k];
        }
        return true;
    }

    /** For rows that are full: of their entries and of the hits of the packet that did not fit,
     *  keep those that come first in the order of the sort. Called after the packet was written. */
    template <class Cluster>
    __device__ __forceinline__ void keep_first(const Cluster &c, const shared *packed)
    {
        const bool full = this->from >= 0 && at - this->from > this->matrix.width;
        if (this->matrix.width == 0 || which_lanes(full) == 0) {
            return;
        }
#pragma unroll 1
        for (int first = 0; first < n; first += LANES) {
            const int h = first + c.lane;
            const int k = h < n ? packed->hit[h] / PACKET_CANDIDATES : 0;
            const int32_t i = c.shared->id[k];
            lanes_t late = which_lanes(h < n && h >= packed->limit[k] && this->matrix.first <= i &&
                                       i < this->matrix.last);
            for (; late; late &= late - 1) {
                const unsigned hit = packed->hit[first + first_lane(late)];
                const int number = (int)(hit % PACKET_CANDIDATES);
                const int32_t who = packed->who[number];
                const uint32_t j = (uint32_t)(slow ? set_b(c).id[who] : who);
                const uint64_t key = (uint64_t)j << 32 |
                                     (EXTRAS ? (uint32_t)packed->shift[number] : 0);
                const int64_t row = c.shared->id[hit / PACKET_CANDIDATES] - this->matrix.first;
                replace_last<typename Cluster::coordinate>(list, row * this->matrix.width,
                                                           this->matrix.width, key, c.lane);
            }
        }
    }

    /** List the hits of the packet, row after row: set packet::hit, row, images and limit, and
     *  advance `at`. Without offsets, lane 0 reserves a range of the list for all hits of the
     *  packet. */
    __device__ __forceinline__ void list_hits(int lane, shared *packed)
    {
        const int row = lane % PACKET_ROWS;
        const bool is_row = LANES == PACKET_ROWS || lane < PACKET_ROWS;
        int own = 0;
        for (int g = 0; g < groups; g++) {
            own += __popc(packed->word[g][lane]);
        }
        /* of 64 lanes (HIP), lanes l and l + 32 have hits of row l: `own` and `other` */
        const int other = LANES == PACKET_ROWS ? 0 : from_partner(own, PACKET_ROWS);
        const int before = scan_lanes(is_row ? own + other : 0, lane) - own - other;
        int to = from_lane(before, row) + (is_row ? 0 : other);
        unsigned long long taken = 0;
        if (!MATRIX && !offsets && lane == 0) {
            taken = atomicAdd(total, (unsigned long long)n);
        }
        taken = from_lane(taken, 0);
        if (is_row) {
            const int64_t base = MATRIX || offsets ? at - before : (int64_t)taken;
            if constexpr (MATRIX) {
                limit_row(packed, row, before, own + other);
            }
            packed->row[row] = {base, list.j + base};
            if (EXTRAS) {
                packed->images[row].shifts = list.shifts + 3 * base;
            }
            at += own + other;
        }
        for (int g = 0; g < groups; g++) {
            const int first = row * PACKET_CANDIDATES + g * LANES + lane - row;
            uint32_t left = packed->word[g][lane];
            to += __popc(left);
            for (uint16_t *at_hit = &packed->hit[to]; left;) { /* from the last to the first */
                const int bit = 31 - __clz((int)left);
                *--at_hit = (uint16_t)(first + bit);
                left ^= 1u << bit;
            }
        }
    }

    /** Write hit h of the packet, where the arrays have room for it. For `slow` packets, in which
     *  packet::who has slots. */
    template <class Cluster>
    __device__ __forceinline__ void write(const Cluster &c, const shared *packed, int h)
    {
        const int number = packed->hit[h] % PACKET_CANDIDATES;
        const int k = packed->hit[h] / PACKET_CANDIDATES;
        const int64_t p = packed->row[k].base + h;
        if (!fits(packed, (unsigned)k, h) || (uint64_t)p >= (uint64_t)list.capacity) {
            return;
        }
        const int32_t slot = packed->who[number];
        const int32_t i = c.shared->id[k];
        const int32_t j = set_b(c).id[slot];
        list.j[p] = j;
        if (list.i) {
            list.i[p] = i;
        }
        if (EXTRAS && list.extras_later) {
            *kept_shift<typename Cluster::coordinate>(list, p) = packed->shift[number];
        } else if (EXTRAS) {
            write_extras(c, list, p, c.begin + k, slot, packed->shift[number], i, j, false);
        }
    }

    /** Write hits [first, first + LANES) of a packet that is not `slow`, of which only indices and
     *  images are wanted: each lane writes the indices of a pair, and three numbers of images,
     *  which may be of other pairs, so that consecutive lanes write consecutive numbers.
     *  @tparam ALL  all of these hits are before `end`
     *  @param end   hit behind the last that is written */
    template <bool ALL, class Cluster>
    __device__ __forceinline__ void write_lanes(const Cluster &c, const shared *packed, int first,
                                                int end)
    {
        const int h = first + c.lane;
        if (ALL || h < end) {
            const unsigned hit = packed->hit[h];
            if (fits(packed, hit / PACKET_CANDIDATES, h)) {
                int32_t *const to = packed->row[hit / PACKET_CANDIDATES].j + h;
                *to = packed->who[hit % PACKET_CANDIDATES];
                if (!MATRIX && list.i) {
                    /* i of the pair whose j is *to: one pointer serves for both arrays */
                    to[list.i - list.j] = c.shared->id[hit / PACKET_CANDIDATES];
                }
            }
        }
#pragma unroll
        for (int t = 0; t < 3 && EXTRAS; t++) {
            const int e = t * LANES + c.lane; /* a number of the image of pair first + e / 3 */
            if (ALL || first + e / 3 < end) {
                const unsigned hit = packed->hit[first + e / 3];
                const struct packet_images row = packed->images[hit / PACKET_CANDIDATES];
                const int32_t shift = packed->shift[hit % PACKET_CANDIDATES] + row.wrap;
                if (!MATRIX || first + e / 3 < row.limit) {
                    /* component e % 3 alone of what kith__unpack_shift computes */
                    row.shifts[3 * first + e] = (shift >> 10 * (e % 3) & 1023) - 512;
                }
            }
        }
    }

    /** Write the first `end` hits of the packet, of which only indices and images are wanted. */
    template <class Cluster>
    __device__ __forceinline__ void write_fast(const Cluster &c, const shared *packed, int end)
    {
        int first = 0;
#pragma unroll 2
        for (; first + LANES <= end; first += LANES) {
            write_lanes<true>(c, packed, first, end);
        }
        if (first < end) {
            write_lanes<false>(c, packed, first, end);
        }
    }

    /** Write the packet, as far as the arrays have room, and empty it. */
    template <class Cluster> __device__ __forceinline__ void flush(const Cluster &c, shared *packed)
    {
        sync_warp();
        list_hits(c.lane, packed);
        sync_warp();
        if (slow) {
#pragma unroll 1
            for (int h = c.lane; h < n; h += LANES) {
                write(c, packed, h);
            }
        } else {
            const int64_t room = MATRIX || offsets ? n : list.capacity - packed->row[0].base;
            write_fast(c, packed, room >= n ? n : room > 0 ? (int)room : 0);
        }
        sync_warp();
        if constexpr (ROWS == ROWS_TO_SORT) {
            keep_first(c, packed);
        }
        n = groups = 0;
    }
};

/** Return the operation that writes a list; the parameters are its first members, and the others
 *  are set by begin(). */
template <bool UPPER, bool EXTRAS>
static struct write_list<UPPER, EXTRAS> write_list_to(const struct kith__gpu_list &list,
                                                      const int64_t *offsets,
                                                      unsigned long long *total) {
    return {{}, list, offsets, total, 0, 0, 0, false, false};
}

/** Return the operation that writes the rows of a matrix. */
template <bool EXTRAS, kith__rows ROWS>
static struct write_list<false, EXTRAS, ROWS> write_rows_to(const struct kith__gpu_matrix &matrix) {
    return {{matrix, -1}, matrix.list, NULL, NULL, 0, 0, 0, false, false};
}

#endif
