/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of XTC, TRR, DCD, AMBER NetCDF, PDB, GRO, CIF and compressed files, read by the library
 * chemfiles. It gives doubles, lengths in Angstrom, and an object for each atom.
 *
 * A file's format is found by how it begins. An atom's type in chemfiles is the element of CIF and
 * of columns 77-78 of PDB, but the atom's name in GRO and in PDB files without these columns: there
 * the element follows from columns 13-14, or from the name and the residue.
 *
 * Names, elements and residues are read atom by atom, but only once if the format of the file
 * cannot change them between frames.
 *
 * Each call of the library is within IO_FOREIGN (core/foreign.h), so that a crash in it on a
 * damaged file is reported with the path that `enter` has set. IO_FOREIGN takes an expression with
 * a value: a call that returns void is written (call, 0).
 */
#include "chemfiles_load.h"
#include "core/foreign.h"
#include "elements.h"
#include "frames.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------- which files chemfiles reads */

/* The formats: name in messages, name in chemfiles, nameless, packed (frames.h). */
static const io_chemfiles_kind xtc = {"XTC", "XTC", true, false}, trr = {"TRR", "TRR", true, false},
                               dcd = {"DCD", "DCD", true, false},
                               netcdf = {"AMBER NetCDF", "Amber NetCDF", true, false},
                               pdb = {"PDB", "PDB", false, false},
                               gro = {"GRO", "GRO", false, false},
                               cif = {"CIF", "", false, false}, /* or mmCIF */
    packed = {"compressed", "", false, true};

/* A file is of a kind if it has these `length` bytes at offset `at`. */
static const struct {
    int at;
    const char *bytes;
    size_t length;
    const io_chemfiles_kind *kind;
} signatures[] = {
    {0, "\0\0\x07\xcb", 4, &xtc}, /* the integer 1995, big-endian */
    {0, "\0\0\x07\xe7", 4, &xtc}, /* 2023: beyond 300 million atoms */
    {0, "\0\0\x07\xc9", 4, &trr}, /* 1993 */
    {4, "CORD", 4, &dcd},         /* after the length of a Fortran record, of 4 bytes or 8 */
    {8, "CORD", 4, &dcd},         {0, "CDF\1", 4, &netcdf}, {0, "CDF\2", 4, &netcdf},
    {0, "CDF\5", 4, &netcdf},     {0, "HEADER ", 7, &pdb},  {0, "TITLE  ", 7, &pdb},
    {0, "REMARK ", 7, &pdb},      {0, "CRYST1 ", 7, &pdb},  {0, "MODEL  ", 7, &pdb},
    {0, "ATOM   ", 7, &pdb},      {0, "HETATM ", 7, &pdb},  {0, "data_", 5, &cif},
    {0, "\x1f\x8b", 2, &packed},  {0, "BZh", 3, &packed},   {0, "\xfd\x37zXZ", 5, &packed},
};

/** Return true when a file begins as GRO: a title, a count, then atoms in columns of fixed width,
 *  with x, y, z as %8.3f from column 20 on. */
static bool is_gro(const char *head)
{
    const char *count = strchr(head, '\n');
    const char *atom = count ? strchr(count + 1, '\n') : NULL;
    char *end = NULL;
    if (!atom || !isdigit((unsigned char)count[1 + strspn(count + 1, " ")])) {
        return false;
    }
    strtoull(count + 1, &end, 10);
    if (end[strspn(end, " \r")] != '\n' || strcspn(++atom, "\n") < 44) {
        return false;
    }
    return isdigit((unsigned char)atom[4]) && isdigit((unsigned char)atom[19]) && atom[24] == '.' &&
           atom[32] == '.' && atom[40] == '.';
}

const io_chemfiles_kind *io__chemfiles_kind(const char *head, int64_t size)
{
    for (size_t k = 0; k < sizeof signatures / sizeof *signatures; k++) {
        if ((size_t)size >= (size_t)signatures[k].at + signatures[k].length &&
            memcmp(head + signatures[k].at, signatures[k].bytes, signatures[k].length) == 0) {
            return signatures[k].kind;
        }
    }
    return is_gro(head) ? &gro : NULL;
}

/* --------------------------------------------------------------------------- elements of atoms */

/** Where the element of an atom comes from. */
typedef enum element_source {
    FROM_TYPE, /**< The type of the atom in chemfiles is its element. */
    FROM_PDB,  /**< The type, unless it equals the name: then columns 13-14 of the PDB file. */
    FROM_NAME  /**< The name of the atom. */
} element_source;

enum { MOST_NAMES = 200, NAME = 16 }; /* sizes of a list of names, and of one name [byte] */

/** An ATOM or HETATM line of the first model of a PDB file. */
typedef struct pdb_atom {
    char name[NAME];                 /* name of the atom */
    bool found;                      /* the element is known */
    bool by_symbol;                  /* columns 77-78 hold the symbol of the element */
    char element[IO_ELEMENT_LENGTH]; /* symbol, or IO_VIRTUAL_SITE */
} pdb_atom;

/** The names and residues of the atoms of a frame. */
typedef struct atom_names {
    const io_chemfiles *api;  /* the library */
    void *frame;              /* the frame, an object of the library */
    int64_t n;                /* number of atoms */
    int32_t *residue;         /* residue of each atom [n]; -1: none */
    int32_t *members;         /* number of atoms of each residue [residues] */
    char (*name)[NAME];       /* name of each residue [residues] */
    int64_t n_pdb;            /* lines in pdb; 0: the file is no PDB file, or is compressed */
    int64_t room;             /* lines that pdb has room for */
    pdb_atom *pdb;            /* lines of the PDB file [n_pdb] */
    char unknown[MOST_NAMES]; /* names of atoms whose element is not known */
} atom_names;

/** Find out where the elements of a file come from.
 *  @param format  name of its format in chemfiles; "": chemfiles finds it by the path */
static element_source find_naming(const io_chemfiles *api, const char *path, const char *format)
{
    char name[64] = "";
    snprintf(name, sizeof name, "%s", format);
    if (!name[0] && IO_FOREIGN(api->guess_format(path, name, sizeof name)) != 0) {
        return FROM_NAME;
    }
    return strncmp(name, "PDB", 3) == 0   ? FROM_PDB
           : strncmp(name, "GRO", 3) == 0 ? FROM_NAME
                                          : FROM_TYPE;
}

/** Append a word to a comma-separated list, unless it is there or the list is full. */
static void list_once(char *list, size_t room, const char *word)
{
    const size_t used = strlen(list), length = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ',')) {
            return;
        }
    }
    if (used + length + 3 < room) {
        snprintf(list + used, room - used, "%s%s", used ? ", " : "", word);
    }
}

/** Append the atom of a line of a PDB file. @return false if memory is exhausted */
static bool add_line(atom_names *a, const char *line)
{
    if (a->n_pdb == a->room) {
        a->room = 2 * a->room + 1024;
        pdb_atom *grown = realloc(a->pdb, (size_t)a->room * sizeof *grown);
        if (!grown) {
            return false;
        }
        a->pdb = grown;
    }
    pdb_atom *atom = &a->pdb[a->n_pdb++];
    const size_t length = strlen(line);
    char field[5] = "";
    memcpy(field, length > 12 ? line + 12 : "", length > 16 ? 4 : 0);
    const size_t begin = strspn(field, " ");
    *atom = (pdb_atom){.by_symbol = false};
    snprintf(atom->name, sizeof atom->name, "%.*s", (int)strcspn(field + begin, " "),
             field + begin);
    atom->found = io__element_of_pdb(line, &atom->by_symbol, atom->element);
    return true;
}

/** Read the first model of a PDB file. */
static io_status read_pdb(io_file *owner, const char *path, atom_names *a)
{
    io_read_options plain = {0};
    io_file file;
    io_lines lines = {0};
    char *line = NULL;
    io_status status = io__file_open(&file, path, &plain, owner->error);
    if (status == IO_OK) {
        status = io__lines_open(&lines, &file);
    }
    while (status == IO_OK && (status = io__lines_next(&lines, &line)) == IO_OK && line &&
           strncmp(line, "ENDMDL", 6) != 0) {
        const bool atom = strncmp(line, "ATOM  ", 6) == 0 || strncmp(line, "HETATM", 6) == 0;
        if (atom && !add_line(a, line)) {
            status = io__file_fail(owner, IO_NO_MEMORY, "no memory for names of atoms");
        }
    }
    io__lines_close(&lines);
    io__file_close(&file);
    return status;
}

/** Set the residue of the atoms of residue k.
 *  @return IO_OK, IO_NO_MEMORY, or IO_FORMAT if chemfiles fails */
static io_status take_residue(atom_names *a, const void *topology, int32_t k)
{
    const io_chemfiles *api = a->api;
    uint64_t n = 0;
    void *residue = IO_FOREIGN(api->residue_from_topology(topology, (uint64_t)k));
    const bool counted = residue && IO_FOREIGN(api->residue_atoms_count(residue, &n)) == 0 &&
                         IO_FOREIGN(api->residue_name(residue, a->name[k], NAME)) == 0;
    uint64_t *atoms = counted ? malloc((size_t)(n + 1) * sizeof *atoms) : NULL;
    const bool done = atoms && IO_FOREIGN(api->residue_atoms(residue, atoms, n)) == 0;
    const io_status status = done ? IO_OK : counted && !atoms ? IO_NO_MEMORY : IO_FORMAT;
    for (uint64_t p = 0; p < n && done; p++) {
        if (atoms[p] < (uint64_t)a->n) {
            a->residue[atoms[p]] = k;
        }
    }
    a->members[k] = (int32_t)n;
    free(atoms);
    (void)IO_FOREIGN((api->free(residue), 0));
    return status;
}

/** Set residue, members and name of the atoms of the frame. */
static io_status take_residues(io_file *file, atom_names *a)
{
    uint64_t n = 0;
    void *topology = IO_FOREIGN(a->api->topology_from_frame(a->frame));
    const bool counted = topology &&
                         IO_FOREIGN(a->api->topology_residues_count(topology, &n)) == 0 &&
                         n < INT32_MAX;
    a->residue = malloc(((size_t)a->n + 1) * sizeof *a->residue);
    a->members = calloc((size_t)n + 1, sizeof *a->members);
    a->name = calloc((size_t)n + 1, sizeof *a->name);
    const bool room = a->residue && a->members && a->name;
    io_status status = !counted ? IO_FORMAT : room ? IO_OK : IO_NO_MEMORY;
    for (int64_t p = 0; p < a->n && status == IO_OK; p++) {
        a->residue[p] = -1;
    }
    for (uint64_t k = 0; k < n && status == IO_OK; k++) {
        status = take_residue(a, topology, (int32_t)k);
    }
    if (status == IO_NO_MEMORY) {
        io__file_fail(file, status, "no memory for residues");
    } else if (status != IO_OK) {
        io__file_fail(file, status, "residues cannot be read: %s", a->api->last_error());
    }
    (void)IO_FOREIGN((a->api->free(topology), 0));
    return status;
}

/** Find the element of atom p, which has this name and type in chemfiles.
 *  @param[out] guessed  the element follows from the name alone
 *  @return false if it is not known */
static bool find_element(const atom_names *a, element_source by, int64_t p, const char *name,
                         const char *type, bool *guessed, char out[IO_ELEMENT_LENGTH])
{
    *guessed = false;
    const bool typed = by == FROM_TYPE || strcmp(name, type) != 0;
    if (typed && io__element_symbol(type, out)) {
        return true;
    }
    const pdb_atom *line = p < a->n_pdb && strcmp(a->pdb[p].name, name) == 0 ? &a->pdb[p] : NULL;
    const int32_t residue = a->residue[p];
    const char *of = residue >= 0 ? a->name[residue] : "";
    const bool alone = residue < 0 || a->members[residue] == 1;
    *guessed = !(line && line->by_symbol);
    if (line && line->found && (line->by_symbol || !io__element_is_polymer(of))) {
        snprintf(out, IO_ELEMENT_LENGTH, "%s", line->element);
        return true;
    }
    return io__element_of_name(name, of, alone, out);
}

/** Find the elements for name_elements, once a->residue and, of a PDB file, a->pdb are set. */
static io_status find_elements(io_frames *frames, atom_names *a, element_source by,
                               char (*out)[IO_ELEMENT_LENGTH])
{
    for (int64_t p = 0; p < a->n; p++) {
        char name[NAME] = "", type[NAME] = "", pair[NAME + IO_ELEMENT_LENGTH + 1];
        void *atom = IO_FOREIGN(a->api->atom_from_frame(a->frame, (uint64_t)p));
        const bool told = atom && IO_FOREIGN(a->api->atom_name(atom, name, sizeof name)) == 0 &&
                          IO_FOREIGN(a->api->atom_type(atom, type, sizeof type)) == 0;
        (void)IO_FOREIGN((a->api->free(atom), 0));
        if (!told) {
            return io__file_fail(frames->file, IO_FORMAT, "atom %lld has no name: %s", (long long)p,
                                 a->api->last_error());
        }
        if (!name[0] && !type[0]) {
            return io__file_fail(frames->file, IO_MISSING,
                                 "has no atom names; --topology FILE supplies them");
        }
        bool guessed;
        if (!find_element(a, by, p, name, type, &guessed, out[p])) {
            list_once(a->unknown, sizeof a->unknown, name[0] ? name : type);
        } else if (guessed) {
            snprintf(pair, sizeof pair, "%s=%s", name, out[p]);
            list_once(frames->guessed, sizeof frames->guessed, pair);
        }
    }
    if (a->unknown[0]) {
        return io__file_fail(frames->file, IO_INVALID,
                             "the element of these atoms does not follow from their names: %s; "
                             "--by name or type takes them as they are called",
                             a->unknown);
    }
    return IO_OK;
}

/** Find the element of each atom of a frame. IO_INVALID where an element does not follow; elements
 *  that follow from names are listed in frames->guessed.
 *  @param path      the file that names the atoms
 *  @param[out] out  [n] symbols, or IO_VIRTUAL_SITE */
static io_status name_elements(io_frames *frames, const io_chemfiles *api, void *frame,
                               element_source by, const char *path, int64_t n,
                               char (*out)[IO_ELEMENT_LENGTH])
{
    atom_names a = {.api = api, .frame = frame, .n = n};
    io_status status = by == FROM_PDB ? read_pdb(frames->file, path, &a) : IO_OK;
    if (status == IO_OK) {
        status = take_residues(frames->file, &a);
    }
    if (status == IO_OK) {
        status = find_elements(frames, &a, by, out);
    }
    free(a.residue);
    free(a.members);
    free(a.name);
    free(a.pdb);
    return status;
}

/* -------------------------------------------------------------------------------------- frames */

/** State of the reader. */
typedef struct chemfiles_state {
    const io_chemfiles *api; /* the library */
    void *trajectory;        /* the trajectory, an object of the library */
    void *frame;             /* the current frame, an object of the library */
    element_source by;       /* where elements come from */
    bool constant;           /* names are equal in all frames: none, or those of a topology file */
    int64_t told;            /* number of atoms that species and weight are for */
    int32_t *species;        /* species of each atom [told] */
    double *weight;          /* weight of each atom [told], if weights are wanted */
    int64_t residue_atoms;   /* number of atoms that residue is for; 0: not set */
    int32_t *residue;        /* residue of each atom [residue_atoms], if constant */
} chemfiles_state;

/** Set the file that is named if one of the following calls of the library crashes. */
static void enter(const io_frames *frames, const char *path)
{
    char library[48];
    const chemfiles_state *state = frames->state;
    snprintf(library, sizeof library, "chemfiles %.32s", state->api->version());
    io_foreign_file(library, path);
}

/** Free an object of the library. NULL is allowed. */
static void release(const io_chemfiles *api, const void *object)
{
    (void)IO_FOREIGN((api->free(object), 0));
}

/** Return IO_FORMAT with `what` failed and the last message of the library. */
static io_status fail(io_frames *frames, const char *what)
{
    const chemfiles_state *state = frames->state;
    return io__file_fail(frames->file, IO_FORMAT, "%s: chemfiles %.32s says: %s", what,
                         state->api->version(), state->api->last_error());
}

/** Return IO_FORMAT with the message of the library about frame `next`. */
static io_status fail_frame(io_frames *frames)
{
    char what[64];
    snprintf(what, sizeof what, "frame %lld cannot be read", (long long)frames->next);
    return fail(frames, what);
}

/** Open the file and its topology in chemfiles, and set frames->count.
 *  @param format  name of the format in chemfiles; "": chemfiles finds it by the path */
static io_status open_trajectory(io_frames *frames, const char *format)
{
    chemfiles_state *state = frames->state;
    const io_chemfiles *api = state->api;
    const char *topology = frames->options->topology;
    uint64_t count = 0;
    enter(frames, frames->file->path);
    state->trajectory = IO_FOREIGN(api->trajectory_with_format(frames->file->path, 'r', format));
    if (!state->trajectory) {
        return fail(frames, "cannot be opened");
    }
    if (topology) {
        enter(frames, topology);
    }
    if (topology &&
        IO_FOREIGN(api->trajectory_topology_file(state->trajectory, topology, "")) != 0) {
        char what[256];
        snprintf(what, sizeof what, "the topology %.200s cannot be used", topology);
        return fail(frames, what);
    }
    enter(frames, frames->file->path);
    if (IO_FOREIGN(api->trajectory_size(state->trajectory, &count)) != 0) {
        return fail(frames, "its frames cannot be counted");
    }
    state->frame = IO_FOREIGN(api->frame());
    if (!state->frame) {
        return fail(frames, "no memory for a frame");
    }
    frames->count = (int64_t)count;
    return IO_OK;
}

/** Set the unit of length. chemfiles converts to Angstrom where the definition of the format has a
 *  unit. XYZ has none. LAMMPS dumps have that of their first lines, a property of frame 0. */
static io_status take_unit(io_frames *frames, const char *format)
{
    const chemfiles_state *state = frames->state;
    const io_chemfiles *api = state->api;
    char name[64] = "";
    snprintf(name, sizeof name, "%s", format);
    if (!name[0] && IO_FOREIGN(api->guess_format(frames->file->path, name, sizeof name)) != 0) {
        return IO_OK; /* chemfiles does not know the format by its path: no unit */
    }
    if (strncmp(name, "XYZ", 3) != 0 && strncmp(name, "LAMMPS", 6) != 0) {
        io__frames_unit("A", frames->unit);
        return IO_OK;
    }
    if (strncmp(name, "LAMMPS", 6) != 0 || frames->count < 1) {
        return IO_OK;
    }
    if (IO_FOREIGN(api->trajectory_read_at(state->trajectory, 0, state->frame)) != 0) {
        return fail_frame(frames);
    }
    char system[16] = "";
    void *property = IO_FOREIGN(api->frame_get_property(state->frame, "lammps_units"));
    const bool read = !property ||
                      IO_FOREIGN(api->property_get_string(property, system, sizeof system)) == 0;
    release(api, property);
    if (!read) {
        return fail_frame(frames);
    }
    if (property) {
        io__frames_system(frames, system);
    }
    return IO_OK;
}

/** The `open` of io_frames_format: find the kind of file, load chemfiles, open the trajectory. */
static io_status open_frames(io_frames *frames)
{
    char head[IO_HEAD + 1];
    const int64_t size = frames->file->size < IO_HEAD ? frames->file->size : IO_HEAD;
    chemfiles_state *state = frames->state;
    IO_TRY(io__file_read(frames->file, head, size, 0));
    head[size] = 0;
    const io_chemfiles_kind *kind = io__chemfiles_kind(head, size);
    if (!kind) {
        return io__file_fail(frames->file, IO_FORMAT, "changes while it is read");
    }
    IO_TRY(io__chemfiles_load(frames->file,
                              kind->packed ? ", or unpack the file (gunzip, bunzip2, unxz)" : "",
                              &state->api));
    enter(frames, frames->file->path);
    state->constant = kind->nameless || frames->options->topology != NULL;
    snprintf(frames->description, sizeof frames->description, "%s, by chemfiles %.32s", kind->name,
             state->api->version());
    IO_TRY(open_trajectory(frames, kind->format));
    state->by = frames->options->topology
                    ? find_naming(state->api, frames->options->topology, "")
                    : find_naming(state->api, frames->file->path, kind->format);
    return take_unit(frames, kind->format);
}

static void close_frames(io_frames *frames)
{
    chemfiles_state *state = frames->state;
    if (state->trajectory) {
        enter(frames, frames->file->path);
    }
    if (state->frame) {
        release(state->api, state->frame);
    }
    if (state->trajectory) {
        (void)IO_FOREIGN((state->api->trajectory_close(state->trajectory), 0));
    }
    free(state->species);
    free(state->weight);
    free(state->residue);
}

/** Copy a vector for each particle. @param[out] to  [n][3], of particles->precision */
static void copy_reals(const io_particles *particles, double (*from)[3], void *to)
{
    for (int64_t p = 0; p < particles->n; p++) {
        for (int axis = 0; axis < 3; axis++) {
            io_put_real(to, 3 * p + axis, particles->precision, from[p][axis]);
        }
    }
}

/** Return a component of a row of the box, but 0 if it is so small that it is the rounding error of
 *  the cosine of a right angle: chemfiles stores cells as lengths and angles.
 *  @param length  diagonal component of the row */
static double tilt(double along, double length)
{
    return fabs(along) > 1e-10 * fabs(length) ? along : 0;
}

/** Set the box of a frame from the cell of chemfiles. */
static io_status read_cell(io_frames *frames, io_frame *out)
{
    const chemfiles_state *state = frames->state;
    double matrix[3][3];
    void *cell = IO_FOREIGN(state->api->cell_from_frame(state->frame));
    const bool done = cell && IO_FOREIGN(state->api->cell_matrix(cell, matrix)) == 0;
    release(state->api, cell);
    if (!done) {
        return fail_frame(frames);
    }
    kith_box *box = &out->particles.box;
    *box = (kith_box){.periodic = {1, 1, 1}, .dim = 3};
    for (int row = 0; row < 3; row++) {
        for (int axis = 0; axis < 3; axis++) {
            box->row[row][axis] = tilt(state->api->columns ? matrix[axis][row] : matrix[row][axis],
                                       matrix[row][row]);
        }
    }
    out->particles.has_box = true; /* an infinite cell is all zeros: frames.c then clears has_box */
    return IO_OK;
}

/** Get a property of the frame that is a number. @param[out] found  false: it does not exist */
static io_status get_number(io_frames *frames, const char *name, double *out, bool *found)
{
    const chemfiles_state *state = frames->state;
    void *property = IO_FOREIGN(state->api->frame_get_property(state->frame, name));
    *found = property != NULL;
    const bool read = !property || IO_FOREIGN(state->api->property_get_double(property, out)) == 0;
    release(state->api, property);
    return read ? IO_OK : fail_frame(frames);
}

/** Get the mass of an element: that of a new atom of this type. @return false on failure */
static bool mass_of(const io_chemfiles *api, const char *element, double *mass)
{
    void *atom = IO_FOREIGN(api->atom(element));
    const bool done = atom && IO_FOREIGN(api->atom_mass(atom, mass)) == 0;
    release(api, atom);
    return done;
}

/** Find species and weight of an atom.
 *  @param element      its element, if that is needed; else NULL
 *  @param[out] weight  NULL: not wanted */
static io_status tell_atom(io_frames *frames, int64_t p, const char *element, int32_t *species,
                           double *weight)
{
    const chemfiles_state *state = frames->state;
    const io_chemfiles *api = state->api;
    const io_label label = frames->options->label;
    char text[IO_NAME_LENGTH] = "";
    void *atom = IO_FOREIGN(api->atom_from_frame(state->frame, (uint64_t)p));
    bool done = atom != NULL;
    if (done && label == IO_LABEL_ELEMENT) {
        snprintf(text, sizeof text, "%s", element);
    } else if (done && label != IO_LABEL_NAME) {
        done = IO_FOREIGN(api->atom_type(atom, text, sizeof text)) == 0;
    }
    if (done && (label == IO_LABEL_NAME || (label == IO_LABEL_ANY && !text[0]))) {
        done = IO_FOREIGN(api->atom_name(atom, text, sizeof text)) == 0;
    }
    const bool mass = weight && strcmp(frames->options->weights, "mass") == 0;
    if (done && weight) {
        done = mass && state->by != FROM_TYPE ? mass_of(api, element, weight)
               : mass                         ? IO_FOREIGN(api->atom_mass(atom, weight)) == 0
                                              : IO_FOREIGN(api->atom_charge(atom, weight)) == 0;
    }
    release(api, atom);
    if (!done) {
        return fail_frame(frames);
    }
    if (mass && !(*weight > 0) && state->by == FROM_TYPE) {
        return io__file_fail(frames->file, IO_MISSING, "no mass is known of atom %lld%s%s%s",
                             (long long)p, text[0] ? ", '" : ", which has no name", text,
                             text[0] ? "'" : "");
    }
    return io__labels_number(frames->file, &frames->labels, (io_token){text, strlen(text)},
                             species);
}

/** Set state->species and, if weights, state->weight of all atoms. */
static io_status tell_atoms(io_frames *frames, int64_t n, bool weights)
{
    const chemfiles_state *state = frames->state;
    const bool by_element = frames->options->label == IO_LABEL_ELEMENT;
    const bool mass = weights && strcmp(frames->options->weights, "mass") == 0;
    const char *names = frames->options->topology ? frames->options->topology : frames->file->path;
    char(*element)[IO_ELEMENT_LENGTH] = NULL;
    io_status status = IO_OK;
    if (by_element || (mass && state->by != FROM_TYPE)) {
        element = malloc(((size_t)n + 1) * sizeof *element);
        status = element
                     ? name_elements(frames, state->api, state->frame, state->by, names, n, element)
                     : io__file_fail(frames->file, IO_NO_MEMORY, "no memory for elements");
    }
    for (int64_t p = 0; p < n && status == IO_OK; p++) {
        status = tell_atom(frames, p, element ? element[p] : NULL, &state->species[p],
                           weights ? &state->weight[p] : NULL);
    }
    free(element);
    return status;
}

/** Copy species and, if they are wanted, weights of all atoms. */
static io_status read_facts(io_frames *frames, io_frame *out)
{
    chemfiles_state *state = frames->state;
    const int64_t n = out->particles.n;
    if (!state->constant || !state->species || state->told != n) {
        free(state->species);
        free(state->weight);
        state->told = 0;
        state->species = malloc(((size_t)n + 1) * sizeof *state->species);
        state->weight = malloc(((size_t)n + 1) * sizeof *state->weight);
        if (!state->species || !state->weight) {
            return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for %lld particles",
                                 (long long)n);
        }
        IO_TRY(tell_atoms(frames, n, out->weight != NULL));
        state->told = n;
    }
    memcpy(out->species, state->species, (size_t)n * sizeof *out->species);
    if (out->weight) {
        memcpy(out->weight, state->weight, (size_t)n * sizeof *out->weight);
    }
    return IO_OK;
}

/** Return true when options->weights names a property that chemfiles has: "mass" or "charge". */
static bool has_weights(const io_frames *frames)
{
    const char *name = frames->options->weights;
    return name && (strcmp(name, "mass") == 0 || strcmp(name, "charge") == 0);
}

/** Set out->bond. IO_FORMAT if a bond has an atom that the frame lacks. */
static io_status copy_bonds(io_frames *frames, const void *topology, io_frame *out)
{
    const chemfiles_state *state = frames->state;
    uint64_t(*ij)[2] = malloc(((size_t)out->n_bonds + 1) * sizeof *ij);
    if (!ij) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for bonds");
    }
    bool done = IO_FOREIGN(state->api->topology_bonds(topology, ij, (uint64_t)out->n_bonds)) == 0;
    for (int64_t k = 0; k < out->n_bonds && done; k++) {
        for (int end = 0; end < 2; end++) {
            out->bond[2 * k + end] = (int32_t)ij[k][end];
            done = done && ij[k][end] < (uint64_t)out->particles.n;
        }
    }
    free(ij);
    return done ? IO_OK : fail_frame(frames);
}

/** Set out->molecule of the atoms of residue k. */
static io_status copy_residue(io_frames *frames, const void *topology, uint64_t k, io_frame *out)
{
    const io_chemfiles *api = ((const chemfiles_state *)frames->state)->api;
    uint64_t n = 0;
    void *residue = IO_FOREIGN(api->residue_from_topology(topology, k));
    const bool counted = residue && IO_FOREIGN(api->residue_atoms_count(residue, &n)) == 0;
    uint64_t *atoms = counted ? malloc((size_t)(n + 1) * sizeof *atoms) : NULL;
    const bool done = atoms && IO_FOREIGN(api->residue_atoms(residue, atoms, n)) == 0;
    for (uint64_t a = 0; a < n && done; a++) {
        if (atoms[a] < (uint64_t)out->particles.n) {
            out->molecule[atoms[a]] = (int32_t)k;
        }
    }
    const bool lacking = counted && !atoms;
    free(atoms);
    release(api, residue);
    return done      ? IO_OK
           : lacking ? io__file_fail(frames->file, IO_NO_MEMORY, "no memory for residues")
                     : fail_frame(frames);
}

/** Set out->molecule to the residue of each atom, from state->residue where that is kept.
 *  @param residues  number of residues of the topology */
static io_status copy_residues(io_frames *frames, const void *topology, uint64_t residues,
                               io_frame *out)
{
    chemfiles_state *state = frames->state;
    const int64_t n = out->particles.n;
    const size_t bytes = (size_t)n * sizeof *out->molecule;
    if (state->residue && state->residue_atoms == n) {
        memcpy(out->molecule, state->residue, bytes);
        return IO_OK;
    }
    for (int64_t p = 0; p < n; p++) {
        out->molecule[p] = -1;
    }
    for (uint64_t k = 0; k < residues; k++) {
        IO_TRY(copy_residue(frames, topology, k, out));
    }
    if (!state->constant) {
        return IO_OK;
    }
    free(state->residue);
    state->residue = malloc(bytes + 1);
    if (!state->residue) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for residues");
    }
    state->residue_atoms = n;
    memcpy(state->residue, out->molecule, bytes);
    return IO_OK;
}

/** Read positions, velocities, residues and bonds of the atoms of a frame. */
static io_status read_atoms(io_frames *frames, const void *topology, io_frame *out)
{
    const chemfiles_state *state = frames->state;
    const io_chemfiles *api = state->api;
    uint64_t n = 0, same = 0, bonds = 0, residues = 0;
    bool moving = false;
    double(*xyz)[3] = NULL, (*velocity)[3] = NULL;
    if (IO_FOREIGN(api->topology_bonds_count(topology, &bonds)) != 0 ||
        IO_FOREIGN(api->topology_residues_count(topology, &residues)) != 0 ||
        IO_FOREIGN(api->frame_atoms_count(state->frame, &n)) != 0 ||
        IO_FOREIGN(api->frame_positions(state->frame, &xyz, &same)) != 0 || same != n ||
        IO_FOREIGN(api->frame_has_velocities(state->frame, &moving)) != 0 ||
        (moving && IO_FOREIGN(api->frame_velocities(state->frame, &velocity, &same)) != 0) ||
        same != n) {
        return fail_frame(frames);
    }
    IO_TRY(io__frame_alloc(frames, out, (int64_t)n, KITH_DOUBLE,
                           (moving ? IO_VELOCITIES : 0u) | (residues > 0 ? IO_MOLECULES : 0u) |
                               (bonds > 0 ? IO_BONDS : 0u) |
                               (has_weights(frames) ? IO_WEIGHTS : 0u)));
    copy_reals(&out->particles, xyz, out->particles.pos);
    if (out->particles.velocity) {
        copy_reals(&out->particles, velocity, out->particles.velocity);
    }
    if (out->molecule) {
        IO_TRY(copy_residues(frames, topology, residues, out));
    }
    if (!(out->fields & IO_BONDS)) {
        return IO_OK;
    }
    IO_TRY(io__frame_alloc_bonds(frames, out, (int64_t)bonds));
    return copy_bonds(frames, topology, out);
}

/** The `read` of io_frames_format: any frame can be read, without peek and skip. */
static io_status read_frame(io_frames *frames, io_frame *out)
{
    const chemfiles_state *state = frames->state;
    enter(frames, frames->file->path);
    if (IO_FOREIGN(state->api->trajectory_read_at(state->trajectory, (uint64_t)frames->next,
                                                  state->frame))) {
        return fail_frame(frames);
    }
    if (frames->options->boxes_only) {
        IO_TRY(io__frame_alloc(frames, out, 0, KITH_DOUBLE, 0));
        return read_cell(frames, out);
    }
    void *topology = IO_FOREIGN(state->api->topology_from_frame(state->frame));
    const io_status status = topology ? read_atoms(frames, topology, out) : fail_frame(frames);
    release(state->api, topology);
    if (status != IO_OK) {
        return status;
    }
    IO_TRY(read_cell(frames, out));
    IO_TRY(read_facts(frames, out));
    double step = 0;
    IO_TRY(get_number(frames, "time", &out->particles.time, &out->particles.has_time));
    IO_TRY(get_number(frames, "simulation_step", &step, &out->has_step));
    if (!(fabs(step) < 0x1p53)) {
        return io__file_fail(frames->file, IO_FORMAT,
                             "frame %lld: its step is %g; expected less than 2^53",
                             (long long)frames->next, step);
    }
    out->step = (int64_t)step;
    const double part = (double)(frames->next + 1) / (double)frames->count;
    return io__file_watch(frames->file, (int64_t)(part * (double)frames->file->size));
}

const io_frames_format io__frames_chemfiles = {.state = sizeof(chemfiles_state),
                                               .open = open_frames,
                                               .read = read_frame,
                                               .close = close_frames};
