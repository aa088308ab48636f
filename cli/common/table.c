/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a table in each of the formats. A file is composed in memory, then written at once.
 */
#include "table.h"

#include "report.h"

#include <math.h>
#include <core/quote.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void table_add(table *t, table_role role, const char *label, const char *field, const double *value)
{
    table_column *grown = realloc(t->column, ((size_t)t->n + 1) * sizeof *grown);
    if (!grown) {
        t->incomplete = true;
        return;
    }
    t->column = grown;
    table_column *c = &t->column[t->n++];
    *c = (table_column){.role = role, .data.value = value};
    snprintf(c->label, sizeof c->label, "%s", label);
    snprintf(c->data.name, sizeof c->data.name, "%s", field);
}

void table_add_whole(table *t, table_role role, const char *label, const char *field,
                     const double *value)
{
    table_add(t, role, label, field, value);
    if (!t->incomplete) {
        t->column[t->n - 1].data.whole = true;
    }
}

FILE *table_open_notes(io_memory_file *notes, const char *input, const char *description)
{
    FILE *out = io_memory_file_open(notes);
    if (out) {
        fputs("input: ", out);
        io_quote_put(out, IO_QUOTE_SHOWN, input);
        fprintf(out, ", %s\n", description);
    }
    return out;
}

void table_check_options(struct argp_state *state, const options *o, table_format format)
{
    const bool to_stdout = options_to_stdout(o);
    option_refuse(state, to_stdout && o->json, "-o - and --json both write to standard output");
    option_refuse(state, to_stdout && format == TABLE_NPY, "a .npy needs the name of a file");
    option_refuse(state, format && !o->output, "--format needs -o FILE");
}

/** Return the format that the ending of a path names; text if it names none. */
static table_format format_of(const char *path)
{
    static const char *const endings[] = {[TABLE_JSON] = ".json",
                                          [TABLE_NPY] = ".npy",
                                          [TABLE_XVG] = ".xvg",
                                          [TABLE_LAMMPS] = ".rdf"};
    const char *dot = strrchr(path, '.');
    for (int format = TABLE_JSON; format <= TABLE_LAMMPS && dot; format++) {
        if (strcasecmp(dot, endings[format]) == 0) {
            return (table_format)format;
        }
    }
    return TABLE_TEXT;
}

/** Print the unit of x, where it is known: " [A]", or " [1/A]" for wave numbers. */
static void put_unit(FILE *out, const table *t)
{
    if (*t->unit) {
        fputs(t->power < 0 ? " [1/" : " [", out);
        io_quote_put(out, IO_QUOTE_WORD, t->unit);
        fputc(']', out);
    }
}

/** Print notes and names of columns as comments, then the rows. */
static void put_text(FILE *out, const table *t)
{
    fprintf(out, "# kith " KITH_VERSION "\n# command: %s\n", option_command());
    for (const char *note = t->notes; note && *note;) {
        const size_t length = strcspn(note, "\n");
        fprintf(out, "# %.*s\n", (int)length, note);
        note += length + (note[length] == '\n');
    }
    if (t->partial) {
        fprintf(out, "# partial: %s\n", t->partial);
    }
    fputc('#', out);
    for (int k = 0; k < t->n; k++) {
        if (t->column[k].role != TABLE_DETAIL) {
            fputc(' ', out);
            io_quote_put(out, IO_QUOTE_WORD, t->column[k].label);
        }
        if (t->column[k].role == TABLE_X) {
            put_unit(out, t);
        }
    }
    fputc('\n', out);
    for (int64_t row = 0; row < t->rows; row++) {
        const char *separator = "";
        for (int k = 0; k < t->n; k++) {
            if (t->column[k].role != TABLE_DETAIL) {
                const double value = t->column[k].data.value[row];
                fprintf(out, isnan(value) ? "%snan" : "%s%.9g", separator, value);
                separator = " ";
            }
        }
        fputc('\n', out);
    }
}

/** Print columns for other programs: x and the ordinates.
 *  @param numbered  as in LAMMPS: the number of the row first, and 0 for undefined values; else
 *                   nan
 *  @param scale     factor of x */
static void put_rows(FILE *out, const table *t, bool numbered, double scale)
{
    for (int64_t row = 0; row < t->rows; row++) {
        const char *separator = "";
        if (numbered) {
            fprintf(out, "%lld", (long long)row + 1);
            separator = " ";
        }
        for (int k = 0; k < t->n; k++) {
            const double value = t->column[k].data.value[row];
            if (t->column[k].role != TABLE_X && t->column[k].role != TABLE_Y) {
                continue;
            }
            fputs(separator, out);
            separator = " ";
            if (isfinite(value)) {
                fprintf(out, "%.9g", t->column[k].role == TABLE_X ? value * scale : value);
            } else {
                fputs(numbered ? "0" : "nan", out);
            }
        }
        fputc('\n', out);
    }
}

/** Print a file of xmgrace, with lengths in Angstrom converted to nanometres, as GROMACS has them.
 */
static void put_xvg(FILE *out, const table *t)
{
    const bool angstrom = strcmp(t->unit, "A") == 0;
    const char *unit = angstrom ? "nm" : t->unit;
    fprintf(out, "# kith " KITH_VERSION "\n# command: %s\n", option_command());
    if (t->partial) {
        fprintf(out, "# partial: %s\n", t->partial);
    }
    fprintf(out, "@    title \"%s\"\n@    xaxis  label \"%s%s", t->title, t->x_title,
            *unit ? " (" : "");
    io_quote_put(out, IO_QUOTE_XVG, unit);
    fprintf(out, "%s%s\"\n", *unit && t->power < 0 ? "\\S-1\\N" : "", *unit ? ")" : "");
    fprintf(out, "@    yaxis  label \"%s\"\n@TYPE xy\n@ legend on\n", t->y_title);
    int set = 0;
    for (int k = 0; k < t->n; k++) {
        if (t->column[k].role == TABLE_Y) {
            fprintf(out, "@ s%d legend \"", set++);
            io_quote_put(out, IO_QUOTE_XVG, t->column[k].label);
            fputs("\"\n", out);
        }
    }
    const double scale = t->power < 0 ? 10 : 0.1; /* Angstrom to nm; 1/Angstrom to 1/nm */
    put_rows(out, t, false, angstrom ? scale : 1);
}

/** Print a file as of LAMMPS's fix ave/time in mode vector, with one time step. */
static void put_lammps(FILE *out, const table *t)
{
    fprintf(out,
            "# Time-averaged data for fix rdf%s%s; %s\n# TimeStep Number-of-rows\n# Row c_rdf[1]",
            t->partial ? "; partial: " : "", t->partial ? t->partial : "", option_command());
    int column = 1;
    for (int k = 0; k < t->n; k++) {
        if (t->column[k].role == TABLE_Y) {
            fprintf(out, " c_rdf[%d]", ++column);
        }
    }
    fprintf(out, "\n%lld %lld\n", (long long)t->step, (long long)t->rows);
    put_rows(out, t, true, 1);
}

/** Print the facts and, as their member "columns", all columns. */
static void put_json(FILE *out, const table *t, json_t *facts)
{
    json_t *all = json_copy(facts);
    json_t *columns = json_object();
    for (int k = 0; k < t->n; k++) {
        const io_table_column *data = &t->column[k].data;
        json_t *values = data->whole ? json_array() : report_json_reals(data->value, t->rows);
        for (int64_t row = 0; data->whole && row < t->rows; row++) {
            json_array_append_new(values, json_integer((json_int_t)data->value[row]));
        }
        report_json_set(columns, data->name, values);
    }
    json_object_set_new(all, "columns", columns);
    if (json_dumpf(all, out, JSON_INDENT(1)) == 0) {
        fputc('\n', out);
    }
    json_decref(all);
}

/** Write a .npy. As its header has no place for notes, a column `partial` of ones marks a run that
 *  was stopped early. */
static int write_npy(const char *path, const table *t)
{
    io_error error = {0};
    double *ones = malloc(((size_t)t->rows + 1) * sizeof *ones);
    io_table_column *columns = calloc((size_t)t->n + 1, sizeof *columns);
    int status = STATUS_OK;
    if (!ones || !columns) {
        status = report_no_memory(path);
    } else {
        for (int k = 0; k < t->n; k++) {
            columns[k] = t->column[k].data;
        }
        for (int64_t row = 0; row < t->rows; row++) {
            ones[row] = 1;
        }
        columns[t->n] = (io_table_column){.name = "partial", .value = ones, .whole = true};
        status = report_io(
            io_write_table(path, columns, t->n + (t->partial != NULL), t->rows, &error), &error,
            true);
    }
    free(columns);
    free(ones);
    return status;
}

/** Print a table in a format of text. @param facts  for JSON; the reference is not released */
static void put(FILE *out, table_format format, const table *t, json_t *facts)
{
    switch (format) {
    case TABLE_JSON: put_json(out, t, facts); break;
    case TABLE_XVG: put_xvg(out, t); break;
    case TABLE_LAMMPS: put_lammps(out, t); break;
    default: put_text(out, t);
    }
}

/** Write a file in a format of text. @return exit status, reported */
static int write_file(const char *path, table_format format, const table *t, json_t *facts)
{
    io_memory_file text = {0};
    FILE *out = io_memory_file_open(&text);
    if (out) {
        put(out, format, t, facts);
    }
    return report_written(path, &text, io_memory_file_close(&text, out) && report_json_whole(),
                          false);
}

int table_write(const char *path, table_format format, table *t, json_t *facts)
{
    int status = STATUS_OK;
    format = format == TABLE_BY_NAME ? format_of(path) : format;
    if (t->incomplete || !t->notes) {
        status = report_no_memory(path);
    } else if (strcmp(path, "-") == 0) {
        put(stdout, format, t, facts); /* a failure is reported at the end, with all of stdout */
        status = report_json_whole() ? STATUS_OK : report_no_memory("JSON");
    } else {
        status = format == TABLE_NPY ? write_npy(path, t) : write_file(path, format, t, facts);
    }
    json_decref(facts);
    free(t->column);
    free(t->notes);
    return status;
}
