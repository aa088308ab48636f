/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The summary of `kith fof`, as text or as JSON.
 */
#include "fof.h"
#include "common/report.h"
#include "common/spread.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** A number with five digits. */
static printed number(double x)
{
    return report_format("%.5g", x);
}

/** A unit after a number: " kpc/h"; "" where units are not known. */
static printed unit(const char *name)
{
    return report_format("%s%.60s", *name ? " " : "", name);
}

/** Print a line of the types chosen, after the verb; nothing if none has particles. */
static void print_types(const fof_outcome *found, const char *verb, const bool chosen[])
{
    const char *before = NULL;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (chosen[type] && found->n_of_type[type] > 0) {
            if (!before) {
                report_line(strcmp(verb, "link:") == 0 ? "species" : "", "%s", verb);
            }
            printf("%s %s (%s)", before ? before : "", io_type_name(type),
                   report_count(found->n_of_type[type]).s);
            before = ",";
        }
    }
    if (before) {
        putchar('\n');
    }
}

static void print_roles(const fof_outcome *found)
{
    bool rest[IO_MOST_TYPES];
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        rest[type] = !found->links[type] && !found->attaches[type];
    }
    print_types(found, "link:", found->links);
    print_types(found, "attach:", found->attaches);
    print_types(found, "ignore:", rest);
}

/** The formula of the spacing that was used. */
static const char *spacing_words(const fof_outcome *found)
{
    static const char *const words[][2] = {
        [SPACING_AUTO] = {"", ""},
        [SPACING_LINKED] = {"(V/N)^(1/3), N all that link", "(A/N)^(1/2), N all that link"},
        [SPACING_DARK] = {"(V/N)^(1/3), N dark matter", "(A/N)^(1/2), N dark matter"},
        [SPACING_MASS] = {"(m/rho)^(1/3)", ""}};
    return words[found->spacing][found->space.box.dim == 2];
}

static void print_length(const fof_task *task, const fof_outcome *found)
{
    const style *look = report_style();
    io_unit_name names;
    io_unit_names(&found->in.particles.units, &names);
    report_line("length", "%s%s", report_bold(number(found->length).s).s, unit(names.length).s);
    if (found->spacing != SPACING_AUTO) {
        printf(" = %s x %s, the mean spacing", report_real(task->b).s,
               number(found->mean_spacing).s);
    }
    putchar('\n');
    if (found->spacing != SPACING_AUTO) {
        report_line("spacing", "%s%s", look->faint, spacing_words(found));
        if (found->spacing == SPACING_MASS) {
            printf(", Omega %s", number(found->spacing_omega).s);
        }
        printf(": %s%s\n", found->spacing_why, look->end);
    }
    if (found->spacing_warning) {
        report_line("", "%s%s%s\n", look->bold, found->spacing_warning, look->end);
    }
    if (task->velocity > 0) {
        report_line("", "and in velocity %s%s", number(found->velocity_length).s,
                    unit(names.velocity).s);
        if (task->velocity_in_sigma) {
            printf(" = %s x %s, the dispersion", report_real(task->velocity).s,
                   number(found->sigma).s);
        }
        putchar('\n');
    }
    if (task->min_links > 0) {
        report_line("", "only particles with %s or more within it link\n",
                    report_count(task->min_links).s);
    }
}

/** Print the units that were assumed because the file does not state any. */
static void print_units(const fof_outcome *found)
{
    io_unit_name names;
    io_unit_names(&found->in.particles.units, &names);
    if (found->in.particles.units.source == IO_UNITS_USUAL) {
        report_line("units", "%s, %s, %s: not in the file, but usual\n", names.length, names.mass,
                    names.velocity);
    }
}

static void print_cosmology(const fof_outcome *found)
{
    const cosmology *c = &found->cosmology;
    const double tolerance = 0.1; /* black holes take mass from gas and stars */
    if (c->known) {
        report_line("cosmology", "Omega_m %s, Omega_Lambda %s, redshift %s (%s)\n",
                    number(c->omega_m).s, number(c->omega_lambda).s, number(c->redshift).s,
                    c->given ? "from --cosmology" : "from the file");
    }
    if (c->filled > 0 && fabs(c->filled - 1) > tolerance) {
        report_line("", "%smass in the box: %s of what Omega_m says; see units, cosmology%s\n",
                    report_style()->bold, number(c->filled).s, report_style()->end);
    }
}

/** Print fields that the file has, or that snapshots usually have, and that halos are measured
 *  without. */
static void print_left_out(const fof_task *task, const fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    const struct {
        const char *name;
        const void *read, *used;
        bool expected; /* snapshots usually have the field */
        unsigned bit;
    } fields[] = {{"masses", p->mass, found->masses, true, IO_MASSES},
                  {"velocities", p->velocity, found->velocities, true, IO_VELOCITIES},
                  {"potentials", p->potential, found->potentials, false, IO_POTENTIALS},
                  {"densities", p->density, found->densities, false, IO_DENSITIES}};
    const char *title = "unused";
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        const bool partial = p->partial & fields[k].bit;
        const bool missing = !fields[k].read && fields[k].expected && p->type;
        if (fields[k].used || p->all < 2 || !(fields[k].read || partial || missing)) {
            continue;
        }
        report_line(title, "%s: %s%s\n", fields[k].name,
                    partial                      ? "only some types have them"
                    : missing                    ? "the file has none"
                    : fields[k].bit == IO_MASSES ? "all are 0"
                                                 : "all are equal",
                    fields[k].bit == IO_MASSES ? "; each particle counts 1" : "");
        title = "";
    }
    if (found->masses && p->dim == 3 && !task->without_spheres &&
        !found->catalogue.sphere[IO_SPHERE_200C]) {
        const bool mean = found->catalogue.sphere[IO_SPHERE_200M];
        report_line(title, "%s: no cosmology is known, --cosmology gives one\n",
                    mean ? "m200c, m500c, mvir" : "m200c, m200m, m500c, mvir");
    }
    report_line("centre", "%s\n",
                found->potentials  ? "the member of lowest potential"
                : found->densities ? "the member of highest density"
                                   : "the centre of mass");
}

static void print_halo(const fof_outcome *found, int64_t h)
{
    const kith_halo *halo = &found->halos.halo[h];
    io_unit_name names;
    io_unit_names(&found->in.particles.units, &names);
    report_line(h ? "" : "largest", "%s members", report_count(halo->members).s);
    if (found->linked_members) {
        printf(" (%s link)", report_count(found->linked_members[h]).s);
    }
    if (found->masses) {
        printf(", mass %s%s", number(halo->mass).s, h ? "" : unit(names.mass).s);
    }
    printf(", at (%s, %s", number(halo->centre[0]).s, number(halo->centre[1]).s);
    if (found->space.box.dim == 3) {
        printf(", %s", number(halo->centre[2]).s);
    }
    puts(")");
}

static void print_groups(const fof_task *task, const fof_outcome *found)
{
    enum { SHOWN = 3 };
    const int64_t n = found->in.particles.all;
    report_line("halos", "%s of %s and more", report_bold(report_count(found->groups.n).s).s,
                report_count(task->min_members).s);
    if (n > 0) {
        printf(", with %.3g %% of the particles", 100 * (double)found->grouped / (double)n);
    }
    putchar('\n');
    for (int64_t h = 0; h < found->halos.n && h < SHOWN; h++) {
        print_halo(found, h);
    }
    if (found->groups.n > 0) {
        const spread s = spread_of(found->groups.members, found->groups.n);
        report_line("members", "%shalos by number of members%s\n", report_style()->faint,
                    report_style()->end);
        spread_draw(&s);
    }
}

static bool has_spheres(const fof_outcome *found)
{
    bool any = false;
    for (int s = 0; s < KITH_SPHERES; s++) {
        any = any || found->catalogue.sphere[s];
    }
    return any;
}

void fof_print(const fof_task *task, const fof_outcome *found)
{
    report_title(task->input);
    report_line("particles", "%s\n", input_words(&found->in).s);
    if (found->roles) {
        print_roles(found);
    }
    space_print(&found->space);
    print_units(found);
    print_cosmology(found);
    print_length(task, found);
    print_left_out(task, found);
    print_groups(task, found);
    report_line("time", "link %s, measure %s", report_seconds(found->link_seconds).s,
                report_seconds(found->measure_seconds).s);
    if (task->shared.output || task->labels || task->sorted || task->plot) {
        printf(", write %s", report_seconds(found->write_seconds).s);
    }
    putchar('\n');
    if (has_spheres(found) && isfinite(found->halos.sphere_seconds)) {
        report_line("", "spherical overdensities %s\n",
                    report_seconds(found->halos.sphere_seconds).s);
    }
    report_line("engine", "%s; %s of memory at most\n", ranks_words(found->ranks, found->ctx).s,
                report_bytes(report_peak_memory()).s);
    report_output("catalogue", task->shared.output);
    report_output("labels", task->labels);
    report_output("sorted", task->sorted);
    report_output("picture", task->plot);
}

/** Return halo h, from 0, as JSON. */
static json_t *halo_json(const fof_outcome *found, int64_t h)
{
    static const char *const names[] = {"200c", "200m", "500c", "vir"};
    const kith_halo *halo = &found->halos.halo[h];
    json_t *spheres = json_object();
    for (int s = 0; s < KITH_SPHERES; s++) {
        if (found->catalogue.sphere[s]) {
            json_object_set_new(spheres, names[s],
                                json_pack("{s:o, s:o}", "mass",
                                          report_json_real(halo->sphere_mass[s]), "radius",
                                          report_json_real(halo->sphere_radius[s])));
        }
    }
    return json_pack(
        "{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "group", (json_int_t)h + 1, "members",
        (json_int_t)halo->members, "linked",
        (json_int_t)(found->linked_members ? found->linked_members : found->groups.members)[h],
        "mass", found->masses ? report_json_real(halo->mass) : json_null(), "centre",
        report_json_reals(halo->centre, 3), "velocity",
        found->velocities ? report_json_reals(halo->velocity, 3) : json_null(), "dispersion",
        found->velocities ? report_json_real(halo->dispersion) : json_null(), "radius_rms",
        report_json_real(halo->radius_rms), "spheres", spheres);
}

static json_t *linking_json(const fof_task *task, const fof_outcome *found)
{
    static const char *const names[] = {"absolute", "linked", "dark", "mass"};
    json_t *links = json_array(), *attaches = json_array();
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (found->n_of_type[type] > 0 && found->links[type]) {
            json_array_append_new(links, json_integer(type));
        }
        if (found->n_of_type[type] > 0 && found->attaches[type]) {
            json_array_append_new(attaches, json_integer(type));
        }
    }
    const bool relative = found->spacing != SPACING_AUTO;
    return json_pack(
        "{s:f, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:I, s:o, s:o}", "length", found->length,
        "spacing", names[found->spacing], "why", found->spacing_why, "warning",
        report_json_text(found->spacing_warning), "b", relative ? json_real(task->b) : json_null(),
        "mean_spacing", relative ? json_real(found->mean_spacing) : json_null(), "min_members",
        (json_int_t)task->min_members, "min_links", (json_int_t)task->min_links, "velocity_length",
        task->velocity > 0 ? json_real(found->velocity_length) : json_null(), "linked",
        (json_int_t)found->linked, "link", links, "attach", attaches);
}

static json_t *cosmology_json(const cosmology *c)
{
    if (!c->known) {
        return json_null();
    }
    return json_pack("{s:f, s:f, s:f, s:f, s:o}", "omega_m", c->omega_m, "omega_lambda",
                     c->omega_lambda, "redshift", c->redshift, "mean_density", c->matter, "filled",
                     c->filled > 0 ? json_real(c->filled) : json_null());
}

json_t *fof_json(const fof_task *task, const fof_outcome *found)
{
    enum { SHOWN = 10 };
    json_t *halos = json_array();
    for (int64_t h = 0; h < found->halos.n && h < SHOWN; h++) {
        json_array_append_new(halos, halo_json(found, h));
    }
    const int64_t n = found->groups.n;
    const spread s = spread_of(found->groups.members, n);
    const double spheres = has_spheres(found) ? found->halos.sphere_seconds : 0;
    json_t *seconds = json_pack("{s:f, s:f, s:f, s:o, s:f}", "read", found->in.seconds, "link",
                                found->link_seconds, "measure", found->measure_seconds, "spheres",
                                report_json_real(spheres), "write", found->write_seconds);
    json_t *outputs = json_pack(
        "{s:o, s:o, s:o, s:o}", "catalogue", report_json_text(task->shared.output), "labels",
        report_json_text(task->labels), "sorted", report_json_text(task->sorted), "plot",
        report_json_text(task->plot));
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:s, s:i, s:i, s:o, s:I, s:o}", "kith",
        kith_version(), "verb", "fof", "input", input_json(&found->in), "box",
        space_json(&found->space), "cosmology", cosmology_json(&found->cosmology), "linking",
        linking_json(task, found), "groups", (json_int_t)n, "grouped", (json_int_t)found->grouped,
        "members", n ? spread_json(&s, "halos") : json_null(), "largest", halos, "backend",
        ranks_backend(found->ranks, found->ctx), "threads", kith_threads(found->ctx), "ranks",
        ranks_number(found->ranks), "seconds", seconds, "peak_bytes",
        (json_int_t)report_peak_memory(), "outputs", outputs);
}
