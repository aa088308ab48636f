/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation of readers and writers made to fail, and every step of theirs: IO_NO_MEMORY or
 * the status of the step, no result, no file.
 *     test_io_no_memory CORPUS    the folder of the fuzzers' kept inputs
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "check.h"
#include "io_files.h"
#include "io_steps.h"

#include <catalogues/catalogue.h>
#include <trajectories/recording.h>
#include <trajectories/trajectory.h>

enum { MOST_FILES = 12, MOST_FRAMES = 20, ROWS = 3 };

/** Something to do with a file. */
typedef io_status (*deed)(const char *path, io_error *error);

static io_status read_particles(const char *path, io_error *error)
{
    const io_read_options options = {.fields = IO_MASSES | IO_VELOCITIES | IO_IDS | IO_TYPES};
    io_particles particles;
    const io_status status = io_read(path, &options, &particles, error);
    io_particles_free(&particles);
    return status;
}

static io_status inspect(const char *path, io_error *error)
{
    static io_summary summary;
    return io_inspect(path, &summary, error);
}

static bool ahead; /**< frames that were not asked for may be read ahead, and fail unseen */

static io_status read_frames(const char *path, io_error *error)
{
    const io_trajectory_options options = {
        .read = {.fields = IO_VELOCITIES | IO_FORCES | IO_IDS | IO_MOLECULES | IO_BONDS},
        .frames = "::2"};
    io_trajectory *t;
    const io_frame *frame = NULL;
    io_status status = io_trajectory_open(path, &options, &t, error);
    for (int k = 0; k < MOST_FRAMES && status == IO_OK && (k == 0 || frame); k++)
        status = io_trajectory_next(t, &frame, error);
    ahead = frame != NULL;
    io_trajectory_close(t);
    return status;
}

static io_status read_vectors(const char *path, io_error *error)
{
    io_vectors vectors = {0};
    const io_read_options options = {.precision = KITH_DOUBLE};
    const io_status status = io_read_vectors(path, &options, false, &vectors, error);
    io_vectors_free(&vectors);
    return status;
}

static io_status read_labels(const char *path, io_error *error)
{
    int32_t labels[ROWS];
    int64_t groups;
    return io_read_labels(path, ROWS, NULL, labels, &groups, error);
}

static float numbers[ROWS][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};

static const io_particles three = {
    .n = ROWS, .dim = 3, .precision = KITH_FLOAT, .pos = numbers, .velocity = numbers};

static io_status write_particles(const char *path, io_error *error)
{
    const char *dot = strrchr(path, '.');
    const io_format format = strcmp(dot, ".npy") == 0   ? IO_NPY
                             : strcmp(dot, ".std") == 0 ? IO_TIPSY
                             : strcmp(dot, ".txt") == 0 ? IO_TEXT
                             : strcmp(dot, ".xyz") == 0 ? IO_XYZ
                                                        : IO_HDF5;
    return io_write_particles(path, format, &three, error);
}

static io_status write_pairs(const char *path, io_error *error)
{
    int32_t i[ROWS] = {0, 0, 1}, j[ROWS] = {1, 2, 2};
    const io_pairs_layout layout = {.precision = KITH_FLOAT, .command = "kith", .cutoff = 1};
    const kith_pairs pairs = {.n = ROWS, .i = i, .j = j};
    io_pairs_writer *writer;
    io_status status = io_pairs_open(path, &layout, &writer, error);
    if (status == IO_OK)
        status = io_pairs_write(writer, &pairs, error);
    if (status == IO_OK)
        return io_pairs_commit(writer, error);
    io_pairs_abort(writer);
    return status;
}

static io_status write_table(const char *path, io_error *error)
{
    static const double value[ROWS] = {1, 2, 3};
    const io_table_column columns[2] = {{"r", value, false}, {"n", value, true}};
    return io_write_table(path, columns, 2, ROWS, error);
}

static io_status write_matrix(const char *path, io_error *error)
{
    static const double value[ROWS * 2] = {1, 2, 3, 4, 5, 6};
    io_matrix *matrix;
    io_status status = io_matrix_open(path, ROWS, 2, KITH_FLOAT, &matrix, error);
    if (status == IO_OK)
        status = io_matrix_write(matrix, value, ROWS, error);
    if (status == IO_OK)
        return io_matrix_commit(matrix, error);
    io_matrix_abort(matrix);
    return status;
}

static io_status record(const char *path, io_error *error)
{
    const io_mark begin = {0};
    io_particles particles = three;
    particles.box = kith_box_periodic(10, 10, 10);
    particles.has_box = true;
    io_recording *recording;
    io_status status = io_recording_open(path, &begin, &recording, error);
    for (int64_t step = 0; step < ROWS && status == IO_OK; step++)
        status = io_recording_frame(recording, &particles, NULL, step, error);
    io_error unwanted;
    const io_status closed = io_recording_close(recording, &unwanted);
    return status == IO_OK ? closed : status;
}

/** Groups of three particles, two in the first. */
static io_catalogue two_groups(void)
{
    static const int32_t labels[ROWS] = {1, 1, 2};
    static kith_halo halo[2] = {{.members = 2, .members_of_type = {1, 1}, .mass = 3},
                                {.members = 1, .members_of_type = {0, 1}, .mass = 8}};
    static const kith_halos halos = {.n = 2, .halo = halo};
    static io_particles particles;
    particles = three;
    particles.box = kith_box_periodic(10, 20, 30);
    return (io_catalogue){.halos = &halos,
                          .particles = &particles,
                          .box = &particles.box,
                          .masses = true,
                          .velocities = true,
                          .sphere = {true, true, true, true},
                          .type = {true, true},
                          .length = 1,
                          .min_members = 1,
                          .labels = labels,
                          .command = "kith fof"};
}

static io_status write_catalogue(const char *path, io_error *error)
{
    const io_catalogue catalogue = two_groups();
    return io_write_catalogue(path, IO_CATALOGUE_BY_NAME, &catalogue, error);
}

static io_status write_labels(const char *path, io_error *error)
{
    const io_catalogue catalogue = two_groups();
    return io_write_labels(path, &catalogue, error);
}

/** What a deed does with the file. SEARCHES: it is a folder, in which the file is found. */
typedef enum purpose { READS, SEARCHES, CREATES, REPLACES } purpose;

static void prepare(const char *path, purpose why)
{
    bytes old = {0};
    remove(why <= SEARCHES ? "" : path);
    bytes_add(&old, "old", 3);
    if (why == REPLACES)
        bytes_save(&old, strrchr(path, '/') + 1, old.n);
    free(old.data);
}

/** Whether the file is as it was before a deed that failed. */
static bool is_untouched(const char *path, purpose why)
{
    if (why != REPLACES)
        return why <= SEARCHES || remove(path) != 0;
    bytes now = bytes_load(path);
    const bool same = now.n == 3 && memcmp(now.data, "old", 3) == 0;
    free(now.data);
    return same;
}

/** Check that a deed leaves as many blocks as there were. Not of outputs and folders: libc
 *  allocates blocks of theirs that are not counted, but freed.
 *  @param before  blocks before the deed */
static void check_leaks(const char *what, const char *path, purpose why, int64_t before)
{
    CHECK(why != READS || alloc_live() == before, "%s %s: %d blocks, %d before", what, path,
          (int)alloc_live(), (int)before);
}

/** Fail each step of a deed that can be done. */
static void fail_steps(deed act, const char *what, const char *path, purpose why)
{
    const bool recorded = act == record; /* a file that grows on disk */
    io_error error = {0};
    bool reached = true;
    for (int64_t k = 0; reached && k < 1000; k++) {
        prepare(path, why);
        error.text[0] = '\0';
        const int64_t live = alloc_live();
        steps_fail(k);
        const io_status status = act(path, &error);
        reached = steps_count() > k;
        check_leaks(what, path, why, live);
        steps_fail(-1);
        const bool told = strstr(error.text, STEPS_MESSAGE) ||
                          strstr(error.text, strerror(STEPS_ERROR));
        CHECK(status == IO_OK || (status == IO_SYSTEM && told), "%s %s, %s: status %d, %s", what,
              path, steps_failed(), status, error.text);
        CHECK(!reached || status != IO_OK || (act == read_frames && ahead),
              "%s %s: done, though %s failed", what, path, steps_failed());
        CHECK(files_count(".part") == 0, "%s: a part is left, after %s", what, steps_failed());
        CHECK(status == IO_OK || recorded || is_untouched(path, why), "%s %s: changed, after %s",
              what, path, steps_failed());
    }
}

/** Fail each allocation and each step of a deed that can be done. @return allocations */
static int64_t fail_each(deed act, const char *what, const char *path, purpose why)
{
    io_error error = {0};
    if (act(path, &error) != IO_OK)
        return 0; /* kept as an input that is refused, or a build without HDF5 */
    bool reached = true;
    int64_t k = 0;
    for (; reached && k < 1000; k++) {
        prepare(path, why);
        const int64_t before = alloc_count(), live = alloc_live();
        error.text[0] = '\0';
        alloc_fail(k, 1);
        const io_status status = act(path, &error);
        alloc_fail(0, 0);
        reached = alloc_count() - before > k;
        check_leaks(what, path, why, live);
        CHECK(status == IO_OK || (reached && status == IO_NO_MEMORY), "%s %s, allocation %d: %s",
              what, path, (int)k, error.text);
        CHECK(status == IO_OK || error.text[0], "%s: a status without its sentence", what);
        CHECK(files_count(".part") == 0, "%s: a part is left", what);
        CHECK(status == IO_OK || act == record || is_untouched(path, why), "%s %s: changed", what,
              path);
    }
    if (why != SEARCHES) /* a file of a folder that cannot be read is taken for another one */
        fail_steps(act, what, path, why);
    return k;
}

static int64_t read_folder(const char *corpus, const char *reader)
{
    static const struct {
        deed act;
        const char *what;
    } deeds[] = {{read_particles, "read"},
                 {inspect, "inspect"},
                 {read_frames, "frames of"},
                 {read_vectors, "vectors of"}};
    char folder[512], path[1024];
    snprintf(folder, sizeof folder, "%s/%s", corpus, reader);
    DIR *list = opendir(folder);
    if (!CHECK(list, "no %s", folder))
        return 0;
    int64_t tried = 0;
    const struct dirent *entry;
    for (int files = 0; files < MOST_FILES && (entry = readdir(list)) != NULL; files++) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        for (size_t d = 0; entry->d_name[0] != '.' && d < sizeof deeds / sizeof *deeds; d++)
            tried += fail_each(deeds[d].act, deeds[d].what, path, READS);
    }
    closedir(list);
    return tried;
}

/** Read labels from a text. */
static void test_labels(void)
{
    bytes text = {0};
    bytes_print(&text, "%d\n1\n0\n7\n", ROWS);
    const char *path = bytes_save(&text, "labels.txt", text.n);
    CHECK(fail_each(read_labels, "labels of", path, READS) > 3, "no labels were read");
    remove(path);
    free(text.data);
}

/** Save file `number` of a Gadget snapshot in two files, of one particle each. */
static void save_half(const char *name, int number)
{
    enum { HEADER = 256, FILES = 2, N = 1, TYPES = 6 };
    bytes b = {0};
    bytes_put(&b, HEADER, 4, false);
    for (int type = 0; type < TYPES; type++)
        bytes_put(&b, type == 1 ? N : 0, 4, false);
    for (int type = 0; type < TYPES; type++)
        bytes_put_double(&b, type == 1 ? 1 : 0, false);
    for (int k = 0; k < 2; k++) /* time, redshift */
        bytes_put_double(&b, 0, false);
    for (int k = 0; k < 2; k++) /* flags */
        bytes_put(&b, 0, 4, false);
    for (int type = 0; type < TYPES; type++)
        bytes_put(&b, type == 1 ? FILES * N : 0, 4, false);
    bytes_put(&b, 0, 4, false); /* a flag */
    bytes_put(&b, FILES, 4, false);
    bytes_put_double(&b, 10, false); /* length of the box */
    while (b.n < HEADER + 4)
        bytes_put(&b, 0, 4, false);
    bytes_put(&b, HEADER, 4, false);
    for (int block = 0; block < 3; block++) { /* positions, velocities, ids */
        const int reals = block < 2 ? 3 * N : N;
        bytes_put(&b, 4 * (uint64_t)reals, 4, false);
        for (int k = 0; k < reals; k++)
            bytes_put(&b, block < 2 ? 0 : (uint64_t)number, 4, false);
        bytes_put(&b, 4 * (uint64_t)reals, 4, false);
    }
    bytes_save(&b, name, b.n);
    free(b.data);
}

/** Read a snapshot by its folder, and by its name without the number of a file. */
static void test_folder(void)
{
    char path[512], name[512];
    snprintf(path, sizeof path, "%s", files_path("."));
    snprintf(name, sizeof name, "%s", files_path("half"));
    save_half("half.0", 0);
    save_half("half.1", 1);
    CHECK(fail_each(read_particles, "read", path, SEARCHES) > 10, "no folder was read");
    CHECK(fail_each(read_particles, "read", name, SEARCHES) > 10, "nothing was read by its name");
    remove(files_path("half.0"));
    remove(files_path("half.1"));
}

int main(int argc, char **argv)
{
    static const char *const readers[] = {"npy", "text", "tipsy", "xyz", "gadget", "lammps", "gsd"};
    static const struct {
        deed act;
        const char *name;
    } written[] = {
        {write_particles, "a.npy"},  {write_particles, "a.std"}, {write_particles, "a.txt"},
        {write_particles, "a.xyz"},  {write_particles, "a.h5"},  {write_pairs, "p.npy"},
        {write_pairs, "p.txt"},      {write_pairs, "p.csv"},     {write_pairs, "p.h5"},
        {write_table, "t.npy"},      {write_matrix, "m.npy"},    {write_catalogue, "c.csv"},
        {write_catalogue, "c.list"}, {write_labels, "l.npy"},    {write_labels, "l.grp"},
        {record, "r.gsd"},           {record, "r.xyz"}};
    if (!CHECK(argc == 2, "expected the folder of the kept inputs"))
        return check_done();
    files_begin();
    setenv("KITH_CHEMFILES", "/nowhere", 1);
    for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
        CHECK(read_folder(argv[1], readers[k]) > 10, "%s: nothing was made to fail", readers[k]);
    test_labels();
    test_folder();
    for (size_t k = 0; k < sizeof written / sizeof *written; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s", files_path(written[k].name));
        const int64_t tried = fail_each(written[k].act, "write", path, CREATES);
        if (written[k].act != record)
            fail_each(written[k].act, "replace", path, REPLACES);
        CHECK(tried > 1 || strstr(path, ".h5"), "%s: nothing was made to fail", path);
    }
    return check_done();
}
