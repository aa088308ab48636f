/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A histogram of integers, with bins of one width, or of powers of 2 where the tail is long, drawn
 * by bars of block characters.
 */
#include "spread.h"

#include <stdio.h>

/** Return the smallest of 1, 2, 5, 10, 20, 50, ... that covers the range in ten bins or fewer. */
static int64_t even_width(int64_t least, int64_t most)
{
    int64_t width = 1;
    for (int step = 0; most / width - least / width + 1 > 10; step++) {
        width = step % 3 == 1 ? width / 2 * 5 : width * 2;
    }
    return width;
}

/** Return the upper edge of a bin that begins at `from`, or INT64_MAX where that would overflow. */
static int64_t edge_after(int64_t from, int64_t width)
{
    return from > INT64_MAX - width ? INT64_MAX : from + width;
}

/** Return the largest number of a bin. The last bin holds INT64_MAX, too, if that is its edge. */
static int64_t last_of(const spread *s, int b)
{
    return s->from[b + 1] == INT64_MAX ? INT64_MAX : s->from[b + 1] - 1;
}

/** Set the edges of the bins from the range and the mean of the values. */
static void choose_bins(spread *s)
{
    /* Bins of one width would leave nearly all values in the first. */
    const bool long_tail = s->most >= 16 && (double)s->most > 8 * s->mean;
    s->bins = 0;
    if (long_tail) {
        /* 0, 1, 2-3, 4-7, ...; what lies below the least has no bin. */
        int64_t edge = 1;
        s->from[0] = 0;
        do {
            s->bins += edge > s->least;
            s->from[s->bins] = edge;
            edge = edge_after(edge, edge);
        } while (s->from[s->bins] <= s->most && s->from[s->bins] < INT64_MAX);
        return;
    }
    const int64_t width = even_width(s->least, s->most);
    s->from[0] = s->least / width * width;
    do {
        s->from[s->bins + 1] = edge_after(s->from[s->bins], width);
        s->bins++;
    } while (s->from[s->bins] <= s->most && s->from[s->bins] < INT64_MAX);
}

spread_range spread_range_of(const int64_t *values, int64_t n)
{
    spread_range range = {.n = n, .least = INT64_MAX, .most = INT64_MIN};
    for (int64_t k = 0; k < n; k++) {
        range.least = values[k] < range.least ? values[k] : range.least;
        range.most = values[k] > range.most ? values[k] : range.most;
        range.sum += values[k];
    }
    return range;
}

spread spread_begin(const spread_range *range)
{
    spread s = {.n = range->n};
    if (range->n > 0) {
        s.least = range->least;
        s.most = range->most;
        s.mean = (double)range->sum / (double)range->n;
        choose_bins(&s);
    }
    return s;
}

void spread_add(spread *s, const int64_t *values, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        int b = 0;
        while (values[k] > last_of(s, b)) {
            b++;
        }
        s->count[b]++;
    }
}

spread spread_of(const int64_t *values, int64_t n)
{
    const spread_range range = spread_range_of(values, n);
    spread s = spread_begin(&range);
    spread_add(&s, values, n);
    return s;
}

/** Draw a bar. @param eighths  its length [1 / 8 of a character] */
static void draw_bar(int eighths)
{
    const style *look = report_style();
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    fputs(look->bar, stdout);
    for (int k = 0; k < eighths / 8; k++) {
        fputs(look->blocks ? "█" : "#", stdout);
    }
    fputs(look->blocks ? parts[eighths % 8] : "", stdout);
    fputs(look->end, stdout);
}

void spread_draw(const spread *s)
{
    enum { WIDTH = 30 }; /* of the longest bar [characters] */
    const style *look = report_style();
    int64_t highest = 1;
    for (int b = 0; b < s->bins; b++) {
        highest = s->count[b] > highest ? s->count[b] : highest;
    }
    for (int b = 0; b < s->bins; b++) {
        const int64_t last = last_of(s, b);
        char range[48];
        if (last == s->from[b]) {
            snprintf(range, sizeof range, "%lld", (long long)last);
        } else {
            snprintf(range, sizeof range, "%lld - %lld", (long long)s->from[b], (long long)last);
        }
        printf("  %15s  ", range);
        const double share = (double)s->count[b] / (double)highest;
        int eighths = (int)(share * WIDTH * 8 + 0.5);
        if (s->count[b] > 0 && eighths == 0) {
            eighths = 1;
        }
        draw_bar(eighths);
        printf(" %s%s%s\n", look->faint, report_count(s->count[b]).s, look->end);
    }
}

json_t *spread_json(const spread *s, const char *of)
{
    json_t *histogram = json_array();
    for (int b = 0; b < s->bins; b++) {
        json_array_append_new(histogram,
                              json_pack("{s:I, s:I, s:I}", "from", (json_int_t)s->from[b], "to",
                                        (json_int_t)last_of(s, b), of, (json_int_t)s->count[b]));
    }
    return json_pack("{s:f, s:I, s:I, s:o}", "mean", s->mean, "least", (json_int_t)s->least, "most",
                     (json_int_t)s->most, "histogram", histogram);
}
