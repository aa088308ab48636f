/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The formats of catalogues, and the functions that they share.
 */
#ifndef KITH_CATALOGUE_INTERNAL_H
#define KITH_CATALOGUE_INTERNAL_H

#include "catalogue.h"
#include "core/io_internal.h"

/** Write a catalogue to an output that is open. */
typedef io_status (*io_catalogue_writer)(io_output *output, const io_catalogue *catalogue);

/** Write a file by a writer, in the locale "C", and commit it. */
io_status io__catalogue_write(const char *path, io_catalogue_writer writer,
                              const io_catalogue *catalogue, io_error *error);

/* The writers of catalogues, of a sorted snapshot, and of labels in HDF5. */
io_status io__catalogue_csv(io_output *output, const io_catalogue *catalogue);
io_status io__catalogue_rockstar(io_output *output, const io_catalogue *catalogue);
io_status io__catalogue_gadget4(io_output *output, const io_catalogue *catalogue);
io_status io__catalogue_swift(io_output *output, const io_catalogue *catalogue);
io_status io__sorted_snapshot(io_output *output, const io_catalogue *catalogue);
io_status io__labels_hdf5(io_output *output, const io_catalogue *catalogue);

/** Return IO_INVALID if the layouts of Gadget and SWIFT cannot hold the box: it is skewed, or
 *  periodic along some axes only. */
io_status io__catalogue_check_box(io_output *output, const io_catalogue *catalogue);

/** Get the edge lengths of an upright periodic box; in 2-D, the third is the first. Open space has
 *  lengths of 0. @return true when all are equal */
bool io__catalogue_lengths(const io_catalogue *catalogue, double out[3]);

#endif
