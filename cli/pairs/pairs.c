/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith pairs: the neighbour list of a file. Without an output the pairs are counted and summed up;
 * with one they stream from the library's blocks to the file, so that memory stays bounded.
 */
#include "pairs.h"

#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>

/* Pairs written at once: Ctrl-C is noticed between blocks. */
enum { BLOCK_PAIRS = 1 << 19 };

/** Refuse options that are missing or contradict each other. */
static void check_task(void *at, struct argp_state *state)
{
    pairs_task *task = at;
    option_refuse(state,
                  !(task->listing.cutoff > 0) && !task->by_species &&
                      !listing_radii_given(&task->listing),
                  "no --cutoff given: the radius, in the unit of the coordinates; or --radii");
    listing_radii_check(&task->listing, task->list.full, state);
    option_refuse(state, (task->without_molecules || task->without_bonds) && task->listing.against,
                  "--exclude-molecules and --exclude-bonds are of one set: leave out --against");
    option_refuse(state, task->count_only && task->listing.shared.output,
                  "--count writes no list: leave out --count or --output");
    listing_check(&task->listing, task->count_only, state);
}

static const option_row pairs_options[] = {
    {"cutoff", 'c', "R",
     "radius: pairs have distance <= R; by species Si-O=1.8,O-O=2; needed unless --radii is given",
     1, READ_BY(pairs_read_cutoff)},
    {"r-min", 0, "R", "leave out pairs nearer than R", 1, NOT_NEGATIVE_AT(pairs_task, r_min)},
    {"exclude-molecules", 0, NULL, "leave out pairs of a molecule, or bonded ones", 1,
     FLAG_AT(pairs_task, without_molecules)},
    {"exclude-bonds", 0, NULL, NULL, 1, FLAG_AT(pairs_task, without_bonds)},
    {"full", 0, NULL, "each pair twice, (i, j) and (j, i)", 1, FLAG_AT(pairs_task, list.full)},
    {"sorted", 0, NULL, "by i, then j", 1, FLAG_AT(pairs_task, list.sorted)},
    {"count", 0, NULL, "print the number of pairs, nothing else", 1,
     FLAG_AT(pairs_task, count_only)},
    {0}};

static const command_line pairs_line = {
    .operands = "INPUT --cutoff R|--radii NAME",
    .operand = "INPUT",
    .operand_at = offsetof(pairs_task, listing.input),
    .tables = LISTING_TABLES(pairs_options),
    .check = check_task,
    .help = "Find all pairs of particles within a radius: count them, or write them to -o FILE"
            " (.npy, .h5, .txt; - is standard output, as text)."
            "\vExample:\n"
            "  kith make uniform 1M --seed 1 -o points.npy\n"
            "  kith pairs points.npy --cutoff 0.02 --box 1 --distances -o pairs.npy"};

_Static_assert(offsetof(pairs_task, listing) == 0, "listing_options has base 0");

/** State of the function that receives the blocks of a list and writes them. */
typedef struct receiver {
    io_pairs_writer *writer; /**< output file */
    progress *bar;           /**< progress bar; counts pairs */
    int64_t *neighbours;     /**< [n] number of neighbours of each particle of INPUT */
    bool mirrored;           /**< half list: (i, j) stands for (j, i) too, so both are counted */
    double seconds;          /**< time spent in writing [s] */
    io_error error;          /**< status IO_OK unless writing failed */
} receiver;

/** Receive a block of pairs from the library: count neighbours, and write it.
 *  @param first  number of pairs in earlier blocks
 *  @return not 0 to end the search */
static int receive_block(void *user, const kith_pairs *block, int64_t first)
{
    receiver *to = user;
    for (int64_t p = 0; p < block->n; p++) {
        to->neighbours[block->i[p]]++;
    }
    for (int64_t p = 0; p < block->n && to->mirrored; p++) {
        to->neighbours[block->j[p]]++;
    }
    const double start = progress_clock();
    const io_status status = io_pairs_write(to->writer, block, &to->error);
    to->seconds += progress_clock() - start;
    to->bar->items = first + block->n;
    return status != IO_OK || progress_interrupted();
}

/** Write the list to the output. @return exit status, reported */
static int write_pairs(const pairs_task *task, pairs_outcome *found, progress *bar)
{
    const listing_task *asked = &task->listing;
    listing_outcome *listing = &found->listing;
    const kith_points points = input_points(&listing->a);
    io_pairs_layout layout = listing_layout(asked, listing);
    const bool unlimited = !(asked->cutoff > 0) && !task->by_species; /* radii alone decide */
    layout.cutoff = unlimited ? INFINITY : asked->cutoff;
    layout.cutoffs = task->by_species;
    receiver to = {.bar = bar,
                   .neighbours = found->neighbours,
                   .mirrored = !task->list.full && !asked->against};
    CLI_TRY(report_io(io_pairs_open(asked->shared.output, &layout, &to.writer, &to.error),
                      &to.error, true));
    const kith_status status = ranks_pairs_each(listing->ranks, listing->ctx, &points,
                                                &listing->space.box, asked->cutoff, &task->list,
                                                receive_block, &to);
    listing->search_seconds = progress_end(bar) - to.seconds;
    if (status != KITH_OK || progress_interrupted()) {
        return listing_give_up(asked, listing, status, to.writer, &to.error);
    }
    const double start = progress_clock();
    CLI_TRY(listing_commit(asked, to.writer));
    listing->write_seconds = to.seconds + (progress_clock() - start);
    found->n = bar->items;
    found->spread = spread_of(found->neighbours, listing->a.particles.all);
    return STATUS_OK;
}

/** Count the pairs without making a list, and, unless --count is given, the neighbours of each
 *  particle. @return exit status, reported */
static int count_pairs(const pairs_task *task, pairs_outcome *found, progress *bar)
{
    listing_outcome *listing = &found->listing;
    const kith_points points = input_points(&listing->a);
    const kith_status status = ranks_pairs_count(listing->ranks, listing->ctx, &points,
                                                 &listing->space.box, task->listing.cutoff,
                                                 &task->list, &found->n, found->neighbours);
    listing->search_seconds = progress_end(bar);
    CLI_TRY(ranks_status(listing->ranks, listing->ctx, status, task->listing.input));
    const kith_status described = found->neighbours
                                      ? ranks_spread(listing->ranks, found->neighbours, points.n,
                                                     &found->spread)
                                      : KITH_OK;
    return ranks_status(listing->ranks, listing->ctx, described, task->listing.input);
}

/** Refuse an unsorted list from several ranks. @return exit status, reported */
static int check_ranks(const pairs_task *task)
{
    if (task->listing.shared.output && !task->list.sorted) {
        return report_error(STATUS_NO_BACKEND, "add --sorted",
                            "--output: several ranks write sorted lists alone");
    }
    return STATUS_OK;
}

/** Open the context or the ranks, and count or write the pairs. @return exit status, reported */
static int search(pairs_task *task, pairs_outcome *found)
{
    listing_outcome *listing = &found->listing;
    const options *o = &task->listing.shared;
    task->list.against = listing_against(&task->listing, listing);
    task->list.extras = task->listing.extras;
    if (!task->count_only) {
        const io_particles *p = &listing->a.particles;
        /* This rank has n particles of all; the blocks of a list that is written have pairs of
         * all. */
        const int64_t n = o->output ? p->all : p->n;
        found->neighbours = calloc((size_t)n + 1, sizeof *found->neighbours);
        if (!found->neighbours) {
            return report_error(STATUS_NO_MEMORY, NULL, "no memory for the neighbours of %s",
                                task->listing.input);
        }
    }
    const bool writes = o->output != NULL;
    progress bar = progress_start(writes ? "writing" : "counting", "pairs", 0, o->quiet);
    int status = ranks_open(o, progress_watch, &bar, &listing->ctx, &listing->ranks);
    if (status == STATUS_OK && listing->ranks) {
        status = check_ranks(task);
    }
    if (status == STATUS_OK) {
        status = writes ? write_pairs(task, found, &bar) : count_pairs(task, found, &bar);
    }
    progress_end(&bar);
    return status;
}

static int run(pairs_task *task, pairs_outcome *found)
{
    const options *o = &task->listing.shared;
    CLI_TRY(listing_read(&task->listing, pairs_rules_whole(task), &found->listing));
    CLI_TRY(pairs_rules_read(task, found));
    CLI_TRY(search(task, found));
    if (o->json) {
        return report_json(pairs_json(task, found));
    }
    if (task->count_only) {
        printf("%lld\n", (long long)found->n);
    } else if (options_summary(o)) {
        pairs_print(task, found);
    }
    return STATUS_OK;
}

int verb_pairs(int argc, char **argv)
{
    pairs_task task = {0};
    kith_pairs_options_init(&task.list);
    task.list.block_pairs = BLOCK_PAIRS;
    command_line_parse(&pairs_line, argc, argv, &task);

    progress_catch_signals();
    pairs_outcome found = {0};
    const int status = run(&task, &found);
    free(found.neighbours);
    pairs_rules_free(&found.rules);
    listing_free(&found.listing);
    return status;
}
