/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decimal numbers. With few digits and a small power of ten, one product or quotient of two exact
 * numbers is correctly rounded (Clinger 1990): in double for up to 2^53, in the 64-bit mantissa of
 * x86's long double for up to 19 digits. Other numbers are parsed by strtod_l.
 */
#include "io_internal.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Powers of ten that a long double holds exactly; the first 23 also fit a double. */
static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                     1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                     1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                     1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

/** Compute value * 10^power, correctly rounded.
 *  @return true when *out is set; false if the arithmetic cannot guarantee correct rounding */
static bool scale(uint64_t value, int64_t power, double *out)
{
    const int64_t size = power < 0 ? -power : power;
    if (value <= 1ull << 53 && size <= 22) { /* 10^22 is the last power that a double holds */
        const double integer = (double)value, ten = (double)powers[size];
        *out = power < 0 ? integer / ten : integer * ten;
        return true;
    }
#if LDBL_MANT_DIG == 64
    if (size <= 27) {
        const long double integer = (long double)value;
        const long double wide = power < 0 ? integer / powers[size] : integer * powers[size];
        uint64_t mantissa;
        memcpy(&mantissa, &wide, sizeof mantissa);
        *out = (double)wide;
        /* x86 stores the 64 bits of the mantissa first. The 11 lowest of them, which double lacks,
         * decide how wide is rounded to double; 0x400 is halfway. As wide itself has an error of up
         * to half a unit, the result is certain unless they are 0x3ff to 0x401. */
        return (mantissa & 0x7ff) < 0x3ff || (mantissa & 0x7ff) > 0x401;
    }
#endif
    return false;
}

/** Append the decimal digits at text to *value, which may overflow. @return the first character
 *  behind them */
static const char *digits(const char *text, uint64_t *value)
{
    for (; *text >= '0' && *text <= '9'; text++) {
        *value = 10 * *value + (uint64_t)(*text - '0');
    }
    return text;
}

/** Parse a number with at most 19 digits and a small exponent.
 *  @return the end of the number; NULL if strtod_l has to parse it */
static const char *parse_short(const char *text, double *out)
{
    enum { MOST_DIGITS = 19 }; /* 10^19 - 1 is less than 2^64 */
    const bool negative = *text == '-';
    text += negative;
    uint64_t value = 0;
    const char *point = digits(text, &value);
    const char *end = *point == '.' ? digits(point + 1, &value) : point;
    const int64_t count = end - text - (end > point); /* number of digits, without the point */
    if (count < 1 || count > MOST_DIGITS) {
        return NULL;
    }
    int64_t power = end > point ? point + 1 - end : 0;
    if (*end == 'e' || *end == 'E') {
        const char *sign = end + 1;
        uint64_t exponent = 0;
        const char *first = sign + (*sign == '-' || *sign == '+');
        end = digits(first, &exponent);
        if (end == first || end - first > 3) {
            return NULL;
        }
        power += *sign == '-' ? -(int64_t)exponent : (int64_t)exponent;
    }
    /* a letter behind the number: hexadecimal, or another form that strtod_l may parse */
    if (isalnum((unsigned char)*end) || !scale(value, power, out)) {
        return NULL;
    }
    *out = negative ? -*out : *out;
    return end;
}

const char *io__number(const char *text, locale_t locale, double *out)
{
    errno = 0;
    const char *quick = parse_short(text, out);
    if (quick) {
        return quick;
    }
    char *end = NULL;
    *out = strtod_l(text, &end, locale);
    if (errno == ERANGE && fabs(*out) <= 1) {
        errno = 0; /* underflow is no error: the result is rounded */
    }
    return end;
}

bool io__token_next(const char **at, io_token *token)
{
    const char *begin = *at;
    while (*begin == ' ' || *begin == '\t') {
        begin++;
    }
    const char *end = begin;
    while (*end && *end != ' ' && *end != '\t') {
        end++;
    }
    *token = (io_token){begin, (size_t)(end - begin)};
    *at = end;
    return end > begin;
}

bool io__token_is(io_token token, const char *word)
{
    return token.length == strlen(word) && memcmp(token.text, word, token.length) == 0;
}

int io__token_shown(io_token token)
{
    enum { SHOWN = 40 };
    return token.length < SHOWN ? (int)token.length : SHOWN;
}

io_status io__lines_number(const io_lines *lines, io_token token, const char *what, double *out)
{
    const char *end = token.length ? io__number(token.text, lines->locale, out) : token.text;
    if (token.length == 0 || end != token.text + token.length) {
        return io__lines_fail(lines, IO_FORMAT, "%s is '%.*s'; expected a number", what,
                              io__token_shown(token), token.text);
    }
    if (errno == ERANGE) {
        return io__lines_fail(lines, IO_FORMAT, "%s is '%.*s', too large for a double", what,
                              io__token_shown(token), token.text);
    }
    return IO_OK;
}
