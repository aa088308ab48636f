/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operation for flocks: neighbour sums of a particle, in integers, so that neither the
 * order of particles nor the width of vectors changes a bit. Compiled once for each instruction
 * set. The sweep, its tile of candidates and the two thresholds of a test are those of
 * engine/cpu/visit.h.
 */
#include "engine/cpu/visit.h"
#include "flock/nearest_list.h"
#include "flock_step.h"

/* Most terms that are summed in 32 bits: offsets and velocities are about 2^KITH_FLOCK_BITS units
 * at most, so that the absolute value of the sum stays below 2^31 = 256 * 2^23; 230 leaves room for
 * the rounding of offsets. Positions, which are larger, are summed modulo 2^32: the sum of offsets
 * follows from it exactly (add_axis). */
enum { MOST_TERMS = 230 };

/** Radii of the rules, as two thresholds for r^2 - |i|^2 of the tile's candidates, like those of
 *  struct query_particle: candidates up to `clear` are within the radius, candidates above `most`
 *  are not, and the others are borderline [cutoff^2]. */
struct thresholds {
    bool on[KITH_RULES];        /**< the rule is on */
    bool at_cutoff[KITH_RULES]; /**< the radius of the rule is the cutoff of the sweep */
    vf clear[KITH_RULES];       /**< squared radius less the error bound, for one query particle */
    vf most[KITH_RULES];        /**< squared radius plus the error bound, for one query particle */
};

/** Return the thresholds of all rules for query particle i.
 *  @param usual  alignment and cohesion have the cutoff of the sweep, separation a smaller radius;
 *                a constant at compile time */
KITH_INLINE struct thresholds find_thresholds(const struct kith__sweep *sweep,
                                              const struct query_particle *i, bool usual)
{
    const struct kith__flock_step *step = kith__flock_step_of(sweep);
    struct thresholds thresholds;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        const float middle = step->ratio[rule] - i->q;
        thresholds.on[rule] = usual || step->rules->radius[rule] > 0;
        thresholds.at_cutoff[rule] = usual ? rule != KITH_SEPARATION : step->at_cutoff[rule];
        thresholds.clear[rule] = vf_set(middle - sweep->query.error_bound);
        thresholds.most[rule] = vf_set(middle + sweep->query.error_bound);
    }
    return thresholds;
}

/** Sums over at most MOST_TERMS neighbours, in each vector lane separately, modulo 2^32. The query
 *  particle itself is among them; sum_all subtracts it at the end. */
struct lanes {
    vi sum[KITH_RULES][3]; /**< sums of positions; of velocities for KITH_ALIGNMENT [units] */
    int hits;              /**< candidates within the cutoff */
    int n[KITH_RULES];     /**< candidates within the radius of a rule with a smaller radius */
};

/** Zero the sums, field by field: a struct that is copied as a whole would not be held in
 *  registers. */
KITH_INLINE void clear_lanes(struct lanes *lanes)
{
    lanes->hits = 0;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        lanes->n[rule] = 0;
        for (int c = 0; c < 3; c++) {
            lanes->sum[rule][c] = vi_set(0);
        }
    }
}

/** Add the sum of one rule and axis over all lanes: sum over j of (x_j - here) = sum of x_j - n
 *  here, which is exact modulo 2^32, and fits 32 bits.
 *  @param n     number of neighbours
 *  @param here  coordinate of the query particle, subtracted n times: gives the sum of offsets */
KITH_INLINE void add_axis(const struct lanes *lanes, int rule, int c, uint32_t n, uint32_t here,
                          struct kith__flock_sums *sums)
{
    sums->sum[rule][c] += (int32_t)(vi_total(lanes->sum[rule][c]) - n * here);
}

/** Add the sums of one rule over n neighbours.
 *  @param here  position of the query particle, for sums of offsets; 0, for sums of velocities */
KITH_INLINE void add_rule(const struct lanes *lanes, int rule, int n, const int32_t here[3],
                          struct kith__flock_sums *sums)
{
    add_axis(lanes, rule, 0, (uint32_t)n, (uint32_t)here[0], sums);
    add_axis(lanes, rule, 1, (uint32_t)n, (uint32_t)here[1], sums);
    add_axis(lanes, rule, 2, (uint32_t)n, (uint32_t)here[2], sums);
    sums->n[rule] += n;
}

/** Return the number of neighbours within the radius of a rule. */
KITH_INLINE int lanes_hits(const struct lanes *lanes, const struct thresholds *thresholds, int rule)
{
    return !thresholds->on[rule] ? 0 : thresholds->at_cutoff[rule] ? lanes->hits : lanes->n[rule];
}

/** Add the lanes to the sums, as offsets from `here`. Without loops, which would keep the lanes in
 *  memory. */
KITH_INLINE void add_lanes(const struct lanes *lanes, const struct thresholds *thresholds,
                           const int32_t here[3], struct kith__flock_sums *sums)
{
    static const int32_t zero[3] = {0, 0, 0};
    add_rule(lanes, KITH_SEPARATION, lanes_hits(lanes, thresholds, KITH_SEPARATION), here, sums);
    add_rule(lanes, KITH_ALIGNMENT, lanes_hits(lanes, thresholds, KITH_ALIGNMENT), zero, sums);
    add_rule(lanes, KITH_COHESION, lanes_hits(lanes, thresholds, KITH_COHESION), here, sums);
}

/** Add one candidate of the tile to the sums of a rule.
 *  @param here   position of the query particle [units]
 *  @param index  index of the candidate in the tile */
KITH_INLINE void add_one(const struct kith__sweep *sweep, const int32_t here[3], int rule,
                         int index, struct kith__flock_sums *sums)
{
    sums->n[rule]++;
    for (int c = 0; c < 3; c++) {
        sums->sum[rule][c] += rule == KITH_ALIGNMENT
                                  ? sweep->tile.column[3 + c][index]
                                  : kith__flock_offset(here[c], sweep->tile.column[c][index]);
    }
}

/** Add those of candidates [k, k + W) within the radius of a rule one by one, when some of them are
 *  borderline. Cold path, not inlined. */
static __attribute__((noinline, cold)) void add_borderline(const struct kith__sweep *sweep,
                                                           const struct query_particle *i,
                                                           const struct thresholds *thresholds,
                                                           const int32_t here[3], int k,
                                                           struct kith__flock_sums *sums)
{
    const struct tile_operands operands = load_operands(sweep, i);
    const vm all = vm_all();
    const vf r2 = squares_at(&operands, k);
    const unsigned near = vm_bits(vm_le(all, r2, operands.most));
    const unsigned hits = decide(sweep, i, k, near, near & vm_bits(vm_gt(all, r2, operands.clear)),
                                 sweep->question->cutoff);
    for (int rule = 0; rule < KITH_RULES; rule++) {
        unsigned inner = thresholds->on[rule] ? hits : 0;
        if (thresholds->on[rule] && !thresholds->at_cutoff[rule]) {
            inner &= vm_bits(vm_le(all, r2, thresholds->most[rule]));
            inner = decide(sweep, i, k, inner,
                           inner & vm_bits(vm_gt(all, r2, thresholds->clear[rule])),
                           kith__flock_step_of(sweep)->rules->radius[rule]);
        }
        for (; inner; inner &= inner - 1) {
            add_one(sweep, here, rule, k + __builtin_ctz(inner), sums);
        }
    }
}

/** Find which of candidates [k, k + W) are within the radius of each rule, the query particle
 *  included.
 *  @param[out] near  masks of the candidates within the radius of each rule that is on
 *  @param[out] hits  mask of the candidates within the cutoff of the sweep
 *  @return true when all are decided; false when some are borderline: the masks are then
 *  undefined */
KITH_INLINE bool find_near(const struct tile_operands *operands,
                           const struct thresholds *thresholds, int k, vm near[KITH_RULES],
                           vm *hits)
{
    const vf r2 = squares_at(operands, k);
    *hits = vm_le(vm_all(), r2, operands->most);
    vm borderline = vm_gt(*hits, r2, operands->clear);
    for (int rule = 0; rule < KITH_RULES; rule++) {
        near[rule] = *hits;
        if (thresholds->on[rule] && !thresholds->at_cutoff[rule]) {
            near[rule] = vm_le(*hits, r2, thresholds->most[rule]);
            borderline = (vm)(borderline | vm_gt(near[rule], r2, thresholds->clear[rule]));
        }
    }
    return __builtin_expect(vm_bits(borderline) == 0, 1);
}

/** Add the sums over all neighbours of query particle i.
 *  @param usual      as for find_thresholds
 *  @param[out] sums  zero at the beginning */
KITH_INLINE void sum_all(struct kith__sweep *sweep, const struct query_particle *i, bool usual,
                         struct kith__flock_sums *sums)
{
    const struct kith__flock_step *step = kith__flock_step_of(sweep);
    const struct tile_operands operands = load_operands(sweep, i);
    const struct thresholds thresholds = find_thresholds(sweep, i, usual);
    const int end = sweep->tile.n;
    const int32_t *quantized[KITH_COLUMNS];
    int32_t here[3];
    for (int c = 0; c < KITH_COLUMNS; c++) {
        quantized[c] = sweep->tile.column[c];
    }
    for (int c = 0; c < 3; c++) {
        here[c] = step->quantized.of[c][i->slot];
    }
    struct lanes lanes;
    clear_lanes(&lanes);
    for (int k = 0; k < end; k += W) {
        vm near[KITH_RULES], hits;
        if (!find_near(&operands, &thresholds, k, near, &hits)) {
            const struct thresholds copy = thresholds; /* `thresholds` itself stays in registers */
            add_borderline(sweep, i, &copy, here, k, sums);
            continue;
        }
        const int more = __builtin_popcount(vm_bits(hits));
        if (__builtin_expect(lanes.hits + more > MOST_TERMS, 0)) {
            add_lanes(&lanes, &thresholds, here, sums);
            clear_lanes(&lanes);
        }
        lanes.hits += more;
        for (int rule = 0; rule < KITH_RULES; rule++) {
            const int first = rule == KITH_ALIGNMENT ? 3 : 0;
            for (int c = 0; c < 3 && thresholds.on[rule]; c++) {
                lanes.sum[rule][c] = vi_add_where(lanes.sum[rule][c], near[rule],
                                                  vi_load(quantized[first + c] + k));
            }
            if (thresholds.on[rule] && !thresholds.at_cutoff[rule]) {
                lanes.n[rule] += __builtin_popcount(vm_bits(near[rule]));
            }
        }
    }
    add_lanes(&lanes, &thresholds, here, sums);
    for (int rule = 0; rule < KITH_RULES && i->self >= 0; rule++) {
        sums->n[rule] -= thresholds.on[rule]; /* the query particle itself, at offset 0 */
    }
    for (int c = 0; c < 3 && i->self >= 0 && thresholds.on[KITH_ALIGNMENT]; c++) {
        sums->sum[KITH_ALIGNMENT][c] -= step->quantized.of[3 + c][i->slot];
    }
}

/** Add one candidate of the tile to the sums of a rule, times a factor.
 *  @param here   position of the query particle [units]
 *  @param index  index of the candidate in the tile */
static void add_heeded(const struct kith__sweep *sweep, const int32_t here[3], int rule, int index,
                       int32_t factor, struct kith__flock_sums *sums, struct kith__flock_more *more)
{
    int32_t x[3];
    for (int c = 0; c < 3; c++) {
        x[c] = rule == KITH_ALIGNMENT ? sweep->tile.column[3 + c][index]
                                      : kith__flock_offset(here[c], sweep->tile.column[c][index]);
    }
    kith__flock_add_heeded(rule, x, factor, sums, more);
}

/** Return how a species heeds that of another particle; NULL: there are no species.
 *  @param row  [n_species] how the first species heeds all species; NULL: there are none
 *  @param id   index of the other particle in the caller's order */
static const struct kith__flock_heed *find_heed(const struct kith__flock_step *step,
                                                const struct kith__flock_heed *row, int32_t id)
{
    return row ? &row[((const uint8_t *)step->flock->species.data)[id]] : NULL;
}

/** Add one neighbour to the sums of the rules whose radius it is within.
 *  @param here  position of the query particle [units]
 *  @param row   as for find_heed */
KITH_INLINE void add_chosen(const struct kith__sweep *sweep, const int32_t here[3],
                            const struct kith__flock_heed *row, const struct kith__listed *one,
                            struct kith__flock_sums *sums, struct kith__flock_more *more)
{
    const struct kith__flock_step *step = kith__flock_step_of(sweep);
    const struct kith__flock_heed *heed =
        row ? find_heed(step, row, step->flock->next.id[sweep->tile.slot[one->entry]]) : NULL;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        if (!(step->rules->radius[rule] > 0 && one->neighbour.r2 <= step->square[rule])) {
            continue;
        }
        if (heed) {
            add_heeded(sweep, here, rule, one->entry, heed->factor[rule], sums, more);
        } else {
            add_one(sweep, here, rule, one->entry, sums);
        }
    }
}

/** Collect the hits of a query particle, as indices in the tile. Not inlined: its operands would
 *  take the registers of the caller's loops.
 *  @return their number */
static __attribute__((noinline)) int collect_all(const struct kith__sweep *sweep,
                                                 const struct query_particle *i)
{
    return collect_hits(sweep, i, (struct hit_output){.to = sweep->hit_id});
}

/** Add the repulsion of all neighbours, and the sums of the rules over those that are outside the
 *  blind cone, or over the nearest of them: one by one, with distances by the definition of a pair.
 *  Without memory for the hits the sums stay 0, and the sweep fails (kith__hits_room).
 *  @param more  NULL, a constant at compile time: not kith__flock_has_more */
KITH_INLINE void sum_chosen(struct kith__sweep *sweep, const struct query_particle *i,
                            struct kith__flock_sums *sums, struct kith__flock_more *more)
{
    const struct kith__flock_step *step = kith__flock_step_of(sweep);
    const struct kith__flock_rules *rules = step->rules;
    const int32_t *order = step->flock->order;
    sweep->n_hits = 0;
    if (!kith__hits_room(sweep, sweep->tile.n)) {
        return;
    }
    const int n = collect_all(sweep, i);
    const bool pushes = more && rules->push_radius > 0;
    const bool any = !more || rules->radius[KITH_SEPARATION] > 0 ||
                     rules->radius[KITH_ALIGNMENT] > 0 || rules->radius[KITH_COHESION] > 0;
    const struct kith__flock_heed *row = NULL;
    if (more && rules->n_species > 0) {
        const uint8_t *species = step->flock->species.data;
        row = (const struct kith__flock_heed *)step->flock->heed.data +
              rules->n_species * species[step->flock->next.id[i->slot]];
    }
    struct kith__listed list[KITH_MOST_NEAREST];
    int listed = 0;
    int32_t here[3];
    double v[3];
    for (int c = 0; c < 3; c++) { /* until move, `next` has the velocity before the step */
        here[c] = step->quantized.of[c][i->slot];
        v[c] = kith__real_at(step->flock->next.v[c], i->slot, sweep->question->precision);
    }
    for (int h = 0; h < n; h++) {
        const int index = sweep->hit_id[h];
        int32_t offset[3];
        double d[3];
        for (int c = 0; c < 3; c++) {
            offset[c] = kith__flock_offset(here[c], sweep->tile.column[c][index]);
            d[c] = offset[c];
        }
        if (pushes) {
            kith__flock_add_push(rules, 1 / step->offset_unit, offset, more);
        }
        if (!any) {
            continue;
        }
        const int32_t id = step->flock->next.id[sweep->tile.slot[index]];
        const struct kith__flock_heed *heed = find_heed(step, row, id);
        if (!rules->sees_all && !kith__flock_sees(rules, v, d)) {
            continue;
        }
        if (heed && !heed->any) {
            continue;
        }
        const struct kith__listed one = {
            {.place = kith__neighbour_place(order ? order[id] : id, tile_shift(sweep, index)),
             .r2 = true_square(sweep, i->slot, index)},
            .entry = index};
        if (rules->nearest > 0) {
            listed = kith__list_nearest(list, listed, (int)rules->nearest, &one);
        } else {
            add_chosen(sweep, here, row, &one, sums, more);
        }
    }
    for (int k = 0; k < listed; k++) {
        add_chosen(sweep, here, row, &list[k], sums, more);
    }
}

/** Return true when the query particle is a copy of one that another rank advances. */
KITH_INLINE bool is_copy(const struct kith__sweep *sweep, const struct query_particle *i)
{
    const struct kith_flock *flock = kith__flock_step_of(sweep)->flock;
    return flock->next.id[i->slot] >= flock->own;
}

/** Operation (query_fn) for the usual radii, see find_thresholds. */
static void flock_usual_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    if (is_copy(sweep, i)) {
        return;
    }
    struct kith__flock_sums sums = {.n = {0, 0, 0}};
    sum_all(sweep, i, true, &sums);
    kith__flock_step_of(sweep)->move(kith__flock_step_of(sweep), i->slot, &sums, NULL);
}

/** Operation (query_fn) for any radii. */
static void flock_all_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    if (is_copy(sweep, i)) {
        return;
    }
    struct kith__flock_sums sums = {.n = {0, 0, 0}};
    sum_all(sweep, i, false, &sums);
    kith__flock_step_of(sweep)->move(kith__flock_step_of(sweep), i->slot, &sums, NULL);
}

/** Operation (query_fn) for a blind angle, or a number of nearest neighbours. */
static void flock_chosen_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    if (is_copy(sweep, i)) {
        return;
    }
    struct kith__flock_sums sums = {.n = {0, 0, 0}};
    sum_chosen(sweep, i, &sums, NULL);
    kith__flock_step_of(sweep)->move(kith__flock_step_of(sweep), i->slot, &sums, NULL);
}

/** Operation (query_fn) for rules that need more sums, or have leaders (kith__flock_has_more). */
static void flock_more_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    if (is_copy(sweep, i)) {
        return;
    }
    struct kith__flock_sums sums = {.n = {0, 0, 0}};
    struct kith__flock_more more = {.push = {0, 0, 0}};
    sum_chosen(sweep, i, &sums, &more);
    kith__flock_step_of(sweep)->move(kith__flock_step_of(sweep), i->slot, &sums, &more);
}

/** Process a work block of a flock whose rules are not plain. Not inlined: in one function with the
 *  loops of plain flocks, it would take their registers. */
static __attribute__((noinline)) void step_chosen(struct kith__sweep *sweep, int64_t block)
{
    if (kith__flock_has_more(kith__flock_step_of(sweep)->rules)) {
        process_work_block(sweep, block, NULL, flock_more_operation, NULL);
    } else {
        process_work_block(sweep, block, NULL, flock_chosen_operation, NULL);
    }
}

void KITH_OF_ISA(step_block)(struct kith__sweep *sweep, int64_t block)
{
    const struct kith__flock_step *step = kith__flock_step_of(sweep);
    if (!kith__flock_is_plain(step->rules)) {
        step_chosen(sweep, block);
    } else if (step->at_cutoff[KITH_ALIGNMENT] && step->at_cutoff[KITH_COHESION] &&
               step->rules->radius[KITH_SEPARATION] > 0) {
        process_work_block(sweep, block, NULL, flock_usual_operation, NULL);
    } else {
        process_work_block(sweep, block, NULL, flock_all_operation, NULL);
    }
}
