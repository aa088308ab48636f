/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decimal numbers. With few digits and a small power of ten, one product or quotient of two exact
 * numbers is correctly rounded (Clinger 1990): in double for up to 2^53, in the 64-bit mantissa of
 * x86's long double for up to 19 digits. Other numbers are parsed by strtod_l.
 *
 * Numbers are printed by integers of 128 bits. Of a number m 2^e with 53 bits of m, the digits are
 * the integer m 5^p 2^(e + p) for a power p of ten. With p from 0 to 27 the product m 5^p is below
 * 2^116: it is exact, and so are the bits that rounding cuts off. Other numbers, with 17 digits
 * those below 1e-11 or above 1e17, are printed by sprintf. The bytes are those of sprintf.
 */
#include "io_internal.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
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

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

enum { MOST_POWER = 27 }; /* 5^27 is below 2^63 */

static const uint64_t powers_of_five[MOST_POWER + 1] = {1u,
                                                        5u,
                                                        25u,
                                                        125u,
                                                        625u,
                                                        3125u,
                                                        15625u,
                                                        78125u,
                                                        390625u,
                                                        1953125u,
                                                        9765625u,
                                                        48828125u,
                                                        244140625u,
                                                        1220703125u,
                                                        6103515625u,
                                                        30517578125u,
                                                        152587890625u,
                                                        762939453125u,
                                                        3814697265625u,
                                                        19073486328125u,
                                                        95367431640625u,
                                                        476837158203125u,
                                                        2384185791015625u,
                                                        11920928955078125u,
                                                        59604644775390625u,
                                                        298023223876953125u,
                                                        1490116119384765625u,
                                                        7450580596923828125u};

/** Compute mantissa * 2^exponent * 10^power, rounded to the nearest integer, of two the even one.
 *  @param mantissa     below 2^53
 *  @param power        0 to MOST_POWER
 *  @param[out] down    the integer rounded down
 *  @return the rounded integer; 0: it may need more than 63 bits */
static uint64_t scale_exactly(uint64_t mantissa, int exponent, int power, uint64_t *down)
{
    const wide product = (wide)mantissa * powers_of_five[power];
    const int shift = exponent + power; /* the number is product * 2^shift */
    *down = 0;
    if (shift > 10 || shift < -116) { /* 10: a product of 2^53 and more then exceeds 2^63 */
        return 0;
    }
    if (shift >= 0) {
        return *down = product >> (63 - shift) ? 0 : (uint64_t)(product << shift);
    }
    const wide floor = product >> -shift, half = (wide)1 << (-shift - 1);
    const wide rest = product - (floor << -shift);
    if (floor >> 63) {
        return 0;
    }
    *down = (uint64_t)floor;
    return *down + (rest > half || (rest == half && (*down & 1)));
}

/** Find the first decimal digits of a number, correctly rounded.
 *  @param value          not negative
 *  @param n              number of digits, 1 to 17
 *  @param[out] exponent  the power of ten of the first digit
 *  @return the digits, as an integer of n digits; 0: sprintf has to print the number */
static uint64_t find_digits(double value, int n, int *exponent)
{
    enum { BIAS = 1075, ALL_ONES = 2047 }; /* of the exponent of the mantissa as an integer */
    const uint64_t least = powers_of_five[n - 1] << (n - 1), most = 10 * least;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int biased = (int)(bits >> 52);
    if (biased == 0 || biased == ALL_ONES) { /* 0, subnormal, infinite, or no number */
        return 0;
    }
    const uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    const int binary = biased - BIAS;
    /* 1233 / 4096 is log10(2) rounded down: the power of ten of the first digit, or one less */
    int first = ((binary + 52) * 1233) >> 12;
    for (int tries = 0; tries < 2; tries++, first++) {
        const int power = n - 1 - first;
        uint64_t down;
        if (power < 0 || power > MOST_POWER) {
            return 0;
        }
        const uint64_t found = scale_exactly(mantissa, binary, power, &down);
        if (down >= least && down < most) {
            *exponent = first + (found == most);
            return found == most ? least : found;
        }
    }
    return 0;
}

/** Print a number as "%.*g" does, by its digits.
 *  @param digits    the digits, as an integer of n digits
 *  @param exponent  the power of ten of the first digit, -4 to n - 1
 *  @return where the next character goes */
static char *put_digits(char *out, uint64_t digits, int n, int exponent)
{
    enum { HALF = 100000000 };
    char text[24];
    uint32_t low = (uint32_t)(digits % HALF), high = (uint32_t)(digits / HALF % HALF);
    for (int k = n - 1; k >= 0; k--) { /* two chains of divisions by 10 of 32 bits */
        uint32_t *part = k > n - 9 ? &low : &high;
        text[k] = (char)('0' + *part % 10);
        *part /= 10;
    }
    if (n == 17) {
        text[0] = (char)('0' + digits / ((uint64_t)HALF * HALF));
    }
    while (n > 1 && n - 1 > exponent && text[n - 1] == '0') {
        n--;
    }
    const int whole = exponent + 1; /* digits before the point; 0 and less: none */
    if (whole <= 0) {
        memcpy(out, "0.000", (size_t)(2 - whole));
        out += 2 - whole;
        memcpy(out, text, (size_t)n);
        return out + n;
    }
    memcpy(out, text, (size_t)whole);
    out += whole;
    if (n > whole) {
        *out++ = '.';
        memcpy(out, text + whole, (size_t)(n - whole));
        out += n - whole;
    }
    return out;
}
#endif

char *io__number_put(char *out, double value, int digits)
{
    assert(digits >= 1 && digits <= 17);
#ifdef __SIZEOF_INT128__
    const double size = fabs(value);
    int exponent = 0;
    const uint64_t found = find_digits(size, digits, &exponent);
    if (found && exponent >= -4 && exponent < digits) {
        if (value < 0) {
            *out++ = '-';
        }
        return put_digits(out, found, digits, exponent);
    }
#endif
    return out + sprintf(out, "%.*g", digits, value);
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
