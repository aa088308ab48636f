/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What io_judge.py drives.
 *
 *     io_tool read FILE [DATASET]     n, dim, precision, box lengths; then the raw coordinates
 *     io_tool pairs FILE N PRECISION  write a list of N pairs made by formula
 *     io_tool convert FILE FORMAT OUT write FILE's particles in another format, by number
 */
#include <io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const io_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    return 1;
}

static int read_file(const char *path, const char *dataset)
{
    io_particles got;
    io_error error;
    if (io_read(path, &(io_read_options){.dataset = dataset}, &got, &error) != IO_OK)
        return fail(&error);
    printf("%lld %d %d %.17g %.17g %.17g\n", (long long)got.n, got.dim, (int)got.precision,
           got.box.row[0][0], got.box.row[1][1], got.box.row[2][2]);
    fwrite(got.pos, 3 * (size_t)got.precision, (size_t)got.n, stdout);
    io_particles_free(&got);
    return 0;
}

/** Pair p is (p, 2p), distance p / 3, vector (p / 4, p / 5, p / 6), shift (1, 0, -1), by blocks. */
static int write_pairs(const char *path, int64_t n, kith_precision precision)
{
    enum { BLOCK = 100000 };
    static int32_t i[BLOCK], j[BLOCK], shifts[BLOCK][3];
    static float f1[BLOCK], f3[BLOCK][3];
    static double d1[BLOCK], d3[BLOCK][3];
    const io_pairs_layout layout = {.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS,
                                    .precision = precision,
                                    .command = "io_tool",
                                    .cutoff = 0.5,
                                    .n_particles = 10};
    io_pairs_writer *writer;
    io_error error;
    if (io_pairs_open(path, &layout, &writer, &error) != IO_OK)
        return fail(&error);
    for (int64_t first = 0; first < n; first += BLOCK) {
        kith_pairs pairs = {.n = n - first < BLOCK ? n - first : BLOCK,
                            .i = i,
                            .j = j,
                            .distances = precision == KITH_FLOAT ? (void *)f1 : (void *)d1,
                            .vectors = precision == KITH_FLOAT ? (void *)f3 : (void *)d3,
                            .shifts = &shifts[0][0]};
        for (int64_t p = 0; p < pairs.n; p++) {
            i[p] = (int32_t)(first + p);
            j[p] = 2 * i[p];
            d1[p] = i[p] / 3.0;
            f1[p] = (float)d1[p];
            for (int axis = 0; axis < 3; axis++) {
                d3[p][axis] = i[p] / (4.0 + axis);
                f3[p][axis] = (float)d3[p][axis];
                shifts[p][axis] = 1 - axis;
            }
        }
        if (io_pairs_write(writer, &pairs, &error) != IO_OK) {
            io_pairs_abort(writer);
            return fail(&error);
        }
    }
    return io_pairs_commit(writer, &error) == IO_OK ? 0 : fail(&error);
}

static int convert(const char *path, io_format format, const char *out)
{
    io_particles got;
    io_error error;
    if (io_read(path, NULL, &got, &error) != IO_OK)
        return fail(&error);
    const io_status status = io_write_particles(out, format, &got, &error);
    io_particles_free(&got);
    return status == IO_OK ? 0 : fail(&error);
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "read") == 0)
        return read_file(argv[2], argc > 3 ? argv[3] : NULL);
    if (argc == 5 && strcmp(argv[1], "pairs") == 0)
        return write_pairs(argv[2], atoll(argv[3]), (kith_precision)atoi(argv[4]));
    if (argc == 5 && strcmp(argv[1], "convert") == 0)
        return convert(argv[2], (io_format)atoi(argv[3]), argv[4]);
    fprintf(stderr, "io_tool: no such call\n");
    return 2;
}
