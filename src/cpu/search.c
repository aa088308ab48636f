/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding a cell without a table: searching the sorted keys from a guess. O(log distance).
 */
#include "grid.h"

int64_t kith__grid_search(const struct kith__sorted *sorted, uint64_t key, int64_t near)
{
    /* Gallop away from the guess until [low, high] holds the answer, then halve. */
    const uint64_t *keys = sorted->key;
    int64_t low = near;
    int64_t high = near;
    for (int64_t step = 1; low > 0 && keys[low - 1] >= key; step *= 2) {
        high = low - 1;
        low = low > step ? low - step : 0;
    }
    for (int64_t step = 1; high < sorted->n && keys[high] < key; step *= 2) {
        low = high + 1;
        high = high + step < sorted->n ? high + step : sorted->n;
    }
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
