/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules of a list of `kith pairs`: cutoffs by pair of species, and pairs of one molecule or bonded
 * pairs that are not listed. Species, molecules and bonds are those of a frame (--frame) of INPUT,
 * which is read a second time, as a trajectory, because io_particles does not hold them.
 */
#include "pairs.h"
#include "common/name_order.h"
#include "common/parse.h"
#include "common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What --cutoff expects, for its error messages. */
static const char *const expected =
    "a finite number above 0, or radii by pairs of species, Si-O=1.8,O-O=2";

void pairs_read_cutoff(void *at, const option_given *given)
{
    pairs_task *task = at;
    task->listing.cutoff = 0;
    task->by_species = NULL;
    if (strchr(given->arg, '=')) {
        task->by_species = given->arg;
        return;
    }
    task->listing.cutoff = option_number(given->state, "--cutoff", given->arg, DBL_TRUE_MIN,
                                         HUGE_VAL, expected);
}

/** A frame that is read for its species, molecules and bonds. */
typedef struct frame_reading {
    const pairs_task *task; /**< options */
    pairs_rules *rules;     /**< receives the arrays */
    int set;                /**< 0: INPUT, 1: --against */
    const input *in;        /**< the particles of the set */
} frame_reading;

/** Check the species of a set, of all ranks. @return exit status, reported */
static int check_species(const species_names *names, const input *in)
{
    if (names->no_memory) {
        return report_no_memory("species");
    }
    if (names->full) {
        return report_error(STATUS_LIMIT, NULL, "%s: --cutoff: more than %d species", in->path,
                            SPECIES_MOST);
    }
    if (!names->named && in->particles.all > 0) {
        return report_error(STATUS_INVALID, "give one radius: --cutoff R",
                            "%s: --cutoff: the file has no species", in->path);
    }
    return STATUS_OK;
}

/** Copy the molecules of a frame. @return exit status, reported */
static int copy_molecules(const frame_reading *r, const io_frame *frame)
{
    const size_t bytes = (size_t)frame->particles.n * sizeof(int32_t);
    if (!frame->molecule) {
        return report_error(STATUS_INVALID, NULL,
                            "%s: --exclude-molecules: the file has no molecules", r->in->path);
    }
    r->rules->molecules = malloc(bytes + 1);
    if (!r->rules->molecules) {
        return report_no_memory("molecules");
    }
    memcpy(r->rules->molecules, frame->molecule, bytes);
    return STATUS_OK;
}

/** Sort the bonds of a frame by their first particle: counting sort. @return exit status,
 *  reported */
static int copy_bonds(const frame_reading *r, const io_frame *frame)
{
    pairs_rules *rules = r->rules;
    if (!frame->bond) {
        return report_error(STATUS_INVALID, NULL, "%s: --exclude-bonds: the file has no bonds",
                            r->in->path);
    }
    const int64_t n = frame->particles.n;
    rules->bond_offsets = calloc((size_t)n + 2, sizeof *rules->bond_offsets);
    rules->bonds = malloc(((size_t)frame->n_bonds + 1) * sizeof *rules->bonds);
    if (!rules->bond_offsets || !rules->bonds) {
        return report_no_memory("bonds");
    }
    /* next[p] is the index of particle p's next bond. It ends as the first bond of p + 1, so that
     * bond_offsets, shifted by one element, is then complete. */
    int64_t *next = rules->bond_offsets + 1;
    for (int64_t b = 0; b < frame->n_bonds; b++) {
        next[frame->bond[2 * b] + 1]++;
    }
    for (int64_t p = 0; p < n; p++) {
        next[p + 1] += next[p];
    }
    for (int64_t b = 0; b < frame->n_bonds; b++) {
        rules->bonds[next[frame->bond[2 * b]]++] = frame->bond[2 * b + 1];
    }
    return STATUS_OK;
}

/** An input_frame_fn: copy the arrays of a frame that the rules need. @return exit status,
 *  reported */
static int take_frame(void *user, const io_frame *frame)
{
    const frame_reading *r = user;
    const int64_t n = r->in->particles.n;
    if (frame->particles.n != n) {
        return report_error(STATUS_FORMAT, NULL,
                            "%s: %lld particles, but read as a trajectory %lld", r->in->path,
                            (long long)n, (long long)frame->particles.n);
    }
    if (r->task->by_species) {
        species_number(frame, &r->rules->names, r->rules->species[r->set]);
        CLI_TRY(check_species(&r->rules->names, r->in));
    }
    CLI_TRY(r->task->without_molecules ? copy_molecules(r, frame) : STATUS_OK);
    return r->task->without_bonds ? copy_bonds(r, frame) : STATUS_OK;
}

/** Read the frame of a set, or where each rank has a share, the species of all of them.
 *  @return exit status, reported */
static int read_frame(const pairs_task *task, pairs_rules *rules, int set, const input *in)
{
    const options *o = &task->listing.shared;
    rules->names.named = false;
    if (task->by_species) {
        rules->species[set] = malloc(((size_t)in->particles.n + 1) * sizeof *rules->species[set]);
        if (!rules->species[set]) {
            return report_no_memory("species");
        }
    }
    if (in->parts > 1) {
        CLI_TRY(ranks_species_read(o, set, in, &rules->names, rules->species[set]));
        return check_species(&rules->names, in);
    }
    char frame[32];
    frame_reading r = {task, rules, set, in};
    io_trajectory_options how = input_how(o);
    input_frames from = {0};
    snprintf(frame, sizeof frame, "%lld", (long long)how.read.frame);
    how.frames = frame;
    how.read.fields |= (task->without_molecules ? (unsigned)IO_MOLECULES : 0) |
                       (task->without_bonds ? (unsigned)IO_BONDS : 0);
    return input_each_frame(in->path, &how, take_frame, &r, &from);
}

/** Find the species whose name is a text. @return its number; -1: there is none */
static int find_species(const pairs_rules *rules, const char *text, size_t length)
{
    for (int k = 0; k < rules->names.n; k++) {
        if (name_is(text, length, rules->names.name[k], rules->names.typed)) {
            return k;
        }
    }
    return -1;
}

/** Find the two species of "Si-O". Names may contain dashes, so each dash is tried as the
 *  separator.
 *  @param[out] pair  numbers of the species, if found
 *  @return true when there is a dash with a species on each side */
static bool find_pair(const pairs_rules *rules, const char *text, size_t length, int pair[2])
{
    for (const char *dash = memchr(text, '-', length); dash;
         dash = memchr(dash + 1, '-', length - (size_t)(dash + 1 - text))) {
        pair[0] = find_species(rules, text, (size_t)(dash - text));
        pair[1] = find_species(rules, dash + 1, length - (size_t)(dash + 1 - text));
        if (pair[0] >= 0 && pair[1] >= 0) {
            return true;
        }
    }
    return false;
}

/** Step over blanks. */
static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

bool pairs_next_cutoff(const char **at, pairs_cutoff *out)
{
    out->names = skip_blanks(*at);
    const size_t length = strcspn(out->names, "=,");
    out->length = length;
    while (out->length > 0 && strchr(" \t", out->names[out->length - 1])) {
        out->length--;
    }
    const char *end = out->names[length] == '='
                          ? parse_leading(skip_blanks(out->names + length + 1), &out->radius)
                          : NULL;
    end = end ? skip_blanks(end) : "?";
    *at = end + (*end == ',');
    return (*end == ',' && *skip_blanks(*at)) || *end == '\0';
}

/** Make the table of radii from --cutoff Si-O=1.8,O-O=2. @return exit status, reported; a syntax
 *  error ends the command */
static int read_table(const pairs_task *task, pairs_rules *rules)
{
    const int n = rules->names.n;
    rules->table = calloc((size_t)n * (size_t)n + 1, sizeof *rules->table);
    if (!rules->table) {
        return report_no_memory("the table of cutoffs");
    }
    for (const char *at = task->by_species; *at;) {
        pairs_cutoff cutoff;
        int pair[2];
        if (!pairs_next_cutoff(&at, &cutoff) || !isfinite(cutoff.radius) || !(cutoff.radius > 0)) {
            option_invalid("--cutoff", task->by_species, expected);
        }
        const double radius = cutoff.radius;
        const int length = (int)cutoff.length;
        if (!find_pair(rules, cutoff.names, cutoff.length, pair)) {
            char names[512] = "";
            for (int k = 0, used = 0; k < n && used < (int)sizeof names; k++) {
                used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", k ? ", " : "",
                                 *rules->names.name[k] ? rules->names.name[k] : "unnamed");
            }
            return report_error(STATUS_INVALID, NULL,
                                "%s: --cutoff: '%.*s' is no pair of its species; there are: %s",
                                task->listing.input, length, cutoff.names, names);
        }
        const int64_t k[2] = {(int64_t)pair[0] * n + pair[1], (int64_t)pair[1] * n + pair[0]};
        if (rules->table[k[0]] > 0 && rules->table[k[0]] != radius) {
            return report_error(STATUS_INVALID, NULL, "--cutoff: two radii for '%.*s'", length,
                                cutoff.names);
        }
        rules->table[k[0]] = rules->table[k[1]] = radius;
    }
    return STATUS_OK;
}

bool pairs_rules_whole(const pairs_task *task)
{
    return task->without_molecules || task->without_bonds;
}

int pairs_rules_read(pairs_task *task, pairs_outcome *found)
{
    pairs_rules *rules = &found->rules;
    kith_pairs_options *list = &task->list;
    const listing_task *listing = &task->listing;
    list->r_min = task->r_min;
    CLI_TRY(listing_radii_read(listing, listing->cutoff > 0 || task->by_species, &found->listing));
    list->radius_rule = listing->radii.rule;
    list->radii = found->listing.radii.radii[0];
    list->radii_against = found->listing.radii.radii[1];
    if (!task->by_species && !pairs_rules_whole(task)) {
        return STATUS_OK;
    }
    CLI_TRY(read_frame(task, rules, 0, &found->listing.a));
    if (listing->against) {
        CLI_TRY(read_frame(task, rules, 1, &found->listing.b));
    }
    list->molecules = rules->molecules;
    list->bond_offsets = rules->bond_offsets;
    list->bonds = rules->bonds;
    if (task->by_species) {
        CLI_TRY(read_table(task, rules));
        list->n_species = rules->names.n;
        list->species = rules->species[0];
        list->species_against = listing->against ? rules->species[1] : NULL;
        list->cutoffs = rules->table;
    }
    return STATUS_OK;
}

void pairs_rules_free(pairs_rules *rules)
{
    free(rules->species[0]);
    free(rules->species[1]);
    free(rules->molecules);
    free(rules->bond_offsets);
    free(rules->bonds);
    free(rules->table);
}
