/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith pairs` and `kith nearest` share: options, input, and lines of the summary.
 */
#include "listing.h"

#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const option_row listing_options[] = {
    {"radii", 0, "NAME",
     "a radius for each particle: a dataset or column of INPUT, or a file h.npy", 1,
     READ_BY(listing_read_radii), PATH_AT(listing_task, radii.file[0], FILE_READ)},
    {"radii-against", 0, "NAME", "of --against; default: NAME of --radii", 1,
     READ_BY(listing_read_radii_against), PATH_AT(listing_task, radii.file[1], FILE_READ)},
    {"radii-rule", 0, "RULE",
     "pairs are within the radius of i: gather; of j: scatter; either (default), both, their sum",
     1,
     WORD_AT(listing_task, radii.rule, KITH_RADIUS_GATHER, "gather, scatter, either, both or sum")},
    {"radii-scale", 0, "X", "multiply the radii", 1, POSITIVE_AT(listing_task, radii.scale)},
    {"distances", 0, NULL, "write the distances too", 1,
     BITS_AT(listing_task, extras, KITH_DISTANCES)},
    {"vectors", 0, NULL, "write the vectors from i to j", 1,
     BITS_AT(listing_task, extras, KITH_VECTORS)},
    {"shifts", 0, NULL, "write the periodic images of j", 1,
     BITS_AT(listing_task, extras, KITH_SHIFTS)},
    {"against", 0, "FILE",
     "i in INPUT, j in FILE, in INPUT's box and unit; --columns hold for both if it is text", 1,
     FILE_AT(listing_task, against, FILE_READ)},
    {0}};

void listing_check(const listing_task *task, bool prints, struct argp_state *state)
{
    const options *o = &task->shared;
    option_refuse(state, task->extras && !o->output,
                  "--distances, --vectors and --shifts are written: they need -o FILE");
    option_refuse(state, o->json && options_to_stdout(o),
                  "-o - and --json both write to standard output");
    option_refuse(state, o->quiet && !o->output && !o->json && !prints,
                  "--quiet leaves nothing to do: add -o FILE or --json, or leave out --quiet");
}

/** Return the field of a set's file that is read as its radii; NULL: none is. */
static const char *field_of(const listing_radii *radii, int set)
{
    return radii->file[set] ? NULL : radii->name[set];
}

/** Return the unit of length that a file tells; "": none. */
static printed unit_of(const io_particles *particles)
{
    io_unit_name names;
    io_unit_names(&particles->units, &names);
    const bool told = particles->units.source == IO_UNITS_FILE;
    return report_format("%s", *particles->unit ? particles->unit : told ? names.length : "");
}

/** Refuse sets whose files tell different units of length. @return exit status, reported */
static int check_units(const listing_task *task, const listing_outcome *found)
{
    const printed a = unit_of(&found->a.particles), b = unit_of(&found->b.particles);
    if (!*a.s || !*b.s || strcmp(a.s, b.s) == 0) {
        return STATUS_OK;
    }
    return report_error(STATUS_INVALID, "convert one of the files",
                        "%s has lengths in %s, but %s in %s", task->against, b.s, task->input, a.s);
}

/** Return true when the row vectors of two boxes differ, by more than the rounding of float, or
 *  which axes are periodic. */
static bool boxes_differ(const kith_box *a, const kith_box *b)
{
    bool differ = false;
    for (int k = 0; k < a->dim; k++) {
        differ = differ || a->periodic[k] != b->periodic[k];
        for (int m = 0; m < a->dim; m++) {
            const double x = a->row[k][m], y = b->row[k][m];
            differ = differ || !(fabs(x - y) <= 1e-6 * fmax(fabs(x), fabs(y)));
        }
    }
    return differ;
}

/** Tell that the box of --against is not used, where its file has another than INPUT; not beside
 *  JSON, and not where --box gives the box. */
static void note_box(const listing_task *task, const listing_outcome *found)
{
    const io_particles *a = &found->a.particles, *b = &found->b.particles;
    const options *o = &task->shared;
    if (!task->against || o->box_numbers || o->quiet || o->json || !b->has_box) {
        return;
    }
    if (!a->has_box) {
        (void)report_error(STATUS_OK, "--box gives one",
                           "%s: note: space is open, as %s has no box; that of %s is not used",
                           task->against, task->input, task->against);
    } else if (boxes_differ(&a->box, &b->box)) {
        (void)report_error(STATUS_OK, "--box gives another",
                           "%s: note: the box of %s is used; this file has another", task->against,
                           task->input);
    }
}

int listing_read(const listing_task *task, bool whole, listing_outcome *found)
{
    options o = task->shared, other = task->shared;
    o.read.radii = field_of(&task->radii, 0);
    other.read.radii = field_of(&task->radii, 1);
    const bool shares = !whole && ranks_read_shares(&o, task->input) &&
                        (!task->against || ranks_read_shares(&other, task->against));
    io_stop_writes(progress_interrupted);
    CLI_TRY(ranks_read(&o, task->input, 0, shares, &found->a));
    if (task->against) {
        other.read.precision = found->a.particles.precision;
        other.read.columns_if_text = true;
        CLI_TRY(ranks_read(&other, task->against, 1, shares, &found->b));
        if (found->b.particles.dim != found->a.particles.dim) {
            return report_error(STATUS_INVALID, NULL, "%s has %d coordinates, but %s has %d",
                                task->against, found->b.particles.dim, task->input,
                                found->a.particles.dim);
        }
        CLI_TRY(check_units(task, found));
        found->against = input_points(&found->b);
    }
    CLI_TRY(space_choose(&task->shared, task->input, &found->a.particles, &found->space));
    note_box(task, found);
    return STATUS_OK;
}

const kith_points *listing_against(const listing_task *task, const listing_outcome *found)
{
    return task->against ? &found->against : NULL;
}

io_pairs_layout listing_layout(const listing_task *task, const listing_outcome *found)
{
    return (io_pairs_layout){.format = options_to_stdout(&task->shared) ? IO_TEXT : IO_UNKNOWN,
                             .extras = task->extras,
                             .precision = found->a.particles.precision,
                             .command = option_command(),
                             .cutoff = task->cutoff,
                             .threads = task->shared.threads,
                             .radii = listing_radii_given(task) ? found->radii.words : NULL,
                             .n_particles = found->a.particles.all};
}

int listing_give_up(const listing_task *task, const listing_outcome *found, kith_status status,
                    io_pairs_writer *writer, const io_error *error)
{
    io_pairs_abort(writer);
    CLI_TRY(error->status == IO_CANCELLED ? STATUS_OK : report_io(error->status, error, true));
    return progress_interrupted() ? report_interrupted(task->shared.output)
                                  : ranks_status(found->ranks, found->ctx, status, task->input);
}

int listing_commit(const listing_task *task, io_pairs_writer *writer)
{
    io_error error = {0};
    const io_status status = io_pairs_commit(writer, &error);
    return status == IO_CANCELLED ? report_interrupted(task->shared.output)
                                  : report_io(status, &error, true);
}

void listing_free(listing_outcome *found)
{
    ranks_close(found->ranks);
    kith_close(found->ctx);
    input_free(&found->b);
    input_free(&found->a);
    free(found->radii.radii[0]);
    free(found->radii.radii[1]);
}

void listing_print_space(const listing_task *task, const listing_outcome *found)
{
    report_title(task->input);
    report_line("particles", "%s\n", input_words(&found->a).s);
    if (task->against) {
        report_line("against", "%s: %s\n", report_text(task->against).s, input_words(&found->b).s);
    }
    space_print(&found->space);
}

void listing_print_search(const listing_task *task, const listing_outcome *found, int64_t n,
                          const char *unit)
{
    report_line("search", "%s on %s", report_seconds(found->search_seconds).s,
                ranks_words(found->ranks, found->ctx).s);
    if (n > 0) {
        const double rate = report_rate((double)n, found->search_seconds);
        printf("; %s %s/s", report_count((int64_t)rate).s, unit);
    }
    putchar('\n');
    report_line("memory", "%s at most, %s of it scratch\n", report_bytes(report_peak_memory()).s,
                report_bytes(kith_scratch_bytes(found->ctx)).s);
    if (task->shared.output) {
        report_line("output", "%s, %s in %s\n", report_text(task->shared.output).s,
                    report_bytes(report_file_bytes(task->shared.output)).s,
                    report_seconds(found->write_seconds).s);
    }
}

json_t *listing_extras_json(const listing_task *task)
{
    return json_pack("{s:b, s:b, s:b}", "distances", task->extras & KITH_DISTANCES, "vectors",
                     task->extras & KITH_VECTORS, "shifts", task->extras & KITH_SHIFTS);
}

json_t *listing_json(const listing_task *task, const listing_outcome *found, const char *verb,
                     json_t *facts)
{
    const options *o = &task->shared;
    json_t *seconds = json_pack("{s:f, s:f, s:f}", "read", found->a.seconds + found->b.seconds,
                                "search", found->search_seconds, "write", found->write_seconds);
    json_t *memory = json_pack("{s:I, s:I}", "peak_bytes", (json_int_t)report_peak_memory(),
                               "scratch_bytes", (json_int_t)kith_scratch_bytes(found->ctx));
    json_t *output = json_null();
    if (o->output) {
        output = json_pack("{s:o, s:I}", "path", report_json_text(o->output), "bytes",
                           (json_int_t)report_file_bytes(o->output));
    }
    json_t *all = json_pack("{s:s, s:s, s:o, s:o, s:o}", "kith", kith_version(), "verb", verb,
                            "input", input_json(&found->a), "against",
                            task->against ? input_json(&found->b) : json_null(), "box",
                            space_json(&found->space));
    json_t *end = json_pack("{s:s, s:i, s:i, s:o, s:o, s:o}", "backend",
                            ranks_backend(found->ranks, found->ctx), "threads",
                            kith_threads(found->ctx), "ranks", ranks_number(found->ranks),
                            "seconds", seconds, "memory", memory, "output", output);
    (void)json_object_update(all, facts);
    (void)json_object_update(all, end);
    json_decref(facts);
    json_decref(end);
    return all;
}
