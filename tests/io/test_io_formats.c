/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every variant of every format, made here byte by byte, reads as the numbers put in.
 */
#include "check.h"
#include "io_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static double value(int64_t p, int axis)
{
    return (double)(7 * p + 2 * axis) + 0.25;
}

/** Read and compare with value(p, axis), p from `first`; z of 2-D files is 0. */
static void expect(const char *path, const io_read_options *options, int64_t first, int64_t n,
                   int dim, kith_precision precision, bool whole)
{
    io_particles got;
    io_error error;
    const io_status status = io_read(path, options, &got, &error);
    if (!CHECK(status == IO_OK, "%s", error.text))
        return;
    CHECK(got.n == n && got.dim == dim && got.precision == precision,
          "%s: n %lld, dim %d, precision %d", path, (long long)got.n, got.dim, (int)got.precision);
    CHECK((uintptr_t)got.pos % 64 == 0, "not aligned");
    for (int64_t p = 0; p < got.n; p++)
        for (int axis = 0; axis < 3; axis++) {
            const double exact = axis < dim ? value(first + p, axis) : 0;
            CHECK(files_at(&got, p, axis) == (whole ? floor(exact) : exact),
                  "%s: particle %lld axis %d is %g, not %g", path, (long long)p, axis,
                  files_at(&got, p, axis), exact);
        }
    io_particles_free(&got);
}

static void put_number(bytes *b, double number, char kind, int size, bool big)
{
    if (kind == 'f' && size == 4)
        bytes_put_float(b, (float)number, big);
    else if (kind == 'f')
        bytes_put_double(b, number, big);
    else
        bytes_put(b, (uint64_t)number, size, big);
}

static void npy_variant(int version, bool big, char kind, int size, bool fortran, int dim)
{
    enum { N = 17 };
    char type[16], shape[32];
    snprintf(type, sizeof type, "'%c%c%d'", size == 1 ? '|' : big ? '>' : '<', kind, size);
    snprintf(shape, sizeof shape, "(%d, %d)", N, dim);
    bytes b = npy_begin(version, type, fortran, shape);
    for (int k = 0; k < N * dim; k++)
        put_number(&b, fortran ? value(k % N, k / N) : value(k / dim, k % dim), kind, size, big);
    const bool is_float = kind == 'f' && size == 4;
    const char *path = bytes_save(&b, "a.any", b.n);
    expect(path, NULL, 0, N, dim, is_float ? KITH_FLOAT : KITH_DOUBLE, kind != 'f');
    expect(path, &(io_read_options){.precision = KITH_FLOAT}, 0, N, dim, KITH_FLOAT, kind != 'f');
    expect(path, &(io_read_options){.precision = KITH_DOUBLE}, 0, N, dim, KITH_DOUBLE, kind != 'f');
    free(b.data);
}

static void test_npy(void)
{
    static const struct {
        char kind;
        int size;
    } types[] = {{'f', 4}, {'f', 8}, {'i', 1}, {'i', 2}, {'i', 4},
                 {'i', 8}, {'u', 1}, {'u', 2}, {'u', 4}, {'u', 8}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        for (int way = 0; way < 8; way++)
            for (int version = 1; version <= 3; version++)
                npy_variant(version, way & 1, types[k].kind, types[k].size, way & 2,
                            way & 4 ? 2 : 3);
}

/** Float k of a record, other than the position. */
static double other(int64_t p, int k)
{
    return (double)(p + 100 * k) + 0.5;
}

static void put_tipsy(bytes *b, int kind, int64_t p, bool big)
{
    static const int floats[3] = {12, 9, 11};
    for (int k = 0; k < floats[kind]; k++)
        bytes_put_float(b, (float)(k >= 1 && k <= 3 ? value(p, k - 1) : other(p, k)), big);
}

static double real_at(const io_particles *particles, const void *reals, int64_t k)
{
    return particles->precision == KITH_FLOAT ? (double)((const float *)reals)[k]
                                              : ((const double *)reals)[k];
}

/** All fields of a snapshot of these counts. */
static void tipsy_fields(const char *path, const int64_t n[3], kith_precision precision)
{
    static const int potential[3] = {11, 8, 10}, types[3] = {0, 1, 4};
    const unsigned all = IO_MASSES | IO_VELOCITIES | IO_TYPES | IO_POTENTIALS;
    io_particles got;
    io_error error;
    const io_read_options options = {.needed = all, .fields = IO_IDS, .precision = precision};
    if (!CHECK(io_read(path, &options, &got, &error) == IO_OK, "%s", error.text))
        return;
    CHECK(got.id == NULL && got.density == NULL && got.has_time && got.time == 0.25 &&
              !got.cosmology.known && got.units.source == IO_UNITS_NONE,
          "more than a tipsy file has");
    for (int64_t p = 0; p < got.n; p++) {
        const int kind = p < n[0] ? 0 : p < n[0] + n[1] ? 1 : 2;
        bool same = got.type[p] == types[kind] && real_at(&got, got.mass, p) == other(p, 0) &&
                    real_at(&got, got.potential, p) == other(p, potential[kind]);
        for (int axis = 0; axis < 3; axis++)
            same = same && real_at(&got, got.velocity, 3 * p + axis) == other(p, 4 + axis) &&
                   files_at(&got, p, axis) == value(p, axis);
        CHECK(same, "particle %lld", (long long)p);
    }
    io_particles_free(&got);
    if (n[0] == 0)
        return;
    const io_read_options gas = {.needed = IO_DENSITIES, .species = "0"};
    CHECK(io_read(path, &gas, &got, &error) == IO_OK && real_at(&got, got.density, 1) == 701 + 0.5,
          "densities of gas: %s", error.text);
    io_particles_free(&got);
    CHECK(io_read(path, &(io_read_options){.needed = IO_DENSITIES}, &got, &error) == IO_MISSING &&
              strstr(error.text, "densities"),
          "densities of all: %s", error.text);
}

static void tipsy_variant(bool big, int header, const int64_t n[3])
{
    bytes b = tipsy_begin(big, header, n, 0xdeadbeef); /* a pad never set is no count */
    int64_t p = 0;
    for (int kind = 0; kind < 3; kind++)
        for (int64_t k = 0; k < n[kind]; k++)
            put_tipsy(&b, kind, p++, big);
    const char *path = bytes_save(&b, "tipsy", b.n);
    expect(path, NULL, 0, p, 3, KITH_FLOAT, false);
    tipsy_fields(path, n, 0);
    tipsy_fields(path, n, KITH_DOUBLE);
    if (n[1] > 0)
        expect(path, &(io_read_options){.species = "dark"}, n[0], n[1], 3, KITH_FLOAT, false);
    if (n[1] > 0 && n[2] > 0)
        expect(path, &(io_read_options){.species = "stars, Dark", .precision = KITH_DOUBLE}, n[0],
               n[1] + n[2], 3, KITH_DOUBLE, false);
    io_summary summary;
    CHECK(io_inspect(path, &summary, NULL) == IO_OK && summary.n == p && summary.time == 0.25 &&
              summary.species[2].n == n[2] && summary.format == IO_TIPSY,
          "inspect");
    CHECK(strstr(summary.description, big ? "standard" : "native") &&
              strstr(summary.description, header == 32 ? "32" : "28"),
          "described as %s", summary.description);
    free(b.data);
}

/** Counts beyond 2^32 in a file of holes: gas comes first and reads alone; all is too many. */
static void test_tipsy_high_bits(void)
{
    for (int big = 0; big < 2; big++) {
        const int64_t low[3] = {3, 5, 0};
        bytes b = tipsy_begin(big, 32, low, 0x00010001);
        for (int64_t p = 0; p < 3; p++)
            put_tipsy(&b, 0, p, big);
        const char *path = bytes_save(&b, "high", b.n);
        free(b.data);
        if (truncate(path, 32 + 3 * 48 + ((1ll << 32) + 5) * 36) != 0)
            continue; /* this file system has no files so large */
        io_summary summary;
        io_particles all;
        CHECK(io_inspect(path, &summary, NULL) == IO_OK && summary.species[1].n == (1ll << 32) + 5,
              "high bits of the counts");
        expect(path, &(io_read_options){.species = "gas"}, 0, 3, 3, KITH_FLOAT, false);
        CHECK(io_read(path, NULL, &all, NULL) == IO_LIMIT, "2^32 particles were read");
    }
}

static void expect_text(const char *text, const char *columns, int64_t n, int dim)
{
    bytes b = {0};
    bytes_add(&b, text, strlen(text));
    const char *path = bytes_save(&b, "text", b.n);
    expect(path, &(io_read_options){.columns = columns}, 0, n, dim, KITH_DOUBLE, false);
    free(b.data);
}

static void test_text(void)
{
    expect_text("0.25 2.25 4.25\n7.25 9.25 11.25\n", NULL, 2, 3);
    expect_text("# a comment\n\n  0.25\t 2.25   4.25 # end\r\n7.25 9.25 11.25", NULL, 2, 3);
    expect_text("0.25,2.25\n7.25, 9.25\n", NULL, 2, 2);
    expect_text("\"id\";\"X\";\"Y\";\"Z\"\n9;0.25;2.25;4.25\n8;7.25;9.25;11.25\n", NULL, 2, 3);
    expect_text("# z y x\n4.25 2.25 0.25\n", NULL, 1, 3);
    expect_text("# z y x\n4.25 2.25 0.25\n", "x,y", 1, 2);
    expect_text("Ca 4.25 2.25 0.25\n", "3,2,1", 1, 3);
    expect_text("a,b,c,d\n,.25e0,+22.5E-1,4.250000000000000000000\n", "b,c,d", 1, 3);
    expect_text("\xef\xbb\xbf"
                "25e-2\t0x1.2p+1\t4.25\n",
                NULL, 1, 3);
    expect_text("# x y z\n", NULL, 0, 3);
}

static void test_xyz(void)
{
    bytes b = {0};
    bytes_print(&b, "2\na comment\nO 0.25 2.25 4.25\nH 7.25 9.25 11.25\n");
    bytes_print(&b, "3\nLattice=\"4 0 0 1 5 0 2 3 6\" pbc=\"T F 1\" Origin=\"-1 -2 -3\" time=1.5 "
                    "Properties=id:I:1:pos:R:3:species:S:1\n"
                    "1 0.25 2.25 4.25 O\n2 7.25 9.25 11.25 O\n3 14.25 16.25 18.25 Hf\n\n");
    const char *path = bytes_save(&b, "frames", b.n);
    expect(path, NULL, 0, 2, 3, KITH_DOUBLE, false);
    expect(path, &(io_read_options){.species = "H"}, 1, 1, 3, KITH_DOUBLE, false);
    expect(path, &(io_read_options){.frame = 1}, 0, 3, 3, KITH_DOUBLE, false);
    expect(path, &(io_read_options){.frame = 1, .species = "Hf"}, 2, 1, 3, KITH_DOUBLE, false);
    io_summary summary;
    CHECK(io_inspect(path, &summary, NULL) == IO_OK && summary.frames == 2 && summary.n == 2 &&
              summary.n_species == 2,
          "inspect");
    io_particles got;
    CHECK(io_read(path, &(io_read_options){.frame = 1}, &got, NULL) == IO_OK, "second frame");
    const kith_box exact = {{-1, -2, -3}, {{4, 0, 0}, {1, 5, 0}, {2, 3, 6}}, {1, 0, 1}, 3};
    CHECK(got.has_box && memcmp(&got.box, &exact, sizeof exact) == 0, "the box is another");
    io_particles_free(&got);
    free(b.data);
}

static void test_round_trip(io_format format, kith_precision precision, int dim)
{
    enum { N = 1000 };
    double doubles[3 * N];
    float floats[3 * N];
    for (int k = 0; k < 3 * N; k++) {
        doubles[k] = k % 3 < dim ? sin(k) * pow(10, k % 7 - 3) : 0;
        floats[k] = (float)doubles[k];
    }
    io_particles given = {.n = N,
                          .dim = dim,
                          .precision = precision,
                          .has_box = true,
                          .pos = precision == KITH_FLOAT ? (void *)floats : (void *)doubles};
    given.box = (kith_box){{0}, {{5, 0, 0}, {0, 6, 0}, {0, 0, 7}}, {1, 1, 1}, 3};
    const char *path = files_path("round");
    io_error error;
    io_particles got;
    const io_status status = io_write_particles(path, format, &given, &error);
    if (status == IO_UNSUPPORTED)
        return;
    const io_read_options same = {.precision = precision}; /* text has none of its own */
    if (!CHECK(status == IO_OK && io_read(path, &same, &got, &error) == IO_OK, "%s", error.text))
        return;
    const bool boxed = format == IO_XYZ || format == IO_HDF5;
    CHECK(got.n == N && got.has_box == boxed, "%s: n or box", io_format_name(format));
    CHECK(!boxed || memcmp(got.box.row, given.box.row, sizeof got.box.row) == 0, "rows");
    for (int64_t p = 0; p < got.n; p++)
        for (int axis = 0; axis < 3; axis++) {
            const double exact = files_at(&given, p, axis);
            CHECK(files_at(&got, p, axis) == (format == IO_TIPSY ? (double)(float)exact : exact),
                  "%s: %.17g read as %.17g", io_format_name(format), exact,
                  files_at(&got, p, axis));
        }
    io_particles_free(&got);
}

int main(void)
{
    files_begin();
    test_npy();
    for (int way = 0; way < 4; way++) {
        tipsy_variant(way & 1, way & 2 ? 28 : 32, (int64_t[3]){3, 5, 4});
        tipsy_variant(way & 1, way & 2 ? 28 : 32, (int64_t[3]){0, 40000, 0});
        tipsy_variant(way & 1, way & 2 ? 28 : 32, (int64_t[3]){0, 0, 0});
    }
    test_tipsy_high_bits();
    test_text();
    test_xyz();
    for (io_format format = IO_NPY; format <= IO_XYZ; format++)
        for (int dim = 2; dim <= 3; dim++) {
            test_round_trip(format, KITH_FLOAT, dim);
            test_round_trip(format, KITH_DOUBLE, dim);
        }
    return check_done();
}
