/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the formats of catalogues share.
 */
#ifndef KITH_CATALOGUE_INTERNAL_H
#define KITH_CATALOGUE_INTERNAL_H

#include "catalogue.h"
#include "core/io_internal.h"

/** Write a catalogue into an output that is open. */
typedef io_status (*io_catalogue_writer)(io_output *output, const io_catalogue *catalogue);

/** Write a file through `writer`, whole or not at all. */
io_status io__catalogue_write(const char *path, io_catalogue_writer writer,
                              const io_catalogue *catalogue, io_error *error);

io_status io__catalogue_csv(io_output *output, const io_catalogue *catalogue);
io_status io__catalogue_rockstar(io_output *output, const io_catalogue *catalogue);
io_status io__catalogue_gadget4(io_output *output, const io_catalogue *catalogue);
io_status io__catalogue_swift(io_output *output, const io_catalogue *catalogue);
io_status io__sorted_snapshot(io_output *output, const io_catalogue *catalogue);
io_status io__labels_hdf5(io_output *output, const io_catalogue *catalogue);

/** Fail where the box is one that Gadget's and SWIFT's layouts cannot say. */
io_status io__catalogue_check_box(io_output *output, const io_catalogue *catalogue);

/** The lengths of a periodic upright box, in 2-D the first as the third; 0: open space. @return
 *  whether they are equal. */
bool io__catalogue_lengths(const io_catalogue *catalogue, double out[3]);

#endif
