/* SPDX-License-Identifier: BSD-3-Clause
 *
 * XYZ and extended XYZ, any number of frames. A frame is a count, a comment, then a line for each
 * atom. The comment of the extended kind holds key=value pairs: Lattice (three row vectors),
 * Origin, pbc and Properties, which says what the columns are.
 */
#include "io_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_VALUE = 1024, ATOM_BYTES = 6 }; /* the shortest line of an atom: "0 0 0\n" */

typedef struct xyz_frame {
    int64_t n;
    bool has_box, has_time, extended;
    kith_box box;
    double time;
    int species;  /* its column; -1: none */
    int position; /* the first of three columns */
    char properties[MOST_VALUE];
} xyz_frame;

/** Take the next key=value of a comment, quotes and brackets removed; a lone word has value "T".
 *  @return false at the end. */
static bool next_pair(const char **at, io_token *key, char value[MOST_VALUE])
{
    static const char opening[] = "\"'{[", closing[] = "\"'}]";
    const char *begin = *at + strspn(*at, " \t");
    const size_t length = strcspn(begin, " \t=");
    *key = (io_token){begin, length};
    *at = begin + length;
    snprintf(value, MOST_VALUE, "T");
    if (**at != '=')
        return length > 0;
    begin = *at + 1;
    const char *quote = *begin ? strchr(opening, *begin) : NULL;
    begin += quote != NULL;
    const char *end = quote ? strchr(begin, closing[quote - opening]) : NULL;
    if (!end)
        end = begin + strcspn(begin, " \t");
    io__copy_name(value, MOST_VALUE, begin, (size_t)(end - begin));
    *at = end + (quote && *end);
    return true;
}

static bool is_key(io_token key, const char *name)
{
    return key.length == strlen(name) && strncasecmp(key.text, name, key.length) == 0;
}

/** Parse exactly n finite numbers. */
static io_status parse_numbers(const io_lines *lines, const char *what, const char *text, int n,
                               double *out)
{
    io_token token;
    int k = 0;
    for (; io__token_next(&text, &token) && k < n; k++) {
        IO_TRY(io__lines_number(lines, token, what, &out[k]));
        if (!isfinite(out[k]))
            return io__lines_fail(lines, IO_FORMAT, "%s is not finite", what);
    }
    if (k < n || token.length > 0)
        return io__lines_fail(lines, IO_FORMAT, "%s: expected %d numbers", what, n);
    return IO_OK;
}

static io_status parse_periodic(const io_lines *lines, const char *text, int periodic[3])
{
    for (int axis = 0; axis < 3; axis++) {
        io_token token;
        if (!io__token_next(&text, &token) || !strchr("TtFf10", token.text[0]))
            return io__lines_fail(lines, IO_FORMAT, "pbc: expected three of T and F");
        periodic[axis] = strchr("Tt1", token.text[0]) != NULL;
    }
    return IO_OK;
}

/** Find the columns of species and pos in "species:S:1:pos:R:3:...". */
static io_status parse_properties(const io_lines *lines, xyz_frame *out)
{
    enum { MOST_COLUMNS = 1000 };
    int column = 0;
    out->species = out->position = -1;
    for (const char *at = out->properties; *at;) {
        const size_t name = strcspn(at, ":");
        const char *type = at + name + (at[name] == ':');
        const char *count = type + (type[0] && type[1] == ':' ? 2 : 0);
        char *end = NULL;
        const long width = strtol(count, &end, 10);
        if (name == 0 || count == type || end == count || (*end && *end != ':') || width < 1 ||
            width > MOST_COLUMNS || column > MOST_COLUMNS)
            return io__lines_fail(lines, IO_FORMAT,
                                  "Properties: '%.40s'; expected "
                                  "name:type:columns",
                                  at);
        if (is_key((io_token){at, name}, "species"))
            out->species = column;
        if (is_key((io_token){at, name}, "pos") && width == 3)
            out->position = column;
        column += (int)width;
        at = end + (*end == ':');
    }
    if (out->position < 0)
        return io__lines_fail(lines, IO_FORMAT, "Properties: expected pos:R:3 among '%.200s'",
                              out->properties);
    return IO_OK;
}

/** Find the value of a key in a comment. */
static bool find_value(const char *comment, const char *name, char value[MOST_VALUE])
{
    io_token key;
    while (next_pair(&comment, &key, value))
        if (is_key(key, name))
            return true;
    return false;
}

static io_status parse_comment(const io_lines *lines, const char *comment, xyz_frame *out)
{
    double lattice[9];
    char value[MOST_VALUE];
    if (find_value(comment, "time", value))
        out->has_time = *io__number(value, lines->locale, &out->time) == 0;
    out->extended = find_value(comment, "Properties", out->properties);
    if (out->extended)
        IO_TRY(parse_properties(lines, out));
    else
        out->properties[0] = 0;
    if (!find_value(comment, "Lattice", value))
        return IO_OK;
    IO_TRY(parse_numbers(lines, "Lattice", value, 9, lattice));
    out->box = (kith_box){.periodic = {1, 1, 1}, .dim = 3};
    out->has_box = out->extended = true;
    memcpy(out->box.row, lattice, sizeof lattice);
    if (find_value(comment, "pbc", value))
        IO_TRY(parse_periodic(lines, value, out->box.periodic));
    if (find_value(comment, "Origin", value))
        IO_TRY(parse_numbers(lines, "Origin", value, 3, out->box.origin));
    return IO_OK;
}

/** Read count and comment. *found is false at the end of the file. */
static io_status next_frame(io_lines *lines, xyz_frame *out, bool *found)
{
    char *line;
    do
        IO_TRY(io__lines_next(lines, &line));
    while (line && line[strspn(line, " \t")] == 0);
    *found = line != NULL;
    *out = (xyz_frame){.box = io__box_open(), .position = 1};
    if (!line)
        return IO_OK;
    const char *digits = line + strspn(line, " \t");
    char *end = NULL;
    const unsigned long long n = strtoull(digits, &end, 10);
    if (!isdigit((unsigned char)*digits) || end[strspn(end, " \t")])
        return io__lines_fail(lines, IO_FORMAT,
                              "'%.40s'; expected the number of atoms of a frame "
                              "or the end of the file",
                              digits);
    if (n > INT32_MAX)
        return io__lines_fail(lines, IO_LIMIT, "%.20s atoms; at most %d can be read", digits,
                              INT32_MAX);
    out->n = (int64_t)n;
    IO_TRY(io__lines_next(lines, &line));
    if (!line)
        return io__lines_fail(lines, IO_TRUNCATED,
                              "expected the comment of a frame, but the file "
                              "ends");
    const int64_t left = lines->file->size - lines->offset + lines->end - lines->begin;
    if (out->n > (left + 1) / ATOM_BYTES)
        return io__lines_fail(lines, IO_TRUNCATED,
                              "%lld atoms are announced, but only %lld bytes "
                              "follow",
                              (long long)out->n, (long long)left);
    return parse_comment(lines, line, out);
}

static io_status next_atom(io_lines *lines, const xyz_frame *frame, int64_t k, char **line)
{
    IO_TRY(io__lines_next(lines, line));
    if (!*line)
        return io__lines_fail(lines, IO_TRUNCATED, "the file ends after %lld of %lld atoms",
                              (long long)k, (long long)frame->n);
    return IO_OK;
}

static io_status skip_frame(io_lines *lines, const xyz_frame *frame)
{
    char *line;
    for (int64_t k = 0; k < frame->n; k++)
        IO_TRY(next_atom(lines, frame, k, &line));
    return IO_OK;
}

/** Parse one atom; xyz may be NULL. */
static io_status parse_atom(const io_lines *lines, const xyz_frame *frame, const char *line,
                            io_token *species, double xyz[3])
{
    static const char *const axes[3] = {"x", "y", "z"};
    const int last = frame->position + 3 > frame->species ? frame->position + 2 : frame->species;
    *species = (io_token){"", 0};
    for (int column = 0; column <= last; column++) {
        io_token token;
        if (!io__token_next(&line, &token))
            return io__lines_fail(lines, IO_FORMAT, "has %d columns; expected at least %d", column,
                                  last + 1);
        const int axis = column - frame->position;
        if (column == frame->species)
            *species = token;
        if (axis >= 0 && axis < 3 && xyz)
            IO_TRY(io__lines_number(lines, token, axes[axis], &xyz[axis]));
    }
    return IO_OK;
}

static io_status read_atoms(io_lines *lines, const xyz_frame *frame, io_particles *out)
{
    io_species wanted;
    int64_t capacity = frame->n;
    IO_TRY(io__species_parse(lines->file, &wanted));
    IO_TRY(io__particles_alloc(lines->file, out, frame->n, 3, KITH_DOUBLE));
    out->n = 0;
    for (int64_t k = 0; k < frame->n; k++) {
        char *line;
        io_token species;
        double xyz[3];
        IO_TRY(next_atom(lines, frame, k, &line));
        IO_TRY(parse_atom(lines, frame, line, &species, xyz));
        const int at = io__species_find(&wanted, species);
        if (wanted.n > 0 && at < 0)
            continue;
        if (at >= 0)
            wanted.item[at].n++;
        IO_TRY(io__particles_push(lines->file, out, &capacity, xyz));
    }
    out->has_box = frame->has_box;
    out->box = frame->box;
    return io__species_check(lines->file, &wanted);
}

/** Skip to the frame asked for, read it, and see that another frame or the end follows. */
static io_status read_frame(io_lines *lines, io_particles *out)
{
    const int64_t wanted = lines->file->options->frame;
    xyz_frame frame;
    bool found;
    for (int64_t k = 0;; k++) {
        IO_TRY(next_frame(lines, &frame, &found));
        if (!found)
            return io__file_fail(lines->file, IO_INVALID,
                                 "has %lld frames, counted from 0; frame "
                                 "%lld was asked for",
                                 (long long)k, (long long)wanted);
        if (k == wanted)
            break;
        IO_TRY(skip_frame(lines, &frame));
    }
    IO_TRY(read_atoms(lines, &frame, out));
    return next_frame(lines, &frame, &found);
}

io_status io__xyz_read(io_file *file, io_particles *out)
{
    io_lines lines;
    io_status status = io__lines_open(&lines, file);
    if (status == IO_OK)
        status = read_frame(&lines, out);
    io__lines_close(&lines);
    return status;
}

static void count_species(io_summary *out, io_token name)
{
    for (int k = 0; k < out->n_species; k++)
        if (strncmp(out->species[k].name, name.text, name.length) == 0 &&
            out->species[k].name[name.length] == 0) {
            out->species[k].n++;
            return;
        }
    if (out->n_species == IO_MAX_SPECIES || name.length >= IO_NAME_LENGTH)
        return;
    io__copy_name(out->species[out->n_species].name, IO_NAME_LENGTH, name.text, name.length);
    out->species[out->n_species++].n = 1;
}

static void describe_properties(const char *at, io_summary *out)
{
    for (int k = 0; *at && k < IO_MAX_SPECIES; k++) {
        const size_t name = strcspn(at, ":");
        const char *type = at + name + 1; /* the form was checked when the frame was read */
        const size_t width = strcspn(type + 2, ":");
        io__copy_name(out->fields[k].name, IO_NAME_LENGTH, at, name);
        io__copy_name(out->fields[k].type, IO_NAME_LENGTH, type, 1);
        io__copy_name(out->fields[k].shape, IO_NAME_LENGTH, type + 2, width);
        out->n_fields = k + 1;
        at = type + 2 + width + (type[2 + width] == ':');
    }
}

static io_status inspect_frames(io_lines *lines, io_summary *out)
{
    xyz_frame frame;
    bool found;
    out->frames = 0;
    for (;; out->frames++) {
        IO_TRY(next_frame(lines, &frame, &found));
        if (!found)
            break;
        if (out->frames > 0) {
            IO_TRY(skip_frame(lines, &frame));
            continue;
        }
        out->n = frame.n;
        out->has_box = frame.has_box;
        out->box = frame.box;
        out->has_time = frame.has_time;
        out->time = frame.time;
        describe_properties(frame.properties, out);
        snprintf(out->description, sizeof out->description, "%s",
                 frame.extended ? "extended XYZ" : "XYZ");
        for (int64_t k = 0; k < frame.n; k++) {
            char *line;
            io_token species;
            IO_TRY(next_atom(lines, &frame, k, &line));
            IO_TRY(parse_atom(lines, &frame, line, &species, NULL));
            count_species(out, species);
        }
    }
    return IO_OK;
}

io_status io__xyz_inspect(io_file *file, io_summary *out)
{
    io_lines lines;
    io_status status = io__lines_open(&lines, file);
    if (status == IO_OK)
        status = inspect_frames(&lines, out);
    io__lines_close(&lines);
    return status;
}
