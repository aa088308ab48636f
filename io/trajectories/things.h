/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Obstacles and attractors of a flock in files: each is a row of numbers.
 */
#ifndef KITH_IO_THINGS_H
#define KITH_IO_THINGS_H

#include <kith.h>
#include <stdbool.h>

enum { IO_THING_NUMBERS = 11 };

/** Obstacles and attractors of a frame. */
typedef struct io_things {
    int64_t n;                               /**< number of them */
    kith_flock_thing item[KITH_MOST_THINGS]; /**< the things [n] */
} io_things;

/** Set the numbers of a thing: kind, place, normal, radius, speed, weight, reach, the last two in
 *  the order of the command's options. */
void io_thing_numbers(const kith_flock_thing *thing, double out[IO_THING_NUMBERS]);

/** Append the thing that the numbers stand for.
 *  @return false: the numbers are no thing, or there are KITH_MOST_THINGS already */
bool io__thing_add(io_things *things, const double numbers[IO_THING_NUMBERS]);

#endif
