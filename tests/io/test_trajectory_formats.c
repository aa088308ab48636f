/* SPDX-License-Identifier: BSD-3-Clause
 *
 * LAMMPS dumps and GSD files in all their variants, made here, read as the numbers put in.
 */
#include "check.h"
#include "io_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned all_fields = IO_VELOCITIES | IO_FORCES | IO_IDS | IO_MOLECULES | IO_BONDS;

static io_trajectory *open_text(const char *text, io_label label)
{
    bytes b = {0};
    bytes_add(&b, text, strlen(text));
    const io_trajectory_options options = {.read.fields = all_fields, .label = label};
    io_trajectory *t = frames_open(bytes_save(&b, "dump", b.n), &options);
    free(b.data);
    return t;
}

static bool is_at(const io_frame *f, int64_t p, double x, double y, double z)
{
    const io_particles *particles = &f->particles;
    return fabs(files_at(particles, p, 0) - x) < 1e-14 &&
           fabs(files_at(particles, p, 1) - y) < 1e-14 &&
           fabs(files_at(particles, p, 2) - z) < 1e-14;
}

static bool is_box(const io_frame *f, const kith_box *exact)
{
    bool same = f->particles.has_box && f->particles.box.dim == exact->dim;
    for (int axis = 0; axis < 3; axis++) {
        same = same && fabs(f->particles.box.origin[axis] - exact->origin[axis]) < 1e-14 &&
               f->particles.box.periodic[axis] == exact->periodic[axis];
        for (int row = 0; row < 3; row++)
            same = same && fabs(f->particles.box.row[row][axis] - exact->row[row][axis]) < 1e-14;
    }
    return same;
}

/** Frames that differ in columns, order, boxes and numbers of atoms. */
static void test_dump(void)
{
    io_trajectory *t = open_text("ITEM: UNITS\nlj\nITEM: TIME\n0.25\nITEM: TIMESTEP\n7\n"
                                 "ITEM: NUMBER OF ATOMS\n2\n"
                                 "ITEM: BOX BOUNDS pp ff sm\n-1 4\n0 6e0\n1 8\n"
                                 "ITEM: ATOMS id mol type x y z vx vy vz fx fy fz q\n"
                                 "9 3 2 0 1 2 3 4 5 6 7 8 extra\n4 0 1 -1 -2 -3 0 0 0 0 0 -9 x y\n"
                                 "ITEM: TIMESTEP\n8\nITEM: NUMBER OF ATOMS\n0\n"
                                 "ITEM: BOX BOUNDS\n0 1\n0 1\n0 1\nITEM: ATOMS x y z \n"
                                 "ITEM: TIMESTEP\n9\nITEM: NUMBER OF ATOMS\n1\n"
                                 "ITEM: BOX BOUNDS pp pp pp\n-1 3\n0 2\n2 10\n"
                                 "ITEM: ATOMS zs element xs ys type\n0.75 Si 0.5 0.25 5\n\n",
                                 IO_LABEL_ANY);
    const kith_box first = {{-1, 0, 1}, {{5}, {0, 6}, {0, 0, 7}}, {1, 0, 0}, 3};
    const kith_box last = {{-1, 0, 2}, {{4}, {0, 2}, {0, 0, 8}}, {1, 1, 1}, 3};
    const io_frame *f = frames_next(t, false);
    CHECK(f && f->step == 7 && f->particles.has_time && f->particles.time == 0.25 &&
              is_at(f, 0, 0, 1, 2) && is_at(f, 1, -1, -2, -3) && is_box(f, &first),
          "frame 0");
    CHECK(f && strcmp(frames_species(f, 0), "2") == 0 && strcmp(frames_species(f, 1), "1") == 0 &&
              f->molecule[0] == 3 && f->molecule[1] == -1 && f->particles.id[0] == 9 &&
              frames_real(f, f->particles.velocity, 1) == 4 && frames_real(f, f->force, 5) == -9,
          "fields of frame 0");
    f = frames_next(t, false);
    CHECK(f && f->step == 8 && !f->particles.has_time && f->particles.n == 0 && !f->force &&
              f->particles.box.periodic[1] == 1,
          "frame 1");
    f = frames_next(t, false);
    CHECK(f && f->step == 9 && is_at(f, 0, 1, 0.5, 8) && is_box(f, &last) &&
              strcmp(frames_species(f, 0), "Si") == 0,
          "frame 2");
    frames_next(t, true);
    io_trajectory_close(t);
}

/** Bounds of a slanted box, also with tilts that point back; the newer rows and origin; unwrapped
 *  coordinates. */
static void test_dump_boxes(void)
{
    io_trajectory *t = open_text("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\n"
                                 "ITEM: BOX BOUNDS xy xz yz pp pp pp\n-1 7 -2\n0.5 6 1\n2 5 -1.5\n"
                                 "ITEM: ATOMS xsu ysu zsu\n0.5 1 2\n"
                                 "ITEM: TIMESTEP\n1\nITEM: NUMBER OF ATOMS\n1\n"
                                 "ITEM: BOX BOUNDS abc origin pp ff pp\n4 0 0 -1\n1 5 0 -2\n"
                                 "2 3 6 -3\nITEM: ATOMS type xu yu zu\n1 90 80 70\n",
                                 IO_LABEL_ANY);
    /* xlo = -1 - min(0, -2, 1, -1) = 1, xhi = 7 - max(...) = 6; ylo = 0.5 + 1.5, yhi = 6 */
    const kith_box slanted = {{1, 2, 2}, {{5}, {-2, 4}, {1, -1.5, 3}}, {1, 1, 1}, 3};
    const kith_box general = {{-1, -2, -3}, {{4}, {1, 5}, {2, 3, 6}}, {1, 0, 1}, 3};
    const io_frame *f = frames_next(t, false);
    CHECK(f && is_box(f, &slanted), "slanted box");
    CHECK(f && is_at(f, 0, 1 + 0.5 * 5 - 2 + 2 * 1, 2 + 4 - 2 * 1.5, 2 + 2 * 3), "scaled: %g %g %g",
          files_at(&f->particles, 0, 0), files_at(&f->particles, 0, 1),
          files_at(&f->particles, 0, 2));
    CHECK(f && frames_species(f, 0)[0] == 0, "species where there is none");
    f = frames_next(t, false);
    CHECK(f && is_box(f, &general) && is_at(f, 0, 90, 80, 70), "general box");
    io_trajectory_close(t);
}

/** Any white space between the words of a box's title. */
static void test_dump_spaces(void)
{
    io_trajectory *t = open_text("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\n"
                                 "ITEM: BOX BOUNDS\txy  xz\tyz \t ff  pp\tss \n"
                                 "-1 7 -2\n0.5 6 1\n2 5 -1.5\nITEM: ATOMS x y z\n0 1 2\n"
                                 "ITEM: TIMESTEP\n1\nITEM: NUMBER OF ATOMS\n1\n"
                                 "ITEM: BOX BOUNDS  abc \torigin\t\tff   pp  mm\n4 0 0 -1\n"
                                 "1 5 0 -2\n2 3 6 -3\nITEM: ATOMS x y z\n1 2 3\n"
                                 "ITEM: TIMESTEP\n2\nITEM: NUMBER OF ATOMS\n1\n"
                                 "ITEM: BOX BOUNDS xy xz yz\n-1 7 -2\n0.5 6 1\n2 5 -1.5\n"
                                 "ITEM: ATOMS x y z\n0 1 2\n",
                                 IO_LABEL_ANY);
    const kith_box slanted = {{1, 2, 2}, {{5}, {-2, 4}, {1, -1.5, 3}}, {0, 1, 0}, 3};
    const kith_box general = {{-1, -2, -3}, {{4}, {1, 5}, {2, 3, 6}}, {0, 1, 0}, 3};
    kith_box periodic = slanted;
    periodic.periodic[0] = periodic.periodic[2] = 1;
    const io_frame *f = frames_next(t, false);
    CHECK(f && is_box(f, &slanted), "slanted box");
    f = frames_next(t, false);
    CHECK(f && is_box(f, &general), "general box");
    f = frames_next(t, false);
    CHECK(f && is_box(f, &periodic), "slanted box without words for its boundaries");
    io_trajectory_close(t);
}

static void test_dump_labels(void)
{
    static const char text[] = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\n"
                               "ITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
                               "ITEM: ATOMS type element x y z\n3 Si 0 0 0\n";
    static const char *const names[] = {
        [IO_LABEL_ANY] = "Si", [IO_LABEL_ELEMENT] = "Si", [IO_LABEL_TYPE] = "3"};
    for (io_label label = IO_LABEL_ANY; label <= IO_LABEL_TYPE; label++) {
        io_trajectory *t = open_text(text, label);
        const io_frame *f = frames_next(t, false);
        CHECK(f && strcmp(frames_species(f, 0), names[label]) == 0, "label %d: %s", (int)label,
              f ? frames_species(f, 0) : "");
        io_trajectory_close(t);
    }
    frames_fail_text(text, &(io_trajectory_options){.label = IO_LABEL_NAME}, IO_INVALID, 0, "name");
    io_particles one;
    io_summary summary;
    const char *path = files_path("bad");
    CHECK(io_inspect(path, &summary, NULL) == IO_OK && summary.format == IO_LAMMPS &&
              summary.frames == 1 && summary.has_box && strcmp(summary.species[0].name, "Si") == 0,
          "inspect");
    CHECK(io_read(path, &(io_read_options){.species = "Si"}, &one, NULL) == IO_OK && one.n == 1,
          "io_read");
    io_particles_free(&one);
}

/** A frame of n particles at (frame, p, 0.5). */
static void add_frame(gsd_file *g, int frame, uint32_t n, const uint32_t *types, const float *box)
{
    float pos[3 * 8];
    const uint64_t step = 100 + (uint64_t)frame;
    for (uint32_t p = 0; p < n; p++) {
        pos[3 * p] = (float)frame;
        pos[3 * p + 1] = (float)p;
        pos[3 * p + 2] = 0.5f;
    }
    gsd_add(g, frame, "configuration/step", 4, 1, 1, &step);
    if (box)
        gsd_add(g, frame, "configuration/box", 9, 6, 1, box);
    if (frame == 0 || frame > 2)
        gsd_add(g, frame, "particles/N", 3, 1, 1, &n);
    if (frame != 2)
        gsd_add(g, frame, "particles/position", 9, n, 3, pos);
    if (types)
        gsd_add(g, frame, "particles/typeid", 3, n, 1, types);
}

/** Frame 1 takes its types and box from frame 0, frame 2 its positions too; frame 3 has another
 *  number of particles and so nothing of theirs; frame 4 has other names. */
static void make_gsd(gsd_file *g, bool packed)
{
    static const uint32_t types[4] = {0, 1, 1, 0}, bonds[4] = {0, 1, 2, 3}, two = 2;
    static const float box[6] = {4, 2, 8, 0.5f, -0.25f, 0.125f}, other[6] = {3, 3, 3};
    static const float velocity[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    *g = (gsd_file){.packed = packed};
    gsd_add(g, 0, "particles/types", 5, 2, 3, "A\0\0Cl\0");
    gsd_add(g, 0, "particles/velocity", 9, 4, 3, velocity);
    gsd_add(g, 0, "bonds/N", 3, 1, 1, &two);
    gsd_add(g, 0, "bonds/group", 3, 2, 2, bonds);
    add_frame(g, 0, 4, types, box);
    add_frame(g, 1, 4, NULL, NULL);
    add_frame(g, 2, 4, NULL, other);
    add_frame(g, 3, 2, NULL, NULL);
    gsd_add(g, 4, "particles/types", 5, 2, 1, "BC");
    add_frame(g, 4, 4, types, NULL);
}

static void check_gsd_frame(const io_frame *f, int k)
{
    static const char *const names[5][4] = {{"A", "Cl", "Cl", "A"},
                                            {"A", "Cl", "Cl", "A"},
                                            {"A", "Cl", "Cl", "A"},
                                            {"A", "A"},
                                            {"B", "C", "C", "B"}};
    const kith_box first = {{-2 - 0.5 + 1, -1 - 0.5, -4}, {{4}, {1, 2}, {-2, 1, 8}}, {1, 1, 1}, 3};
    const kith_box other = {{-1.5, -1.5, -1.5}, {{3}, {0, 3}, {0, 0, 3}}, {1, 1, 1}, 3};
    const int n = k == 3 ? 2 : 4;
    CHECK(f->particles.n == n && f->step == 100 + k && is_box(f, k == 2 ? &other : &first),
          "head of frame %d", k);
    for (int p = 0; p < n; p++)
        CHECK(is_at(f, p, k == 2 ? 0 : k, p, 0.5) && strcmp(frames_species(f, p), names[k][p]) == 0,
              "frame %d particle %d: %s", k, p, frames_species(f, p));
    CHECK(frames_real(f, f->particles.velocity, 4) == (k == 3 ? 0 : 5), "velocities of %d", k);
    CHECK(f->n_bonds == 2 && f->bond[1] == 1 && f->bond[3] == 3, "bonds of %d", k);
}

static void test_gsd(bool packed)
{
    const io_trajectory_options options = {.read = {.fields = all_fields}};
    gsd_file g;
    make_gsd(&g, packed);
    const char *path = gsd_save(&g, "a.gsd");
    io_trajectory *t = frames_open(path, &options);
    CHECK(t && io_trajectory_frames(t) == 5 &&
              strstr(io_trajectory_description(t), packed ? "GSD 2" : "GSD 1"),
          "%s", io_trajectory_description(t));
    for (int k = 0; k < 3; k++) {
        const io_frame *f = frames_next(t, false);
        if (f)
            check_gsd_frame(f, k);
    }
    io_trajectory_close(t);
    frames_fail(path, &options, IO_FORMAT, 3, "bond"); /* bonds of particles that are gone */
    for (int k = 3; k < 5; k++) {
        char frames[4] = {(char)('0' + k), 0};
        t = frames_open(
            path, &(io_trajectory_options){.read = {.fields = IO_VELOCITIES}, .frames = frames});
        const io_frame *f = frames_next(t, false);
        CHECK(f && f->index == k && f->particles.n == (k == 3 ? 2 : 4) &&
                  strcmp(frames_species(f, 1), k == 3 ? "A" : "C") == 0 &&
                  frames_real(f, f->particles.velocity, 4) == (k == 3 ? 0 : 5),
              "frame %d", k);
        io_trajectory_close(t);
    }
    gsd_free(&g);
}

/** Masses of frame 0 are those of frame 1 too; one that has other particles has none. */
static void test_gsd_weights(void)
{
    static const float masses[4] = {1, 16, 16, 1.5F};
    const io_trajectory_options options = {.read = {.needed = IO_WEIGHTS}, .weights = "mass"};
    io_trajectory_options wrong = options;
    gsd_file g = {.packed = true};
    gsd_add(&g, 0, "particles/mass", 9, 4, 1, masses);
    add_frame(&g, 0, 4, NULL, NULL);
    add_frame(&g, 1, 4, NULL, NULL);
    add_frame(&g, 3, 2, NULL, NULL);
    const char *path = gsd_save(&g, "d.gsd");
    io_trajectory *t = frames_open(path, &options);
    for (int k = 0; k < 2; k++) {
        const io_frame *f = frames_next(t, false);
        CHECK(f && f->weight && f->weight[1] == 16 && f->weight[3] == 1.5, "masses of %d", k);
    }
    io_trajectory_close(t);
    frames_fail(path, &options, IO_MISSING, 3, "mass");
    wrong.weights = "charge";
    frames_fail(path, &wrong, IO_MISSING, 0, "charge");
    gsd_free(&g);
}

/** Two dimensions; no types, no box; positions that become double. */
static void test_gsd_defaults(void)
{
    static const double wide[9] = {1.0 / 3};
    static const uint8_t dimensions = 2;
    static const float box[6] = {4, 2, 1};
    gsd_file g = {.packed = true};
    gsd_add(&g, 0, "configuration/dimensions", 1, 1, 1, &dimensions);
    add_frame(&g, 0, 3, NULL, box);
    io_trajectory *t = frames_open(gsd_save(&g, "b.gsd"), NULL);
    const io_frame *f = frames_next(t, false);
    CHECK(f && f->particles.dim == 2 && f->particles.box.dim == 2 &&
              f->particles.box.origin[1] == -1 && f->particles.box.origin[2] == 0 &&
              strcmp(frames_species(f, 2), "A") == 0,
          "two dimensions");
    io_trajectory_close(t);
    gsd_free(&g);
    add_frame(&g, 0, 3, NULL, NULL);
    gsd_add(&g, 1, "particles/position", 10, 3, 3, wide);
    gsd_add(&g, 2, "particles/position", 10, 3, 3, wide);
    t = frames_open(gsd_save(&g, "c.gsd"), NULL);
    f = frames_next(t, false);
    CHECK(f && f->particles.n == 3 && !f->particles.has_box, "no box");
    for (int k = 1; k < 3; k++) {
        f = frames_next(t, false);
        CHECK(f && f->particles.precision == KITH_DOUBLE && is_at(f, 0, 1.0 / 3, 0, 0), "doubles");
    }
    io_trajectory_close(t);
    gsd_free(&g);
}

int main(void)
{
    files_begin();
    test_dump();
    test_dump_boxes();
    test_dump_spaces();
    test_dump_labels();
    test_gsd(false);
    test_gsd(true);
    test_gsd_defaults();
    test_gsd_weights();
    return check_done();
}
