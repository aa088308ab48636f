/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A virtual file driver for the HDF5 library.
 *
 * Writing. The library cannot close a file on a full disk: it keeps the id of memory that it has
 * freed, and crashes when the program exits. So writes of this driver never fail. The first error
 * is stored for the caller, who tests it after each step. After an error, raw data are discarded,
 * and metadata, a few MiB, are kept in memory, from which the library reads them back.
 *
 * Reading equals that of the default driver, but without the metadata accumulator, which
 * dereferences a null pointer when a damaged file requests too much memory (seen in 1.10.8). Files
 * that the library opens because another file refers to them are recorded (linked.h).
 *
 * The functions sink_* are the callbacks of H5FD_class_t, whose contracts are in HDF5's
 * documentation of virtual file drivers. eoa is the end of the allocated addresses, eof the end of
 * the file.
 */
#include "io_hdf5.h"
#include "core/linked.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Metadata that could not be written. */
typedef struct kept {
    struct kept *older; /* the write before; NULL: none */
    haddr_t at;         /* offset in the file [byte] */
    size_t size;        /* number of bytes */
    char data[];        /* the bytes [size] */
} kept;

/** A file that is open through this driver. */
typedef struct sink {
    H5FD_t shared;  /* state of the library; it must be the first member */
    io_sink *owner; /* the file that is written; NULL: reading */
    int fd;         /* descriptor of the file */
    dev_t device;   /* device of the file, if reading */
    ino_t inode;    /* inode of the file, if reading */
    haddr_t eoa;    /* end of the allocated space [byte] */
    haddr_t eof;    /* end of the file [byte] */
    kept *newest;   /* metadata that could not be written, the newest first; NULL: none */
} sink;

/** This thread opens a file by its path, not one that another file refers to. */
static _Thread_local bool opens_named;

/** Open a regular file, and record it if another file refers to it. O_NONBLOCK: opening a pipe does
 *  not wait for a writer. */
static bool open_to_read(sink *s, const char *name)
{
    struct stat facts;
    s->fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0 || fstat(s->fd, &facts) < 0 || !S_ISREG(facts.st_mode)) {
        return false;
    }
    s->device = facts.st_dev;
    s->inode = facts.st_ino;
    s->eof = (haddr_t)facts.st_size;
    return opens_named || io__linked_add(&facts);
}

/** Open a file: the one that the caller named or, when reading, one that it refers to. */
static H5FD_t *sink_open(const char *name, unsigned flags, hid_t plist, haddr_t most)
{
    io_sink *const *owner = H5Pget_driver_info(plist);
    sink *s = calloc(1, sizeof *s);
    (void)most;
    if (!s) {
        return NULL;
    }
    s->owner = owner ? *owner : NULL;
    s->fd = owner ? (*owner)->fd : -1;
    if (s->owner || (!(flags & H5F_ACC_RDWR) && open_to_read(s, name))) {
        return &s->shared;
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
    free(s);
    return NULL;
}

static herr_t sink_close(H5FD_t *file)
{
    sink *s = (sink *)file;
    while (s->newest) {
        kept *k = s->newest;
        s->newest = k->older;
        free(k);
    }
    if (!s->owner) {
        close(s->fd);
    }
    free(s);
    return 0;
}

/** Order files; 0: both are one file, which the library then opens only once. */
static int sink_cmp(const H5FD_t *one, const H5FD_t *two)
{
    const sink *a = (const sink *)one, *b = (const sink *)two;
    if (a->owner || b->owner) {
        return (a > b) - (a < b);
    }
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    return (a->inode > b->inode) - (a->inode < b->inode);
}

/** Tell the library which optimisations it may use: reading, no metadata accumulator. */
static herr_t sink_query(const H5FD_t *file, unsigned long *flags)
{
    const bool reading = file && !((const sink *)file)->owner;
    if (flags && reading) {
        *flags = H5FD_FEAT_DATA_SIEVE;
    } else if (flags) {
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                 H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    }
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

/** Overwrite out, the bytes [at, at + size) of the file, by the kept metadata, oldest first. */
static void lay_over(const kept *k, haddr_t at, size_t size, char *out)
{
    if (!k) {
        return;
    }
    lay_over(k->older, at, size, out);
    const haddr_t from = k->at > at ? k->at : at;
    const haddr_t to = k->at + k->size < at + size ? k->at + k->size : at + size;
    if (from < to) {
        memcpy(out + (from - at), k->data + (from - k->at), (size_t)(to - from));
    }
}

/** Read bytes. Of a file that is written, bytes beyond its end are 0, and errors are stored. */
static herr_t sink_read(H5FD_t *file, H5FD_mem_t type, hid_t plist, haddr_t at, size_t size,
                        void *out)
{
    const sink *s = (const sink *)file;
    (void)type, (void)plist;
    const int64_t got = io__get(s->fd, out, (int64_t)size, (int64_t)at);
    const size_t done = got > 0 ? (size_t)got : 0;
    if (done < size && !s->owner) {
        return -1;
    }
    if (got < 0 && s->owner->error == 0) {
        s->owner->error = errno;
    }
    memset((char *)out + done, 0, size - done);
    lay_over(s->newest, at, size, out);
    return 0;
}

/** Keep metadata that could not be written. Without memory they are lost. */
static void keep(sink *s, haddr_t at, size_t size, const void *data)
{
    kept *k = malloc(sizeof *k + size);
    if (!k) {
        return;
    }
    k->older = s->newest;
    k->at = at;
    k->size = size;
    memcpy(k->data, data, size);
    s->newest = k;
}

/** Write bytes, and never fail: after an error keep metadata in memory and discard raw data. */
static herr_t sink_write(H5FD_t *file, H5FD_mem_t type, hid_t plist, haddr_t at, size_t size,
                         const void *data)
{
    sink *s = (sink *)file;
    (void)plist;
    if (!s->owner) {
        return -1;
    }
    if (s->owner->error == 0) {
        s->owner->error = io__put(s->fd, data, (int64_t)size, (int64_t)at);
    }
    if (s->owner->error != 0 && type != H5FD_MEM_DRAW) {
        keep(s, at, size, data);
    }
    s->eof = at + size > s->eof ? at + size : s->eof;
    return 0;
}

/** Set the size of the file to the end of the allocated space, and never fail. */
static herr_t sink_truncate(H5FD_t *file, hid_t plist, hbool_t closing)
{
    sink *s = (sink *)file;
    (void)plist, (void)closing;
    if (!s->owner) {
        return 0;
    }
    if (s->owner->error == 0 && ftruncate(s->fd, (off_t)s->eoa) < 0) {
        s->owner->error = errno;
    }
    s->eof = s->eoa;
    return 0;
}

/** Make a file access property list with this driver. @param owner  NULL: reading */
static hid_t access_plist(const char *path, io_sink *owner)
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
        .cmp = sink_cmp,
        .query = sink_query,
        .get_eoa = sink_get_eoa,
        .set_eoa = sink_set_eoa,
        .get_eof = sink_get_eof,
        .read = sink_read,
        .write = sink_write,
        .truncate = sink_truncate,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    /* Registered once and never unregistered: closing the last file of an unregistered driver reads
       freed memory (1.10.8). */
    static hid_t id = -1;
    io__hdf5_enter(path);
    if (id < 0) {
        id = H5FDregister(&driver);
    }
    const hid_t plist = H5Pcreate(H5P_FILE_ACCESS);
    if (id >= 0 && plist >= 0) {
        H5Pset_driver(plist, id, owner ? &owner : NULL); /* copies the pointer `owner` */
    }
    return plist;
}

hid_t io__sink_create(const char *path, io_sink *owner)
{
    const hid_t plist = access_plist(path, owner);
    /* The name is not used: sink_open takes the descriptor of the owner. */
    const hid_t file = H5Fcreate("kith", H5F_ACC_TRUNC, H5P_DEFAULT, plist);
    H5Pclose(plist);
    return file;
}

hid_t io__source_open(const char *path)
{
    const hid_t plist = access_plist(path, NULL);
    opens_named = true;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, plist);
    opens_named = false;
    H5Pclose(plist);
    return file;
}
