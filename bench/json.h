/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Write JSON: indented, nothing kept in memory. Keys are NULL inside an array.
 */
#ifndef KITH_BENCH_JSON_H
#define KITH_BENCH_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** A document being written. Start with {file}; a NULL file writes nothing. */
typedef struct json {
    FILE *file;
    int depth;
    bool filled; /**< the object or array at this depth has an element */
} json;

/** Begin an object or an array. @param bracket  '{' or '[' */
void json_open(json *out, const char *key, char bracket);
/** End it. @param bracket  '}' or ']' */
void json_close(json *out, char bracket);

void json_text(json *out, const char *key, const char *value);
/** A number that is not finite is written as null. */
void json_number(json *out, const char *key, double value);
void json_integer(json *out, const char *key, int64_t value);
void json_bool(json *out, const char *key, bool value);

#endif
