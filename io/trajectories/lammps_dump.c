/* SPDX-License-Identifier: BSD-3-Clause
 *
 * LAMMPS text dumps (dump atom and dump custom): each frame is a few sections "ITEM: ...", then one
 * line for each atom, whose columns "ITEM: ATOMS" names. Coordinates may be plain, unwrapped or
 * fractions of the box. https://docs.lammps.org/dump.html
 */
#include "frames.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** State of the reader. */
typedef struct dump_state {
    io_rows rows;       /* lines, and the head of the next frame */
    bool scaled;        /* coordinates are fractions of the box */
    char columns[2048]; /* names of the columns of frame 0, for a summary; only those that fit */
} dump_state;

/** Return what follows the words with which a line begins; NULL if it does not begin with them. */
static const char *after(const char *line, const char *words)
{
    const size_t length = strlen(words);
    return strncmp(line, words, length) == 0 ? line + length : NULL;
}

/** Get the next line of the head of a frame. IO_TRUNCATED at the end of the file. */
static io_status next_line(io_lines *lines, char **line)
{
    IO_TRY(io__lines_next(lines, line));
    if (!*line) {
        return io__lines_fail(lines, IO_TRUNCATED, "the file ends within the head of a frame");
    }
    return IO_OK;
}

/** Read a line of exactly n numbers. @param what  name of the numbers, for messages */
static io_status read_numbers(io_lines *lines, const char *what, int n, double *out)
{
    char *line;
    io_token token;
    IO_TRY(next_line(lines, &line));
    const char *at = line;
    for (int k = 0; k < n; k++) {
        if (!io__token_next(&at, &token)) {
            return io__lines_fail(lines, IO_FORMAT, "%s: %d numbers; expected %d", what, k, n);
        }
        IO_TRY(io__lines_number(lines, token, what, &out[k]));
    }
    if (io__token_next(&at, &token)) {
        return io__lines_fail(lines, IO_FORMAT, "%s: more than %d numbers", what, n);
    }
    return IO_OK;
}

/** Set a box from bounds and tilt factors. The bounds are those of the bounding box of the tilted
 *  box: https://docs.lammps.org/Howto_triclinic.html.
 *  @param bound  low, high and tilt (xy, xz, yz) for each axis */
static void set_bounds(kith_box *box, double bound[3][4])
{
    const double xy = bound[0][2], xz = bound[1][2], yz = bound[2][2];
    const double least = fmin(fmin(0, xy), fmin(xz, xy + xz));
    const double most = fmax(fmax(0, xy), fmax(xz, xy + xz));
    const double low[3] = {bound[0][0] - least, bound[1][0] - fmin(0, yz), bound[2][0]};
    const double high[3] = {bound[0][1] - most, bound[1][1] - fmax(0, yz), bound[2][1]};
    for (int axis = 0; axis < 3; axis++) {
        box->origin[axis] = low[axis];
        box->row[axis][axis] = high[axis] - low[axis];
    }
    box->row[1][0] = xy;
    box->row[2][0] = xz;
    box->row[2][1] = yz;
}

/** Step over n words. @return false, and *at stays, where there are others */
static bool skip_words(const char **at, const char *const *words, int n)
{
    const char *next = *at;
    io_token token;
    for (int k = 0; k < n; k++) {
        if (!io__token_next(&next, &token) || !io__token_is(token, words[k])) {
            return false;
        }
    }
    *at = next;
    return true;
}

/** Read a box. @param kinds  "pp pp pp", "xy xz yz pp pp pp" or "abc origin pp pp pp", in the line
 *                            that is replaced by the next */
static io_status read_box(io_lines *lines, const char *kinds, kith_box *out)
{
    static const char *const rows[] = {"abc", "origin"}, *const tilts[] = {"xy", "xz", "yz"};
    io_token token;
    const bool general = skip_words(&kinds, rows, 2), tilted = skip_words(&kinds, tilts, 3);
    const int n = general ? 4 : tilted ? 3 : 2;
    double number[3][4] = {{0}};
    *out = (kith_box){.periodic = {1, 1, 1}, .dim = 3};
    for (int axis = 0; axis < 3 && io__token_next(&kinds, &token); axis++) {
        if (!strchr("pfsm", token.text[0])) { /* periodic, fixed, shrink-wrapped, with a minimum */
            return io__lines_fail(lines, IO_FORMAT,
                                  "'%.*s' after ITEM: BOX BOUNDS; expected the boundaries of each "
                                  "axis, as pp or fs",
                                  io__token_shown(token), token.text);
        }
        out->periodic[axis] = token.text[0] == 'p';
    }
    for (int axis = 0; axis < 3; axis++) {
        IO_TRY(read_numbers(lines, "bounds of the box", n, number[axis]));
    }
    for (int axis = 0; axis < 3 && general; axis++) {
        memcpy(out->row[axis], number[axis], sizeof out->row[axis]);
        out->origin[axis] = number[axis][3];
    }
    if (general) {
        return IO_OK;
    }
    set_bounds(out, number);
    for (int axis = 0; axis < 3; axis++) {
        if (out->row[axis][axis] < 0) {
            return io__lines_fail(lines, IO_FORMAT, "the box ends before it begins: %g to %g",
                                  number[axis][0], number[axis][1]);
        }
    }
    return IO_OK;
}

/** Return the column with this name; -1 if there is none. */
static int find_name(const char *names, const char *wanted)
{
    io_token token;
    for (int column = 0; io__token_next(&names, &token); column++) {
        if (io__token_is(token, wanted)) {
            return column;
        }
    }
    return -1;
}

/** Assign a role to the three columns with these names. @return true when all three exist */
static bool add_three(io_roles *roles, const char *names, const char *const wanted[3], int role)
{
    int column[3];
    for (int axis = 0; axis < 3; axis++) {
        column[axis] = find_name(names, wanted[axis]);
    }
    if (column[0] < 0 || column[1] < 0 || column[2] < 0) {
        return false;
    }
    for (int axis = 0; axis < 3; axis++) {
        io__roles_add(roles, column[axis], role + axis);
    }
    return true;
}

/** Give the columns their roles by their names. */
static io_status read_names(io_frames *frames, const char *names)
{
    dump_state *state = frames->state;
    const io_lines *lines = &state->rows.lines;
    io_roles *roles = &state->rows.head.roles;
    static const char *const positions[][3] = {
        {"x", "y", "z"}, {"xu", "yu", "zu"}, {"xs", "ys", "zs"}, {"xsu", "ysu", "zsu"}};
    static const char *const velocities[3] = {"vx", "vy", "vz"}, *const forces[3] = {"fx", "fy",
                                                                                     "fz"};
    static const struct {
        const char *name;
        int role;
    } single[] = {{"id", IO_ROLE_ID}, {"mol", IO_ROLE_MOLECULE}};
    const io_label label = frames->options->label;
    const bool element = label == IO_LABEL_ELEMENT ||
                         (label == IO_LABEL_ANY && find_name(names, "element") >= 0);
    const char *species = label == IO_LABEL_NAME ? "name" : element ? "element" : "type";
    if (!*state->columns && snprintf(state->columns, sizeof state->columns, "%s", names) >=
                                (int)sizeof state->columns) {
        char *last = strrchr(state->columns, ' '); /* the last name was cut */
        *(last ? last : state->columns) = '\0';
    }
    int way = 0; /* index in positions; from 2 on coordinates are fractions of the box */
    while (way < 4 && !add_three(roles, names, positions[way], IO_ROLE_POSITION)) {
        way++;
    }
    if (way == 4) {
        return io__lines_fail(lines, IO_FORMAT,
                              "has no coordinates x y z, xu yu zu, xs ys zs or xsu ysu zsu among "
                              "'%.200s'",
                              names);
    }
    state->scaled = way >= 2;
    add_three(roles, names, velocities, IO_ROLE_VELOCITY);
    add_three(roles, names, forces, IO_ROLE_FORCE);
    for (size_t k = 0; k < sizeof single / sizeof *single; k++) {
        if (find_name(names, single[k].name) >= 0) {
            io__roles_add(roles, find_name(names, single[k].name), single[k].role);
        }
    }
    if (find_name(names, species) >= 0) {
        io__roles_add(roles, find_name(names, species), IO_ROLE_LABEL);
    } else if (label != IO_LABEL_ANY) {
        return io__lines_fail(lines, IO_INVALID, "has no column '%s' among '%.200s'", species,
                              names);
    }
    const char *weights = frames->options->weights;
    const int column = weights ? find_name(names, weights) : -1;
    if (column >= 0) {
        IO_TRY(io__roles_add_weight(lines, roles, column));
    }
    return io__roles_check(lines, roles);
}

/** Read a section of the head of a frame. @param line  its title */
static io_status read_section(io_frames *frames, char *line)
{
    dump_state *state = frames->state;
    io_lines *lines = &state->rows.lines;
    io_rows_head *out = &state->rows.head;
    double number = 0;
    const char *rest = after(line, "ITEM: BOX BOUNDS");
    if (rest) {
        out->has_box = true;
        return read_box(lines, rest, &out->box);
    }
    if (after(line, "ITEM: TIMESTEP")) {
        IO_TRY(read_numbers(lines, "time step", 1, &number));
        if (!(fabs(number) < 0x1p53) || trunc(number) != number) {
            return io__lines_fail(lines, IO_FORMAT,
                                  "time step is %g; expected a whole number below 2^53", number);
        }
        out->has_step = true;
        out->step = (int64_t)number;
        return IO_OK;
    }
    if (after(line, "ITEM: TIME")) { /* tested after TIMESTEP, which begins with these letters */
        out->has_time = true;
        return read_numbers(lines, "time", 1, &out->time);
    }
    if (after(line, "ITEM: UNITS")) { /* once in a file, before its first frame */
        IO_TRY(next_line(lines, &line));
        line[strcspn(line, " \t\r")] = 0;
        io__frames_system(frames, line);
        return IO_OK;
    }
    if (!after(line, "ITEM: NUMBER OF ATOMS")) {
        return io__lines_fail(lines, IO_FORMAT,
                              "'%.40s'; expected ITEM: TIMESTEP, NUMBER OF ATOMS, BOX BOUNDS, "
                              "then ATOMS, or the end of the file",
                              line);
    }
    IO_TRY(next_line(lines, &line));
    return io__lines_count(lines, line, "the number of atoms", &out->n);
}

/** The `head` of io_frames_format: read the sections up to "ITEM: ATOMS", and roles of columns. */
static io_status read_head(io_frames *frames, char *line)
{
    dump_state *state = frames->state;
    io_lines *lines = &state->rows.lines;
    io_rows_head *head = &state->rows.head;
    const char *names;
    head->n = -1; /* not yet read */
    while (!(names = after(line, "ITEM: ATOMS")) || head->n < 0) {
        IO_TRY(read_section(frames, line));
        IO_TRY(next_line(lines, &line));
    }
    IO_TRY(io__lines_check_atoms(lines, head->n));
    return read_names(frames, names);
}

static io_status open_frames(io_frames *frames)
{
    dump_state *state = frames->state;
    snprintf(frames->description, sizeof frames->description, "LAMMPS dump");
    return io__lines_open(&state->rows.lines, frames->file);
}

/** Convert fractions of the box to coordinates: origin + xs a + ys b + zs c. */
static void unscale(const kith_box *box, io_particles *particles)
{
    const kith_precision precision = particles->precision;
    for (int64_t p = 0; p < particles->n; p++) {
        double s[3];
        for (int axis = 0; axis < 3; axis++) {
            s[axis] = io_real(particles->pos, 3 * p + axis, precision);
        }
        for (int axis = 0; axis < 3; axis++) {
            io_put_real(particles->pos, 3 * p + axis, precision,
                        box->origin[axis] + s[0] * box->row[0][axis] + s[1] * box->row[1][axis] +
                            s[2] * box->row[2][axis]);
        }
    }
}

/** The `read` of io_frames_format: read the atoms, and convert fractions of the box. */
static io_status read_frame(io_frames *frames, io_frame *out)
{
    const dump_state *state = frames->state;
    IO_TRY(io__rows_read(frames, out));
    if (state->scaled) {
        unscale(&state->rows.head.box, &out->particles);
    }
    return IO_OK;
}

/** The `list_others` of io_frames_format: the columns that are in no field of a frame, as type,
 *  mass or q, which --weights and --radii can name. */
static void list_columns(const io_frames *frames, int64_t n, io_summary *out)
{
    static const char *const in_fields[] = {"x",  "y",  "z",   "xu",  "yu",  "zu", "xs",
                                            "ys", "zs", "xsu", "ysu", "zsu", "vx", "vy",
                                            "vz", "fx", "fy",  "fz",  "id",  "mol"};
    const dump_state *state = frames->state;
    const char *at = state->columns;
    io_token token;
    while (io__token_next(&at, &token) && out->n_fields < IO_MAX_SPECIES) {
        size_t k = 0;
        while (k < sizeof in_fields / sizeof *in_fields && !io__token_is(token, in_fields[k])) {
            k++;
        }
        if (k < sizeof in_fields / sizeof *in_fields) {
            continue;
        }
        const int field = out->n_fields++;
        const bool whole = io__token_is(token, "type");
        const bool text = io__token_is(token, "element") || io__token_is(token, "typelabel");
        io__copy_name(out->fields[field].name, IO_NAME_LENGTH, token.text, token.length);
        snprintf(out->fields[field].type, IO_NAME_LENGTH, "%s",
                 text    ? "text"
                 : whole ? "integer"
                         : "double");
        snprintf(out->fields[field].shape, IO_NAME_LENGTH, "(%lld,)", (long long)n);
    }
}

const io_frames_format io__frames_lammps = {.state = sizeof(dump_state),
                                            .open = open_frames,
                                            .peek = io__rows_peek,
                                            .skip = io__rows_skip,
                                            .read = read_frame,
                                            .close = io__rows_close,
                                            .head = read_head,
                                            .list_others = list_columns,
                                            .text = true};
