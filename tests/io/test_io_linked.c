/* SPDX-License-Identifier: BSD-3-Clause
 *
 * No output replaces a file that HDF5 has read because the input refers to it: the source of a
 * virtual dataset, the target of an external link, an external raw file.
 */
#include "check.h"
#include "io_files.h"

#include <hdf5.h>
#include <trajectories/recording.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4 };
static const double rows[N][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/** Create a file with a dataset Coordinates of N rows. @param plan  its creation property list
 *  @param filled  the rows are written */
static void make(const char *path, hid_t plan, bool filled)
{
    const hsize_t shape[2] = {N, 3};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(2, shape, NULL);
    const hid_t set = H5Dcreate2(file, "Coordinates", H5T_IEEE_F64LE, space, H5P_DEFAULT, plan,
                                 H5P_DEFAULT);
    CHECK(set >= 0, "%s", path);
    if (filled)
        CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0, "%s",
              path);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
}

static void make_virtual(const char *path, const char *source)
{
    const hsize_t shape[2] = {N, 3};
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, shape, NULL);
    CHECK(H5Pset_virtual(plan, space, source, "Coordinates", space) >= 0, "%s", path);
    make(path, plan, false);
    H5Sclose(space);
    H5Pclose(plan);
}

static void make_link(const char *path, const char *target)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Lcreate_external(target, "Coordinates", file, "Coordinates", H5P_DEFAULT,
                             H5P_DEFAULT) >= 0,
          "%s", path);
    H5Fclose(file);
}

static void make_external(const char *path, const char *raw)
{
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_external(plan, raw, 0, sizeof rows) >= 0, "%s", path);
    make(path, plan, true);
    H5Pclose(plan);
}

/** Read the input, then try to write the file that it refers to, in each way there is. */
static void check_kept(const char *input, const char *referred_to)
{
    static const char text[] = "overwritten";
    const io_mark beginning = {0};
    io_read_options options = {0};
    io_particles particles;
    io_recording *recording = NULL;
    io_error error = {0};
    const bytes before = bytes_load(referred_to);
    CHECK(io_read(input, &options, &particles, &error) == IO_OK, "%s: %s", referred_to, error.text);
    CHECK(particles.n == N && files_at(&particles, 3, 2) == 1, "%s", referred_to);
    CHECK(io_check_output(referred_to, &error) == IO_INVALID, "%s: %s", referred_to, error.text);
    CHECK(io_write_bytes(referred_to, text, sizeof text, &error) == IO_INVALID, "%s: %s",
          referred_to, error.text);
    CHECK(strstr(error.text, "refers to it"), "%s: %s", referred_to, error.text);
    CHECK(io_recording_open(referred_to, &beginning, &recording, &error) == IO_INVALID, "%s: %s",
          referred_to, error.text);
    const bytes after = bytes_load(referred_to);
    CHECK(after.n == before.n && memcmp(after.data, before.data, before.n) == 0, "%s", referred_to);
    CHECK(files_count(".part") == 0, "a part beside %s", referred_to);
    io_particles_free(&particles);
    free(before.data);
    free(after.data);
}

/** An output that was opened before the input was read does not replace the file either. */
static void check_late(void)
{
    io_output *output = NULL;
    io_error error = {0};
    io_read_options options = {0};
    io_particles particles;
    make(files_path("late.hdf5"), H5P_DEFAULT, true);
    make_virtual(files_path("v2.hdf5"), files_path("late.hdf5"));
    CHECK(io_lend(files_path("late.hdf5"), &output, &error) == IO_OK, "%s: %s", "late.hdf5",
          error.text);
    CHECK(io_read(files_path("v2.hdf5"), &options, &particles, &error) == IO_OK, "%s: %s",
          "late.hdf5", error.text);
    CHECK(io_lent_commit(output, &error) == IO_INVALID, "%s: %s", "late.hdf5", error.text);
    CHECK(files_count(".part") == 0, "a part beside %s", "late.hdf5");
    io_particles_free(&particles);
}

int main(void)
{
    files_begin();
    make(files_path("source.hdf5"), H5P_DEFAULT, true);
    make_virtual(files_path("virtual.hdf5"), files_path("source.hdf5"));
    check_kept(files_path("virtual.hdf5"), files_path("source.hdf5"));
    make(files_path("target.hdf5"), H5P_DEFAULT, true);
    make_link(files_path("link.hdf5"), files_path("target.hdf5"));
    check_kept(files_path("link.hdf5"), files_path("target.hdf5"));
    make_external(files_path("external.hdf5"), files_path("raw.bin"));
    check_kept(files_path("external.hdf5"), files_path("raw.bin"));
    check_late();
    return check_done();
}
