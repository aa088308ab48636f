/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trajectories through chemfiles, where it is installed: one system in four formats agrees to the
 * digits of each; names, residues and bonds; files that it refuses.
 */
#include "check.h"
#include "io_frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder;

static const char *data_path(const char *name)
{
    static char paths[2][512];
    static int next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const char pdb[] =
    "CRYST1   20.000   30.000   40.000  90.00  90.00  90.00 P 1           1\n"
    "MODEL        1\n"
    "ATOM      1  OW  HOH A   1       1.000   2.000   3.000  1.00  0.00           O\n"
    "ATOM      2  HW1 HOH A   1       1.500   2.000   3.000  1.00  0.00           H\n"
    "ATOM      3  OW  HOH A   2       4.000   5.000   6.000  1.00  0.00           O\n"
    "HETATM    4 NA    NA A   3       7.000   8.000   9.000  1.00  0.00          NA\n"
    "CONECT    1    2\n"
    "ENDMDL\n"
    "MODEL        2\n"
    "ATOM      1  OW  HOH A   1       1.000   2.000   3.000  1.00  0.00           O\n"
    "ENDMDL\n"
    "END\n";

static const char gro[] = "water, t= 2.5\n    2\n"
                          "    1SOL     OW    1   0.100   0.200   0.300\n"
                          "    2SOL    HW1    2   0.400   0.500   0.600\n"
                          "   1.00000   2.00000   3.00000\n";

static const char *save(const char *text, const char *name)
{
    bytes b = {0};
    bytes_add(&b, text, strlen(text));
    const char *path = bytes_save(&b, name, b.n);
    free(b.data);
    return path;
}

static void test_names(void)
{
    static const char *const names[4][4] = {[IO_LABEL_ANY] = {"O", "H", "O", "Na"},
                                            [IO_LABEL_ELEMENT] = {"O", "H", "O", "Na"},
                                            [IO_LABEL_TYPE] = {"O", "H", "O", "Na"},
                                            [IO_LABEL_NAME] = {"OW", "HW1", "OW", "NA"}};
    const char *path = save(pdb, "a.pdb");
    for (io_label label = IO_LABEL_ANY; label <= IO_LABEL_NAME; label++) {
        const io_trajectory_options options = {.read.fields = IO_MOLECULES | IO_BONDS,
                                               .label = label};
        io_trajectory *t = frames_open(path, &options);
        CHECK(t && io_trajectory_frames(t) == 2, "frames");
        const io_frame *f = frames_next(t, false);
        for (int p = 0; f && p < 4; p++)
            CHECK(strcasecmp(frames_species(f, p), names[label][p]) == 0, "label %d: %s",
                  (int)label, frames_species(f, p));
        CHECK(f && f->particles.n == 4 && f->particles.box.row[2][2] == 40 &&
                  files_at(&f->particles, 3, 1) == 8,
              "frame 0");
        CHECK(f && f->molecule && f->molecule[0] == f->molecule[1] &&
                  f->molecule[1] != f->molecule[2] && f->molecule[2] != f->molecule[3],
              "residues");
        bool bonded = false;
        for (int64_t k = 0; f && k < f->n_bonds; k++)
            bonded = bonded || f->bond[2 * k] + f->bond[2 * k + 1] == 1;
        CHECK(bonded, "the bond of 0 and 1");
        f = frames_next(t, false);
        CHECK(f && f->particles.n == 1, "frame 1");
        frames_next(t, true);
        io_trajectory_close(t);
    }
    io_trajectory *t = frames_open(save(gro, "whatever"), NULL); /* by content */
    const io_frame *f = frames_next(t, false);
    CHECK(f && f->particles.n == 2 && fabs(files_at(&f->particles, 1, 2) - 6) < 1e-12 &&
              fabs(f->particles.box.row[1][1] - 20) < 1e-12,
          "GRO, in Angstrom");
    io_trajectory_close(t);
}

static void test_bad(void)
{
    bytes b = {0};
    bytes_add(&b, "\x54\0\0\0CORD and no more", 20);
    frames_fail(bytes_save(&b, "bad.dcd", b.n), NULL, IO_FORMAT, 0, "chemfiles");
    free(b.data);
    const char *path = save(pdb, "a.pdb");
    frames_fail(path, &(io_trajectory_options){.topology = "/nowhere.pdb"}, IO_FORMAT, 0,
                "/nowhere.pdb");
    frames_fail(path, &(io_trajectory_options){.frames = "7"}, IO_INVALID, 0, "has 2 frames");
}

/** The same frames as those of another file, to within so much. */
static void same(const char *name, const char *other, int frames, double within)
{
    io_trajectory *a = frames_open(data_path(name), NULL), *b = frames_open(data_path(other), NULL);
    CHECK(a && io_trajectory_frames(a) == frames, "%s has %lld frames", name,
          (long long)io_trajectory_frames(a));
    for (int k = 0; k < frames; k++) {
        const io_frame *f = frames_next(a, false), *g = frames_next(b, false);
        if (!f || !g || !CHECK(f->particles.n == 297 && g->particles.n == 297, "%s: n", name))
            break;
        double most = 0;
        for (int64_t p = 0; p < f->particles.n; p++)
            for (int axis = 0; axis < 3; axis++)
                most = fmax(most, fabs(files_at(&f->particles, p, axis) -
                                       files_at(&g->particles, p, axis)));
        CHECK(most <= within, "%s: frame %d is off by %g", name, k, most);
        const kith_box *box = &f->particles.box;
        CHECK(f->particles.has_box && fabs(box->row[0][0] - 15) < 1e-6 &&
                  fabs(box->row[1][1] - 15) < 1e-6 && fabs(box->row[2][2] - 15) < 1e-6 &&
                  box->row[1][0] == 0 && box->row[2][0] == 0 && box->row[2][1] == 0,
              "%s: box of frame %d", name, k);
    }
    frames_next(a, true);
    frames_next(b, true);
    io_trajectory_close(a);
    io_trajectory_close(b);
}

static void test_water(void)
{
    static const char xyz[] = "water.9.xyz.bz2";
    const double digits = 0.5e-6, single = 16 * 0x1p-24; /* of the text; of floats below 16 */
    same("water.dcd", xyz, 100, digits + single);
    same("water.nc", "water.dcd", 100, 0);
    same("water.trr", "water.dcd", 100, 2 * single); /* via nanometres */
    io_trajectory *t = frames_open(data_path("water.dcd"), NULL);
    const io_frame *f = frames_next(t, false);
    CHECK(f && f->n_names == 1 && f->names[0][0] == 0, "names in a DCD");
    io_trajectory_close(t);
    t = frames_open(data_path("water.dcd"),
                    &(io_trajectory_options){.topology = data_path(xyz), .frames = "-1"});
    f = frames_next(t, false);
    int64_t oxygens = 0;
    for (int64_t p = 0; f && p < f->particles.n; p++)
        oxygens += strcmp(frames_species(f, p), "O") == 0;
    CHECK(f && f->index == 99 && f->n_names == 2 && oxygens == 99, "a topology for a DCD");
    io_trajectory_close(t);
    const io_read_options wanted = {.frame = 99, .precision = KITH_FLOAT};
    io_particles one;
    CHECK(io_read(data_path("water.nc"), &wanted, &one, NULL) == IO_OK && one.n == 297 &&
              one.has_box && one.precision == KITH_FLOAT,
          "io_read of a frame");
    io_particles_free(&one);
}

/** A cell with equal angles: edges as NAMD wrote them, rows as kith has them. */
static void test_triclinic(void)
{
    static const double lengths[3] = {85.4400374531753, 89.4427190999916, 85.4400374531753};
    io_trajectory *t = frames_open(data_path("triclinic-namd.dcd"), NULL);
    const io_frame *f = frames_next(t, false);
    for (int axis = 0; f && axis < 3; axis++) {
        const double *row = f->particles.box.row[axis];
        const double length = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
        CHECK(fabs(length - lengths[axis]) < 1e-6 && row[axis] > 0, "edge %d is %.9g", axis,
              length);
    }
    CHECK(f && f->particles.n == 9999 && f->particles.box.row[0][1] == 0 &&
              f->particles.box.row[0][2] == 0 && f->particles.box.row[1][2] == 0 &&
              f->particles.box.row[2][0] > 1,
          "rows");
    io_trajectory_close(t);
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : "";
    files_begin();
    int64_t frames;
    io_error error;
    if (frames_all(save(pdb, "a.pdb"), NULL, &frames, &error) == IO_UNSUPPORTED)
        return check_skip("%s; .ci/peers installs it", error.text);
    test_names();
    test_bad();
    if (access(data_path("water.dcd"), R_OK) == 0) {
        test_water();
        test_triclinic();
    } else {
        check_skip("no files in %s (public data, kept apart)", folder);
    }
    return check_done();
}
