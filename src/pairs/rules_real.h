/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The definition of the rules of a list for one precision: kith__radius_of_pair,
 * kith__radii_permit and kith__is_listed, each with the suffix _d or _f. Included by rules.h
 * through per_precision.h, which defines the type `real` and KITH_REAL(name), the name with its
 * suffix. Every operation is rounded once.
 */

/** Return the largest distance of a pair of particles with radii hi and hj [length].
 *  @param rule  not KITH_RADIUS_NONE */
KITH_FN real KITH_REAL(kith__radius_of_pair)(kith_radius_rule rule, real hi, real hj)
{
    switch (rule) {
    case KITH_RADIUS_GATHER: return hi;
    case KITH_RADIUS_SCATTER: return hj;
    case KITH_RADIUS_EITHER: return hi > hj ? hi : hj;
    case KITH_RADIUS_BOTH: return hi < hj ? hi : hj;
    default: return KITH_ADD(hi, hj); /* KITH_RADIUS_SUM */
    }
}

/** Return true when the radii permit a pair at a squared distance: never where a radius that the
 *  rule reads is negative or NaN.
 *  @param rule    not KITH_RADIUS_NONE
 *  @param hi, hj  radii of the two particles [length]
 *  @param r2      squared distance, by the definition of a pair [length^2] */
KITH_FN bool KITH_REAL(kith__radii_permit)(kith_radius_rule rule, real hi, real hj, real r2)
{
    const bool i_is_well = rule == KITH_RADIUS_SCATTER || hi >= 0;
    const bool j_is_well = rule == KITH_RADIUS_GATHER || hj >= 0;
    const real h = KITH_REAL(kith__radius_of_pair)(rule, hi, hj);
    return i_is_well && j_is_well && r2 <= KITH_MUL(h, h);
}

/** Return true when the rules list a hit of the search. kith__rules.no_self is not tested here. Not
 *  all arrays in device memory were checked: a particle whose species is outside the table, or
 *  whose radius, where the rule reads it, is negative or NaN, has no pairs.
 *  @param i, j    indices in the caller's order, less kith__rules.first
 *  @param r2      squared distance, by the definition of a pair; not used where no rule depends on
 *                 it [length^2] */
KITH_FN bool KITH_REAL(kith__is_listed)(const struct kith__rules *rules, int32_t i, int32_t j,
                                        real r2)
{
    i += rules->first[0];
    j += rules->first[1];
    if (rules->active && !rules->active[i]) {
        return false;
    }
    if (rules->by_distance && (double)r2 < rules->least2) {
        return false;
    }
    if (rules->species[0]) {
        const int32_t a = rules->species[0][i];
        const int32_t b = rules->species[1][j];
        const real *squares = (const real *)rules->squares;
        if ((uint32_t)a >= (uint32_t)rules->n_species ||
            (uint32_t)b >= (uint32_t)rules->n_species ||
            !(r2 <= squares[(int64_t)a * rules->n_species + b])) {
            return false;
        }
    }
    if (rules->radii[0] &&
        !KITH_REAL(kith__radii_permit)(rules->radius_rule, ((const real *)rules->radii[0])[i],
                                       ((const real *)rules->radii[1])[j], r2)) {
        return false;
    }
    return !kith__is_excluded(&rules->excluded, rules->two_sets, i, j);
}
