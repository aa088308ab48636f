/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames through chemfiles. It hands out doubles, lengths in Angstrom, and objects for each atom,
 * whose names are asked for once where the format cannot change them.
 */
#include "chemfiles_load.h"
#include "frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct chemfiles_state {
    const io_chemfiles *api;
    void *trajectory, *frame;
    bool constant;    /* the format has no names, or those of a topology file */
    int64_t told;     /* atoms that those below are of */
    int32_t *species; /* [told] */
    double *weight;   /* [told], where they are asked for */
} chemfiles_state;

static io_status fail(io_frames *frames, const char *what)
{
    const chemfiles_state *state = frames->state;
    return io__file_fail(frames->file, IO_FORMAT, "%s: chemfiles %.32s says: %s", what,
                         state->api->version(), state->api->last_error());
}

/** fail about frame `next`. */
static io_status fail_frame(io_frames *frames)
{
    char what[64];
    snprintf(what, sizeof what, "frame %lld cannot be read", (long long)frames->next);
    return fail(frames, what);
}

static io_status open_trajectory(io_frames *frames, const char *format)
{
    chemfiles_state *state = frames->state;
    const io_chemfiles *api = state->api;
    const char *topology = frames->options->topology;
    uint64_t count = 0;
    state->trajectory = api->trajectory_with_format(frames->file->path, 'r', format);
    if (!state->trajectory)
        return fail(frames, "cannot be opened");
    if (topology && api->trajectory_topology_file(state->trajectory, topology, "") != 0) {
        char what[256];
        snprintf(what, sizeof what, "the topology %.200s cannot be used", topology);
        return fail(frames, what);
    }
    if (api->trajectory_size(state->trajectory, &count) != 0)
        return fail(frames, "its frames cannot be counted");
    state->frame = api->frame();
    if (!state->frame)
        return fail(frames, "no memory for a frame");
    frames->count = (int64_t)count;
    return IO_OK;
}

static io_status open_frames(io_frames *frames)
{
    char head[IO_HEAD + 1];
    const int64_t size = frames->file->size < IO_HEAD ? frames->file->size : IO_HEAD;
    chemfiles_state *state = frames->state;
    IO_TRY(io__file_read(frames->file, head, size, 0));
    head[size] = 0;
    const io_chemfiles_kind *kind = io__chemfiles_kind(head, size);
    if (!kind)
        return io__file_fail(frames->file, IO_FORMAT, "changes while it is read");
    IO_TRY(io__chemfiles_load(frames->file,
                              kind->packed ? ", or unpack the file (gunzip, bunzip2, unxz)" : "",
                              &state->api));
    state->constant = kind->nameless || frames->options->topology != NULL;
    snprintf(frames->description, sizeof frames->description, "%s, by chemfiles %.32s", kind->name,
             state->api->version());
    return open_trajectory(frames, kind->format);
}

static void close_frames(io_frames *frames)
{
    chemfiles_state *state = frames->state;
    if (state->frame)
        state->api->free(state->frame);
    if (state->trajectory)
        state->api->trajectory_close(state->trajectory);
    free(state->species);
    free(state->weight);
}

static void copy_reals(const io_particles *particles, double (*from)[3], void *to)
{
    for (int64_t p = 0; p < particles->n; p++)
        for (int axis = 0; axis < 3; axis++)
            io_put_real(to, 3 * p + axis, particles->precision, from[p][axis]);
}

/** Tilts that are but the rounding of the cosine of a right angle are none. */
static double tilt(double along, double length)
{
    return fabs(along) > 1e-10 * fabs(length) ? along : 0;
}

static io_status read_cell(io_frames *frames, io_frame *out)
{
    const chemfiles_state *state = frames->state;
    double matrix[3][3];
    void *cell = state->api->cell_from_frame(state->frame);
    const bool done = cell && state->api->cell_matrix(cell, matrix) == 0;
    state->api->free(cell);
    if (!done)
        return fail_frame(frames);
    kith_box *box = &out->particles.box;
    *box = (kith_box){.periodic = {1, 1, 1}, .dim = 3};
    for (int row = 0; row < 3; row++)
        for (int axis = 0; axis < 3; axis++)
            box->row[row][axis] = tilt(state->api->columns ? matrix[axis][row] : matrix[row][axis],
                                       matrix[row][row]);
    out->particles.has_box = true; /* an infinite cell is all zeros */
    return IO_OK;
}

/** A number that belongs to the frame. @return whether it is there. */
static bool get_number(const chemfiles_state *state, const char *name, double *out)
{
    void *property = state->api->frame_get_property(state->frame, name);
    const bool found = property && state->api->property_get_double(property, out) == 0;
    state->api->free(property);
    return found;
}

/** Tell what an atom is. @param weight  NULL: nobody asks */
static io_status tell_atom(io_frames *frames, int64_t p, int32_t *species, double *weight)
{
    const chemfiles_state *state = frames->state;
    const io_chemfiles *api = state->api;
    const io_label label = frames->options->label;
    char text[IO_NAME_LENGTH] = "";
    void *atom = api->atom_from_frame(state->frame, (uint64_t)p);
    bool done = atom != NULL;
    if (done && label != IO_LABEL_NAME)
        done = api->atom_type(atom, text, sizeof text) == 0;
    if (done && (label == IO_LABEL_NAME || (label == IO_LABEL_ANY && !text[0])))
        done = api->atom_name(atom, text, sizeof text) == 0;
    if (done && weight)
        done = (strcmp(frames->options->weights, "mass") == 0
                    ? api->atom_mass(atom, weight)
                    : api->atom_charge(atom, weight)) == 0;
    api->free(atom);
    if (!done)
        return fail_frame(frames);
    return io__labels_number(frames->file, &frames->labels, (io_token){text, strlen(text)},
                             species);
}

/** Species, and weights where they are asked for. */
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
        if (!state->species || !state->weight)
            return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for %lld particles",
                                 (long long)n);
        for (int64_t p = 0; p < n; p++)
            IO_TRY(
                tell_atom(frames, p, &state->species[p], out->weight ? &state->weight[p] : NULL));
        state->told = n;
    }
    memcpy(out->species, state->species, (size_t)n * sizeof *out->species);
    if (out->weight)
        memcpy(out->weight, state->weight, (size_t)n * sizeof *out->weight);
    return IO_OK;
}

/** Whether atoms have a number of that name. */
static bool has_weights(const io_frames *frames)
{
    const char *name = frames->options->weights;
    return name && (strcmp(name, "mass") == 0 || strcmp(name, "charge") == 0);
}

static bool copy_bonds(const io_chemfiles *api, const void *topology, io_frame *out)
{
    uint64_t(*ij)[2] = malloc(((size_t)out->n_bonds + 1) * sizeof *ij);
    bool done = ij && api->topology_bonds(topology, ij, (uint64_t)out->n_bonds) == 0;
    for (int64_t k = 0; k < out->n_bonds && done; k++)
        for (int end = 0; end < 2; end++) {
            out->bond[2 * k + end] = (int32_t)ij[k][end];
            done = ij[k][end] < (uint64_t)out->particles.n;
        }
    free(ij);
    return done;
}

/** Give the atoms of residue k this number. */
static bool copy_residue(const io_chemfiles *api, const void *topology, uint64_t k, io_frame *out)
{
    uint64_t n = 0;
    void *residue = api->residue_from_topology(topology, k);
    bool done = residue && api->residue_atoms_count(residue, &n) == 0;
    uint64_t *atoms = done ? malloc((size_t)(n + 1) * sizeof *atoms) : NULL;
    done = atoms && api->residue_atoms(residue, atoms, n) == 0;
    for (uint64_t a = 0; a < n && done; a++)
        if (atoms[a] < (uint64_t)out->particles.n)
            out->molecule[atoms[a]] = (int32_t)k;
    free(atoms);
    api->free(residue);
    return done;
}

static bool copy_residues(const io_chemfiles *api, const void *topology, uint64_t residues,
                          io_frame *out)
{
    bool done = true;
    for (int64_t p = 0; p < out->particles.n; p++)
        out->molecule[p] = -1;
    for (uint64_t k = 0; k < residues && done; k++)
        done = copy_residue(api, topology, k, out);
    return done;
}

/** Read the atoms that a topology describes. */
static io_status read_atoms(io_frames *frames, const void *topology, io_frame *out)
{
    const chemfiles_state *state = frames->state;
    const io_chemfiles *api = state->api;
    uint64_t n = 0, same = 0, bonds = 0, residues = 0;
    bool moving = false;
    double(*xyz)[3] = NULL, (*velocity)[3] = NULL;
    if (api->topology_bonds_count(topology, &bonds) != 0 ||
        api->topology_residues_count(topology, &residues) != 0 ||
        api->frame_atoms_count(state->frame, &n) != 0 ||
        api->frame_positions(state->frame, &xyz, &same) != 0 || same != n ||
        api->frame_has_velocities(state->frame, &moving) != 0 ||
        (moving && api->frame_velocities(state->frame, &velocity, &same) != 0) || same != n)
        return fail_frame(frames);
    IO_TRY(io__frame_alloc(frames, out, (int64_t)n, KITH_DOUBLE,
                           (moving ? IO_VELOCITIES : 0u) | (residues > 0 ? IO_MOLECULES : 0u) |
                               (bonds > 0 ? IO_BONDS : 0u) |
                               (has_weights(frames) ? IO_WEIGHTS : 0u)));
    copy_reals(&out->particles, xyz, out->particles.pos);
    if (out->particles.velocity)
        copy_reals(&out->particles, velocity, out->particles.velocity);
    if (out->molecule && !copy_residues(api, topology, residues, out))
        return fail_frame(frames);
    if (!(out->fields & IO_BONDS))
        return IO_OK;
    IO_TRY(io__frame_alloc_bonds(frames, out, (int64_t)bonds));
    return copy_bonds(api, topology, out) ? IO_OK : fail_frame(frames);
}

static io_status read_frame(io_frames *frames, io_frame *out)
{
    const chemfiles_state *state = frames->state;
    if (state->api->trajectory_read_at(state->trajectory, (uint64_t)frames->next, state->frame))
        return fail_frame(frames);
    void *topology = state->api->topology_from_frame(state->frame);
    const io_status status = topology ? read_atoms(frames, topology, out) : fail_frame(frames);
    state->api->free(topology);
    if (status != IO_OK)
        return status;
    IO_TRY(read_cell(frames, out));
    IO_TRY(read_facts(frames, out));
    double step = 0;
    out->particles.has_time = get_number(state, "time", &out->particles.time);
    out->has_step = get_number(state, "simulation_step", &step) && fabs(step) < 0x1p53;
    out->step = out->has_step ? (int64_t)step : 0;
    const double part = (double)(frames->next + 1) / (double)frames->count;
    return io__file_watch(frames->file, (int64_t)(part * (double)frames->file->size));
}

const io_frames_format io__frames_chemfiles = {.state = sizeof(chemfiles_state),
                                               .open = open_frames,
                                               .read = read_frame,
                                               .close = close_frames};
