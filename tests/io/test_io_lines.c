/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Printed numbers have the bytes that sprintf gives, and a text has the same bytes with any number
 * of threads.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "io_files.h"

#include <core/io_internal.h>

static uint64_t state = 88172645463325252u;

/** Xorshift of Marsaglia. */
static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void expect_number(double value, int digits)
{
    char printed[64], expected[64];
    *io__number_put(printed, value, digits) = 0;
    snprintf(expected, sizeof expected, "%.*g", digits, value);
    CHECK(strcmp(printed, expected) == 0, "%a with %d digits: %s; expected %s", value, digits,
          printed, expected);
    CHECK(strlen(printed) < IO_NUMBER, "%s is %zu bytes long", printed, strlen(printed));
}

/** Numbers of many sizes: any bits, fractions, short decimals, ties, and powers of ten. */
static double make_number(int64_t k)
{
    const uint64_t bits = random_bits();
    const double fraction = (double)(bits >> 11) * 0x1p-53;
    double value;
    switch (k % 7) {
    case 0: memcpy(&value, &bits, sizeof value); return value;
    case 1: return fraction;
    case 2: return (double)(int64_t)bits * 0x1p-40;
    case 3: return (float)(100 * fraction - 50);
    case 4: return (double)((int64_t)(bits % 2000000) - 1000000) / (double)(1ull << (bits >> 58));
    case 5: return (double)(bits % 1000000) / 1000;
    default: value = pow(10, (double)(bits % 60) - 30); break;
    }
    return nextafter(value, bits >> 63 ? 0 : INFINITY);
}

static void test_numbers(void)
{
    static const double special[] = {0,         -0.0,
                                     1,         -1,
                                     0.5,       9.5,
                                     10,        99999999.95,
                                     1e-4,      9.9999999999999995e-5,
                                     0x1p-1074, 0x1p1023,
                                     1e16,      1e17,
                                     1e18,      123456789012345680,
                                     0.1,       1e-11,
                                     INFINITY,  -INFINITY,
                                     NAN};
    for (size_t k = 0; k < sizeof special / sizeof *special; k++)
        for (int digits = 1; digits <= 17; digits++)
            expect_number(special[k], digits);
    for (int64_t k = 0; k < (check_deep() ? 100000000 : 300000) && check_failures() == 0; k++) {
        const double value = make_number(k);
        expect_number(value, 17);
        expect_number(value, 9);
        expect_number(value, 1 + (int)(random_bits() % 17));
    }
}

enum { PAIRS = 50000 };

/** Write random pairs in blocks of several sizes. @return the bytes, without the header */
static bytes write_pairs(const char *name, int threads)
{
    static int32_t i[PAIRS], shifts[PAIRS][3];
    static double distances[PAIRS];
    const io_pairs_layout layout = {
        .extras = KITH_DISTANCES | KITH_SHIFTS, .precision = KITH_DOUBLE, .threads = threads};
    const char *path = files_path(name);
    io_pairs_writer *writer;
    io_error error;
    state = 7;
    CHECK(io_pairs_open(path, &layout, &writer, &error) == IO_OK, "%s", error.text);
    for (int64_t n = 1; n <= PAIRS; n = n * 2 < PAIRS || n == PAIRS ? n * 2 : PAIRS) {
        for (int64_t k = 0; k < n; k++) {
            i[k] = (int32_t)(random_bits() >> 33);
            distances[k] = make_number(k);
            shifts[k][0] = (int32_t)k;
        }
        const kith_pairs pairs = {
            .n = n, .i = i, .j = i, .distances = distances, .shifts = &shifts[0][0]};
        CHECK(io_pairs_write(writer, &pairs, &error) == IO_OK, "%s", error.text);
    }
    CHECK(io_pairs_commit(writer, &error) == IO_OK, "%s", error.text);
    return bytes_load(path);
}

static void test_threads(void)
{
    const bytes one = write_pairs("one.csv", 1);
    for (int threads = 2; threads <= 40; threads += 19) {
        const bytes many = write_pairs("many.csv", threads);
        CHECK(many.n == one.n && memcmp(many.data, one.data, one.n) == 0,
              "%d threads write %zu other bytes than the %zu of one", threads, many.n, one.n);
        free(many.data);
    }
    free(one.data);
}

int main(void)
{
    files_begin();
    test_numbers();
    test_threads();
    return check_done();
}
