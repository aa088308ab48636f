/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Published trajectories, ../shared/data/md: what LAMMPS and HOOMD wrote.
 */
#include "check.h"
#include "io_frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder;

static const char *data_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/** Unpack a file of the data. @return the path of a copy; NULL when there is no gzip. */
static const char *unpack(const char *name)
{
    char command[600], part[4096];
    bytes b = {0};
    snprintf(command, sizeof command, "gzip -dc '%s'", data_path(name));
    FILE *pipe = popen(command, "r");
    for (size_t n; pipe && (n = fread(part, 1, sizeof part, pipe)) > 0;)
        bytes_add(&b, part, n);
    const bool done = pipe && pclose(pipe) == 0 && b.n > 0;
    const char *path = done ? bytes_save(&b, "unpacked", b.n) : NULL;
    free(b.data);
    return path;
}

/** A liquid at rest: forces cancel to the digits written, atoms were wrapped not long ago. */
static void test_liquid(void)
{
    const char *path = unpack("lammps_lj/dump.lj.lammpstrj.gz");
    if (!path)
        return;
    enum { FRAMES = 21, N = 4000 };
    const double edge = 1.6795961913825074e+01;
    io_trajectory *t = frames_open(path, &(io_trajectory_options){.read.needed = IO_FORCES});
    for (int k = 0; k < FRAMES; k++) {
        const io_frame *f = frames_next(t, false);
        if (!f)
            break;
        double net[3] = {0};
        for (int64_t p = 0; p < f->particles.n; p++)
            for (int axis = 0; axis < 3; axis++) {
                net[axis] += frames_real(f, f->force, 3 * p + axis);
                const double x = files_at(&f->particles, p, axis);
                CHECK(x > -0.5 && x < edge + 0.5, "atom %lld is at %g", (long long)p, x);
            }
        CHECK(f->particles.n == N && f->particles.box.row[1][1] == edge && f->n_names == 1,
              "frame %d", k);
        CHECK(fabs(net[0]) + fabs(net[1]) + fabs(net[2]) < 2e-3, "frame %d: net force %g %g %g", k,
              net[0], net[1], net[2]);
        if (k == 0)
            CHECK(files_at(&f->particles, 4, 2) == 16.272719 &&
                      frames_real(f, f->force, 14) == -1.351289 && f->step == 0,
                  "the fifth atom");
    }
    frames_next(t, true);
    io_trajectory_close(t);
}

static void test_salt(void)
{
    const double low = -1.41005, edge = 2.1150751000000000e+01 - low;
    io_trajectory *t = frames_open(data_path("chemfiles/nacl.lammpstrj"), NULL);
    const io_frame *f = frames_next(t, false);
    CHECK(f && f->particles.n == 512 && f->names[f->species[0]][0] == 0 &&
              files_at(&f->particles, 1, 2) == low + 0.1875 * edge,
          "a dump of scaled coordinates without types");
    io_trajectory_close(t);
    t = frames_open(unpack("chemfiles/polymer.lammpstrj.gz"),
                    &(io_trajectory_options){.read.fields = IO_MOLECULES, .frames = "-1"});
    f = frames_next(t, false);
    int64_t count[4] = {0};
    for (int64_t p = 0; f && p < f->particles.n; p++)
        count[atoi(frames_species(f, p)) % 4]++;
    CHECK(f && f->index == 41 && f->molecule && count[1] == 20 && count[2] == 1674 &&
              count[3] == 20,
          "the polymer has %lld, %lld, %lld of its types", (long long)count[1], (long long)count[2],
          (long long)count[3]);
    io_trajectory_close(t);
}

/** Figures as the gsd package gives them. */
static void test_gsd(void)
{
    io_trajectory *t = frames_open(data_path("freud/LJsampletraj.gsd"),
                                   &(io_trajectory_options){.read.fields = IO_VELOCITIES});
    const io_frame *f = frames_next(t, false);
    CHECK(f && io_trajectory_frames(t) == 4 && f->particles.n == 1000 && f->particles.velocity &&
              strcmp(f->names[0], "A") == 0 && f->particles.precision == KITH_FLOAT &&
              f->particles.box.row[0][0] == (double)10.772174f,
          "LJsampletraj");
    io_trajectory_close(t);
    t = frames_open(data_path("freud/rdf_benchmark.gsd"), NULL);
    for (int k = 0; k < 5; k++) {
        f = frames_next(t, false);
        CHECK(f && f->particles.n == 15625 && f->particles.has_box, "frame %d of rdf_benchmark", k);
    }
    frames_next(t, true);
    io_trajectory_close(t);
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : "";
    if (access(data_path("freud/LJsampletraj.gsd"), R_OK) != 0)
        return check_skip("no files in %s (public data, kept apart)", folder);
    files_begin();
    test_liquid();
    test_salt();
    test_gsd();
    return check_done();
}
