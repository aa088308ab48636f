/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loops over the rows of a kept list: test each candidate by the definition of a pair, and
 * write those that are pairs. Compiled for each instruction set; the compiler vectorises the loops,
 * with gathers. O(candidates).
 */
#include "verlet_cpu.h"

#include <string.h>

#include "engine/cpu/lanes.h"

enum {
    PART = 256 /**< candidates that are treated together */
};

/* kith__pack_shift of {0, 0, 0}. */
static const int32_t no_shift = 512 | 512 << 10 | 512 << 20;

/** Return the packed shift of a candidate now. */
static inline int32_t shift_now(const struct kith__verlet_loop *loop, const int32_t *shift,
                                const int32_t *j, int64_t i, int64_t c)
{
    return loop->turn ? shift[c] + loop->turn[i] - loop->turn[j[c]] : shift[c];
}

/** Compute the packed shifts of consecutive candidates of row i.
 *  @param[out] s  [n]
 *  @return true when one of them is not 0 */
static bool find_shifts(const struct kith__verlet_loop *loop, int64_t i, const int32_t *shift,
                        const int32_t *j, int n, int32_t s[PART])
{
    int32_t any = 0;
    for (int c = 0; c < n; c++) {
        s[c] = shift_now(loop, shift, j, i, c);
        any |= s[c] ^ no_shift;
    }
    return any != 0;
}

#define KITH_PER_PRECISION "verlet/cpu/verlet_rows_real.h"
#include "core/per_precision.h"

void KITH_OF_ISA(verlet_test)(void *state, int64_t begin, int64_t end)
{
    struct kith__verlet_loop *loop = state;
    const bool is_float = loop->question->precision == KITH_FLOAT;
    for (int64_t i = begin; i < end; i++) {
        const int64_t n = loop->offsets[i + 1] - loop->offsets[i];
        if (kith__skip(loop->ctx, i - begin, n + 1)) {
            return;
        }
        loop->counts[i] = is_float ? test_row_f(loop, i) : test_row_d(loop, i);
    }
}

void KITH_OF_ISA(verlet_write)(void *state, int64_t begin, int64_t end)
{
    struct kith__verlet_loop *loop = state;
    const bool is_float = loop->question->precision == KITH_FLOAT;
    for (int64_t i = begin; i < end; i++) {
        const int64_t n = loop->offsets[i + 1] - loop->offsets[i];
        if (kith__skip(loop->ctx, i - begin, n + 1)) {
            return;
        }
        if (is_float) {
            write_row_f(loop, i);
        } else {
            write_row_d(loop, i);
        }
    }
}
