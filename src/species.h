/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Species that the caller gives his particles.
 */
#ifndef KITH_SPECIES_H
#define KITH_SPECIES_H

#include "context.h"

/** Check 1 to 1024 species, and that of each particle. @param count  name of n_species in messages,
 *  @param name  and of species. @return KITH_OK, KITH_INVALID */
kith_status kith__check_species(kith_ctx *ctx, const char *count, const char *name,
                                const int32_t *species, int64_t n, int32_t n_species);

#endif
