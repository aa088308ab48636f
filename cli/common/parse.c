/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers and axes of the command line, by strtod in the locale "C".
 */
#include "parse.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *parse_leading(const char *text, double *out)
{
    char *end = NULL;
    if (isspace((unsigned char)*text)) { /* which strtod would skip */
        return NULL;
    }
    *out = strtod(text, &end);
    return end == text ? NULL : end;
}

bool parse_real(const char *text, double *out)
{
    const char *end = parse_leading(text, out);
    return end && *end == '\0';
}

int parse_reals(const char *text, int capacity, double *out)
{
    for (int n = 0; n < capacity; n++) {
        text = parse_leading(text, &out[n]);
        if (!text) {
            return 0;
        }
        if (*text == '\0') {
            return n + 1;
        }
        if (*text++ != ',') {
            return 0;
        }
        text += strspn(text, " \t");
    }
    return 0;
}

bool parse_count(const char *text, int64_t *out)
{
    enum { LONGEST = 40 }; /* longest number without its underscores [characters] */
    char plain[LONGEST + 1];
    size_t length = 0;
    for (const char *c = text; *c; c++) {
        const bool between = c > text && isdigit((unsigned char)c[-1]) &&
                             isdigit((unsigned char)c[1]);
        if (*c == '_' && between) {
            continue;
        }
        if (length == LONGEST) {
            return false;
        }
        plain[length++] = *c;
    }
    plain[length] = '\0';

    double value = 0;
    const char *suffix = strpbrk(plain, "xX") ? NULL : parse_leading(plain, &value); /* no 0x10 */
    static const struct {
        const char *name;
        double unit;
    } units[] = {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}};
    for (size_t u = 0; suffix && u < sizeof units / sizeof units[0]; u++) {
        if (strcmp(suffix, units[u].name) == 0) {
            value *= units[u].unit;
            /* Every integer up to 2^53 is a double. */
            if (!(fabs(value) <= 0x1p53) || value != floor(value)) {
                return false;
            }
            *out = (int64_t)value;
            return true;
        }
    }
    return false;
}

bool parse_axes(const char *text, int axes[3])
{
    int found[3] = {0, 0, 0};
    if (strcmp(text, "none") != 0) {
        if (*text == '\0') {
            return false;
        }
        for (; *text; text++) {
            const int axis = *text - 'x';
            if (axis < 0 || axis > 2 || found[axis]) {
                return false;
            }
            found[axis] = 1;
        }
    }
    memcpy(axes, found, sizeof found);
    return true;
}
