/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operation for flocks: sums over the neighbours of a particle, in integers, so that
 * neither the order of the particles nor the width of vectors matters. Included by kernel.c.
 */
#ifndef KITH_CPU_COMPANY_H
#define KITH_CPU_COMPANY_H

#include "visit.h"

/* What is added up has 24 bits: so many of them never overflow 32. */
enum { FULL = 230 };

/** The sums over a part of the neighbours, by lanes, modulo 2^32. */
struct lanes {
    vi sum[KITH_RULES][3];
    int n[KITH_RULES];
};

/** Add the lanes to the sums: offsets from `here`. */
KITH_INLINE void empty_lanes(struct lanes *lanes, const int32_t here[3],
                             struct kith__flock_sums *sums)
{
    for (int rule = 0; rule < KITH_RULES; rule++) {
        for (int c = 0; c < 3; c++) {
            const uint32_t total = (uint32_t)vi_total(lanes->sum[rule][c]);
            const uint32_t own = rule == KITH_ALIGNMENT ? 0 : (uint32_t)here[c];
            sums->sum[rule][c] += (int32_t)(total - (uint32_t)lanes->n[rule] * own);
            lanes->sum[rule][c] = vi_set(0);
        }
        sums->n[rule] += lanes->n[rule];
        lanes->n[rule] = 0;
    }
}

/** Those of the hits at k, of squared distance r2, that are within the radius of a rule. */
KITH_INLINE unsigned hits_of_rule(const struct kith__sweep *sweep, const struct visitor *i, int k,
                                  int rule, unsigned hits, vf r2)
{
    const struct kith__flight *flight = sweep->flight;
    const float middle = flight->ratio[rule] - i->q;
    const float band = sweep->home.band;
    unsigned borderline;
    const unsigned mask = hits & vf_classify(r2, vf_set(middle - band), vf_set(middle + band),
                                             &borderline);
    borderline &= hits;
    return __builtin_expect(borderline != 0, 0)
               ? decide(sweep, i, k, mask, borderline, flight->rules->radius[rule])
               : mask;
}

/** Add what a rule sums of the hits at k. */
KITH_INLINE void add_hits(const struct kith__tile *tile, int k, int rule, unsigned hits,
                          struct lanes *lanes)
{
    const int first = rule == KITH_ALIGNMENT ? 3 : 0;
    const vm mask = vm_from(hits);
    for (int c = 0; c < 3; c++) {
        lanes->sum[rule][c] = vi_add_where(lanes->sum[rule][c], mask,
                                           vi_load(tile->cargo[first + c] + k));
    }
    lanes->n[rule] += __builtin_popcount(hits);
}

/** Sums over all neighbours. usual: alignment and cohesion reach as far as the sweep. */
KITH_INLINE void sum_all(struct kith__sweep *sweep, const struct visitor *i, bool usual,
                         struct kith__flock_sums *sums)
{
    const struct kith__flight *flight = sweep->flight;
    const struct kith__tile *tile = &sweep->tile;
    const struct run run = start_run(sweep, i);
    const int end = tile->n;
    const int own = i->self < 0 ? -W : i->self / W * W;
    int32_t here[3];
    for (int c = 0; c < 3; c++) {
        here[c] = flight->cargo[c][i->slot];
    }
    struct lanes lanes = {.n = {0, 0, 0}};
    for (int rule = 0; rule < KITH_RULES; rule++) {
        for (int c = 0; c < 3; c++) {
            lanes.sum[rule][c] = vi_set(0);
        }
    }
    int most = 0; /* hits since the lanes were empty */
    for (int k = 0; k < end; k += W) {
        vf r2;
        unsigned hits = hits_at(sweep, i, &run, k, &r2);
        hits &= k == own ? lanes_beside(sweep, i, k) : ~0u;
        most += __builtin_popcount(hits);
        if (__builtin_expect(most > FULL, 0)) {
            empty_lanes(&lanes, here, sums);
            most = W;
        }
        if (usual) {
            add_hits(tile, k, KITH_ALIGNMENT, hits, &lanes);
            add_hits(tile, k, KITH_COHESION, hits, &lanes);
            add_hits(tile, k, KITH_SEPARATION, hits_of_rule(sweep, i, k, KITH_SEPARATION, hits, r2),
                     &lanes);
            continue;
        }
        for (int rule = 0; rule < KITH_RULES; rule++) {
            if (flight->rules->radius[rule] > 0) {
                add_hits(tile, k, rule,
                         flight->whole[rule] ? hits : hits_of_rule(sweep, i, k, rule, hits, r2),
                         &lanes);
            }
        }
    }
    empty_lanes(&lanes, here, sums);
}

/** A neighbour among those that are nearest. */
struct chosen {
    double r2;
    int32_t id, shift; /* of equally near ones the smallest come first */
    int place;
};

/** Put one into the list of the `most` nearest, in order. @return how many there are. */
static int choose(struct chosen *list, int n, int64_t most, const struct chosen *one)
{
    int at = n;
    for (; at > 0; at--) {
        const struct chosen *before = &list[at - 1];
        if (before->r2 != one->r2   ? before->r2 < one->r2
            : before->id != one->id ? before->id < one->id
                                    : before->shift < one->shift) {
            break;
        }
    }
    if (at >= most) {
        return n;
    }
    n = n < most ? n + 1 : n;
    memmove(&list[at + 1], &list[at], (size_t)(n - 1 - at) * sizeof *list);
    list[at] = *one;
    return n;
}

/** Add one neighbour to the sums of the rules that reach it. */
static void add_chosen(const struct kith__sweep *sweep, const int32_t here[3],
                       const struct chosen *one, struct kith__flock_sums *sums)
{
    const struct kith__flight *flight = sweep->flight;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        const bool on = flight->rules->radius[rule] > 0 && one->r2 <= flight->square[rule];
        sums->n[rule] += on;
        for (int c = 0; c < 3 && on; c++) {
            sums->sum[rule][c] += rule == KITH_ALIGNMENT
                                      ? sweep->tile.cargo[3 + c][one->place]
                                      : kith__flock_offset(here[c],
                                                           sweep->tile.cargo[c][one->place]);
        }
    }
}

/** Sums over those neighbours that are seen, and nearest: one by one, all by the definition. */
static void sum_chosen(struct kith__sweep *sweep, const struct visitor *i,
                       struct kith__flock_sums *sums)
{
    const struct kith__flight *flight = sweep->flight;
    const struct kith__flock_rules *rules = flight->rules;
    const bool single = sweep->question->precision == KITH_FLOAT;
    sweep->n_hits = 0;
    if (!kith__hits_room(sweep, sweep->tile.n)) {
        return;
    }
    const int n = collect_hits(sweep, i, (struct taken){.to = sweep->hit_id});
    struct chosen list[KITH_MOST_NEAREST + 1];
    int listed = 0;
    int32_t here[3];
    double v[3];
    for (int c = 0; c < 3; c++) {
        here[c] = flight->cargo[c][i->slot];
        const void *from = flight->flock->next.v[c];
        v[c] = single ? (double)((const float *)from)[i->slot] : ((const double *)from)[i->slot];
    }
    for (int h = 0; h < n; h++) {
        const int place = sweep->hit_id[h];
        double d[3];
        for (int c = 0; c < 3; c++) {
            d[c] = kith__flock_offset(here[c], sweep->tile.cargo[c][place]);
        }
        if (!rules->sees_all && !kith__flock_sees(rules, v, d)) {
            continue;
        }
        const int64_t slot = sweep->tile.slot[place];
        struct chosen one = {
            .id = flight->flock->next.id[slot], .shift = tile_shift(sweep, place), .place = place};
        int32_t s[3];
        kith__unpack_shift(one.shift, s);
        one.r2 = single ? (double)apart_f(sweep, i->slot, slot, s)
                        : apart_d(sweep, i->slot, slot, s);
        if (rules->nearest > 0) {
            listed = choose(list, listed, rules->nearest, &one);
        } else {
            add_chosen(sweep, here, &one, sums);
        }
    }
    for (int k = 0; k < listed; k++) {
        add_chosen(sweep, here, &list[k], sums);
    }
}

static void flock_usual_operation(struct kith__sweep *sweep, const struct visitor *i)
{
    struct kith__flock_sums sums = {.n = {0, 0, 0}};
    sum_all(sweep, i, true, &sums);
    sweep->flight->move(sweep->flight, i->slot, &sums);
}

static void flock_all_operation(struct kith__sweep *sweep, const struct visitor *i)
{
    struct kith__flock_sums sums = {.n = {0, 0, 0}};
    sum_all(sweep, i, false, &sums);
    sweep->flight->move(sweep->flight, i->slot, &sums);
}

static void flock_chosen_operation(struct kith__sweep *sweep, const struct visitor *i)
{
    struct kith__flock_sums sums = {.n = {0, 0, 0}};
    sum_chosen(sweep, i, &sums);
    sweep->flight->move(sweep->flight, i->slot, &sums);
}

static void flock(struct kith__sweep *sweep, int64_t block)
{
    const struct kith__flight *flight = sweep->flight;
    if (flight->rules->nearest > 0 || !flight->rules->sees_all) {
        visit_block(sweep, block, flock_chosen_operation, NULL);
    } else if (flight->whole[KITH_ALIGNMENT] && flight->whole[KITH_COHESION] &&
               flight->rules->radius[KITH_SEPARATION] > 0) {
        visit_block(sweep, block, flock_usual_operation, NULL);
    } else {
        visit_block(sweep, block, flock_all_operation, NULL);
    }
}

#endif
