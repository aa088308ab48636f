/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Add members to the JSON of a results file, which is in memory until it is written. Without memory
 * a member is missing.
 */
#ifndef KITH_BENCH_PUT_H
#define KITH_BENCH_PUT_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/** Add a number; null where it is not finite. */
static inline void put_number(json_t *to, const char *key, double value)
{
    json_object_set_new(to, key, isfinite(value) ? json_real(value) : json_null());
}

static inline void put_integer(json_t *to, const char *key, int64_t value)
{
    json_object_set_new(to, key, json_integer(value));
}

static inline void put_text(json_t *to, const char *key, const char *value)
{
    json_object_set_new(to, key, json_string(value));
}

static inline void put_bool(json_t *to, const char *key, bool value)
{
    json_object_set_new(to, key, json_boolean(value));
}

/** Add an empty array. @return it; `to` owns it */
static inline json_t *put_array(json_t *to, const char *key)
{
    json_t *const array = json_array();
    json_object_set_new(to, key, array);
    return array;
}

/** Add an empty object. @param key  NULL: at the end of an array. @return it; `to` owns it */
static inline json_t *put_object(json_t *to, const char *key)
{
    json_t *const object = json_object();
    (void)(key ? json_object_set_new(to, key, object) : json_array_append_new(to, object));
    return object;
}

#endif
