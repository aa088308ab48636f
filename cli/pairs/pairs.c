/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith pairs: the neighbour list of a file. Without an output the pairs are counted and summed up;
 * with one they stream from the library's blocks to the file, so that memory stays bounded.
 */
#include "pairs.h"

#include "common/engine.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>

/* Pairs written at once: Ctrl-C is noticed between blocks. */
enum { BLOCK_PAIRS = 1 << 19 };

static void check_task(void *at, struct argp_state *state)
{
    const pairs_task *task = at;
    const options *o = &task->shared;
    option_refuse(state, !(task->cutoff > 0),
                  "no --cutoff given: the radius, in the unit of the coordinates");
    option_refuse(state, task->list.extras && !o->output,
                  "--distances, --vectors and --shifts are written: they need -o FILE");
    option_refuse(state, task->count_only && o->output,
                  "--count writes no list: leave out --count or --output");
    option_refuse(state, o->json && options_to_stdout(o),
                  "-o - and --json both write to standard output");
}

static const option_row pairs_options[] = {
    {"cutoff", 'c', "R", "radius: pairs have distance <= R (required)", 1,
     POSITIVE_AT(pairs_task, cutoff)},
    {"full", 0, NULL, "each pair twice, (i, j) and (j, i)", 1, FLAG_AT(pairs_task, list.full)},
    {"sorted", 0, NULL, "by i, then j", 1, FLAG_AT(pairs_task, list.sorted)},
    {"distances", 0, NULL, "write each pair's distance too", 1,
     BITS_AT(pairs_task, list.extras, KITH_DISTANCES)},
    {"vectors", 0, NULL, "write the vectors from i to j", 1,
     BITS_AT(pairs_task, list.extras, KITH_VECTORS)},
    {"shifts", 0, NULL, "write the periodic images of j", 1,
     BITS_AT(pairs_task, list.extras, KITH_SHIFTS)},
    {"count", 0, NULL, "print the number of pairs, nothing else", 1,
     FLAG_AT(pairs_task, count_only)},
    {"against", 0, "FILE", "pairs of i in INPUT with j in FILE", 1,
     FILE_AT(pairs_task, against, FILE_READ)},
    {0}};

static const command_line pairs_line = {
    .operands = "INPUT --cutoff R",
    .operand = "INPUT",
    .operand_at = offsetof(pairs_task, input),
    .tables = {{.rows = output_options},
               {.rows = pairs_options},
               {.rows = reading_options},
               {.rows = space_options},
               {.rows = engine_options},
               {.rows = report_options}},
    .check = check_task,
    .help = "Find all pairs of particles within a radius: count them, or write them to -o FILE"
            " (.npy, .h5, .txt; - is standard output, as text)."
            "\vExample:\n"
            "  kith make uniform 1M --seed 1 -o points.npy\n"
            "  kith pairs points.npy --cutoff 0.02 --box 1 --distances -o pairs.npy"};

/* The receiver of the blocks of a list that is written. */
typedef struct receiver {
    io_pairs_writer *writer;
    progress *bar;
    int64_t *neighbours; /* [n] neighbours of each particle of INPUT */
    bool mirrored;       /* half list: (i, j) stands for (j, i) too */
    double seconds;      /* time spent in writing [s] */
    io_error error;      /* status IO_OK unless writing failed */
} receiver;

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
    const char *path = task->shared.output;
    const kith_points points = input_points(&found->a);
    const io_pairs_layout layout = {.format = options_to_stdout(&task->shared) ? IO_TEXT
                                                                               : IO_UNKNOWN,
                                    .extras = task->list.extras,
                                    .precision = points.precision,
                                    .command = option_command(),
                                    .cutoff = task->cutoff,
                                    .n_particles = points.n};
    receiver to = {.bar = bar,
                   .neighbours = found->neighbours,
                   .mirrored = !task->list.full && !task->against};
    CLI_TRY(report_io(io_pairs_open(path, &layout, &to.writer, &to.error), &to.error, true));
    const kith_status status = kith_pairs_each(found->ctx, &points, &found->space.box, task->cutoff,
                                               &task->list, receive_block, &to);
    found->search_seconds = progress_end(bar) - to.seconds;
    if (status != KITH_OK || progress_interrupted()) {
        io_pairs_abort(to.writer);
        CLI_TRY(report_io(to.error.status, &to.error, true));
        return progress_interrupted() ? report_interrupted(path)
                                      : report_kith(found->ctx, status, task->input);
    }
    const double start = progress_clock();
    CLI_TRY(report_io(io_pairs_commit(to.writer, &to.error), &to.error, true));
    found->write_seconds = to.seconds + (progress_clock() - start);
    found->n = bar->items;
    return STATUS_OK;
}

static int count_pairs(const pairs_task *task, pairs_outcome *found, progress *bar)
{
    const kith_points points = input_points(&found->a);
    const kith_status status = kith_pairs_count(found->ctx, &points, &found->space.box,
                                                task->cutoff, &task->list, &found->n,
                                                found->neighbours);
    found->search_seconds = progress_end(bar);
    return report_kith(found->ctx, status, task->input);
}

/** Read INPUT, and --against in the precision of INPUT. */
static int read_inputs(const pairs_task *task, pairs_outcome *found)
{
    CLI_TRY(input_read(&task->shared, task->input, &found->a));
    if (task->against) {
        options o = task->shared;
        o.read.precision = found->a.particles.precision;
        CLI_TRY(input_read(&o, task->against, &found->b));
        if (found->b.particles.dim != found->a.particles.dim) {
            return report_error(STATUS_INVALID, NULL, "%s has %d coordinates, but %s has %d",
                                task->against, found->b.particles.dim, task->input,
                                found->a.particles.dim);
        }
    }
    return space_choose(&task->shared, task->input, &found->a.particles, &found->space);
}

static int search(pairs_task *task, pairs_outcome *found)
{
    if (task->against) {
        found->against = input_points(&found->b);
        task->list.against = &found->against;
    }
    if (!task->count_only) {
        found->neighbours = calloc((size_t)found->a.particles.n + 1, sizeof *found->neighbours);
        if (!found->neighbours) {
            return report_error(STATUS_NO_MEMORY, NULL, "no memory for the neighbours of %s",
                                task->input);
        }
    }
    const bool writes = task->shared.output != NULL;
    progress bar = progress_start(writes ? "writing" : "counting", "pairs", 0, task->shared.quiet);
    int status = engine_open(&task->shared, progress_watch, &bar, &found->ctx);
    if (status == STATUS_OK) {
        status = writes ? write_pairs(task, found, &bar) : count_pairs(task, found, &bar);
    }
    progress_end(&bar);
    return status;
}

static int run(pairs_task *task, pairs_outcome *found)
{
    CLI_TRY(read_inputs(task, found));
    CLI_TRY(search(task, found));
    if (found->neighbours) {
        found->spread = spread_of(found->neighbours, found->a.particles.n);
    }
    if (task->shared.json) {
        return report_json(pairs_json(task, found));
    }
    if (task->count_only) {
        printf("%lld\n", (long long)found->n);
    } else if (options_summary(&task->shared)) {
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
    kith_close(found.ctx);
    input_free(&found.b);
    input_free(&found.a);
    return status;
}
