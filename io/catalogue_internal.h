/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the formats of catalogues share.
 */
#ifndef KITH_CATALOGUE_INTERNAL_H
#define KITH_CATALOGUE_INTERNAL_H

#include "catalogue.h"
#include "io_internal.h"

io_status io__catalogue_csv(io_output *output, const io_catalogue *catalogue);
io_status io__catalogue_rockstar(io_output *output, const io_catalogue *catalogue);
io_status io__catalogue_gadget4(io_output *output, const io_catalogue *catalogue);
io_status io__catalogue_swift(io_output *output, const io_catalogue *catalogue);
io_status io__sorted_snapshot(io_output *output, const io_catalogue *catalogue);
io_status io__labels_hdf5(io_output *output, const io_catalogue *catalogue);

/** The length of a cubic periodic box, of an upright one, the first; 0: open space. */
double io__catalogue_side(const io_catalogue *catalogue);

#endif
