/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decimal numbers. Up to 15 or so digits with a small power of ten, a product or quotient of two
 * exact doubles is correctly rounded (Clinger 1990); anything else goes to strtod_l.
 */
#include "io_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/** Append the digits at text to *value. @return behind them. */
static const char *digits(const char *text, uint64_t *value)
{
    for (; *text >= '0' && *text <= '9'; text++)
        *value = 10 * *value + (uint64_t)(*text - '0');
    return text;
}

/** @return the number's end, or NULL when this easy way does not lead there. */
static const char *parse_short(const char *text, double *out)
{
    enum { MOST_DIGITS = 18, MOST_POWER = 22 };
    const bool negative = *text == '-';
    text += negative;
    uint64_t value = 0;
    const char *point = digits(text, &value);
    const char *end = *point == '.' ? digits(point + 1, &value) : point;
    const int64_t count = end - text - (end > point);
    if (count < 1 || count > MOST_DIGITS || value > (1ull << 53))
        return NULL;
    int64_t power = end > point ? point + 1 - end : 0;
    if (*end == 'e' || *end == 'E') {
        const char *sign = end + 1;
        uint64_t exponent = 0;
        const char *first = sign + (*sign == '-' || *sign == '+');
        end = digits(first, &exponent);
        if (end == first || end - first > 3)
            return NULL;
        power += *sign == '-' ? -(int64_t)exponent : (int64_t)exponent;
    }
    if (isalnum((unsigned char)*end) || power < -MOST_POWER || power > MOST_POWER)
        return NULL;
    const double whole = (double)value;
    const double result = power < 0 ? whole / powers[-power] : whole * powers[power];
    *out = negative ? -result : result;
    return end;
}

const char *io__number(const char *text, locale_t locale, double *out)
{
    errno = 0;
    const char *quick = parse_short(text, out);
    if (quick)
        return quick;
    char *end = NULL;
    *out = strtod_l(text, &end, locale);
    if (errno == ERANGE && fabs(*out) <= 1)
        errno = 0; /* underflow is an honest, rounded value */
    return end;
}

bool io__token_next(const char **at, io_token *token)
{
    const char *begin = *at;
    while (*begin == ' ' || *begin == '\t')
        begin++;
    const char *end = begin;
    while (*end && *end != ' ' && *end != '\t')
        end++;
    *token = (io_token){begin, (size_t)(end - begin)};
    *at = end;
    return end > begin;
}

int io__token_shown(io_token token)
{
    enum { SHOWN = 40 };
    return token.length < SHOWN ? (int)token.length : SHOWN;
}

io_status io__lines_number(const io_lines *lines, io_token token, const char *what, double *out)
{
    const char *end = token.length ? io__number(token.text, lines->locale, out) : token.text;
    if (token.length == 0 || end != token.text + token.length)
        return io__lines_fail(lines, IO_FORMAT, "%s is '%.*s'; expected a number", what,
                              io__token_shown(token), token.text);
    if (errno == ERANGE)
        return io__lines_fail(lines, IO_FORMAT, "%s is '%.*s', too large for a double", what,
                              io__token_shown(token), token.text);
    return IO_OK;
}
