/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The histogram of counts: each number is in the bin whose edges hold it, up to the largest
 * int64_t.
 */
#include <common/spread.h>
#include <string.h>

#include "check.h"

/** Count numbers, and check that each is counted once, between the edges that the JSON says. */
static void check(const char *name, const int64_t *values, int n)
{
    const spread s = spread_of(values, n);
    CHECK(s.bins >= 1 && s.bins <= SPREAD_MOST_BINS, "%s: %d bins", name, s.bins);
    json_t *json = spread_json(&s, "particles"), *list = json_object_get(json, "histogram");
    CHECK((int)json_array_size(list) == s.bins, "%s: %d bins in JSON", name,
          (int)json_array_size(list));
    int64_t all = 0;
    for (int b = 0; b < s.bins; b++) {
        json_t *bin = json_array_get(list, (size_t)b);
        const int64_t from = json_integer_value(json_object_get(bin, "from"));
        const int64_t to = json_integer_value(json_object_get(bin, "to"));
        int64_t expected = 0;
        for (int k = 0; k < n; k++)
            expected += values[k] >= from && values[k] <= to;
        CHECK(from <= to && s.count[b] == expected, "%s: %lld of %lld to %lld, expected %lld", name,
              (long long)s.count[b], (long long)from, (long long)to, (long long)expected);
        all += s.count[b];
    }
    CHECK(all == n && s.least == values[0] && s.most == values[n - 1],
          "%s: %lld numbers from %lld to %lld", name, (long long)all, (long long)s.least,
          (long long)s.most);
    json_decref(json);
}

int main(void)
{
    const int64_t few[] = {0, 1, 2, 9}, tail[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 400};
    check("few", few, 4);
    check("a long tail", tail, 10);
    for (int bits = 4; bits <= 63; bits++) { /* one large number, with and without a long tail */
        const int64_t large = bits == 63 ? INT64_MAX : (int64_t)1 << bits;
        int64_t values[20] = {0};
        for (int64_t less = 0; less < 2; less++) {
            char name[40];
            snprintf(name, sizeof name, "2^%d - %d", bits, (int)less);
            values[19] = large - less;
            check(name, values, 20);
            check(name, values + 18, 2);
            check(name, values + 19, 1);
        }
    }
    return check_done();
}
