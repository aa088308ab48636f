/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of numbers: plain text and CSV. The first row determines the separator (semicolon, comma,
 * or blanks and tabs) and the number of columns, which every row must have. '#' begins a comment. A
 * comment or a row of words immediately before the numbers names the columns.
 */
#include "core/io_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_NAMES = 4096 }; /* bytes of the line that names the columns */

/** A table that is being read. */
typedef struct table {
    io_lines lines;         /* lines of the file */
    char separator;         /* ';', ',', or ' ' for blanks and tabs */
    int columns;            /* number of fields of every row; 0: there are no rows */
    int64_t first;          /* number of the line of the first row */
    char names[MOST_NAMES]; /* the line that names the columns; "": none */
    int dim;                /* number of coordinates */
    int chosen;             /* number of columns that are read; 0: all */
    int column[4];          /* index of each column that is read [chosen]: those of the coordinates,
                               then that of the radii, if there are any */
} table;

/** Take the next field at *at, and move *at behind it; behind the last field, *at becomes NULL.
 *  @return false at the end */
static bool next_field(const char **at, char separator, io_token *field)
{
    if (separator == ' ') {
        return io__token_next(at, field);
    }
    if (!*at) {
        return false;
    }
    const char *begin = *at + strspn(*at, " \t");
    const char *end = strchr(begin, separator);
    *at = end ? end + 1 : NULL;
    if (!end) {
        end = begin + strlen(begin);
    }
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    *field = (io_token){begin, (size_t)(end - begin)};
    return true;
}

static int count_fields(const char *line, char separator)
{
    io_token field;
    int n = 0;
    while (next_field(&line, separator, &field)) {
        n++;
    }
    return n;
}

/** Return a name without the double quotes around it. */
static io_token unquote(io_token name)
{
    const bool quoted = name.length > 1 && name.text[0] == '"' && name.text[name.length - 1] == '"';
    return quoted ? (io_token){name.text + 1, name.length - 2} : name;
}

/** Read the next line that is not empty without its comment. A comment of a whole line before the
 *  first row becomes t->names.
 *  @param[out] line  NULL at the end of the file */
static io_status next_row(table *t, char **line)
{
    for (;;) {
        IO_TRY(io__lines_next(&t->lines, line));
        if (!*line) {
            return IO_OK;
        }
        const size_t blank = strspn(*line, " \t");
        char *comment = strchr(*line, '#');
        if (comment == *line + blank && t->columns == 0) {
            snprintf(t->names, sizeof t->names, "%s", comment + strspn(comment, "# \t"));
        }
        if (comment) {
            *comment = 0;
        }
        if ((*line)[blank]) {
            return IO_OK;
        }
    }
}

/** Return true when all of a field is a number. */
static bool is_number(const table *t, io_token field)
{
    double value;
    return field.length > 0 &&
           io__number(field.text, t->lines.locale, &value) == field.text + field.length;
}

/** Return true when no field of a line is a number. */
static bool is_names(const table *t, const char *line)
{
    io_token field;
    while (next_field(&line, t->separator, &field)) {
        if (is_number(t, field)) {
            return false;
        }
    }
    return true;
}

/** Find the first row of numbers, and the names of the columns. next_row returns this row next. */
static io_status find_rows(table *t)
{
    char *line;
    IO_TRY(next_row(t, &line));
    if (!line && !t->names[0]) {
        return io__file_fail(t->lines.file, IO_FORMAT, "holds no rows of numbers");
    }
    if (!line) {
        return IO_OK;
    }
    t->separator = strchr(line, ';') ? ';' : strchr(line, ',') ? ',' : ' ';
    if (is_names(t, line)) {
        const int64_t at = t->lines.number;
        char shown[40];
        io__copy_name(shown, sizeof shown, line, strlen(line));
        snprintf(t->names, sizeof t->names, "%s", line);
        t->columns = count_fields(line, t->separator); /* later comments do not name columns */
        IO_TRY(next_row(t, &line));
        if (!line || is_names(t, line)) {
            return io__file_fail(t->lines.file, IO_FORMAT,
                                 "line %lld: '%s' is not followed by a "
                                 "row of numbers",
                                 (long long)at, shown);
        }
    }
    t->columns = count_fields(line, t->separator);
    t->first = t->lines.number;
    if (count_fields(t->names, t->separator) != t->columns) {
        t->names[0] = 0;
    }
    io__lines_back(&t->lines);
    return IO_OK;
}

/** Return the index of the column with this name; -1 if there is none. */
static int find_name(const table *t, io_token wanted)
{
    const char *at = t->names;
    io_token name;
    for (int k = 0; t->names[0] && next_field(&at, t->separator, &name); k++) {
        name = unquote(name);
        if (name.length == wanted.length && strncasecmp(name.text, wanted.text, name.length) == 0) {
            return k;
        }
    }
    return -1;
}

/** Find a column by index or name. */
static io_status find_column(const table *t, io_token name, int *out)
{
    char *end = NULL;
    long column = strtol(name.text, &end, 10);
    const bool is_index = name.length > 0 && end == name.text + name.length;
    if (!is_index) {
        column = find_name(t, name);
    }
    if (column < 0 || column >= t->columns) {
        return io__file_fail(t->lines.file, IO_INVALID, "has no column '%.*s': it has %d, %s%s",
                             io__token_shown(name), name.text, t->columns,
                             t->names[0] ? "named " : "without names; the first is 0", t->names);
    }
    *out = (int)column;
    return IO_OK;
}

/** Choose the columns of the option. @param columns  "0,1,2" or "x,y,z" */
static io_status choose_named(table *t, const char *columns)
{
    io_token name;
    bool more;
    while ((more = next_field(&columns, ',', &name)) && t->dim < 3) {
        IO_TRY(find_column(t, name, &t->column[t->dim]));
        t->dim++;
    }
    if (more || t->dim < 2) {
        return io__file_fail(t->lines.file, IO_INVALID, "columns '%s': expected two or three",
                             t->lines.file->options->columns);
    }
    return IO_OK;
}

/** Choose the columns of coordinates: those of the options, else those named x, y, z, else the
 *  first.
 *  @param radii  column of the radii, which holds no coordinates unless the options say so; -1:
 *                none */
static io_status choose_coordinates(table *t, int radii)
{
    static const char *const axes[3] = {"x", "y", "z"};
    if (t->lines.file->options->columns) {
        return choose_named(t, t->lines.file->options->columns);
    }
    const int left = t->columns - (radii >= 0);
    if (left < 2) {
        return io__lines_fail(&t->lines, IO_FORMAT, "has one column%s; expected two or three",
                              radii >= 0 ? " beside the radii" : "");
    }
    t->dim = left < 3 ? 2 : 3;
    bool named = true;
    for (int axis = 0; axis < t->dim; axis++) {
        t->column[axis] = find_name(t, (io_token){axes[axis], 1});
        named = named && t->column[axis] >= 0;
    }
    for (int axis = 0; axis < t->dim && !named; axis++) {
        t->column[axis] = axis + (radii >= 0 && radii <= axis);
    }
    return IO_OK;
}

/** Choose the columns of coordinates and of radii. */
static io_status choose_columns(table *t)
{
    const char *name = t->lines.file->options->radii;
    int radii = -1;
    IO_TRY(name ? find_column(t, (io_token){name, strlen(name)}, &radii) : IO_OK);
    IO_TRY(choose_coordinates(t, radii));
    t->chosen = t->dim;
    if (name) {
        t->column[t->chosen++] = radii;
    }
    return IO_OK;
}

static io_status read_number(const io_lines *lines, io_token field, int column, double *out)
{
    const char *end = field.length ? io__number(field.text, lines->locale, out) : field.text;
    if (field.length > 0 && end == field.text + field.length && errno == 0) {
        return IO_OK;
    }
    char what[24]; /* io__lines_number makes the message */
    snprintf(what, sizeof what, "column %d", column);
    return io__lines_number(lines, field, what, out);
}

/** Parse the numbers of a line: those of the chosen columns, or all if none are chosen.
 *  @param lines     for messages
 *  @param[out] out  [chosen], or [columns] if chosen is 0 */
static io_status read_row(const table *t, const io_lines *lines, const char *line, double *out)
{
    io_token field;
    int k = 0;
    for (; next_field(&line, t->separator, &field); k++) {
        for (int c = 0; c < t->chosen; c++) {
            if (k == t->column[c]) {
                IO_TRY(read_number(lines, field, k, &out[c]));
            }
        }
        if (t->chosen == 0 && k < t->columns) {
            IO_TRY(read_number(lines, field, k, &out[k]));
        }
    }
    if (k != t->columns) {
        return io__lines_fail(lines, IO_FORMAT, "has %d columns; expected %d, as line %lld", k,
                              t->columns, (long long)t->first);
    }
    return IO_OK;
}

enum { MOST_CHOSEN = 4 }; /* coordinates and radius */

/** Rows that threads have parsed. */
typedef struct parsed_rows {
    const table *t;                     /* the table */
    double row[IO_PARSED][MOST_CHOSEN]; /* numbers of each line, in the chosen columns */
    bool is_row[IO_PARSED];             /* the line is a row, not empty or a comment */
} parsed_rows;

/** Parse a line in any thread. @param user  parsed_rows */
static bool parse_line(void *user, const io_lines *lines, char *line, int64_t k)
{
    parsed_rows *rows = user;
    char *comment = strchr(line, '#');
    if (comment) {
        *comment = 0;
    }
    rows->is_row[k] = line[strspn(line, " \t")] != 0;
    const bool done = !rows->is_row[k] || read_row(rows->t, lines, line, rows->row[k]) == IO_OK;
    if (comment) {
        *comment = '#';
    }
    return done;
}

/** Append a particle. @param row  numbers of the chosen columns */
static io_status push_row(const table *t, io_particles *out, int64_t *capacity, const double *row)
{
    const double xyz[3] = {row[0], row[1], t->dim == 3 ? row[2] : 0};
    IO_TRY(io__particles_push(t->lines.file, out, capacity, xyz));
    if (t->lines.file->options->radii) {
        io_put_real(out->radius, out->n - 1, out->precision, row[t->dim]);
    }
    return IO_OK;
}

/** Read rows by several threads, as long as they are as expected.
 *  @param rows  memory for them; NULL: there is none, and none are read */
static io_status read_parsed(table *t, parsed_rows *rows, io_particles *out, int64_t *capacity)
{
    for (int64_t n = 1; rows && n > 0;) {
        IO_TRY(io__lines_parse(&t->lines, IO_PARSED, parse_line, rows, &n));
        for (int64_t k = 0; k < n; k++) {
            IO_TRY(rows->is_row[k] ? push_row(t, out, capacity, rows->row[k]) : IO_OK);
        }
    }
    return IO_OK;
}

/** Read the coordinates, and the radii if they are chosen, of all rows. */
static io_status read_all(table *t, parsed_rows *rows, io_particles *out)
{
    int64_t capacity = 0;
    double row[MOST_CHOSEN] = {0};
    const bool radii = t->lines.file->options->radii != NULL;
    IO_TRY(io__particles_alloc(t->lines.file, out, 0, t->dim, KITH_DOUBLE));
    IO_TRY(io__particles_add(t->lines.file, out, radii ? IO_RADII : 0));
    for (;;) {
        char *line;
        IO_TRY(read_parsed(t, rows, out, &capacity));
        IO_TRY(next_row(t, &line));
        if (!line) {
            return IO_OK;
        }
        IO_TRY(read_row(t, &t->lines, line, row));
        IO_TRY(push_row(t, out, &capacity, row));
    }
}

/** Read all rows, by several threads if there is memory for that. */
static io_status read_rows(table *t, io_particles *out)
{
    enum { SMALL = 1 << 16 }; /* bytes of a file that one thread reads */
    parsed_rows *rows = t->columns > 0 && t->lines.file->size > SMALL ? malloc(sizeof *rows) : NULL;
    if (rows) {
        rows->t = t;
    }
    const io_status status = read_all(t, rows, out);
    free(rows);
    return status;
}

/** Read particles. A file with names of columns and no rows has 0 of them.
 *  @param out  io_particles */
static io_status read_particles(table *t, void *out)
{
    if (t->columns > 0) {
        IO_TRY(choose_columns(t));
    } else {
        t->dim = 3;
    }
    return read_rows(t, out);
}

/** Open a file, find its rows, and call `take` on them. */
static io_status with_rows(io_file *file, io_status (*take)(table *t, void *out), void *out)
{
    table t = {0};
    io_status status = io__lines_open(&t.lines, file);
    if (status == IO_OK) {
        status = find_rows(&t);
    }
    if (status == IO_OK) {
        status = take(&t, out);
    }
    io__lines_close(&t.lines);
    return status;
}

io_status io__text_read(io_file *file, io_particles *out)
{
    return with_rows(file, read_particles, out);
}

/** Read each row as a vector of doubles. @param to  io_vectors */
static io_status read_vectors(table *t, void *to)
{
    io_vectors *out = to;
    int64_t capacity = 0;
    if (t->columns < 1) {
        return io__file_fail(t->lines.file, IO_FORMAT, "holds no rows of numbers");
    }
    out->dim = t->columns;
    out->size = KITH_DOUBLE;
    for (;;) {
        char *line;
        IO_TRY(next_row(t, &line));
        if (!line) {
            return IO_OK;
        }
        if (out->n == capacity) {
            capacity = 2 * capacity + 16;
            void *grown = realloc(out->values, (size_t)(capacity * out->dim) * sizeof(double));
            if (!grown) {
                return io__file_fail(t->lines.file, IO_NO_MEMORY, "no memory for %lld vectors",
                                     (long long)capacity);
            }
            out->values = grown;
        }
        IO_TRY(read_row(t, &t->lines, line, (double *)out->values + out->n * out->dim));
        out->n++;
    }
}

/** Convert doubles to floats, in place. Ascending k: a float is stored where doubles were read. */
static void narrow(io_vectors *vectors)
{
    char *values = vectors->values;
    for (int64_t k = 0; k < vectors->n * vectors->dim; k++) {
        double wide;
        memcpy(&wide, values + k * (int64_t)sizeof wide, sizeof wide);
        const float value = (float)wide;
        memcpy(values + k * (int64_t)sizeof value, &value, sizeof value);
    }
    vectors->size = KITH_FLOAT;
}

io_status io__text_vectors(io_file *file, io_vectors *out)
{
    const io_status status = with_rows(file, read_vectors, out);
    snprintf(out->description, sizeof out->description, "text");
    if (status == IO_OK && file->options->precision == KITH_FLOAT) {
        narrow(out);
    }
    return status;
}

/** List the columns: name, or index, and the kind of their fields. @param row  the first row */
static void describe_columns(const table *t, const char *row, io_summary *out)
{
    const char *names = t->names;
    io_token field;
    io_token name = {0};
    for (int k = 0; next_field(&row, t->separator, &field) && k < IO_MAX_SPECIES; k++) {
        snprintf(out->fields[k].name, IO_NAME_LENGTH, "%d", k);
        if (t->names[0] && next_field(&names, t->separator, &name)) {
            name = unquote(name);
            io__copy_name(out->fields[k].name, IO_NAME_LENGTH, name.text, name.length);
        }
        snprintf(out->fields[k].type, IO_NAME_LENGTH, "%s",
                 is_number(t, field) ? "number" : "word");
        out->n_fields = k + 1;
    }
}

/** Describe a table, and count its rows. @param to  io_summary */
static io_status inspect_rows(table *t, void *to)
{
    io_summary *out = to;
    const char *kind = t->separator == ' '   ? "blanks"
                       : t->separator == ',' ? "commas"
                                             : "semicolons";
    snprintf(out->description, sizeof out->description, "text, %d columns separated by %s",
             t->columns, kind);
    for (char *line; t->columns > 0; out->n++) {
        IO_TRY(next_row(t, &line));
        if (!line) {
            break;
        }
        if (out->n == 0) {
            describe_columns(t, line, out);
        }
    }
    return IO_OK;
}

io_status io__text_inspect(io_file *file, io_summary *out)
{
    return with_rows(file, inspect_rows, out);
}
