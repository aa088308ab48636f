/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Molecular dynamics of the Lennard-Jones liquid near its triple point (rho* = 0.8442, T* = 0.722,
 * cutoff 2.5; Verlet, Phys. Rev. 159, 98, 1967), with forces from a list of pairs that is kept over
 * the steps, as he did: it is made from the pairs within cutoff and skin until particles have moved
 * half as far as the skin is wide. Then its energy is checked.
 *
 *     lennard_jones [TRAJECTORY.xyz [STEPS]]
 *     KITH_BACKEND=cuda lennard_jones     (the list is kept on a GPU)
 *     kith rdf TRAJECTORY.xyz --unit sigma -o gr.txt --sq sq.txt --plot gr.pdf
 */
#include <kith.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 6, N = 4 * CELLS * CELLS * CELLS, FRAME_EVERY = 50 };

static const double DENSITY = 0.8442, TEMPERATURE = 0.722, CUTOFF = 2.5, SKIN = 0.35, STEP = 0.004;

static double x[N][3], v[N][3], f[N][3]; /* positions are never wrapped: the list allows it */
static double side;

static kith_ctx *ctx;
static kith_verlet *verlet;
static kith_pairs list;

static void make_crystal(void)
{
    static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    uint64_t state = 1;
    double mean[3] = {0};
    side = cbrt(N / DENSITY);
    for (int p = 0; p < N; p++) {
        const int cell[3] = {p / 4 % CELLS, p / 4 / CELLS % CELLS, p / 4 / CELLS / CELLS};
        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            x[p][k] = (cell[k] + corner[p % 4][k]) * side / CELLS;
            v[p][k] = (double)(state >> 11) * 0x1p-53 - 0.5;
            mean[k] += v[p][k] / N;
        }
    }
    for (int p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            v[p][k] -= mean[k];
        }
    }
}

static double kinetic_energy(void)
{
    double sum = 0;
    for (int p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            sum += v[p][k] * v[p][k] / 2;
        }
    }
    return sum;
}

static void set_temperature(double temperature)
{
    const double scale = sqrt(1.5 * (N - 1) * temperature / kinetic_energy());
    for (int p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            v[p][k] *= scale;
        }
    }
}

static kith_status open_list(void)
{
    kith_verlet_options options;
    kith_verlet_options_init(&options);
    options.cutoff = CUTOFF;
    options.skin = SKIN;
    options.extras = KITH_VECTORS; /* to the image of j that is the neighbour */
    return kith_verlet_open(ctx, &options, &verlet);
}

/** The pairs that are within the cutoff now. */
static kith_status update_list(void)
{
    const kith_points points = kith_points_packed(x, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(side, side, side);
    return kith_verlet_update(verlet, &points, &box, &list);
}

/** Forces of 4 (r^-12 - r^-6), cut and shifted. @return the potential energy. */
static double compute_forces(void)
{
    const double cut6 = pow(CUTOFF, -6), at_cutoff = 4 * cut6 * (cut6 - 1);
    double energy = 0;
    memset(f, 0, sizeof f);
    for (int64_t p = 0; p < list.n; p++) {
        const int32_t i = list.i[p], j = list.j[p];
        const double *d = (const double *)list.vectors + 3 * p;
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        const double r6 = 1 / (r2 * r2 * r2), push = 24 * r6 * (2 * r6 - 1) / r2;
        energy += 4 * r6 * (r6 - 1) - at_cutoff;
        for (int k = 0; k < 3; k++) {
            f[i][k] -= push * d[k];
            f[j][k] += push * d[k];
        }
    }
    return energy;
}

/** A step of velocity Verlet. @param[out] energy  kinetic and potential, at its end */
static kith_status step(double *energy)
{
    for (int p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            v[p][k] += STEP / 2 * f[p][k];
            x[p][k] += STEP * v[p][k];
        }
    }
    const kith_status status = update_list();
    const double potential = compute_forces();
    for (int p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            v[p][k] += STEP / 2 * f[p][k];
        }
    }
    *energy = kinetic_energy() + potential;
    return status;
}

static void write_frame(FILE *file, int number)
{
    fprintf(file, "%d\nLattice=\"%.9g 0 0 0 %.9g 0 0 0 %.9g\" Properties=species:S:1:pos:R:3 ", N,
            side, side, side);
    fprintf(file, "Time=%.9g\n", number * STEP);
    for (int p = 0; p < N; p++) {
        fprintf(file, "Ar %.6f %.6f %.6f\n", x[p][0], x[p][1], x[p][2]);
    }
}

int main(int argc, char **argv)
{
    const int steps = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 500, melting = 500,
              settling = 1000;
    FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
    kith_status status = kith_open(NULL, &ctx);
    if (status != KITH_OK || (argc > 1 && !file)) {
        fprintf(stderr, "lennard_jones: %s\n", status == KITH_OK ? argv[1] : kith_message(NULL));
        return 1;
    }
    make_crystal();
    status = open_list();
    double energy = 0, first = 0, farthest = 0, temperature = 0;
    for (int s = -settling; s < steps && status == KITH_OK; s++) {
        if (s < 0 && s % 10 == 0) { /* hot enough to melt, then as cold as is wanted */
            set_temperature(s < melting - settling ? 2.5 * TEMPERATURE : TEMPERATURE);
        }
        status = step(&energy);
        first = s <= 0 ? energy : first;
        farthest = fmax(farthest, fabs(energy - first) / N);
        temperature += s < 0 ? 0 : kinetic_energy() / (1.5 * (N - 1)) / steps;
        if (file && s >= 0 && s % FRAME_EVERY == 0) {
            write_frame(file, s);
        }
    }
    if (status != KITH_OK) {
        fprintf(stderr, "lennard_jones: %s\n", kith_message(ctx));
    }
    printf("%d particles, %d steps at T* = %.3f: energy %.4f a particle, held within %.1g\n", N,
           steps, temperature, energy / N, farthest);
    kith_verlet_state state = {0};
    (void)kith_verlet_read(verlet, &state);
    printf("%lld searches served %lld steps; %lld of %lld pairs are within the cutoff\n",
           (long long)state.rebuilds, (long long)state.updates, (long long)list.n,
           (long long)state.kept);
    const int written = file ? ferror(file) | fclose(file) : 0;
    kith_verlet_close(verlet);
    kith_pairs_free(&list);
    kith_close(ctx);
    return status == KITH_OK && written == 0 && farthest < 2e-3 &&
                   fabs(temperature - TEMPERATURE) < 0.06
               ? 0
               : 1;
}
