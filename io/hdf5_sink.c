/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The HDF5 driver that files are written through. The library cannot close a file on a full disk:
 * it keeps the id of what it has freed and crashes when the program exits. This driver therefore
 * never fails. It remembers the first error, which the caller asks for after each step; from then
 * on raw data are dropped and metadata, a few MiB, are kept in memory for the library to read back.
 */
#include "io_hdf5.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct kept {
    struct kept *older;
    haddr_t at;
    size_t size;
    char data[];
} kept;

typedef struct sink {
    H5FD_t shared; /* first, as the library wants it */
    io_sink *owner;
    haddr_t eoa, eof;
    kept *newest;
} sink;

static H5FD_t *sink_open(const char *name, unsigned flags, hid_t plist, haddr_t most)
{
    io_sink *const *owner = H5Pget_driver_info(plist);
    sink *s = calloc(1, sizeof *s);
    (void)name, (void)flags, (void)most;
    if (!s || !owner) {
        free(s);
        return NULL;
    }
    s->owner = *owner;
    return &s->shared;
}

static herr_t sink_close(H5FD_t *file)
{
    sink *s = (sink *)file;
    while (s->newest) {
        kept *k = s->newest;
        s->newest = k->older;
        free(k);
    }
    free(s);
    return 0;
}

static herr_t sink_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    if (flags)
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                 H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t sink_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const sink *)file)->eoa;
}

static herr_t sink_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t at)
{
    (void)type;
    ((sink *)file)->eoa = at;
    return 0;
}

static haddr_t sink_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const sink *)file)->eof;
}

/** Lay what was kept over out, the oldest first. */
static void lay_over(const kept *k, haddr_t at, size_t size, char *out)
{
    if (!k)
        return;
    lay_over(k->older, at, size, out);
    const haddr_t from = k->at > at ? k->at : at;
    const haddr_t to = k->at + k->size < at + size ? k->at + k->size : at + size;
    if (from < to)
        memcpy(out + (from - at), k->data + (from - k->at), (size_t)(to - from));
}

static herr_t sink_read(H5FD_t *file, H5FD_mem_t type, hid_t plist, haddr_t at, size_t size,
                        void *out)
{
    const sink *s = (const sink *)file;
    (void)type, (void)plist;
    memset(out, 0, size);
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(s->owner->fd, (char *)out + done, size - done,
                                  (off_t)(at + done));
        if (got <= 0 && !(got < 0 && errno == EINTR))
            break; /* beyond the end the file is zero */
        done += got > 0 ? (size_t)got : 0;
    }
    lay_over(s->newest, at, size, out);
    return 0;
}

static void keep(sink *s, haddr_t at, size_t size, const void *data)
{
    kept *k = malloc(sizeof *k + size);
    if (!k)
        return;
    k->older = s->newest;
    k->at = at;
    k->size = size;
    memcpy(k->data, data, size);
    s->newest = k;
}

static herr_t sink_write(H5FD_t *file, H5FD_mem_t type, hid_t plist, haddr_t at, size_t size,
                         const void *data)
{
    sink *s = (sink *)file;
    (void)plist;
    for (size_t done = 0; done < size && s->owner->error == 0;) {
        const ssize_t put = pwrite(s->owner->fd, (const char *)data + done, size - done,
                                   (off_t)(at + done));
        if (put < 0 && errno != EINTR)
            s->owner->error = errno;
        done += put > 0 ? (size_t)put : 0;
    }
    if (s->owner->error != 0 && type != H5FD_MEM_DRAW)
        keep(s, at, size, data);
    s->eof = at + size > s->eof ? at + size : s->eof;
    return 0;
}

static herr_t sink_truncate(H5FD_t *file, hid_t plist, hbool_t closing)
{
    sink *s = (sink *)file;
    (void)plist, (void)closing;
    if (s->owner->error == 0 && ftruncate(s->owner->fd, (off_t)s->eoa) < 0)
        s->owner->error = errno;
    s->eof = s->eoa;
    return 0;
}

hid_t io__sink_create(io_sink *owner)
{
    static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)600, /* from the range left to private drivers */
#endif
        .name = "kith",
        .maxaddr = INT64_MAX,
        .fc_degree = H5F_CLOSE_STRONG,
        .fapl_size = sizeof(io_sink *),
        .open = sink_open,
        .close = sink_close,
        .query = sink_query,
        .get_eoa = sink_get_eoa,
        .set_eoa = sink_set_eoa,
        .get_eof = sink_get_eof,
        .read = sink_read,
        .write = sink_write,
        .truncate = sink_truncate,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    const hid_t id = H5FDregister(&driver);
    const hid_t plist = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    if (id >= 0 && plist >= 0 && H5Pset_driver(plist, id, &owner) >= 0)
        file = H5Fcreate("kith", H5F_ACC_TRUNC, H5P_DEFAULT, plist);
    if (plist >= 0)
        H5Pclose(plist);
    if (id >= 0)
        H5FDunregister(id);
    return file;
}
