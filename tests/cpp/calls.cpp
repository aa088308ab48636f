/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C++ header: lists, neighbours, orders, groups and halos of five particles on a line, reuse and moves
 * of results and contexts, and failures as exceptions.
 */
#include <kith/kith.hpp>

#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

static_assert(!std::is_copy_constructible_v<kith::pairs> && !std::is_copy_assignable_v<kith::pairs>,
              "two results would free the same arrays");
static_assert(!std::is_copy_constructible_v<kith::context>, "two contexts would be closed as one");
static_assert(std::is_nothrow_move_constructible_v<kith::halos>, "results are moved");

namespace
{

int faults = 0;

void check(bool right, const char *what)
{
    if (!right) {
        std::printf("wrong: %s\n", what);
        faults++;
    }
}

/** Check that a call throws kith::error with a status, and a message that has some words. */
template <typename Call> void refused(Call call, kith_status status, const char *words)
{
    try {
        call();
        std::printf("accepted: %s\n", words);
    } catch (const kith::error &error) {
        if (error.status() == status && std::strstr(error.what(), words))
            return;
        std::printf("%d: %s\n", error.status(), error.what());
    }
    faults++;
}

const float line[5][3] = {{9.0F}, {1.0F}, {1.5F}, {2.0F}, {9.5F}};

void check_pairs(kith::context &ctx)
{
    const double two[2][3] = {{0.25}, {3.75}};
    const kith_box box = kith_box_periodic(4, 4, 4);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.extras = KITH_VECTORS;
    kith::pairs list = ctx.pairs(kith::points(two[0], 2), 0.5, &box, &options);
    check(list.size() == 1 && list->i[0] == 0 && list->j[0] == 1, "a pair across the boundary");
    check(static_cast<const double *>(list->vectors)[0] == -0.5, "its vector");

    const int64_t capacity = list->capacity;
    const void *const arrays = list->j;
    list = ctx.pairs(kith::points(two[0], 2), 0.5, &box, &options, std::move(list));
    check(list->j == arrays && list->capacity == capacity, "the arrays of a list are used again");
    const kith::pairs moved = std::move(list);
    check(moved->j == arrays && moved.size() == 1 && list.size() == 0, "a list that was moved");
    check(ctx.pairs(kith::points(line[0], 5), 0.6).size() == 3, "floats in open space");
    check(ctx.pairs(kith::points(line[0], 0), 0.6).size() == 0, "no particles");
}

void check_nearest(kith::context &ctx)
{
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.cutoff = 0.6;
    const kith_points points = kith::points(line[0], 5);
    kith::nearest near = ctx.nearest(points, 2, nullptr, &options);
    const int32_t counts[5] = {1, 1, 2, 1, 1}, first[5] = {4, 2, 1, 2, 0};
    check(near.size() == 5 && near.counts().size() == 5 && near->k == 2, "rows of neighbours");
    for (std::size_t i = 0; i < 5; i++) {
        check(near.counts()[i] == counts[i], "number of neighbours");
        check(near.of(i).size() == static_cast<std::size_t>(counts[i]), "neighbours of a particle");
        check(near.of(i)[0] == first[i], "the nearest");
    }
    check(near.of(2)[1] == 3 && near->j[1] == -1, "the second neighbour, and none");
    const void *const arrays = near->j;
    near = ctx.nearest(points, 2, nullptr, &options, std::move(near));
    check(near->j == arrays, "the arrays of neighbours are used again");
    const kith::nearest moved = std::move(near);
    check(moved->j == arrays && moved.size() == 5 && near.size() == 0,
          "neighbours that were moved");
    check(ctx.nearest(points, 4).counts()[0] == 4, "neighbours at any distance");
}

void check_matrix(kith::context &ctx)
{
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.layout = KITH_MATRIX;
    options.sorted = 1;
    options.width = 3;
    options.fill = 5;
    const kith::pairs list = ctx.pairs(kith::points(line[0], 5), 0.6, nullptr, &options);
    check(list->width == 3 && list->widest == 2 && list.size() == 6, "width and size");
    check(list.counts().size() == 5 && list.counts()[2] == 2, "counts");
    check(list.of(2).size() == 2 && list.of(2)[0] == 1 && list.of(2)[1] == 3, "a row");
    check(list.of(0)[0] == 4 && list->j[1] == 5 && list->j[2] == 5, "entries without a neighbour");
}

void check_order(kith::context &ctx)
{
    const kith_points points = kith::points(line[0], 5);
    kith::order order = ctx.order(points, nullptr, 0.25);
    const int32_t expected[5] = {1, 2, 3, 0, 4};
    check(order.size() == 5, "size of an order");
    std::size_t k = 0;
    for (const int32_t p : order) {
        check(p == expected[k] && order[k] == p, "a particle of an order");
        k++;
    }
    const void *const array = order->order;
    order = ctx.order(points, nullptr, 0, std::move(order));
    check(k == 5 && order->order == array, "the array of an order is used again");
}

void check_verlet(kith::context &ctx)
{
    float moved[5][3];
    std::memcpy(moved, line, sizeof moved);
    kith_verlet_options options;
    kith_verlet_options_init(&options);
    options.cutoff = 0.6;
    options.skin = 0.2;
    kith::verlet near = ctx.verlet(options);
    const kith_points points = kith::points(moved[0], 5);
    kith::pairs list = near.update(points);
    check(list.size() == ctx.pairs(points, 0.6).size(), "pairs of a kept list");
    moved[1][0] += 0.05F;
    kith::verlet there = std::move(near);
    list = there.update(points, nullptr, std::move(list));
    check(list.size() == ctx.pairs(points, 0.6).size(), "pairs of later positions");
    check(there.state().reason == KITH_VERLET_KEPT || there.state().reason == KITH_VERLET_ALWAYS,
          "the list is kept");
    there.rebuild();
    list = there.update(points, nullptr, std::move(list));
    check(there.state().updates == 3 && there.state().rebuilt == 1, "the list is rebuilt");
    const int64_t offsets[] = {0, 2, 5};
    kith_batch batch;
    kith_batch_init(&batch);
    batch.systems = 2;
    batch.offsets = offsets;
    kith::verlet systems = ctx.verlet(options);
    if (std::strncmp(kith_backend(ctx.get()), "cpu", 3) == 0) {
        list = systems.update(points, nullptr, batch, std::move(list));
        check(list.size() < ctx.pairs(points, 0.6).size() && systems.reasons(2).size() == 2 &&
                  systems.reasons(2)[1] != KITH_VERLET_KEPT,
              "the list of a batch");
    }
    options.skin = -1;
    refused([&] { ctx.verlet(options); }, KITH_INVALID, "options.skin is -1");
}

void check_halos(kith::context &ctx)
{
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = 2;
    const kith_points points = kith::points(line[0], 5);
    const kith::groups groups = ctx.groups(points, 0.6, nullptr, &options);
    check(groups.size() == 2 && groups.members().size() == 2 && groups.members()[0] == 3 &&
              groups.members()[1] == 2,
          "members");
    const int32_t expected[5] = {2, 1, 1, 1, 2};
    check(groups.labels().size() == 5, "number of labels");
    std::size_t p = 0;
    for (const int32_t label : groups.labels()) {
        check(label == expected[p++], "a label");
    }
    const kith::halos halos = ctx.halos(points, groups);
    check(halos.size() == 2 && halos[0].mass == 3 && halos[1].mass == 2, "masses");
    check(halos[0].centre_of_mass[0] == 1.5 && halos[1].centre_of_mass[0] == 9.25, "centres");
    check(ctx.groups(points, 0.6).size() == 0, "groups of 20");
}

void check_failures(kith::context &ctx)
{
    const kith_points points = kith::points(line[0], 5);
    refused([&] { ctx.pairs(points, -1); }, KITH_INVALID, "cutoff");
    refused([&] { ctx.nearest(points, 0); }, KITH_INVALID, "k is 0");
    refused([&] { ctx.order(points, nullptr, -1); }, KITH_INVALID, "cell is -1");
    refused([&] { ctx.groups(points, 0); }, KITH_INVALID, "length");
    refused([&] { ctx.halos(points, kith::groups()); }, KITH_INVALID, "groups");
    refused([&] { ctx.set_stream(nullptr); }, KITH_UNSUPPORTED, "needs a GPU");
    refused(
        [&] {
            kith::check(kith_pairs_count(ctx.get(), &points, nullptr, 1, nullptr, nullptr, nullptr),
                        ctx.get());
        },
        KITH_INVALID, "n is NULL");
    kith_options options;
    kith_options_init(&options);
    options.backend = "abacus";
    refused([&] { kith::context{&options}; }, KITH_INVALID, "abacus");
    kith::check(KITH_OK, nullptr);
}

} // namespace

int main()
{
    kith_options options;
    kith_options_init(&options);
    options.backend = "cpu";
    kith::context first(&options), ctx(std::move(first));
    check(first.get() == nullptr && ctx.get() != nullptr, "a context that was moved");
    check_pairs(ctx);
    check_nearest(ctx);
    check_matrix(ctx);
    check_order(ctx);
    check_verlet(ctx);
    check_halos(ctx);
    check_failures(ctx);
    ctx = kith::context(&options);
    check_pairs(ctx);
    return faults ? 1 : 0;
}
