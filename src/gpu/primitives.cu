/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sort, scan and select, from CUB with CUDA and from rocPRIM with HIP. Nothing else includes them.
 */
#include "cells.cuh"

#ifdef __HIP_PLATFORM_AMD__
#include <rocprim/rocprim.hpp>
#else
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#endif

/** Says of a place whether its key differs from the one before. */
struct is_change {
    const uint64_t *key;
    __device__ bool operator()(uint32_t p) const
    {
        return p == 0 || key[p] != key[p - 1];
    }
};

/** Says of a place whether its count is large enough. */
struct is_enough {
    const int32_t *count;
    int64_t least;
    __device__ bool operator()(int32_t p) const
    {
        return count[p] >= least;
    }
};

template <typename key_t>
static gpuError_t sort(void *temporary, size_t *bytes, key_t *key[2], int32_t *id[2], int64_t n,
                       int bits, gpuStream_t stream)
{
#ifdef __HIP_PLATFORM_AMD__
    rocprim::double_buffer<key_t> keys(key[0], key[1]);
    rocprim::double_buffer<int32_t> ids(id[0], id[1]);
    const gpuError_t error = rocprim::radix_sort_pairs(temporary, *bytes, keys, ids, (size_t)n, 0u,
                                                       (unsigned)bits, stream);
    key_t *const sorted_keys = keys.current();
    int32_t *const sorted_ids = ids.current();
#else
    cub::DoubleBuffer<key_t> keys(key[0], key[1]);
    cub::DoubleBuffer<int32_t> ids(id[0], id[1]);
    const gpuError_t error = cub::DeviceRadixSort::SortPairs(temporary, *bytes, keys, ids, (int)n,
                                                             0, bits, stream);
    key_t *const sorted_keys = keys.Current();
    int32_t *const sorted_ids = ids.Current();
#endif
    if (temporary && sorted_keys != key[0]) {
        key[1] = key[0];
        key[0] = sorted_keys;
    }
    if (temporary && sorted_ids != id[0]) {
        id[1] = id[0];
        id[0] = sorted_ids;
    }
    return error;
}

gpuError_t kith__gpu_sort_pairs(void *temporary, size_t *bytes, uint64_t *key[2], int32_t *id[2],
                                int64_t n, int bits, gpuStream_t stream)
{
    return sort(temporary, bytes, key, id, n, bits, stream);
}

gpuError_t kith__gpu_sort_narrow(void *temporary, size_t *bytes, uint32_t *key[2], int32_t *id[2],
                                 int64_t n, int bits, gpuStream_t stream)
{
    return sort(temporary, bytes, key, id, n, bits, stream);
}

gpuError_t kith__gpu_scan(void *temporary, size_t *bytes, int64_t *count, int64_t n,
                          gpuStream_t stream)
{
#ifdef __HIP_PLATFORM_AMD__
    return rocprim::exclusive_scan(temporary, *bytes, count, count, (int64_t)0, (size_t)n,
                                   rocprim::plus<int64_t>(), stream);
#else
    return cub::DeviceScan::ExclusiveSum(temporary, *bytes, count, count, n, stream);
#endif
}

gpuError_t kith__gpu_scan_table(void *temporary, size_t *bytes, const uint32_t *count,
                                uint32_t *start, int64_t n, gpuStream_t stream)
{
#ifdef __HIP_PLATFORM_AMD__
    return rocprim::exclusive_scan(temporary, *bytes, count, start, (uint32_t)0, (size_t)n,
                                   rocprim::plus<uint32_t>(), stream);
#else
    return cub::DeviceScan::ExclusiveSum(temporary, *bytes, count, start, n, stream);
#endif
}

/** Write the places of n that the predicate wants. */
template <typename place, typename predicate>
static gpuError_t select(void *temporary, size_t *bytes, int64_t n, predicate wanted, place *places,
                         int32_t *n_places, gpuStream_t stream)
{
#ifdef __HIP_PLATFORM_AMD__
    return rocprim::select(temporary, *bytes, rocprim::counting_iterator<place>(0), places,
                           n_places, (size_t)n, wanted, stream);
#else
    return cub::DeviceSelect::If(temporary, *bytes, thrust::counting_iterator<place>(0), places,
                                 n_places, n, wanted, stream);
#endif
}

gpuError_t kith__gpu_select_changes(void *temporary, size_t *bytes, const uint64_t *key, int64_t n,
                                    uint32_t *places, int32_t *n_places, gpuStream_t stream)
{
    const is_change change = {key};
    return select(temporary, bytes, n, change, places, n_places, stream);
}

gpuError_t kith__gpu_select_counts(void *temporary, size_t *bytes, const int32_t *count, int64_t n,
                                   int64_t least, int32_t *places, int32_t *n_places,
                                   gpuStream_t stream)
{
    const is_enough enough = {count, least};
    return select(temporary, bytes, n, enough, places, n_places, stream);
}
