/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NumPy headers however they are spelled, and ones that lie; labels, numbers and vectors of their
 * arrays, and arrays that do not fit.
 */
#include "check.h"
#include "io_files.h"

#include <catalogues/catalogue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4 };

/** A NumPy file of this dictionary, with `size` bytes behind it that count from 1. */
static const char *npy(int version, const char *dictionary, size_t size)
{
    bytes b = {0};
    const size_t n = strlen(dictionary);
    bytes_add(&b, "\x93NUMPY", 6);
    bytes_put(&b, (uint64_t)version, 2, false);
    bytes_put(&b, n, version > 1 ? 4 : 2, false);
    bytes_add(&b, dictionary, n);
    for (size_t k = 0; k < size; k++)
        bytes_put(&b, k + 1, 1, false);
    const char *path = bytes_save(&b, "a.npy", b.n);
    free(b.data);
    return path;
}

/** A status and a sentence that names the file and holds these words. */
static void refused(io_status status, const io_error *error, io_status wanted, const char *path,
                    const char *words)
{
    CHECK(status == wanted && error->status == wanted, "status %d, not %d: %s", status, wanted,
          error->text);
    CHECK(strstr(error->text, path) && strstr(error->text, words), "'%s' does not speak of '%s'",
          error->text, words);
}

static void refuse(int version, const char *dictionary, size_t size, io_status wanted,
                   const char *words)
{
    io_particles got;
    io_error error = {0};
    const char *path = npy(version, dictionary, size);
    refused(io_read(path, NULL, &got, &error), &error, wanted, path, words);
    io_particles_free(&got);
}

static void test_spelling(void)
{
    static const char *const same[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{\"descr\":\"|u1\",\"fortran_order\":False,\"shape\":(2,3)}",
        "\t{ 'shape' : ( 2L , 3L ) ,\n 'fortran_order' : False , 'descr' : '|u1' } \n",
        "{'more': [1, {'a': (\"}\", ']')}], 'shape': (2, 3), 'descr': '|u1'}",
    };
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        io_particles got;
        io_error error = {0};
        const io_status status = io_read(npy(1 + (int)k % 3, same[k], 6), NULL, &got, &error);
        if (CHECK(status == IO_OK && got.n == 2, "%s: %s", same[k], error.text))
            CHECK(files_at(&got, 0, 0) == 1 && files_at(&got, 1, 2) == 6, "%s: numbers", same[k]);
        io_particles_free(&got);
    }
}

static void test_headers(void)
{
    refuse(0, "{}", 0, IO_FORMAT, "version 0; expected 1 to 3");
    refuse(1, "'descr'", 0, IO_FORMAT, "NumPy header with ''descr'' where '{' was expected");
    refuse(1, "{", 0, IO_FORMAT, "where a key was expected");
    refuse(1, "{descr: '<f8'}", 0, IO_FORMAT, "'descr: '<f8'}' where a key was expected");
    refuse(1, "{'descr}", 0, IO_FORMAT, "''descr}' where a key was expected");
    refuse(1, "{'descr'}", 0, IO_FORMAT, "''descr'}' where a key was expected");
    refuse(1, "{'': 1}", 0, IO_FORMAT, "''': 1}' where a key was expected");
    refuse(1, "{'descr': [1, (2}", 0, IO_FORMAT, "'[1, (2}' where a value with an end");
    refuse(1, "{'descr': '<f8", 0, IO_FORMAT, "''<f8' where a value with an end");
    refuse(1, "{'descr': ,}", 0, IO_FORMAT, "without 'descr' or 'shape'");
    refuse(1, "{'descr': '<f8'}", 0, IO_FORMAT, "without 'descr' or 'shape'");
    refuse(1, "{'shape': (1, 3)}", 0, IO_FORMAT, "without 'descr' or 'shape'");
    refuse(1, "{'fortran_order': Maybe}", 0, IO_FORMAT, "'Maybe}' where True or False was");
    refuse(1, "{'shape': (9223372036854775808, 3)}", 0, IO_LIMIT, "a shape beyond 2^63");
    static const char *const types[] = {"f8", "<", "<x8", "<f3", "<f88", "<i0"};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        char text[128], words[64];
        snprintf(text, sizeof text, "{'descr': '%s', 'shape': (2, 3)}", types[k]);
        snprintf(words, sizeof words, "holds elements of type %s; expected", types[k]);
        refuse(1, text, 48, IO_FORMAT, words);
    }
    refuse(1, "{'descr': 8, 'shape': (2, 3)}", 48, IO_FORMAT, "elements of type 8; expected");
    /* at most 127 characters of a shape are shown */
#define LONG "9223372036854775807, "
    refuse(1, "{'descr': '<f8', 'shape': (" LONG LONG LONG LONG LONG LONG LONG "3)}", 48, IO_FORMAT,
           "has shape (" LONG LONG LONG LONG LONG "9223372036854775807, ");
    refuse(1, "{'descr': '<f8', 'shape': ()}", 8, IO_FORMAT, "has shape (); expected (n, 3)");
    refuse(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2, 3)}", 96, IO_FORMAT,
           "has shape (2, 2, 3) in column order; expected row order");
    refuse(1, "{'descr': '<f8', 'shape': (9223372036854775807, 2, 3)}", 96, IO_LIMIT,
           "a shape beyond 2^63");
    refuse(1, "{'descr': '<f8', 'shape': (384307168202282325, 1, 3)}", 96, IO_LIMIT,
           "a shape beyond 2^63");
    bytes b = {0};
    bytes_add(&b, "\x93NUMPY\2\0\1\0\x10\0{", 13);
    b.data = realloc(b.data, b.room = b.n = (2 << 20) + 13);
    memset(b.data + 13, ' ', b.n - 13);
    io_particles got;
    io_error error;
    const char *path = bytes_save(&b, "long.npy", b.n);
    refused(io_read(path, NULL, &got, &error), &error, IO_LIMIT, path,
            "a NumPy header of 1048577 bytes; at most 1048576 are read");
    path = bytes_save(&b, "short.npy", 11);
    refused(io_read(path, NULL, &got, &error), &error, IO_TRUNCATED, path, "ends");
    free(b.data);
    path = npy(1, "{'descr': '|u1', 'shape': (2, 1, 3)}", 6);
    refused(io_read(path, &(io_read_options){.frame = 2}, &got, &error), &error, IO_INVALID, path,
            "has 2 frames, counted from 0; frame 2 was asked for");
}

/** What a file holds, that need not be particles. */
static void test_inspect(void)
{
    static const struct {
        const char *dictionary;
        size_t size;
        int64_t n, frames;
        const char *shape, *description;
    } arrays[] = {
        {"{'descr': '|u1', 'shape': ()}", 1, 1, 1, "()", "NumPy array, |u1, row order"},
        {"{'descr': '|u1', 'shape': (5,)}", 5, 5, 1, "(5,)", "NumPy array, |u1, row order"},
        {"{'descr': '|u1', 'shape': (4, 2, 3)}", 24, 2, 4, "(4, 2, 3)",
         "NumPy array, |u1, row order"},
        {"{'descr': '|u1', 'shape': (4, 2, 9)}", 72, 4, 1, "(4, 2, 9)",
         "NumPy array, |u1, row order"},
        {"{'descr': '|u1', 'fortran_order': True, 'shape': (4, 2, 3)}", 24, 4, 1, "(4, 2, 3)",
         "NumPy array, |u1, column order"},
        {"{'descr': [('x', '<f8')], 'shape': (2, 3)}", 48, 2, 1, "(2, 3)",
         "NumPy array, structured, row order"},
    };
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        static io_summary summary;
        io_error error = {0};
        const io_status status = io_inspect(npy(1, arrays[k].dictionary, arrays[k].size), &summary,
                                            &error);
        CHECK(status == IO_OK && summary.n == arrays[k].n && summary.frames == arrays[k].frames &&
                  strcmp(summary.fields[0].shape, arrays[k].shape) == 0 &&
                  strcmp(summary.description, arrays[k].description) == 0,
              "%s: %s%lld, %lld frames, %s", arrays[k].dictionary, error.text, (long long)summary.n,
              (long long)summary.frames, summary.description);
    }
}

static void test_labels(void)
{
    int32_t labels[N] = {0};
    int64_t groups = 0;
    io_error error = {0};
    const char *path = npy(1, "{'descr': '|u1', 'shape': (4,)}", N);
    CHECK(io_read_labels(path, N, NULL, labels, &groups, &error) == IO_OK && groups == N &&
              labels[0] == 1 && labels[3] == 4,
          "%s", error.text);
    static const struct {
        const char *dictionary;
        size_t size;
        io_status status;
        const char *words;
    } bad[] = {
        {"", 0, IO_FORMAT, "where '{' was expected"},
        {"{'descr': '|u1', 'shape': (3,)}", 3, IO_INVALID,
         "has shape (3,) of type |u1; expected whole numbers, one for each of the 4 particles"},
        {"{'descr': '|u1', 'shape': (4, 1)}", 4, IO_INVALID, "has shape (4, 1) of type |u1"},
        {"{'descr': [('x', '|u1')], 'shape': (4,)}", 4, IO_INVALID, "of type [('x', '|u1')]"},
        {"{'descr': '|b1', 'shape': (4,)}", 4, IO_INVALID, "of type |b1; expected whole numbers"},
        {"{'descr': '<f4', 'shape': (4,)}", 16, IO_INVALID, "of type <f4; expected whole numbers"},
        {"{'descr': '<i4', 'shape': (4,)}", 15, IO_TRUNCATED, "bytes; expected 57"},
        {"{'descr': '<i4', 'shape': (4,)}", 17, IO_FORMAT, "bytes; expected 57"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        path = npy(1, bad[k].dictionary, bad[k].size);
        refused(io_read_labels(path, N, NULL, labels, &groups, &error), &error, bad[k].status, path,
                bad[k].words);
    }
    static const struct {
        const char *text;
        io_status status;
        const char *words;
    } texts[] = {
        {"", IO_TRUNCATED, "ends after 0 labels; expected 4"},
        {"4\n1\n1\n", IO_TRUNCATED, "ends after 2 labels; expected 4"},
        {"4\n1\n\n1\n1\n", IO_FORMAT, "line 3: is empty where a label was expected"},
        {"4\n1\none\n", IO_FORMAT, "'one'"},
        {"4\n1\n1.5\n", IO_FORMAT, "holds 1.5; expected a whole number from -2147483647 to"},
        {"4\n1\n4294967296\n", IO_FORMAT, "holds 4294967296; expected a whole number"},
        {"5\n1\n1\n1\n1\n1\n", IO_INVALID, "says 5 particles; expected 4"},
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        bytes b = {0};
        bytes_add(&b, texts[k].text, strlen(texts[k].text));
        path = bytes_save(&b, "labels", b.n);
        refused(io_read_labels(path, N, NULL, labels, &groups, &error), &error, texts[k].status,
                path, texts[k].words);
        free(b.data);
    }
}

static void test_numbers(void)
{
    double got[N] = {0};
    io_error error = {0};
    CHECK(io_read_numbers(npy(1, "{'descr': '|u1', 'shape': (4,)}", N), N, 0, N, got, &error) ==
                  IO_OK &&
              got[0] == 1 && got[3] == 4,
          "%s", error.text);
    CHECK(io_read_numbers(npy(1, "{'descr': '|u1', 'shape': (4,)}", N), N, 2, 2, got, &error) ==
                  IO_OK &&
              got[0] == 3 && got[1] == 4,
          "%s", error.text);
    const char *path = npy(1, "{'descr': '|u1', 'shape': (5,)}", 5);
    refused(io_read_numbers(path, N, 0, N, got, &error), &error, IO_INVALID, path,
            "has shape (5,) of type |u1; expected numbers, one for each of the 4 particles");
    bytes four = {0};
    bytes_add(&four, "5\n6\n7\n8\n", 8);
    CHECK(io_read_numbers(bytes_save(&four, "numbers", four.n), N, 1, 2, got, &error) == IO_OK &&
              got[0] == 6 && got[1] == 7,
          "%s", error.text);
    free(four.data);
    static const struct {
        const char *text;
        io_status status;
        const char *words;
    } texts[] = {
        {"1\n2\n3\n", IO_INVALID, "has 3 lines of 1 numbers; expected a number for each of the 4"},
        {"1 1\n2 2\n3 3\n4 4\n", IO_INVALID, "has 4 lines of 2 numbers"},
        {"1\n2\n3\ninf\n", IO_FORMAT, "number 3 is inf; expected finite numbers"},
        {"1\n\nO 0 0 0\n", IO_FORMAT, "is a XYZ file; expected a NumPy array or text"},
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        bytes b = {0};
        bytes_add(&b, texts[k].text, strlen(texts[k].text));
        path = bytes_save(&b, "numbers", b.n);
        refused(io_read_numbers(path, N, 0, N, got, &error), &error, texts[k].status, path,
                texts[k].words);
        free(b.data);
    }
}

/** Stop at once. */
static int stop(void *user, int64_t done, int64_t total)
{
    (void)user;
    return total > 0 && done >= 0;
}

static void test_vectors(void)
{
    static const char *const orders[] = {
        "{'descr': '|u1', 'shape': (2, 3)}",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}"};
    io_vectors got;
    io_error error = {0};
    for (int column = 0; column < 2; column++) {
        const char *path = npy(1, orders[column], 6);
        if (CHECK(io_read_vectors(path, NULL, false, &got, &error) == IO_OK && got.n == 2 &&
                      got.dim == 3 && got.size == KITH_FLOAT,
                  "%s", error.text))
            CHECK(((const float *)got.values)[1] == (column ? 3 : 2), "row 0, column 1");
        io_vectors_free(&got);
        refused(io_read_vectors(path, &(io_read_options){.watch = stop}, false, &got, &error),
                &error, IO_CANCELLED, path, "stopped");
        io_particles particles;
        refused(io_read(path, &(io_read_options){.watch = stop}, &particles, &error), &error,
                IO_CANCELLED, path, "stopped");
    }
    const char *path = npy(1, orders[0], 6);
    CHECK(io_read_vectors(path, NULL, true, &got, &error) == IO_OK &&
              memcmp(got.values, "\1\2\3\4\5\6", 6) == 0,
          "packed: %s", error.text);
    io_vectors_free(&got);
    refused(io_read_vectors(path, &(io_read_options){.watch = stop}, true, &got, &error), &error,
            IO_CANCELLED, path, "stopped");
    static const struct {
        const char *dictionary;
        size_t size;
        bool bytes;
        io_status status;
        const char *words;
    } bad[] = {
        {"{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", 6, true, IO_FORMAT,
         "has bytes in column order; expected row order"},
        {"{'descr': '|i1', 'shape': (2, 3)}", 6, true, IO_FORMAT,
         "elements of type |i1; expected '|u1': spins packed to bytes"},
        {"{'descr': '<u2', 'shape': (2, 3)}", 12, true, IO_FORMAT, "elements of type <u2"},
        {"{'descr': '|b1', 'shape': (2, 3)}", 6, false, IO_FORMAT,
         "elements of type |b1; expected '<f4', '<f8' or integers"},
        {"{'descr': '|u1', 'shape': (6,)}", 6, false, IO_FORMAT,
         "has shape (6,); expected (vectors, numbers)"},
        {"{'descr': '|u1', 'shape': (2, 3)}", 7, false, IO_FORMAT, "bytes; expected 49 for its"},
        {"{'descr': '|u1', 'shape': (2, 3)}", 5, false, IO_TRUNCATED, "bytes; expected 49 for"},
        {"{'descr': '|u1', 'shape': (4294967296, 4294967296)}", 6, false, IO_LIMIT, "2^63"},
        {"{'descr': '<f8', 'shape': (2147483648, 2147483648)}", 6, false, IO_LIMIT, "2^63"},
        {"{'descr': '|u1', 'shape': (1, 9223372036854775807)}", 6, false, IO_LIMIT, "2^63"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        path = npy(1, bad[k].dictionary, bad[k].size);
        refused(io_read_vectors(path, NULL, bad[k].bytes, &got, &error), &error, bad[k].status,
                path, bad[k].words);
    }
    bytes b = {0};
    bytes_print(&b, "1 2\n3 4\n");
    path = bytes_save(&b, "text", b.n);
    refused(io_read_vectors(path, NULL, true, &got, &error), &error, IO_INVALID, path,
            "is text; packed spins are read from NumPy arrays or HDF5 datasets");
    refused(io_read_vectors(path, &(io_read_options){.dataset = "x"}, false, &got, &error), &error,
            IO_INVALID, path, "is a text file, where a choice of dataset means nothing");
    free(b.data);
}

int main(void)
{
    files_begin();
    test_spelling();
    test_headers();
    test_inspect();
    test_labels();
    test_numbers();
    test_vectors();
    return check_done();
}
