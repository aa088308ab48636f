/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Before the search: which particles link, the linking length, the universe.
 */
#include "fof.h"
#include "common/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Choose which arrays of the particles are used, and count the particles of each type. Arrays
 *  whose numbers are all equal are not used: programs that write snapshots store a constant for a
 *  field that they do not know. */
static int choose_fields(fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    pass *fields = &found->fields;
    *fields = (pass){.kind = PASS_FIELDS};
    CLI_TRY(ranks_pass(&found->in, fields));
    const bool *differs = fields->differs;
    const bool massless = fields->any[PASS_MASS] && fields->first[PASS_MASS] == 0 &&
                          !differs[PASS_MASS];
    found->masses = massless ? NULL : p->mass;
    found->velocities = differs[PASS_VELOCITY] ? p->velocity : NULL;
    found->potentials = differs[PASS_POTENTIAL] ? p->potential : NULL;
    found->densities = differs[PASS_DENSITY] ? p->density : NULL;
    memcpy(found->n_of_type, fields->n_of_type, sizeof found->n_of_type);
    return STATUS_OK;
}

/** Check that masses are finite and above 0, before they are summed. */
static int check_masses(const fof_task *task, const fof_outcome *found)
{
    if (!found->masses || !found->fields.bad) {
        return STATUS_OK;
    }
    return report_error(STATUS_INVALID, "leave its species out with --species, or correct the file",
                        "%s: masses: that of particle %lld (counted from 0) is %g, expected a "
                        "finite number above 0",
                        task->input, (long long)found->fields.bad_particle, found->fields.bad_mass);
}

/** Parse --link or --attach. @param[out] out  [type] the list has the type
 *  @return exit status, reported */
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

/** Choose the types that link and attach. By convention, as in Gadget-4 and SWIFT, dark matter
 *  links; gas, stars and black holes attach; without dark matter all types link. */
static int choose_roles(const fof_task *task, fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    const bool dark = found->n_of_type[FOF_DARK] > 0;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        found->links[type] = !dark || type == FOF_DARK;
        found->attaches[type] = dark && (type == FOF_GAS || type == FOF_STARS || type == FOF_HOLES);
    }
    if (task->link) {
        CLI_TRY(parse_types(task, found, "--link", task->link, found->links));
    }
    if (task->attach) {
        CLI_TRY(parse_types(task, found, "--attach", task->attach, found->attaches));
    }
    found->linked = p->all;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (task->link && task->attach && found->links[type] && found->attaches[type]) {
            return report_error(STATUS_INVALID, "name it in one of them",
                                "--link and --attach both name type %d (%s)", type,
                                io_type_name(type));
        }
        found->attaches[type] = found->attaches[type] && !found->links[type];
        found->linked -= found->links[type] ? 0 : found->n_of_type[type];
    }
    if (p->all > 0 && found->linked == 0) {
        return report_error(STATUS_INVALID, "kith info lists the types that are there",
                            "%s: no particle links: it has none of --link %s", task->input,
                            task->link);
    }
    if (p->all <= 0 || found->linked == p->all) {
        return STATUS_OK;
    }
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        found->role_of[type] = found->links[type]      ? KITH_LINK
                               : found->attaches[type] ? KITH_ATTACH
                                                       : KITH_IGNORE;
    }
    found->roles = malloc((size_t)p->n + 1);
    if (!found->roles) {
        return report_no_memory("the roles of particles");
    }
    for (int64_t k = 0; k < p->n; k++) {
        found->roles[k] = found->role_of[p->type[k]];
    }
    return STATUS_OK;
}

/** Measure the range of the fractional coordinates along each row of the box: 0 at the origin, 1
 *  one row further. @return exit status, reported */
static int measure_extent(const fof_outcome *found, double low[3], double high[3])
{
    const kith_box *box = &found->space.box;
    pass extent = {.kind = PASS_EXTENT, .dim = box->dim};
    memcpy(extent.origin, box->origin, sizeof extent.origin);
    const double volume = box_normals(box, extent.normal);
    for (int k = 0; k < 3; k++) {
        extent.low[k] = INFINITY;
        extent.high[k] = -INFINITY;
        for (int axis = 0; axis < 3; axis++) {
            extent.normal[k][axis] /= volume;
        }
    }
    CLI_TRY(ranks_pass(&found->in, &extent));
    memcpy(low, extent.low, sizeof extent.low);
    memcpy(high, extent.high, sizeof extent.high);
    return STATUS_OK;
}

/** A sentence that names the two units whose ratio is within a factor of 1.5 of the ratio of
 *  coordinates to box; "" if there are none. */
static const char *likely_units(double ratio)
{
    static const struct {
        double ratio;
        const char *text;
    } units[] = {{10, ". The ratio is near 10, the ratio of nm to Angstrom"},
                 {1e3, ". The ratio is near 1000, the ratio of Mpc to kpc"},
                 {1e6, ". The ratio is near 1e6, the ratio of Mpc to pc"}};
    for (int k = 0; k < 3; k++) {
        if (ratio > units[k].ratio / 1.5 && ratio < units[k].ratio * 1.5) {
            return units[k].text;
        }
    }
    return "";
}

/** Where --origin is not given, move the origin of the box so that the box holds the coordinates as
 *  they are in the file, for example those of tipsy, in [-0.5, 0.5). Positions of halos are wrapped
 *  into the box, so that catalogue, labels and sorted snapshot then have one frame, that of the
 *  input. If no origin makes the box hold all coordinates (particles have left it), the origin
 *  stays 0. */
static void place_box(const fof_task *task, fof_outcome *found, const double low[3],
                      const double high[3])
{
    const double drift = 0.05; /* how far particles may have drifted out [lengths of the box] */
    kith_box *box = &found->space.box;
    double shift[3] = {0};
    bool centred = true, outside = false;
    for (int k = 0; k < box->dim; k++) {
        if (!box->periodic[k] || !(high[k] >= low[k])) {
            continue;
        }
        if (high[k] - low[k] > 1 + 2 * drift) {
            return;
        }
        const bool out = low[k] < 0 || high[k] > 1;
        centred = centred && low[k] >= -0.5 - drift && high[k] <= 0.5 + drift;
        outside = outside || out;
        /* The multiple of 1/2 from which the middle of the range is 0.25 to 0.75 away. */
        shift[k] = out ? floor(low[k] + high[k] - 0.5) / 2 : 0;
    }
    for (int k = 0; k < box->dim && outside && !task->shared.has_origin; k++) {
        for (int axis = 0; axis < box->dim && box->periodic[k]; axis++) {
            box->origin[axis] += (centred ? -0.5 : shift[k]) * box->row[k][axis];
        }
    }
}

/** Place the box around the coordinates. Refuse coordinates that span more than two lengths of a
 *  periodic box: the unit of the coordinates or of the box is wrong, and then so is a linking
 *  length that is given in mean spacings. */
static int fit_box(const fof_task *task, fof_outcome *found)
{
    const kith_box *box = &found->space.box;
    const bool upright = space_is_upright(box);
    double low[3], high[3];
    if (found->volume == 0) {
        return STATUS_OK;
    }
    CLI_TRY(measure_extent(found, low, high));
    for (int k = 0; k < box->dim; k++) {
        const double span = high[k] - low[k];
        found->cover = fmax(found->cover, span);
        if (!box->periodic[k] || !(span > 2) || !isfinite(span) || task->allow_unwrapped) {
            continue;
        }
        const double unit = upright ? box->row[k][k] : 1, from = upright ? box->origin[k] : 0;
        return report_error(
            STATUS_INVALID,
            "give the box in the unit of the coordinates; where particles left the box and were "
            "not put back into it, add --allow-unwrapped",
            "%s: coordinates along %s go from %.6g to %.6g%s, but the box %s goes from %.6g to "
            "%.6g: %.4g box lengths, expected at most 2%s",
            task->input,
            (const char *const[2][3]){{"row 1", "row 2", "row 3"}, {"x", "y", "z"}}[upright][k],
            from + low[k] * unit, from + high[k] * unit, upright ? "" : " box lengths",
            strcmp(found->space.source, "file") == 0 ? "of the file" : "of --box", from,
            from + unit, span, likely_units(span));
    }
    place_box(task, found, low, high);
    return STATUS_OK;
}

/** Set found->closed and found->cosmology. The mass in the box is known if all species were
 *  read. */
static void choose_cosmology(const fof_task *task, fof_outcome *found)
{
    const kith_box *box = &found->space.box;
    found->closed = box->dim == 3 && box->periodic[0] && box->periodic[1] && box->periodic[2];
    const bool whole = found->masses && found->closed && !task->shared.read.species;
    double mass = 0;
    for (int type = 0; type < IO_MOST_TYPES && whole; type++) {
        mass += found->mass_of_type[type];
    }
    found->cosmology = cosmology_of(&found->in.particles, &task->cosmology, found->volume, mass);
}

/** Compute the one-dimensional velocity dispersion of the particles that link. */
static int measure_dispersion(fof_outcome *found)
{
    const int dim = found->space.box.dim;
    pass sums = {.kind = PASS_VELOCITIES, .dim = dim};
    memcpy(sums.types, found->links, sizeof sums.types);
    CLI_TRY(ranks_pass(&found->in, &sums));
    pass squares = {.kind = PASS_VELOCITIES, .dim = dim, .squares = true};
    memcpy(squares.types, found->links, sizeof squares.types);
    for (int k = 0; k < dim; k++) {
        squares.mean[k] = sums.sum[k] / (double)found->linked;
    }
    CLI_TRY(ranks_pass(&found->in, &squares));
    double variance = 0;
    for (int k = 0; k < dim; k++) {
        variance += squares.sum[k] / (double)found->linked / dim;
    }
    found->sigma = sqrt(variance);
    return STATUS_OK;
}

void fof_spheres(const fof_task *task, const fof_outcome *found, double density[KITH_SPHERES])
{
    if (found->masses && found->in.particles.dim == 3 && !task->without_spheres) {
        cosmology_spheres(&found->cosmology, density);
    }
}

/** Set found->velocity_length from --phase-space. @return exit status, reported */
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
    CLI_TRY(measure_dispersion(found));
    if (task->velocity_in_sigma && !(found->sigma > 0 && isfinite(found->sigma))) {
        return report_error(STATUS_INVALID,
                            "give --phase-space BV in the unit of velocities, or leave it out",
                            "%s: --phase-space %ss: the velocity dispersion of the particles that "
                            "link is %s",
                            task->input, report_real(task->velocity).s,
                            found->sigma == 0 ? "0: all have one velocity" : "not finite");
    }
    found->velocity_length = task->velocity * (task->velocity_in_sigma ? found->sigma : 1);
    return STATUS_OK;
}

int fof_prepare(const fof_task *task, fof_outcome *found)
{
    CLI_TRY(space_choose(&task->shared, task->input, &found->in.particles, &found->space));
    CLI_TRY(space_check_volume(&found->space, task->input));
    const bool open = strcmp(found->space.source, "none") == 0;
    found->volume = open ? 0 : box_volume(&found->space.box);
    CLI_TRY(fit_box(task, found));
    CLI_TRY(choose_fields(found));
    CLI_TRY(check_masses(task, found));
    CLI_TRY(choose_roles(task, found));
    if (found->masses) {
        memcpy(found->mass_of_type, found->fields.mass_of_type, sizeof found->mass_of_type);
    }
    choose_cosmology(task, found);
    CLI_TRY(fof_choose_length(task, found));
    return choose_velocity_length(task, found);
}
