/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Obstacles and attractors as rows of numbers.
 */
#include "things.h"

#include <math.h>
#include <string.h>

void io_thing_numbers(const kith_flock_thing *thing, double out[IO_THING_NUMBERS])
{
    out[0] = (double)thing->kind;
    memcpy(out + 1, thing->place, sizeof thing->place);
    memcpy(out + 4, thing->normal, sizeof thing->normal);
    out[7] = thing->radius;
    out[8] = thing->speed;
    out[9] = thing->weight;
    out[10] = thing->reach;
}

bool io__thing_add(io_things *things, const double numbers[IO_THING_NUMBERS])
{
    bool fine = things->n < KITH_MOST_THINGS;
    for (int k = 0; k < IO_THING_NUMBERS; k++) {
        fine = fine && isfinite(numbers[k]);
    }
    if (!fine || numbers[0] < KITH_POINT || numbers[0] > KITH_PREDATOR ||
        numbers[0] != trunc(numbers[0])) {
        return false;
    }
    kith_flock_thing *thing = &things->item[things->n++];
    *thing = (kith_flock_thing){.kind = (kith_flock_kind)numbers[0],
                                .radius = numbers[7],
                                .speed = numbers[8],
                                .weight = numbers[9],
                                .reach = numbers[10]};
    memcpy(thing->place, numbers + 1, sizeof thing->place);
    memcpy(thing->normal, numbers + 4, sizeof thing->normal);
    return true;
}
