/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith fof: halos by friends-of-friends, from a snapshot to a catalogue, labels and a picture.
 */
#include "fof.h"

#include "common/parse.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Read -b; its errors name the letter, not the long name. */
static void read_b(void *at, const option_given *given)
{
    *(double *)at = option_positive(given->state, "-b", given->arg);
}

/** Read a velocity, or a number of velocity dispersions and an `s`. */
static void read_velocity(void *at, const option_given *given)
{
    fof_task *task = at;
    const size_t length = strlen(given->arg);
    task->velocity_in_sigma = length > 0 && given->arg[length - 1] == 's';
    if (task->velocity_in_sigma) {
        given->arg[length - 1] = '\0';
    }
    task->velocity = option_positive(given->state, "--phase-space", given->arg);
}

/** Read --cosmology into a cosmology. */
static void read_cosmology(void *at, const option_given *given)
{
    const char *const arg = given->arg;
    double v[3];
    if (parse_reals(arg, 3, v) != 3) {
        option_error(given->state, "--cosmology: got '%s', expected OMEGA_M,OMEGA_LAMBDA,REDSHIFT",
                     arg);
    }
    if (!(v[0] > 0 && v[0] <= 10)) {
        option_invalid("--cosmology", arg, "Omega of matter above 0, like 0.3");
    }
    if (!(v[1] >= 0 && v[1] <= 10)) {
        option_invalid("--cosmology", arg, "Omega of Lambda from 0, like 0.7");
    }
    if (!(v[2] > -1 && v[2] <= 1e6)) {
        option_invalid("--cosmology", arg, "a redshift above -1; 0 is today");
    }
    const cosmology c = {
        .known = true, .given = true, .omega_m = v[0], .omega_lambda = v[1], .redshift = v[2]};
    if (!(cosmology_expansion(&c) > 0)) {
        option_invalid("--cosmology", arg, "Omegas of a universe that expanded at this redshift");
    }
    *(cosmology *)at = c;
}

/** End the command if options contradict each other. */
static void check_task(void *at, struct argp_state *state)
{
    const fof_task *task = at;
    const char *dot = task->labels ? strrchr(task->labels, '.') : NULL;
    option_refuse(state, task->length > 0 && (task->b > 0 || task->spacing != SPACING_AUTO),
                  "--length is absolute: leave out -b and --spacing, or --length");
    option_refuse(state, task->format != IO_CATALOGUE_BY_NAME && !task->shared.output,
                  "--format chooses the format of the catalogue: it needs -o FILE");
    option_refuse(state, dot && strcmp(dot, ".grp") == 0 && task->shared.read.species,
                  "a .grp has a line for each particle of INPUT: leave out --species");
    option_refuse(state, options_to_stdout(&task->shared),
                  "a catalogue needs the name of a file: -o halos.csv");
}

static void read_format(void *at, const option_given *given)
{
    if (!io_catalogue_format_find(given->arg, at)) {
        option_error(given->state, "--format: got '%s', expected csv, rockstar, gadget4 or swift",
                     given->arg);
    }
}

static const option_row fof_options[] = {
    {"linking", 'b', "B", "linking length in mean spacings; default 0.2", 1,
     READ_AT(fof_task, b, read_b)},
    {"length", 0, "L", "linking length in the unit of the coordinates", 1,
     POSITIVE_AT(fof_task, length)},
    {"spacing", 0, "HOW", "mean spacing of: linked, dark; or by mass", 1,
     WORD_AT(fof_task, spacing, SPACING_LINKED, "linked, dark or mass")},
    {"min-members", 0, "N", "smaller groups are none; default 20", 1,
     FROM_ONE_AT(fof_task, min_members)},
    {"link", 0, "TYPES", "that link; default: dark, where there is any", 1,
     TEXT_AT(fof_task, link)},
    {"attach", 0, "TYPES", "that join the nearest of those; gas,stars,bh", 1,
     TEXT_AT(fof_task, attach)},
    {"phase-space", 0, "BV", "link in velocity too; 0.5s: 0.5 sigma", 1, READ_BY(read_velocity)},
    {"min-links", 0, "M", "only those with M friends link: no bridges", 1,
     FROM_ZERO_AT(fof_task, min_links)},
    {"cosmology", 0, "OM,OL,Z", "Omegas and redshift, in place of the file's", 1,
     READ_AT(fof_task, cosmology, read_cosmology)},
    {"no-spheres", 0, NULL, "leave out m200c, m200m, m500c and mvir", 1,
     FLAG_AT(fof_task, without_spheres)},
    {"allow-unwrapped", 0, NULL, "coordinates may span more than two boxes", 1,
     FLAG_AT(fof_task, allow_unwrapped)},
    {"labels", 0, "FILE", "group of each particle: .npy, .grp, .hdf5", 40,
     FILE_AT(fof_task, labels, FILE_WRITTEN)},
    {"sort-snapshot", 0, "FILE", "INPUT sorted by group: .hdf5", 40,
     FILE_AT(fof_task, sorted, FILE_WRITTEN)},
    {"plot", 0, "FILE", "picture: .png", 40, FILE_AT(fof_task, plot, FILE_WRITTEN)},
    {"format", 0, "NAME", "of -o: csv, rockstar, gadget4, swift", 40,
     READ_AT(fof_task, format, read_format)},
    {0}};

static const command_line fof_line = {
    .operand = "INPUT",
    .operand_at = offsetof(fof_task, input),
    .tables = {{.rows = output_options},
               {.rows = fof_options},
               {.rows = reading_options},
               {.rows = space_options},
               {.rows = engine_options},
               {.rows = report_options}},
    .check = check_task,
    .help = "Find halos by friends-of-friends and measure them; -o: .csv, .list or .hdf5."
            "\vExample:\n"
            "  kith make clustered 1M --seed 1 -o points.npy\n"
            "  kith fof points.npy --box 1 -o halos.csv --plot halos.png"};

/** Read the particles, with all fields that the file has. @return exit status, reported */
static int read_input(fof_task *task, fof_outcome *found)
{
    task->shared.read.fields = IO_MASSES | IO_VELOCITIES | IO_IDS | IO_TYPES | IO_POTENTIALS |
                               IO_DENSITIES;
    task->shared.read.needed = (task->spacing == SPACING_MASS ? (unsigned)IO_MASSES : 0) |
                               (task->velocity > 0 ? (unsigned)IO_VELOCITIES : 0);
    const bool shares = ranks_read_shares(&task->shared, task->input);
    return ranks_read(&task->shared, task->input, 0, shares, &found->in);
}

/** Find the groups. Where members may be attached, groups of any size are found: fof_order_groups
 *  then drops those that are small with all their members. @return exit status, reported */
static int link_particles(const fof_task *task, fof_outcome *found)
{
    const kith_points points = input_points(&found->in);
    kith_fof_options how;
    kith_fof_options_init(&how);
    how.min_members = fof_attaches(task, found)
                          ? 1
                          : task->min_members; /* then dropped by the number of all members */
    how.ids = found->in.particles.id;
    how.roles = found->roles;
    how.min_links = task->min_links;
    how.velocities = task->velocity > 0 ? found->velocities : NULL;
    how.velocity_length = found->velocity_length;
    const double start = progress_clock();
    const kith_status status = ranks_fof_find(found->ranks, found->ctx, &points, &found->space.box,
                                              found->length, &how, found->role_of, &found->groups);
    found->link_seconds = progress_clock() - start;
    return ranks_status(found->ranks, found->ctx, status, task->input);
}

/** Mass of all particles that link; 0 if it is not known. */
static double linked_mass(const fof_outcome *found)
{
    double mass = 0;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        mass += found->links[type] ? found->mass_of_type[type] : 0;
    }
    return mass;
}

/** Measure the groups, and describe the catalogue. @return exit status, reported */
static int measure_halos(const fof_task *task, fof_outcome *found)
{
    const io_particles *p = &found->in.particles;
    const kith_points points = input_points(&found->in);
    kith_halo_input known;
    kith_halo_input_init(&known);
    known.masses = found->masses;
    known.velocities = found->velocities;
    known.types = p->type;
    known.potentials = found->potentials;
    known.densities = found->densities;
    fof_spheres(task, found, known.sphere_density);
    const double start = progress_clock();
    const kith_status status = ranks_halos_measure(found->ranks, found->ctx, &points,
                                                   &found->space.box, &found->groups, &known,
                                                   &found->halos);
    const double spheres = found->halos.sphere_seconds; /* NaN over ranks */
    found->measure_seconds = progress_clock() - start - (isfinite(spheres) ? spheres : 0);
    CLI_TRY(ranks_status(found->ranks, found->ctx, status, task->input));
    found->catalogue = (io_catalogue){
        .halos = &found->halos,
        .particles = p,
        .box = &found->space.box,
        .masses = found->masses != NULL,
        .velocities = found->velocities != NULL,
        .length = found->length,
        .b = found->mean_spacing > 0 ? task->b : 0,
        .particle_mass = linked_mass(found) / (double)(found->linked ? found->linked : 1),
        .min_members = task->min_members,
        .labels = found->groups.labels,
        .shares = ranks_rows_of(found->ranks, p, &found->groups, &found->rows),
        .command = option_command()};
    for (int s = 0; s < KITH_SPHERES; s++) {
        found->catalogue.sphere[s] = known.sphere_density[s] > 0;
    }
    for (int type = 0; type < KITH_TYPES; type++) {
        found->catalogue.type[type] = found->n_of_type[type] > 0 && found->n_of_type[type] < p->all;
    }
    for (int64_t h = 0; h < found->halos.n; h++) {
        found->grouped += found->halos.halo[h].members;
    }
    return STATUS_OK;
}

/** Write catalogue, labels, sorted snapshot and picture. @return exit status, reported */
static int write_results(const fof_task *task, fof_outcome *found)
{
    io_error error = {0};
    const io_catalogue *c = &found->catalogue;
    const char *output = task->shared.output;
    const double start = progress_clock();
    if (progress_interrupted()) {
        return report_interrupted(output);
    }
    io_stop_writes(progress_interrupted);
    const char *last = output;
    io_status status = output ? io_write_catalogue(output, task->format, c, &error) : IO_OK;
    if (status == IO_OK && task->labels) {
        last = task->labels;
        status = io_write_labels(task->labels, c, &error);
    }
    if (status == IO_OK && task->sorted) {
        last = task->sorted;
        status = io_write_sorted(task->sorted, c, &error);
    }
    if (status == IO_CANCELLED) {
        return report_interrupted(last);
    }
    CLI_TRY(ranks_status(found->ranks, found->ctx, found->rows.status, last));
    CLI_TRY(report_io(status, &error, true));
    if (task->plot) {
        CLI_TRY(fof_plot(task, found));
    }
    found->write_seconds = progress_clock() - start;
    return STATUS_OK;
}

/** Open the library, find the groups, order and measure them. @return exit status, reported */
static int find_halos(const fof_task *task, fof_outcome *found)
{
    progress bar = progress_start("linking", "", 0, task->shared.quiet);
    CLI_TRY(ranks_open(&task->shared, progress_watch, &bar, &found->ctx, &found->ranks));
    int status = link_particles(task, found);
    if (status == STATUS_OK) {
        status = fof_order_groups(task, found);
    }
    if (status == STATUS_OK) {
        bar.what = "measuring";
        status = measure_halos(task, found);
    }
    progress_end(&bar);
    return status;
}

static int run(fof_task *task, fof_outcome *found)
{
    CLI_TRY(read_input(task, found));
    CLI_TRY(fof_prepare(task, found));
    CLI_TRY(find_halos(task, found));
    CLI_TRY(write_results(task, found));
    if (task->shared.json) {
        return report_json(fof_json(task, found));
    }
    if (options_summary(&task->shared)) {
        fof_print(task, found);
    }
    return STATUS_OK;
}

int verb_fof(int argc, char **argv)
{
    fof_task task = {.min_members = 20};
    command_line_parse(&fof_line, argc, argv, &task);
    task.b = task.b > 0 ? task.b : 0.2;

    progress_catch_signals();
    fof_outcome found = {.halos = {.size = sizeof found.halos, .stride = sizeof(kith_halo)}};
    const int status = run(&task, &found);
    kith_halos_free(&found.halos);
    kith_groups_free(&found.groups);
    ranks_close(found.ranks);
    kith_close(found.ctx);
    free(found.linked_members);
    free(found.roles);
    input_free(&found.in);
    return status;
}
