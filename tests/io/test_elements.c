/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The element of an atom, by a symbol, by its name and residue, and by the columns of a PDB file.
 */
#include "check.h"

#include <trajectories/elements.h>
#include <stddef.h>
#include <string.h>

static void test_symbols(void)
{
    static const char *const known[] = {"Na", "D", "C", "Fe3+", "O2-", "Cl-", "Na+"};
    static const char *const unknown[] = {"",   "na",   "CL",   "Xx",   "O2",         "+",
                                          "3+", "Fe3*", "Na+x", "Na++", "Carbonates", "Xx+"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        CHECK(io__element_known(known[k]), "'%s'", known[k]);
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
        CHECK(!io__element_known(unknown[k]), "'%s'", unknown[k]);
}

static void test_names(void)
{
    static const struct {
        const char *name, *residue;
        bool alone;
        const char *element; /* NULL: it does not follow */
    } atoms[] = {{"OW", "SOL", false, "O"},
                 {"HW1", "SOL", false, "H"},
                 {"1HB", "ALA", false, "H"},
                 {"CA", "ALA", false, "C"},
                 {"CA", "ALA", true, "C"},
                 {"CA", "CA", true, "Ca"},
                 {"NA", "NA", true, "Na"},
                 {"SOD", "SOD", true, "Na"},
                 {"CLA", "CLA", true, "Cl"},
                 {"POT", "POT", true, "K"},
                 {"XE", "XE", true, "Xe"},
                 {"CL1", "LIG", false, "Cl"},
                 {"BR", "LIG", false, "Br"},
                 {"Na2", "LIG", false, "Na"},
                 {"Hx", "LIG", false, "H"},
                 {"Qa", "LIG", false, NULL},
                 {"B", "LIG", false, "B"},
                 {"BA", "LIG", false, "Ba"},
                 {"ZN", "LIG", false, "Zn"},
                 {"X", "LIG", false, NULL},
                 {"XY", "LIG", true, NULL},
                 {"12", "LIG", false, NULL},
                 {"", "", true, NULL},
                 {"MW", "SOL", false, IO_VIRTUAL_SITE},
                 {"2LP", "LIG", true, IO_VIRTUAL_SITE},
                 {"CARBONYLOXYGEN", "LIG", true, "C"}};
    for (size_t k = 0; k < sizeof atoms / sizeof *atoms; k++) {
        char out[IO_ELEMENT_LENGTH] = "";
        const bool found = io__element_of_name(atoms[k].name, atoms[k].residue, atoms[k].alone,
                                               out);
        CHECK(found == (atoms[k].element != NULL) && (!found || strcmp(out, atoms[k].element) == 0),
              "'%s' of '%s': '%s'", atoms[k].name, atoms[k].residue, out);
    }
}

/** What follows from the first 16 columns, and what from a line of 80. */
static void test_columns(void)
{
#define LINE(name, element) \
    "ATOM      1 " name " ALA A   1       1.000   2.000   3.000  1.00  0.00          " element
    static const struct {
        const char *line, *element; /* NULL: it does not follow */
        bool said;
    } lines[] = {{LINE(" CA ", " C"), "C", true},
                 {LINE(" CA ", "CA"), "Ca", true},
                 {LINE(" OD2", " O1-"), "O", true},
                 {LINE(" OD2", "O 1-"), "O", true},
                 {LINE(" CA ", "  "), "C", false},
                 {LINE(" CA ", "  1-"), "C", false},
                 {LINE(" CA ", "??"), "C", false},
                 {LINE("CA  ", ""), "Ca", false},
                 {LINE("HG21", ""), "H", false},
                 {LINE("HG  ", ""), "Hg", false},
                 {LINE("1HB ", ""), "H", false},
                 {LINE(" QX ", ""), NULL, false},
                 {LINE(" MW ", ""), IO_VIRTUAL_SITE, false},
                 {"ATOM      1  CA ", "C", false},
                 {"ATOM      1  CA", NULL, false}};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        char out[IO_ELEMENT_LENGTH] = "";
        bool said = !lines[k].said;
        const bool found = io__element_of_pdb(lines[k].line, &said, out);
        CHECK(found == (lines[k].element != NULL) && said == lines[k].said &&
                  (!found || strcmp(out, lines[k].element) == 0),
              "'%s': '%s'%s", lines[k].line, out, said ? ", said" : "");
    }
}

int main(void)
{
    test_symbols();
    test_names();
    test_columns();
    return check_done();
}
