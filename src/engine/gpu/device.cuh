/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Basics of kernels, under one name for CUDA and HIP: launching, shared memory, operations among
 * the lanes of a warp (32 lanes with CUDA; 64 with HIP on CDNA, where a warp is called a
 * wavefront), and the functions of pair.h and cells.h as templates by the type of coordinate.
 */
#ifndef KITH_GPU_DEVICE_CUH
#define KITH_GPU_DEVICE_CUH

#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_runtime.h>
#else
#include <cuda_runtime.h>
#endif

#include "gpu.h"
#include "kernels.h"
#include "engine/cells.h"

/** Adds KERNEL, before main() begins, to the list of kernels (kernels.h): the initialiser of
 *  is_listed runs then, of each kernel for which KITH_LAUNCH instantiates the template. */
template <auto KERNEL> struct listed_kernel {
    static struct kith__gpu_kernel entry;
    static const bool is_listed;
};
template <auto KERNEL> struct kith__gpu_kernel listed_kernel<KERNEL>::entry;
template <auto KERNEL>
const bool listed_kernel<KERNEL>::is_listed = kith__gpu_list_kernel(&entry, (const void *)KERNEL);

/* Launch a kernel: KITH_LAUNCH(kernel, thread blocks, threads of each, stream, arguments...), or
 * with `bytes` of dynamic shared memory, which the kernel declares by KITH_DYNAMIC_SHARED. The
 * comma expression instantiates listed_kernel. */
#ifndef KITH_LAUNCH
#define KITH_LAUNCH_SHARED(kernel, blocks, threads, bytes, stream, ...) \
    ((void)listed_kernel<kernel>::is_listed, \
     kernel<<<(unsigned)(blocks), (unsigned)(threads), bytes, stream>>>(__VA_ARGS__))
#define KITH_LAUNCH(kernel, blocks, threads, stream, ...) \
    KITH_LAUNCH_SHARED(kernel, blocks, threads, 0, stream, __VA_ARGS__)
#define KITH_DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#endif

/* Attribute of a kernel's parameter whose address is taken: without it, every thread would make a
 * copy of the parameter in its local memory. */
#ifdef __HIP_PLATFORM_AMD__
#define KITH_IN_PLACE
#else
#define KITH_IN_PLACE __grid_constant__
#endif

/* ---------------------------------------------------------------------------------------- lanes */

#ifdef __HIP_PLATFORM_AMD__
typedef uint64_t lanes_t; /**< a mask with one bit for each lane of a warp */
enum { LANES = 64 };      /**< lanes of a warp */
#if defined(__AMDGCN_WAVEFRONT_SIZE) && __AMDGCN_WAVEFRONT_SIZE != 64
#error "the kernels are for wavefronts of 64 lanes (CDNA)"
#endif
/** Ballot: return a mask of the lanes in which `yes` is true. */
static __device__ __forceinline__ lanes_t which_lanes(bool yes)
{
    return __ballot(yes);
}
/** Return the number of lanes in a mask. */
static __device__ __forceinline__ int count_lanes(lanes_t lanes)
{
    return __popcll(lanes);
}
/** Return the number of the first lane in a mask; -1 when the mask is empty. */
static __device__ __forceinline__ int first_lane(lanes_t lanes)
{
    return __ffsll((long long)lanes) - 1;
}
/** Shuffle: return the value of a given lane. */
template <typename T> static __device__ __forceinline__ T from_lane(T value, int lane)
{
    return __shfl(value, lane);
}
/** Shuffle up: return the value of the lane whose number is lower by `distance`; the lane's own
 *  value where there is none. */
template <typename T> static __device__ __forceinline__ T from_below(T value, int distance)
{
    return __shfl_up(value, distance);
}
/** Butterfly shuffle: return the value of lane (this lane XOR bits). */
template <typename T> static __device__ __forceinline__ T from_partner(T value, int bits)
{
    return __shfl_xor(value, bits);
}
/** Return the maximum over all lanes, in every lane. */
static __device__ __forceinline__ uint32_t max_lanes(uint32_t value)
{
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        value = max(value, from_partner(value, bits));
    }
    return value;
}
/** Return the minimum over all lanes, in every lane. */
static __device__ __forceinline__ uint32_t min_lanes(uint32_t value)
{
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        value = min(value, from_partner(value, bits));
    }
    return value;
}
/** Return the sum over all lanes, in every lane. */
static __device__ __forceinline__ uint32_t add_lanes(uint32_t value)
{
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        value += from_partner(value, bits);
    }
    return value;
}
/** Barrier of a warp; orders its accesses to shared memory. */
static __device__ __forceinline__ void sync_warp()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront"); /* the barrier alone orders no memory */
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#else
/* The functions for CUDA; those for HIP have the comments. */
typedef uint32_t lanes_t;
enum { LANES = 32 };
static const unsigned all_lanes = 0xffffffffu;
static __device__ __forceinline__ lanes_t which_lanes(bool yes)
{
    return __ballot_sync(all_lanes, yes);
}
static __device__ __forceinline__ int count_lanes(lanes_t lanes)
{
    return __popc(lanes);
}
static __device__ __forceinline__ int first_lane(lanes_t lanes)
{
    return __ffs((int)lanes) - 1;
}
template <typename T> static __device__ __forceinline__ T from_lane(T value, int lane)
{
    return __shfl_sync(all_lanes, value, lane);
}
template <typename T> static __device__ __forceinline__ T from_below(T value, int distance)
{
    return __shfl_up_sync(all_lanes, value, (unsigned)distance);
}
template <typename T> static __device__ __forceinline__ T from_partner(T value, int bits)
{
    return __shfl_xor_sync(all_lanes, value, bits);
}
static __device__ __forceinline__ uint32_t max_lanes(uint32_t value)
{
    return __reduce_max_sync(all_lanes, value);
}
static __device__ __forceinline__ uint32_t min_lanes(uint32_t value)
{
    return __reduce_min_sync(all_lanes, value);
}
static __device__ __forceinline__ uint32_t add_lanes(uint32_t value)
{
    return __reduce_add_sync(all_lanes, value);
}
static __device__ __forceinline__ void sync_warp()
{
    __syncwarp();
}
#endif

/** Return the number of this thread's lane in its warp. */
static __device__ __forceinline__ int my_lane()
{
    return (int)threadIdx.x % LANES;
}
/** Return the number of this thread's warp in its thread block. */
static __device__ __forceinline__ int my_warp()
{
    return (int)threadIdx.x / LANES;
}

/** Return the number of this thread among all of the kernel. */
static __device__ __forceinline__ int64_t my_item()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/** Return the number of thread blocks that have n threads, at least 1.
 *  @param threads  threads of a thread block */
static inline int64_t blocks_for(int64_t n, int threads)
{
    const int64_t blocks = (n + threads - 1) / threads;
    return blocks > 0 ? blocks : 1;
}

/** Return a mask of the lanes before lane number `lane`. */
static __device__ __forceinline__ lanes_t lanes_below(int lane)
{
    return ((lanes_t)1 << lane) - 1;
}

/** Return the sum over all lanes of the warp, in every lane. */
template <typename T> static __device__ __forceinline__ T sum_lanes(T value)
{
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        value += from_partner(value, bits);
    }
    return value;
}

/** Inclusive prefix sum: return the sum over the lanes up to this one, number `lane`, included. */
template <typename T> static __device__ __forceinline__ T scan_lanes(T value, int lane)
{
    for (int distance = 1; distance < LANES; distance *= 2) {
        const T below = from_below(value, distance);
        value += lane >= distance ? below : 0;
    }
    return value;
}

/** Transpose the bits of each 32 lanes: return, in lane k, the word whose bit c is bit k of `bits`
 *  of lane c, both counted from the first of the 32 lanes. Recursive block transposition: lanes
 *  whose numbers differ by `step` exchange the blocks of `step` bits off the diagonal, for steps
 *  16, 8, 4, 2, 1. */
static __device__ __forceinline__ uint32_t transpose_lanes(uint32_t bits, int lane)
{
    uint32_t columns = 0x0000ffff; /* mask of the bits whose number lacks the bit `step` */
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const bool upper = lane & step;
        const uint32_t own = upper ? ~columns : columns;
        const uint32_t other = from_partner(bits, step);
        const int by = upper ? 32 - step : step;
        bits = (bits & own) | ((other << by | other >> (32 - by)) & ~own);
        columns ^= columns << step / 2;
    }
    return bits;
}

/** Return the lane that item k belongs to, when the items of all lanes are numbered through: the
 *  last lane whose items do not begin after item k. Binary search over the lanes.
 *  @param before  number of items of the lanes before this one (exclusive prefix sum) */
static __device__ __forceinline__ int owner_of(int before, int k)
{
    int owner = 0;
    for (int step = LANES / 2; step > 0; step /= 2) {
        owner += from_lane(before, owner + step) <= k ? step : 0;
    }
    return owner;
}

/** Map a double to an integer so that unsigned integers compare as the doubles do. The bits of
 *  positive doubles ascend with their values, those of negative ones descend: so the sign bit is
 *  set in the first, and all bits are inverted in the second. */
static __device__ __forceinline__ unsigned long long ordered(double value)
{
    const unsigned long long bits = (unsigned long long)__double_as_longlong(value);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

/** Return the double that `ordered` mapped to this integer. */
static __device__ __forceinline__ double from_ordered(unsigned long long bits)
{
    return __longlong_as_double((long long)(bits >> 63 ? bits & ~(1ull << 63) : ~bits));
}

/** Predicated store to device memory: *to = value if `yes`, without a branch. */
static __device__ __forceinline__ void store_where(bool yes, int32_t *to, int32_t value)
{
#if defined(__CUDA_ARCH__)
    asm volatile("{\n\t.reg .pred yes;\n\tsetp.ne.u32 yes, %0, 0;\n\t"
                 "@yes st.global.s32 [%1], %2;\n\t}"
                 :
                 : "r"((unsigned)yes), "l"(to), "r"(value)
                 : "memory");
#else
    if (yes) {
        *to = value;
    }
#endif
}

/* --------------------------------------------------------------------------------- by precision */

/** The functions of pair.h and cells.h for one type of coordinate, float or double. */
template <typename real> struct definition;

#define KITH_PER_PRECISION "engine/gpu/definition_real.h"
#include "core/per_precision.h"

#endif
