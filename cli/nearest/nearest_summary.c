/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The summary of `kith nearest`, as text and as JSON.
 */
#include "nearest.h"

#include "common/report.h"

void nearest_print(const nearest_task *task, const nearest_outcome *found)
{
    const kith_nearest *rows = &found->rows;
    listing_print_space(&task->listing, &found->listing);
    if (task->listing.cutoff > 0) {
        report_line("cutoff", "%s\n", report_real(task->listing.cutoff).s);
    }
    listing_print_radii(&task->listing, &found->listing);
    report_line("k", "%s\n", report_count(rows->k).s);
    report_line("neighbours", "%s; particles with fewer than k: %s\n",
                report_bold(report_count(found->n).s).s, report_count(found->fewer).s);
    if (found->fewer < rows->rows) {
        report_line("distance", "of neighbour k: mean %.4g, largest %.4g\n", found->mean,
                    found->largest);
    }
    listing_print_search(&task->listing, &found->listing, found->n, "neighbours");
}

json_t *nearest_json(const nearest_task *task, const nearest_outcome *found)
{
    const kith_nearest *rows = &found->rows;
    json_t *distance = json_null();
    if (found->fewer < rows->rows) {
        distance = json_pack("{s:o, s:o}", "mean", report_json_real(found->mean), "largest",
                             report_json_real(found->largest));
    }
    json_t *facts = json_pack(
        "{s:I, s:o, s:o, s:o, s:I, s:I, s:o, s:f}", "k", (json_int_t)rows->k, "cutoff",
        task->listing.cutoff > 0 ? json_real(task->listing.cutoff) : json_null(), "radii",
        listing_radii_json(&task->listing, &found->listing), "list",
        listing_extras_json(&task->listing), "neighbours", (json_int_t)found->n, "rows_with_fewer",
        (json_int_t)found->fewer, "kth_distance", distance, "neighbours_per_second",
        report_rate((double)found->n, found->listing.search_seconds));
    return listing_json(&task->listing, &found->listing, "nearest", facts);
}
