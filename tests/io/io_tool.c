/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What io_judge.py and io_snapshots.py drive.
 *
 *     io_tool read FILE [DATASET]     n, dim, precision, box lengths; then the raw coordinates
 *     io_tool fields                  for each line of standard input, FILE, SPECIES, NEEDED and
 *                                     PRECISION between tabs: all fields, as a line of JSON and the
 *                                     raw arrays; or the status and the sentence, a line each
 *     io_tool frames FILE             for each: n, precision, step or -1, the rows of the box,
 *                                     periodic axes, names; raw coordinates; raw species (int32)
 *     io_tool pairs FILE N PRECISION  write a list of N pairs made by formula
 *     io_tool convert FILE FORMAT OUT write FILE's particles in another format, by number
 *
 * A file that can be read in parts is read whole and in parts, which must be equal.
 */
#include <trajectories/trajectory.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const io_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    return 1;
}

/** Return true when an array of a part has the bytes of the whole, or neither has the array. */
static bool same_array(const void *all, const io_particles *part, const void *some, size_t row)
{
    return !all ? !some
                : some && memcmp((const char *)all + (size_t)part->first * row, some,
                                 (size_t)part->n * row) == 0;
}

/** Return true when a part follows the ones before and has the numbers of the whole. */
static bool same_part(const io_particles *whole, const io_particles *part, int64_t first)
{
    const size_t real = (size_t)whole->precision;
    return part->first == first && part->all == whole->n && part->dim == whole->dim &&
           part->precision == whole->precision && part->bytes == whole->bytes &&
           part->partial == whole->partial && part->frames == whole->frames &&
           memcmp(&part->box, &whole->box, sizeof part->box) == 0 &&
           memcmp(part->in_file, whole->in_file, sizeof part->in_file) == 0 &&
           same_array(whole->pos, part, part->pos, 3 * real) &&
           same_array(whole->velocity, part, part->velocity, 3 * real) &&
           same_array(whole->id, part, part->id, 8) &&
           same_array(whole->mass, part, part->mass, real) &&
           same_array(whole->type, part, part->type, 1) &&
           same_array(whole->potential, part, part->potential, real) &&
           same_array(whole->density, part, part->density, real);
}

/** End the tool where the parts of a file are not those of the whole. */
static void check_parts(const char *path, const io_read_options *options, const io_particles *whole)
{
    enum { MOST = 100000 };
    static const int64_t counts[] = {2, 3, 19};
    io_error error;
    bool can;
    if (io_reads_parts(path, options, &can, &error) != IO_OK || whole->all != whole->n)
        exit(3);
    for (size_t k = 0; k < sizeof counts / sizeof *counts && can && whole->n < MOST; k++) {
        const int64_t parts = counts[k];
        int64_t first = 0;
        for (int64_t part = 0; part < parts; part++) {
            io_read_options how = *options;
            io_particles got;
            how.part = part;
            how.parts = parts;
            if (io_read(path, &how, &got, &error) != IO_OK || !same_part(whole, &got, first)) {
                fprintf(stderr, "%s: part %lld of %lld differs: %s\n", path, (long long)part,
                        (long long)parts, error.text);
                exit(3);
            }
            first += got.n;
            io_particles_free(&got);
        }
        if (first != whole->n)
            exit(3);
    }
}

static int read_file(const char *path, const char *dataset)
{
    const io_read_options options = {.dataset = dataset};
    io_particles got;
    io_error error;
    if (io_read(path, &options, &got, &error) != IO_OK)
        return fail(&error);
    check_parts(path, &options, &got);
    printf("%lld %d %d %.17g %.17g %.17g\n", (long long)got.n, got.dim, (int)got.precision,
           got.box.row[0][0], got.box.row[1][1], got.box.row[2][2]);
    fwrite(got.pos, 3 * (size_t)got.precision, (size_t)got.n, stdout);
    io_particles_free(&got);
    return 0;
}

static void print_reals(const char *name, const double *reals, int n)
{
    printf("\"%s\": [", name);
    for (int k = 0; k < n; k++)
        printf("%s%.17g", k ? ", " : "", reals[k]);
    printf("], ");
}

static void print_header(const io_particles *p)
{
    const io_cosmology *c = &p->cosmology;
    const io_units *u = &p->units;
    const double box[3] = {p->box.row[0][0], p->box.row[1][1], p->box.row[2][2]};
    printf("{\"n\": %lld, \"dim\": %d, \"precision\": %d, \"bytes\": %lld, ", (long long)p->n,
           p->dim, (int)p->precision, (long long)p->bytes);
    printf("\"source\": %d, \"known\": %d, \"has_box\": %d, \"time\": %.17g, ", (int)u->source,
           c->known, p->has_box, p->time);
    print_reals("box", box, 3);
    print_reals("mass_of_type", p->mass_of_type, IO_MOST_TYPES);
    print_reals("cosmology",
                (double[]){c->a, c->redshift, c->h, c->omega_m, c->omega_lambda, c->omega_b}, 6);
    print_reals("units", (double[]){u->length, u->mass, u->velocity, u->length_h, u->mass_h}, 5);
}

static void print_arrays(const io_particles *p)
{
    const size_t real = (size_t)p->precision;
    const struct {
        const char *name;
        const void *data;
        size_t row;
    } arrays[] = {{"pos", p->pos, 3 * real}, {"vel", p->velocity, 3 * real},
                  {"id", p->id, 8},          {"mass", p->mass, real},
                  {"type", p->type, 1},      {"pot", p->potential, real},
                  {"rho", p->density, real}};
    printf("\"arrays\": [\"\"");
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        if (arrays[k].data)
            printf(", \"%s\"", arrays[k].name);
    printf("]}\n");
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        if (arrays[k].data)
            fwrite(arrays[k].data, arrays[k].row, (size_t)p->n, stdout);
}

static void print_fields(const char *path, const char *species, unsigned needed, int precision)
{
    const unsigned all = IO_MASSES | IO_VELOCITIES | IO_IDS | IO_TYPES | IO_POTENTIALS |
                         IO_DENSITIES;
    const io_read_options options = {.species = species[0] ? species : NULL,
                                     .fields = all,
                                     .needed = needed,
                                     .precision = (kith_precision)precision};
    io_particles got;
    io_error error;
    if (io_read(path, &options, &got, &error) != IO_OK) {
        printf("%d\n%s\n", -(int)error.status, error.text);
    } else {
        check_parts(path, &options, &got);
        print_header(&got);
        print_arrays(&got);
    }
    io_particles_free(&got);
    fflush(stdout);
}

static int serve_fields(void)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        char *at = line;
        const char *path = strsep(&at, "\t"), *species = strsep(&at, "\t");
        const char *needed = strsep(&at, "\t"), *precision = strsep(&at, "\t");
        if (!precision)
            return 2;
        print_fields(path, species, (unsigned)atoi(needed), atoi(precision));
    }
    return 0;
}

static void print_frame(const io_frame *f)
{
    const io_particles *particles = &f->particles;
    const kith_box *box = &particles->box;
    printf("%lld %d %lld", (long long)particles->n, (int)particles->precision,
           f->has_step ? (long long)f->step : -1ll);
    for (int k = 0; k < 9; k++)
        printf(" %.17g", box->row[k / 3][k % 3]);
    for (int axis = 0; axis < 3; axis++)
        printf(" %d", box->periodic[axis]);
    for (int k = 0; k < f->n_names; k++)
        printf(" %s", f->names[k]);
    putchar('\n');
    fwrite(particles->pos, 3 * (size_t)particles->precision, (size_t)particles->n, stdout);
    fwrite(f->species, sizeof *f->species, (size_t)particles->n, stdout);
}

static int read_frames(const char *path)
{
    io_trajectory *t;
    const io_frame *frame;
    io_error error;
    io_status status = io_trajectory_open(path, NULL, &t, &error);
    while (status == IO_OK && (status = io_trajectory_next(t, &frame, &error)) == IO_OK && frame)
        print_frame(frame);
    io_trajectory_close(t);
    return status == IO_OK ? 0 : fail(&error);
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
    if (argc == 2 && strcmp(argv[1], "fields") == 0)
        return serve_fields();
    if (argc == 3 && strcmp(argv[1], "frames") == 0)
        return read_frames(argv[2]);
    if (argc == 5 && strcmp(argv[1], "pairs") == 0)
        return write_pairs(argv[2], atoll(argv[3]), (kith_precision)atoi(argv[4]));
    if (argc == 5 && strcmp(argv[1], "convert") == 0)
        return convert(argv[2], (io_format)atoi(argv[3]), argv[4]);
    fprintf(stderr, "io_tool: no such call\n");
    return 2;
}
