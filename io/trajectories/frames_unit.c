/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The unit of a trajectory's lengths, by the names that files give it.
 */
#include "frames.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct unit_name {
    const char *name, *unit;
} unit_name;

void io__frames_unit(const char *name, char out[IO_NAME_LENGTH])
{
    static const unit_name known[] = {{"angstrom", "A"}, {"angstroms", "A"},    {"ang", "A"},
                                      {"\xc3\x85", "A"}, {"\xe2\x84\xab", "A"}, {"nanometer", "nm"},
                                      {"NM", "nm"}};
    const char *unit = name;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcasecmp(name, known[k].name) == 0) {
            unit = known[k].unit;
        }
    }
    io__copy_name(out, IO_NAME_LENGTH, unit, strlen(unit));
}

void io__frames_system(io_frames *frames, const char *name)
{
    static const unit_name known[] = {{"lj", "sigma"},      {"real", "A"}, {"metal", "A"},
                                      {"si", "m"},          {"cgs", "cm"}, {"micro", "um"},
                                      {"electron", "Bohr"}, {"nano", "nm"}};
    frames->unit[0] = frames->system[0] = 0;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(name, known[k].name) == 0) {
            snprintf(frames->unit, sizeof frames->unit, "%s", known[k].unit);
            snprintf(frames->system, sizeof frames->system, "%s", known[k].name);
        }
    }
}
