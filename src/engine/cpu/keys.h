/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys of particles where they follow from few operations: in an upright box, of coordinates that
 * need no wrapping, with no cells left out.
 */
#ifndef KITH_CPU_KEYS_H
#define KITH_CPU_KEYS_H

#include "engine/cells.h"
#include "isa.h"

/* Bits that a key may have: doubles hold whole numbers of so many in their fraction. */
enum { KITH_PLAIN_BITS = 52 };

/** What places a coordinate along an axis, all in doubles. */
struct kith__ruler {
    double origin, inverse, anchor, scale, first;
    double last_cell, parts, last_part;
    double part_scale; /**< 2^bits of a part */
};

/** Write element p, the key of particle p above its index of `low` bits, for p from begin up to
 *  end. What kith__plain_part comes to, in the same operations. */
typedef void kith__elements_fn(const struct kith__question *question, const kith_points *points,
                               const struct kith__ruler ruler[3], int64_t begin, int64_t end,
                               int low, uint64_t *elements);
kith__elements_fn KITH_EACH_ISA(write_elements);

#endif
