/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All that kith takes from chemfiles, through a library in its place (fake_chemfiles.c). The
 * numbers arrive; every call of the library and every allocation that fails is reported; every
 * object is freed. What the library says that is another than usual.
 *     test_trajectory_fake LIBRARY
 */
#include "alloc.h"
#include "check.h"
#include "fake_chemfiles.h"
#include "io_frames.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static fake_chemfiles *fake;

/** The first bytes of a DCD file, which has no names, or of a PDB file, which has. */
static const char *save(bool nameless)
{
    bytes b = {0};
    bytes_add(&b, nameless ? "\x54\0\0\0CORD" : "CRYST1  ", 8);
    bytes_print(&b, "\n%64s\n", "END");
    const char *path = bytes_save(&b, nameless ? "a.dcd" : "a.pdb", b.n);
    free(b.data);
    return path;
}

static void check_frame(const io_frame *f, int64_t k, const io_trajectory_options *options)
{
    const kith_box *box = &f->particles.box;
    CHECK(f->index == k && f->particles.n == 3, "frame %lld", (long long)k);
    CHECK(files_at(&f->particles, 2, 1) == (double)(100 * k + 21), "a position");
    CHECK(!f->particles.velocity ||
              frames_real(f, f->particles.velocity, 7) == (double)(-100 * k - 21),
          "a velocity");
    CHECK(f->particles.has_box && box->row[1][0] == 2 && box->row[2][0] == 0 &&
              box->row[2][1] == 3 && box->row[2][2] == 12,
          "the box: rows as the library has them, a tilt of 1e-15 is none");
    CHECK(!f->has_step || f->step == k, "step %lld", (long long)f->step);
    CHECK(!f->particles.has_time || f->particles.time == (double)k / 2, "the time");
    CHECK(!f->molecule || (f->molecule[0] == 0 && f->molecule[1] == 0 && f->molecule[2] == -1),
          "residues");
    CHECK(!f->bond || (f->n_bonds == 2 && f->bond[2] == 0 && f->bond[3] == 2), "bonds");
    const bool name = options->label == IO_LABEL_NAME;
    const char *last = options->label == IO_LABEL_ELEMENT ? "H" /* by its name */
                       : options->label == IO_LABEL_TYPE  ? ""
                                                          : "H2"; /* a name, for want of a type */
    CHECK(strcmp(frames_species(f, 0), name ? "O0" : "O") == 0, "the first species");
    CHECK(strcmp(frames_species(f, 2), last) == 0, "an atom without a type: %s",
          frames_species(f, 2));
    if (f->weight && strcmp(options->weights, "mass") == 0)
        CHECK(f->weight[0] == 16 && f->weight[2] == 1, "masses");
    else if (f->weight)
        CHECK(f->weight[0] == -0.8 && f->weight[2] == 0.4, "charges");
}

/** Read both frames. @return the first failure. */
static io_status read_all(const char *path, const io_trajectory_options *options, io_error *error)
{
    io_trajectory *t;
    const io_frame *frame = NULL;
    io_status status = io_trajectory_open(path, options, &t, error);
    for (int64_t k = 0; k <= 2 && status == IO_OK; k++) {
        status = io_trajectory_next(t, &frame, error);
        if (status == IO_OK && CHECK((frame != NULL) == (k < 2), "frame %lld", (long long)k) &&
            frame)
            check_frame(frame, k, options);
    }
    io_trajectory_close(t);
    return status;
}

static void fail_each(const io_trajectory_options *options, bool nameless)
{
    const char *path = save(nameless);
    int64_t k = 0, refused = 0;
    for (bool reached = true; reached; k++) {
        io_error error = {0};
        fake->calls = 0;
        fake->fail_at = k;
        const io_status status = read_all(path, options, &error);
        reached = fake->calls > k;
        refused += status != IO_OK;
        CHECK(reached || status == IO_OK, "%s", error.text);
        CHECK(status == IO_OK || (status == IO_FORMAT && strstr(error.text, "the fake failed")),
              "call %lld: %s", (long long)k, error.text);
        CHECK(fake->live == 0, "call %lld: %lld objects are left", (long long)k,
              (long long)fake->live);
    }
    fake->fail_at = -1;
    CHECK(refused > k / 2, "%lld of %lld calls that failed were told", (long long)refused,
          (long long)k);
}

/** Fail each allocation of reading both frames. */
static void fail_memory(const io_trajectory_options *options, bool nameless)
{
    const char *path = save(nameless);
    int64_t k = 0;
    for (bool reached = true; reached && k < 1000; k++) {
        io_error error = {0};
        const int64_t before = alloc_count();
        alloc_fail(k, 1);
        const io_status status = read_all(path, options, &error);
        alloc_fail(0, 0);
        reached = alloc_count() - before > k;
        CHECK(status == IO_OK || (reached && status == IO_NO_MEMORY && error.text[0]),
              "allocation %lld: status %d, %s", (long long)k, status, error.text);
        CHECK(fake->live == 0, "allocation %lld: %lld objects are left", (long long)k,
              (long long)fake->live);
    }
    CHECK(k > 10, "only %lld allocations", (long long)k);
}

/** Read the first frame of a file by the elements. @param[out] t  to be closed */
static io_status read_first(const char *path, const io_trajectory_options *options,
                            io_trajectory **t, const io_frame **frame, io_error *error)
{
    *frame = NULL;
    const io_status status = io_trajectory_open(path, options, t, error);
    return status == IO_OK ? io_trajectory_next(*t, frame, error) : status;
}

#define ATOM(name, element) \
    "ATOM      1 " name " LIG A   1       1.000   2.000   3.000  1.00  0.00          " element "\n"

/** Elements by the lines of a PDB file, by names and residues. */
static void test_elements(void)
{
    static const struct {
        const char *lines, *name[3], *residue;
        uint64_t members;
        const char *element[3], *guessed;
        const char *words; /* of the error; NULL: none */
    } files[] = {
        {ATOM("CA  ", "") ATOM(" NA ", "") ATOM("HG21", ""),
         {"CA", "NA", "HG21"},
         "LIG",
         0,
         {"Ca", "N", "H"},
         "CA=Ca, NA=N, HG21=H",
         NULL},
        {ATOM("CA  ", "CA") ATOM("NA  ", "NA") ATOM(" OX ", " O"),
         {"CA", "NA", "OX"},
         "LIG",
         0,
         {"Ca", "Na", "O"},
         "",
         NULL},
        {ATOM("CA  ", "") ATOM(" CA ", ""),
         {"CA", "CA", "CA"},
         "ALA",
         9,
         {"C", "C", "C"},
         "CA=C",
         NULL},
        {ATOM("XX  ", "CA") ATOM(" MW ", ""),
         {"CA", "MW", "CL"},
         "CA",
         1,
         {"Ca", IO_VIRTUAL_SITE, "Cl"},
         "CA=Ca, MW=virtual, CL=Cl",
         NULL},
        {"ENDMDL\n" ATOM("CA  ", "CA"),
         {"CA", "CB", "ACA"},
         "LIG",
         0,
         {"C", "C", "Ac"},
         "CA=C, CB=C, ACA=Ac",
         NULL},
        {"ATOM\n",
         {"Qx1", "Qx", "x"},
         "LIG",
         0,
         {NULL},
         NULL,
         "does not follow from their names: Qx1, Qx, x; --by name or type"},
        {"", {"Qx", "Qx", "O"}, "LIG", 0, {NULL}, NULL, "from their names: Qx; --by"},
        {"", {"", "", ""}, "LIG", 0, {NULL}, NULL, "has no atom names; --topology FILE supplies"},
    };
    const io_trajectory_options options = {.label = IO_LABEL_ELEMENT};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        io_error error = {0};
        io_trajectory *t = NULL;
        const io_frame *f = NULL;
        bytes b = {0};
        bytes_print(&b, "CRYST1   10.000   10.000   10.000\n%sEND\n", files[k].lines);
        const char *path = bytes_save(&b, "b.pdb", b.n);
        free(b.data);
        fake->name = fake->type = files[k].name; /* a type that is the name is no element */
        fake->residue = files[k].residue;
        fake->members = files[k].members;
        const io_status status = read_first(path, &options, &t, &f, &error);
        if (files[k].words)
            CHECK(status != IO_OK && strstr(error.text, files[k].words),
                  "'%s' does not speak of %s", error.text, files[k].words);
        else if (CHECK(status == IO_OK && f, "%s", error.text)) {
            for (int p = 0; p < 3; p++)
                CHECK(strcmp(frames_species(f, p), files[k].element[p]) == 0, "file %d: %s is %s",
                      (int)k, files[k].name[p], frames_species(f, p));
            CHECK(strcmp(f->guessed, files[k].guessed) == 0, "file %d: '%s'", (int)k, f->guessed);
        }
        io_trajectory_close(t);
    }
    fake->name = fake->type = NULL;
    fake->residue = NULL;
    fake->members = 0;
}

/** Files that do not fit together, and units. */
static void test_odd(void)
{
    static const char *const nameless[3] = {"", "", ""};
    io_trajectory *t;
    const io_frame *f;
    io_error error = {0};
    io_trajectory_options options = {.read.fields = IO_BONDS | IO_WEIGHTS, .weights = "mass"};
    const char *path = save(true);
    fake->positions = 2;
    CHECK(read_first(path, &options, &t, &f, &error) == IO_FORMAT &&
              strstr(error.text, "frame 0 cannot be read: chemfiles 0.11-fake says"),
          "%s", error.text);
    io_trajectory_close(t);
    fake->positions = 0;
    fake->bonded = 3;
    CHECK(read_first(path, &options, &t, &f, &error) == IO_FORMAT && strstr(error.text, "frame 0"),
          "a bond of none: %s", error.text);
    io_trajectory_close(t);
    fake->bonded = 0;
    CHECK(read_first(path, &options, &t, &f, &error) == IO_OK && f->weight && f->weight[0] == 16,
          "masses of a file without names: %s", error.text);
    io_trajectory_close(t);
    fake->massless = true;
    CHECK(read_first(path, &options, &t, &f, &error) == IO_MISSING &&
              strstr(error.text, "no mass is known of atom 0, 'O'"),
          "%s", error.text);
    io_trajectory_close(t);
    fake->type = nameless;
    options.label = IO_LABEL_TYPE;
    CHECK(read_first(path, &options, &t, &f, &error) == IO_MISSING &&
              strstr(error.text, "no mass is known of atom 0, which has no name"),
          "%s", error.text);
    io_trajectory_close(t);
    fake->type = NULL;
    fake->massless = false;
    fake->step = 1e300;
    options = (io_trajectory_options){.boxes_only = true};
    CHECK(read_first(path, &options, &t, &f, &error) == IO_OK && f->particles.n == 0 &&
              f->particles.box.row[2][2] == 12,
          "boxes alone: %s", error.text);
    io_trajectory_close(t);
    CHECK(read_first(path, NULL, &t, &f, &error) == IO_FORMAT && strstr(error.text, "1e+300"),
          "a step beyond 2^53: %s", error.text);
    io_trajectory_close(t);
    fake->step = 0;
    static const struct {
        const char *format, *unit, *system;
    } packed[] = {{"XYZ / GZ", "", ""}, {"LAMMPS / GZ", "A", "real"}, {"DCD", "A", ""}};
    bytes b = {0};
    bytes_add(&b, "\x1f\x8b", 2);
    path = bytes_save(&b, "packed", b.n);
    free(b.data);
    for (size_t k = 0; k < sizeof packed / sizeof *packed; k++) {
        fake->format = packed[k].format;
        CHECK(read_first(path, NULL, &t, &f, &error) == IO_OK &&
                  strcmp(f->unit, packed[k].unit) == 0 && strcmp(f->system, packed[k].system) == 0,
              "%s: in %s", packed[k].format, f ? f->unit : error.text);
        io_trajectory_close(t);
    }
    fake->format = NULL;
}

int main(int argc, char **argv)
{
    if (!CHECK(argc == 2 && setenv("KITH_CHEMFILES", argv[1], 1) == 0, "expected the library"))
        return check_done();
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    fake = library ? dlsym(library, "fake_chemfiles_state") : NULL;
    if (!CHECK(fake, "%s: %s", argv[1], dlerror()))
        return check_done();
    files_begin();
    bytes top = {0};
    bytes_print(&top, "HETATM    1 O0   HOH     1       0.000   0.000   0.000\nEND\n");
    char *topology = strdup(bytes_save(&top, "top.pdb", top.n));
    free(top.data);
    for (io_label label = IO_LABEL_ANY; label <= IO_LABEL_NAME; label++)
        for (int which = 0; which < 4; which++) {
            const char *const weights[4] = {NULL, "mass", "charge", "colour"};
            const unsigned all = IO_VELOCITIES | IO_MOLECULES | IO_BONDS | IO_WEIGHTS;
            const io_trajectory_options options = {.read.fields = which ? all : 0u,
                                                   .label = label,
                                                   .weights = weights[which],
                                                   .topology = which == 1 ? topology : NULL};
            fail_each(&options, which % 2 == 0);
            fail_each(&options, which % 2 == 1);
            fail_memory(&options, which % 2 == 0);
        }
    test_elements();
    test_odd();
    free(topology);
    return check_done();
}
