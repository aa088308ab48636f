/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files cut short at every length, headers that lie, options that do not fit: an error with a
 * sentence that names the file, and no memory taken for what is not there.
 */
#include "check.h"
#include "io_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect(const char *path, const io_read_options *options, io_status wanted,
                   const char *part)
{
    io_particles got;
    io_error error;
    const io_status status = io_read(path, options, &got, &error);
    CHECK(status == wanted, "status %d, not %d: %s", status, wanted, error.text);
    CHECK(error.status == status && strstr(error.text, path) && strstr(error.text, part),
          "'%s' does not speak of '%s'", error.text, part);
    CHECK(got.pos == NULL && got.n == 0, "particles from a bad file");
    io_particles_free(&got);
}

static void expect_text(const char *text, const io_read_options *options, io_status wanted,
                        const char *part)
{
    bytes b = {0};
    bytes_add(&b, text, strlen(text));
    expect(bytes_save(&b, "bad", b.n), options, wanted, part);
    free(b.data);
}

/** Every shorter file fails; with `rows`, one cut between rows may also read as fewer. */
static void cut_everywhere(io_format format, bool rows)
{
    double pos[3 * 8];
    for (int k = 0; k < 3 * 8; k++)
        pos[k] = 0.125 * k;
    const io_particles given = {.n = 8, .dim = 3, .precision = KITH_DOUBLE, .pos = pos};
    const char *path = files_path("whole");
    const io_status written = io_write_particles(path, format, &given, NULL);
    if (written == IO_UNSUPPORTED)
        return;
    CHECK(written == IO_OK, "cannot write");
    bytes b = bytes_load(path);
    for (size_t n = 0; n < b.n; n++) {
        io_particles got;
        io_error error;
        io_summary summary;
        const char *cut = bytes_save(&b, "cut", n);
        const io_status status = io_read(cut, NULL, &got, &error);
        CHECK((status != IO_OK && error.text[0]) || (rows && (got.n < 8 || n >= b.n - 12)),
              "%s cut to %zu bytes of %zu reads", io_format_name(format), n, b.n);
        io_inspect(cut, &summary, &error);
        io_particles_free(&got);
    }
    free(b.data);
}

static void npy_lie(const char *type, const char *shape, size_t data, io_status wanted,
                    const char *part)
{
    static const char zeros[256];
    bytes b = npy_begin(1, type, false, shape);
    bytes_add(&b, zeros, data);
    expect(bytes_save(&b, "lie.npy", b.n), NULL, wanted, part);
    free(b.data);
}

static void test_npy(void)
{
    npy_lie("'<f8'", "(3, 4)", 96, IO_FORMAT, "transpose");
    npy_lie("'<f8'", "(4,)", 32, IO_FORMAT, "(4,)");
    npy_lie("'<f8'", "(4, 3, 1)", 96, IO_FORMAT, "(n, 3)");
    npy_lie("'<f2'", "(2, 3)", 12, IO_FORMAT, "<f2");
    npy_lie("'<c16'", "(2, 3)", 96, IO_FORMAT, "<c16");
    npy_lie("[('x', '<f8'), ('y', '<f8')]", "(2,)", 32, IO_FORMAT, "('x'");
    npy_lie("'<f8'", "(2, 3)", 47, IO_TRUNCATED, "expected");
    npy_lie("'<f8'", "(2, 3)", 49, IO_FORMAT, "bytes");
    npy_lie("'<f8'", "(2000000000, 3)", 48, IO_TRUNCATED, "2000000000");
    npy_lie("'<f8'", "(2147483648, 3)", 48, IO_LIMIT, "2147483648");
    npy_lie("'<f8'", "(6148914691236517206, 3)", 48, IO_LIMIT, "particles");
    npy_lie("'<f8'", "(99999999999999999999, 3)", 48, IO_LIMIT, "2^63");
    npy_lie("'<f8'", "(-2, 3)", 48, IO_FORMAT, "shape");
    npy_lie("'<f8'", "(2 3)", 48, IO_FORMAT, "','");
    npy_lie("'<f8'", "2, 3", 48, IO_FORMAT, "shape");
    npy_lie("'<f8'", "(1,1,1,1,1,1,1,1,1)", 48, IO_FORMAT, "shape");
    npy_lie("'<f8", "(2, 3)", 48, IO_FORMAT, "header");
    npy_lie("''", "(2, 3)", 48, IO_FORMAT, "descr");
    bytes b = {0};
    bytes_add(&b, "\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13);
    expect(bytes_save(&b, "lie.npy", b.n), NULL, IO_TRUNCATED, "header");
    b.data[6] = 9;
    expect(bytes_save(&b, "lie.npy", b.n), NULL, IO_FORMAT, "version 9");
    free(b.data);
}

static void test_tipsy(void)
{
    static const char zeros[100];
    static const int64_t counts[][3] = {{0, 2, 0}, {2000000000, 0, 0}, {1, 1, 1}};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int big = 0; big < 2; big++) {
            bytes b = tipsy_begin(big, 32, counts[k], 0);
            bytes_add(&b, zeros, 50);
            expect(bytes_save(&b, "lie.std", b.n), NULL, IO_TRUNCATED, "tipsy");
            free(b.data);
        }
    bytes b = tipsy_begin(true, 32, (int64_t[3]){0, 1, 0}, 0);
    bytes_add(&b, zeros, 36);
    const char *path = bytes_save(&b, "one.std", b.n);
    expect(path, &(io_read_options){.species = "gas"}, IO_INVALID, "gas");
    expect(path, &(io_read_options){.species = "dark,plasma"}, IO_INVALID, "plasma");
    expect(path, &(io_read_options){.species = " , "}, IO_INVALID, "names none");
    expect(path, &(io_read_options){.columns = "x"}, IO_INVALID, "columns");
    expect(path, &(io_read_options){.dataset = "x"}, IO_INVALID, "dataset");
    expect(path, &(io_read_options){.frame = 1}, IO_INVALID, "frame");
    expect(path, &(io_read_options){.precision = (kith_precision)5}, IO_INVALID, "precision 5");
    free(b.data);
}

static void test_text(void)
{
    expect_text("1 2 3\n4 5\n", NULL, IO_FORMAT, "line 2");
    expect_text("1,2,3\n\n4,,6\n", NULL, IO_FORMAT, "line 3: column 1 is ''");
    expect_text("1 2 3\n4 5 six\n", NULL, IO_FORMAT, "'six'");
    expect_text("1 2 3x\n", NULL, IO_FORMAT, "'3x'");
    expect_text("1 2 -1e400\n", NULL, IO_FORMAT, "too large");
    expect_text("1;2,5;3\n", NULL, IO_FORMAT, "'2,5'");
    expect_text("5\n6\n", NULL, IO_FORMAT, "one column");
    expect_text("1 2 3\n", &(io_read_options){.columns = "0,1,3"}, IO_INVALID, "'3'");
    expect_text("1 2 3\n", &(io_read_options){.columns = "x,y"}, IO_INVALID, "'x'");
    expect_text("1 2 3\n", &(io_read_options){.columns = "1"}, IO_INVALID, "two or three");
    expect_text("1 2 3\n", &(io_read_options){.columns = "0,1,2,0"}, IO_INVALID, "two or three");
    expect_text("1 2 3\n", &(io_read_options){.columns = "-1,1,2"}, IO_INVALID, "'-1'");
    expect_text("hello world\n", NULL, IO_FORMAT, "hello world");
    expect_text("\n \n", NULL, IO_FORMAT, "no rows");
    expect_text("", NULL, IO_FORMAT, "empty");
    expect_text("\x1f\x8b compressed", NULL, IO_UNSUPPORTED, "gunzip");
    expect_text("\x01\x02\x03", NULL, IO_FORMAT, "binary");
    bytes b = {0};
    for (int k = 0; k < 5 << 20; k++)
        bytes_add(&b, "1", 1);
    expect(bytes_save(&b, "long", b.n), NULL, IO_FORMAT, "longer than");
    free(b.data);
}

static void test_xyz(void)
{
    expect_text("2\n\nO 0 0 0\n", NULL, IO_TRUNCATED, "2 atoms");
    expect_text("2\n\nO 0 0 0\nO 0 0 0\nO 0 0 0\n", NULL, IO_FORMAT, "line 5");
    expect_text("2\n\nO 0 0 0\nO 0 0\n", NULL, IO_FORMAT, "line 4");
    expect_text("2\n\nO 0 0 0\nO 0 0 y\n", NULL, IO_FORMAT, "z is 'y'");
    expect_text("2147483648\n\nO 0 0 0\n", NULL, IO_LIMIT, "2147483648");
    expect_text("99999999999999999999999\n\nO 0 0 0\n", NULL, IO_LIMIT, "9999");
    expect_text("2000000000\n\nO 0 0 0\n", NULL, IO_TRUNCATED, "2000000000");
    expect_text("1\nLattice=\"1 0 0 0 1 0 0 0\"\nO 0 0 0\n", NULL, IO_FORMAT, "Lattice");
    expect_text("1\nLattice=\"1 0 0 0 1 0 0 0 1 1\"\nO 0 0 0\n", NULL, IO_FORMAT, "Lattice");
    expect_text("1\nLattice=\"1 0 0 0 nan 0 0 0 1\"\nO 0 0 0\n", NULL, IO_FORMAT, "finite");
    expect_text("1\nLattice=\"1 0 0 0 1 0 0 0 1\" pbc=\"T F\"\nO 0 0 0\n", NULL, IO_FORMAT, "pbc");
    expect_text("1\nProperties=species:S:1\nO 0 0 0\n", NULL, IO_FORMAT, "pos:R:3");
    expect_text("1\nProperties=pos:R:99999999999\nO 0 0 0\n", NULL, IO_FORMAT, "Properties");
    expect_text("1\n\nO 0 0 0\n", &(io_read_options){.frame = 1}, IO_INVALID, "1 frame, counted");
    expect_text("1\n\nO 0 0 0\n", &(io_read_options){.frame = -1}, IO_INVALID, "frame -1");
    expect_text("1\n\nO 0 0 0\n", &(io_read_options){.species = "Xe"}, IO_INVALID, "Xe");
    expect_text("1\n\n\033[31mO 0 0\n", NULL, IO_FORMAT, "");
}

static int stop(void *user, int64_t done, int64_t total)
{
    (void)user;
    return done >= total / 2;
}

static void test_system(void)
{
    expect(files_path("absent"), NULL, IO_SYSTEM, "No such file");
    expect("/dev/null", NULL, IO_SYSTEM, "device");
    const char *empty = files_path("empty");
    CHECK(mkdir(empty, 0700) == 0, "no folder");
    expect(empty, NULL, IO_SYSTEM, "directory");
    CHECK(rmdir(empty) == 0, "the folder is not empty");
    bytes b = tipsy_begin(false, 32, (int64_t[3]){0, 100000, 0}, 0);
    for (int k = 0; k < 9 * 100000; k++)
        bytes_put_float(&b, 1, false);
    const char *path = bytes_save(&b, "many", b.n);
    expect(path, &(io_read_options){.watch = stop}, IO_CANCELLED, "stopped");
    free(b.data);
}

/** A folder of two snapshots stands for neither of them; what was found in it is freed. */
static void test_two_snapshots(void)
{
    char folder[256];
    bytes b = tipsy_begin(false, 32, (int64_t[3]){0, 1, 0}, 0);
    for (int k = 0; k < 9; k++)
        bytes_put_float(&b, 1, false);
    bytes_save(&b, "first", b.n);
    const char *path = bytes_save(&b, "second", b.n);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    CHECK(!io_snapshot_holds(folder, path), "a folder of two snapshots stands for one of them");
    free(b.data);
}

int main(void)
{
    setenv("KITH_CHEMFILES", "/nowhere", true);
    files_begin();
    cut_everywhere(IO_NPY, false);
    cut_everywhere(IO_TIPSY, false);
    cut_everywhere(IO_HDF5, false);
    cut_everywhere(IO_XYZ, true);
    cut_everywhere(IO_TEXT, true);
    test_npy();
    test_tipsy();
    test_text();
    test_xyz();
    test_two_snapshots();
    test_system();
    return check_done();
}
