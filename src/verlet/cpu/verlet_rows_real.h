/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Separations of candidates: their bands (classify), their tests (test), and the extras of pairs
 * (write_extras), for one precision. Included by verlet_kernel.c through per_precision.h, which
 * defines the type `real` and KITH_REAL(name), the name with _d or _f. Before, verlet_kernel.c
 * defines PART, no_shift and struct group, and includes engine/cpu/lanes.h: the types vector_f and
 * vector_d, the numbers of their lanes, SIDE_BY_SIDE_f and _d, and the functions gather_f and
 * others.
 */

/** Compute the separations of SIDE_BY_SIDE candidates, with the bits of kith__separation
 *  (engine/pair_real.h), the definition of a pair. That function skips the rows of the box where S
 *  is 0, and adds the zeros of an orthorhombic box. This one adds 0 times a row where S of a lane
 *  is 0, so that it needs no branch, and skips the zeros of an orthorhombic box. Adding a zero
 *  changes at most the sign of a zero, and so no square.
 *  @param i, j    [SIDE_BY_SIDE] the particles
 *  @param shift   [SIDE_BY_SIDE] packed shifts; NULL, known at compile time: all are 0
 *  @param[out] d  x, y and z of the vectors from i to j [length]
 *  @return squared distances [length^2] */
KITH_INLINE KITH_REAL(vector)
    KITH_REAL(separate)(const struct kith__verlet_loop *loop, const int32_t *i, const int32_t *j,
                        const int32_t *shift, KITH_REAL(vector) d[3])
{
    const struct KITH_REAL(kith__lattice) *box = &loop->question->KITH_REAL(box);
    KITH_REAL(vector) ri[3] = {{0}};
    KITH_REAL(gather)(loop->now, i, ri);
    KITH_REAL(gather)(loop->now, j, d);
    for (int m = 0; m < 3; m++) {
        d[m] = d[m] - ri[m];
    }
    if (shift) {
        enum { LANES = KITH_REAL(SIDE_BY_SIDE) };
        int32_t s[3][LANES]; /* kith__unpack_shift, but the lanes of a component are consecutive */
        for (int lane = 0; lane < LANES; lane++) {
            s[0][lane] = (shift[lane] & 1023) - 512;
            s[1][lane] = (shift[lane] >> 10 & 1023) - 512;
            s[2][lane] = (shift[lane] >> 20 & 1023) - 512;
        }
        for (int k = 2; k >= 0; k--) {
            const KITH_REAL(vector) boxes = KITH_REAL(convert)(s[k]);
            for (int m = 0; m < 3; m++) {
                d[m] = m == k || !box->orthorhombic ? d[m] + boxes * box->row[k][m] : d[m];
            }
        }
    }
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/** Find the bands of the candidates of a group (kith__verlet_scale): write loop->band.
 *  @param shifts  [group->n] packed shifts of the group
 *  @param row     [group->n] row of each candidate, from 0 in the group */
static void KITH_REAL(classify)(const struct kith__verlet_loop *loop, const struct group *group,
                                const int32_t *shifts, const uint8_t *row)
{
    enum { LANES = KITH_REAL(SIDE_BY_SIDE) };
    const struct kith__verlet_scale *scale = loop->scale;
    const double each = 1 / scale->width;
    /* behind the last candidate, lanes have i = first_row, j = 0 and a shift of no meaning: their
     * bands are not stored */
    for (int64_t c = 0; c < group->n; c += PART) {
        const int left = group->n - c < PART ? (int)(group->n - c) : PART;
        int32_t i[PART];
        int32_t j[PART] = {0};
        int32_t s[PART] = {0};
        real r2[PART];
        double r[PART];
        for (int k = 0; k < PART; k++) {
            i[k] = (int32_t)group->first_row + (k < left ? row[c + k] : 0);
        }
        memcpy(j, loop->j + group->first + c, (size_t)left * sizeof *j);
        memcpy(s, shifts + c, (size_t)left * sizeof *s);
        for (int k = 0; k < PART; k += LANES) {
            KITH_REAL(vector) d[3];
            const KITH_REAL(vector) squares = KITH_REAL(separate)(loop, i + k, j + k, s + k, d);
            memcpy(r2 + k, &squares, sizeof squares);
        }
        for (int k = 0; k < PART; k++) {
            r[k] = sqrt((double)r2[k]);
        }
        /* Round down x, the distance in bands: take the whole number nearest to x - 1/2. Where x is
         * whole, or rounded, that may be x - 1: a distance at the lower end of a band may be put
         * into the band below. kith__verlet_bands has a slack for it. `number - (vd){0}` is the
         * number in all lanes. */
        for (int k = 0; k < PART; k += D) {
            vd band = vd_nearest((vd_load(r + k) - scale->cutoff) * each - 0.5);
            band = vd_max(band, KITH_VERLET_FIRST_BAND - (vd){0});
            band = vd_min(band, KITH_VERLET_LAST_BAND - (vd){0});
            memcpy(r + k, &band, sizeof band);
        }
        for (int k = 0; k < left; k++) {
            loop->band[group->first + c + k] = (int8_t)r[k];
        }
    }
}

/** Test the n candidates in the arrays of the hits, which complete() has padded, by the definition:
 *  set hits->passed. Its bits behind the n-th have no meaning. n / PART + 2 words are set, as
 *  bits_from, called for bit n, may read the word behind that of bit n. */
static void KITH_REAL(test)(const struct kith__verlet_loop *loop, const struct group *group,
                            int64_t n, const struct kith__verlet_hits *hits)
{
    enum { LANES = KITH_REAL(SIDE_BY_SIDE) };
    const real cutoff = (real)loop->question->cutoff;
    const real square = KITH_MUL(cutoff, cutoff); /* rounded, as the definition compares with it */
    for (int64_t word = 0; word <= n / PART + 1; word++) {
        hits->passed[word] = 0;
    }
    for (int64_t k = 0; k < n; k += LANES) {
        const int32_t *shift = hits->shift + k;
        KITH_REAL(vector) d[3];
        const KITH_REAL(vector) r2 = group->shifted ? KITH_REAL(separate)(loop, hits->i + k,
                                                                          hits->j + k, shift, d)
                                                    : KITH_REAL(separate)(loop, hits->i + k,
                                                                          hits->j + k, NULL, d);
        hits->passed[k / PART] |= (uint64_t)KITH_REAL(lanes_to)(r2, square) << k % PART;
    }
}

/** Write the extras of the hits->n pairs in the arrays of the hits, which complete() has padded,
 *  from pair `at` of the list on. S between the caller's coordinates is the one between the wrapped
 *  ones, less the boxes that wrapping subtracted from j, plus those from i. */
static void KITH_REAL(write_extras)(const struct kith__verlet_loop *loop, const struct group *group,
                                    const struct kith__verlet_hits *hits, int64_t at)
{
    enum { LANES = KITH_REAL(SIDE_BY_SIDE) };
    const kith_pairs *out = loop->out;
    const int32_t *i = hits->i;
    const int32_t *j = hits->j;
    const int32_t *shift = hits->shift;
    for (int64_t h = 0; h < hits->n && loop->extras & (KITH_DISTANCES | KITH_VECTORS); h += LANES) {
        const int left = hits->n - h < LANES ? (int)(hits->n - h) : LANES;
        real r2[LANES];
        real vector[3][LANES];
        KITH_REAL(vector) d[3];
        const KITH_REAL(vector) squares = group->shifted
                                              ? KITH_REAL(separate)(loop, i + h, j + h, shift + h,
                                                                    d)
                                              : KITH_REAL(separate)(loop, i + h, j + h, NULL, d);
        memcpy(r2, &squares, sizeof r2);
        memcpy(vector, d, sizeof vector);
        for (int lane = 0; lane < left && loop->extras & KITH_DISTANCES; lane++) {
            ((real *)out->distances)[at + h + lane] = KITH_REAL(root)(r2[lane]);
        }
        real *to = (real *)out->vectors + 3 * (at + h);
        for (int lane = 0; lane < left && loop->extras & KITH_VECTORS; lane++) {
            for (int m = 0; m < 3; m++) {
                /* + 0: -0 becomes 0, as in other lists; `separate` may leave either */
                to[3 * lane + m] = vector[m][lane] + 0;
            }
        }
    }
    for (int64_t h = 0; h < hits->n && loop->extras & KITH_SHIFTS; h++) {
        const int32_t *wi = loop->image + 3 * (int64_t)i[h];
        const int32_t *wj = loop->image + 3 * (int64_t)j[h];
        int32_t s[3];
        kith__unpack_shift(group->shifted ? shift[h] : no_shift, s);
        for (int k = 0; k < 3; k++) {
            out->shifts[3 * (at + h) + k] = s[k] - wj[k] + wi[k];
        }
    }
}
