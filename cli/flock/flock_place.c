/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the boids of --boids start: at random places outside spheres and in front of walls, with
 * random headings.
 */
#include "flock_place.h"

#include "common/box.h"
#include "common/report.h"
#include "random.h"
#include "sets.h"

#include <math.h>
#include <stdlib.h>

kith_box flock_usual_box(void)
{
    static const double side = 200;
    kith_box box = kith_box_periodic(side, side, side);
    for (int k = 0; k < 3; k++) {
        box.origin[k] = -side / 2;
    }
    return box;
}

int flock_choose_box(const flock_task *task, const char *name, flock_run *run)
{
    space chosen;
    const int status = space_choose(&task->shared, name, &run->in.particles, &chosen);
    run->box = chosen.box;
    return status;
}

/** Return how far a position is from the surface of a thing's sphere, negative inside; of the
 *  sphere's images in the 27 boxes around, the nearest counts. */
static double sphere_gap(const kith_box *box, const kith_flock_thing *sphere, const double r[3])
{
    double least = INFINITY;
    for (int image = 0; image < 27; image++) {
        const int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
        double d[3] = {0};
        bool exists = true;
        for (int k = 0; k < 3; k++) {
            exists = exists && (shift[k] == 0 || (k < box->dim && box->periodic[k]));
            d[k] += k < box->dim ? r[k] - sphere->place[k] : 0;
            for (int m = 0; m < box->dim; m++) {
                d[m] += shift[k] * box->row[k][m];
            }
        }
        least = exists ? fmin(least, box_vector_length(d)) : least;
    }
    return least - sphere->radius;
}

/** Return how far a position is in front of a wall, negative behind. */
static double wall_gap(const kith_flock_thing *wall, int dim, const double r[3])
{
    double sum = 0;
    for (int k = 0; k < dim; k++) {
        sum += (r[k] - wall->place[k]) * wall->normal[k] / box_vector_length(wall->normal);
    }
    return sum;
}

/** Return the obstacle that a position in the box is inside, by more than `depth` of its radius, or
 *  behind, by more than `depth` of the distances from 0; NULL: none. */
static const kith_flock_thing *obstacle_at(const flock_task *task, const kith_box *box,
                                           const double r[3], double depth)
{
    const flock_stage *stage = &task->stage[0];
    for (int64_t t = 0; t < stage->model.n_things; t++) {
        const kith_flock_thing *thing = &stage->things[t];
        if (thing->kind == KITH_SPHERE && sphere_gap(box, thing, r) < -depth * thing->radius) {
            return thing;
        }
        const double size = box_vector_length(r) + box_vector_length(thing->place);
        if (thing->kind == KITH_WALL && wall_gap(thing, box->dim, r) < -depth * size) {
            return thing;
        }
    }
    return NULL;
}

/** Report a position inside or behind an obstacle. @return exit status */
static int refuse_inside(const kith_flock_thing *obstacle, const char *what, const char *hint)
{
    const bool sphere = obstacle->kind == KITH_SPHERE;
    return report_error(STATUS_INVALID, hint, "%s %s %s,%s,%s%s%s", what,
                        sphere ? "inside --sphere" : "behind --wall",
                        report_real(obstacle->place[0]).s, report_real(obstacle->place[1]).s,
                        report_real(obstacle->place[2]).s, sphere ? "," : "",
                        sphere ? report_real(obstacle->radius).s : "");
}

int flock_check_places(const flock_task *task, const flock_run *run)
{
    static const double rounding = 1e-4; /* of what ended a run at a surface */
    const io_particles *p = &run->in.particles;
    for (int64_t i = 0; i < p->n; i++) {
        double r[3] = {io_real(p->pos, 3 * i, p->precision),
                       io_real(p->pos, 3 * i + 1, p->precision),
                       io_real(p->pos, 3 * i + 2, p->precision)};
        box_wrap(&run->box, r);
        const kith_flock_thing *obstacle = obstacle_at(task, &run->box, r, rounding);
        if (obstacle) {
            return refuse_inside(
                obstacle,
                report_format("%s: particle %lld (counted from 0) is", task->input, (long long)i).s,
                "an obstacle must be free of particles at the start");
        }
    }
    return STATUS_OK;
}

/** Set r to the place in the box of three numbers in [0, 1). */
static void place_at(const kith_box *box, const double f[3], double r[3])
{
    for (int k = 0; k < 3; k++) {
        r[k] = k < box->dim ? box->origin[k] : 0;
        for (int m = 0; m < box->dim && k < box->dim; m++) {
            r[k] += f[m] * box->row[m][k];
        }
    }
}

/** Find the least and the largest distance of a box's corners from the plane of a wall, positive in
 *  front of it [length].
 *  @return false where an axis of the box is open and has no length */
static bool wall_gaps(const kith_box *box, const kith_flock_thing *wall, double gap[2])
{
    gap[0] = INFINITY;
    gap[1] = -INFINITY;
    for (int k = 0; k < box->dim; k++) {
        if (!(box_vector_length(box->row[k]) > 0)) {
            return false;
        }
    }
    for (int corner = 0; corner < 1 << box->dim; corner++) {
        const double f[3] = {corner & 1, corner >> 1 & 1, corner >> 2 & 1};
        double r[3];
        place_at(box, f, r);
        const double sum = wall_gap(wall, box->dim, r);
        gap[0] = fmin(gap[0], sum);
        gap[1] = fmax(gap[1], sum);
    }
    return true;
}

int flock_check_walls(const flock_stage *stage, const flock_run *run)
{
    for (int64_t t = 0; t < stage->model.n_things; t++) {
        const kith_flock_thing *wall = &stage->things[t];
        double gap[2];
        if (wall->kind != KITH_WALL || !wall_gaps(&run->box, wall, gap) ||
            (gap[0] <= wall->reach && gap[1] > 0)) {
            continue;
        }
        return report_error(
            STATUS_INVALID, "a wall has no periodic images: place it inside the box",
            "--wall: the plane through %s,%s,%s is %s", report_real(wall->place[0]).s,
            report_real(wall->place[1]).s, report_real(wall->place[2]).s,
            gap[1] > 0 ? "further than its reach from the whole box, and acts on no particle"
                       : "in front of the whole box, which it fills");
    }
    return STATUS_OK;
}

int flock_strew(const flock_task *task, flock_run *run)
{
    enum { TRIES = 10000 };
    io_particles *p = &run->in.particles;
    *p = (io_particles){
        .n = task->boids, .dim = task->dim, .has_box = true, .box = flock_usual_box()};
    p->precision = task->shared.read.precision ? task->shared.read.precision : KITH_FLOAT;
    CLI_TRY(flock_choose_box(task, "--boids", run));
    CLI_TRY(flock_check_walls(&task->stage[0], run));
    double *f = malloc((size_t)(p->n + 1) * 3 * sizeof *f);
    p->pos = malloc((size_t)(p->n + 1) * 3 * (size_t)p->precision);
    if (!f || !p->pos) {
        free(f);
        return report_no_memory("boids");
    }
    sets_uniform(f, p->n, task->start.model.seed);
    random_state again = random_start(task->start.model.seed ^ UINT64_C(0x6f757473696465));
    int status = STATUS_OK;
    for (int64_t i = 0; i < p->n && status == STATUS_OK; i++) {
        double r[3];
        place_at(&run->box, &f[3 * i], r);
        const kith_flock_thing *obstacle = obstacle_at(task, &run->box, r, 0);
        for (int tries = 0; obstacle && tries < TRIES; tries++) {
            const double other[3] = {random_unit(&again), random_unit(&again), random_unit(&again)};
            place_at(&run->box, other, r);
            obstacle = obstacle_at(task, &run->box, r, 0);
        }
        if (obstacle) {
            status = refuse_inside(obstacle, "--boids: no place was found that is not",
                                   "the obstacles fill the box");
        }
        for (int k = 0; k < 3; k++) {
            io_put_real(p->pos, 3 * i + k, p->precision, r[k]);
        }
    }
    free(f);
    return status;
}

int flock_strew_velocities(const flock_task *task, io_particles *p)
{
    random_state random = random_start(task->start.model.seed ^ UINT64_C(0x666c6f636b));
    const double speed = task->start.model.max_speed > 0 ? task->start.model.max_speed : 1;
    p->velocity = malloc((size_t)(p->n + 1) * 3 * (size_t)p->precision);
    if (!p->velocity) {
        return report_no_memory("velocities");
    }
    for (int64_t i = 0; i < p->n; i++) {
        double x[3], square;
        do {
            (void)random_in_ball(&random, 1, x);
            x[2] = p->dim == 3 ? x[2] : 0;
            square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        } while (!(square > 1e-6));
        for (int k = 0; k < 3; k++) {
            io_put_real(p->velocity, 3 * i + k, p->precision, x[k] / sqrt(square) * speed);
        }
    }
    return STATUS_OK;
}
