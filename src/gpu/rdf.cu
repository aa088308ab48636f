/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operation that counts pairs by distance, for all images in reach of cells, and the
 * table for bins that are not linear.
 */
#include "sweep.cuh"
#include "tally.cuh"

template <typename real, int WAY> struct tally {
    struct shared {
        real r[3][KITH_GPU_HOME];       /* of the home's particles */
        int32_t species[KITH_GPU_HOME]; /* likewise, WITH_CARE */
    };
    struct kith__gpu_scale scale;
    struct counters counters;
    int64_t
        since; /* the most pairs that this warp has counted since it last emptied the counters */

    __device__ __forceinline__ bool begin(const visit<real> &v, shared *home)
    {
        const struct kith__gpu_grid &grid = v.sweep->grid;
        if (v.lane < v.n) {
            real r[3];
            read_place(grid.a, v.begin + v.lane, r);
            for (int k = 0; k < 3; k++) {
                home->r[k][v.lane] = r[k];
            }
            if (WAY == WITH_CARE && scale.rdf.species[0]) {
                home->species[v.lane] = scale.rdf.species[0][grid.a.id[v.begin + v.lane]];
            }
        }
        sync_warp();
        return true;
    }

    /** Empty the block's counters before they can overflow: each of its warps adds no more than
     *  2^29 before it does so. */
    __device__ __forceinline__ void make_room(const visit<real> &v)
    {
        const int64_t most = (int64_t)1 << 29;
        since += (int64_t)DEEP * LANES * v.n;
        if (since > most) {
            flush_counters(block_counters, scale.rdf.partials * scale.rdf.bins, scale.copies,
                           scale.counts, v.lane, LANES);
            since = 0;
        }
    }

    /** First counter of the partial that particle k of the home belongs to with one of b. */
    __device__ __forceinline__ int64_t row(const shared *home, int k, int32_t species) const
    {
        return scale.rdf.species[0]
                   ? kith__partial(scale.rdf.n_species, scale.cross, home->species[k], species) *
                         scale.rdf.bins
                   : 0;
    }

    __device__ __forceinline__ void take(const visit<real> &v, shared *home,
                                         const struct candidate at[DEEP], uint32_t mask[DEEP])
    {
        typedef definition<real> def;
        const struct kith__gpu_grid &grid = v.sweep->grid;
        const uint32_t bins = (uint32_t)scale.rdf.bins;
        make_room(v);
        for (int d = 0; d < DEEP; d++) {
            if (mask[d] == 0) {
                continue;
            }
            real rj[3];
            int32_t s[3];
            int32_t j = 0, species = 0;
            read_place(grid.b, at[d].place, rj);
            kith__unpack_shift(at[d].shift, s);
            if (WAY == WITH_CARE) {
                j = grid.b.id[at[d].place];
                species = scale.rdf.species[1] ? scale.rdf.species[1][j] : 0;
            }
            for (; mask[d]; mask[d] &= mask[d] - 1) {
                const int k = __ffs((int)mask[d]) - 1;
                const real ri[3] = {home->r[0][k], home->r[1][k], home->r[2][k]};
                real apart[3];
                const real r2 = def::separation(def::box(grid.question), ri, rj, s, apart);
                uint32_t bin;
                if (!find_bin<real, WAY>(scale, r2, &bin)) {
                    bin = settle<real, WAY>(scale, r2, bin);
                }
                if (bin < bins && WAY == WITH_CARE) {
                    const int64_t first = row(home, k, species);
                    count_carefully(scale, counters, first, first, bin, v.shared->id[k], j);
                } else if (bin < bins) {
                    count_one(counters, bin);
                }
            }
        }
        sync_warp();
    }
    __device__ void flush(const visit<real> &, shared *)
    {
    }
    __device__ __forceinline__ void end(const visit<real> &, shared *)
    {
        sync_warp(); /* before another home takes the place */
    }
};

template <typename real, int WAY>
static __device__ __forceinline__ void begin_block(tally<real, WAY> &operation)
{
    const struct kith__gpu_scale &s = operation.scale;
    clear_counters(block_counters, s.rdf.partials * s.rdf.bins, s.copies);
    operation.counters = own_counters(block_counters, s.copies);
    __syncthreads();
}

template <typename real, int WAY>
static __device__ __forceinline__ void end_block(tally<real, WAY> &operation)
{
    const struct kith__gpu_scale &s = operation.scale;
    __syncthreads();
    flush_counters(block_counters, s.rdf.partials * s.rdf.bins, s.copies, s.counts,
                   (int)threadIdx.x, SWEEP_THREADS);
}

size_t kith__gpu_tally_static_bytes(void)
{
    return WARPS * (sizeof(struct visit_shared) + sizeof(tally<double, WITH_CARE>::shared)) + 64;
}

template <typename real, int WAY>
static gpuError_t run_tally(const struct kith__gpu_sweep *sweep,
                            const struct kith__gpu_scale *scale, gpuStream_t stream)
{
    const size_t bytes = (size_t)(scale->rdf.partials * scale->rdf.bins * scale->copies) *
                         sizeof(uint32_t);
    const tally<real, WAY> operation = {*scale, {NULL, 0, 0}, 0};
    return run_sweep<real>(sweep, operation, stream, bytes);
}

gpuError_t kith__gpu_tally(const struct kith__gpu_sweep *sweep, const struct kith__gpu_scale *scale,
                           gpuStream_t stream)
{
    const enum kith__way way = scale->rdf.n_species > 1 ? WITH_CARE : way_of(scale);
    return RUN_BY_WAY(way, sweep->grid.question.precision, run_tally, sweep, scale, stream);
}

/* --------------------------------------------------------------------------------------- table */

/** How many edges are below x, in cells. */
template <typename real>
static __device__ int32_t edges_below(const struct kith__rdf &rdf, double cutoff, double x)
{
    const real *edge2 = (const real *)rdf.edge2;
    int32_t below = 0;
    for (int32_t n = (int32_t)rdf.bins + 1; n > 0;) {
        const int32_t half = n / 2;
        if ((double)edge2[below + half] / (cutoff * cutoff) * KITH_GPU_EDGE_CELLS < x) {
            below += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return below;
}

/** A cell's number is rounded: it may hold what is a little outside. */
template <typename real>
static __global__ void fill_edge_cells(const struct kith__rdf rdf, double cutoff, int32_t *first)
{
    const double margin = 1.0 / 64;
    const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c <= KITH_GPU_EDGE_CELLS) {
        const int32_t before = edges_below<real>(rdf, cutoff, c - margin);
        const int32_t with = edges_below<real>(rdf, cutoff, c + 1 + margin);
        first[c] = with - before > 1 ? -1 : before;
    }
}

gpuError_t kith__gpu_edge_cells(const struct kith__gpu_scale *scale, const struct kith__question *q,
                                gpuStream_t stream)
{
    const int threads = 128;
    const int blocks = KITH_GPU_EDGE_CELLS / threads + 1;
    if (q->precision == KITH_FLOAT) {
        KITH_LAUNCH(fill_edge_cells<float>, blocks, threads, stream, scale->rdf, q->cutoff,
                    scale->first);
    } else {
        KITH_LAUNCH(fill_edge_cells<double>, blocks, threads, stream, scale->rdf, q->cutoff,
                    scale->first);
    }
    return gpuGetLastError();
}
