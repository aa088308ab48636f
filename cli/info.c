/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith info: describe the contents of a particle file, and the bounds of its coordinates.
 */
#include "common/input.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/report.h"
#include "common/space.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>

/** The values of the options. */
typedef struct info_task {
    options shared;   /**< options that verbs share */
    const char *file; /**< path of the file */
} info_task;

/** Bounds of the coordinates. */
typedef struct extent {
    int64_t finite;         /**< number of particles with finite coordinates */
    int64_t first_bad;      /**< index of the first particle without; -1: none */
    double low[3], high[3]; /**< bounding box of the finite ones [length] */
} extent;

static const command_line info_line = {
    .operand = "FILE",
    .operand_at = offsetof(info_task, file),
    .tables = {{.rows = reading_options}, {.rows = report_options}},
    .help = "Say what is in a particle file: format, particles, box, species, fields, and the"
            " bounds of its coordinates."
            "\vExample:\n"
            "  kith make plummer 10k --seed 1 -o sphere.std\n"
            "  kith info sphere.std"};

/** Return the bounds of particles. */
static extent measure(const io_particles *particles)
{
    extent e = {.first_bad = -1,
                .low = {INFINITY, INFINITY, INFINITY},
                .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t p = 0; p < particles->n; p++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = io_real(particles->pos, 3 * p + k, particles->precision);
        }
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) {
            e.first_bad = e.first_bad < 0 ? p : e.first_bad;
            continue;
        }
        e.finite++;
        for (int k = 0; k < 3; k++) {
            e.low[k] = fmin(e.low[k], x[k]);
            e.high[k] = fmax(e.high[k], x[k]);
        }
    }
    return e;
}

/** Return the name of the type of the coordinates in the file. */
static const char *precision_name(const io_summary *s)
{
    return s->precision == KITH_FLOAT ? "float" : s->precision == KITH_DOUBLE ? "double" : "text";
}

/** Print the species and the fields, one a line. */
static void print_lists(const io_summary *s)
{
    for (int k = 0; k < s->n_species; k++) {
        report_line(k ? "" : "species", "%-9s %s", report_text(s->species[k].name).s,
                    report_count(s->species[k].n).s);
        if (s->species[k].mass > 0) {
            printf(", each of mass %s", report_real(s->species[k].mass).s);
        }
        putchar('\n');
    }
    for (int k = 0; k < s->n_fields; k++) {
        report_line(k              ? ""
                    : s->files > 1 ? "in one file"
                                   : "fields",
                    "%-30s %-8s %s\n", report_text(s->fields[k].name).s,
                    report_text(s->fields[k].type).s, report_text(s->fields[k].shape).s);
    }
}

/** Print the cosmology and the units, if the file has them. */
static void print_universe(const io_summary *s)
{
    const io_cosmology *c = &s->cosmology;
    if (c->known) {
        report_line("cosmology", "a %s, redshift %s, h %s, Omega_m %s, Omega_Lambda %s\n",
                    report_real(c->a).s, report_real(c->redshift).s, report_real(c->h).s,
                    report_real(c->omega_m).s, report_real(c->omega_lambda).s);
    }
    if (s->units.source != IO_UNITS_NONE) {
        io_unit_name names;
        io_unit_names(&s->units, &names);
        report_line("units", "length %s%s, mass %s, velocity %s%s\n", names.length,
                    c->known ? " comoving" : "", names.mass, names.velocity,
                    s->units.source == IO_UNITS_USUAL ? "; not in the file, but usual" : "");
    }
}

/** Print the bounds, and the first particle that is not finite. */
static void print_extent(const extent *e, int dim)
{
    for (int k = 0; k < dim && e->finite > 0; k++) {
        report_line(k ? "" : "bounds", "%c from %s to %s\n", "xyz"[k], report_real(e->low[k]).s,
                    report_real(e->high[k]).s);
    }
    if (e->first_bad >= 0) {
        report_line("not finite", "%sparticle %lld is the first that is NaN or infinite%s\n",
                    report_style()->bold, (long long)e->first_bad, report_style()->end);
    }
}

/** Print all that is known of a file.
 *  @param in     its particles, if they could be read
 *  @param error  IO_OK, or why they could not be read */
static void print_info(const info_task *task, const io_summary *s, const input *in,
                       const io_error *error)
{
    report_title(task->file);
    report_line("format", "%s, ", report_text(s->description).s);
    if (s->files > 1) {
        printf("%d files, ", s->files);
    }
    printf("%s\n", report_bytes(s->bytes).s);
    report_line("particles", "%s, %s", report_count(s->n).s, precision_name(s));
    if (s->frames > 1) {
        printf(", in the first of %s frames", report_count(s->frames).s);
    }
    putchar('\n');
    if (s->has_time) {
        report_line("time", "%s\n", report_real(s->time).s);
    }
    if (s->has_box) {
        space_print_box(&s->box, "");
    } else {
        report_line("box", "none in the file\n");
    }
    if (*s->unit) {
        report_line("unit", "lengths in %s\n", report_text(s->unit).s);
    }
    print_universe(s);
    print_lists(s);
    if (error->status == IO_OK) {
        const extent e = measure(&in->particles);
        print_extent(&e, in->particles.dim);
    } else {
        report_line("bounds", "not read: %s\n", error->text);
    }
}

static json_t *extent_json(const input *in)
{
    const extent e = measure(&in->particles);
    return json_pack("{s:I, s:o, s:o, s:o}", "finite", (json_int_t)e.finite, "low",
                     report_json_reals(e.low, in->particles.dim), "high",
                     report_json_reals(e.high, in->particles.dim), "first_not_finite",
                     e.first_bad < 0 ? json_null() : json_integer((json_int_t)e.first_bad));
}

static json_t *cosmology_json(const io_cosmology *c)
{
    if (!c->known) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "a", report_json_real(c->a), "redshift",
                     report_json_real(c->redshift), "h", report_json_real(c->h), "omega_m",
                     report_json_real(c->omega_m), "omega_lambda",
                     report_json_real(c->omega_lambda), "omega_b", report_json_real(c->omega_b));
}

static json_t *units_json(const io_units *u)
{
    if (u->source == IO_UNITS_NONE) {
        return json_null();
    }
    return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "in_file", u->source == IO_UNITS_FILE,
                     "length_cm", report_json_real(u->length), "mass_g", report_json_real(u->mass),
                     "velocity_cm_per_s", report_json_real(u->velocity), "length_h",
                     report_json_real(u->length_h), "mass_h", report_json_real(u->mass_h));
}

/** Return all that is known of a file; arguments as for print_info. */
static json_t *info_json(const info_task *task, const io_summary *s, const input *in,
                         const io_error *error)
{
    json_t *species = json_array(), *fields = json_array();
    for (int k = 0; k < s->n_species; k++) {
        json_array_append_new(
            species,
            json_pack("{s:o, s:I, s:o}", "name", report_json_text(s->species[k].name), "particles",
                      (json_int_t)s->species[k].n, "mass",
                      s->species[k].mass > 0 ? report_json_real(s->species[k].mass) : json_null()));
    }
    for (int k = 0; k < s->n_fields; k++) {
        json_array_append_new(fields, json_pack("{s:o, s:o, s:o}", "name",
                                                report_json_text(s->fields[k].name), "type",
                                                report_json_text(s->fields[k].type), "shape",
                                                report_json_text(s->fields[k].shape)));
    }
    return json_pack(
        "{s:s, s:s, s:o, s:s, s:o, s:I, s:i, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "kith", kith_version(), "verb", "info", "path", report_json_text(task->file), "format",
        io_format_name(s->format), "description", report_json_text(s->description), "bytes",
        (json_int_t)s->bytes, "files", s->files, "particles", (json_int_t)s->n, "frames",
        (json_int_t)s->frames, "precision", precision_name(s), "box",
        s->has_box ? space_box_json(&s->box) : json_null(), "unit",
        report_json_text(*s->unit ? s->unit : NULL), "time",
        s->has_time ? report_json_real(s->time) : json_null(), "cosmology",
        cosmology_json(&s->cosmology), "units", units_json(&s->units), "species", species, "fields",
        fields, "bounds", error->status == IO_OK ? extent_json(in) : json_null());
}

/** Return true when an option says what to read: what the file then lacks is an error. */
static bool chose_what_to_read(void)
{
    bool chose = false;
    for (const option_row *row = reading_options; row->name || row->help; row++) {
        chose = chose || (row->name && option_is_set(row));
    }
    return chose;
}

int verb_info(int argc, char **argv)
{
    info_task task = {0};
    command_line_parse(&info_line, argc, argv, &task);
    progress_catch_signals();

    io_error error = {0};
    io_summary summary;
    CLI_TRY(report_io(io_inspect(task.file, &summary, &error), &error, false));
    /* IO_INVALID: an option must name the coordinates, or the option that was given does not fit
     * the file. The file's fields are then still listed, so that the user sees their names. */
    input in = {0};
    error.status = input_try(&task.shared, task.file, &in, &error);
    if (error.status != IO_INVALID) {
        CLI_TRY(report_io(error.status, &error, false));
    }
    int status = STATUS_OK;
    if (task.shared.json) {
        status = report_json(info_json(&task, &summary, &in, &error));
    } else {
        print_info(&task, &summary, &in, &error);
    }
    input_free(&in);
    if (status == STATUS_OK && error.status == IO_INVALID && chose_what_to_read()) {
        status = report_io(error.status, &error, false);
    }
    return status;
}
