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

/** Rows of a catalogue's particles, in one order. */
typedef struct io__sorted {
    const io_catalogue *catalogue; /**< what they are rows of */
    io_row_order order;            /**< their order */
    int32_t *index;                /**< without shares: index of the particle of each row; NULL:
                                         rows are in the order of the input */
    int64_t begin[KITH_TYPES + 1]; /**< IO_ORDER_TYPES: first row of each type */
} io__sorted;

/** Put rows in an order, which io__catalogue_sort_free frees in any case.
 *  @return false on failure */
bool io__catalogue_sort(const io_catalogue *catalogue, io_row_order order, io__sorted *out);
void io__catalogue_sort_free(io__sorted *rows);

/** Copy n rows of a column. @param[out] to  [n] rows   @return false on failure of the shares */
bool io__catalogue_sorted(const io__sorted *rows, io_catalogue_column column, int64_t first,
                          int64_t n, void *to);

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
