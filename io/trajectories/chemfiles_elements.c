/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The elements of atoms that chemfiles names. An atom's type in chemfiles is the element of CIF and
 * of columns 77-78 of PDB, but the atom's name in GRO and in PDB files without these columns: there
 * the element follows from columns 13-14, or from the name and the residue.
 */
#include "chemfiles_elements.h"

#include "elements.h"
#include "core/foreign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 200, NAME = 16 };

/** An ATOM or HETATM line of the first model of a PDB file. */
typedef struct pdb_atom {
    char name[NAME];
    bool found, said; /* the element below is known; from columns 77-78 */
    char element[IO_ELEMENT_LENGTH];
} pdb_atom;

/** What names atoms. */
typedef struct naming {
    const io_chemfiles *api;
    void *frame;
    int64_t n;
    int32_t *residue;    /* [n] -1: none */
    int32_t *members;    /* [residues] atoms of each */
    char (*name)[NAME];  /* [residues] */
    int64_t n_pdb, room; /* atoms that pdb has, 0: not a PDB file, or a packed one */
    pdb_atom *pdb;
    char unknown[MOST_NAMES]; /* names whose element does not follow */
} naming;

io_naming io__chemfiles_naming(const io_chemfiles *api, const char *path, const char *format)
{
    char name[64] = "";
    snprintf(name, sizeof name, "%s", format);
    if (!name[0] && IO_FOREIGN(api->guess_format(path, name, sizeof name)) != 0) {
        return IO_NAMED_BY_NAME;
    }
    return strncmp(name, "PDB", 3) == 0   ? IO_NAMED_BY_PDB
           : strncmp(name, "GRO", 3) == 0 ? IO_NAMED_BY_NAME
                                          : IO_NAMED_BY_TYPE;
}

/** Add a word to a list in a text, once, as far as there is room. */
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

/** Keep what a line of a PDB file says. */
static bool add_line(naming *a, const char *line)
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
    *atom = (pdb_atom){.said = false};
    snprintf(atom->name, sizeof atom->name, "%.*s", (int)strcspn(field + begin, " "),
             field + begin);
    atom->found = io__element_of_pdb(line, &atom->said, atom->element);
    return true;
}

/** Read the first model of a PDB file. */
static io_status read_pdb(io_file *owner, const char *path, naming *a)
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

/** Note the residue of each of its atoms. @return IO_OK, IO_NO_MEMORY, or IO_FORMAT: chemfiles
 *  refused */
static io_status take_residue(naming *a, const void *topology, int32_t k)
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

static io_status take_residues(io_file *file, naming *a)
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

/** The element of an atom of this name and type. @param[out] guessed  it follows from the name */
static bool find_element(const naming *a, io_naming by, int64_t p, const char *name,
                         const char *type, bool *guessed, char out[IO_ELEMENT_LENGTH])
{
    *guessed = false;
    const bool typed = by == IO_NAMED_BY_TYPE || strcmp(name, type) != 0;
    if (typed && io__element_symbol(type, out)) {
        return true;
    }
    const pdb_atom *pdb = p < a->n_pdb && strcmp(a->pdb[p].name, name) == 0 ? &a->pdb[p] : NULL;
    const int32_t residue = a->residue[p];
    const char *of = residue >= 0 ? a->name[residue] : "";
    const bool alone = residue < 0 || a->members[residue] == 1;
    *guessed = !(pdb && pdb->said);
    if (pdb && pdb->found && (pdb->said || !io__element_is_polymer(of))) {
        snprintf(out, IO_ELEMENT_LENGTH, "%s", pdb->element);
        return true;
    }
    return io__element_of_name(name, of, alone, out);
}

static io_status find_elements(io_frames *frames, naming *a, io_naming by,
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

io_status io__chemfiles_elements(io_frames *frames, const io_chemfiles *api, void *frame,
                                 io_naming by, const char *path, int64_t n,
                                 char (*out)[IO_ELEMENT_LENGTH])
{
    naming a = {.api = api, .frame = frame, .n = n};
    io_status status = by == IO_NAMED_BY_PDB ? read_pdb(frames->file, path, &a) : IO_OK;
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
