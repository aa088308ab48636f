/* SPDX-License-Identifier: BSD-3-Clause
 *
 * C++: Lennard-Jones atoms by velocity Verlet, forces from a half list with vectors. Checks that the
 * energy stays, that momentum is zero, and that a failure is an exception.
 */
#include <kith/kith.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace
{

constexpr int side = 6, n = side * side * side; // a cubic lattice of density 0.8
constexpr double cutoff = 2.5, step = 0.002;

/** Forces on all atoms. @return the potential energy, shifted to 0 at the cutoff. */
double find_forces(kith::context &ctx, const std::vector<double> &r, const kith_box &box,
                   kith::pairs &list, std::vector<double> &force)
{
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.extras = KITH_VECTORS;
    list = ctx.pairs(kith::points(r.data(), n), cutoff, &box, &options, std::move(list));
    force.assign(3 * n, 0.0);
    const double at_cutoff = 4 * (std::pow(cutoff, -12) - std::pow(cutoff, -6));
    const auto *vectors = static_cast<const double *>(list->vectors);
    double energy = 0;
    for (std::size_t p = 0; p < list.size(); p++) {
        const double *d = vectors + 3 * p; // from i to j
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        const double s6 = 1 / (r2 * r2 * r2);
        energy += 4 * (s6 * s6 - s6) - at_cutoff;
        const double over_r = 24 * (2 * s6 * s6 - s6) / r2;
        for (std::size_t k = 0; k < 3; k++) {
            force[3 * static_cast<std::size_t>(list->i[p]) + k] -= over_r * d[k];
            force[3 * static_cast<std::size_t>(list->j[p]) + k] += over_r * d[k];
        }
    }
    return energy;
}

double kinetic(const std::vector<double> &v)
{
    double sum = 0;
    for (const double component : v) {
        sum += component * component / 2;
    }
    return sum;
}

} // namespace

int main()
{
    const double length = std::cbrt(n / 0.8), spacing = length / side;
    const kith_box box = kith_box_periodic(length, length, length);
    std::vector<double> r(3 * n), v(3 * n), force;
    for (int p = 0; p < n; p++) {
        const int cell[3] = {p % side, p / side % side, p / side / side};
        for (int k = 0; k < 3; k++) {
            r[static_cast<std::size_t>(3 * p + k)] = (cell[k] + 0.5) * spacing;
            v[static_cast<std::size_t>(3 * p + k)] = (p % 2 ? 1 : -1) * (cell[(k + 1) % 3] - 2.5) /
                                                     3;
        }
    }
    double momentum[3] = {0, 0, 0};
    for (std::size_t c = 0; c < v.size(); c++) {
        momentum[c % 3] += v[c] / n;
    }
    for (std::size_t c = 0; c < v.size(); c++) {
        v[c] -= momentum[c % 3];
    }

    kith::context ctx;
    kith::pairs list;
    double potential = find_forces(ctx, r, box, list, force);
    const double before = potential + kinetic(v);
    for (int t = 0; t < 100; t++) {
        for (std::size_t c = 0; c < r.size(); c++) {
            v[c] += force[c] * step / 2;
            r[c] += v[c] * step;
        }
        potential = find_forces(ctx, r, box, list, force);
        for (std::size_t c = 0; c < r.size(); c++) {
            v[c] += force[c] * step / 2;
        }
    }
    const double drift = std::fabs(potential + kinetic(v) - before) / n;
    double total = 0;
    for (const double component : v) {
        total += component;
    }

    bool refused = false;
    try {
        (void)ctx.pairs(kith::points(r.data(), n), -1, &box);
    } catch (const kith::error &error) {
        refused = error.status() == KITH_INVALID;
        std::printf("a cutoff of -1: %s\n", error.what());
    }
    std::printf("energy per atom %.6f, changed by %.2g in 100 steps\n", before / n, drift);
    return drift < 1e-3 && std::fabs(total) < 1e-9 && refused ? 0 : 1;
}
