/* SPDX-License-Identifier: BSD-3-Clause
 *
 * --radii of `kith pairs` and `kith nearest`: a radius for each particle, and the rule by which the
 * radii of two particles decide. The radii of a set are a field of its file, which is read with the
 * coordinates, or the numbers of a file of their own. A rule that uses the radii of one set alone
 * gets zeros for the other set, because the library takes an array for each.
 */
#include "listing.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES = KITH_RADIUS_SUM + 1 };
static const char *const rule_names[RULES] = {"none", "gather", "scatter", "either", "both", "sum"};

/** Read the option of set 0 or 1: a text with a dot is the path of a file, any other the name of a
 *  field. */
static void read_name(listing_radii *radii, int set, const option_given *given)
{
    option_refuse(given->state, !*given->arg, "--radii needs the name of a field or a file");
    radii->name[set] = given->arg;
    radii->file[set] = strchr(given->arg, '.') ? given->arg : NULL;
}

void listing_read_radii(void *at, const option_given *given)
{
    read_name(&((listing_task *)at)->radii, 0, given);
}

void listing_read_radii_against(void *at, const option_given *given)
{
    read_name(&((listing_task *)at)->radii, 1, given);
}

/** Return true when the rule uses the radii of a set. */
static bool uses(const listing_task *task, int set)
{
    const kith_radius_rule one_sided = set == 0 ? KITH_RADIUS_SCATTER : KITH_RADIUS_GATHER;
    return task->against ? task->radii.rule != one_sided : set == 0;
}

bool listing_radii_given(const listing_task *task)
{
    return task->radii.name[0] || task->radii.name[1];
}

void listing_radii_check(listing_task *task, bool full, struct argp_state *state)
{
    listing_radii *radii = &task->radii;
    const bool two = task->against != NULL;
    const bool given = listing_radii_given(task);
    option_refuse(state, !given && (radii->rule != KITH_RADIUS_NONE || radii->scale != 0),
                  "--radii-rule and --radii-scale need --radii NAME");
    if (!given) {
        return;
    }
    radii->rule = radii->rule != KITH_RADIUS_NONE ? radii->rule : KITH_RADIUS_EITHER;
    radii->scale = radii->scale > 0 ? radii->scale : 1;
    const bool one_sided = radii->rule == KITH_RADIUS_GATHER || radii->rule == KITH_RADIUS_SCATTER;
    option_refuse(
        state, one_sided && !two && !full,
        "--radii-rule gather and scatter need --full: (i, j) may be a pair where (j, i) is "
        "none");
    option_refuse(state, radii->name[1] && !two, "--radii-against needs --against FILE");
    option_refuse(state, radii->name[1] && !uses(task, 1),
                  "--radii-rule gather uses the radii of INPUT alone: leave out --radii-against");
    option_refuse(state, radii->name[0] && radii->name[1] && !uses(task, 0),
                  "--radii-rule scatter uses the radii of --against alone: leave out --radii");
    option_refuse(state, !radii->name[0] && uses(task, 0),
                  "--radii-against alone is enough for --radii-rule scatter only: add --radii");
    option_refuse(state, uses(task, 1) && !radii->name[1] && radii->file[0],
                  "--radii names a file, of INPUT: --radii-against names the radii of --against");
    if (!radii->name[1]) {
        radii->name[1] = radii->name[0];
    }
    for (int set = 0; set < 2; set++) {
        radii->name[set] = uses(task, set) ? radii->name[set] : NULL;
    }
}

/** Read the radii of a set. @param in  its particles, with the field if the radii are one */
static int read_set(const listing_radii *radii, int set, const input *in,
                    listing_found_radii *found)
{
    radii_source from = {.zeros = !radii->name[set], .scale = radii->scale};
    radii_range range;
    found->radii[set] = malloc(((size_t)in->particles.n + 1) * (size_t)in->particles.precision);
    if (!found->radii[set]) {
        return report_no_memory("the radii");
    }
    (void)snprintf(from.option, sizeof from.option, "%s", set == 0 ? "--radii" : "--radii-against");
    (void)snprintf(from.path, sizeof from.path, "%s", in->path);
    (void)snprintf(from.file, sizeof from.file, "%s", radii->file[set] ? radii->file[set] : "");
    CLI_TRY(ranks_radii_read(&from, set, in, found->radii[set], &range));
    found->least = fmin(found->least, range.least);
    found->most[set] = range.most;
    return STATUS_OK;
}

/** Describe names, rule and range of the radii, for the summary and the header of a text. */
static void describe(const listing_radii *radii, listing_found_radii *found)
{
    const char *a = radii->name[0], *b = radii->name[1];
    const bool two = a && b && strcmp(a, b) != 0;
    const double most = fmax(found->most[0], found->most[1]);
    const printed scale = radii->scale != 1
                              ? report_format("%s times ", report_real(radii->scale).s)
                              : report_format("%s", "");
    const printed range = isfinite(found->least)
                              ? report_format(", %.6g to %.6g", found->least, most)
                              : report_format("%s", "");
    (void)snprintf(found->words, sizeof found->words, "%s%.60s%s%.60s, rule %s%s", scale.s,
                   a ? a : b, two ? " and " : "", two ? b : "", rule_names[radii->rule], range.s);
}

int listing_radii_read(const listing_task *task, bool limited, listing_outcome *listing)
{
    const listing_radii *radii = &task->radii;
    listing_found_radii *found = &listing->radii;
    const input *sets[2] = {&listing->a, &listing->b};
    if (!listing_radii_given(task)) {
        return STATUS_OK;
    }
    found->least = INFINITY;
    for (int set = 0; set < (task->against ? 2 : 1); set++) {
        CLI_TRY(read_set(radii, set, sets[set], found));
    }
    const double *most = found->most;
    const bool needs_both = radii->rule == KITH_RADIUS_BOTH && task->against;
    const double reach = needs_both ? fmin(most[0], most[1]) : fmax(most[0], most[1]);
    const bool any = isfinite(found->least); /* there are particles */
    if (any && !(reach > 0) && !limited) {
        return report_error(STATUS_INVALID, NULL,
                            "%s: --radii: all radii%s are 0; expected one above 0, or --cutoff",
                            task->input, needs_both ? " of one set" : "");
    }
    describe(radii, found);
    return STATUS_OK;
}

void listing_print_radii(const listing_task *task, const listing_outcome *found)
{
    if (listing_radii_given(task)) {
        report_line("radii", "%s\n", report_text(found->radii.words).s);
    }
}

json_t *listing_radii_json(const listing_task *task, const listing_outcome *listing)
{
    const listing_found_radii *found = &listing->radii;
    const listing_radii *radii = &task->radii;
    json_t *names[2];
    if (!listing_radii_given(task)) {
        return json_null();
    }
    for (int set = 0; set < 2; set++) {
        names[set] = radii->name[set] ? report_json_text(radii->name[set]) : json_null();
    }
    const bool any = isfinite(found->least);
    return json_pack("{s:o, s:o, s:s, s:f, s:o, s:o}", "input", names[0], "against", names[1],
                     "rule", rule_names[radii->rule], "scale", radii->scale, "least",
                     any ? report_json_real(found->least) : json_null(), "most",
                     any ? report_json_real(fmax(found->most[0], found->most[1])) : json_null());
}
