/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every call of the HDF5 library made to fail, one at a time: what is written is refused as a whole
 * and no file is left; what is read is refused with a sentence, or is read with all that it says.
 * The linker turns calls of H5Dwrite and so on into __wrap_H5Dwrite, as in tests/common/alloc.c.
 */
#include "check.h"
#include "io_files.h"

#include <catalogues/catalogue.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <trajectories/trajectory.h>

static int64_t calls, fail_at = INT64_MAX;
static const char *failed; /**< the function that failed */

static bool fails(const char *name)
{
    if (calls++ != fail_at)
        return false;
    failed = name;
    return true;
}

/* result, name, arguments with and without their types */
#define FAILING(X) \
    X(hid_t, H5Acreate2, (hid_t at, const char *name, hid_t type, hid_t space, hid_t c, hid_t a), \
      (at, name, type, space, c, a)) \
    X(hid_t, H5Aget_space, (hid_t id), (id)) \
    X(hid_t, H5Aget_type, (hid_t id), (id)) \
    X(hid_t, H5Aopen_by_name, (hid_t at, const char *of, const char *name, hid_t a, hid_t l), \
      (at, of, name, a, l)) \
    X(herr_t, H5Aread, (hid_t id, hid_t type, void *data), (id, type, data)) \
    X(herr_t, H5Awrite, (hid_t id, hid_t type, const void *data), (id, type, data)) \
    X(hid_t, H5Dcreate2, \
      (hid_t at, const char *name, hid_t type, hid_t space, hid_t l, hid_t c, hid_t a), \
      (at, name, type, space, l, c, a)) \
    X(hid_t, H5Dget_create_plist, (hid_t id), (id)) \
    X(hid_t, H5Dget_space, (hid_t id), (id)) \
    X(hid_t, H5Dget_type, (hid_t id), (id)) \
    X(hid_t, H5Dopen2, (hid_t at, const char *name, hid_t a), (at, name, a)) \
    X(herr_t, H5Dread, (hid_t id, hid_t type, hid_t m, hid_t f, hid_t p, void *data), \
      (id, type, m, f, p, data)) \
    X(herr_t, H5Dset_extent, (hid_t id, const hsize_t *size), (id, size)) \
    X(herr_t, H5Dwrite, (hid_t id, hid_t type, hid_t m, hid_t f, hid_t p, const void *data), \
      (id, type, m, f, p, data)) \
    X(hid_t, H5Fcreate, (const char *name, unsigned flags, hid_t c, hid_t a), (name, flags, c, a)) \
    X(herr_t, H5Gget_info, (hid_t id, H5G_info_t * info), (id, info)) \
    X(hid_t, H5Gcreate2, (hid_t at, const char *name, hid_t l, hid_t c, hid_t a), \
      (at, name, l, c, a)) \
    X(htri_t, H5Oexists_by_name, (hid_t at, const char *name, hid_t l), (at, name, l)) \
    X(hid_t, H5Oopen, (hid_t at, const char *name, hid_t a), (at, name, a)) \
    X(hid_t, H5Pcreate, (hid_t of), (of)) \
    X(herr_t, H5Pset_chunk, (hid_t id, int n, const hsize_t *size), (id, n, size)) \
    X(hid_t, H5Screate, (H5S_class_t kind), (kind)) \
    X(hid_t, H5Screate_simple, (int n, const hsize_t *now, const hsize_t *most), (n, now, most)) \
    X(herr_t, H5Sselect_hyperslab, \
      (hid_t id, H5S_seloper_t op, const hsize_t *start, const hsize_t *stride, \
       const hsize_t *count, const hsize_t *block), \
      (id, op, start, stride, count, block)) \
    X(hid_t, H5Tcopy, (hid_t id), (id)) \
    X(herr_t, H5Tset_size, (hid_t id, size_t size), (id, size))

#define WRAP(result, name, types, arguments) \
    result __real_##name types; \
    result __wrap_##name types; \
    result __wrap_##name types \
    { \
        return fails(#name) ? -1 : __real_##name arguments; \
    }
FAILING(WRAP)

enum { N = 5 };
static double xyz[N][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 1, 1}, {2, 2, 2}};
static double mass[N] = {1, 2, 3, 4, 5};
static int64_t id[N] = {9, 8, 7, 6, 5};
static uint8_t type[N] = {0, 1, 0, 1, 1};
static const int32_t labels[N] = {1, 1, 2, 0, 2};

static io_particles five(void)
{
    io_particles p = {.n = N,
                      .dim = 3,
                      .precision = KITH_DOUBLE,
                      .pos = xyz,
                      .mass = mass,
                      .velocity = xyz,
                      .id = id,
                      .type = type,
                      .potential = mass,
                      .density = mass,
                      .has_box = true};
    p.box = kith_box_periodic(10, 10, 10);
    p.cosmology = (io_cosmology){true, 0.5, 1, 0.7, 0.3, 0.7, 0.05};
    p.units = (io_units){IO_UNITS_FILE, 3.1e24, 2e43, 1e5, -1, -1};
    return p;
}

static io_status write_particles(const char *path, io_error *error)
{
    const io_particles p = five();
    return io_write_particles(path, IO_HDF5, &p, error);
}

static io_status write_pairs(const char *path, io_error *error)
{
    int32_t i[2] = {0, 0}, j[2] = {1, 2};
    const io_pairs_layout layout = {.precision = KITH_DOUBLE, .command = "kith", .cutoff = 1};
    const kith_pairs pairs = {.n = 2, .i = i, .j = j};
    io_pairs_writer *writer;
    io_status status = io_pairs_open(path, &layout, &writer, error);
    if (status != IO_OK)
        return status;
    for (int block = 0; block < 2 && status == IO_OK; block++)
        status = io_pairs_write(writer, &pairs, error);
    if (status == IO_OK)
        return io_pairs_commit(writer, error);
    io_pairs_abort(writer);
    return status;
}

/** Write one of the files that friends-of-friends writes. */
static io_status write_groups(const char *path, int which, io_error *error)
{
    static kith_halo halo[2] = {
        {.members = 2, .members_of_type = {1, 1}, .mass = 3, .particle = 1},
        {.members = 2, .members_of_type = {1, 1}, .mass = 8, .particle = 4}};
    const kith_halos halos = {.n = 2, .halo = halo};
    const io_particles p = five();
    const io_catalogue catalogue = {.halos = &halos,
                                    .particles = &p,
                                    .box = &p.box,
                                    .masses = true,
                                    .velocities = true,
                                    .sphere = {true, true, true, true},
                                    .type = {true, true},
                                    .length = 1,
                                    .min_members = 2,
                                    .labels = labels,
                                    .command = "kith fof"};
    switch (which) {
    case 0: return io_write_labels(path, &catalogue, error);
    case 1: return io_write_sorted(path, &catalogue, error);
    case 2: return io_write_catalogue(path, IO_CATALOGUE_GADGET4, &catalogue, error);
    default: return io_write_catalogue(path, IO_CATALOGUE_SWIFT, &catalogue, error);
    }
}

static io_status write_labels(const char *path, io_error *error)
{
    return write_groups(path, 0, error);
}

static io_status write_sorted(const char *path, io_error *error)
{
    return write_groups(path, 1, error);
}

static io_status write_gadget4(const char *path, io_error *error)
{
    return write_groups(path, 2, error);
}

static io_status write_swift(const char *path, io_error *error)
{
    return write_groups(path, 3, error);
}

static io_status read_particles(const char *path, io_error *error)
{
    const io_read_options options = {.fields = IO_MASSES | IO_VELOCITIES | IO_IDS | IO_TYPES};
    io_particles p;
    const io_status status = io_read(path, &options, &p, error);
    CHECK(status != IO_OK || p.n == N, "%s: %lld particles", path, (long long)p.n);
    for (int64_t k = 0; status == IO_OK && k < N && p.dim == 3; k++)
        CHECK(files_at(&p, k, 2) > 0, "%s: particle %lld was not read", path, (long long)k);
    CHECK(status != IO_OK || p.has_box, "%s: read without its box, after %s", path, failed);
    io_particles_free(&p);
    return status;
}

/** A snapshot: its header and units, too. */
static io_status read_snapshot(const char *path, io_error *error)
{
    const io_read_options options = {0};
    io_particles p;
    const io_status status = io_read(path, &options, &p, error);
    CHECK(status != IO_OK || (p.cosmology.known && p.cosmology.h == 0.7 && p.has_time),
          "%s: read without its universe, after %s", path, failed);
    CHECK(status != IO_OK || (p.units.source == IO_UNITS_FILE && p.units.length == 3.1e24),
          "%s: read without its units, after %s", path, failed);
    io_particles_free(&p);
    return read_particles(path, error);
}

/** Write a text, or one for each axis, as an attribute. */
static void put_words(hid_t at, const char *name, hsize_t n, const char words[][9])
{
    const hid_t word = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &n, NULL);
    H5Tset_size(word, sizeof words[0]);
    const hid_t attribute = H5Acreate2(at, name, word, space, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Awrite(attribute, word, words) >= 0, "%s", name);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(word);
}

/** H5MD of one frame, in nm, in a box that is open along y. */
static void make_h5md(const char *path)
{
    const hsize_t frame[3] = {1, N, 3}, sides = 3;
    const double edges[3] = {10, 10, 10};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t space = H5Screate_simple(3, frame, NULL), row = H5Screate_simple(1, &sides, NULL);
    const hid_t at = H5Dcreate2(file, "particles/all/position/value", H5T_NATIVE_DOUBLE, space,
                                links, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t box = H5Gcreate2(file, "particles/all/box", links, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t edge = H5Dcreate2(box, "edges", H5T_NATIVE_DOUBLE, row, links, H5P_DEFAULT,
                                  H5P_DEFAULT);
    CHECK(H5Dwrite(at, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, xyz) >= 0, "%s", path);
    CHECK(H5Dwrite(edge, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, edges) >= 0, "%s", path);
    put_words(at, "unit", 1, (const char[1][9]){"nm"});
    put_words(box, "boundary", 3, (const char[3][9]){"periodic", "none", "periodic"});
    H5Dclose(edge);
    H5Gclose(box);
    H5Dclose(at);
    H5Sclose(row);
    H5Sclose(space);
    H5Pclose(links);
    CHECK(H5Fclose(file) >= 0, "%s", path);
}

static io_status read_h5md(const char *path, io_error *error)
{
    const io_trajectory_options options = {.read = {0}};
    io_trajectory *t;
    const io_frame *frame = NULL;
    io_status status = io_trajectory_open(path, &options, &t, error);
    if (status == IO_OK)
        status = io_trajectory_next(t, &frame, error);
    if (status == IO_OK && CHECK(frame != NULL, "%s: no frame, after %s", path, failed)) {
        const io_particles *p = &frame->particles;
        CHECK(p->has_box && p->box.row[2][2] == 10, "%s: no box, after %s", path, failed);
        CHECK(!p->box.periodic[1] && p->box.periodic[2], "%s: other bounds, after %s", path,
              failed);
        CHECK(strcmp(frame->unit, "nm") == 0, "%s: no unit, after %s", path, failed);
    }
    io_trajectory_close(t);
    return status;
}

static io_status read_labels(const char *path, io_error *error)
{
    int32_t got[N] = {0};
    int64_t groups = 0;
    const io_status status = io_read_labels(path, N, id, got, &groups, error);
    CHECK(status != IO_OK || (groups == 2 && got[0] > 0 && got[0] == got[1] && got[3] == 0),
          "%s: other labels, after %s", path, failed);
    return status;
}

static io_status read_bytes(const char *path, io_error *error)
{
    io_vectors v;
    const io_status status = io_read_vectors(path, NULL, true, &v, error);
    CHECK(status != IO_OK || (v.n == 2 && v.dim == 3 && memcmp(v.values, "\1\2\3\4\5\6", 6) == 0),
          "%s: other bytes, after %s", path, failed);
    io_vectors_free(&v);
    return status;
}

static io_status read_vectors(const char *path, io_error *error)
{
    io_vectors v;
    const io_status status = io_read_vectors(path, NULL, false, &v, error);
    CHECK(status != IO_OK || ((const float *)v.values)[5] == 6, "%s: other numbers, after %s", path,
          failed);
    io_vectors_free(&v);
    return status;
}

static const char *weights; /**< that frames are read with */

static io_status read_frames(const char *path, io_error *error)
{
    const io_trajectory_options options = {.read.fields = IO_WEIGHTS, .weights = weights};
    io_trajectory *t;
    const io_frame *f = NULL;
    io_status status = io_trajectory_open(path, &options, &t, error);
    for (int k = 0; k < 2 && status == IO_OK; k++) {
        status = io_trajectory_next(t, &f, error);
        if (status == IO_OK && f)
            CHECK(f->particles.n == 2 && files_at(&f->particles, 1, 2) == 7 + 6 * k,
                  "%s: other positions, after %s", path, failed);
    }
    io_trajectory_close(t);
    return status;
}

static void put(hid_t at, const char *name, hid_t kind, int rank, const hsize_t *shape,
                const void *data)
{
    const hid_t space = H5Screate_simple(rank, shape, NULL);
    const hid_t dataset = H5Dcreate2(at, name, kind, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(dataset >= 0 && H5Dwrite(dataset, kind, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "%s",
          name);
    H5Dclose(dataset);
    H5Sclose(space);
}

/** Write words of 9 bytes, or of variable length. @param words  NULL: their memory is not set */
static void put_text(hid_t at, const char *of, const char *name, bool variable, hsize_t n,
                     const char *const *words)
{
    char fixed[3][9] = {{0}};
    const hid_t object = H5Oopen(at, of, H5P_DEFAULT), word = H5Tcopy(H5T_C_S1);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    H5Tset_size(word, variable ? H5T_VARIABLE : sizeof fixed[0]);
    const hid_t attribute = H5Acreate2(object, name, word, space, H5P_DEFAULT, H5P_DEFAULT);
    for (hsize_t k = 0; k < n && words; k++)
        strcpy(fixed[k], words[k]);
    CHECK(attribute >= 0 &&
              (!words || H5Awrite(attribute, word, variable ? (const void *)words : fixed) >= 0),
          "%s", name);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(word);
    H5Oclose(object);
}

/** A file of H5MD with two frames of two particles: the box, species and weights of each frame, or
 *  of all; words of fixed or variable length. */
static void put_h5md(const char *name, bool each, bool variable)
{
    static const double position[2][2][3] = {{{2, 3, 4}, {5, 6, 7}}, {{8, 9, 10}, {11, 12, 13}}};
    static const double edges[2][3] = {{10, 20, 30}, {10, 20, 30}}, charge[2][2] = {{1, 2}, {3, 4}};
    static const int64_t step[2] = {0, 5};
    static const int species[2][2] = {{7, 9}, {7, 9}};
    static const char *const boundary[3] = {"none", "periodic", "periodic"}, *const unit = "nm";
    static const char *const groups[] = {"/particles",
                                         "/particles/all",
                                         "/particles/all/position",
                                         "/particles/all/box",
                                         "/particles/all/box/edges",
                                         "/particles/all/charge",
                                         "/particles/all/species"};
    char path[64];
    const hid_t file = H5Fcreate(files_path(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (int k = 0; k < (each ? 7 : 4); k++)
        H5Gclose(H5Gcreate2(file, groups[k], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put(file, "/particles/all/position/value", H5T_NATIVE_DOUBLE, 3, (const hsize_t[]){2, 2, 3},
        position);
    put(file, "/particles/all/position/step", H5T_NATIVE_INT64, 1, (const hsize_t[]){2}, step);
    put(file, "/particles/all/position/time", H5T_NATIVE_DOUBLE, 1, (const hsize_t[]){2}, edges[0]);
    const hsize_t two[] = {2, 2}, box[] = {2, 3};
    const int skip = !each;
    snprintf(path, sizeof path, "/particles/all/box/edges%s", each ? "/value" : "");
    put(file, path, H5T_NATIVE_DOUBLE, 2 - skip, box + skip, edges);
    put_text(file, path, "unit", variable, 1, &unit);
    snprintf(path, sizeof path, "/particles/all/charge%s", each ? "/value" : "");
    put(file, path, H5T_NATIVE_DOUBLE, 2 - skip, two + skip, charge);
    snprintf(path, sizeof path, "/particles/all/species%s", each ? "/value" : "");
    put(file, path, H5T_NATIVE_INT, 2 - skip, two + skip, species);
    put_text(file, "/particles/all/box", "boundary", variable, 3, boundary);
    put_text(file, "/particles/all/position/value", "unit", variable, 1, variable ? NULL : &unit);
    H5Fclose(file);
}

/** All that such a file says. */
static void check_h5md(const char *name, bool each)
{
    const io_trajectory_options options = {.read.fields = IO_WEIGHTS, .weights = "charge"};
    io_error error = {0};
    io_trajectory *t;
    const io_frame *f = NULL;
    io_status status = io_trajectory_open(files_path(name), &options, &t, &error);
    for (int k = 0; k < 2 && status == IO_OK; k++) {
        status = io_trajectory_next(t, &f, &error);
        if (!CHECK(status == IO_OK && f && f->particles.has_box && f->weight, "%s", error.text))
            break;
        const kith_box *box = &f->particles.box;
        CHECK(box->row[2][2] == 30 && !box->periodic[0] && box->periodic[2], "%s: box", name);
        CHECK(f->step == 5 * k && f->particles.time == 10 * (k + 1), "%s: time", name);
        CHECK(f->weight[1] == 2 + (each ? 2 * k : 0), "%s: %g", name, f->weight[1]);
        CHECK(strcmp(f->names[f->species[1]], "9") == 0 && strcmp(f->unit, "nm") == 0,
              "%s: %s in %s", name, f->names[f->species[1]], f->unit);
    }
    io_trajectory_close(t);
}

/** A box of another shape is refused; species and weights of another kind are not there. */
static void test_odd_h5md(void)
{
    static const double two[2] = {1, 2};
    static const char *const odd[] = {"species", "charge"};
    const char *path = files_path("odd.h5"), edges[] = "/particles/all/box/edges";
    put_h5md("odd.h5", false, false);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int k = 0; k < 2; k++) {
        char name[64];
        snprintf(name, sizeof name, "/particles/all/%s", odd[k]);
        H5Ldelete(file, name, H5P_DEFAULT);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    H5Ldelete(file, edges, H5P_DEFAULT);
    put(file, edges, H5T_NATIVE_DOUBLE, 1, (const hsize_t[]){2}, two);
    H5Fclose(file);
    io_error error = {0};
    io_trajectory *t;
    const io_frame *f = NULL;
    io_status status = io_trajectory_open(path, NULL, &t, &error);
    if (status == IO_OK)
        status = io_trajectory_next(t, &f, &error);
    CHECK(status == IO_FORMAT && strstr(error.text, edges), "%s", error.text);
    io_trajectory_close(t);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, edges, H5P_DEFAULT);
    H5Fclose(file);
    status = io_trajectory_open(path, NULL, &t, &error);
    if (status == IO_OK)
        status = io_trajectory_next(t, &f, &error);
    CHECK(status == IO_OK && f && !f->particles.has_box && f->n_names == 1 && f->names[0][0] == 0,
          "%s", error.text);
    io_trajectory_close(t);
    char long_name[300];
    snprintf(long_name, sizeof long_name, "%0299d", 0);
    for (int k = 0; k < 2; k++) {
        weights = k ? long_name : "charge";
        const io_trajectory_options options = {.read = {.fields = IO_WEIGHTS, .needed = IO_WEIGHTS},
                                               .weights = weights};
        status = io_trajectory_open(path, &options, &t, &error);
        if (status == IO_OK)
            status = io_trajectory_next(t, &f, &error);
        CHECK(status == IO_MISSING && strstr(error.text, path) && strstr(error.text, weights),
              "%d: %s", status, error.text);
        io_trajectory_close(t);
    }
}

/** A type of particles whose group cannot be opened must not be left out of a snapshot. */
static void test_lost_type(void)
{
    const char *path = files_path("lost.hdf5");
    const io_particles p = five();
    io_error error = {0};
    CHECK(io_write_particles(path, IO_HDF5, &p, &error) == IO_OK, "%s", error.text);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", file, "PartType2", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    io_particles got;
    const io_status status = io_read(path, NULL, &got, &error);
    CHECK(status == IO_FORMAT && strstr(error.text, path) && strstr(error.text, "PartType2"),
          "%d, %lld particles: %s", status, (long long)got.n, error.text);
    io_particles_free(&got);
}

/** Files of h5py's, as it were. */
static void put_matrix(void)
{
    static const uint8_t spins[6] = {1, 2, 3, 4, 5, 6};
    const hid_t file = H5Fcreate(files_path("matrix.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put(file, "spins", H5T_NATIVE_UINT8, 2, (const hsize_t[]){2, 3}, spins);
    put(file, "list", H5T_NATIVE_UINT8, 1, (const hsize_t[]){6}, spins);
    H5Gclose(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Lcreate_soft("/nowhere", file, "link", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
}

static io_status inspect(const char *path, io_error *error)
{
    static io_summary summary;
    return io_inspect(path, &summary, error);
}

/** Fail each call of a deed. A deed that writes never succeeds without one of them. */
static void fail_each(io_status (*act)(const char *, io_error *), const char *name, bool writes)
{
    char path[512];
    snprintf(path, sizeof path, "%s", files_path(name));
    io_error error = {0};
    fail_at = -1;
    if (!CHECK(act(path, &error) == IO_OK, "%s: %s", name, error.text))
        return;
    int64_t k = 0;
    for (bool reached = true; reached; k++) {
        if (writes)
            remove(path);
        error.text[0] = '\0';
        calls = 0;
        fail_at = k;
        const io_status status = act(path, &error);
        reached = calls > k;
        fail_at = -1;
        CHECK(!reached || !writes || status != IO_OK, "%s: written, though %s failed", name,
              failed);
        CHECK(status == IO_OK || error.text[0], "%s: no sentence, after %s", name, failed);
        CHECK(files_count(".part") == 0, "%s: a part is left, after %s", name, failed);
        CHECK(!writes || !reached || files_count(name) == 0, "%s: left, after %s", name, failed);
    }
    CHECK(k > 5, "%s: nothing was made to fail", name);
    CHECK(act(path, &error) == IO_OK, "%s: %s", name, error.text);
}

int main(void)
{
    files_begin();
    fail_each(write_particles, "particles.h5", true);
    fail_each(write_pairs, "pairs.h5", true);
    fail_each(write_labels, "labels.hdf5", true);
    fail_each(write_sorted, "sorted.hdf5", true);
    fail_each(write_gadget4, "gadget4.hdf5", true);
    fail_each(write_swift, "swift.hdf5", true);
    fail_each(read_particles, "particles.h5", false);
    fail_each(read_snapshot, "sorted.hdf5", false);
    make_h5md(files_path("md.h5md"));
    fail_each(read_h5md, "md.h5md", false);
    fail_each(read_labels, "labels.hdf5", false);
    fail_each(read_labels, "gadget4.hdf5", false);
    fail_each(inspect, "sorted.hdf5", false);
    put_matrix();
    fail_each(read_bytes, "matrix.h5", false);
    fail_each(read_vectors, "matrix.h5", false);
    for (int kind = 0; kind < 4; kind++) {
        put_h5md("frames.h5", kind & 1, kind & 2);
        check_h5md("frames.h5", kind & 1);
        weights = "charge";
        fail_each(read_frames, "frames.h5", false);
        fail_each(inspect, "frames.h5", false);
    }
    test_odd_h5md();
    test_lost_type();
    return check_done();
}
