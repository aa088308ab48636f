/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library with the C interface of chemfiles 0.11, as far as kith uses it. It gives two frames of
 * one water molecule, whatever file is opened. One of its calls can be made to fail. The objects
 * that it makes are counted, so that a test sees those that are not freed.
 */
#include "fake_chemfiles.h"

#include <trajectories/chemfiles_load.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ATOMS = 3, FRAMES = 2 };

/* Every function that io/trajectories/chemfiles_load.h lists, with its default visibility. */
#define DECLARE(result, name, older, arguments) \
    __attribute__((visibility("default"))) result chfl_##name arguments;
CHEMFILES_FUNCTIONS(DECLARE)

__attribute__((visibility("default"))) fake_chemfiles fake_chemfiles_state = {.fail_at = -1};
static fake_chemfiles *const fake = &fake_chemfiles_state;

static double positions[ATOMS][3], velocities[ATOMS][3];
static char objects[ATOMS]; /* an object is the address of the one with its number */
static double step;         /* the frame read last */

static int fails(void)
{
    return fake->calls++ == fake->fail_at;
}

static void *make(uint64_t number)
{
    if (fails())
        return NULL;
    fake->live++;
    return &objects[number];
}

static int set_count(uint64_t *out, uint64_t value)
{
    *out = value;
    return fails();
}

static int set_real(double *out, double value)
{
    *out = value;
    return fails();
}

const char *chfl_version(void)
{
    return "0.11-fake";
}

const char *chfl_last_error(void)
{
    return "the fake failed";
}

int chfl_set_warning_callback(void (*callback)(const char *message))
{
    callback("a warning that kith does not show");
    return 0;
}

void chfl_free(const void *object)
{
    fake->live -= object != NULL;
}

void *chfl_trajectory_with_format(const char *path, char mode, const char *format)
{
    return path && mode == 'r' && format ? make(0) : NULL;
}

int chfl_trajectory_topology_file(void *t, const char *path, const char *format)
{
    return fails() || !t || !path || !format;
}

int chfl_trajectory_size(void *t, uint64_t *frames)
{
    return set_count(frames, FRAMES) || !t;
}

int chfl_trajectory_read_at(void *t, uint64_t at, void *frame)
{
    for (int p = 0; p < ATOMS; p++)
        for (int axis = 0; axis < 3; axis++) {
            positions[p][axis] = (double)(100 * at) + 10 * p + axis;
            velocities[p][axis] = -positions[p][axis];
        }
    step = (double)at;
    return fails() || !t || !frame;
}

void chfl_trajectory_close(const void *t)
{
    chfl_free(t);
}

int chfl_guess_format(const char *path, char *format, uint64_t room)
{
    snprintf(format, (size_t)room, "%s",
             fake->format           ? fake->format
             : strstr(path, ".pdb") ? "PDB"
                                    : "DCD");
    return fails();
}

void *chfl_frame(void)
{
    return make(0);
}

int chfl_frame_atoms_count(const void *frame, uint64_t *n)
{
    return set_count(n, ATOMS) || !frame;
}

int chfl_frame_positions(void *frame, double (**xyz)[3], uint64_t *n)
{
    *xyz = positions;
    return set_count(n, fake->positions ? fake->positions : ATOMS) || !frame;
}

int chfl_frame_velocities(void *frame, double (**xyz)[3], uint64_t *n)
{
    *xyz = velocities;
    return set_count(n, ATOMS) || !frame;
}

int chfl_frame_has_velocities(const void *frame, bool *has)
{
    *has = true;
    return fails() || !frame;
}

void *chfl_frame_get_property(const void *frame, const char *name)
{
    return frame ? make(strcmp(name, "time") == 0) : NULL;
}

int chfl_property_get_double(const void *property, double *value)
{
    return set_real(value, property == &objects[1] ? step / 2 : fake->step ? fake->step : step);
}

int chfl_property_get_string(const void *property, char *text, uint64_t room)
{
    snprintf(text, (size_t)room, "real");
    return fails() || !property;
}

void *chfl_cell_from_frame(void *frame)
{
    return frame ? make(0) : NULL;
}

int chfl_cell_matrix(const void *cell, double rows[3][3])
{
    memcpy(rows, (double[3][3]){{10, 0, 0}, {2, 11, 0}, {1e-15, 3, 12}}, sizeof(double[3][3]));
    return fails() || !cell;
}

void *chfl_atom_from_frame(void *frame, uint64_t at)
{
    return frame ? make(at) : NULL;
}

int chfl_atom_type(const void *atom, char *text, uint64_t room)
{
    static const char *const usual[ATOMS] = {"O", "H", ""};
    const ptrdiff_t number = (const char *)atom - objects;
    snprintf(text, room, "%s", (fake->type ? fake->type : usual)[number]);
    return fails();
}

int chfl_atom_name(const void *atom, char *text, uint64_t room)
{
    static const char *const usual[ATOMS] = {"O0", "H1", "H2"};
    const ptrdiff_t number = (const char *)atom - objects;
    snprintf(text, room, "%s", (fake->name ? fake->name : usual)[number]);
    return fails();
}

int chfl_atom_mass(const void *atom, double *mass)
{
    return set_real(mass, fake->massless ? 0 : atom == &objects[0] ? 16 : 1);
}

int chfl_atom_charge(const void *atom, double *charge)
{
    return set_real(charge, atom == &objects[0] ? -0.8 : 0.4);
}

void *chfl_atom(const char *name)
{
    return make(*name == 'O' ? 0 : 1);
}

void *chfl_topology_from_frame(const void *frame)
{
    return frame ? make(0) : NULL;
}

int chfl_topology_bonds_count(const void *topology, uint64_t *n)
{
    return set_count(n, 2) || !topology;
}

int chfl_topology_bonds(const void *topology, uint64_t (*ij)[2], uint64_t n)
{
    memcpy(ij, (uint64_t[2][2]){{0, 1}, {0, fake->bonded ? fake->bonded : 2}},
           (size_t)n * sizeof *ij);
    return fails() || !topology;
}

int chfl_topology_residues_count(const void *topology, uint64_t *n)
{
    return set_count(n, 1) || !topology;
}

void *chfl_residue_from_topology(const void *topology, uint64_t at)
{
    return topology ? make(at) : NULL;
}

int chfl_residue_name(const void *residue, char *text, uint64_t room)
{
    snprintf(text, (size_t)room, "%s", fake->residue ? fake->residue : "HOH");
    return fails() || !residue;
}

int chfl_residue_atoms_count(const void *residue, uint64_t *n)
{
    return set_count(n, fake->members ? fake->members : 2) || !residue;
}

int chfl_residue_atoms(const void *residue, uint64_t *atoms, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++)
        atoms[k] = k;
    return fails() || !residue;
}
