/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels of lists that are kept on a GPU. At an update: read the particles and find how far
 * they moved, decide whether the list can be made from the kept pairs, find the pairs among them,
 * write these; in the last two each lane takes a candidate, whatever row it belongs to. At a
 * rebuild: store the pairs of the search as the kept pairs (adopt). Candidates that the bands do
 * not decide are tested by the definition of a pair, so that the list has the bits of a search.
 */
#include "verlet_gpu.h"

#include "engine/gpu/gpu_bounds.cuh"
#include "engine/gpu/record.cuh"
#include "pairs/gpu/extras.cuh"

enum {
    THREADS = 256,           /**< threads of a thread block */
    WARPS = THREADS / LANES, /**< warps of a thread block, each of which takes a row or a word */
    LOAD_BLOCKS = 512,       /**< most thread blocks that read particles: each warp adds its results
                                  by atomic operations */
    ROW_BLOCKS = 65536       /**< most thread blocks that take rows or words */
};

/** Return the number of thread blocks for n items, 1 to `most`.
 *  @param each  items that a thread block takes at a time */
static int64_t blocks_for(int64_t n, int64_t each, int64_t most)
{
    const int64_t blocks = (n + each - 1) / each;
    return blocks < 1 ? 1 : blocks < most ? blocks : most;
}

/* ----------------------------------------------------------------------------------- particles */

/** What a thread finds out about its particles: largest values. */
struct moves {
    double square; /**< longest displacement, squared [length^2] */
    double size;   /**< kith__verlet_displacement's `size` [length] */
    bool lost;     /**< a particle has a |v_k| > KITH_VERLET_MOST_TURN */
};

/** Find the displacement of a particle (verlet.h).
 *  @param x            wrapped position now [length]
 *  @param x0           wrapped position at the reference [length]
 *  @param[in,out] all  the largest values of all particles of the thread
 *  @return v, packed without the constant of kith__pack_shift, so that it can be added to packed
 *          shifts; 0 where a component is too large */
static __device__ int32_t move_particle(const struct kith__verlet_map &map, const double x[3],
                                        const double x0[3], struct moves *all)
{
    double u[3];
    double turn[3];
    double size = map.norm_by;
    bool lost = false;
    for (int m = 0; m < 3; m++) {
        const double moved = x0[0] * map.a[0][m] + x0[1] * map.a[1][m] + x0[2] * map.a[2][m];
        u[m] = x[m] - moved - map.by[m];
        size += fabs(x[m]) + map.norm_a * fabs(x0[m]);
    }
    for (int k = 0; k < 3; k++) {
        turn[k] = rint(map.inverse[k][0] * u[0] + map.inverse[k][1] * u[1] +
                       map.inverse[k][2] * u[2]);
    }
    for (int k = 0; k < 3; k++) {
        lost = lost || !(fabs(turn[k]) <= KITH_VERLET_MOST_TURN);
        size += fabs(turn[k]) * map.norm_row[k];
        for (int m = 0; m < 3; m++) {
            u[m] -= turn[k] * map.row[k][m];
        }
    }
    all->square = fmax(all->square, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    all->size = fmax(all->size, size);
    all->lost = all->lost || lost;
    return lost ? 0 : (int32_t)turn[0] + (int32_t)turn[1] * 1024 + (int32_t)turn[2] * 1048576;
}

/** Add what a warp found out to *found. All its lanes must call. */
static __device__ void add_found(struct kith__bounds bounds, struct moves mine,
                                 struct kith__verlet_found *found)
{
    struct kith__gpu_bounds warp;
    bounds_warp(bounds, &warp);
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        mine.square = fmax(mine.square, from_partner(mine.square, bits));
        mine.size = fmax(mine.size, from_partner(mine.size, bits));
    }
    const bool lost = which_lanes(mine.lost) != 0;
    if (my_lane() > 0) {
        return;
    }
    /* maxima of doubles by their bits: kith__verlet_found */
    atomicMax(&found->square, (unsigned long long)__double_as_longlong(mine.square));
    atomicMax(&found->size, (unsigned long long)__double_as_longlong(mine.size));
    if (warp.bad) {
        atomicMax(&found->bad, warp.bad);
    }
    if (warp.far) {
        atomicMax(&found->far, warp.far);
    }
    if (lost) {
        atomicMax(&found->lost, 1);
    }
    if (warp.wrapped) {
        atomicMax(&found->wrapped, 1);
    }
}

/** Read, wrap and test the particles, and find their displacements where all.keep. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    load_particles(const KITH_IN_PLACE struct kith__verlet_particles all,
                   struct kith__verlet_found *found)
{
    typedef definition<real> def;
    const struct kith__question &q = all.question;
    struct kith__bounds bounds = empty_bounds();
    struct moves moves = {0, 0, false};
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; p < q.a.n; p += step) {
        real r[3];
        int32_t image[3];
        const int fits = def::load(def::box(q), q.a, q.dim, p, r, image);
        def::bounds_add(def::box(q), p, r, fits, image, &bounds);
        struct record<real> now = {
            r[0], r[1], r[2], 0
        };
        if (all.keep) {
            const struct record<real> from = ((const struct record<real> *)all.reference)[p];
            const double x[3] = {(double)r[0], (double)r[1], (double)r[2]};
            const double x0[3] = {(double)from.x, (double)from.y, (double)from.z};
            now.number = move_particle(all.map, x, x0, &moves);
        }
        ((struct record<real> *)all.now)[p] = now;
    }
    add_found(bounds, moves, found);
}

gpuError_t kith__verlet_load_particles(const struct kith__verlet_particles *particles,
                                       struct kith__verlet_found *found, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(particles->question.a.n, THREADS, LOAD_BLOCKS);
    if (particles->question.precision == KITH_FLOAT) {
        KITH_LAUNCH(load_particles<float>, blocks, THREADS, stream, *particles, found);
    } else {
        KITH_LAUNCH(load_particles<double>, blocks, THREADS, stream, *particles, found);
    }
    return gpuGetLastError();
}

/* ------------------------------------------------------------------------------------ decision */

/** Decide whether the list can be made from the kept pairs, by one thread: kith__verlet_decide. */
static __global__ void decide_update(const KITH_IN_PLACE struct kith__verlet_choice choice,
                                     struct kith__verlet_found *found)
{
    double displacement = 0;
    bool keep = true;
    if (!choice.fresh) {
        displacement = kith__verlet_displacement(&choice.map,
                                                 __longlong_as_double((long long)found->square),
                                                 __longlong_as_double((long long)found->size));
        displacement = found->lost ? (double)INFINITY : displacement;
        keep = !found->bad && !found->far && displacement <= choice.allowed;
        found->displacement = displacement;
    }
    kith__verlet_bands(&choice.limits, &choice.scale, keep ? displacement : 0, &found->inner,
                       &found->outer);
    if (choice.with_skin) {
        found->inner = found->outer = KITH_VERLET_LAST_BAND;
    }
    found->keep = keep;
}

gpuError_t kith__verlet_decide(const struct kith__verlet_choice *choice,
                               struct kith__verlet_found *found, gpuStream_t stream)
{
    KITH_LAUNCH(decide_update, 1, 1, stream, *choice, found);
    return gpuGetLastError();
}

/* ---------------------------------------------------------------------------------------- rows */

/** A candidate, relative to the particle of its row. */
template <typename real> struct beside {
    int32_t j;     /**< the other particle */
    int32_t shift; /**< shift S of the other particle's image now, packed */
    real d[3];     /**< vector to the other particle, by the definition [length] */
    real r2;       /**< square of d [length^2] */
};

/** Compute the separation of candidate c, at its shift now.
 *  @param ri  record of the particle of its row */
template <typename real>
static __device__ __forceinline__ struct beside<real> separate(const struct kith__verlet_rows &rows,
                                                               const struct record<real> &ri,
                                                               int64_t c) {
    typedef definition<real> def;
    struct beside<real> b;
    int32_t s[3];
    b.j = rows.j[c];
    b.shift = rows.shift[c];
    const struct record<real> rj = ((const struct record<real> *)rows.now)[b.j];
    if (rows.turned) {
        b.shift += (int32_t)ri.number - (int32_t)rj.number; /* S = S0 + v_i - v_j */
    }
    kith__unpack_shift(b.shift, s);
    const real from[3] = {ri.x, ri.y, ri.z};
    const real to[3] = {rj.x, rj.y, rj.z};
    b.r2 = def::separation(def::box(rows.question), from, to, s, b.d);
    return b;
}

/** Return the number of this warp among all warps of the kernel, from 0, and set *step to the
 *  number of all warps. */
static __device__ __forceinline__ int64_t
my_row(int64_t *step)
{
    *step = (int64_t)gridDim.x * WARPS;
    return (int64_t)blockIdx.x * WARPS + my_warp();
}

/** Return the square of the cutoff, as the definition rounds it. */
template <typename real>
static __device__ __forceinline__ real square_of_cutoff(const struct kith__question &q)
{
    return definition<real>::square((real)q.cutoff);
}

/** Set i, shift and band of the candidates that were searched, a warp for each row. Shifts between
 *  the caller's positions become those between wrapped ones. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    adopt(const KITH_IN_PLACE struct kith__verlet_rows rows,
          const KITH_IN_PLACE struct kith__verlet_scale scale, const int32_t *shifts, bool as_given,
          struct kith__verlet_found *found)
{
    typedef definition<real> def;
    const struct kith__question &q = rows.question;
    const bool correct = as_given && found->wrapped;
    const double each = 1 / scale.width;
    int32_t most = 0;
    int64_t step;
    for (int64_t i = my_row(&step); i < q.a.n; i += step) {
        const struct record<real> ri = ((const struct record<real> *)rows.now)[i];
        int32_t wi[3] = {0, 0, 0};
        if (correct) {
            wrapping_image(def::box(q), q, q.a, i, wi);
        }
        for (int64_t c = rows.offsets[i] + my_lane(); c < rows.offsets[i + 1]; c += LANES) {
            int32_t s[3];
            int32_t wj[3] = {0, 0, 0};
            if (correct) {
                wrapping_image(def::box(q), q, q.a, rows.j[c], wj);
            }
            for (int k = 0; k < 3; k++) {
                s[k] = shifts[3 * c + k] + wj[k] - wi[k];
                most = max(most, abs(s[k]));
            }
            rows.i[c] = (int32_t)i;
            rows.shift[c] = kith__pack_shift(s);
            const double r = sqrt((double)separate(rows, ri, c).r2);
            const double band = floor((r - scale.cutoff) * each);
            rows.band[c] = (int8_t)fmin(fmax(band, (double)KITH_VERLET_FIRST_BAND),
                                        (double)KITH_VERLET_LAST_BAND);
        }
    }
    most = (int32_t)max_lanes((uint32_t)most);
    if (my_lane() == 0 && most > 0) {
        atomicMax(&found->most, most);
    }
}

gpuError_t kith__verlet_adopt(const struct kith__verlet_rows *rows,
                              const struct kith__verlet_scale *scale, const int32_t *shifts,
                              bool as_given, struct kith__verlet_found *found, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(rows->question.a.n, WARPS, ROW_BLOCKS);
    if (rows->question.precision == KITH_FLOAT) {
        KITH_LAUNCH(adopt<float>, blocks, THREADS, stream, *rows, *scale, shifts, as_given, found);
    } else {
        KITH_LAUNCH(adopt<double>, blocks, THREADS, stream, *rows, *scale, shifts, as_given, found);
    }
    return gpuGetLastError();
}

int64_t kith__verlet_words(int64_t n)
{
    return n / LANES + 1;
}

/** Find the pairs of each word, and count them, a warp for each word. One count more,
 *  counts[words] = 0, is for the exclusive prefix sum, which makes it the number of all pairs. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    count_words(const KITH_IN_PLACE struct kith__verlet_rows rows,
                const struct kith__verlet_found *found, lanes_t *mask, int64_t *counts)
{
    const int64_t words = rows.n / LANES + 1;
    if (!found->keep) {
        return;
    }
    const int inner = found->inner;
    const int outer = found->outer;
    const real square = square_of_cutoff<real>(rows.question);
    int64_t step;
    for (int64_t w = my_row(&step); w <= words; w += step) {
        const int64_t c = w * LANES + my_lane();
        bool hit = false;
        if (c < rows.n) {
            const int band = rows.band[c];
            hit = band <= inner;
            if (!hit && band <= outer) {
                const struct record<real> ri = ((const struct record<real> *)rows.now)[rows.i[c]];
                hit = separate(rows, ri, c).r2 <= square;
            }
        }
        const lanes_t hits = which_lanes(hit);
        if (my_lane() == 0) {
            counts[w] = count_lanes(hits);
            if (w < words) {
                mask[w] = hits;
            }
        }
    }
}

gpuError_t kith__verlet_count(const struct kith__verlet_rows *rows,
                              const struct kith__verlet_found *found, void *mask, int64_t *counts,
                              gpuStream_t stream)
{
    const int64_t blocks = blocks_for(kith__verlet_words(rows->n) + 1, WARPS, ROW_BLOCKS);
    if (rows->question.precision == KITH_FLOAT) {
        KITH_LAUNCH(count_words<float>, blocks, THREADS, stream, *rows, found, (lanes_t *)mask,
                    counts);
    } else {
        KITH_LAUNCH(count_words<double>, blocks, THREADS, stream, *rows, found, (lanes_t *)mask,
                    counts);
    }
    return gpuGetLastError();
}

/** Write the offset of each row, and the one behind the last row, a thread for each: the pairs
 *  before the word of its first candidate, and those before that candidate in the word. */
static __global__ void find_offsets(const KITH_IN_PLACE struct kith__verlet_rows rows,
                                    const struct kith__verlet_found *found, const lanes_t *mask,
                                    const int64_t *first, int64_t *offsets)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= rows.question.a.n && found->keep) {
        const int64_t c = rows.offsets[i];
        const int64_t w = c / LANES;
        offsets[i] = first[w] + count_lanes(mask[w] & lanes_below((int)(c % LANES)));
    }
}

gpuError_t kith__verlet_offsets(const struct kith__verlet_rows *rows,
                                const struct kith__verlet_found *found, const void *mask,
                                const int64_t *first, int64_t *offsets, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(rows->question.a.n + 1, THREADS, INT32_MAX);
    KITH_LAUNCH(find_offsets, blocks, THREADS, stream, *rows, found, (const lanes_t *)mask, first,
                offsets);
    return gpuGetLastError();
}

/** Write pair p of the arrays, of row i.
 *  @param b        the other particle; without extras only j is set
 *  @param wrapped  a particle was wrapped: shifts are corrected */
template <typename real>
static __device__ __forceinline__ void write_pair(const struct kith__question &q,
                                                  const struct kith__gpu_list &list, int64_t p,
                                                  int32_t i, const struct beside<real> &b,
                                                  bool wrapped)
{
    list.j[p] = b.j;
    if (list.i) {
        list.i[p] = i;
    }
    write_vector<real>(list, p, b.r2, b.d, false);
    if (list.shifts) {
        write_shift(definition<real>::box(q), q, list, p, i, b.j, b.shift, wrapped, false);
    }
}

/** Write the pairs of each word, a warp for each word. Separations, which count_words did not
 *  store, are computed again for extras. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    write_words(const KITH_IN_PLACE struct kith__verlet_rows rows,
                const struct kith__verlet_found *found,
                const KITH_IN_PLACE struct kith__gpu_list list, const lanes_t *mask,
                const int64_t *first)
{
    const struct kith__question &q = rows.question;
    const int64_t words = rows.n / LANES + 1;
    if (!found->keep) {
        return;
    }
    const bool wrapped = found->wrapped;
    const bool extras = has_vector(list) || list.shifts;
    const int lane = my_lane();
    int64_t step;
    for (int64_t w = my_row(&step); w < words; w += step) {
        const lanes_t hits = mask[w];
        const int64_t c = w * LANES + lane;
        const int64_t p = first[w] - list.base + count_lanes(hits & lanes_below(lane));
        if (!(hits >> lane & 1) || p < 0 || p >= list.capacity) {
            continue;
        }
        const int32_t i = rows.i[c];
        struct beside<real> b = {
        };
        if (extras) {
            b = separate(rows, ((const struct record<real> *)rows.now)[i], c);
        } else {
            b.j = rows.j[c];
        }
        write_pair(q, list, p, i, b, wrapped);
    }
}

gpuError_t kith__verlet_write(const struct kith__verlet_rows *rows,
                              const struct kith__verlet_found *found,
                              const struct kith__gpu_list *list, const void *mask,
                              const int64_t *first, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(kith__verlet_words(rows->n), WARPS, ROW_BLOCKS);
    if (rows->question.precision == KITH_FLOAT) {
        KITH_LAUNCH(write_words<float>, blocks, THREADS, stream, *rows, found, *list,
                    (const lanes_t *)mask, first);
    } else {
        KITH_LAUNCH(write_words<double>, blocks, THREADS, stream, *rows, found, *list,
                    (const lanes_t *)mask, first);
    }
    return gpuGetLastError();
}
