/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Testing and writing the candidates of a row, for one precision. Included by verlet_kernel.c
 * through per_precision.h.
 */

/** Test candidates that all have the shift 0.
 *  @param at    number of particles: distance of the axes in `now`
 *  @param kept  [n] receives 1 for a pair, else 0
 *  @return the number of pairs */
static int KITH_REAL(test_plain)(const real *restrict now, int64_t at, int64_t i,
                                 const int32_t *restrict j, int n, real square,
                                 uint8_t *restrict kept)
{
    const real x = now[i];
    const real y = now[at + i];
    const real z = now[2 * at + i];
    int pairs = 0;
    for (int c = 0; c < n; c++) {
        const real dx = KITH_SUB(now[j[c]], x);
        const real dy = KITH_SUB(now[at + j[c]], y);
        const real dz = KITH_SUB(now[2 * at + j[c]], z);
        const real r2 = KITH_ADD(KITH_ADD(KITH_MUL(dx, dx), KITH_MUL(dy, dy)), KITH_MUL(dz, dz));
        kept[c] = r2 <= square;
        pairs += r2 <= square;
    }
    return pairs;
}

/** Test candidates with shifts: test_plain with the rows of the box added, c first. Adding zeros
 *  changes no square: a shift of 0 needs no branch, and the zeros of an orthorhombic box are not
 *  added.
 *  @param s  [n] shifts, packed */
static int KITH_REAL(test_shifted)(const struct KITH_REAL(kith__lattice) *box,
                                   const real *restrict now, int64_t at, int64_t i,
                                   const int32_t *restrict j, const int32_t *restrict s, int n,
                                   real square, uint8_t *restrict kept)
{
    const real r[3] = {now[i], now[at + i], now[2 * at + i]};
    real row[3][3];
    memcpy(row, box->row, sizeof row);
    int pairs = 0;
    for (int c = 0; c < n && box->orthorhombic; c++) {
        const real sx = (real)((s[c] & 1023) - 512);
        const real sy = (real)((s[c] >> 10 & 1023) - 512);
        const real sz = (real)((s[c] >> 20 & 1023) - 512);
        const real dx = KITH_ADD(KITH_SUB(now[j[c]], r[0]), KITH_MUL(sx, row[0][0]));
        const real dy = KITH_ADD(KITH_SUB(now[at + j[c]], r[1]), KITH_MUL(sy, row[1][1]));
        const real dz = KITH_ADD(KITH_SUB(now[2 * at + j[c]], r[2]), KITH_MUL(sz, row[2][2]));
        const real r2 = KITH_ADD(KITH_ADD(KITH_MUL(dx, dx), KITH_MUL(dy, dy)), KITH_MUL(dz, dz));
        kept[c] = r2 <= square;
        pairs += r2 <= square;
    }
    for (int c = 0; c < n && !box->orthorhombic; c++) {
        const real sx = (real)((s[c] & 1023) - 512);
        const real sy = (real)((s[c] >> 10 & 1023) - 512);
        const real sz = (real)((s[c] >> 20 & 1023) - 512);
        real d[3];
        for (int m = 0; m < 3; m++) {
            d[m] = KITH_SUB(now[m * at + j[c]], r[m]);
            d[m] = KITH_ADD(d[m], KITH_MUL(sz, row[2][m]));
            d[m] = KITH_ADD(d[m], KITH_MUL(sy, row[1][m]));
            d[m] = KITH_ADD(d[m], KITH_MUL(sx, row[0][m]));
        }
        const real r2 = KITH_ADD(KITH_ADD(KITH_MUL(d[0], d[0]), KITH_MUL(d[1], d[1])),
                                 KITH_MUL(d[2], d[2]));
        kept[c] = r2 <= square;
        pairs += r2 <= square;
    }
    return pairs;
}

/** Compute d and r^2 of a candidate by the definition.
 *  @param s  its shift, packed */
static inline real KITH_REAL(separate)(const struct kith__verlet_loop *loop, int64_t i, int32_t j,
                                       int32_t s, real d[3])
{
    const real *now = loop->now;
    const int64_t at = loop->question->a.n;
    const real ri[3] = {now[i], now[at + i], now[2 * at + i]};
    const real rj[3] = {now[j], now[at + j], now[2 * at + j]};
    int32_t shift[3];
    kith__unpack_shift(s, shift);
    return KITH_REAL(kith__separation)(&loop->question->KITH_REAL(box), ri, rj, shift, d);
}

/** Test the candidates of a row. @return the number of pairs */
static int64_t KITH_REAL(test_row)(const struct kith__verlet_loop *loop, int64_t i)
{
    const struct kith__question *q = loop->question;
    const real cutoff = (real)q->cutoff;
    const real square = KITH_MUL(cutoff, cutoff);
    const int64_t first = loop->offsets[i];
    const int64_t end = loop->offsets[i + 1];
    const bool plain = loop->plain[i] && !loop->turn;
    const int32_t *shifts = kith__verlet_packed(loop->shifts, loop->offsets, i);
    int32_t s[PART];
    int64_t pairs = 0;
    for (int64_t c = first; c < end; c += PART) {
        const int n = end - c < PART ? (int)(end - c) : PART;
        const int32_t *j = loop->j + c;
        if (plain || !find_shifts(loop, i, shifts + (c - first), j, n, s)) {
            pairs += KITH_REAL(test_plain)(loop->now, q->a.n, i, j, n, square, loop->kept + c);
            continue;
        }
        pairs += KITH_REAL(test_shifted)(&q->KITH_REAL(box), loop->now, q->a.n, i, j, s, n, square,
                                         loop->kept + c);
    }
    return pairs;
}

/** Write the extras of a pair to the list. @param p  its index in the list */
static void KITH_REAL(write_pair)(const struct kith__verlet_loop *loop, int64_t i, int32_t j,
                                  int32_t s, int64_t p)
{
    const kith_pairs *out = loop->out;
    if (loop->extras & (KITH_DISTANCES | KITH_VECTORS)) {
        real d[3];
        const real r2 = KITH_REAL(separate)(loop, i, j, s, d);
        if (loop->extras & KITH_DISTANCES) {
            ((real *)out->distances)[p] = KITH_REAL(root)(r2);
        }
        for (int m = 0; m < 3 && loop->extras & KITH_VECTORS; m++) {
            ((real *)out->vectors)[3 * p + m] = d[m] + 0; /* never -0 */
        }
    }
    if (loop->extras & KITH_SHIFTS) {
        int32_t shift[3];
        kith__unpack_shift(s, shift);
        for (int k = 0; k < 3; k++) {
            out->shifts[3 * p + k] = shift[k] - loop->image[3 * (int64_t)j + k] +
                                     loop->image[3 * i + k];
        }
    }
}

/** Write the pairs of a row to the list. */
static void KITH_REAL(write_row)(const struct kith__verlet_loop *loop, int64_t i)
{
    const kith_pairs *out = loop->out;
    const int64_t first = loop->offsets[i];
    const int64_t end = loop->offsets[i + 1];
    const int32_t *shifts = kith__verlet_packed(loop->shifts, loop->offsets, i);
    int32_t hit[PART + 1]; /* the element behind the last pair is written, too */
    int64_t to = loop->counts[i];
    for (int64_t c = first; c < end; c += PART) {
        const int n = end - c < PART ? (int)(end - c) : PART;
        int pairs = 0;
        for (int p = 0; p < n; p++) {
            hit[pairs] = p;
            pairs += loop->kept ? loop->kept[c + p] : 1;
        }
        for (int p = 0; p < pairs; p++) {
            out->j[to + p] = loop->j[c + hit[p]];
        }
        for (int p = 0; p < pairs && out->i; p++) {
            out->i[to + p] = (int32_t)i;
        }
        for (int p = 0; p < pairs && loop->extras; p++) {
            const int32_t s = shift_now(loop, shifts + (c - first), loop->j + c, i, hit[p]);
            KITH_REAL(write_pair)(loop, i, loop->j[c + hit[p]], s, to + p);
        }
        to += pairs;
    }
}
