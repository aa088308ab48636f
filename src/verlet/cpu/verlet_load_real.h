/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading the particles of an update, and finding their displacements (verlet.h), for one
 * precision: load_particles. Included by verlet_kernel.c through per_precision.h, which defines the
 * type `real` and KITH_REAL(name), the name with _d or _f. Before, verlet_kernel.c defines PART.
 * Displacements are computed in double in both precisions, D particles at a time: vd is a vector of
 * D doubles (engine/cpu/simd.h).
 */

/** Read and wrap particles [begin, begin + n), n <= PART: write load->now and image, and test for
 *  particles that cannot be used: load->bad and far are lowered to the first of them.
 *  @param[out] x  [3][PART] wrapped coordinates of the n particles [length] */
static void KITH_REAL(load_part)(struct kith__verlet_load *load, int64_t begin, int n,
                                 double x[3][PART])
{
    const struct kith__question *q = &load->plan->now;
    const struct KITH_REAL(kith__lattice) *box = &q->KITH_REAL(box);
    real *now = (real *)load->now + 4 * begin;
    int32_t *image = load->image + 3 * begin;
    struct kith__bounds bounds = {.bad = load->bad, .far = load->far};
    for (int k = 0; k < n; k++, now += 4, image += 3) {
        real r[3];
        const int fits = KITH_REAL(kith__load)(box, &q->a, q->dim, begin + k, r, image);
        /* 0, or NaN when r is not finite. In an orthorhombic box a particle that fits is inside
         * after wrapping, so that no other test is needed. */
        const real zero = (r[0] - r[0]) + (r[1] - r[1]) + (r[2] - r[2]);
        if (!box->orthorhombic || !fits || zero != 0) {
            KITH_REAL(kith__bounds_add)(box, begin + k, r, fits, image, &bounds);
        }
        for (int m = 0; m < 3; m++) {
            now[m] = r[m];
            x[m][k] = (double)r[m];
        }
        now[3] = 0;
    }
    load->bad = bounds.bad;
    load->far = bounds.far;
}

/** Find the displacements of particles [begin, begin + n), n <= PART, by the formula of verlet.h:
 *  write load->turn, and update square, size, lost and turned. Once a particle is lost, turns are
 *  not written: the list is rebuilt.
 *  @param x  [3][PART] wrapped coordinates; behind the n-th, copies of the first [length] */
static void KITH_REAL(move_part)(struct kith__verlet_load *load, int64_t begin, int n,
                                 double x[3][PART])
{
    const struct kith__verlet_map *map = &load->plan->map;
    const real *reference = (const real *)load->reference + 4 * begin;
    double x0[3][PART];
    double packed[PART];
    for (int k = 0; k < PART; k++) {
        for (int m = 0; m < 3; m++) {
            x0[m][k] = (double)reference[4 * (k < n ? k : 0) + m];
        }
    }
    vd square = {0};
    vd size = {0};
    unsigned good = (1u << D) - 1; /* lanes whose turns all are at most KITH_VERLET_MOST_TURN */
    for (int k = 0; k < n; k += D) {
        vd u[3];
        vd turn[3];
        vd sum = map->norm_by - (vd){0}; /* the number in all lanes: kith__verlet_load.size */
        for (int m = 0; m < 3; m++) {
            const vd moved = vd_load(x0[0] + k) * map->a[0][m] + vd_load(x0[1] + k) * map->a[1][m] +
                             vd_load(x0[2] + k) * map->a[2][m];
            const vd at = vd_load(x[m] + k);
            const vd from = vd_load(x0[m] + k);
            u[m] = at - moved - map->by[m];
            sum += vd_max(at, -at) + map->norm_a * vd_max(from, -from);
        }
        for (int a = 0; a < 3; a++) {
            const double *inverse = map->inverse[a];
            turn[a] = vd_nearest(inverse[0] * u[0] + inverse[1] * u[1] + inverse[2] * u[2]);
        }
        for (int a = 0; a < 3; a++) {
            const vd boxes = vd_max(turn[a], -turn[a]);
            good &= lanes_to_d(boxes, KITH_VERLET_MOST_TURN);
            sum += boxes * map->norm_row[a];
            for (int m = 0; m < 3; m++) {
                u[m] -= turn[a] * map->row[a][m];
            }
        }
        square = vd_max(square, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        size = vd_max(size, sum);
        /* kith__verlet_cpu.turn: exact, as these are small whole numbers, unless one is lost */
        const vd all = turn[0] + turn[1] * 1024 + turn[2] * 1048576;
        memcpy(packed + k, &all, sizeof all);
    }
    for (int lane = 0; lane < D; lane++) {
        load->square = square[lane] > load->square ? square[lane] : load->square;
        load->size = size[lane] > load->size ? size[lane] : load->size;
    }
    load->lost = load->lost || good != (1u << D) - 1;
    for (int k = 0; k < n && !load->lost; k++) {
        load->turn[begin + k] = (int32_t)packed[k];
        load->turned = load->turned || packed[k] != 0;
    }
}

/** Read, wrap and test particles [begin, end), and find their displacements where the plan is to
 *  keep pairs. */
static void KITH_REAL(load_particles)(struct kith__verlet_load *load, int64_t begin, int64_t end)
{
    for (int64_t p = begin; p < end; p += PART) {
        const int n = end - p < PART ? (int)(end - p) : PART;
        double x[3][PART];
        KITH_REAL(load_part)(load, p, n, x);
        if (!load->plan->keep) {
            continue;
        }
        for (int m = 0; m < 3; m++) { /* behind the last particle, copies of the first: no effect */
            for (int k = n; k < PART; k++) {
                x[m][k] = x[m][0];
            }
        }
        KITH_REAL(move_part)(load, p, n, x);
    }
}
