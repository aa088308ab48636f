/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith fof: halos by friends-of-friends, from a snapshot to a catalogue, labels and a picture.
 */
#include "fof.h"

#include "common/engine.h"
#include "common/files.h"
#include "common/parse.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_LENGTH = 0x200,
    KEY_SPACING,
    KEY_MIN_MEMBERS,
    KEY_MIN_LINKS,
    KEY_PHASE_SPACE,
    KEY_LINK,
    KEY_ATTACH,
    KEY_COSMOLOGY,
    KEY_UNWRAPPED,
    KEY_FORMAT,
    KEY_LABELS,
    KEY_SORTED,
    KEY_PLOT
};

static const struct argp_option fof_options[] = {
    {"linking", 'b', "B", 0, "linking length in mean spacings; default 0.2", 1},
    {"length", KEY_LENGTH, "L", 0, "linking length in the unit of the coordinates", 1},
    {"spacing", KEY_SPACING, "HOW", 0, "mean spacing of: linked, dark; or by mass", 1},
    {"min-members", KEY_MIN_MEMBERS, "N", 0, "smaller groups are none; default 20", 1},
    {"link", KEY_LINK, "TYPES", 0, "that link; default: dark, where there is any", 1},
    {"attach", KEY_ATTACH, "TYPES", 0, "that join the nearest of those; gas,stars,bh", 1},
    {"phase-space", KEY_PHASE_SPACE, "BV", 0, "link in velocity too; 0.5s: 0.5 sigma", 1},
    {"min-links", KEY_MIN_LINKS, "M", 0, "only those with M friends link: no bridges", 1},
    {"cosmology", KEY_COSMOLOGY, "OM,OL,Z", 0, "Omegas and redshift, in place of the file's", 1},
    {"allow-unwrapped", KEY_UNWRAPPED, 0, 0, "coordinates may span more than two boxes", 1},
    {"labels", KEY_LABELS, "FILE", 0, "group of each particle: .npy, .grp, .hdf5", 40},
    {"sort-snapshot", KEY_SORTED, "FILE", 0, "INPUT sorted by group: .hdf5", 40},
    {"plot", KEY_PLOT, "FILE", 0, "picture: .png", 40},
    {"format", KEY_FORMAT, "NAME", 0, "of -o: csv, rockstar, gadget4, swift", 40},
    {0}};

static void parse_velocity(fof_task *task, char *arg, struct argp_state *state)
{
    const size_t length = strlen(arg);
    task->velocity_in_sigma = length > 0 && arg[length - 1] == 's';
    if (task->velocity_in_sigma) {
        arg[length - 1] = '\0';
    }
    task->velocity = options_positive(state, "--phase-space", arg);
}

static void parse_cosmology(fof_task *task, const char *arg, struct argp_state *state)
{
    double v[3];
    if (parse_reals(arg, 3, v) != 3) {
        options_error(state, "--cosmology: got '%s', expected OMEGA_M,OMEGA_LAMBDA,REDSHIFT", arg);
    }
    if (!(v[0] > 0 && v[0] <= 10)) {
        options_invalid("--cosmology", arg, "Omega of matter above 0, such as 0.3");
    }
    if (!(v[1] >= 0 && v[1] <= 10)) {
        options_invalid("--cosmology", arg, "Omega of Lambda from 0, such as 0.7");
    }
    if (!(v[2] > -1 && v[2] <= 1e6)) {
        options_invalid("--cosmology", arg, "a redshift above -1; 0 is today");
    }
    task->cosmology = (cosmology){
        .known = true, .given = true, .omega_m = v[0], .omega_lambda = v[1], .redshift = v[2]};
}

static void check_task(const fof_task *task, struct argp_state *state)
{
    const char *dot = task->labels ? strrchr(task->labels, '.') : NULL;
    options_refuse(state, !task->input, "no INPUT given");
    options_refuse(state, task->length > 0 && (task->b > 0 || task->spacing != SPACING_AUTO),
                   "--length is absolute: leave out -b and --spacing, or --length");
    options_refuse(state, task->format != IO_CATALOGUE_BY_NAME && !task->shared.output,
                   "--format is that of the catalogue: it needs -o FILE");
    options_refuse(state, dot && strcmp(dot, ".grp") == 0 && task->shared.read.species,
                   "a .grp has a line for each particle of INPUT: leave out --species");
    options_refuse(state, options_to_stdout(&task->shared),
                   "a catalogue needs the name of a file: -o halos.csv");
    const file_use files[] = {{"INPUT", task->input, FILE_READ},
                              {"--output", task->shared.output, FILE_WRITTEN},
                              {"--labels", task->labels, FILE_WRITTEN},
                              {"--sort-snapshot", task->sorted, FILE_WRITTEN},
                              {"--plot", task->plot, FILE_WRITTEN}};
    files_check(files, sizeof files / sizeof *files);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    fof_task *task = state->input;
    switch (key) {
    case ARGP_KEY_INIT: options_parse_init(state, options_particles, &task->shared); return 0;
    case 'b': task->b = options_positive(state, "-b", arg); return 0;
    case KEY_LENGTH: task->length = options_positive(state, "--length", arg); return 0;
    case KEY_SPACING:
        task->spacing = SPACING_LINKED +
                        options_word(state, "--spacing", arg, "linked, dark or mass");
        return 0;
    case KEY_MIN_MEMBERS:
        task->min_members = options_whole(state, "--min-members", arg, 1);
        return 0;
    case KEY_MIN_LINKS: task->min_links = options_whole(state, "--min-links", arg, 0); return 0;
    case KEY_PHASE_SPACE: parse_velocity(task, arg, state); return 0;
    case KEY_LINK: task->link = arg; return 0;
    case KEY_ATTACH: task->attach = arg; return 0;
    case KEY_COSMOLOGY: parse_cosmology(task, arg, state); return 0;
    case KEY_UNWRAPPED: task->allow_unwrapped = true; return 0;
    case KEY_FORMAT:
        if (!io_catalogue_format_find(arg, &task->format)) {
            options_error(state, "--format: got '%s', expected csv, rockstar, gadget4 or swift",
                          arg);
        }
        return 0;
    case KEY_LABELS: task->labels = arg; return 0;
    case KEY_SORTED: task->sorted = arg; return 0;
    case KEY_PLOT: task->plot = arg; return 0;
    case ARGP_KEY_ARG: options_operand(state, "INPUT", arg, &task->input); return 0;
    case ARGP_KEY_END: check_task(task, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = fof_options,
    .parser = parse_option,
    .args_doc = "INPUT",
    .doc = "Find halos by friends-of-friends and measure them; -o: .csv, .list or .hdf5."
           "\vExample:\n"
           "  kith make clustered 1M --seed 1 -o points.npy\n"
           "  kith fof points.npy --box 1 -o halos.csv --plot halos.png",
    .children = options_particles};

static int read_input(fof_task *task, fof_outcome *found)
{
    task->shared.read.fields = IO_MASSES | IO_VELOCITIES | IO_IDS | IO_TYPES | IO_POTENTIALS |
                               IO_DENSITIES;
    task->shared.read.needed = (task->spacing == SPACING_MASS ? (unsigned)IO_MASSES : 0) |
                               (task->velocity > 0 ? (unsigned)IO_VELOCITIES : 0);
    return input_read(&task->shared, task->input, &found->in);
}

static int link_particles(const fof_task *task, fof_outcome *found)
{
    const kith_points points = input_points(&found->in);
    kith_fof_options how;
    kith_fof_options_init(&how);
    how.min_members = fof_attaches(task, found) ? 1 : task->min_members; /* then by all members */
    how.ids = found->in.particles.id;
    how.roles = found->roles;
    how.min_links = task->min_links;
    how.velocities = task->velocity > 0 ? found->velocities : NULL;
    how.velocity_length = found->velocity_length;
    const double start = progress_clock();
    const kith_status status = kith_fof_find(found->ctx, &points, &found->space.box, found->length,
                                             &how, &found->groups);
    found->link_seconds = progress_clock() - start;
    return report_kith(found->ctx, status, task->input);
}

/** Mass of all particles that link; 0: not known. */
static double linked_mass(const fof_outcome *found)
{
    double mass = 0;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        mass += found->links[type] ? found->mass_of_type[type] : 0;
    }
    return mass;
}

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
    if (found->masses && p->dim == 3) {
        cosmology_spheres(&found->cosmology, known.sphere_density);
    }
    const double start = progress_clock();
    const kith_status status = kith_halos_measure(found->ctx, &points, &found->space.box,
                                                  &found->groups, &known, &found->halos);
    found->measure_seconds = progress_clock() - start - found->halos.sphere_seconds;
    CLI_TRY(report_kith(found->ctx, status, task->input));
    found->catalogue = (io_catalogue){.halos = &found->halos,
                                      .particles = p,
                                      .box = &found->space.box,
                                      .masses = found->masses != NULL,
                                      .velocities = found->velocities != NULL,
                                      .length = found->length,
                                      .b = found->mean_spacing > 0 ? task->b : 0,
                                      .particle_mass = linked_mass(found) /
                                                       (double)(found->linked ? found->linked : 1),
                                      .min_members = task->min_members,
                                      .labels = found->groups.labels,
                                      .command = options_command()};
    for (int s = 0; s < KITH_SPHERES; s++) {
        found->catalogue.sphere[s] = known.sphere_density[s] > 0;
    }
    for (int type = 0; type < KITH_TYPES; type++) {
        found->catalogue.type[type] = found->n_of_type[type] > 0 && found->n_of_type[type] < p->n;
    }
    for (int64_t h = 0; h < found->halos.n; h++) {
        found->grouped += found->halos.halo[h].members;
    }
    return STATUS_OK;
}

static int write_results(const fof_task *task, fof_outcome *found)
{
    io_error error = {0};
    const io_catalogue *c = &found->catalogue;
    const char *output = task->shared.output;
    const double start = progress_clock();
    if (progress_interrupted()) {
        return report_interrupted(output);
    }
    io_status status = output ? io_write_catalogue(output, task->format, c, &error) : IO_OK;
    if (status == IO_OK && task->labels) {
        status = io_write_labels(task->labels, c, &error);
    }
    if (status == IO_OK && task->sorted) {
        status = io_write_sorted(task->sorted, c, &error);
    }
    CLI_TRY(report_io(status, &error, true));
    if (task->plot) {
        CLI_TRY(fof_plot(task, found));
    }
    found->write_seconds = progress_clock() - start;
    return STATUS_OK;
}

static int find_halos(const fof_task *task, fof_outcome *found)
{
    progress bar = progress_start("linking", "", 0, task->shared.quiet);
    CLI_TRY(engine_open(&task->shared, progress_watch, &bar, &found->ctx));
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
    options_parse(&arguments, argc, argv, &task);
    task.b = task.b > 0 ? task.b : 0.2;

    progress_catch_signals();
    fof_outcome found = {0};
    const int status = run(&task, &found);
    kith_halos_free(&found.halos);
    kith_groups_free(&found.groups);
    kith_close(found.ctx);
    free(found.linked_members);
    free(found.roles);
    input_free(&found.in);
    return status;
}
