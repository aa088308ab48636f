/* SPDX-License-Identifier: BSD-3-Clause
 *
 * H5MD: datasets beside the positions. Each is made unreadable in turn, by its type, its shape or
 * damage, and the reader must refuse the file by a message that names file and dataset. Elements
 * that a file does not have are no error. Steps and times of equal intervals are read.
 */
#include "check.h"
#include "io_files.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <trajectories/trajectory.h>

#define ALL "/particles/all"

enum { FRAMES = 2, N = 4 };
static const char *path; /**< of the file under test */
static const hsize_t frames_n[] = {FRAMES, N}, sides[] = {3};

static void put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *shape,
                const void *data)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t space = rank > 0 ? H5Screate_simple(rank, shape, NULL) : H5Screate(H5S_SCALAR);
    const hid_t id = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(id >= 0 && H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "%s", name);
    H5Dclose(id);
    H5Sclose(space);
    H5Pclose(links);
}

/** Make a sound file of two frames, and open it to change it.
 *  @param each  species, charges and the box are stored for each frame */
static hid_t make(bool each)
{
    static const hsize_t shape[] = {FRAMES, N, 3}, edges_shape[] = {FRAMES, 3};
    static const double position[FRAMES * N * 3] = {1, 2, 3},
                                              edges[FRAMES * 3] = {9, 9, 9, 9, 9, 9};
    static const double charge[FRAMES * N] = {1, 2, 3, 4, 5, 6, 7, 8}, time[FRAMES] = {0.5, 1.5};
    static const int64_t step[FRAMES] = {10, 20};
    static const int32_t species[FRAMES * N] = {1, 2, 1, 2, 1, 2, 1, 2};
    const int skip = !each;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put(file, ALL "/position/value", H5T_NATIVE_DOUBLE, 3, shape, position);
    put(file, ALL "/position/step", H5T_NATIVE_INT64, 1, frames_n, step);
    put(file, ALL "/position/time", H5T_NATIVE_DOUBLE, 1, frames_n, time);
    put(file, each ? ALL "/species/value" : ALL "/species", H5T_NATIVE_INT32, 2 - skip,
        frames_n + skip, species);
    put(file, each ? ALL "/charge/value" : ALL "/charge", H5T_NATIVE_DOUBLE, 2 - skip,
        frames_n + skip, charge);
    put(file, each ? ALL "/box/edges/value" : ALL "/box/edges", H5T_NATIVE_DOUBLE, 2 - skip,
        edges_shape + skip, edges);
    return file;
}

/** Read all frames. @param[out] last  step of the last frame, time, species and weight of its last
 *  particle */
typedef struct found {
    int64_t frames, step;
    bool has_step, has_time;
    double time, weight, edge;
    char species[8];
} found;

static io_status read_all(found *last, io_error *error)
{
    const io_trajectory_options options = {.read.fields = IO_WEIGHTS, .weights = "charge"};
    io_trajectory *t;
    const io_frame *f = NULL;
    *last = (found){0};
    error->text[0] = '\0';
    io_status status = io_trajectory_open(path, &options, &t, error);
    while (status == IO_OK) {
        status = io_trajectory_next(t, &f, error);
        if (status != IO_OK || !f)
            break;
        const int64_t p = f->particles.n - 1;
        *last = (found){.frames = last->frames + 1,
                        .step = f->step,
                        .has_step = f->has_step,
                        .has_time = f->particles.has_time,
                        .time = f->particles.time,
                        .weight = f->weight ? f->weight[p] : NAN,
                        .edge = f->particles.box.row[0][0]};
        snprintf(last->species, sizeof last->species, "%s", f->names[f->species[p]]);
    }
    io_trajectory_close(t);
    return status;
}

/** The file must be refused by a message that names it and the dataset. Closes the file. */
static void refuse(hid_t file, const char *dataset, const char *what)
{
    found last;
    io_error error;
    CHECK(H5Fclose(file) >= 0, "%s", what);
    const io_status status = read_all(&last, &error);
    CHECK(status == IO_FORMAT || status == IO_TRUNCATED, "%s %s: status %d after %lld frames",
          dataset, what, status, (long long)last.frames);
    CHECK(strstr(error.text, path) && strstr(error.text, dataset), "%s %s: '%s'", dataset, what,
          error.text);
}

/** Replace a dataset of the file. */
static void replace(hid_t file, const char *name, hid_t type, int rank, const hsize_t *shape,
                    const void *data)
{
    CHECK(H5Ldelete(file, name, H5P_DEFAULT) >= 0, "%s", name);
    put(file, name, type, rank, shape, data);
}

static const struct {
    const char *once, *each; /**< paths where it is stored once, and for each frame */
    int rank;                /**< dimensions of the numbers of a frame */
} elements[] = {{ALL "/species", ALL "/species/value", 1},
                {ALL "/charge", ALL "/charge/value", 1},
                {ALL "/box/edges", ALL "/box/edges/value", 1},
                {ALL "/position/step", ALL "/position/step", 0},
                {ALL "/position/time", ALL "/position/time", 0}};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static void test_sound(void)
{
    for (int each = 0; each < 2; each++) {
        found last;
        io_error error;
        H5Fclose(make(each));
        CHECK(read_all(&last, &error) == IO_OK && last.frames == FRAMES, "%s", error.text);
        CHECK(last.has_step && last.step == 20 && last.has_time && last.time == 1.5, "clock");
        CHECK(last.weight == (each ? 8 : 4) && strcmp(last.species, "2") == 0, "%g %s", last.weight,
              last.species);
    }
}

/** What a file does not have is no error. */
static void test_absent(void)
{
    for (int k = 0; k < 2 * ELEMENTS; k++) {
        found last;
        io_error error;
        const hid_t file = make(k % 2);
        CHECK(H5Ldelete(file, k % 2 ? elements[k / 2].each : elements[k / 2].once, H5P_DEFAULT) >=
                  0,
              "case %d", k);
        H5Fclose(file);
        const io_status status = read_all(&last, &error);
        const io_status expected = k == 5 ? IO_FORMAT : IO_OK; /* a box without edges */
        CHECK(status == expected, "case %d: %s", k, error.text);
        CHECK(last.has_step == (k / 2 != 3) || last.frames == 0, "case %d", k);
    }
}

/** A text where numbers are expected. */
static void test_type(void)
{
    static const char words[FRAMES * N][4] = {"abc"};
    const hid_t word = H5Tcopy(H5T_C_S1);
    H5Tset_size(word, sizeof words[0]);
    for (int k = 0; k < 2 * ELEMENTS; k++) {
        const bool each = k % 2 || elements[k / 2].rank == 0;
        const char *name = each ? elements[k / 2].each : elements[k / 2].once;
        const hid_t file = make(each);
        replace(file, name, word, each + elements[k / 2].rank,
                k / 2 == 2 && !each ? sides : frames_n + !each, words);
        refuse(file, name, "of text");
    }
    H5Tclose(word);
}

/** Fewer numbers, fewer frames, more dimensions. */
static void test_shape(void)
{
    static const hsize_t fewer[] = {FRAMES, N - 2}, shorter[] = {FRAMES - 1, N},
                         deep[] = {2, 2, 2, 2};
    static const int32_t zeros[16] = {0};
    const hid_t type = H5T_NATIVE_INT32;
    for (int k = 0; k < ELEMENTS; k++) {
        const int rank = elements[k].rank;
        hid_t file = make(true);
        replace(file, elements[k].each, type, 1 + rank, shorter, zeros);
        refuse(file, elements[k].each, "of one frame");
        file = make(true);
        replace(file, elements[k].each, type, 4, deep, zeros);
        refuse(file, elements[k].each, "of four dimensions");
        if (rank == 0)
            continue;
        file = make(true);
        replace(file, elements[k].each, type, 2, fewer, zeros);
        refuse(file, elements[k].each, "of fewer numbers");
        file = make(false);
        replace(file, elements[k].once, type, 1, fewer + 1, zeros);
        refuse(file, elements[k].once, "of fewer numbers");
        file = make(false);
        replace(file, elements[k].once, type, 0, NULL, zeros);
        refuse(file, elements[k].once, "of one number");
    }
}

/** Species and steps are whole numbers, and species have 32 bits. */
static void test_numbers(void)
{
    static const double half[N] = {1, 2, 1.5, 2}, steps[FRAMES] = {10, NAN};
    static const int64_t large[N] = {1, 2, INT64_C(1) << 40, 2};
    hid_t file = make(false);
    replace(file, ALL "/species", H5T_NATIVE_DOUBLE, 1, frames_n + 1, half);
    refuse(file, ALL "/species", "of fractions");
    file = make(false);
    replace(file, ALL "/species", H5T_NATIVE_INT64, 1, frames_n + 1, large);
    refuse(file, ALL "/species", "of 41 bits");
    file = make(false);
    replace(file, ALL "/position/step", H5T_NATIVE_DOUBLE, 1, frames_n, steps);
    refuse(file, ALL "/position/step", "that is no number");
}

/** Links to nothing, and groups where a dataset is expected. */
static void test_links(void)
{
    for (int k = 0; k < ELEMENTS; k++) {
        hid_t file = make(false);
        H5Ldelete(file, elements[k].once, H5P_DEFAULT);
        H5Lcreate_soft("/nowhere", file, elements[k].once, H5P_DEFAULT, H5P_DEFAULT);
        refuse(file, elements[k].once, "that leads nowhere");
        file = make(true);
        H5Ldelete(file, elements[k].each, H5P_DEFAULT);
        H5Lcreate_soft("/nowhere", file, elements[k].each, H5P_DEFAULT, H5P_DEFAULT);
        refuse(file, elements[k].each, "that leads nowhere");
        if (elements[k].rank == 0)
            continue;
        file = make(true);
        H5Ldelete(file, elements[k].each, H5P_DEFAULT);
        H5Gclose(H5Gcreate2(file, elements[k].each, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        refuse(file, elements[k].each, "that is a group");
    }
}

/** Data with a checksum that is wrong. */
static void test_damage(void)
{
    static const double zeros[FRAMES * N + 1] = {0};
    static const hsize_t origin[2] = {0};
    for (int k = 0; k < ELEMENTS; k++) {
        const int rank = elements[k].rank;
        const hsize_t shape[] = {FRAMES, k == 2 ? 3 : N};
        const size_t size = FRAMES * (rank ? shape[1] : 1) * sizeof *zeros + 4;
        const hid_t file = make(true), plan = H5Pcreate(H5P_DATASET_CREATE);
        H5Ldelete(file, elements[k].each, H5P_DEFAULT);
        H5Pset_chunk(plan, 1 + rank, shape);
        H5Pset_fletcher32(plan);
        const hid_t space = H5Screate_simple(1 + rank, shape, NULL);
        const hid_t id = H5Dcreate2(file, elements[k].each, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                    plan, H5P_DEFAULT);
        char chunk[sizeof zeros];
        memcpy(chunk, zeros, sizeof chunk);
        chunk[3] = 1;
        CHECK(H5Dwrite_chunk(id, H5P_DEFAULT, 0, origin, size, chunk) >= 0, "%s", elements[k].each);
        H5Dclose(id);
        H5Sclose(space);
        H5Pclose(plan);
        refuse(file, elements[k].each, "that is damaged");
    }
}

/** Put an attribute of one number on a dataset. */
static void put_offset(hid_t file, const char *dataset, hid_t type, const void *value)
{
    const hid_t space = H5Screate(H5S_SCALAR), id = H5Dopen2(file, dataset, H5P_DEFAULT);
    const hid_t attribute = H5Acreate2(id, "offset", type, space, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Awrite(attribute, type, value) >= 0, "%s", dataset);
    H5Aclose(attribute);
    H5Dclose(id);
    H5Sclose(space);
}

/** Steps and times at equal intervals: one number, with an offset or without. */
static void test_intervals(void)
{
    static const int64_t interval = 100, first = 7;
    static const double time = 0.25, from = 3;
    static const char word[] = "abc";
    for (int offset = 0; offset < 3; offset++) {
        found last;
        io_error error;
        const hid_t file = make(false);
        replace(file, ALL "/position/step", H5T_NATIVE_INT64, 0, NULL, &interval);
        replace(file, ALL "/position/time", H5T_NATIVE_DOUBLE, 0, NULL, &time);
        if (offset == 2) {
            put_offset(file, ALL "/position/step", H5T_C_S1, word);
            refuse(file, ALL "/position/step", "with an offset of text");
            continue;
        }
        if (offset) {
            put_offset(file, ALL "/position/step", H5T_NATIVE_INT64, &first);
            put_offset(file, ALL "/position/time", H5T_NATIVE_DOUBLE, &from);
        }
        H5Fclose(file);
        CHECK(read_all(&last, &error) == IO_OK && last.frames == FRAMES, "%s", error.text);
        CHECK(last.has_step && last.step == 100 + 7 * offset, "step %lld", (long long)last.step);
        CHECK(last.has_time && last.time == 0.25 + 3 * offset, "time %g", last.time);
    }
}

/** Charges, the box and a second group with steps or times of their own: the numbers of the step of
 *  the positions are taken, or the file is refused. */
static const struct {
    const char *what, *clock; /**< the test, and the dataset of steps or times */
    int frames;               /**< number of frames of charges */
    int64_t steps[4];         /**< steps or times of charges, for each frame */
    double last;              /**< charge at the last frame of positions; 0: refused */
} clocks[] = {{"equal steps", "step", 2, {10, 20}, 11},
              {"twice as many", "step", 4, {5, 10, 15, 20}, 13},
              {"the first one missing", "step", 3, {10, 15, 20}, 12},
              {"the same number, at other steps", "step", 2, {20, 30}, 0},
              {"the same number, one at another step", "step", 2, {10, 15}, 0},
              {"fewer", "step", 1, {10}, 0},
              {"more, all earlier", "step", 4, {1, 2, 10, 12}, 0},
              {"more, without a clock", NULL, 4, {0}, 0},
              {"as many, without a clock", NULL, 2, {0}, 11},
              {"times", "time", 4, {0, 500, 1000, 1500}, 13},
              {"times between", "time", 4, {0, 500, 1000, 2000}, 0}};

static void put_clock(hid_t file, const char *element, int k)
{
    const hsize_t frames = (hsize_t)clocks[k].frames;
    double times[4];
    char name[80];
    for (int f = 0; f < 4; f++) {
        times[f] = (double)clocks[k].steps[f] / 1000;
    }
    if (clocks[k].clock) {
        const bool is_time = strcmp(clocks[k].clock, "time") == 0;
        snprintf(name, sizeof name, "%s/%s", element, clocks[k].clock);
        put(file, name, is_time ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, 1, &frames,
            is_time ? (const void *)times : (const void *)clocks[k].steps);
    }
}

static void test_clocks(void)
{
    for (int k = 0; k < (int)(sizeof clocks / sizeof *clocks); k++) {
        double charge[4 * N], edges[4 * 3];
        const hsize_t shape[] = {(hsize_t)clocks[k].frames, N}, of_box[] = {shape[0], 3};
        for (int f = 0; f < 4; f++) {
            for (int p = 0; p < N; p++) {
                charge[f * N + p] = 10 + f;
            }
            edges[3 * f] = edges[3 * f + 1] = edges[3 * f + 2] = 10 + f;
        }
        for (int box = 0; box < 2; box++) {
            const char *name = box ? ALL "/box/edges" : ALL "/charge";
            char value[80];
            found last;
            io_error error;
            const hid_t file = make(true);
            snprintf(value, sizeof value, "%s/value", name);
            replace(file, value, H5T_NATIVE_DOUBLE, 2, box ? of_box : shape, box ? edges : charge);
            put_clock(file, name, k);
            if (clocks[k].last == 0) {
                refuse(file, value, clocks[k].what);
                continue;
            }
            H5Fclose(file);
            CHECK(read_all(&last, &error) == IO_OK && last.frames == FRAMES, "%s: %s",
                  clocks[k].what, error.text);
            CHECK((box ? last.edge : last.weight) == clocks[k].last, "%s: box %g, charge %g",
                  clocks[k].what, last.edge, last.weight);
        }
    }
}

/** A second group of particles, at the steps of the first one or at others. */
static void test_two_groups(void)
{
    static const hsize_t shape[] = {FRAMES, N, 3};
    static const double zeros[FRAMES * N * 3] = {0};
    for (int64_t late = 0; late < 2; late++) {
        const int64_t step[FRAMES] = {10, 20 + late};
        static const char name[] = "/particles/more/position/value";
        found last;
        io_error error;
        const hid_t file = make(false);
        put(file, name, H5T_NATIVE_DOUBLE, 3, shape, zeros);
        put(file, "/particles/more/position/step", H5T_NATIVE_INT64, 1, frames_n, step);
        if (late) {
            refuse(file, name + 1, "at another step");
            continue;
        }
        H5Fclose(file);
        CHECK(read_all(&last, &error) == IO_OK && last.frames == FRAMES, "%s", error.text);
    }
}

/** Species may be an enumeration. */
static void test_enumeration(void)
{
    static const int8_t values[N] = {0, 5, 0, 5}, zero = 0, five = 5;
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT8), file = make(false);
    found last;
    io_error error;
    H5Tenum_insert(type, "H", &zero);
    H5Tenum_insert(type, "O", &five);
    replace(file, ALL "/species", type, 1, frames_n + 1, values);
    H5Tclose(type);
    H5Fclose(file);
    CHECK(read_all(&last, &error) == IO_OK && strcmp(last.species, "5") == 0, "'%s' %s",
          last.species, error.text);
}

/** A group of particles that cannot be opened must not be left out. */
static void test_groups(void)
{
    hid_t file = make(false);
    H5Lcreate_soft("/nowhere", file, "/particles/more", H5P_DEFAULT, H5P_DEFAULT);
    refuse(file, "particles/more", "that leads nowhere");
    file = make(false);
    char name[300];
    snprintf(name, sizeof name, "/particles/%0200d", 1);
    static const hsize_t shape[] = {FRAMES, N, 3};
    static const double zeros[FRAMES * N * 3] = {0};
    strcat(name, "/position/value");
    put(file, name, H5T_NATIVE_DOUBLE, 3, shape, zeros);
    H5Fclose(file);
    io_particles p;
    io_error error = {0};
    CHECK(io_read(path, NULL, &p, &error) == IO_OK && p.n == 2 * N, "%s: %lld particles",
          error.text, (long long)p.n);
    io_particles_free(&p);
}

int main(void)
{
    static char where[512];
    files_begin();
    snprintf(where, sizeof where, "%s", files_path("test.h5md"));
    path = where;
    test_sound();
    test_absent();
    test_type();
    test_shape();
    test_numbers();
    test_links();
    test_damage();
    test_intervals();
    test_clocks();
    test_two_groups();
    test_enumeration();
    test_groups();
    return check_done();
}
