/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_files.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32];

static void remove_folder(void)
{
    chmod(folder, 0700);
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));)
        unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
    rmdir(folder);
}

void files_begin(void)
{
    const bool in_memory = access("/dev/shm", W_OK) == 0; /* thousands of small files */
    snprintf(folder, sizeof folder, "%s/kith_io.XXXXXX", in_memory ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(1);
    }
    atexit(remove_folder);
}

const char *files_path(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

int files_count(const char *part)
{
    int n = 0;
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));)
        n += strstr(entry->d_name, part) != NULL;
    if (list)
        closedir(list);
    return n;
}

void bytes_add(bytes *b, const void *data, size_t n)
{
    if (b->n + n >= b->room) {
        b->room = 2 * (b->n + n) + 64;
        b->data = realloc(b->data, b->room);
    }
    if (!b->data)
        abort();
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

void bytes_print(bytes *b, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bytes_add(b, text, (size_t)n);
}

void bytes_put(bytes *b, uint64_t bits, int size, bool big)
{
    for (int k = 0; k < size; k++) {
        const char byte = (char)(bits >> 8 * (big ? size - 1 - k : k) & 0xff);
        bytes_add(b, &byte, 1);
    }
}

void bytes_put_float(bytes *b, float value, bool big)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bytes_put(b, bits, 4, big);
}

void bytes_put_double(bytes *b, double value, bool big)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bytes_put(b, bits, 8, big);
}

const char *bytes_save(const bytes *b, const char *name, size_t n)
{
    const char *path = files_path(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(b->data, 1, n, file) != n || fclose(file) != 0)
        abort();
    return path;
}

bytes bytes_load(const char *path)
{
    bytes b = {0};
    FILE *file = fopen(path, "rb");
    char part[4096];
    for (size_t n; file && (n = fread(part, 1, sizeof part, file)) > 0;)
        bytes_add(&b, part, n);
    if (file)
        fclose(file);
    return b;
}

double files_at(const io_particles *particles, int64_t p, int axis)
{
    return particles->precision == KITH_FLOAT
               ? (double)((const float *)particles->pos)[3 * p + axis]
               : ((const double *)particles->pos)[3 * p + axis];
}

bytes npy_begin(int version, const char *type, bool fortran, const char *shape)
{
    bytes b = {0};
    char text[512];
    const int n = snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n",
                           type, fortran ? "True" : "False", shape);
    bytes_add(&b, "\x93NUMPY", 6);
    bytes_put(&b, (uint64_t)version, 2, false);
    bytes_put(&b, (uint64_t)n, version == 1 ? 2 : 4, false);
    bytes_add(&b, text, (size_t)n);
    return b;
}

bytes tipsy_begin(bool big, int size, const int64_t n[3], uint32_t pad)
{
    bytes b = {0};
    bytes_put_double(&b, 0.25, big);
    bytes_put(&b, (uint64_t)(n[0] + n[1] + n[2]), 4, big);
    bytes_put(&b, 3, 4, big);
    for (int k = 0; k < 3; k++)
        bytes_put(&b, (uint64_t)n[k], 4, big);
    if (size == 32)
        bytes_put(&b, pad, 4, big);
    return b;
}
