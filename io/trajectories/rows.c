/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Atoms of XYZ files and LAMMPS dumps: one line for each atom, with columns separated by blanks.
 * The head of a frame gives each column a role.
 */
#include "frames.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

enum { ATOM_BYTES = 6 }; /* the shortest line of an atom: "0 0 0\n" */

static const char *const role_names[IO_ROLE_END] = {
    [IO_ROLE_LABEL] = "species",   [IO_ROLE_ID] = "id",       [IO_ROLE_MOLECULE] = "mol",
    [IO_ROLE_WEIGHT] = "weight",   [IO_ROLE_POSITION] = "x",  [IO_ROLE_POSITION + 1] = "y",
    [IO_ROLE_POSITION + 2] = "z",  [IO_ROLE_VELOCITY] = "vx", [IO_ROLE_VELOCITY + 1] = "vy",
    [IO_ROLE_VELOCITY + 2] = "vz", [IO_ROLE_FORCE] = "fx",    [IO_ROLE_FORCE + 1] = "fy",
    [IO_ROLE_FORCE + 2] = "fz"};

void io__roles_add(io_roles *roles, int column, int role)
{
    if (column >= IO_MOST_COLUMNS) {
        roles->beyond = column;
        return;
    }
    roles->role[column] = (unsigned char)role;
    roles->n = column >= roles->n ? column + 1 : roles->n;
}

io_status io__roles_check(const io_lines *lines, const io_roles *roles)
{
    return !roles->beyond ? IO_OK
                          : io__lines_fail(lines, IO_LIMIT,
                                           "column %d is to be read, counted from 1; only the "
                                           "first %d can be read",
                                           roles->beyond + 1, IO_MOST_COLUMNS);
}

/** Return true when a column has the role. */
static bool has_role(const io_roles *roles, int role)
{
    return memchr(roles->role, role, (size_t)roles->n) != NULL;
}

io_status io__roles_add_weight(const io_lines *lines, io_roles *roles, int column)
{
    if (column < roles->n && roles->role[column] != IO_ROLE_NONE) {
        return io__lines_fail(
            lines, IO_INVALID,
            "column %d, counted from 1, is read as '%s': it cannot be the weights "
            "or radii, too",
            column + 1, role_names[roles->role[column]]);
    }
    io__roles_add(roles, column, IO_ROLE_WEIGHT);
    return IO_OK;
}

/** Return true when columns have the roles x, y and z of a vector. @param role  that of x */
static bool has_three(const io_roles *roles, int role)
{
    return has_role(roles, role) && has_role(roles, role + 1) && has_role(roles, role + 2);
}

unsigned io__roles_fields(const io_roles *roles)
{
    return (has_three(roles, IO_ROLE_POSITION) ? IO_POSITIONS : 0u) |
           (has_three(roles, IO_ROLE_VELOCITY) ? IO_VELOCITIES : 0u) |
           (has_three(roles, IO_ROLE_FORCE) ? IO_FORCES : 0u) |
           (has_role(roles, IO_ROLE_MOLECULE) ? IO_MOLECULES : 0u) |
           (has_role(roles, IO_ROLE_WEIGHT) ? IO_WEIGHTS : 0u) |
           (has_role(roles, IO_ROLE_ID) ? IO_IDS : 0u);
}

io_status io__lines_count(const io_lines *lines, const char *text, const char *what, int64_t *out)
{
    const char *digits = text + strspn(text, " \t");
    int64_t n = 0;
    const char *at = digits;
    for (; isdigit((unsigned char)*at) && n <= INT32_MAX; at++) {
        n = 10 * n + (*at - '0');
    }
    if (n > INT32_MAX) {
        return io__lines_fail(lines, IO_LIMIT, "%.20s atoms; at most %d can be read", digits,
                              INT32_MAX);
    }
    if (at == digits || at[strspn(at, " \t")]) {
        return io__lines_fail(lines, IO_FORMAT, "'%.40s'; expected %s", digits, what);
    }
    *out = n;
    return IO_OK;
}

io_status io__lines_check_atoms(const io_lines *lines, int64_t n)
{
    const int64_t left = lines->file->size - lines->offset + lines->end - lines->begin;
    if (n > (left + 1) / ATOM_BYTES) { /* + 1: the last line of a file may lack its '\n' */
        return io__lines_fail(lines, IO_TRUNCATED,
                              "%lld atoms are announced, but only %lld bytes follow", (long long)n,
                              (long long)left);
    }
    return IO_OK;
}

/** Get the line of atom k of n. */
static io_status next_atom(io_lines *lines, int64_t k, int64_t n, char **line)
{
    IO_TRY(io__lines_next(lines, line));
    if (!*line) {
        return io__lines_fail(lines, IO_TRUNCATED, "the file ends after %lld of %lld atoms",
                              (long long)k, (long long)n);
    }
    return IO_OK;
}

/** Parse the number at *at, and move *at behind it. */
static io_status take_number(const io_lines *lines, const char **at, int role, double *out)
{
    const char *begin = *at + strspn(*at, " \t");
    const char *end = io__number(begin, lines->locale, out);
    *at = end;
    if (end > begin && (*end == ' ' || *end == '\t' || !*end) && errno == 0) {
        return IO_OK;
    }
    io_token token; /* io__lines_number makes the message */
    io__token_next(&begin, &token);
    return io__lines_number(lines, token, role_names[role], out);
}

/** Store a number of atom p. A molecule of number 0 or less, which LAMMPS gives to atoms of none,
 *  is stored as -1.
 *  @return false if the id or the molecule is no whole number, or too large */
static bool put_number(io_frame *out, int role, int64_t p, double value)
{
    const kith_precision precision = out->particles.precision;
    if (role >= IO_ROLE_FORCE) {
        io_put_real(out->force, 3 * p + role - IO_ROLE_FORCE, precision, value);
    } else if (role >= IO_ROLE_VELOCITY) {
        io_put_real(out->particles.velocity, 3 * p + role - IO_ROLE_VELOCITY, precision, value);
    } else if (role >= IO_ROLE_POSITION) {
        io_put_real(out->particles.pos, 3 * p + role - IO_ROLE_POSITION, precision, value);
    } else if (role == IO_ROLE_WEIGHT) {
        out->weight[p] = value;
    } else if (role == IO_ROLE_MOLECULE) {
        out->molecule[p] = value > 0 && value <= INT32_MAX ? (int32_t)value : -1;
        return value <= INT32_MAX && trunc(value) == value;
    } else {
        const bool fits = value >= 0 && value < 0x1p53 && trunc(value) == value;
        out->particles.id[p] = fits ? (int64_t)value : -1;
        return fits;
    }
    return true;
}

/** Parse the line of atom p, and store the numbers of the columns that have a role, and its label.
 *  @param[out] label  unchanged if no column has the label */
static io_status parse_atom(const io_lines *lines, const io_roles *roles, const char *line,
                            io_frame *out, int64_t p, io_token *label)
{
    for (int column = 0; column < roles->n; column++) {
        const int role = roles->role[column];
        if (role > IO_ROLE_LABEL && line[strspn(line, " \t")]) {
            double value;
            IO_TRY(take_number(lines, &line, role, &value));
            if (!put_number(out, role, p, value)) {
                return io__lines_fail(lines, IO_FORMAT, "%s is %.17g; expected a whole number%s",
                                      role_names[role], value,
                                      role == IO_ROLE_ID ? " from 0 to 2^53" : " below 2^31");
            }
            continue;
        }
        io_token token;
        if (!io__token_next(&line, &token)) {
            return io__lines_fail(lines, IO_FORMAT, "has %d columns; expected at least %d", column,
                                  roles->n);
        }
        if (role == IO_ROLE_LABEL) {
            *label = token;
        }
    }
    return IO_OK;
}

/** Atoms of a frame that threads parse. */
typedef struct atoms {
    const io_labels *labels; /* the names of species so far */
    const io_roles *roles;   /* the columns that are read */
    io_frame *out;           /* the frame */
    int64_t first;           /* atom of the first line */
} atoms;

/** Parse the line of an atom in any thread, but not one with a new name. @param user  atoms */
static bool parse_known(void *user, const io_lines *lines, char *line, int64_t k)
{
    const atoms *a = user;
    const int64_t p = a->first + k;
    io_token label = {0};
    return parse_atom(lines, a->roles, line, a->out, p, &label) == IO_OK &&
           (!label.text || io__labels_find(a->labels, label, &a->out->species[p]));
}

/** Read the atoms of a frame. */
static io_status read_atoms(io_frames *frames, io_lines *lines, const io_roles *roles, int64_t n,
                            io_frame *out)
{
    atoms a = {&frames->labels, roles, out, 0};
    while (a.first < n) {
        char *line;
        int64_t parsed;
        io_token label = {0};
        IO_TRY(io__lines_parse(lines, n - a.first, parse_known, &a, &parsed));
        a.first += parsed;
        if (parsed > 0) {
            continue;
        }
        IO_TRY(next_atom(lines, a.first, n, &line));
        IO_TRY(parse_atom(lines, roles, line, out, a.first, &label));
        if (label.text) {
            IO_TRY(io__labels_number(frames->file, &frames->labels, label, &out->species[a.first]));
        }
        a.first++;
    }
    return IO_OK;
}

/** The roles of the columns that have an array in the frame. */
static io_roles wanted_roles(const io_roles *roles, const io_frame *out)
{
    io_roles wanted = {0};
    for (int column = 0; column < roles->n; column++) {
        const int role = roles->role[column];
        const bool has_array = role >= IO_ROLE_FORCE      ? out->force != NULL
                               : role >= IO_ROLE_VELOCITY ? out->particles.velocity != NULL
                               : role == IO_ROLE_ID       ? out->particles.id != NULL
                               : role == IO_ROLE_MOLECULE ? out->molecule != NULL
                               : role == IO_ROLE_WEIGHT   ? out->weight != NULL
                                                          : role != IO_ROLE_NONE;
        if (has_array) {
            io__roles_add(&wanted, column, role);
        }
    }
    return wanted;
}

io_status io__rows_peek(io_frames *frames, bool *found)
{
    io_rows *rows = frames->state;
    if (!rows->peeked) {
        char *line;
        do {
            IO_TRY(io__lines_next(&rows->lines, &line));
        } while (line && line[strspn(line, " \t")] == 0);
        rows->head = (io_rows_head){.box = io__box_open()};
        if (line) {
            IO_TRY(frames->format->head(frames, line));
        }
        rows->peeked = true;
        rows->found = line != NULL;
    }
    *found = rows->found;
    return IO_OK;
}

io_status io__rows_skip(io_frames *frames)
{
    io_rows *rows = frames->state;
    char *line;
    rows->peeked = false;
    for (int64_t k = 0; k < rows->head.n; k++) {
        IO_TRY(next_atom(&rows->lines, k, rows->head.n, &line));
    }
    return IO_OK;
}

io_status io__rows_read(io_frames *frames, io_frame *out)
{
    io_rows *rows = frames->state;
    const io_rows_head *head = &rows->head;
    const int64_t n = frames->options->boxes_only ? 0 : head->n;
    rows->peeked = false;
    IO_TRY(io__frame_alloc(frames, out, n, KITH_DOUBLE, io__roles_fields(&head->roles)));
    out->particles.has_box = head->has_box;
    out->particles.box = head->box;
    out->particles.has_time = head->has_time;
    out->particles.time = head->time;
    out->has_step = head->has_step;
    out->step = head->step;
    out->things = head->things;
    if (frames->options->boxes_only) {
        return io__rows_skip(frames);
    }
    const io_roles wanted = wanted_roles(&head->roles, out);
    if (!has_role(&wanted, IO_ROLE_LABEL)) {
        IO_TRY(io__frame_unnamed(frames, out));
    }
    return read_atoms(frames, &rows->lines, &wanted, head->n, out);
}

void io__rows_close(io_frames *frames)
{
    io_rows *rows = frames->state;
    io__lines_close(&rows->lines);
}
