/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of names: an insertion sort by rank in two lists, then by number, then by bytes.
 */
#include "name_order.h"

#include "trajectories/trajectory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool name_is(const char *word, size_t length, const char *name, bool typed)
{
    char one[IO_NAME_LENGTH], type_name[IO_NAME_LENGTH];
    bool named[IO_MOST_TYPES];
    if (strlen(name) == length && memcmp(word, name, length) == 0) {
        return true;
    }
    if (!typed || length == 0 || length >= sizeof one) {
        return false;
    }
    snprintf(one, sizeof one, "%.*s", (int)length, word);
    const bool parsed = io_types_parse(one, named);
    for (int type = 0; type < IO_MOST_TYPES && parsed; type++) {
        io_type_species((uint8_t)type, type_name);
        if (named[type] && strcmp(type_name, name) == 0) {
            return true;
        }
    }
    return false;
}

int name_position(const char *list, const char *name, bool typed)
{
    for (int at = 0; list && *list; at++) {
        list += strspn(list, " \t");
        const size_t word = strcspn(list, ",");
        if (name_is(list, word, name, typed)) {
            return at;
        }
        list += word + (list[word] == ',');
    }
    return -1;
}

/** Return the position of a name in a list; INT_MAX if the list does not have it. */
static int rank(const char *list, const char *name, bool typed)
{
    const int at = name_position(list, name, typed);
    return at < 0 ? INT_MAX : at;
}

/** Return true when a name consists of digits, as types of LAMMPS and H5MD do. */
static bool is_number(const char *name)
{
    return *name && name[strspn(name, "0123456789")] == '\0';
}

/** Return true when name a comes before name b: by its rank in the lists `first` and `second`, then
 *  numbers before other names. */
static bool is_before(const char *a, const char *b, const char *first, const char *second,
                      bool typed)
{
    const char *const lists[] = {first, second};
    for (int k = 0; k < 2; k++) {
        const int x = rank(lists[k], a, typed), y = rank(lists[k], b, typed);
        if (x != y) {
            return x < y;
        }
    }
    const bool number = is_number(a);
    if (number != is_number(b)) {
        return number;
    }
    const double x = number ? strtod(a, NULL) : 0, y = number ? strtod(b, NULL) : 0;
    return x != y ? x < y : strcmp(a, b) < 0;
}

void name_order(int n, const char (*names)[IO_NAME_LENGTH], const char *first, const char *second,
                bool typed, int *order)
{
    for (int k = 0; k < n; k++) { /* insertion sort: there are few */
        int at = k;
        for (; at > 0 && is_before(names[k], names[order[at - 1]], first, second, typed); at--) {
            order[at] = order[at - 1];
        }
        order[at] = k;
    }
}
