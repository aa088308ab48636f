/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libFuzzer target of what is read beside particles: labels of groups, and vectors. The first byte
 * of the input chooses among options; the rest is a file.
 */
#include "fuzz_file.h"

#include <catalogues/catalogue.h>

enum { MOST_LABELS = 16 };

static void read_labels(const char *path, int64_t n)
{
    int32_t labels[MOST_LABELS];
    int64_t groups = -1;
    io_error error;
    const io_status status = io_read_labels(path, n, NULL, labels, &groups, &error);
    require((status == IO_OK) == (error.text[0] == 0), "a status and its sentence disagree");
    int32_t most = 0;
    for (int64_t p = 0; p < n && status == IO_OK; p++) {
        require(labels[p] >= 0 && labels[p] <= groups, "a label of no group");
        most = labels[p] > most ? labels[p] : most;
    }
    require(status != IO_OK || most == groups, "a group without members");
}

static void read_vectors(const char *path, bool bytes, kith_precision precision)
{
    io_vectors vectors = {0};
    io_error error;
    const io_read_options options = {.precision = precision};
    const io_status status = io_read_vectors(path, &options, bytes, &vectors, &error);
    require((status == IO_OK) == (error.text[0] == 0), "a status and its sentence disagree");
    uint64_t sum = 0;
    for (int64_t at = 0; status == IO_OK && at < vectors.n * vectors.dim * vectors.size; at++)
        sum += ((const unsigned char *)vectors.values)[at];
    require(sum == 0 || vectors.n > 0, "no vectors, but numbers");
    io_vectors_free(&vectors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t choice = size ? data[0] : 0;
    const char *path = write_file(data + (size > 0), size - (size > 0));
    read_labels(path, choice % MOST_LABELS);
    read_vectors(path, choice & 16, choice & 32 ? KITH_FLOAT : choice & 64 ? KITH_DOUBLE : 0);
    remove_file();
    return 0;
}
