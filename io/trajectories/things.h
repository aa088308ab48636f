/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Obstacles and attractors of a flock in files: each is a row of numbers.
 */
#ifndef KITH_IO_THINGS_H
#define KITH_IO_THINGS_H

#include <kith.h>
#include <stdbool.h>

enum { IO_THING_NUMBERS = 11 }; /* numbers of a thing, listed at io_thing_numbers */

/** Obstacles and attractors of a frame. */
typedef struct io_things {
    int64_t n;                               /**< number of things */
    kith_flock_thing item[KITH_MOST_THINGS]; /**< the things [n] */
} io_things;

/** Set the numbers of a thing (kith/flock.h), in the order of a row of a file: kind, place (3),
 *  normal (3), radius, speed, weight, reach. */
void io_thing_numbers(const kith_flock_thing *thing, double out[IO_THING_NUMBERS]);

/** Append the thing that the numbers stand for.
 *  @param numbers  as of io_thing_numbers
 *  @return false if the numbers are no thing, or there are KITH_MOST_THINGS already */
bool io__thing_add(io_things *things, const double numbers[IO_THING_NUMBERS]);

#endif
