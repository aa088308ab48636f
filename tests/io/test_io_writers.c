/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of pairs and of nearest neighbours: what is read back is what was written; a file appears
 * whole or not at all; full disks, folders without permission and aborts leave nothing behind.
 */
#include "check.h"
#include "io_files.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 5000, BLOCKS = 3 };

static const unsigned everything = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;

typedef struct block {
    int32_t i[BLOCK], j[BLOCK], shift[BLOCK][3];
    double distance[BLOCK], vector[BLOCK][3];
} block;

static kith_pairs make_block(block *b, int number)
{
    for (int p = 0; p < BLOCK; p++) {
        const int k = number * BLOCK + p;
        b->i[p] = k;
        b->j[p] = 2147483647 - k;
        b->distance[p] = k / 7.0;
        for (int axis = 0; axis < 3; axis++) {
            b->vector[p][axis] = -k / (3.0 + axis);
            b->shift[p][axis] = axis - k % 3;
        }
    }
    return (kith_pairs){.n = BLOCK,
                        .i = b->i,
                        .j = b->j,
                        .distances = b->distance,
                        .vectors = b->vector,
                        .shifts = &b->shift[0][0]};
}

static io_pairs_layout layout_of(io_format format, unsigned extras)
{
    return (io_pairs_layout){.format = format,
                             .extras = extras,
                             .precision = KITH_DOUBLE,
                             .command = "kith pairs\nx",
                             .cutoff = 0.1,
                             .n_particles = 7};
}

/** Write all blocks. @return the status of the call that failed, or of the commit. */
static io_status write_list(const char *path, const io_pairs_layout *layout, io_error *error)
{
    static block b;
    io_pairs_writer *writer;
    io_status status = io_pairs_open(path, layout, &writer, error);
    for (int k = 0; k < BLOCKS && status == IO_OK; k++) {
        const kith_pairs pairs = make_block(&b, k);
        status = io_pairs_write(writer, &pairs, error);
    }
    if (status == IO_OK)
        return io_pairs_commit(writer, error);
    io_pairs_abort(writer);
    return status;
}

static void test_npy(void)
{
    static block b;
    io_error error;
    const char *path = files_path("list.npy");
    const io_pairs_layout layout = layout_of(IO_UNKNOWN, everything);
    CHECK(write_list(path, &layout, &error) == IO_OK, "%s", error.text);
    bytes file = bytes_load(path);
    enum { HEADER = 256, RECORD = 4 + 4 + 8 + 24 + 12 };
    if (!CHECK(file.n == HEADER + (size_t)BLOCK * BLOCKS * RECORD, "%zu bytes", file.n))
        return;
    CHECK(strstr(file.data + 10, "'shape': (15000,)"), "shape: %.200s", file.data + 10);
    for (int k = 0; k < BLOCK * BLOCKS; k++) {
        if (k % BLOCK == 0)
            make_block(&b, k / BLOCK);
        const char *record = file.data + HEADER + k * RECORD;
        const int p = k % BLOCK;
        CHECK(memcmp(record, &b.i[p], 4) == 0 && memcmp(record + 4, &b.j[p], 4) == 0 &&
                  memcmp(record + 8, &b.distance[p], 8) == 0 &&
                  memcmp(record + 16, b.vector[p], 24) == 0 &&
                  memcmp(record + 40, b.shift[p], 12) == 0,
              "record %d", k);
    }
    free(file.data);
}

static void test_text(const char *name, bool csv)
{
    static block b;
    io_error error;
    const char *path = files_path(name);
    const io_pairs_layout layout = layout_of(IO_UNKNOWN, everything);
    CHECK(write_list(path, &layout, &error) == IO_OK, "%s", error.text);
    bytes file = bytes_load(path);
    bytes_add(&file, "", 1);
    const char *names = csv ? "i,j,distance,dx,dy,dz,Sa,Sb,Sc\n"
                            : "# i j distance dx dy dz Sa Sb Sc\n";
    char *line = strstr(file.data, names);
    if (!CHECK(line, "no line of names: %.200s", file.data))
        return;
    CHECK(csv == (line == file.data), "comments in a csv, or none in text");
    for (char *comma = line; (comma = strchr(comma, ',')); comma++)
        *comma = ' ';
    char *at = line + strlen(names);
    for (int k = 0; k < BLOCK * BLOCKS; k++) {
        if (k % BLOCK == 0)
            make_block(&b, k / BLOCK);
        const int p = k % BLOCK;
        bool same = strtol(at, &at, 10) == b.i[p];
        same = strtol(at, &at, 10) == b.j[p] && same;
        same = strtod(at, &at) == b.distance[p] && same;
        for (int axis = 0; axis < 3; axis++)
            same = strtod(at, &at) == b.vector[p][axis] && same;
        for (int axis = 0; axis < 3; axis++)
            same = strtol(at, &at, 10) == b.shift[p][axis] && same;
        CHECK(same && *at == '\n', "line %d", k);
    }
    CHECK(strcmp(at, "\n") == 0, "more lines than pairs");
    free(file.data);
}

static bool stop_now(void)
{
    return true;
}

/** A row of text is ended where the caller wants it. */
static void test_stop(void)
{
    enum { K = 3 };
    int32_t counts[] = {K}, j[] = {1, 2, 3};
    const kith_nearest nearest = {.rows = 1, .k = K, .counts = counts, .j = j};
    io_error error;
    io_pairs_writer *writer;
    io_pairs_layout layout = layout_of(IO_TEXT, 0);
    layout.k = K;
    layout.stop = stop_now;
    CHECK(io_pairs_open(files_path("rows.txt"), &layout, &writer, &error) == IO_OK, "%s",
          error.text);
    CHECK(io_nearest_write(writer, &nearest, 0, 1, &error) == IO_CANCELLED, "%s", error.text);
    CHECK(error.status == IO_CANCELLED && strstr(error.text, "stopped"), "%s", error.text);
    io_pairs_abort(writer);
}

/** Rows of neighbours: each is a record; a block that lacks an array, and records that NumPy cannot
 *  have, are refused. */
static void test_rows(void)
{
    enum { ROWS = 4, K = 3, HEADER = 256, RECORD = 4 + K * 4 + K * 8 };
    int32_t counts[ROWS] = {3, 1, 0, 2}, j[ROWS * K];
    double distances[ROWS * K];
    for (int p = 0; p < ROWS * K; p++) {
        j[p] = 7 * p;
        distances[p] = p / 7.0;
    }
    kith_nearest nearest = {.rows = ROWS, .k = K, .counts = counts, .j = j, .distances = distances};
    io_error error;
    io_pairs_writer *writer;
    const char *path = files_path("rows.npy");
    io_pairs_layout layout = layout_of(IO_UNKNOWN, KITH_DISTANCES);
    layout.k = K;
    CHECK(io_pairs_open(path, &layout, &writer, &error) == IO_OK, "%s", error.text);
    CHECK(io_nearest_write(writer, &nearest, 0, 1, &error) == IO_OK, "%s", error.text);
    CHECK(io_nearest_write(writer, &nearest, 1, 3, &error) == IO_OK, "%s", error.text);
    CHECK(io_pairs_commit(writer, &error) == IO_OK, "%s", error.text);
    bytes file = bytes_load(path);
    if (!CHECK(file.n == HEADER + ROWS * RECORD, "%zu bytes", file.n))
        return;
    CHECK(strstr(file.data + 10, "('j', '<i4', (3,))"), "type: %.200s", file.data + 10);
    for (int i = 0; i < ROWS; i++) {
        const char *record = file.data + HEADER + i * RECORD;
        CHECK(memcmp(record, &counts[i], 4) == 0 && memcmp(record + 4, &j[i * K], K * 4) == 0 &&
                  memcmp(record + 4 + K * 4, &distances[i * K], K * 8) == 0,
              "record %d", i);
    }
    free(file.data);

    nearest.distances = NULL;
    CHECK(io_pairs_open(path, &layout, &writer, &error) == IO_OK, "%s", error.text);
    CHECK(io_nearest_write(writer, &nearest, 0, ROWS, &error) == IO_INVALID, "no distances");
    CHECK(strstr(error.text, "distance"), "%s", error.text);
    io_pairs_abort(writer);

    layout.k = 200 * 1000 * 1000;
    CHECK(io_pairs_open(path, &layout, &writer, &error) == IO_INVALID, "a large record");
    CHECK(strstr(error.text, "2^31") && !writer, "%s", error.text);
}

/** An old file stays as it was until the commit, and after an abort. */
static void test_abort(io_format format)
{
    static block b;
    io_error error;
    io_pairs_writer *writer;
    bytes old = {0};
    bytes_print(&old, "precious");
    const char *path = bytes_save(&old, "old", old.n);
    const io_pairs_layout layout = layout_of(format, everything);
    const io_status status = io_pairs_open(path, &layout, &writer, &error);
    if (status == IO_UNSUPPORTED) {
        free(old.data);
        return;
    }
    if (!CHECK(status == IO_OK, "%s", error.text))
        exit(check_done());
    const kith_pairs pairs = make_block(&b, 0);
    CHECK(io_pairs_write(writer, &pairs, &error) == IO_OK, "%s", error.text);
    CHECK(files_count(".part") == 1, "%d parts while writing", files_count(".part"));
    const kith_pairs lacking = {.n = 1, .i = b.i, .j = b.j};
    CHECK(io_pairs_write(writer, &lacking, &error) == IO_INVALID, "a block without distances");
    io_pairs_abort(writer);
    bytes now = bytes_load(path);
    CHECK(now.n == old.n && memcmp(now.data, old.data, old.n) == 0, "the old file has changed");
    CHECK(files_count(".part") == 0, "%s: a part is left", io_format_name(format));
    CHECK(write_list(path, &layout, &error) == IO_OK && files_count(".part") == 0, "%s",
          error.text);
    unlink(path);
    free(old.data);
    free(now.data);
}

/** At every limit on the size of files: an error, and nothing left. */
static void test_full(io_format format)
{
    static const rlim_t limits[] = {0, 100, 300, 2048, 4096, 50000, 100000, 300000};
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        const struct rlimit small = {limits[k], before.rlim_max};
        io_error error;
        const char *path = files_path("full");
        const io_pairs_layout layout = layout_of(format, everything);
        setrlimit(RLIMIT_FSIZE, &small);
        const io_status status = write_list(path, &layout, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        if (status == IO_UNSUPPORTED)
            return;
        CHECK(status == IO_SYSTEM && strstr(error.text, strerror(EFBIG)), "%s, limit %d: %d %s",
              io_format_name(format), (int)limits[k], status, error.text);
        CHECK(files_count("full") == 0, "%s: a file is left", io_format_name(format));
    }
}

static void test_full_particles(io_format format)
{
    static float pos[3 * 20000];
    const io_particles given = {.n = 20000, .dim = 3, .precision = KITH_FLOAT, .pos = pos};
    const char *path = files_path("full");
    io_error error;
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, before.rlim_max});
    const io_status status = io_write_particles(path, format, &given, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(status == IO_SYSTEM || status == IO_UNSUPPORTED, "%s: %d %s", io_format_name(format),
          status, error.text);
    CHECK(files_count("full") == 0, "%s: a file is left", io_format_name(format));
}

/* Calls of is_over so far, and after how many it returns true. */
static int calls, most_calls;

static bool is_over(void)
{
    return ++calls > most_calls;
}

/** A write that is stopped ends, and the file keeps what it held: while it is written, and while it
 *  is flushed to disk. */
static void test_stop_writes(io_format format)
{
    enum { N = 400000 }; /* 4.8 MB and more: two parts */
    static float pos[3 * N];
    const io_particles given = {.n = N, .dim = 3, .precision = KITH_FLOAT, .pos = pos};
    for (int k = 0; k < 3 * N; k++) {
        pos[k] = (float)(k % 7) + 0.1234567F; /* text is as long as numbers are */
    }
    const char *path = files_path("stopped");
    io_error error;
    CHECK(io_write_bytes(path, "old", 3, &error) == IO_OK, "%s", error.text);
    io_stop_writes(is_over);
    calls = 0;
    most_calls = INT_MAX;
    const io_status whole = io_write_particles(path, format, &given, &error);
    const int all = calls;
    if (whole != IO_UNSUPPORTED) {
        CHECK(whole == IO_OK && all >= 4, "%s: %d calls, %s", io_format_name(format), all,
              error.text);
        const int moments[] = {0, 1, all / 2, all - 1};
        for (int k = 0; k < 4; k++) {
            io_stop_writes(NULL);
            CHECK(io_write_bytes(path, "old", 3, &error) == IO_OK, "%s", error.text);
            io_stop_writes(is_over);
            calls = 0;
            most_calls = moments[k];
            const io_status status = io_write_particles(path, format, &given, &error);
            bytes b = bytes_load(path);
            CHECK(status == IO_CANCELLED && strstr(error.text, "writing was stopped") && b.n == 3 &&
                      memcmp(b.data, "old", 3) == 0,
                  "%s, call %d of %d: %d %s", io_format_name(format), moments[k], all, status,
                  error.text);
            CHECK(files_count(".part") == 0, "%s: a part is left", io_format_name(format));
            CHECK(calls < moments[k] + 4, "%s: %d calls after %d", io_format_name(format), calls,
                  moments[k]);
            free(b.data);
        }
    }
    io_stop_writes(NULL);
    unlink(path);
}

static void test_places(void)
{
    io_error error;
    const io_pairs_layout text = layout_of(IO_TEXT, 0), any = layout_of(IO_UNKNOWN, 0);
    CHECK(write_list("/dev/full", &text, &error) == IO_SYSTEM && strstr(error.text, "space"),
          "/dev/full: %s", error.text);
    CHECK(write_list("/dev/null", &text, &error) == IO_OK, "/dev/null: %s", error.text);
    CHECK(write_list("/nowhere/list.npy", &any, &error) == IO_SYSTEM, "%s", error.text);
    CHECK(write_list(files_path(""), &text, &error) == IO_SYSTEM && strstr(error.text, "directory"),
          "a folder: %s", error.text);
    CHECK(write_list(files_path("list.what"), &any, &error) == IO_INVALID &&
              strstr(error.text, "ending"),
          "an unknown ending: %s", error.text);
    const io_pairs_layout tipsy = layout_of(IO_TIPSY, 0);
    CHECK(write_list(files_path("list"), &tipsy, &error) == IO_INVALID, "pairs as tipsy");
    const char *link = files_path("link"), *target = files_path("target");
    CHECK(symlink(target, link) == 0 && write_list(target, &text, &error) == IO_OK &&
              write_list(link, &text, &error) == IO_OK,
          "%s", error.text);
    struct stat facts;
    CHECK(lstat(link, &facts) == 0 && S_ISLNK(facts.st_mode), "a link was replaced by a file");
    if (geteuid() != 0) { /* root may write anywhere */
        chmod(files_path("."), 0500);
        CHECK(write_list(files_path("list.npy"), &any, &error) == IO_SYSTEM, "a closed folder");
        chmod(files_path("."), 0700);
    }
    CHECK(files_count(".part") == 0, "a part is left");
    io_pairs_abort(NULL);
}

/** More files at once than have a place in the list of parts; parts that a handler of a crash
 *  removes; what stands where a part is to be. */
static void test_parts(void)
{
    enum { MANY = 40 };
    static const double number = 7;
    io_matrix *matrix[MANY];
    io_error error = {0};
    char name[32];
    for (int k = 0; k < MANY; k++) {
        snprintf(name, sizeof name, "part%d.npy", k);
        CHECK(io_matrix_open(files_path(name), 1, 1, KITH_DOUBLE, &matrix[k], &error) == IO_OK &&
                  io_matrix_write(matrix[k], &number, 1, &error) == IO_OK,
              "%s", error.text);
    }
    CHECK(files_count(".part") == MANY, "%d parts", files_count(".part"));
    for (int k = 0; k < MANY / 2; k++)
        CHECK(io_matrix_commit(matrix[k], &error) == IO_OK, "%s", error.text);
    io_remove_parts();
    CHECK(files_count(".part") == MANY - 32, "%d parts of which 32 were to be removed",
          files_count(".part"));
    for (int k = MANY / 2; k < MANY; k++)
        io_matrix_abort(matrix[k]);
    CHECK(files_count(".part") == 0 && files_count("part") == MANY / 2, "%d files",
          files_count("part"));
    static const struct {
        const char *path;
        int number;
    } descriptors[] = {{"/dev/fd/7", 7}, {"/proc/self/fd/12", 12},  {"/dev/fd/7x", -1},
                       {"/dev/fd/", -1}, {"/proc/self/fd/1/2", -1}, {"/dev/null", -1}};
    for (size_t k = 0; k < sizeof descriptors / sizeof *descriptors; k++)
        CHECK(io_open_descriptor(descriptors[k].path) == descriptors[k].number, "%s",
              descriptors[k].path);
    CHECK((io_check_output("/kith_test_of_writers", &error) == IO_OK) == (access("/", W_OK) == 0),
          "a file of the root: %s", error.text);
    CHECK(symlink("loop", files_path("loop")) == 0 &&
              io_check_output(files_path("loop"), &error) == IO_SYSTEM &&
              strstr(error.text, "cannot create: Too many levels of symbolic links"),
          "%s", error.text);
    CHECK(io_rewrite_bytes(files_path("again"), "one", 3, &error) == IO_OK, "%s", error.text);
    CHECK(mkfifo(files_path("again.part"), 0600) == 0 &&
              io_rewrite_bytes(files_path("again"), "two", 3, &error) == IO_SYSTEM &&
              strstr(error.text, "cannot create: File exists"),
          "a pipe in the place of the part: %s", error.text);
    bytes b = bytes_load(files_path("again"));
    CHECK(b.n == 3 && memcmp(b.data, "one", 3) == 0, "the file is another");
    free(b.data);
    CHECK(remove(files_path("again.part")) == 0, "a pipe was replaced");
}

int main(void)
{
    files_begin();
    signal(SIGXFSZ, SIG_IGN);
    test_npy();
    test_text("list.txt", false);
    test_text("list.csv", true);
    test_rows();
    test_stop();
    static const io_format formats[] = {IO_NPY, IO_TEXT, IO_HDF5};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        test_abort(formats[k]);
        test_full(formats[k]);
    }
    for (io_format format = IO_NPY; format <= IO_XYZ; format++)
        test_full_particles(format);
    for (io_format format = IO_NPY; format <= IO_XYZ; format++)
        test_stop_writes(format);
    test_places();
    test_parts();
    return check_done();
}
