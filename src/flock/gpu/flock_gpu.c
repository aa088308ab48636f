/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flock steps on a GPU, host side. The state stays in device memory, in the order of cells, until
 * it is read. Where the box or its walls bound all particles, the cells stay from step to step: a
 * counting sort arranges the particles, and no step waits for the host, unless there are predators
 * or new walls (steps_at_once). Elsewhere each step builds a grid as a search for pairs does.
 */
#include "flock_state_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "engine/gpu/search.h"

/* --------------------------------------------------------------------------------------- cells */

/** Return true when all particles are within the box at every step from flock->walled on: each axis
 *  is periodic or reflecting. */
static bool is_bounded(const struct kith_flock *flock)
{
    const struct kith__question *q = &flock->question;
    bool bounded = true;
    for (int k = 0; k < q->dim; k++) {
        bounded = bounded && (q->box_d.periodic[k] || flock->rules.reflecting[k]);
    }
    return bounded;
}

/** Return the mean number of particles in a cube, or in 2-D a square, with sides of one cutoff. */
static double particles_per_cube(const struct kith_flock *flock)
{
    const struct kith__question *q = &flock->question;
    double particles_per_cube = (double)flock->n;
    for (int k = 0; k < q->dim; k++) {
        particles_per_cube *= q->cutoff / q->height[k];
    }
    return particles_per_cube;
}

/** Make cells narrower along x by the factor `parts`. Rows of cells are read as a whole, so this
 *  costs only a longer table, and fewer candidates are too far away.
 *  @param whole         bounds that span the box
 *  @param[in,out] plan  the plan; unchanged when there would be too many cells */
static void narrow(const struct kith__question *q, const struct kith__bounds *whole, int parts,
                   struct kith__gpu_plan *plan)
{
    static const double anchor[3] = {0, 0, 0};
    struct kith__axis fine[3];
    if (kith__choose_axes(q, whole, anchor, plan->near / parts, fine) >= 0) {
        /* cells of the new width in the old one; 1 - 1e-9, so that a quotient that is an integer
         * but for rounding is not rounded up to the next one */
        const double wide = plan->near * fine[0].scale / q->height[0];
        plan->axis[0] = fine[0];
        plan->axis[0].reach = (int)ceil(wide * (1 - 1e-9));
        plan->cells = kith__count_cells(plan->axis);
    }
}

/** Choose cells that stay from step to step, from the whole box.
 *  @return true when done; false when their table would be too large */
static bool plan_cells(const struct kith_flock *flock, struct kith__gpu_plan *plan)
{
    const struct kith__question *q = &flock->question;
    static const double enough = 1; /* wanted number of particles in a cell */
    static const double most = 16;  /* largest factor by which cells are narrower along x */
    static const int64_t small_table = 1 << 20; /* a table that costs no more than a launch */
    static const double anchor[3] = {0, 0, 0};
    struct kith__bounds whole = {{0, 0, 0}, {0, 0, 0}, INT64_MAX, INT64_MAX, 0};
    for (int k = 0; k < q->dim; k++) {
        whole.hi[k] = 1;
    }
    *plan = (struct kith__gpu_plan){.table = true, .status = KITH_OK};
    plan->near = kith__cell_side(q, &whole);
    plan->cells = kith__choose_axes(q, &whole, anchor, plan->near, plan->axis);
    const int parts = (int)fmin(most, particles_per_cube(flock) / enough + 0.5);
    if (parts > 1) {
        narrow(q, &whole, parts, plan);
    }
    for (int k = q->dim; k < 3; k++) {
        plan->axis[k].reach = 0;
    }
    const int64_t limit = kith__table_limit(q);
    const int64_t allowed = limit > small_table ? limit : small_table;
    return plan->cells >= 0 && plan->cells <= allowed && plan->cells < INT32_MAX;
}

/** Upload a plan of cells, and allocate their table, the counts, the list of the rim, and the
 *  temporary memory of the prefix sum. */
static kith_status prepare_table(kith_ctx *ctx, struct kith_flock *flock, struct kith__gpu_flock *g,
                                 const struct kith__gpu_plan *plan)
{
    const struct kith__gpu *gpu = ctx->state;
    struct kith__gpu_flock_step *f = &g->step;
    struct kith__gpu_flock_small *small = g->buffer[KITH_GPU_FLOCK_SMALL].data;
    f->entries = plan->cells + 1;
    const size_t bytes = (size_t)f->entries * sizeof(uint32_t);
    f->sweep = (struct kith__gpu_sweep){.grid = {.question = flock->question}};
    f->sweep.grid.plan = &small->plan;
    memcpy(f->axis, plan->axis, sizeof f->axis);
    f->sweep.grid.a = (struct kith__gpu_set){
        .n = flock->n, .start = kith__gpu_flock_need(ctx, g, KITH_GPU_FLOCK_START, bytes)};
    f->count = kith__gpu_flock_need(ctx, g, KITH_GPU_FLOCK_COUNT, bytes);
    f->rim = kith__gpu_flock_need(ctx, g, KITH_GPU_FLOCK_RIM, (size_t)flock->n * sizeof *f->rim);
    if (!f->sweep.grid.a.start || !f->count || !f->rim) {
        return KITH_NO_MEMORY;
    }
    f->sweep.grid.b = f->sweep.grid.a;
    KITH_GPU_TRY(
        ctx, "preparing to count",
        kith__gpu_scan_table(NULL, &g->temporary_bytes, NULL, NULL, f->entries, gpu->stream));
    if (!kith__gpu_flock_need(ctx, g, KITH_GPU_FLOCK_TEMPORARY, g->temporary_bytes)) {
        return KITH_NO_MEMORY;
    }
    return kith__gpu_upload(ctx, &small->plan, plan, sizeof *plan);
}

/** Choose how coordinates are converted to units, from a bound on all of them: the box and the
 *  walls, or infinity where nothing bounds them.
 *  @param unit  the unit [length] */
static struct kith__gpu_quantizer choose_quantizer(const struct kith_flock *flock, double unit)
{
    const struct kith__lattice_d *box = &flock->question.box_d;
    double most = is_bounded(flock) && flock->step >= flock->walled ? 0 : INFINITY;
    for (int k = 0; k < flock->question.dim; k++) {
        most = fmax(most, fabs(box->origin[k]) + fabs(box->row[0][k]) + fabs(box->row[1][k]) +
                              fabs(box->row[2][k]));
        if (flock->rules.reflecting[k]) {
            most = fmax(most, fmax(fabs(flock->rules.lo[k]), fabs(flock->rules.hi[k])));
        }
    }
    /* 2.147e9 is just below 2^31, 1e15 below 2^50; the limits of the unit make 1 / unit a normal
     * float */
    const bool narrow = most / unit < 2.147e9 && unit > 1e-30 && unit < 1e30;
    return (struct kith__gpu_quantizer){1 / unit, narrow ? (float)(1 / unit) : 0,
                                        most / unit < 1e15};
}

/** Choose the kernel of the next steps, from the rules and the number of neighbours. */
static void set_way(const struct kith_flock *flock, struct kith__gpu_flock_step *f)
{
    const struct kith__flock_rules *rules = &flock->rules;
    const struct kith__question *q = &flock->question;
    /* particles in a cube of the cutoff from which on the matrix unit is used */
    const double many = q->precision == KITH_FLOAT ? 10 : 6;
    const double crowded = rules->reach > 0 ? particles_per_cube(flock) : 0;
    const bool all = f->order == KITH_GPU_COUNTED && kith__flock_is_plain(rules);
    f->offsets = choose_quantizer(flock, f->offset_unit);
    f->way = !all || !f->offsets.plain ? KITH_GPU_EACH
             : crowded < many          ? KITH_GPU_NEAR
                                       : KITH_GPU_TILES;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        const double part = rules->radius[rule] / (rules->reach > 0 ? q->cutoff : 1);
        f->beyond[rule] = rules->radius[rule] > 0 ? (float)(1 - part * part) : 1e30f;
    }
    f->usual = rules->radius[KITH_ALIGNMENT] == q->cutoff &&
               rules->radius[KITH_COHESION] == q->cutoff && rules->radius[KITH_SEPARATION] > 0;
}

/** Swap `here` and `there` if the state is `here`, so that it is arranged again before the next
 *  step. */
static void mark_unarranged(struct kith__gpu_flock *g)
{
    if (!g->there_is_now) {
        const struct kith__gpu_flock_state swap = g->step.here;
        g->step.here = g->step.there;
        g->step.there = swap;
        g->there_is_now = true;
    }
}

/** Upload the species and how they heed each other, if they have changed. Their buffers may move,
 *  which changes the arguments of kernels. */
static kith_status upload_species(kith_ctx *ctx, const struct kith_flock *flock,
                                  struct kith__gpu_flock *g)
{
    struct kith__gpu_flock_step *f = &g->step;
    const size_t kinds = (size_t)flock->rules.n_species;
    if (g->edition == flock->edition) {
        return KITH_OK;
    }
    f->species = NULL;
    f->heed = NULL;
    if (kinds > 0) {
        const size_t n = (size_t)flock->n, bytes = kinds * kinds * sizeof *f->heed;
        uint8_t *species = kith__gpu_flock_need(ctx, g, KITH_GPU_FLOCK_SPECIES, n);
        struct kith__flock_heed *heed = kith__gpu_flock_need(ctx, g, KITH_GPU_FLOCK_HEED, bytes);
        if (!species || !heed) {
            return KITH_NO_MEMORY;
        }
        KITH_TRY(kith__gpu_upload(ctx, species, flock->species.data, n));
        KITH_TRY(kith__gpu_upload(ctx, heed, flock->heed.data, bytes));
        f->species = species;
        f->heed = heed;
    }
    g->edition = flock->edition;
    return KITH_OK;
}

/** Copy the rules of the flock to the arguments of kernels, and choose order and cells of the
 *  particles if the cutoff or the bounds have changed. */
static kith_status prepare(kith_ctx *ctx, struct kith_flock *flock, struct kith__gpu_flock *g)
{
    struct kith__gpu_flock_step *f = &g->step;
    const struct kith__question *q = &flock->question;
    const double cutoff = flock->rules.reach > 0 ? q->cutoff : 0;
    f->rules = flock->rules;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        const double radius = flock->rules.radius[rule];
        const float narrow = (float)radius * (float)radius;
        f->square[rule] = q->precision == KITH_FLOAT ? (double)narrow : radius * radius;
    }
    const bool bounded = is_bounded(flock);
    /* A sorted grid is in the context's memory, which other calls overwrite. */
    if (f->offset_unit > 0 && f->order != KITH_GPU_SORTED && cutoff == g->cutoff &&
        bounded == (f->order == KITH_GPU_COUNTED)) {
        return KITH_OK;
    }
    mark_unarranged(g);
    kith__gpu_flock_drop_recording(g);
    g->cutoff = cutoff;
    f->offset_unit = kith__flock_unit(flock->rules.reach);
    for (int k = 0; k < 3; k++) {
        for (int m = 0; m < 3; m++) {
            f->row[k][m] = kith__flock_in_units(q->box_d.row[k][m], 1 / f->offset_unit);
        }
    }
    struct kith__gpu_plan plan;
    f->order = KITH_GPU_AS_IT_IS;
    f->sweep = (struct kith__gpu_sweep){.grid = {.question = *q, .a = {.n = flock->n}}};
    if (cutoff > 0) {
        f->unit = (float)(1 / cutoff);
        f->blur = kith__definition_error(q);
        f->own_blur = kith__definition_error_no_image(q);
        f->order = bounded && plan_cells(flock, &plan) ? KITH_GPU_COUNTED : KITH_GPU_SORTED;
    }
    const kith_status status = f->order == KITH_GPU_COUNTED ? prepare_table(ctx, flock, g, &plan)
                                                            : KITH_OK;
    f->offset_unit = status == KITH_OK ? f->offset_unit : 0; /* 0: nothing is prepared */
    return status;
}

/** Set the points of a question to the positions of a state, in device memory. */
static void point_at(const struct kith_flock *flock, const struct kith__gpu_flock_state *state,
                     struct kith__question *q)
{
    const size_t real = (size_t)flock->question.precision;
    char *r = state->r;
    q->a = kith_points_split(r, r + real, q->dim == 3 ? r + 2 * real : NULL, flock->n,
                             flock->question.precision);
    q->a.stride = 4; /* numbers of a record */
    q->a.memory = KITH_DEVICE;
    q->b = q->a;
}

/** Queue the move of all particles from `there` to `here`, after the grid or the prefix sum that
 *  gives each its entry. @param stepped  `there` is the result of a step */
static kith_status arrange(kith_ctx *ctx, const struct kith_flock *flock, struct kith__gpu_flock *g,
                           bool stepped)
{
    const struct kith__gpu *gpu = ctx->state;
    struct kith__gpu_flock_step *f = &g->step;
    if (f->order == KITH_GPU_SORTED) {
        struct kith__question q = flock->question;
        struct kith__gpu_search search;
        point_at(flock, &f->there, &q);
        KITH_TRY(kith__gpu_search_begin(ctx, &q, true, KITH_GPU_CLUSTER, &search));
        f->sweep = search.sweep;
        f->sweep.forward = false; /* a particle searches all cells around, not half of them */
    } else if (f->order == KITH_GPU_COUNTED) {
        size_t bytes = g->temporary_bytes;
        KITH_GPU_TRY(ctx, "summing counts",
                     kith__gpu_scan_table(g->buffer[KITH_GPU_FLOCK_TEMPORARY].data, &bytes,
                                          f->count, f->sweep.grid.a.start, f->entries,
                                          gpu->stream));
    }
    KITH_GPU_TRY(ctx, "arranging the flock", kith__gpu_flock_arrange(f, stepped, gpu->stream));
    f->side = 1 - f->side;
    g->there_is_now = false;
    return KITH_OK;
}

/* --------------------------------------------------------------------------------------- steps */

/** Arrange the state, if it is `there`: count the particles of each cell anew, then move them. */
static kith_status arrange_if_needed(kith_ctx *ctx, struct kith_flock *flock,
                                     struct kith__gpu_flock *g)
{
    const struct kith__gpu *gpu = ctx->state;
    if (!g->there_is_now) {
        return KITH_OK;
    }
    const struct kith__gpu_flock_step *f = &g->step;
    KITH_GPU_TRY(ctx, "counting the flock",
                 gpuMemsetAsync(f->progress->fastest, 0, sizeof f->progress->fastest, gpu->stream));
    KITH_GPU_TRY(ctx, "counting the flock",
                 gpuMemsetAsync(f->progress->at_rim, 0, sizeof f->progress->at_rim, gpu->stream));
    if (f->order == KITH_GPU_COUNTED) {
        KITH_GPU_TRY(
            ctx, "counting the flock",
            gpuMemsetAsync(f->count, 0, (size_t)f->entries * sizeof *f->count, gpu->stream));
    }
    KITH_GPU_TRY(ctx, "counting the flock", kith__gpu_flock_enter(f, gpu->stream));
    return arrange(ctx, flock, g, false);
}

/** Wait for all queued steps, and read how many were done. If a particle was lost in one, the flock
 *  stays in the state before that step.
 *  @return KITH_OK; KITH_NOT_FINITE if a particle was lost; a failure */
static kith_status read_progress(kith_ctx *ctx, struct kith_flock *flock, struct kith__gpu_flock *g)
{
    struct kith__gpu_flock_progress progress;
    KITH_TRY(kith__gpu_flock_look_up(ctx, &progress, g->step.progress, sizeof progress));
    flock->step = progress.step;
    if (progress.lost == KITH_GPU_NO_PARTICLE) {
        return KITH_OK;
    }
    const int32_t lost = progress.lost;
    progress.lost = KITH_GPU_NO_PARTICLE;
    progress.stopped = false;
    KITH_TRY(kith__gpu_upload(ctx, g->step.progress, &progress, sizeof progress));
    mark_unarranged(g); /* the counts of the failed step are invalid */
    return kith__flock_refuse_lost(flock, lost);
}

/** Queue one step. With a sorted grid, wait for it, and read its result. */
static kith_status step_once(kith_ctx *ctx, struct kith_flock *flock, struct kith__gpu_flock *g)
{
    const struct kith__gpu *gpu = ctx->state;
    const struct kith__gpu_flock_step *f = &g->step;
    KITH_GPU_TRY(ctx, "stepping the flock",
                 f->way == KITH_GPU_TILES  ? kith__gpu_flock_tiles(f, gpu->stream)
                 : f->way == KITH_GPU_NEAR ? kith__gpu_flock_near(f, gpu->stream)
                                           : kith__gpu_flock_each(f, gpu->stream));
    if (f->order == KITH_GPU_SORTED) {
        KITH_TRY(read_progress(ctx, flock, g));
    }
    return arrange(ctx, flock, g, true);
}

/** Record KITH_GPU_RECORDED steps in a graph, which is queued in the time of one step. When that
 *  fails (the caller's stream may not allow it), g->graph is NULL, and steps are queued one by one:
 *  g->recorded is set in either case, so that recording is not tried again. */
static kith_status record(kith_ctx *ctx, struct kith_flock *flock, struct kith__gpu_flock *g)
{
    const struct kith__gpu *gpu = ctx->state;
    gpuGraph_t graph = NULL;
    kith__gpu_flock_drop_recording(g);
    g->recorded = g->step;
    if (gpuStreamBeginCapture(gpu->stream, gpuStreamCaptureModeThreadLocal) != gpuSuccess) {
        (void)gpuGetLastError();
        return KITH_OK;
    }
    kith_status status = KITH_OK;
    for (int s = 0; s < KITH_GPU_RECORDED && status == KITH_OK; s++) {
        status = step_once(ctx, flock, g);
    }
    if (gpuStreamEndCapture(gpu->stream, &graph) != gpuSuccess || status != KITH_OK ||
        gpuGraphInstantiate(&g->graph, graph) != gpuSuccess) {
        (void)gpuGetLastError();
        g->graph = NULL;
    }
    if (graph) {
        (void)gpuGraphDestroy(graph);
    }
    return status;
}

/** Queue some steps: graphs of KITH_GPU_RECORDED steps where possible, else step by step. A graph
 *  is recorded with side 0, and again when the arguments of kernels have changed. */
static kith_status queue_steps(kith_ctx *ctx, struct kith_flock *flock, struct kith__gpu_flock *g,
                               int64_t steps)
{
    const struct kith__gpu *gpu = ctx->state;
    for (int64_t s = 0; s < steps;) {
        const bool many = g->step.order == KITH_GPU_COUNTED && steps - s >= KITH_GPU_RECORDED &&
                          g->step.side == 0;
        if (many && memcmp(&g->step, &g->recorded, sizeof g->step) != 0) {
            KITH_TRY(record(ctx, flock, g));
        }
        if (many && g->graph) {
            KITH_GPU_TRY(ctx, "stepping the flock", gpuGraphLaunch(g->graph, gpu->stream));
            s += KITH_GPU_RECORDED;
        } else {
            KITH_TRY(step_once(ctx, flock, g));
            s++;
        }
    }
    return KITH_OK;
}

/** Move predators towards the particles that are nearest to them. Waits for the device.
 *  @param[in,out] after  a copy of the rules, in which the predators are moved: the rules of the
 *                        next step */
static kith_status move_predators(kith_ctx *ctx, const struct kith_flock *flock,
                                  const struct kith__gpu_flock *g, struct kith__flock_rules *after)
{
    const struct kith__gpu *gpu = ctx->state;
    const size_t bytes = kith__gpu_record_bytes(flock);
    struct kith__gpu_flock_small *small = g->buffer[KITH_GPU_FLOCK_SMALL].data;
    for (int t = 0; t < after->n_things; t++) {
        kith_flock_thing *thing = &after->thing[t];
        if (thing->kind != KITH_PREDATOR || flock->n == 0) {
            continue;
        }
        struct kith__gpu_prey prey;
        double record[4], r[3], way[3];
        KITH_GPU_TRY(ctx, "finding prey",
                     kith__gpu_flock_find_prey(&g->step, thing->place, &small->prey, gpu->stream));
        KITH_TRY(kith__gpu_flock_look_up(ctx, &prey, &small->prey, sizeof prey));
        KITH_TRY(kith__gpu_flock_look_up(
            ctx, record, (const char *)g->step.here.r + (size_t)prey.slot * bytes, bytes));
        for (int k = 0; k < 3; k++) {
            r[k] = flock->question.precision == KITH_FLOAT ? (double)((const float *)record)[k]
                                                           : record[k];
        }
        kith__flock_nearest_image(&flock->question.box_d, thing->place, r, way);
        kith__flock_chase(after, &flock->question.box_d, way, thing);
    }
    return KITH_OK;
}

/** Return the largest number of steps that are queued before the host reads their result: 1 where
 *  the host takes part in each step. */
static int64_t steps_at_once(const struct kith_flock *flock, enum kith__gpu_arrangement order)
{
    /* most particles times steps, and most steps, that are queued at once */
    static const int64_t particles = 100000000, most = 512;
    if (flock->step < flock->walled) {
        return 1;
    }
    for (int t = 0; t < flock->rules.n_things; t++) {
        if (flock->rules.thing[t].kind == KITH_PREDATOR) {
            return 1;
        }
    }
    const int64_t steps = order == KITH_GPU_SORTED ? 1 : particles / (flock->n + 1);
    return steps < 1 ? 1 : steps < most ? steps : most;
}

/** Adapt g->at_once so that the steps that are queued together take 20 to 60 ms, as they cannot be
 *  cancelled.
 *  @param steps    steps that were queued last
 *  @param seconds  time that they took [s] */
static void choose_at_once(struct kith__gpu_flock *g, int64_t steps, double seconds)
{
    static const double few = 0.02, many = 0.06;
    if (seconds > many && steps <= g->at_once) {
        g->at_once = steps > 4 ? steps / 4 : 1;
    } else if (seconds < few && steps == g->at_once && steps < 512) {
        g->at_once = 4 * steps;
    }
}

/** Advance by `steps` steps, of a flock that is on the device. */
static kith_status advance(kith_ctx *ctx, struct kith_flock *flock, struct kith__gpu_flock *g,
                           int64_t steps)
{
    KITH_TRY(upload_species(ctx, flock, g));
    KITH_TRY(prepare(ctx, flock, g));
    KITH_TRY(arrange_if_needed(ctx, flock, g));
    for (int64_t s = 0, end; s < steps; s = end) {
        struct kith__flock_rules after = flock->rules;
        end = s + steps_at_once(flock, g->step.order);
        end = ctx->watch && end > s + g->at_once ? s + g->at_once : end;
        end = end < steps ? end : steps;
        const double start = kith__seconds();
        set_way(flock, &g->step);
        KITH_CHECK(ctx, !kith__watch(ctx, s, steps), KITH_CANCELLED,
                   "cancelled by the watch callback");
        KITH_TRY(move_predators(ctx, flock, g, &after));
        g->newer = true;
        KITH_TRY(queue_steps(ctx, flock, g, end - s));
        KITH_TRY(read_progress(ctx, flock, g));
        choose_at_once(g, end - s, kith__seconds() - start);
        flock->rules = after;
        g->step.rules = after;
    }
    return KITH_OK;
}

/** kith__flock_backend.step */
static kith_status step_flock(kith_ctx *ctx, struct kith_flock *flock, int64_t steps)
{
    if (steps == 0 || flock->n == 0) {
        flock->step += steps;
        return KITH_OK;
    }
    KITH_TRY(kith__gpu_flock_begin(ctx));
    KITH_TRY(kith__gpu_flock_open(ctx, flock));
    struct kith__gpu_flock *g = flock->device;
    const kith_status status = advance(ctx, flock, g, steps);
    point_at(flock, kith__gpu_flock_now(g), &flock->question);
    return status;
}

const struct kith__flock_backend kith__cuda_flock = {
    .step = step_flock,
    .fetch = kith__gpu_flock_fetch,
    .bring = kith__gpu_flock_bring,
    .read = kith__gpu_flock_read,
    .subset = kith__gpu_flock_subset,
    .wait_subset = kith__gpu_flock_wait_subset,
    .forget = kith__gpu_flock_forget,
};
