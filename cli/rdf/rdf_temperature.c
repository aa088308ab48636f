/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compare the temperature given to `kith rdf --estimator force` with that of the frames. A wrong
 * temperature scales g by forces. Two estimates are compared: the kT with which forces agree best
 * with counts, and kT = <m v^2> / dim of the velocities, where a LAMMPS dump has velocities and
 * masses and says its units.
 */
#include "rdf.h"
#include "common/report.h"

#include <math.h>
#include <string.h>

/* Relative differences of kT below this are accepted, however small the error: the mean temperature
   under a thermostat differs by this much from its target. */
static const double slack = 0.02;

/* Relative differences of kT above this are refused, however large the error. */
static const double most = 0.5;

/** Factor from m v^2 to force times length in a system of units of LAMMPS (mvv2e in its
 *  update.cpp); 0: unknown system. */
static double energy_of(const char *system)
{
    static const struct {
        const char *name;
        double factor;
    } known[] = {{"lj", 1},   {"real", 48.88821291 * 48.88821291},
                 {"si", 1},   {"metal", 1.0364269e-4},
                 {"cgs", 1},  {"electron", 1.06657236},
                 {"nano", 1}, {"micro", 1}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(system, known[k].name) == 0) {
            return known[k].factor;
        }
    }
    return 0;
}

rdf_kinetic rdf_temperature_of(const io_frame *frame)
{
    const io_particles *p = &frame->particles;
    const double factor = energy_of(frame->system);
    if (!(factor > 0) || !p->velocity || !frame->weight || p->n < 2) {
        return (rdf_kinetic){0};
    }
    double twice = 0, mass = 0, momentum[3] = {0};
    for (int64_t k = 0; k < p->n; k++) {
        const double m = frame->weight[k];
        mass += m;
        for (int axis = 0; axis < p->dim; axis++) {
            const double v = io_real(p->velocity, 3 * k + axis, p->precision);
            twice += m * v * v;
            momentum[axis] += m * v;
        }
    }
    for (int axis = 0; axis < p->dim;
         axis++) { /* the motion of the centre of mass is not thermal */
        twice -= mass > 0 ? momentum[axis] * momentum[axis] / mass : 0;
    }
    const double kT = factor * twice / (double)(p->dim * (p->n - 1));
    return (rdf_kinetic){.frames = 1, .sum = kT, .squares = kT * kT};
}

void rdf_temperature_kinetic(const rdf_kinetic *kinetic, double *kT, double *error)
{
    const double n = (double)kinetic->frames;
    *kT = n > 0 ? kinetic->sum / n : (double)NAN;
    *error = n > 1 ? sqrt(fmax(kinetic->squares / n - *kT * *kT, 0) / (n - 1)) : (double)NAN;
}

/** Return by how many standard errors a mean of n >= 2 samples is off in one of 1000 cases:
 *  Student's t of n - 1 degrees of freedom (two-sided), and no less than 5. */
static double times(int64_t n)
{
    static const double student[] = {636.6, 31.6, 12.9, 8.61, 6.87, 5.96, 5.41, 5.04};
    const int64_t known = sizeof student / sizeof *student;
    return n - 2 < known ? student[n - 2] : 5;
}

/** Return true when the temperature given agrees with an estimate of kT, within its error. */
static bool agrees(double given, double kT, double error, int64_t samples)
{
    double allowed = most * given;
    if (samples > 1 && isfinite(error)) {
        allowed = fmin(fmax(times(samples) * error, slack * given), allowed);
    }
    return !isfinite(kT) || fabs(kT - given) <= allowed;
}

/** Compare --temperature with an estimate of kT, named `who` in messages.
 *  @return exit status, reported */
static int judge(const rdf_task *task, rdf_outcome *found, const char *who, double kT, double error,
                 int64_t samples)
{
    if (agrees(task->kT, kT, error, samples)) {
        return STATUS_OK;
    }
    found->distrusted = true;
    const bool known = samples > 1 && isfinite(error);
    return task->trust
               ? STATUS_OK
               : report_error(STATUS_INVALID,
                              "check its unit and whether forces hold constraints; "
                              "--trust-temperature uses it regardless",
                              "%s: --temperature %s is kT = %.6g, but %s tell kT = %.6g%s%s",
                              task->input, task->temperature, task->kT, who, kT,
                              known ? " +- " : "", known ? report_format("%.2g", error).s : "");
}

int rdf_temperature_judge(const rdf_task *task, rdf_outcome *found)
{
    double kT = 0, error = 0;
    const rdf_curve *all = &found->curve[0];
    rdf_temperature_kinetic(&found->kinetic, &kT, &error);
    CLI_TRY(judge(task, found, "velocities", kT, error, found->kinetic.frames));
    CLI_TRY(
        judge(task, found, "forces and counts of pairs", all->kT, all->kT_error, found->blocks.n));
    for (int k = 0; k < found->n_curves && found->distrusted; k++) {
        found->curve[k].gain = (double)NAN;
    }
    return STATUS_OK;
}
