/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long texts, XYZ files and LAMMPS dumps, whose lines several threads parse: every number is in its
 * row, and the message about a bad line has its number, wherever it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "io_files.h"

#include <trajectories/trajectory.h>

enum { ROWS = 100000 }; /* more than a buffer of 4 MiB holds */

/** Coordinate of a row. */
static double coordinate(int64_t row, int axis)
{
    return (double)((row * 7919 + axis * 31) % 1000003) / 1000;
}

/** Append a row; some with an empty line, a comment, blanks or a carriage return. */
static void print_row(bytes *b, int64_t row, const char *space, bool plain)
{
    const int way = plain ? 0 : (int)(row % 11);
    if (way == 5)
        bytes_print(b, "# 1 2 3\n");
    if (way == 7)
        bytes_print(b, "  \n\n");
    bytes_print(b, "%.3f%s%.17g%s%.9e%s\n", coordinate(row, 0), space, coordinate(row, 1), space,
                coordinate(row, 2),
                way == 3   ? "\r"
                : way == 4 ? " # 4 5"
                           : "");
}

static void expect_rows(const io_particles *got, const char *what)
{
    CHECK(got->n == ROWS, "%s: %lld rows", what, (long long)got->n);
    for (int64_t row = 0; row < got->n && check_failures() == 0; row++) {
        for (int axis = 0; axis < 3; axis++) {
            const double is = files_at(got, row, axis);
            CHECK(is == coordinate(row, axis), "%s: row %lld axis %d is %.17g", what,
                  (long long)row, axis, is);
        }
    }
}

static void test_text(const char *space, bool plain)
{
    bytes b = {0};
    for (int64_t row = 0; row < ROWS; row++)
        print_row(&b, row, space, plain);
    for (int cut = 0; cut < 2; cut++) { /* with and without the last end of a line */
        const char *path = bytes_save(&b, "rows.txt", b.n - (size_t)cut);
        for (int threads = 1; threads <= 5; threads += 4) {
            const io_read_options options = {.threads = threads};
            io_particles got;
            io_error error = {0};
            CHECK(io_read(path, &options, &got, &error) == IO_OK, "%s", error.text);
            expect_rows(&got, space);
            io_particles_free(&got);
        }
    }
    free(b.data);
}

/** A bad line anywhere is told by its number, and of two the first. */
static void test_bad(void)
{
    static const int64_t lines[] = {1, 300, 65536, ROWS - 1};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        char expected[80];
        bytes b = {0};
        for (int64_t row = 0; row < ROWS; row++) {
            if (row == lines[k])
                bytes_print(&b, "1 2 x\n");
            else if (row == lines[k] + 900)
                bytes_print(&b, "1 2\n");
            else
                print_row(&b, row, " ", true);
        }
        io_particles got;
        io_error error = {0};
        const char *path = bytes_save(&b, "bad.txt", b.n);
        snprintf(expected, sizeof expected, "line %lld: column 2 is 'x'; expected a number",
                 (long long)lines[k] + 1);
        CHECK(io_read(path, NULL, &got, &error) == IO_FORMAT && strstr(error.text, expected),
              "%s; expected %s", error.text, expected);
        free(b.data);
    }
}

/** Frames whose atoms have names that are new here and there. */
static void test_frames(bool lammps)
{
    enum { FRAMES = 3, LATE = 90000 };
    bytes b = {0};
    for (int f = 0; f < FRAMES; f++) {
        if (lammps)
            bytes_print(&b,
                        "ITEM: TIMESTEP\n%d\nITEM: NUMBER OF ATOMS\n%d\nITEM: BOX BOUNDS pp pp pp\n"
                        "0 1\n0 1\n0 1\nITEM: ATOMS type x y z\n",
                        f, ROWS);
        else
            bytes_print(&b, "%d\nframe\n", ROWS);
        for (int64_t row = 0; row < ROWS; row++) {
            bytes_print(&b, "%s ", row < LATE - f ? "1" : row % 2 ? "2" : "3");
            print_row(&b, row, " ", true);
        }
    }
    const char *path = bytes_save(&b, lammps ? "long.lammpstrj" : "long.xyz", b.n);
    const io_trajectory_options options = {.read.threads = 5};
    io_trajectory *t;
    const io_frame *frame;
    io_error error = {0};
    io_status status = io_trajectory_open(path, &options, &t, &error);
    for (int f = 0; f < FRAMES && status == IO_OK; f++) {
        status = io_trajectory_next(t, &frame, &error);
        if (!CHECK(status == IO_OK && frame, "%s", error.text))
            break;
        expect_rows(&frame->particles, path);
        for (int64_t row = 0; row < ROWS && check_failures() == 0; row++) {
            const char *name = frame->names[frame->species[row]];
            const char *expected = row < LATE - f ? "1" : row % 2 ? "2" : "3";
            CHECK(strcmp(name, expected) == 0, "atom %lld is %s", (long long)row, name);
        }
    }
    io_trajectory_close(t);
    free(b.data);
}

int main(void)
{
    files_begin();
    test_text(" ", true);
    test_text(" ", false);
    test_text(",", false);
    test_bad();
    test_frames(false);
    test_frames(true);
    return check_done();
}
