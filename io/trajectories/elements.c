/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding elements by symbol, by the name of an atom, and by the columns of PDB.
 *
 * An atom's name begins with the symbol of its element, which is ambiguous: CA is an alpha carbon
 * in an amino acid and calcium as an ion. In a residue of several atoms the first letter is the
 * symbol if it is that of an element of molecules (C, H, N, O, P, S, ...), unless the first two
 * letters are CL, BR, FE or another symbol of `two_letters`. An atom alone in its residue is an
 * ion, whose whole name is the symbol.
 * https://www.wwpdb.org/documentation/file-format-content/format33/sect9.html
 */
#include "elements.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST_LETTERS = 8 }; /* size of a buffer for the letters of a name or a symbol [byte] */

bool io__element_symbol(const char *text, char out[IO_ELEMENT_LENGTH])
{
    static const char *const symbols[] = {
        "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",
        "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn",
        "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh",
        "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd",
        "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re",
        "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th",
        "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "D"};
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        if (strcasecmp(text, symbols[k]) == 0) {
            snprintf(out, IO_ELEMENT_LENGTH, "%s", symbols[k]);
            return true;
        }
    }
    return false;
}

bool io__element_known(const char *text)
{
    char symbol[MOST_LETTERS] = "", found[IO_ELEMENT_LENGTH];
    size_t length = 0;
    for (; isalpha((unsigned char)text[length]) && length < sizeof symbol - 1; length++) {
        symbol[length] = text[length];
    }
    const char *charge = text + length + strspn(text + length, "0123456789");
    const bool ion = (*charge == '+' || *charge == '-') && charge[1] == 0;
    return (ion || !text[length]) && io__element_symbol(symbol, found) &&
           strcmp(symbol, found) == 0;
}

/** Return true when a word is in a list. @param list  ends with NULL */
static bool is_one_of(const char *word, const char *const *list)
{
    while (*list && strcmp(word, *list) != 0) {
        list++;
    }
    return *list != NULL;
}

/** Copy the letters that a name begins with, in capitals. Leading digits, which names of hydrogens
 *  have, are skipped. */
static void take_letters(const char *name, char out[MOST_LETTERS])
{
    size_t n = 0;
    name += strspn(name, "0123456789 ");
    for (; isalpha((unsigned char)name[n]) && n < MOST_LETTERS - 1; n++) {
        out[n] = (char)toupper((unsigned char)name[n]);
    }
    out[n] = 0;
}

/** Return true when a name is that of a virtual site: of a water model, a lone pair, or a mass of a
 *  rigid group in GROMACS. */
static bool is_virtual(const char *letters)
{
    static const char *const sites[] = {"M",  "MW",  "EP",  "EPW", "LP", "LPA",
                                        "VS", "DUM", "MCH", "MNH", NULL};
    return is_one_of(letters, sites);
}

bool io__element_is_polymer(const char *residue)
{
    static const char *const names[] = {
        "ALA", "ARG", "ASN", "ASP", "CYS", "GLN", "GLU", "GLY", "HIS", "HID", "HIE", "HIP",
        "HSD", "HSE", "HSP", "ILE", "LEU", "LYS", "MET", "MSE", "PHE", "PRO", "SER", "THR",
        "TRP", "TYR", "VAL", "DA",  "DC",  "DG",  "DT",  "A",   "C",   "G",   "U",   NULL};
    return is_one_of(residue, names);
}

/** Find the element of an ion or a rare gas: by its symbol, or by its name in CHARMM. */
static bool find_ion(const char *letters, char out[IO_ELEMENT_LENGTH])
{
    static const char *const charmm[][2] = {{"SOD", "Na"}, {"CLA", "Cl"}, {"POT", "K"},
                                            {"CAL", "Ca"}, {"CES", "Cs"}, {"LIT", "Li"},
                                            {"RUB", "Rb"}, {"BAR", "Ba"}, {"CAD", "Cd"}};
    for (size_t k = 0; k < sizeof charmm / sizeof *charmm; k++) {
        if (strcmp(letters, charmm[k][0]) == 0) {
            snprintf(out, IO_ELEMENT_LENGTH, "%s", charmm[k][1]);
            return true;
        }
    }
    return io__element_symbol(letters, out);
}

bool io__element_of_name(const char *name, const char *residue, bool alone,
                         char out[IO_ELEMENT_LENGTH])
{
    static const char *const two_letters[] = {"CL", "BR", "FE", "SI", "SE", "CU", NULL};
    char letters[MOST_LETTERS], start[3] = "";
    take_letters(name, letters);
    memcpy(start, letters, letters[0] ? 2 : 0);
    if (is_virtual(letters)) {
        snprintf(out, IO_ELEMENT_LENGTH, "%s", IO_VIRTUAL_SITE);
        return true;
    }
    if (alone && !io__element_is_polymer(residue) && find_ion(letters, out)) {
        return true;
    }
    const char *plain = name + strspn(name, "0123456789 ");
    /* A capital and a small letter, "Na", are a symbol of two letters; "NA" is ambiguous. */
    const bool mixed = isupper((unsigned char)plain[0]) && islower((unsigned char)plain[1]);
    if ((mixed || is_one_of(start, two_letters)) && io__element_symbol(start, out)) {
        return true;
    }
    if (start[0] && (strchr("HCNOFPSIKD", start[0]) || strcmp(letters, "B") == 0)) {
        start[1] = 0;
        return io__element_symbol(start, out);
    }
    return start[1] && io__element_symbol(start, out);
}

bool io__element_of_pdb(const char *line, bool *by_symbol, char out[IO_ELEMENT_LENGTH])
{
    enum { NAME = 12, NAME_END = 16, SYMBOL = 76, SYMBOL_END = 78 };
    const size_t length = strlen(line);
    *by_symbol = false;
    if (length >= SYMBOL_END) {
        const char *at = line + SYMBOL + strspn(line + SYMBOL, " ");
        char text[3] = "";
        memcpy(text, at, at < line + SYMBOL_END ? (size_t)(line + SYMBOL_END - at) : 0);
        text[strcspn(text, " ")] = 0;
        *by_symbol = io__element_symbol(text, out);
        if (*by_symbol) {
            return true;
        }
    }
    if (length < NAME_END) {
        return false;
    }
    char name[NAME_END - NAME + 1] = "", letters[MOST_LETTERS];
    memcpy(name, line + NAME, NAME_END - NAME);
    take_letters(name, letters);
    /* The symbol ends in column 14, except where the name of a hydrogen has four letters: HG21. */
    const bool hydrogen = name[0] == 'H' && name[3] != ' ';
    const bool one_letter = hydrogen || !isalpha((unsigned char)name[0]);
    /* A symbol of one letter is in column 14: name[1], as one_letter is 1. */
    char start[3] = {hydrogen ? 'H' : name[one_letter], one_letter ? 0 : name[1]};
    if (!is_virtual(letters)) {
        return io__element_symbol(start, out);
    }
    snprintf(out, IO_ELEMENT_LENGTH, "%s", IO_VIRTUAL_SITE);
    return true;
}
