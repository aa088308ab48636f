/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chemical elements: their symbols, and which one an atom of a GRO or PDB file is of.
 */
#ifndef KITH_IO_ELEMENTS_H
#define KITH_IO_ELEMENTS_H

#include "trajectory.h"

enum { IO_ELEMENT_LENGTH = 8 };

/** Whether a text is the symbol of an element, or of its ion: "Na", "D", "Fe3+", "O2-". */
bool io__element_known(const char *text);

/** Find the symbol of an element whatever the case of the letters: "CL" and "cl" give "Cl".
 *  @return false: there is none of this name */
bool io__element_symbol(const char *text, char out[IO_ELEMENT_LENGTH]);

/** Whether a residue is an amino acid or a nucleotide: its CA is a carbon, also if it is alone. */
bool io__element_is_polymer(const char *residue);

/** Find the element by an atom's name and residue, as GRO files have them: OW, HW1, CA, CL, NA.
 *  @param alone  the residue has no other atom: CA is then calcium, unless in an amino acid
 *  @param[out] out  a symbol, or IO_VIRTUAL_SITE
 *  @return false: it does not follow */
bool io__element_of_name(const char *name, const char *residue, bool alone,
                         char out[IO_ELEMENT_LENGTH]);

/** Find the element in a line of a PDB file: columns 77-78, else the two first of the atom's name,
 *  13-14, in which the symbol ends.
 *  @param[out] said  columns 77-78 say it
 *  @return false: it does not follow */
bool io__element_of_pdb(const char *line, bool *said, char out[IO_ELEMENT_LENGTH]);

#endif
