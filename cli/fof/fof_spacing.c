/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The linking length: b times the mean spacing of the particles that link.
 *
 * By mass the spacing is (m / rho)^(1/3), where m is the mean mass of the particles that link and
 * rho the mean density of their species in the universe. Where the box is full of these species,
 * rho is their mass over the volume. In a zoom simulation it is not: there rho is the density of
 * matter times the share that the species have in the mass of the high-resolution particles. Where
 * only some species were read from the file, the share is not known, and Omega_m and Omega_b
 * decide.
 */
#include "fof.h"
#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** Two densities that differ by less than this fraction agree. Stars lose mass, black holes gain
 *  it, and codes differ in the last digits of physical constants. */
static const double tolerance = 0.1;

/** Sums of mass: of the particles that link, and of all species of their resolution. */
typedef struct budget {
    double linked, fine; /* mass of the particles that link; mass of dark matter, baryons, and all
                            else that links */
    bool complete;       /* every particle of these species was read */
    bool baryons;        /* the file has gas, stars or black holes */
    bool links_dark;     /* dark matter links */
    bool links_baryons;  /* all types of baryons in the file link */
    bool links_a_baryon; /* at least one type of baryons in the file links */
} budget;

/** Type 5 is black holes where there is gas, else the coarse dark matter of some zooms. */
static bool is_baryon(const io_particles *p, int type)
{
    return type == FOF_GAS || type == FOF_STARS || (type == FOF_HOLES && p->in_file[FOF_GAS] > 0);
}

/** Sum up masses and species. */
static budget add_up(const fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    budget b = {.complete = true, .links_baryons = true, .links_dark = found->links[FOF_DARK]};
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        const bool baryon = is_baryon(p, type);
        if (!baryon && type != FOF_DARK && !found->links[type]) {
            continue;
        }
        b.fine += found->mass_of_type[type];
        b.linked += found->links[type] ? found->mass_of_type[type] : 0;
        b.complete = b.complete && found->n_of_type[type] == p->in_file[type];
        if (baryon && p->in_file[type] > 0) {
            b.baryons = true;
            b.links_baryons = b.links_baryons && found->links[type];
            b.links_a_baryon = b.links_a_baryon || found->links[type];
        }
    }
    return b;
}

/** Omega of the species that link, from the cosmology alone; 0: not known. */
static double omega_by_cosmology(fof_outcome *found, const budget *b)
{
    const cosmology *c = &found->cosmology;
    const bool all = !b->baryons || (b->links_dark && b->links_baryons);
    const bool dark = b->links_dark && !b->links_a_baryon;
    const bool baryons = !b->links_dark && b->links_baryons;
    const char *why = "Omega_m, as all matter links";
    double omega = c->omega_m;
    if (!all && !dark && !(baryons && c->omega_b > 0)) {
        return 0;
    }
    if (!all && c->omega_b > 0) {
        why = dark ? "Omega_m - Omega_b, as dark matter links" : "Omega_b, as baryons link";
        omega = dark ? c->omega_m - c->omega_b : c->omega_b;
    } else if (!all) {
        why = "Omega_m";
        found->spacing_warning =
            "Omega_b is not known: rho has the baryons in it, which do not link";
    }
    snprintf(found->spacing_why, sizeof found->spacing_why, "%s", why);
    return omega;
}

/** Return Omega of the species that link; 0: not known. It is that of their mass in the box, where
 *  this agrees with what is expected; else the expected one, as in a zoom. Sets spacing_why.
 *  @param critical  critical density today [mass / length^3] */
static double omega_linked(fof_outcome *found, double critical)
{
    const budget b = add_up(found);
    const double omega_m = found->cosmology.omega_m;
    const double in_box = found->closed ? b.linked / found->volume / critical : 0;
    const double expected = b.complete ? omega_m * b.linked / b.fine
                                       : omega_by_cosmology(found, &b);
    /* Omega_m in place of the unknown Omega of dark matter: baryons are less than 0.3 of it. */
    const double least = found->spacing_warning ? 0.7 : 1 - tolerance;
    if (expected > 0 && in_box >= least * expected && in_box <= (1 + tolerance) * expected) {
        found->spacing_warning = NULL;
        snprintf(found->spacing_why, sizeof found->spacing_why, "mass that links / volume");
        return in_box;
    }
    if (b.complete) {
        snprintf(found->spacing_why, sizeof found->spacing_why,
                 "Omega_m x %.3g, the share of mass that links", b.linked / b.fine);
    }
    return expected;
}

/** Report that --spacing mass lacks something. @return exit status */
static int refuse_mass(const fof_task *task, const char *hint, const char *lack)
{
    return report_error(STATUS_INVALID, hint,
                        "%s: --spacing mass needs masses, units and a cosmology in the file; it "
                        "has no %s",
                        task->input, lack);
}

/** Set the mean spacing by mass. @return exit status, reported */
static int spacing_by_mass(const fof_task *task, fof_outcome *found)
{
    static const char hint[] = "choose --spacing linked or dark, or give --length";
    const double critical = cosmology_critical(&found->in.particles);
    if (!found->masses || critical == 0 || found->in.particles.dim != 3) {
        return refuse_mass(task, hint,
                           !found->masses  ? "masses"
                           : critical == 0 ? "cosmology with units"
                                           : "third coordinate");
    }
    const double omega = omega_linked(found, critical);
    if (!(omega > 0)) {
        return report_error(STATUS_INVALID, hint,
                            "%s: the mean density of the species that link is not known: other "
                            "species were not read, and it does not follow from Omega_b",
                            task->input);
    }
    const double mass = add_up(found).linked;
    const double full = found->closed ? mass / (found->volume * critical * found->cosmology.omega_m)
                                      : 0;
    if (full > 2) {
        return report_error(STATUS_INVALID, hint,
                            "%s: the mass that links is %.3g times what Omega_m %.3g allows in the "
                            "box; expected at most 1. The unit of length, of mass or the cosmology "
                            "is wrong",
                            task->input, full, found->cosmology.omega_m);
    }
    found->spacing_omega = omega;
    found->mean_spacing = cbrt(mass / (double)found->linked / (omega * critical));
    return STATUS_OK;
}

/** Warn if the particles that link may be those of a zoom simulation, which do not fill the box. */
static int warn_of_zoom(fof_outcome *found)
{
    pass masses = {.kind = PASS_MASSES, .least = INFINITY, .most = 0};
    memcpy(masses.types, found->links, sizeof masses.types);
    CLI_TRY(found->masses ? ranks_pass(&found->in, &masses) : STATUS_OK);
    if (found->n_of_type[FOF_DARK] == found->linked && masses.most > 2 * masses.least) {
        found->spacing_warning = "masses differ as in a zoom: then this is too long, give --length";
    }
    return STATUS_OK;
}

/** Set the mean spacing by number of particles. @return exit status, reported */
static int spacing_by_number(const fof_task *task, fof_outcome *found)
{
    const bool dark = found->spacing == SPACING_DARK;
    const int64_t n = dark ? found->n_of_type[FOF_DARK] : found->linked;
    if (found->in.particles.all == 0) {
        return report_error(STATUS_INVALID, NULL,
                            "%s: has no particles, so that there is no mean spacing", task->input);
    }
    if (found->volume == 0) {
        return report_error(STATUS_INVALID,
                            "give its box with --box L (tipsy cosmology: --box 1 --origin "
                            "-0.5,-0.5,-0.5), or a linking length with --length",
                            "%s: a linking length in mean spacings needs a box, and the file has "
                            "none",
                            task->input);
    }
    if (n == 0) { /* at least one particle links */
        return report_error(STATUS_INVALID, "choose --spacing linked, or give --length",
                            "%s: --spacing dark, but it has no dark matter (type 1)", task->input);
    }
    const double least = 0.1;
    if (n > 1 && found->cover > 0 && found->cover < least) {
        found->spacing_warning = "coordinates span less than 0.1 of the box: another unit?";
    }
    const double share = found->volume / (double)n;
    found->mean_spacing = found->space.box.dim == 2 ? sqrt(share) : cbrt(share);
    return STATUS_OK;
}

int fof_choose_length(const fof_task *task, fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    if (task->length > 0) {
        found->length = task->length;
        return STATUS_OK;
    }
    const bool units = cosmology_critical(p) > 0;
    const bool known = found->masses && units && p->dim == 3 && p->all > 0;
    found->spacing = task->spacing != SPACING_AUTO ? task->spacing
                     : known                       ? SPACING_MASS
                                                   : SPACING_LINKED;
    snprintf(found->spacing_why, sizeof found->spacing_why, "%s",
             task->spacing != SPACING_AUTO ? "as --spacing says"
             : p->dim == 2                 ? "in two dimensions"
             : !found->masses              ? "no masses are known"
                                           : "no cosmology with units is known");
    if (task->spacing == SPACING_AUTO && !known) {
        CLI_TRY(warn_of_zoom(found));
    }
    const int status = found->spacing == SPACING_MASS ? spacing_by_mass(task, found)
                                                      : spacing_by_number(task, found);
    found->length = task->b * found->mean_spacing;
    return status;
}
