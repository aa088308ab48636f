/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Units of length of trajectories, compared by a table of their sizes.
 */
#include "length_unit.h"

#include "report.h"

#include <string.h>

double length_unit_angstrom(const char *unit)
{
    static const struct {
        const char *name;
        double angstrom;
    } known[] = {{"A", 1},    {"nm", 10},  {"Bohr", 0.529177210903}, /* CODATA 2018 */
                 {"um", 1e4}, {"cm", 1e8}, {"m", 1e10}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(unit, known[k].name) == 0) {
            return known[k].angstrom;
        }
    }
    return 0;
}

int length_unit_check(const char *path, const io_frame *frame, const char *option)
{
    if (!option || !*frame->unit || strcmp(option, frame->unit) == 0 ||
        !(length_unit_angstrom(option) > 0)) {
        return STATUS_OK;
    }
    return report_error(STATUS_INVALID, "leave out --unit",
                        "%s: lengths are read in %s, but --unit says %s", path, frame->unit,
                        option);
}

int length_unit_same(const char *path, const io_frame *frame, const char *first)
{
    if (strcmp(frame->unit, first) == 0) {
        return STATUS_OK;
    }
    return report_error(STATUS_FORMAT, "choose the frames with --frames",
                        "%s: frame %lld has lengths in %s, but the first in %s", path,
                        (long long)frame->index, *frame->unit ? frame->unit : "no known unit",
                        *first ? first : "no known unit");
}
