/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lattices: points at exactly the cutoff, on the faces of the box and on both of two opposite
 * faces. With spacing 1/8 every distance is exact; with 0.1 rounding decides, and must decide as
 * the definition does.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pairs_case.h"

static const char *const kinds[] = {"", "sc", "bcc", "", "fcc"};

/* cutoff2: squared cutoff in cell sides. */
static void check_shell(kith_ctx *ctx, lattice kind, int cells, double a, double cutoff2,
                        int periodic, double offset)
{
    const int64_t n = (int64_t)kind * cells * cells * cells;
    double *xyz = points_lattice(kind, cells, a);
    kith_box box = kith_box_periodic(cells * a, cells * a, cells * a);
    for (int k = 0; k < 3; k++) {
        box.periodic[k] = periodic >> k & 1;
        box.origin[k] = offset;
    }
    char name[80];
    snprintf(name, sizeof name, "%s, %d cells of %g, periodic %d, origin %g", kinds[kind], cells, a,
             periodic, offset);
    case_check(
        ctx,
        &(pair_case){.name = name, .xyz = xyz, .n = n, .box = &box, .cutoff = a * sqrt(cutoff2)});
    free(xyz);
}

static void check_shells(kith_ctx *ctx)
{
    const lattice all[3] = {LATTICE_SC, LATTICE_BCC, LATTICE_FCC};
    const double shells[3][4] = {{1, 2, 3, 9}, {0.75, 1, 2.75, 4}, {0.5, 1, 1.5, 2}};
    const double spacings[2] = {0.1, 0.125};
    const double offsets[3] = {0.0, -0.25, 0.05};
    for (int l = 0; l < 3; l++)
        for (int s = 0; s < 4; s++)
            for (int a = 0; a < 2; a++)
                for (int o = 0; o < 3; o++) {
                    const int cells = l == 0 ? 4 : 3;
                    check_shell(ctx, all[l], cells, spacings[a], shells[l][s], 7, offsets[o]);
                    check_shell(ctx, all[l], 2, spacings[a], shells[l][s], (o + s) % 8, offsets[o]);
                }
    check_shell(ctx, LATTICE_SC, 7, 0.1, 1, 7, 0.0);
    check_shell(ctx, LATTICE_SC, 12, 0.125, 1, 0, 0.0);
    check_shell(ctx, LATTICE_FCC, 4, 0.1, 0.5, 7, 0.0);
}

/* A lattice with points on both faces: those at hi wrap onto those at lo. */
static void check_closed_faces(kith_ctx *ctx, double a, int periodic)
{
    enum { SIDE = 5 };
    double xyz[SIDE * SIDE * SIDE][3];
    for (int p = 0; p < SIDE * SIDE * SIDE; p++) {
        xyz[p][0] = p % SIDE * a;
        xyz[p][1] = p / SIDE % SIDE * a;
        xyz[p][2] = p / SIDE / SIDE * a;
    }
    kith_box box = kith_box_periodic(4 * a, 4 * a, 4 * a);
    for (int k = 0; k < 3; k++)
        box.periodic[k] = periodic >> k & 1;
    for (int c = 1; c <= 2; c++)
        case_check(ctx, &(pair_case){.name = "both faces",
                                     .xyz = xyz[0],
                                     .n = SIDE * SIDE * SIDE,
                                     .box = &box,
                                     .cutoff = c * a});
}

/* Points a few ulps to either side of every face. */
static void check_beside_faces(kith_ctx *ctx, rng *r)
{
    enum { N = 90 };
    double xyz[N][3];
    const kith_box box = {.origin = {-0.3, 0.1, 1.7},
                          .row = {{0.7, 0, 0}, {0, 1.1, 0}, {0, 0, 0.3}},
                          .periodic = {1, 1, 1},
                          .dim = 3};
    for (int p = 0; p < N; p++)
        for (int k = 0; k < 3; k++) {
            const double times = (double)(rng_below(r, 5) - 2);
            const double ulps = (double)(rng_below(r, 7) - 3);
            const double face = box.origin[k] + times * box.row[k][k];
            const double ulp = rng_below(r, 2) ? 0x1p-53 : 0x1p-24;
            xyz[p][k] = face + ulps * ulp * fmax(fabs(face), 0.1);
        }
    for (int c = 1; c <= 4; c++)
        case_check(
            ctx,
            &(pair_case){
                .name = "beside faces", .xyz = xyz[0], .n = N, .box = &box, .cutoff = 0.07 * c});
}

/* Points on the faces of a triclinic box whose inverse is exact. */
static void check_triclinic_faces(kith_ctx *ctx, rng *r)
{
    enum { N = 120 };
    double xyz[N][3];
    kith_box box = kith_box_triclinic(2.0, 4.0, 2.0, 1.0, -0.5, 2.0);
    for (int p = 0; p < N; p++)
        for (int k = 0; k < 3; k++)
            xyz[p][k] = 0.25 * (double)(rng_below(r, 64) - 32);
    const double cutoffs[4] = {0.25, 0.5, 0.75, 1.5};
    for (int c = 0; c < 4; c++)
        for (int periodic = 1; periodic < 8; periodic += 2) {
            for (int k = 0; k < 3; k++)
                box.periodic[k] = periodic >> k & 1;
            case_check(ctx, &(pair_case){.name = "triclinic faces",
                                         .xyz = xyz[0],
                                         .n = N,
                                         .box = &box,
                                         .cutoff = cutoffs[c],
                                         .exact_inverse = 1});
        }
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {2};
    check_shells(ctx);
    for (int periodic = 0; periodic < 8; periodic++) {
        check_closed_faces(ctx, 0.1, periodic);
        check_closed_faces(ctx, 0.125, periodic);
    }
    for (int times = 0; times < 10; times++)
        check_beside_faces(ctx, &r);
    check_triclinic_faces(ctx, &r);
    kith_close(ctx);
    return check_done();
}
