/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of names: an insertion sort by rank in two lists, then by number, then by bytes.
 */
#include "name_order.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int name_position(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (int at = 0; list && *list; at++) {
        list += strspn(list, " \t");
        const size_t word = strcspn(list, ",");
        if (word == length && memcmp(list, name, length) == 0) {
            return at;
        }
        list += word + (list[word] == ',');
    }
    return -1;
}

/** Return the position of a name in a list; INT_MAX if the list does not have it. */
static int rank(const char *list, const char *name)
{
    const int at = name_position(list, name);
    return at < 0 ? INT_MAX : at;
}

/** Return true when a name consists of digits, as types of LAMMPS and H5MD do. */
static bool is_number(const char *name)
{
    return *name && name[strspn(name, "0123456789")] == '\0';
}

/** Return true when name a comes before name b: by its rank in the lists `first` and `second`, then
 *  numbers before other names. */
static bool is_before(const char *a, const char *b, const char *first, const char *second)
{
    const char *const lists[] = {first, second};
    for (int k = 0; k < 2; k++) {
        const int x = rank(lists[k], a), y = rank(lists[k], b);
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
                int *order)
{
    for (int k = 0; k < n; k++) { /* insertion sort: there are few */
        int at = k;
        for (; at > 0 && is_before(names[k], names[order[at - 1]], first, second); at--) {
            order[at] = order[at - 1];
        }
        order[at] = k;
    }
}
