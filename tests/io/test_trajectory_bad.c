/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trajectories cut short at every length, and ones that lie: the frames before the fault, then a
 * sentence that says where it is. Formats that need chemfiles, without it.
 */
#include "check.h"
#include "io_frames.h"

#include <stdlib.h>
#include <string.h>

#define HEAD "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n"
#define BOX "0 1\n0 1\n0 1\n"
#define FRAME HEAD BOX "ITEM: ATOMS id x y z\n1 0.5 0.5 0.5\n"

/** No shorter file reads as more frames, and cutting one within the last line alone goes unseen. */
static void cut_everywhere(const bytes *b, int64_t frames, size_t unseen)
{
    for (size_t n = 0; n < b->n; n++) {
        int64_t got;
        io_error error;
        io_summary summary;
        const char *path = bytes_save(b, "cut", n);
        const io_status status = frames_all(path, NULL, &got, &error);
        CHECK(got <= frames && (status == IO_OK) == (error.text[0] == 0), "%zu bytes: %s", n,
              error.text);
        CHECK(got < frames || status != IO_OK || n >= b->n - unseen, "%zu bytes read as all", n);
        io_inspect(path, &summary, &error);
    }
}

static void test_dump(void)
{
    bytes b = {0};
    bytes_print(&b, FRAME FRAME FRAME);
    cut_everywhere(&b, 3, sizeof "0.5\n");
    free(b.data);
    frames_fail_text(FRAME HEAD "0 1\n0 1\n", NULL, IO_TRUNCATED, 1, "line 18");
    frames_fail_text(FRAME "ITEM: ENTRIES c_1\n1 2\n", NULL, IO_FORMAT, 1, "ENTRIES");
    frames_fail_text(FRAME "1 0.5 0.5 0.5\n", NULL, IO_FORMAT, 1, "line 11");
    frames_fail_text(HEAD BOX "ITEM: ATOMS id x y\n1 0 0\n", NULL, IO_FORMAT, 0, "coordinates");
    frames_fail_text(HEAD BOX "ITEM: ATOMS x y z\n1.25 2.25\n", NULL, IO_FORMAT, 0, "2 columns");
    frames_fail_text(HEAD BOX "ITEM: ATOMS x y z\n1 2 zwei\n", NULL, IO_FORMAT, 0, "z is 'zwei'");
    frames_fail_text(HEAD BOX "ITEM: ATOMS x y z\n1 2 1e999\n", NULL, IO_FORMAT, 0, "too large");
    frames_fail_text(HEAD "0 1\n1 0\n0 1\nITEM: ATOMS x y z\n1 2 3\n", NULL, IO_FORMAT, 0,
                     "1 to 0");
    frames_fail_text(HEAD "0 nan\n0 1\n0 1\nITEM: ATOMS x y z\n1 2 3\n", NULL, IO_FORMAT, 0,
                     "not finite");
    frames_fail_text(HEAD "0 1 2\n0 1\n0 1\nITEM: ATOMS x y z\n1 2 3\n", NULL, IO_FORMAT, 0,
                     "more than 2");
    frames_fail_text(HEAD "0\n0 1\n0 1\nITEM: ATOMS x y z\n1 2 3\n", NULL, IO_FORMAT, 0,
                     "1 numbers");
    frames_fail_text(
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS xy yz pp pp pp\n" BOX
        "ITEM: ATOMS x y z\n1 2 3\n",
        NULL, IO_FORMAT, 0, "'xy'");
    frames_fail_text("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n-1\n", NULL, IO_FORMAT, 0, "'-1'");
    frames_fail_text("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3000000000\n", NULL, IO_LIMIT, 0,
                     "3000000000");
    frames_fail_text("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2000000000\n"
                     "ITEM: ATOMS x y z\n1 2 3\n",
                     NULL, IO_TRUNCATED, 0, "2000000000 atoms");
    frames_fail_text("ITEM: TIMESTEP\n0\nITEM: ATOMS x y z\n1 2 3\n", NULL, IO_FORMAT, 0, "ATOMS");
}

/** Ids, molecules, times and steps that are there, but no numbers of their kind. */
static void test_numbers(void)
{
#define XYZ(key) "1\nLattice=\"1 0 0 0 1 0 0 0 1\" " key "\nO 0 0 0\n"
#define ATOMS(names, row) HEAD BOX "ITEM: ATOMS " names " x y z\n" row " 0 0 0\n"
    const io_trajectory_options ids = {.read.fields = IO_IDS};
    const io_trajectory_options molecules = {.read.fields = IO_MOLECULES};
    frames_fail_text(XYZ("time=abc"), NULL, IO_FORMAT, 0, "time");
    frames_fail_text(XYZ("time=2.5ps"), NULL, IO_FORMAT, 0, "time");
    frames_fail_text(XYZ("step=x"), NULL, IO_FORMAT, 0, "step");
    frames_fail_text(XYZ("step=1.5"), NULL, IO_FORMAT, 0, "step");
    frames_fail_text(XYZ("step=1e30"), NULL, IO_FORMAT, 0, "step");
    frames_fail_text("ITEM: TIMESTEP\n1e30\nITEM: NUMBER OF ATOMS\n1\n", NULL, IO_FORMAT, 0,
                     "time step");
    frames_fail_text("ITEM: TIMESTEP\n1.5\nITEM: NUMBER OF ATOMS\n1\n", NULL, IO_FORMAT, 0,
                     "time step");
    frames_fail_text(ATOMS("id", "-5"), &ids, IO_FORMAT, 0, "id is -5");
    frames_fail_text(ATOMS("id", "1.5"), &ids, IO_FORMAT, 0, "id is 1.5");
    frames_fail_text(ATOMS("id", "1e16"), &ids, IO_FORMAT, 0, "id is 10000000000000000");
    frames_fail_text(ATOMS("mol", "0.5"), &molecules, IO_FORMAT, 0, "mol is 0.5");
    frames_fail_text(ATOMS("mol", "3000000000"), &molecules, IO_FORMAT, 0, "mol is 3000000000");
    bytes b = {0};
    bytes_print(&b, HEAD BOX "ITEM: ATOMS x y z");
    for (int k = 3; k < 300; k++)
        bytes_print(&b, k == 299 ? " id\n0 0 0" : " c_%d", k);
    for (int k = 3; k < 300; k++)
        bytes_print(&b, " %d%s", k, k == 299 ? "\n" : "");
    frames_fail(bytes_save(&b, "wide", b.n), &ids, IO_LIMIT, 0, "column 300");
    free(b.data);
}

static void test_xyz(void)
{
    bytes b = {0};
    bytes_print(&b, "2\na\nO 0 0 0\nH 1 1 1.5\n2\nb\nO 0 0 0\nH 1 1 1.5\n");
    cut_everywhere(&b, 2, sizeof "1.5\n");
    free(b.data);
    frames_fail_text("1\n\nO 0 0 0\n1\n\nO 0 0 x\n", NULL, IO_FORMAT, 1, "line 6");
    frames_fail_text("1\n\nO 0 0 0\nO 1 1 1\n", NULL, IO_FORMAT, 1, "line 4");
    frames_fail_text("1\n\nO 0 0 0\n5\n\nO 0 0 0\n", NULL, IO_TRUNCATED, 1, "5 atoms");
    frames_fail_text("1\n\nO 0 0 0\n", &(io_trajectory_options){.topology = "a.pdb"}, IO_INVALID, 0,
                     "a.pdb");
    frames_fail_text("1\n\nO 0 0 0\n", &(io_trajectory_options){.read.dataset = "a"}, IO_INVALID, 0,
                     "dataset");
}

/** More names of species than a table holds. */
static void test_names(void)
{
    bytes b = {0};
    bytes_print(&b, "5000\n\n");
    for (int k = 0; k < 5000; k++)
        bytes_print(&b, "T%d 0 0 0\n", k);
    frames_fail(bytes_save(&b, "names.xyz", b.n), NULL, IO_LIMIT, 0, "'T4096'");
    free(b.data);
}

static void test_gsd(void)
{
    static const float zeros[12];
    static const uint32_t four = 4, many = 2000000000, types[4] = {0, 0, 1, 0};
    gsd_file g = {.packed = true};
    gsd_add(&g, 0, "particles/N", 3, 1, 1, &four);
    gsd_add(&g, 0, "particles/position", 9, 4, 3, zeros);
    bytes b = bytes_load(gsd_save(&g, "whole"));
    cut_everywhere(&b, 1, 0);
    b.data[46] = 3; /* the version */
    frames_fail(bytes_save(&b, "bad", b.n), NULL, IO_FORMAT, 0, "version 3");
    free(b.data);
    gsd_add(&g, 1, "particles/typeid", 3, 4, 1, types);
    frames_fail(gsd_save(&g, "bad"), NULL, IO_FORMAT, 1, "particle 2 is of type 1");
    gsd_add(&g, 1, "particles/N", 3, 1, 1, &many);
    frames_fail(gsd_save(&g, "bad"), NULL, IO_FORMAT, 1, "2000000000");
    gsd_free(&g);
    gsd_add(&g, 0, "particles/N", 3, 1, 1, &four);
    gsd_add(&g, 0, "particles/position", 9, 3, 3, zeros);
    frames_fail(gsd_save(&g, "bad"), NULL, IO_FORMAT, 0, "shape (3, 3)");
    gsd_free(&g);
    const double step = 1e30;
    gsd_add(&g, 0, "configuration/step", 10, 1, 1, &step);
    gsd_add(&g, 0, "particles/N", 3, 1, 1, &four);
    gsd_add(&g, 0, "particles/position", 9, 4, 3, zeros);
    frames_fail(gsd_save(&g, "bad"), NULL, IO_FORMAT, 0, "configuration/step");
    gsd_free(&g);
    gsd_add(&g, 1, "particles/N", 3, 1, 1, &four);
    gsd_add(&g, 0, "particles/N", 3, 1, 1, &four);
    frames_fail(gsd_save(&g, "bad"), NULL, IO_FORMAT, 0, "index");
    b = bytes_load(files_path("bad"));
    b.data[128 - 16] = 'x'; /* hoomd */
    b.data[112] = 'x';
    frames_fail(bytes_save(&b, "bad", b.n), NULL, IO_FORMAT, 0, "schema");
    free(b.data);
    gsd_free(&g);
}

/** What chemfiles would read, known by how it begins. */
static void test_chemfiles(void)
{
    static const struct {
        const char *bytes;
        size_t n;
    } heads[] = {{"\0\0\x07\xcb", 4},
                 {"\0\0\x07\xc9", 4},
                 {"\x54\0\0\0CORD", 8},
                 {"CDF\1", 4},
                 {"\x1f\x8b", 2},
                 {"CRYST1   10.0", 13},
                 {"water\n 3\n    1WATER  OW1    1   0.126   1.624   1.679\n", 55}};
    static const char zeros[4096];
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
        bytes b = {0};
        bytes_add(&b, heads[k].bytes, heads[k].n);
        if (heads[k].n <= 8)
            bytes_add(&b, zeros, sizeof zeros);
        const char *path = bytes_save(&b, "bad", b.n);
        frames_fail(path, NULL, IO_UNSUPPORTED, 0, "pip install chemfiles");
        io_summary summary;
        CHECK(io_inspect(path, &summary, NULL) == IO_UNSUPPORTED, "inspect");
        free(b.data);
    }
}

int main(void)
{
    setenv("KITH_CHEMFILES", "/nowhere/libchemfiles.so", true);
    files_begin();
    test_dump();
    test_numbers();
    test_xyz();
    test_names();
    test_gsd();
    test_chemfiles();
    frames_fail(files_path("absent"), NULL, IO_SYSTEM, 0, "No such file");
    return check_done();
}
