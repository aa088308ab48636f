/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The work of `kith overlap`: read, convert spins, count, write the matrix.
 */
#include "common/engine.h"
#include "overlap.h"
#include "common/progress.h"
#include "common/report.h"

#include <math.h>
#include <stdlib.h>

/** Read the file, and set found->replicas. @return exit status, reported */
static int read_replicas(const overlap_task *task, overlap_outcome *found)
{
    io_error error = {0};
    progress bar = progress_start("reading", "B", -1, task->shared.quiet);
    io_read_options read = task->shared.read;
    read.watch = progress_watch;
    read.threads = task->shared.threads;
    read.user = &bar;
    const io_status status = io_read_vectors(task->input, &read, task->packed > 0, &found->vectors,
                                             &error);
    found->read_seconds = progress_end(&bar);
    const io_vectors *v = &found->vectors;
    CLI_TRY(report_io(status, &error, false));
    if (task->packed > 0 && v->dim != (task->packed + 7) / 8) {
        return report_error(STATUS_INVALID, NULL,
                            "%s: vectors of %lld bytes; expected %lld for --packed %lld",
                            task->input, (long long)v->dim, (long long)(task->packed + 7) / 8,
                            (long long)task->packed);
    }
    found->replicas = (kith_replicas){.n = v->n,
                                      .dim = task->packed > 0 ? task->packed : v->dim,
                                      .values = v->values,
                                      .stride = v->dim,
                                      .type = task->packed > 0 ? KITH_BITS : v->size};
    return STATUS_OK;
}

/** Convert the numbers 1, and 0 or -1, to spins 1 and -1, in place. @return exit status,
 *  reported */
static int make_spins(const overlap_task *task, overlap_outcome *found)
{
    io_vectors *v = &found->vectors;
    for (int64_t at = 0; at < v->n * v->dim; at++) {
        const double value = io_real(v->values, at, (kith_precision)v->size);
        if (value != 1 && value != 0 && value != -1) {
            return report_error(STATUS_INVALID, NULL,
                                "%s: --spins: number %lld of vector %lld, counted from 0, is %g; "
                                "expected 1, and 0 or -1",
                                task->input, (long long)(at % v->dim), (long long)(at / v->dim),
                                value);
        }
        io_put_real(v->values, at, (kith_precision)v->size, value > 0 ? 1 : -1);
    }
    return STATUS_OK;
}

/** Compute and write the matrix of all overlaps, a few rows at a time.
 *  @param values       room for `some` rows
 *  @param some         most rows of a step
 *  @param[out] status  of the library, or KITH_CANCELLED
 *  @return status of writing */
static io_status put_rows(const overlap_task *task, overlap_outcome *found, io_matrix *matrix,
                          double *values, int64_t some, kith_status *status, io_error *error)
{
    const int64_t n = found->replicas.n;
    progress bar = progress_start("matrix", "rows", -1, task->shared.quiet);
    io_status put = IO_OK;
    *status = KITH_OK;
    for (int64_t first = 0; first < n && put == IO_OK && *status == KITH_OK; first += some) {
        const int64_t rows = n - first < some ? n - first : some;
        *status = progress_watch(&bar, first, n)
                      ? KITH_CANCELLED
                      : kith_overlap_rows(found->ctx, &found->replicas, &task->how, first, rows,
                                          values);
        if (*status == KITH_OK) {
            put = io_matrix_write(matrix, values, rows, error);
        }
    }
    found->matrix_seconds = progress_end(&bar);
    return put;
}

/** Write --matrix. @return exit status, reported */
static int write_matrix(const overlap_task *task, overlap_outcome *found)
{
    enum { NUMBERS = 1 << 23 }; /* numbers of the rows made at a time: 64 MB, or one row */
    const int64_t n = found->replicas.n, some = NUMBERS / n + 1;
    const int64_t rows = some < n ? some : n;
    const kith_precision precision = found->replicas.type == KITH_DOUBLE ? KITH_DOUBLE : KITH_FLOAT;
    io_error error = {0};
    io_matrix *matrix = NULL;
    kith_status status = KITH_OK;
    double *values = malloc((size_t)(rows * n) * sizeof *values);
    if (!values) {
        return report_no_memory(task->matrix);
    }
    io_stop_writes(progress_interrupted);
    io_status put = io_matrix_open(task->matrix, n, n, precision, &matrix, &error);
    if (put == IO_OK) {
        put = put_rows(task, found, matrix, values, rows, &status, &error);
        if (put == IO_OK && status == KITH_OK) {
            put = io_matrix_commit(matrix, &error);
        } else {
            io_matrix_abort(matrix);
        }
    }
    io_stop_writes(NULL);
    free(values);
    CLI_TRY(put == IO_CANCELLED ? STATUS_OK : report_io(put, &error, true));
    return status == KITH_CANCELLED || put == IO_CANCELLED
               ? report_interrupted(task->matrix)
               : report_kith(found->ctx, status, task->input);
}

/** Compute P(q), its mean, deviation and peak from the counts. @return exit status, reported */
static int make_density(overlap_outcome *found)
{
    const kith_overlaps *o = &found->counts;
    const size_t bins = (size_t)o->bins;
    found->q = malloc(3 * bins * sizeof *found->q);
    if (!found->q) {
        return report_no_memory("P(q)");
    }
    found->density = found->q + bins;
    found->count = found->density + bins;
    found->peak = -1;
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < o->bins; k++) {
        const double width = o->edges[k + 1] - o->edges[k];
        const double count = (double)o->counts[k];
        found->q[k] = (o->edges[k] + o->edges[k + 1]) / 2;
        found->density[k] = count / (double)o->pairs / width;
        found->count[k] = count;
        found->inside += o->counts[k];
        found->peak = o->counts[k] > (found->peak < 0 ? 0 : o->counts[found->peak]) ? k
                                                                                    : found->peak;
        sum += count * found->q[k];
    }
    found->mean = sum / (double)found->inside;
    for (int64_t k = 0; k < o->bins; k++) {
        const double off = found->q[k] - found->mean;
        squares += found->count[k] * off * off;
    }
    found->deviation = sqrt(squares / (double)found->inside);
    return STATUS_OK;
}

int overlap_run(const overlap_task *task, overlap_outcome *found)
{
    const char *output = task->shared.output ? task->shared.output : task->matrix;
    CLI_TRY(read_replicas(task, found));
    if (task->spins) {
        CLI_TRY(make_spins(task, found));
    }
    progress bar = progress_start("overlaps", "pairs", 0, task->shared.quiet);
    bar.items = found->replicas.n * (found->replicas.n - 1) / 2;
    CLI_TRY(engine_open(&task->shared, progress_watch, &bar, &found->ctx));
    const kith_status counted = kith_overlap_count(found->ctx, &found->replicas, &task->how,
                                                   &found->counts);
    found->count_seconds = progress_end(&bar);
    if (counted == KITH_CANCELLED) {
        return report_interrupted(output);
    }
    CLI_TRY(report_kith(found->ctx, counted, task->input));
    CLI_TRY(make_density(found));
    return task->matrix ? write_matrix(task, found) : STATUS_OK;
}
