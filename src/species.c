/* SPDX-License-Identifier: BSD-3-Clause */
#include "species.h"

enum { MOST_SPECIES = 1024 };

kith_status kith__check_species(kith_ctx *ctx, const char *count, const char *name,
                                const int32_t *species, int64_t n, int32_t n_species)
{
    KITH_CHECK(ctx, n_species >= 1 && n_species <= MOST_SPECIES, KITH_INVALID,
               "%s is %d, expected 1 to 1024", count, (int)n_species);
    for (int64_t p = 0; p < n && species; p++) {
        KITH_CHECK(ctx, species[p] >= 0 && species[p] < n_species, KITH_INVALID,
                   "%s[%lld] is %d, expected 0 to n_species - 1, %d", name, (long long)p,
                   (int)species[p], (int)n_species - 1);
    }
    return KITH_OK;
}
