/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chemical elements: their symbols, and the element of an atom in a GRO or PDB file.
 */
#ifndef KITH_IO_ELEMENTS_H
#define KITH_IO_ELEMENTS_H

#include "trajectory.h"

enum { IO_ELEMENT_LENGTH = 8 };

/** Return true when a text is the symbol of an element or of its ion: "Na", "D", "Fe3+", "O2-". */
bool io__element_known(const char *text);

/** Find the symbol of an element; the case of letters does not count: "CL" and "cl" give "Cl".
 *  @return false if the text is no symbol */
bool io__element_symbol(const char *text, char out[IO_ELEMENT_LENGTH]);

/** Return true when a residue is an amino acid or a nucleotide. An atom CA of one is a carbon, even
 *  if it is the only atom of the residue. */
bool io__element_is_polymer(const char *residue);

/** Find the element of an atom by its name and residue, as in GRO files: OW, HW1, CA, CL, NA.
 *  @param alone     the residue has no other atom: CA is calcium then, except in an amino acid
 *  @param[out] out  a symbol, or IO_VIRTUAL_SITE
 *  @return false if the element does not follow from the name */
bool io__element_of_name(const char *name, const char *residue, bool alone,
                         char out[IO_ELEMENT_LENGTH]);

/** Find the element of an atom in a line of a PDB file: from columns 77-78, else from columns
 *  13-14, the first two of the atom's name, where the symbol is right-aligned.
 *  @param[out] by_symbol  columns 77-78 hold the symbol
 *  @return false if the element does not follow from the line */
bool io__element_of_pdb(const char *line, bool *by_symbol, char out[IO_ELEMENT_LENGTH]);

#endif
