/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The summary of `kith pairs`, as text and as JSON.
 */
#include "pairs.h"
#include "common/report.h"

#include <stdio.h>

/** Print the distribution of the numbers of neighbours. */
static void print_neighbours(const spread *s)
{
    if (s->n == 0) {
        report_line("neighbours", "no particles\n");
        return;
    }
    report_line("neighbours", "mean %.4g, least %s, most %s\n", s->mean, report_count(s->least).s,
                report_count(s->most).s);
    spread_draw(s);
}

/** Print the radius, or --cutoff by pairs of species as it was given, the radii, and r_min. */
static void print_cutoff(const pairs_task *task, const pairs_outcome *found)
{
    if (task->by_species) {
        report_line("cutoff", "%s\n", report_text(task->by_species).s);
    } else if (task->listing.cutoff > 0) {
        report_line("cutoff", "%s\n", report_real(task->listing.cutoff).s);
    }
    listing_print_radii(&task->listing, &found->listing);
    if (task->r_min > 0) {
        report_line("r_min", "%s\n", report_real(task->r_min).s);
    }
}

/** Return the radius, or the radii by pairs of species, named as the user named them:
 *  {"O-Si": 1.8}; null where only radii of particles decide. */
static json_t *cutoff_json(const pairs_task *task)
{
    if (!task->by_species) {
        return task->listing.cutoff > 0 ? report_json_real(task->listing.cutoff) : json_null();
    }
    json_t *all = json_object();
    pairs_cutoff cutoff;
    for (const char *at = task->by_species; *at && pairs_next_cutoff(&at, &cutoff);) {
        char names[2 * IO_NAME_LENGTH + 1];
        (void)snprintf(names, sizeof names, "%.*s", (int)cutoff.length, cutoff.names);
        report_json_set(all, names, report_json_real(cutoff.radius));
    }
    return all;
}

void pairs_print(const pairs_task *task, const pairs_outcome *found)
{
    listing_print_space(&task->listing, &found->listing);
    print_cutoff(task, found);
    report_line("pairs", "%s, %s\n", report_bold(report_count(found->n).s).s,
                task->listing.against ? "each (i, j) once"
                : task->list.full     ? "each twice: full list"
                                      : "each once: half list");
    print_neighbours(&found->spread);
    listing_print_search(&task->listing, &found->listing, found->n, "pairs");
}

json_t *pairs_json(const pairs_task *task, const pairs_outcome *found)
{
    json_t *list = listing_extras_json(&task->listing);
    json_object_set_new(list, "full",
                        json_boolean(task->list.full || task->listing.against != NULL));
    json_object_set_new(list, "sorted", json_boolean(task->list.sorted));
    json_object_set_new(list, "r_min", report_json_real(task->r_min));
    json_object_set_new(list, "exclude_molecules", json_boolean(task->without_molecules));
    json_object_set_new(list, "exclude_bonds", json_boolean(task->without_bonds));
    json_t *facts = json_pack(
        "{s:o, s:o, s:o, s:I, s:o, s:f}", "cutoff", cutoff_json(task), "radii",
        listing_radii_json(&task->listing, &found->listing), "list", list, "pairs",
        (json_int_t)found->n, "neighbours",
        found->neighbours ? spread_json(&found->spread, "particles") : json_null(),
        "pairs_per_second", report_rate((double)found->n, found->listing.search_seconds));
    return listing_json(&task->listing, &found->listing, "pairs", facts);
}
