/* SPDX-License-Identifier: BSD-3-Clause
 *
 * XYZ and extended XYZ with any number of frames. A frame is a line with the number of atoms, a
 * comment, then one line for each atom. The comment of extended XYZ holds key=value pairs: Lattice
 * (three row vectors), Origin, pbc, time, step, and Properties, which describes the columns:
 * https://github.com/libAtoms/extxyz. Without Properties, the columns are species, x, y, z.
 */
#include "frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_VALUE = 1024 }; /* size of a buffer for a value [byte] */

/** State of the reader. */
typedef struct xyz_state {
    io_rows rows;                /* lines, and the head of the next frame */
    bool extended;               /* the comment of the last frame has Lattice or Properties */
    char properties[MOST_VALUE]; /* value of Properties; "": none */
} xyz_state;

/** Parse the next key=value of a comment. Quotes and brackets around the value are removed; a key
 *  without value has the value "T". @return false at the end */
static bool next_pair(const char **at, io_token *key, char value[MOST_VALUE])
{
    static const char opening[] = "\"'{[", closing[] = "\"'}]";
    const char *begin = *at + strspn(*at, " \t");
    const size_t length = strcspn(begin, " \t=");
    *key = (io_token){begin, length};
    *at = begin + length;
    snprintf(value, MOST_VALUE, "T");
    if (**at != '=') {
        return length > 0;
    }
    begin = *at + 1;
    const char *quote = *begin ? strchr(opening, *begin) : NULL;
    begin += quote != NULL;
    const char *end = quote ? strchr(begin, closing[quote - opening]) : NULL;
    if (!end) {
        end = begin + strcspn(begin, " \t");
    }
    io__copy_name(value, MOST_VALUE, begin, (size_t)(end - begin));
    *at = end + (quote && *end);
    return true;
}

/** Return true when a key equals a name; the case of letters does not count. */
static bool is_key(io_token key, const char *name)
{
    return key.length == strlen(name) && strncasecmp(key.text, name, key.length) == 0;
}

/** Parse exactly n finite numbers. @param what  name of the numbers, for messages */
static io_status parse_numbers(const io_lines *lines, const char *what, const char *text, int n,
                               double *out)
{
    io_token token;
    int k = 0;
    for (; io__token_next(&text, &token) && k < n; k++) {
        IO_TRY(io__lines_number(lines, token, what, &out[k]));
        if (!isfinite(out[k])) {
            return io__lines_fail(lines, IO_FORMAT, "%s is not finite", what);
        }
    }
    if (k < n || token.length > 0) {
        return io__lines_fail(lines, IO_FORMAT, "%s: expected %d numbers", what, n);
    }
    return IO_OK;
}

/** Parse the value of pbc: "T T F", or "1 1 0". */
static io_status parse_periodic(const io_lines *lines, const char *text, int periodic[3])
{
    for (int axis = 0; axis < 3; axis++) {
        io_token token;
        if (!io__token_next(&text, &token) || !strchr("TtFf10", token.text[0])) {
            return io__lines_fail(lines, IO_FORMAT, "pbc: expected three of T and F");
        }
        periodic[axis] = strchr("Tt1", token.text[0]) != NULL;
    }
    return IO_OK;
}

/** Give the columns of a property their roles, if it is one that is read.
 *  @param column  its first column
 *  @param width   its number of columns */
static void add_property(io_roles *roles, io_token name, int column, int width)
{
    static const struct {
        const char *name;
        int role, width;
    } known[] = {{"species", IO_ROLE_LABEL, 1},       {"id", IO_ROLE_ID, 1},
                 {"pos", IO_ROLE_POSITION, 3},        {"vel", IO_ROLE_VELOCITY, 3},
                 {"velo", IO_ROLE_VELOCITY, 3},       {"velocity", IO_ROLE_VELOCITY, 3},
                 {"velocities", IO_ROLE_VELOCITY, 3}, {"force", IO_ROLE_FORCE, 3},
                 {"forces", IO_ROLE_FORCE, 3}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        for (int at = 0; at < width && is_key(name, known[k].name) && width == known[k].width;
             at++) {
            io__roles_add(roles, column + at, known[k].role + at);
        }
    }
}

/** Parse the value of Properties: "species:S:1:pos:R:3:...". */
static io_status parse_properties(const io_lines *lines, const char *properties,
                                  const char *weights, io_roles *out)
{
    enum { MOST_COLUMNS = 1000 };
    int column = 0;
    *out = (io_roles){0};
    for (const char *at = properties; *at;) {
        const size_t name = strcspn(at, ":");
        const char *type = at + name + (at[name] == ':');
        const char *count = type + (type[0] && type[1] == ':' ? 2 : 0);
        char *end = NULL;
        const long width = strtol(count, &end, 10);
        if (name == 0 || count == type || end == count || (*end && *end != ':') || width < 1 ||
            width > MOST_COLUMNS || column > MOST_COLUMNS) {
            return io__lines_fail(lines, IO_FORMAT,
                                  "Properties: '%.40s'; expected name:type:columns", at);
        }
        add_property(out, (io_token){at, name}, column, (int)width);
        if (weights && width == 1 && is_key((io_token){at, name}, weights)) {
            IO_TRY(io__roles_add_weight(lines, out, column));
        }
        column += (int)width;
        at = end + (*end == ':');
    }
    IO_TRY(io__roles_check(lines, out));
    if (!(io__roles_fields(out) & IO_POSITIONS)) {
        return io__lines_fail(lines, IO_FORMAT, "Properties: expected pos:R:3 among '%.200s'",
                              properties);
    }
    return IO_OK;
}

/** Find the value of a key in a comment. @return false if the comment lacks the key */
static bool find_value(const char *comment, const char *name, char value[MOST_VALUE])
{
    io_token key;
    while (next_pair(&comment, &key, value)) {
        if (is_key(key, name)) {
            return true;
        }
    }
    return false;
}

/** Parse the number of a key in a comment. A comment of plain XYZ is free text, where a word that
 *  resembles a key may have any value; in that of extended XYZ, the value must be a number.
 *  @param[out] found  false: the comment has no number for this key */
static io_status find_number(const io_lines *lines, const char *comment, const char *key,
                             bool extended, double *out, bool *found)
{
    char value[MOST_VALUE];
    *found = find_value(comment, key, value);
    if (!*found || (!extended && *io__number(value, lines->locale, out) != 0)) {
        *found = false;
        return IO_OK;
    }
    if (strcmp(value, "T") == 0) { /* a key without a value */
        *found = false;
        return IO_OK;
    }
    return io__lines_number(lines, (io_token){value, strlen(value)}, key, out);
}

/** Parse time and step of a frame. */
static io_status parse_clock(const io_lines *lines, const char *comment, bool extended,
                             io_rows_head *out)
{
    double step = 0;
    IO_TRY(find_number(lines, comment, "time", extended, &out->time, &out->has_time));
    IO_TRY(find_number(lines, comment, "step", extended, &step, &out->has_step));
    const bool whole = fabs(step) < 0x1p53 && trunc(step) == step;
    if (!whole && extended) {
        return io__lines_fail(lines, IO_FORMAT, "step is %g; expected a whole number below 2^53",
                              step);
    }
    out->has_step = out->has_step && whole;
    out->step = out->has_step ? (int64_t)step : 0;
    return IO_OK;
}

/** Parse the things of a flock: the keys kith_thing0, kith_thing1, ... that follow each other. */
static io_status parse_things(const io_lines *lines, const char *comment, io_things *out)
{
    char key[24], value[MOST_VALUE];
    double number[IO_THING_NUMBERS];
    for (int k = 0; k <= KITH_MOST_THINGS; k++) {
        snprintf(key, sizeof key, "kith_thing%d", k);
        if (!find_value(comment, key, value)) {
            break;
        }
        IO_TRY(parse_numbers(lines, key, value, IO_THING_NUMBERS, number));
        if (!io__thing_add(out, number)) {
            return io__lines_fail(lines, IO_FORMAT,
                                  "%s: expected a kind from 0 to 3, and at most %d things", key,
                                  KITH_MOST_THINGS);
        }
    }
    return IO_OK;
}

/** Set the head of a frame, and state->extended and state->properties, from its comment. */
static io_status parse_comment(io_frames *frames, const char *comment)
{
    xyz_state *state = frames->state;
    const io_lines *lines = &state->rows.lines;
    io_rows_head *out = &state->rows.head;
    double lattice[9];
    char value[MOST_VALUE];
    state->extended = find_value(comment, "Properties", state->properties);
    const bool has_lattice = find_value(comment, "Lattice", value);
    IO_TRY(parse_clock(lines, comment, state->extended || has_lattice, out));
    if (state->extended) {
        IO_TRY(parse_properties(lines, state->properties, frames->options->weights, &out->roles));
        IO_TRY(parse_things(lines, comment, &out->things));
    } else {
        state->properties[0] = 0;
    }
    if (!has_lattice) {
        return IO_OK;
    }
    IO_TRY(parse_numbers(lines, "Lattice", value, 9, lattice));
    out->box = (kith_box){.periodic = {1, 1, 1}, .dim = 3};
    out->has_box = state->extended = true;
    memcpy(out->box.row, lattice, sizeof lattice);
    if (find_value(comment, "pbc", value)) {
        IO_TRY(parse_periodic(lines, value, out->box.periodic));
    }
    if (find_value(comment, "Origin", value)) {
        IO_TRY(parse_numbers(lines, "Origin", value, 3, out->box.origin));
    }
    return IO_OK;
}

/** Read the head of a frame: number of atoms and comment. */
static io_status read_head(io_frames *frames, char *line)
{
    static const io_roles plain = {
        .n = 4,
        .role = {IO_ROLE_LABEL, IO_ROLE_POSITION, IO_ROLE_POSITION + 1, IO_ROLE_POSITION + 2}};
    io_rows *rows = frames->state;
    io_lines *lines = &rows->lines;
    rows->head.roles = plain;
    IO_TRY(io__lines_count(lines, line, "the number of atoms of a frame or the end of the file",
                           &rows->head.n));
    IO_TRY(io__lines_next(lines, &line));
    if (!line) {
        return io__lines_fail(lines, IO_TRUNCATED,
                              "expected the comment of a frame, but the file ends");
    }
    IO_TRY(io__lines_check_atoms(lines, rows->head.n));
    return parse_comment(frames, line);
}

/** The `open` of io_frames_format: peek at the first frame, which tells the kind of XYZ. */
static io_status open_frames(io_frames *frames)
{
    bool found;
    xyz_state *state = frames->state;
    IO_TRY(io__lines_open(&state->rows.lines, frames->file));
    IO_TRY(io__rows_peek(frames, &found));
    snprintf(frames->description, sizeof frames->description, "%s",
             state->extended ? "extended XYZ" : "XYZ");
    return IO_OK;
}

/** List the properties "name:type:columns:..." as fields of a summary. */
static void describe_properties(const char *at, io_summary *out)
{
    for (int k = 0; *at && k < IO_MAX_SPECIES; k++) {
        const size_t name = strcspn(at, ":");
        const char *type = at + name + 1; /* parse_properties has checked the form */
        const size_t width = strcspn(type + 2, ":");
        io__copy_name(out->fields[k].name, IO_NAME_LENGTH, at, name);
        io__copy_name(out->fields[k].type, IO_NAME_LENGTH, type, 1);
        io__copy_name(out->fields[k].shape, IO_NAME_LENGTH, type + 2, width);
        out->n_fields = k + 1;
        at = type + 2 + width + (type[2 + width] == ':');
    }
}

static void describe(const io_frames *frames, io_summary *out)
{
    const xyz_state *state = frames->state;
    describe_properties(state->properties, out);
}

const io_frames_format io__frames_xyz = {.state = sizeof(xyz_state),
                                         .open = open_frames,
                                         .peek = io__rows_peek,
                                         .skip = io__rows_skip,
                                         .read = io__rows_read,
                                         .describe = describe,
                                         .close = io__rows_close,
                                         .head = read_head,
                                         .text = true};
