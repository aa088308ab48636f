/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of hdf5/ in a build without the HDF5 library: they return IO_UNSUPPORTED.
 */
#include "catalogues/catalogue_internal.h"
#include "trajectories/frames.h"

static const char reason[] = "this build of kith has no HDF5; install libhdf5-dev and rebuild, or "
                             "use .npy";

io_status io__hdf5_read(io_file *file, io_particles *out)
{
    (void)out;
    return io__file_fail(file, IO_UNSUPPORTED, "%s", reason);
}

io_status io__hdf5_inspect(io_file *file, io_summary *out)
{
    (void)out;
    return io__file_fail(file, IO_UNSUPPORTED, "%s", reason);
}

int64_t io__hdf5_files(io_file *file)
{
    (void)file;
    return 1; /* the reader then fails with IO_UNSUPPORTED */
}

io_status io__hdf5_vectors(io_file *file, bool bytes, io_vectors *out)
{
    (void)bytes;
    (void)out;
    return io__file_fail(file, IO_UNSUPPORTED, "%s", reason);
}

io_status io__hdf5_labels(io_file *file, int64_t n, const int64_t *ids, int64_t *out)
{
    (void)n;
    (void)ids;
    (void)out;
    return io__file_fail(file, IO_UNSUPPORTED, "%s", reason);
}

bool io_hdf5_version(char *out, int room)
{
    (void)out;
    (void)room;
    return false;
}

static io_status open_frames(io_frames *frames)
{
    return io__file_fail(frames->file, IO_UNSUPPORTED, "%s", reason);
}

const io_frames_format io__frames_hdf5 = {.open = open_frames};

/* Define the function `name`, a writer of a `type`, which fails. */
#define NO_WRITER(name, type) \
    io_status name(io_output *output, const type *what) \
    { \
        (void)what; \
        return io__output_fail(output, IO_UNSUPPORTED, "%s", reason); \
    }
NO_WRITER(io__hdf5_write, io_particles)
NO_WRITER(io__catalogue_gadget4, io_catalogue)
NO_WRITER(io__catalogue_swift, io_catalogue)
NO_WRITER(io__sorted_snapshot, io_catalogue)
NO_WRITER(io__labels_hdf5, io_catalogue)

static io_status begin(io_pairs_writer *writer)
{
    return io__output_fail(&writer->output, IO_UNSUPPORTED, "%s", reason);
}

const io_pairs_format io__pairs_hdf5 = {.begin = begin};
