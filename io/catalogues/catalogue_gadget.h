/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What Gadget-4's catalogues and snapshots share.
 */
#ifndef KITH_CATALOGUE_GADGET_H
#define KITH_CATALOGUE_GADGET_H

#include "catalogue_internal.h"
#include "hdf5/io_hdf5.h"

/** What a number is of. */
typedef enum io_gadget_unit {
    IO_GADGET_PURE,
    IO_GADGET_LENGTH,
    IO_GADGET_MASS,
    IO_GADGET_VELOCITY,
    IO_GADGET_POTENTIAL,
    IO_GADGET_DENSITY,
    IO_GADGET_UNITS
} io_gadget_unit;

/** Factors to Gadget's units: those of the input, with 1/h; peculiar velocities are divided by
 *  sqrt(a); potentials keep their values. */
void io__gadget_units(const io_catalogue *catalogue, double scale[IO_GADGET_UNITS]);

/** Write time, box and cosmology as attributes of /Header. @return false on failure. */
bool io__gadget_put_universe(hid_t header, const io_catalogue *catalogue);

/** Write /Parameters: units, cosmology, and how the groups were found. @return false on failure. */
bool io__gadget_put_parameters(hid_t file, const io_catalogue *catalogue);

#endif
