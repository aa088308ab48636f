/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith nearest: the k nearest neighbours of each particle of a file. All are found in one call,
 * whose result of rows of k is then measured, and written block by block.
 */
#include "nearest.h"

#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Neighbours written at once: Ctrl-C is noticed between blocks. */
enum { BLOCK_NEIGHBOURS = 1 << 15 };

/** Refuse options that are missing or contradict each other. */
static void check_task(void *at, struct argp_state *state)
{
    nearest_task *task = at;
    option_refuse(state, task->k == 0, "no -k given: the number of neighbours of each particle");
    listing_radii_check(&task->listing, true, state);
    listing_check(&task->listing, false, state);
}

static const option_row nearest_options[] = {
    {"k", 'k', "K", "neighbours of each particle (required)", 1,
     WHOLE_AT(nearest_task, k, 1, INT_MAX, "1 to 2147483647")},
    {"cutoff", 'c', "R", "only neighbours at distance <= R; default: any", 1,
     POSITIVE_AT(nearest_task, listing.cutoff)},
    {0}};

static const command_line nearest_line = {
    .operands = "INPUT -k K",
    .operand = "INPUT",
    .operand_at = offsetof(nearest_task, listing.input),
    .tables = LISTING_TABLES(nearest_options),
    .check = check_task,
    .help = "Find the k nearest neighbours of each particle, and write them to -o FILE: .npy and"
            " .h5 as rows of k, sorted, -1 where there are fewer; .txt as one line for each"
            " neighbour; - is standard output, as text."
            "\vExample:\n"
            "  kith make uniform 1M --seed 1 -o points.npy\n"
            "  kith nearest points.npy -k 8 --box 1 --distances -o nearest.npy"};

_Static_assert(offsetof(nearest_task, listing) == 0, "listing_options has base 0");

/** Find the neighbours, always with distances: the summary has those of neighbour k.
 *  @param bar  the progress bar that the context's watch callback updates */
static kith_status find(const nearest_task *task, nearest_outcome *found, progress *bar)
{
    listing_outcome *listing = &found->listing;
    const kith_points points = input_points(&listing->a);
    kith_nearest_options how;
    kith_nearest_options_init(&how);
    how.against = listing_against(&task->listing, listing);
    how.cutoff = task->listing.cutoff;
    how.extras = task->listing.extras | KITH_DISTANCES;
    how.radius_rule = task->listing.radii.rule;
    how.radii = listing->radii.radii[0];
    how.radii_against = listing->radii.radii[1];
    found->rows.size = sizeof found->rows;
    *bar = progress_start("searching", "", 0, task->listing.shared.quiet);
    const kith_status status = ranks_nearest_find(listing->ranks, listing->ctx, &points,
                                                  &listing->space.box, task->k, &how, &found->rows);
    listing->search_seconds = progress_end(bar);
    return status;
}

/** Compute the mean and the largest distance of neighbour k, and count rows with fewer than k. */
static void measure(nearest_outcome *found)
{
    const kith_nearest *rows = &found->rows;
    const kith_precision precision = found->listing.a.particles.precision;
    double sum = 0;
    for (int64_t i = 0; i < rows->rows; i++) {
        found->n += rows->counts[i];
        if (rows->counts[i] < rows->k) {
            found->fewer++;
            continue;
        }
        const double distance = io_real(rows->distances, (i + 1) * rows->k - 1, precision);
        sum += distance;
        found->largest = fmax(found->largest, distance);
    }
    const int64_t full = rows->rows - found->fewer;
    found->mean = full > 0 ? sum / (double)full : 0;
}

/** Write all rows. @return false when writing failed, with an error, or was interrupted */
static bool write_rows(const nearest_task *task, const kith_nearest *rows, io_pairs_writer *writer,
                       io_error *error)
{
    progress bar = progress_start("writing", "rows", -1, task->listing.shared.quiet);
    const int64_t block = task->k < BLOCK_NEIGHBOURS ? BLOCK_NEIGHBOURS / task->k : 1;
    bool goes_on = !progress_interrupted();
    for (int64_t first = 0; first < rows->rows && goes_on; first += block) {
        const int64_t rest = rows->rows - first, n = rest < block ? rest : block;
        goes_on = io_nearest_write(writer, rows, first, n, error) == IO_OK &&
                  progress_watch(&bar, first + n, rows->rows) == 0;
    }
    progress_end(&bar);
    return goes_on;
}

/** Find the neighbours and write them to the output. @return exit status, reported */
static int find_and_write(const nearest_task *task, nearest_outcome *found, progress *bar)
{
    const listing_task *asked = &task->listing;
    listing_outcome *listing = &found->listing;
    io_pairs_layout layout = listing_layout(asked, listing);
    layout.k = task->k;
    layout.stop = progress_interrupted;
    layout.cutoff = asked->cutoff > 0 ? asked->cutoff : INFINITY;
    io_pairs_writer *writer = NULL;
    io_error error = {0};
    CLI_TRY(report_io(io_pairs_open(asked->shared.output, &layout, &writer, &error), &error, true));
    const kith_status status = find(task, found, bar);
    const double start = progress_clock();
    if (status != KITH_OK || !write_rows(task, &found->rows, writer, &error)) {
        return listing_give_up(asked, listing, status, writer, &error);
    }
    CLI_TRY(listing_commit(asked, writer));
    listing->write_seconds = progress_clock() - start;
    return STATUS_OK;
}

static int run(const nearest_task *task, nearest_outcome *found)
{
    const options *o = &task->listing.shared;
    listing_outcome *listing = &found->listing;
    CLI_TRY(listing_read(&task->listing, false, listing));
    CLI_TRY(listing_radii_read(&task->listing, task->listing.cutoff > 0, listing));
    progress bar = progress_start("searching", "", 0, o->quiet);
    CLI_TRY(ranks_open(o, progress_watch, &bar, &listing->ctx, &listing->ranks));
    if (listing->ranks && listing_radii_given(&task->listing)) {
        return report_error(STATUS_NO_BACKEND, "run it in one process, or leave out --radii",
                            "--radii: several ranks find no neighbours by radii");
    }
    CLI_TRY(o->output ? find_and_write(task, found, &bar)
                      : ranks_status(listing->ranks, listing->ctx, find(task, found, &bar),
                                     task->listing.input));
    measure(found);
    if (o->json) {
        return report_json(nearest_json(task, found));
    }
    if (options_summary(o)) {
        nearest_print(task, found);
    }
    return STATUS_OK;
}

int verb_nearest(int argc, char **argv)
{
    nearest_task task = {0};
    command_line_parse(&nearest_line, argc, argv, &task);

    progress_catch_signals();
    nearest_outcome found = {0};
    const int status = run(&task, &found);
    kith_nearest_free(&found.rows);
    listing_free(&found.listing);
    return status;
}
