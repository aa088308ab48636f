/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trajectories whatever their format: the frames chosen, what a frame holds, growing tables of
 * species, reading ahead, stopping.
 */
#include "check.h"
#include "io_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** XYZ of this many frames; frame k has k % 4 + 1 atoms, of which the last is of element "X<k>". */
static const char *make_xyz(int frames)
{
    bytes b = {0};
    for (int k = 0; k < frames; k++) {
        bytes_print(&b, "%d\nLattice=\"%d 0 0 1 8 0 0 2 9\" time=%d.5 step=%d\n", k % 4 + 1, 5 + k,
                    k, 100 * k);
        for (int p = 0; p < k % 4; p++)
            bytes_print(&b, "O %d %d.25 %d\n", p, k, p + k);
        bytes_print(&b, "X%d 7 %d.25 8\n", k, k);
    }
    const char *path = bytes_save(&b, "frames.xyz", b.n);
    free(b.data);
    return path;
}

static void test_frames(void)
{
    enum { FRAMES = 50 };
    io_trajectory *t = frames_open(make_xyz(FRAMES), NULL);
    for (int k = 0; k < FRAMES; k++) {
        const io_frame *f = frames_next(t, false);
        if (!f)
            break;
        const io_particles *particles = &f->particles;
        const kith_box exact = {{0}, {{5 + k, 0, 0}, {1, 8, 0}, {0, 2, 9}}, {1, 1, 1}, 3};
        CHECK(f->index == k && particles->n == k % 4 + 1 && f->has_step && f->step == 100 * k &&
                  particles->has_time && particles->time == k + 0.5,
              "head of frame %d", k);
        CHECK(particles->has_box && memcmp(&particles->box, &exact, sizeof exact) == 0,
              "box of frame %d", k);
        for (int64_t p = 0; p < particles->n; p++) {
            char last[16];
            snprintf(last, sizeof last, "X%d", k);
            CHECK(files_at(particles, p, 1) == k + 0.25, "frame %d particle %d", k, (int)p);
            CHECK(strcmp(frames_species(f, p), p < k % 4 ? "O" : last) == 0,
                  "species of frame %d: %s", k, frames_species(f, p));
        }
        CHECK(strcmp(f->names[0], "X0") == 0, "a species has changed its number");
    }
    frames_next(t, true);
    frames_next(t, true);
    io_trajectory_close(t);
    io_trajectory_close(NULL);
}

/** As Python's range(n)[text]. */
static void choose(const char *path, const char *text, const char *indices)
{
    io_trajectory *t = frames_open(path, &(io_trajectory_options){.frames = text});
    char got[256] = "";
    const io_frame *f = NULL;
    io_error error;
    while (t && io_trajectory_next(t, &f, &error) == IO_OK && f)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%d ", (int)f->index);
    CHECK(strcmp(got, indices) == 0, "frames %s: %s, not %s", text, got, indices);
    io_trajectory_close(t);
}

static void test_choice(const char *path)
{
    static const char *const none[] = {"10", "-11", "5:5", "12:", "3:2", ":-10"};
    static const char *const reason[] = {
        "has 10 frames, counted from 0: there is no frame 10; frames '10' chooses none",
        "frames '-11' chooses none",
        "frames '5:5' chooses none: it ends where it begins",
        "has 10 frames, counted from 0: there is no frame 12; frames '12:' chooses none",
        "frames '3:2' chooses none: it ends where it begins",
        "frames ':-10' chooses none"};
    static const char *const bad[] = {
        "", "x", "1:2:0", "1:2:-1", "1:2:3:4", "1.5", "1:x", "1 :2", "99999999999999999999"};
    choose(path, "3", "3 ");
    choose(path, "0", "0 ");
    choose(path, "-1", "9 ");
    choose(path, "-10", "0 ");
    choose(path, "2:5", "2 3 4 ");
    choose(path, ":3", "0 1 2 ");
    choose(path, "8:", "8 9 ");
    choose(path, "::4", "0 4 8 ");
    choose(path, "1:8:3", "1 4 7 ");
    choose(path, "-3:", "7 8 9 ");
    choose(path, ":-8", "0 1 ");
    choose(path, "-99:2", "0 1 ");
    choose(path, "-4:-1:2", "6 8 ");
    choose(path, "7:9999999999:2", "7 9 ");
    choose(path, "0:9223372036854775807:9223372036854775807", "0 ");
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        frames_fail(path, &(io_trajectory_options){.frames = none[k]}, IO_INVALID, 0, reason[k]);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        frames_fail(path, &(io_trajectory_options){.frames = bad[k]}, IO_INVALID, 0, "frames '");
}

static void test_counts(const char *path, int64_t all, int64_t chosen)
{
    io_trajectory *t = frames_open(path, NULL);
    CHECK(t && io_trajectory_frames(t) == all, "%lld frames", (long long)io_trajectory_frames(t));
    io_trajectory_close(t);
    t = frames_open(path, &(io_trajectory_options){.frames = "1:8:3"});
    CHECK(t && io_trajectory_frames(t) == chosen, "%lld frames",
          (long long)io_trajectory_frames(t));
    io_trajectory_close(t);
}

/** An array (10, 2, dim) of these numbers. */
static void test_arrays(int dim)
{
    char shape[32];
    snprintf(shape, sizeof shape, "(10, 2, %d)", dim);
    bytes b = npy_begin(1, "'<f4'", false, shape);
    for (int k = 0; k < 20 * dim; k++)
        bytes_put_float(&b, (float)k, false);
    const char *path = bytes_save(&b, "frames.npy", b.n);
    test_choice(path);
    test_counts(path, 10, 3);
    io_trajectory *t = frames_open(path, NULL);
    for (int k = 0; k < 10; k++) {
        const io_frame *f = frames_next(t, false);
        for (int p = 0; f && p < 2; p++)
            for (int axis = 0; axis < 3; axis++)
                CHECK(files_at(&f->particles, p, axis) ==
                          (axis < dim ? k * 2 * dim + p * dim + axis : 0),
                      "frame %d", k);
        CHECK(f && f->particles.n == 2 && f->particles.dim == dim &&
                  f->particles.precision == KITH_FLOAT && !f->particles.has_box &&
                  f->names[f->species[1]][0] == 0,
              "shape of frame %d", k);
    }
    io_trajectory_close(t);
    io_particles one;
    io_summary summary;
    CHECK(io_read(path, &(io_read_options){.frame = 9}, &one, NULL) == IO_OK &&
              files_at(&one, 1, 1) == 20 * dim - dim + 1,
          "io_read of a frame");
    io_particles_free(&one);
    CHECK(io_inspect(path, &summary, NULL) == IO_OK && summary.frames == 10 && summary.n == 2,
          "inspect");
    b.data[b.n - 1] = 'x';
    frames_fail(bytes_save(&b, "short.npy", b.n - 1), NULL, IO_TRUNCATED, 0, "expected");
    free(b.data);
}

static void test_fields(void)
{
    bytes b = {0};
    bytes_print(&b, "2\nProperties=species:S:1:forces:R:3:id:I:1:pos:R:3:vel:R:3\n"
                    "O 1 2 3 7 4 5 6 -1 -2 -3\nH 0.5 0 0 8 0 0 0 0 0 -4\n");
    bytes_print(&b, "1\nProperties=species:S:1:pos:R:3\nO 1 2 3\n");
    const char *path = bytes_save(&b, "fields.xyz", b.n);
    const unsigned all = IO_FORCES | IO_IDS | IO_VELOCITIES;
    for (kith_precision precision = KITH_FLOAT; precision <= KITH_DOUBLE; precision += 4) {
        io_trajectory *t = frames_open(
            path, &(io_trajectory_options){.read = {.fields = all, .precision = precision}});
        const io_frame *f = frames_next(t, false);
        CHECK(f && f->force && f->particles.velocity && f->particles.id && !f->molecule &&
                  frames_real(f, f->force, 1) == 2 && frames_real(f, f->force, 3) == 0.5 &&
                  frames_real(f, f->particles.velocity, 5) == -4 && f->particles.id[1] == 8 &&
                  files_at(&f->particles, 0, 2) == 6 && f->particles.precision == precision,
              "fields");
        f = frames_next(t, false);
        CHECK(f && !f->force && !f->particles.velocity && !f->particles.id, "fields of frame 1");
        io_trajectory_close(t);
    }
    io_trajectory *t = frames_open(path, NULL);
    const io_frame *f = frames_next(t, false);
    CHECK(f && !f->force && !f->particles.velocity && !f->particles.id, "fields not asked for");
    io_trajectory_close(t);
    frames_fail(path, &(io_trajectory_options){.read.needed = IO_FORCES}, IO_MISSING, 1, "forces");
    frames_fail(path, &(io_trajectory_options){.read.needed = IO_VELOCITIES}, IO_MISSING, 1,
                "velocities");
    frames_fail(path, &(io_trajectory_options){.read.needed = IO_MOLECULES}, IO_MISSING, 0,
                "molecules");
    const io_trajectory_options oxygen = {.read = {.species = "o", .fields = all}};
    t = frames_open(path, &oxygen);
    f = frames_next(t, false);
    CHECK(f && f->particles.n == 1 && f->particles.id[0] == 7 && frames_real(f, f->force, 2) == 3,
          "a choice of species");
    io_trajectory_close(t);
    frames_fail(path, &(io_trajectory_options){.read.species = "H,Xe"}, IO_INVALID, 0, "Xe");
    free(b.data);
}

/** Boxes of no length, in part or whole; no box. */
static void test_boxes(void)
{
    bytes b = {0};
    bytes_print(&b, "0\nLattice=\"0 0 0 0 0 0 0 0 0\"\n0\nLattice=\"3 0 0 0 4 0 0 0 0\"\n0\n\n"
                    "0\nLattice=\"3 0 0 0 4 0 0 0 5\"\n");
    io_trajectory *t = frames_open(bytes_save(&b, "boxes.xyz", b.n), NULL);
    static const bool boxed[] = {false, true, false, true};
    for (int k = 0; k < 4; k++) {
        const io_frame *f = frames_next(t, false);
        CHECK(f && f->particles.has_box == boxed[k] &&
                  f->particles.box.periodic[0] == (boxed[k] ? 1 : 0) &&
                  f->particles.box.periodic[2] == (k == 3 ? 1 : 0) && f->particles.n == 0,
              "box of frame %d", k);
    }
    frames_next(t, true);
    io_trajectory_close(t);
    free(b.data);
}

static void test_snapshots(void)
{
    const int64_t n[3] = {2, 3, 1};
    bytes b = tipsy_begin(true, 32, n, 0);
    static const char *const names[6] = {"gas", "gas", "dark", "dark", "dark", "star"};
    for (int k = 0; k < 12 * 2 + 9 * 3 + 11; k++)
        bytes_put_float(&b, (float)k, true);
    io_trajectory *t = frames_open(bytes_save(&b, "snapshot", b.n), NULL);
    const io_frame *f = frames_next(t, false);
    for (int p = 0; f && p < 6; p++)
        CHECK(strcmp(frames_species(f, p), names[p]) == 0, "%s", frames_species(f, p));
    frames_next(t, true);
    io_trajectory_close(t);
    free(b.data);
    bytes text = {0};
    bytes_print(&text, "# a b x y z\n0 0 1 2 3\n0 0 4 5 6\n");
    t = frames_open(bytes_save(&text, "text", text.n), NULL);
    f = frames_next(t, false);
    CHECK(f && f->particles.n == 2 && files_at(&f->particles, 1, 2) == 6, "text");
    io_trajectory_close(t);
    free(text.data);
}

static int stop_now(void *user, int64_t done, int64_t total)
{
    int *calls = user;
    CHECK(done >= 0 && done <= total, "%lld of %lld bytes", (long long)done, (long long)total);
    return --*calls < 0;
}

/** Stopped by the watch, left after a frame, or before any: no thread stays behind. */
static void test_stop(void)
{
    const char *path = make_xyz(20000);
    int calls = 3;
    int64_t frames;
    const io_trajectory_options watched = {.read = {.watch = stop_now, .user = &calls}};
    CHECK(frames_all(path, &watched, &frames, NULL) == IO_CANCELLED && frames <= 3, "%d frames",
          (int)frames);
    calls = 0; /* while the frames are counted */
    const io_trajectory_options last = {.read = {.watch = stop_now, .user = &calls},
                                        .frames = "-1"};
    frames_fail(path, &last, IO_CANCELLED, 0, "stopped");
    for (int k = 0; k < 20; k++) {
        io_trajectory *t = frames_open(path, NULL);
        for (int frame = 0; frame < k % 4; frame++)
            frames_next(t, false);
        io_trajectory_close(t);
    }
}

/** A slow caller still gets each frame whole: the one it holds is not written to. */
static void test_slow_caller(void)
{
    io_trajectory *t = frames_open(make_xyz(6), NULL);
    for (int k = 0; k < 6; k++) {
        const io_frame *f = frames_next(t, false);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        for (int64_t p = 0; f && p < f->particles.n; p++)
            CHECK(files_at(&f->particles, p, 1) == k + 0.25, "frame %d was written over", k);
    }
    io_trajectory_close(t);
}

int main(void)
{
    files_begin();
    test_frames();
    const char *path = make_xyz(10);
    test_choice(path);
    test_counts(path, -1, -1);
    test_arrays(3);
    test_arrays(2);
    test_fields();
    test_boxes();
    test_snapshots();
    test_stop();
    test_slow_caller();
    return check_done();
}
