/* SPDX-License-Identifier: BSD-3-Clause
 *
 * C++: the atoms around a vacancy of a face-centred cubic crystal, by the centro-symmetry parameter
 * of Kelchner, Plimpton & Hamilton (Phys. Rev. B 58, 11085, 1998) over the 12 nearest neighbours:
 * the sum of the six smallest |u + v|^2 of two of their vectors u, v. Checks that it is 0 but for
 * the 12 neighbours of the vacancy, and that a failure is an exception.
 */
#include <kith/kith.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace
{

constexpr int side = 6, neighbours = 12; // cells of the crystal along an axis; first shell
constexpr double vacancy[3] = {0, 0, 0};

/** Atoms of a crystal of cells of width 1, without the first. */
std::vector<double> make_crystal()
{
    constexpr double basis[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    std::vector<double> r;
    for (int c = 0; c < side * side * side; c++) {
        const int cell[3] = {c % side, c / side % side, c / side / side};
        for (const auto &atom : basis) {
            for (int m = 0; m < 3; m++) {
                r.push_back(cell[m] + atom[m]);
            }
        }
    }
    r.erase(r.begin(), r.begin() + 3);
    return r;
}

/** Centro-symmetry of the vectors of an atom to its neighbours [length^2]. */
double centro_symmetry(const double (*vector)[3])
{
    std::vector<double> squares;
    for (int p = 0; p < neighbours; p++) {
        for (int q = p + 1; q < neighbours; q++) {
            double sum = 0;
            for (int m = 0; m < 3; m++) {
                const double both = vector[p][m] + vector[q][m];
                sum += both * both;
            }
            squares.push_back(sum);
        }
    }
    std::sort(squares.begin(), squares.end());
    double sum = 0;
    for (std::size_t p = 0; p < neighbours / 2; p++) {
        sum += squares[p];
    }
    return sum;
}

/** Squared distance of two places, of their nearest images [length^2]. */
double square_between(const double *u, const double *v)
{
    double sum = 0;
    for (int m = 0; m < 3; m++) {
        const double d = std::fabs(u[m] - v[m]);
        sum += std::min(d, side - d) * std::min(d, side - d);
    }
    return sum;
}

} // namespace

int main()
{
    const std::vector<double> r = make_crystal();
    const kith_points points = kith::points(r.data(), r.size() / 3);
    const kith_box box = kith_box_periodic(side, side, side);
    kith_options on_cpu;
    kith_options_init(&on_cpu);
    on_cpu.backend = "cpu"; // a GPU does not offer it yet
    kith::context ctx(&on_cpu);
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.extras = KITH_VECTORS;
    kith::nearest near = ctx.nearest(points, neighbours, &box, &options);

    const auto *vectors = static_cast<const double(*)[3]>(near->vectors);
    int defects = 0, wrong = 0;
    for (std::size_t i = 0; i < near.size(); i++) {
        const bool broken = centro_symmetry(vectors + i * neighbours) > 1e-9;
        const auto first_shell = [&](int32_t j) {
            return square_between(&r[3 * i], &r[3 * static_cast<std::size_t>(j)]) < 0.51;
        };
        const auto of_i = near.of(i);
        defects += broken;
        wrong += broken != (square_between(&r[3 * i], vacancy) < 0.51) || of_i.size() != neighbours;
        wrong += std::count_if(of_i.begin(), of_i.end(), first_shell) != neighbours - broken;
    }
    std::printf("%zu atoms, %d of them beside the vacancy\n", near.size(), defects);

    options.cutoff = 0.72; // the first shell: 11 neighbours beside the vacancy, else 12
    near = ctx.nearest(points, 20, &box, &options, std::move(near));
    const auto counts = near.counts();
    const auto few = std::count(counts.begin(), counts.end(), neighbours - 1);
    wrong += few != defects || counts.size() != near.size();
    bool refused = false;
    try {
        (void)ctx.nearest(points, 0, &box);
    } catch (const kith::error &error) {
        refused = error.status() == KITH_INVALID;
        std::printf("no neighbours: %s\n", error.what());
    }
    return defects == 12 && wrong == 0 && refused ? 0 : 1;
}
