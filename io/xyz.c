/* SPDX-License-Identifier: BSD-3-Clause
 *
 * XYZ and extended XYZ, any number of frames. A frame is a count, a comment, then a line for each
 * atom. The comment of the extended kind holds key=value pairs: Lattice (three row vectors),
 * Origin, pbc and Properties, which says what the columns are.
 */
#include "frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_VALUE = 1024 };

typedef struct xyz_frame {
    int64_t n;
    bool has_box, has_time, has_step, extended;
    kith_box box;
    double time, step;
    io_roles roles;
    char properties[MOST_VALUE];
} xyz_frame;

typedef struct xyz_state {
    io_lines lines;
    xyz_frame frame; /* the one to be read next, once peeked at */
    bool peeked, found;
} xyz_state;

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

/** Note what a property's columns are. */
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
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (int at = 0; at < width && is_key(name, known[k].name) && width == known[k].width; at++)
            io__roles_add(roles, column + at, known[k].role + at);
}

/** Find the columns in "species:S:1:pos:R:3:...". */
static io_status parse_properties(const io_lines *lines, const char *weights, xyz_frame *out)
{
    enum { MOST_COLUMNS = 1000 };
    int column = 0;
    out->roles = (io_roles){0};
    for (const char *at = out->properties; *at;) {
        const size_t name = strcspn(at, ":");
        const char *type = at + name + (at[name] == ':');
        const char *count = type + (type[0] && type[1] == ':' ? 2 : 0);
        char *end = NULL;
        const long width = strtol(count, &end, 10);
        if (name == 0 || count == type || end == count || (*end && *end != ':') || width < 1 ||
            width > MOST_COLUMNS || column > MOST_COLUMNS)
            return io__lines_fail(lines, IO_FORMAT,
                                  "Properties: '%.40s'; expected name:type:columns", at);
        add_property(&out->roles, (io_token){at, name}, column, (int)width);
        if (weights && width == 1 && is_key((io_token){at, name}, weights))
            IO_TRY(io__roles_add_weight(lines, &out->roles, column));
        column += (int)width;
        at = end + (*end == ':');
    }
    if (!(io__roles_fields(&out->roles) & IO_POSITIONS))
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

static io_status parse_comment(const io_lines *lines, const char *comment, const char *weights,
                               xyz_frame *out)
{
    double lattice[9];
    char value[MOST_VALUE];
    if (find_value(comment, "time", value))
        out->has_time = *io__number(value, lines->locale, &out->time) == 0;
    if (find_value(comment, "step", value))
        out->has_step = *io__number(value, lines->locale, &out->step) == 0 &&
                        fabs(out->step) < 0x1p53;
    out->extended = find_value(comment, "Properties", out->properties);
    if (out->extended)
        IO_TRY(parse_properties(lines, weights, out));
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
static io_status read_header(io_lines *lines, const char *weights, xyz_frame *out, bool *found)
{
    static const io_roles plain = {
        4, {IO_ROLE_LABEL, IO_ROLE_POSITION, IO_ROLE_POSITION + 1, IO_ROLE_POSITION + 2}};
    char *line;
    do
        IO_TRY(io__lines_next(lines, &line));
    while (line && line[strspn(line, " \t")] == 0);
    *found = line != NULL;
    *out = (xyz_frame){.box = io__box_open(), .roles = plain};
    if (!line)
        return IO_OK;
    IO_TRY(io__lines_count(lines, line, "the number of atoms of a frame or the end of the file",
                           &out->n));
    IO_TRY(io__lines_next(lines, &line));
    if (!line)
        return io__lines_fail(lines, IO_TRUNCATED,
                              "expected the comment of a frame, but the file ends");
    IO_TRY(io__lines_check_atoms(lines, out->n));
    return parse_comment(lines, line, weights, out);
}

static io_status peek(io_frames *frames, bool *found)
{
    xyz_state *state = frames->state;
    if (!state->peeked)
        IO_TRY(read_header(&state->lines, frames->options->weights, &state->frame, &state->found));
    state->peeked = true;
    *found = state->found;
    return IO_OK;
}

static io_status open_frames(io_frames *frames)
{
    bool found;
    xyz_state *state = frames->state = calloc(1, sizeof *state);
    if (!state)
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory to read frames");
    IO_TRY(io__lines_open(&state->lines, frames->file));
    IO_TRY(peek(frames, &found));
    snprintf(frames->description, sizeof frames->description, "%s",
             state->frame.extended ? "extended XYZ" : "XYZ");
    return IO_OK;
}

static void close_frames(io_frames *frames)
{
    xyz_state *state = frames->state;
    if (state)
        io__lines_close(&state->lines);
    free(state);
}

static io_status skip_frame(io_frames *frames)
{
    xyz_state *state = frames->state;
    state->peeked = false;
    return io__lines_skip_atoms(&state->lines, state->frame.n);
}

static io_status read_frame(io_frames *frames, io_frame *out)
{
    xyz_state *state = frames->state;
    const xyz_frame *frame = &state->frame;
    state->peeked = false;
    IO_TRY(io__frame_alloc(frames, out, frame->n, KITH_DOUBLE, io__roles_fields(&frame->roles)));
    out->particles.has_box = frame->has_box;
    out->particles.box = frame->box;
    out->particles.has_time = frame->has_time;
    out->particles.time = frame->time;
    out->has_step = frame->has_step;
    out->step = frame->has_step ? (int64_t)frame->step : 0;
    return io__lines_read_atoms(frames, &state->lines, &frame->roles, out);
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

static void describe(const io_frames *frames, io_summary *out)
{
    const xyz_state *state = frames->state;
    describe_properties(state->frame.properties, out);
}

const io_frames_format io__frames_xyz = {.open = open_frames,
                                         .peek = peek,
                                         .skip = skip_frame,
                                         .read = read_frame,
                                         .describe = describe,
                                         .close = close_frames,
                                         .text = true};
