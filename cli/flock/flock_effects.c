/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options of `kith flock` that would do nothing, alone or swept, are refused with what they need.
 */
#include "flock_options.h"
#include "sweep.h"

#include "common/report.h"

#include <math.h>
#include <stdlib.h>

/** What the stages of a run, or the values of a sweep, have between them. */
typedef struct effects {
    double share;    /* the largest share of leaders */
    bool weighs;     /* leaders have a weight where they have a share */
    bool leads;      /* there is a leader */
    int64_t species; /* the largest number of species */
    bool boids;      /* the model is boids */
    bool sees;       /* --heed gives separation or cohesion alone */
} effects;

static bool is_given(const char *name)
{
    return option_is_set(option_find(flock_model_options, name));
}

/** Add what a stage has. @param boids  number of particles; 0: not known yet */
static void add_stage(effects *e, const flock_stage *stage, int64_t boids)
{
    const kith_flock_options *m = &stage->model;
    const bool weighs = m->leaders > 0 && m->leader_weight > 0;
    e->share = fmax(e->share, m->leaders);
    e->weighs = e->weighs || weighs;
    e->leads = e->leads || (weighs && (boids == 0 || floor(m->leaders * (double)boids + 0.5) >= 1));
    e->species = m->n_species > e->species ? m->n_species : e->species;
    e->boids = e->boids || m->model == KITH_BOIDS;
    for (int k = 0; k < FLOCK_SPECIES * FLOCK_SPECIES; k++) {
        const kith_flock_factors *f = &stage->heed[k / FLOCK_SPECIES][k % FLOCK_SPECIES];
        e->sees = e->sees || (f->separation != 1 && f->separation != f->alignment) ||
                  (f->cohesion != 1 && f->cohesion != f->alignment);
    }
}

/** @param boids  number of particles of each stage; 0: that of the task or value, if it is known */
static effects effects_of(const flock_task *task, int64_t boids)
{
    effects e = {0};
    for (int64_t k = 0; k < task->n_stages && !task->swept; k++) {
        add_stage(&e, &task->stage[k], boids > 0 ? boids : task->boids);
    }
    for (int v = 0; task->swept && v < task->swept->n; v++) {
        add_stage(&e, &task->swept->value[v].stage, task->swept->value[v].boids);
    }
    return e;
}

/** Return exit status 6 where there is a share of leaders and no leader. */
static int check_share(const effects *e)
{
    if (e->leads || e->share == 0) {
        return STATUS_OK;
    }
    return report_error(STATUS_INVALID,
                        e->weighs ? "give a larger share, or more boids"
                                  : "give --leader-weight W above 0",
                        e->weighs ? "--leaders: a share of %s of the boids is less than half a boid"
                                  : "--leaders: a share of %s leads with --leader-weight 0",
                        report_real(e->share).s);
}

static void refuse(bool wrong, const char *hint, const char *why)
{
    if (wrong) {
        exit(report_error(STATUS_INVALID, hint, "%s", why));
    }
}

void flock_check_effects(const flock_task *task)
{
    if (task->view) {
        return; /* viewers may set what is needed */
    }
    const effects e = effects_of(task, 0);
    const bool heeds = is_given("heed") || is_given("heed-others");
    if (check_share(&e) != STATUS_OK) {
        exit(STATUS_INVALID);
    }
    for (int k = 0; k < 2; k++) {
        const char *name = k == 0 ? "leader-weight" : "leader-direction";
        refuse(is_given(name) && !e.leads && (task->sweep || !is_given("leaders")),
               "give --leaders S, the share of the boids that lead",
               report_format("--%s: no boid leads", name).s);
    }
    refuse(is_given("heed-others") && e.species < 2, "give --flock-species N of 2 or more",
           "--heed-others: there are no other species");
    refuse(e.species > 0 && !heeds && (task->sweep || !task->shared.output),
           "give --heed I,J,S,A,C or --heed-others F",
           "--flock-species: all species heed each other as if they were one");
    refuse(e.sees && !e.boids, "leave S and C at 1",
           "--heed: Vicsek's models have alignment, A, alone");
    const int64_t last = task->stage[task->n_stages - 1].step;
    refuse(!task->sweep && !task->restart && !task->endless && last > 0 && last >= task->steps,
           "a change at step N acts from the step after it on; with --restart it may be for later",
           report_format("--at: step %lld is not before the last step, %lld", (long long)last,
                         (long long)task->steps)
               .s);
}

void flock_warn(const flock_task *task)
{
    const int64_t n = task->swept ? task->swept->n : task->n_stages;
    for (int64_t k = 0; k < n && !task->shared.quiet; k++) {
        const flock_stage *stage = task->swept ? &task->swept->value[k].stage : &task->stage[k];
        const kith_flock_rule *push = &stage->model.repulsion;
        if (push->radius > 0 && push->weight * stage->model.time_step >= 1) {
            (void)report_error(STATUS_OK, "give a smaller --time-step, or --repulsion R,K",
                               "warning: --repulsion: K %s times the time step %s is 1 or more: "
                               "overlaps grow from step to step",
                               report_real(push->weight).s, report_real(stage->model.time_step).s);
            return;
        }
    }
}

int flock_check_input(const flock_task *task, const flock_run *run)
{
    const int *reflecting = task->start.model.reflecting;
    if (run->in.particles.dim == 2 && reflecting[2] && !reflecting[0] && !reflecting[1]) {
        return report_error(STATUS_INVALID, "give x, y or xy", "--reflect: in 2-D there is no z");
    }
    if (task->swept || task->view) {
        return STATUS_OK;
    }
    const effects e = effects_of(task, run->in.particles.n);
    return check_share(&e);
}
