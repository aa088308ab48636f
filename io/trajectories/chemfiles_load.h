/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library chemfiles, loaded at run time: https://chemfiles.org, `pip install chemfiles`. This
 * is the part of its C interface that is used here, of versions 0.10 and 0.11.
 */
#ifndef KITH_IO_CHEMFILES_LOAD_H
#define KITH_IO_CHEMFILES_LOAD_H

#include "core/io_internal.h"

/* X(result, name without chfl_, name in 0.10 if it differs, arguments). Objects are void *; those
   that _from_frame and _from_topology return are views, and chfl_free frees them like all
   others. */
#define CHEMFILES_FUNCTIONS(X) \
    X(const char *, version, NULL, (void)) \
    X(const char *, last_error, NULL, (void)) \
    X(int, set_warning_callback, NULL, (void (*callback)(const char *message))) \
    X(void, free, NULL, (const void *object)) \
    X(void *, trajectory_with_format, NULL, (const char *path, char mode, const char *format)) \
    X(int, trajectory_topology_file, NULL, (void *t, const char *path, const char *format)) \
    X(int, trajectory_size, "chfl_trajectory_nsteps", (void *t, uint64_t *frames)) \
    X(int, trajectory_read_at, "chfl_trajectory_read_step", (void *t, uint64_t at, void *frame)) \
    X(void, trajectory_close, NULL, (const void *t)) \
    X(int, guess_format, NULL, (const char *path, char *format, uint64_t room)) \
    X(void *, frame, NULL, (void)) \
    X(int, frame_atoms_count, NULL, (const void *frame, uint64_t *n)) \
    X(int, frame_positions, NULL, (void *frame, double(**xyz)[3], uint64_t *n)) \
    X(int, frame_velocities, NULL, (void *frame, double(**xyz)[3], uint64_t *n)) \
    X(int, frame_has_velocities, NULL, (const void *frame, bool *has)) \
    X(void *, frame_get_property, NULL, (const void *frame, const char *name)) \
    X(int, property_get_double, NULL, (const void *property, double *value)) \
    X(int, property_get_string, NULL, (const void *property, char *text, uint64_t room)) \
    X(void *, cell_from_frame, NULL, (void *frame)) \
    X(int, cell_matrix, NULL, (const void *cell, double rows[3][3])) \
    X(void *, atom_from_frame, NULL, (void *frame, uint64_t at)) \
    X(int, atom_type, NULL, (const void *atom, char *text, uint64_t room)) \
    X(int, atom_name, NULL, (const void *atom, char *text, uint64_t room)) \
    X(int, atom_mass, NULL, (const void *atom, double *mass)) \
    X(int, atom_charge, NULL, (const void *atom, double *charge)) \
    X(void *, topology_from_frame, NULL, (const void *frame)) \
    X(int, topology_bonds_count, NULL, (const void *topology, uint64_t *n)) \
    X(int, topology_bonds, NULL, (const void *topology, uint64_t(*ij)[2], uint64_t n)) \
    X(int, topology_residues_count, NULL, (const void *topology, uint64_t *n)) \
    X(void *, atom, NULL, (const char *name)) \
    X(int, residue_name, NULL, (const void *residue, char *text, uint64_t room)) \
    X(void *, residue_from_topology, NULL, (const void *topology, uint64_t at)) \
    X(int, residue_atoms_count, NULL, (const void *residue, uint64_t *n)) \
    X(int, residue_atoms, NULL, (const void *residue, uint64_t *atoms, uint64_t n))

#define CHEMFILES_MEMBER(result, name, older, arguments) result(*name) arguments;

/** Pointers to the functions of the library, a member for each of CHEMFILES_FUNCTIONS. */
typedef struct io_chemfiles {
    CHEMFILES_FUNCTIONS(CHEMFILES_MEMBER)
    bool columns; /* the vectors of a cell are the columns of its matrix, as in 0.10; else its
                    rows */
} io_chemfiles;

/** Find and load the library, once in a process. Thread-safe.
 *  @param else_do  what to do instead of installing it, for the message: "" or ", or ..."
 *  @return IO_UNSUPPORTED if it is not found, with what to install */
io_status io__chemfiles_load(io_file *file, const char *else_do, const io_chemfiles **out);

#endif
