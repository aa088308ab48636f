/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a pair list goes.
 */
#include "sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

/** Report errno about standard output, once: what is still in its buffer is dropped. */
static io_status stdout_failed(io_error *error)
{
    error->status = IO_SYSTEM;
    snprintf(error->text, sizeof error->text, "standard output: %s", strerror(errno));
    __fpurge(stdout);
    clearerr(stdout);
    return IO_SYSTEM;
}

io_status sink_open(sink *s, const char *path, const io_pairs_layout *layout, io_error *error)
{
    *s = (sink){.extras = layout->extras, .precision = layout->precision};
    if (strcmp(path, "-") != 0) {
        return io_pairs_open(path, layout, &s->writer, error);
    }
    /* As the text files of io begin. */
    printf("# kith " KITH_VERSION "\n# command: %s\n# cutoff: %.17g\n# particles: %" PRId64
           "\n# i j%s%s%s\n",
           layout->command, layout->cutoff, layout->n_particles,
           s->extras & KITH_DISTANCES ? " distance" : "",
           s->extras & KITH_VECTORS ? " dx dy dz" : "", s->extras & KITH_SHIFTS ? " Sa Sb Sc" : "");
    return ferror(stdout) ? stdout_failed(error) : IO_OK;
}

/** Print element k so that it reads back as the same number. */
static void print_real(const void *array, kith_precision precision, int64_t k)
{
    if (precision == KITH_FLOAT) {
        printf(" %.9g", (double)((const float *)array)[k]);
    } else {
        printf(" %.17g", ((const double *)array)[k]);
    }
}

io_status sink_write(sink *s, const kith_pairs *block, io_error *error)
{
    if (s->writer) {
        return io_pairs_write(s->writer, block, error);
    }
    for (int64_t p = 0; p < block->n && !ferror(stdout); p++) {
        printf("%" PRId32 " %" PRId32, block->i[p], block->j[p]);
        if (s->extras & KITH_DISTANCES) {
            print_real(block->distances, s->precision, p);
        }
        for (int k = 0; k < 3 && s->extras & KITH_VECTORS; k++) {
            print_real(block->vectors, s->precision, 3 * p + k);
        }
        for (int k = 0; k < 3 && s->extras & KITH_SHIFTS; k++) {
            printf(" %" PRId32, block->shifts[3 * p + k]);
        }
        putchar('\n');
    }
    return ferror(stdout) ? stdout_failed(error) : IO_OK;
}

io_status sink_commit(sink *s, io_error *error)
{
    io_pairs_writer *writer = s->writer;
    s->writer = NULL;
    if (writer) {
        return io_pairs_commit(writer, error);
    }
    return fflush(stdout) != 0 ? stdout_failed(error) : IO_OK;
}

void sink_abort(sink *s)
{
    io_pairs_abort(s->writer);
    s->writer = NULL;
}
