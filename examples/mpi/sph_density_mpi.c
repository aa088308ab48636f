/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The density step of smoothed particle hydrodynamics (sph_density.c) over the processes of MPI.
 * Each process gives any particles; kith_domain_open deals particles that are near each other to
 * one process, with ghosts, the copies of particles of other processes within the support of the
 * kernel. kith_pairs_find on both finds all neighbours of the particles dealt, and
 * kith_domain_home returns the densities to the processes that gave the particles.
 *
 *     transport=$(pkg-config --variable=includedir kith)/kith/transport_mpi.c
 *     mpicc sph_density_mpi.c $transport $(pkg-config --cflags --libs kith) -lm -o sph_density_mpi
 *     mpirun -n 4 ./sph_density_mpi
 *
 * Checks the density of a lattice, which is equal for all particles.
 */
#include <kith_mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 16, ALL = SIDE * SIDE * SIDE };

static const double SPACING = 1.0 / SIDE, SMOOTHING = 1.2 / SIDE, MASS = 1.0 / ALL;

/** End all processes with a message, unless a call succeeded. */
static void need(kith_status status, const kith_ctx *ctx)
{
    if (status != KITH_OK) {
        fprintf(stderr, "%s: %s\n", kith_status_name(status), kith_message(ctx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/** Return memory for `bytes` bytes, at least one. */
static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/** The cubic spline in 3-D, 0 from r = 2 h on. */
static double kernel(double r, double h)
{
    const double pi = 3.14159265358979323846;
    const double q = r / h;
    const double shape = q < 1   ? 1 - 1.5 * q * q + 0.75 * q * q * q
                         : q < 2 ? 0.25 * (2 - q) * (2 - q) * (2 - q)
                                 : 0;
    return shape / (pi * h * h * h);
}

/** Compute the densities of the n particles that this process gives. Collective. */
static void compute_density(kith_ctx *ctx, kith_team *team, double (*xyz)[3], int n,
                            double *density)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    const kith_points given = kith_points_packed(xyz, n, KITH_DOUBLE);
    kith_domain *domain = NULL;
    need(kith_domain_open(team, &given, &box, 2 * SMOOTHING, &domain), ctx);
    kith_domain_view here = {.size = sizeof here};
    need(kith_domain_read(domain, &here), NULL);

    const int64_t count = here.n + here.ghosts;
    const kith_points points = kith_points_packed(here.xyz, count, KITH_DOUBLE);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.extras = KITH_DISTANCES;
    kith_pairs list = {0};
    need(kith_pairs_find(ctx, &points, &box, 2 * SMOOTHING, &options, &list), ctx);

    double *sum = allocate((size_t)count * sizeof *sum); /* those of ghosts are not complete */
    for (int64_t p = 0; p < count; p++) {
        sum[p] = MASS * kernel(0, SMOOTHING);
    }
    const double *distance = list.distances;
    for (int64_t k = 0; k < list.n; k++) {
        const double term = MASS * kernel(distance[k], SMOOTHING);
        sum[list.i[k]] += term;
        sum[list.j[k]] += term;
    }
    need(kith_domain_home(domain, sum, sizeof *sum, density), ctx);
    free(sum);
    kith_pairs_free(&list);
    kith_domain_close(domain);
}

int main(int argc, char **argv)
{
    int offered, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &offered);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    kith_ctx *ctx = NULL;
    kith_transport transport;
    kith_team *team = NULL;
    need(kith_open(NULL, &ctx), NULL);
    need(kith_transport_mpi(MPI_COMM_WORLD, &transport), NULL);
    need(kith_team_open(ctx, &transport, NULL, &team), ctx);

    const int n = (ALL - rank + ranks - 1) / ranks; /* particles rank, rank + ranks, ... */
    double(*xyz)[3] = allocate((size_t)n * sizeof *xyz);
    double *density = allocate((size_t)n * sizeof *density);
    for (int k = 0; k < n; k++) {
        const int p = rank + k * ranks;
        xyz[k][0] = (p % SIDE + 0.5) * SPACING;
        xyz[k][1] = (p / SIDE % SIDE + 0.5) * SPACING;
        xyz[k][2] = (p / SIDE / SIDE + 0.5) * SPACING;
    }
    compute_density(ctx, team, xyz, n, density);

    double range[2] = {-INFINITY, -INFINITY}, all[2]; /* of -density and density */
    for (int k = 0; k < n; k++) {
        range[0] = fmax(range[0], -density[k]);
        range[1] = fmax(range[1], density[k]);
    }
    MPI_Allreduce(range, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("density %.6f to %.6f, expected 1, by %d processes\n", -all[0], all[1], ranks);
    }
    free(xyz);
    free(density);
    kith_team_close(team);
    kith_close(ctx);
    MPI_Finalize();
    return fabs(-all[0] - 1) < 0.01 && all[0] + all[1] < 1e-12 ? 0 : 1;
}
