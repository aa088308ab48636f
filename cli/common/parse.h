/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Strict reading of numbers from the command line: the whole of the text or nothing.
 */
#ifndef KITH_CLI_PARSE_H
#define KITH_CLI_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/** Read a number at the beginning of a text. @return what follows it; NULL: there is none */
const char *parse_leading(const char *text, double *out);

/** Read a number; "nan" and "inf" are numbers, whose use the caller judges. Return true when the
 *  text is one. */
bool parse_real(const char *text, double *out);

/** Read up to capacity numbers separated by commas, behind which blanks may stand. @return how
 *  many; 0 if the text is not a list of numbers. */
int parse_reals(const char *text, int capacity, double *out);

/** Read a whole number of absolute value up to 2^53, written as 1000000, 1_000_000, 1e6, 1M, 2.5k
 *  or 1G. Return true when the text is one; else *out is unchanged. */
bool parse_count(const char *text, int64_t *out);

/** Read periodic axes: "xyz", "xy", "z", "none". Return true when the text is one of these forms;
 *  else axes are unchanged. @param[out] axes  1: periodic */
bool parse_axes(const char *text, int axes[3]);

#endif
