/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The elements of atoms that chemfiles names.
 */
#ifndef KITH_IO_CHEMFILES_ELEMENTS_H
#define KITH_IO_CHEMFILES_ELEMENTS_H

#include "chemfiles_load.h"
#include "elements.h"
#include "frames.h"

/** Where elements come from in a format. */
typedef enum io_naming {
    IO_NAMED_BY_TYPE, /**< chemfiles' type of an atom is its element */
    IO_NAMED_BY_PDB,  /**< so it is, unless it is the name: columns 13-14 of the file tell */
    IO_NAMED_BY_NAME  /**< names alone */
} io_naming;

/** Where elements come from in a file. @param format  chemfiles' name of its format; "": by path */
io_naming io__chemfiles_naming(const io_chemfiles *api, const char *path, const char *format);

/** Find the element of each atom of a frame. IO_INVALID where an element does not follow; elements
 *  that follow from names are listed in frames->guessed.
 *  @param path      the file that names the atoms
 *  @param[out] out  [n] symbols, or IO_VIRTUAL_SITE */
io_status io__chemfiles_elements(io_frames *frames, const io_chemfiles *api, void *frame,
                                 io_naming by, const char *path, int64_t n,
                                 char (*out)[IO_ELEMENT_LENGTH]);

#endif
