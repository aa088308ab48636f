/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Before the search: which particles link, the linking length, the universe.
 */
#include "fof.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Types of particles. */
enum { GAS = 0, DARK = 1, STARS = 4, HOLES = 5 };

/** NULL for an array whose elements are all equal: writers fill in what they do not know. */
static const void *telling(const void *data, int64_t n, kith_precision precision)
{
    for (int64_t k = 1; k < n && data; k++) {
        if (io_real(data, k, precision) != io_real(data, 0, precision)) {
            return data;
        }
    }
    return NULL;
}

/** Set what is known of the particles. */
static void choose_fields(fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    const bool massless = p->n > 0 && p->mass && io_real(p->mass, 0, p->precision) == 0 &&
                          !telling(p->mass, p->n, p->precision);
    found->masses = massless ? NULL : p->mass;
    found->velocities = telling(p->velocity, 3 * p->n, p->precision);
    found->potentials = telling(p->potential, p->n, p->precision);
    found->densities = telling(p->density, p->n, p->precision);
    for (int64_t k = 0; k < p->n && p->type; k++) {
        found->n_of_type[p->type[k]]++;
    }
}

/** See that masses can be added up, before anything is made of them. */
static int check_masses(const fof_task *task, const fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    for (int64_t k = 0; k < p->n && found->masses; k++) {
        const double mass = io_real(found->masses, k, p->precision);
        if (!isfinite(mass) || !(mass > 0)) {
            return report_error(STATUS_INVALID,
                                "leave its species out with --species, or correct the file",
                                "%s: masses: that of particle %lld (counted from 0) is %g, "
                                "expected a finite number above 0",
                                task->input, (long long)k, mass);
        }
    }
    return STATUS_OK;
}

/** Read --link or --attach. */
static int parse_types(const fof_task *task, const fof_outcome *found, const char *option,
                       const char *list, bool out[IO_MOST_TYPES])
{
    static const char hint[] = "types are 0 to 6, or gas, dark, disk, bulge, stars, bh, neutrino";
    if (!found->in.particles.type) {
        return report_error(STATUS_INVALID, "leave it out: all particles link",
                            "%s: %s %s, but the particles have no types", task->input, option,
                            list);
    }
    if (!io_types_parse(list, out)) {
        return report_error(STATUS_INVALID, hint, "%s: got %s, expected types", option, list);
    }
    return STATUS_OK;
}

/** Who links and who attaches. By convention, as in Gadget-4 and SWIFT, dark matter links, gas,
 *  stars and black holes attach; without dark matter all link. */
static int choose_roles(const fof_task *task, fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    const bool dark = found->n_of_type[DARK] > 0;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        found->links[type] = !dark || type == DARK;
        found->attaches[type] = dark && (type == GAS || type == STARS || type == HOLES);
    }
    if (task->link) {
        CLI_TRY(parse_types(task, found, "--link", task->link, found->links));
    }
    if (task->attach) {
        CLI_TRY(parse_types(task, found, "--attach", task->attach, found->attaches));
    }
    found->linked = p->n;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (task->link && task->attach && found->links[type] && found->attaches[type]) {
            return report_error(STATUS_INVALID, "name it in one of them",
                                "--link and --attach both name type %d (%s)", type,
                                io_type_name(type));
        }
        found->attaches[type] = found->attaches[type] && !found->links[type];
        found->linked -= found->links[type] ? 0 : found->n_of_type[type];
    }
    if (p->n > 0 && found->linked == 0) {
        return report_error(STATUS_INVALID, "kith info lists the types that are there",
                            "%s: no particle links: it has none of --link %s", task->input,
                            task->link);
    }
    if (found->linked == p->n) {
        return STATUS_OK;
    }
    found->roles = malloc((size_t)p->n);
    if (!found->roles) {
        return report_no_memory("the roles of particles");
    }
    for (int64_t k = 0; k < p->n; k++) {
        const int type = p->type[k];
        found->roles[k] = found->links[type]      ? KITH_LINK
                          : found->attaches[type] ? KITH_ATTACH
                                                  : KITH_IGNORE;
    }
    return STATUS_OK;
}

/** Mass of the particles that link, or of all. */
static double mass_of(const fof_outcome *found, bool linked)
{
    const io_particles *p = &found->in.particles;
    double mass = 0;
    for (int64_t k = 0; k < p->n; k++) {
        const bool counts = !linked || !found->roles || found->roles[k] == KITH_LINK;
        mass += counts ? io_real(found->masses, k, p->precision) : 0;
    }
    return mass;
}

static void choose_cosmology(const fof_task *task, fof_outcome *found)
{
    const kith_box *box = &found->space.box;
    const bool closed = box->dim == 3 && box->periodic[0] && box->periodic[1] && box->periodic[2];
    const bool whole = found->masses && closed && !task->shared.read.species;
    found->cosmology = cosmology_of(&found->in.particles, &task->cosmology, found->volume,
                                    whole ? mass_of(found, false) : 0);
}

/** Omega of the species that link: without baryons where these are other particles. */
static double omega_linked(const fof_outcome *found)
{
    static const int baryons[] = {GAS, STARS, HOLES};
    bool apart = false, linked = false;
    for (int k = 0; k < 3; k++) {
        apart = apart || found->n_of_type[baryons[k]] > 0;
        linked = linked || found->links[baryons[k]];
    }
    const cosmology *c = &found->cosmology;
    return apart && !linked ? c->omega_m - c->omega_b : c->omega_m;
}

static int spacing_by_mass(const fof_task *task, fof_outcome *found)
{
    const double critical = cosmology_critical(&found->in.particles);
    if (!found->masses || critical == 0 || found->in.particles.dim != 3) {
        return report_error(STATUS_INVALID, "choose --spacing linked or dark, or give --length",
                            "%s: --spacing mass needs masses, units and a cosmology in the file; "
                            "it has no %s",
                            task->input,
                            !found->masses  ? "masses"
                            : critical == 0 ? "cosmology with units"
                                            : "third coordinate");
    }
    found->spacing_omega = omega_linked(found);
    if (!(found->spacing_omega > 0)) {
        return report_error(STATUS_INVALID, "choose --spacing linked or dark, or give --length",
                            "%s: Omega of the particles that link is %g, expected a number above 0",
                            task->input, found->spacing_omega);
    }
    const double mass = mass_of(found, true) / (double)found->linked;
    found->mean_spacing = cbrt(mass / (found->spacing_omega * critical));
    return STATUS_OK;
}

static int spacing_by_number(const fof_task *task, fof_outcome *found)
{
    const bool dark = found->spacing == SPACING_DARK;
    const int64_t n = dark ? found->n_of_type[DARK] : found->linked;
    if (found->volume == 0) {
        return report_error(STATUS_INVALID,
                            "give its box with --box L (tipsy cosmology: --box 1 --origin "
                            "-0.5,-0.5,-0.5), or a linking length with --length",
                            "%s: a linking length in mean spacings needs a box, and the file has "
                            "none",
                            task->input);
    }
    if (n == 0) {
        return report_error(STATUS_INVALID, "choose --spacing linked, or give --length", "%s: %s",
                            task->input,
                            dark ? "--spacing dark, but it has no dark matter (type 1)"
                                 : "it has no particles, so that there is no mean spacing");
    }
    const double share = found->volume / (double)n;
    found->mean_spacing = found->space.box.dim == 2 ? sqrt(share) : cbrt(share);
    return STATUS_OK;
}

static int choose_length(const fof_task *task, fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    if (task->length > 0) {
        found->length = task->length;
        return STATUS_OK;
    }
    const bool known = found->masses && cosmology_critical(p) > 0 && p->dim == 3 && p->n > 0;
    found->spacing = task->spacing != SPACING_AUTO ? task->spacing
                     : known                       ? SPACING_MASS
                                                   : SPACING_LINKED;
    const int status = found->spacing == SPACING_MASS ? spacing_by_mass(task, found)
                                                      : spacing_by_number(task, found);
    found->length = task->b * found->mean_spacing;
    return status;
}

/** One-dimensional velocity dispersion of the particles that link. */
static double velocity_dispersion(const fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    const int dim = found->space.box.dim;
    double variance = 0;
    for (int k = 0; k < dim; k++) {
        double mean = 0, square = 0;
        for (int pass = 0; pass < 2; pass++) {
            double sum = 0;
            for (int64_t q = 0; q < p->n; q++) {
                const double v = io_real(p->velocity, 3 * q + k, p->precision) - mean;
                const bool counts = !found->roles || found->roles[q] == KITH_LINK;
                sum += counts ? (pass ? v * v : v) : 0;
            }
            mean = pass ? mean : sum / (double)found->linked;
            square = sum / (double)found->linked;
        }
        variance += square / dim;
    }
    return sqrt(variance);
}

static int choose_velocity_length(const fof_task *task, fof_outcome *found)
{
    if (task->velocity == 0) {
        return STATUS_OK;
    }
    if (!found->velocities) {
        return report_error(STATUS_FORMAT, "link by positions alone: leave out --phase-space",
                            "%s: --phase-space needs velocities; %s", task->input,
                            found->in.particles.velocity ? "all in the file are equal"
                                                         : "the file has none");
    }
    found->sigma = velocity_dispersion(found);
    found->velocity_length = task->velocity * (task->velocity_in_sigma ? found->sigma : 1);
    return STATUS_OK;
}

int fof_prepare(const fof_task *task, fof_outcome *found)
{
    CLI_TRY(space_choose(&task->shared, task->input, &found->in.particles, &found->space));
    const bool open = strcmp(found->space.source, "none") == 0;
    found->volume = open ? 0 : box_volume(&found->space.box);
    choose_fields(found);
    CLI_TRY(check_masses(task, found));
    CLI_TRY(choose_roles(task, found));
    choose_cosmology(task, found);
    CLI_TRY(choose_length(task, found));
    return choose_velocity_length(task, found);
}
