/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radix sort, prefix sum and stream compaction of the vendor's library: CUB with CUDA, rocPRIM with
 * HIP. No other file includes these, as they take long to compile.
 */
#include "gpu_cells.cuh"

#ifdef __HIP_PLATFORM_AMD__
#include <rocprim/rocprim.hpp>
#else
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#endif

/** Function object: a word without its lowest bits. */
struct without_lowest {
    int lowest; /**< number of bits to remove */
    __host__ __device__ uint64_t operator()(uint64_t word) const
    {
        return word >> lowest;
    }
};

/** Function object: returns true when the count at an index is at least `least`. */
struct is_enough {
    const int32_t *count; /**< the counts */
    int64_t least;        /**< smallest count that is selected */
    __device__ bool operator()(int32_t p) const
    {
        return count[p] >= least;
    }
};

/** Exchange two arrays if the sorted one is not the first. */
template <typename item> static void put_first(item *array[2], item *sorted)
{
    if (sorted != array[0]) {
        array[1] = array[0];
        array[0] = sorted;
    }
}

gpuError_t kith__gpu_sort_pairs(void *temporary, size_t *bytes, uint64_t *key[2], int32_t *id[2],
                                int64_t n, int bits, gpuStream_t stream)
{
#ifdef __HIP_PLATFORM_AMD__
    rocprim::double_buffer<uint64_t> keys(key[0], key[1]);
    rocprim::double_buffer<int32_t> ids(id[0], id[1]);
    const gpuError_t error = rocprim::radix_sort_pairs(temporary, *bytes, keys, ids, (size_t)n, 0u,
                                                       (unsigned)bits, stream);
    uint64_t *const sorted_keys = keys.current();
    int32_t *const sorted_ids = ids.current();
#else
    cub::DoubleBuffer<uint64_t> keys(key[0], key[1]);
    cub::DoubleBuffer<int32_t> ids(id[0], id[1]);
    const gpuError_t error = cub::DeviceRadixSort::SortPairs(temporary, *bytes, keys, ids, (int)n,
                                                             0, bits, stream);
    uint64_t *const sorted_keys = keys.Current();
    int32_t *const sorted_ids = ids.Current();
#endif
    if (temporary) {
        put_first(key, sorted_keys);
        put_first(id, sorted_ids);
    }
    return error;
}

gpuError_t kith__gpu_sort_words(void *temporary, size_t *bytes, uint64_t *word[2], int64_t n,
                                int low, int high, gpuStream_t stream)
{
#ifdef __HIP_PLATFORM_AMD__
    rocprim::double_buffer<uint64_t> words(word[0], word[1]);
    const gpuError_t error = rocprim::radix_sort_keys(temporary, *bytes, words, (size_t)n,
                                                      (unsigned)low, (unsigned)high, stream);
    uint64_t *const sorted = words.current();
#else
    cub::DoubleBuffer<uint64_t> words(word[0], word[1]);
    const gpuError_t error = cub::DeviceRadixSort::SortKeys(temporary, *bytes, words, (int)n, low,
                                                            high, stream);
    uint64_t *const sorted = words.Current();
#endif
    if (temporary) {
        put_first(word, sorted);
    }
    return error;
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

gpuError_t kith__gpu_list_runs(void *temporary, size_t *bytes, const uint64_t *word, int64_t n,
                               int lowest, uint64_t *key, uint32_t *first, int32_t *n_runs,
                               gpuStream_t stream)
{
    const without_lowest above = {lowest};
#ifdef __HIP_PLATFORM_AMD__
    return rocprim::unique_by_key(temporary, *bytes, rocprim::make_transform_iterator(word, above),
                                  rocprim::counting_iterator<uint32_t>(0), key, first, n_runs,
                                  (size_t)n, rocprim::equal_to<uint64_t>(), stream);
#else
    return cub::DeviceSelect::UniqueByKey(
        temporary, *bytes, thrust::make_transform_iterator(word, above),
        thrust::counting_iterator<uint32_t>(0), key, first, n_runs, n, stream);
#endif
}

gpuError_t kith__gpu_select_counts(void *temporary, size_t *bytes, const int32_t *count, int64_t n,
                                   int64_t least, int32_t *selected, int32_t *n_selected,
                                   gpuStream_t stream)
{
    const is_enough enough = {count, least};
#ifdef __HIP_PLATFORM_AMD__
    return rocprim::select(temporary, *bytes, rocprim::counting_iterator<int32_t>(0), selected,
                           n_selected, (size_t)n, enough, stream);
#else
    return cub::DeviceSelect::If(temporary, *bytes, thrust::counting_iterator<int32_t>(0), selected,
                                 n_selected, n, enough, stream);
#endif
}
