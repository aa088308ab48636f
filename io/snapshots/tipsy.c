/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tipsy snapshots (https://github.com/N-BodyShop/tipsy/wiki): a header, then gas, dark and star
 * records of 4-byte floats, each of which begins with mass and position. Files are big-endian
 * ("standard") or native; the header has 32 bytes, or 28 where the machine that wrote it aligned
 * doubles to 4 bytes. The size of the file determines which. A file whose size fits no reading of
 * its header is refused.
 */
#include "core/io_internal.h"

#include <stdio.h>
#include <string.h>

enum { GAS, DARK, STAR, KINDS };

/** The records of each kind. */
static const struct {
    const char *name; /* name of the species */
    int type;         /* type of a snapshot, as in Gadget */
    int bytes;        /* size of a record [byte] */
    int density;      /* offset of the density in the record [byte]; 0: there is none */
    int potential;    /* offset of the potential in the record [byte] */
} kinds[KINDS] = {{"gas", 0, 48, 28, 44}, {"dark", 1, 36, 0, 32}, {"star", 4, 44, 0, 40}};
enum { MASS = 0, POSITION = 4, VELOCITY = 16 }; /* offsets in the records of all kinds [byte] */

/** The header of a file. */
typedef struct tipsy_header {
    double time;      /* time, or scale factor */
    int dim;          /* number of dimensions: 1 to 3 */
    int bytes;        /* size of the header: 32 or 28 [byte] */
    bool swapped;     /* the byte order is not that of this machine */
    int64_t n[KINDS]; /* number of records of each kind */
} tipsy_header;

/** Size of a file with this header [byte]. */
static int64_t expected_size(const tipsy_header *header)
{
    int64_t size = header->bytes;
    for (int kind = 0; kind < KINDS; kind++) {
        size += header->n[kind] * kinds[kind].bytes;
    }
    return size;
}

/** Parse a header of this size and byte order.
 *  @param high_bits  the last four bytes hold bits 32 to 39 of the counts
 *  @return true when it is valid: its counts add up, and its dimension is 1 to 3 */
static bool parse(const char head[32], int bytes, bool swapped, bool high_bits, tipsy_header *out)
{
    *out = (tipsy_header){.bytes = bytes, .swapped = swapped};
    out->time = io__get_double(head, swapped);
    int64_t n = io__get32(head + 8, swapped);
    out->dim = (int)io__get32(head + 12, swapped);
    for (int kind = 0; kind < KINDS; kind++) {
        out->n[kind] = io__get32(head + 16 + 4 * (size_t)kind, swapped);
    }
    if (high_bits) {
        /* one byte each of n, gas, dark, star, in this order from the lowest, as pynbody has it */
        const int64_t pad = io__get32(head + 28, swapped);
        n += (pad & 0xff) << 32;
        for (int kind = 0; kind < KINDS; kind++) {
            out->n[kind] += (pad >> (8 * (kind + 1)) & 0xff) << 32;
        }
    }
    return out->dim >= 1 && out->dim <= 3 && n == out->n[GAS] + out->n[DARK] + out->n[STAR];
}

/** Find the reading of the header that gives the size of the file, else one that is valid.
 *  @param[out] found  2: the size fits; 1: the header is valid; 0: it is not */
static io_status find_header(io_file *file, tipsy_header *out, int *found)
{
    static const struct {
        int bytes;
        bool swapped, high_bits;
    } tries[] = {{32, true, false},  {32, false, false}, {28, true, false},
                 {28, false, false}, {32, true, true},   {32, false, true}};
    char head[32] = {0};
    *found = 0;
    if (file->size < 28) {
        return IO_OK;
    }
    IO_TRY(io__file_read(file, head, file->size < 32 ? 28 : 32, 0));
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        tipsy_header header;
        if (!parse(head, tries[k].bytes, tries[k].swapped, tries[k].high_bits, &header)) {
            continue;
        }
        /* A file with a header of 32 bytes that lost its last four has the size of one with 28;
           its empty pad then stands where the first particle's mass would. */
        const bool lost = tries[k].bytes == 28 && io__get32(head + 28, false) == 0;
        const bool fits = expected_size(&header) == file->size && !(lost && file->size > 28);
        if (fits || *found == 0) {
            *out = header;
        }
        *found = fits ? 2 : 1;
        if (fits) {
            break;
        }
    }
    return IO_OK;
}

io_status io__tipsy_detect(io_file *file, io_format *out, bool *resembles)
{
    tipsy_header header;
    int found;
    IO_TRY(find_header(file, &header, &found));
    *resembles = found > 0 && (found == 2 || header.n[GAS] + header.n[DARK] + header.n[STAR] > 0);
    if (found == 2) {
        *out = IO_TIPSY;
    }
    return IO_OK;
}

/** Read the header. IO_FORMAT or IO_TRUNCATED: it does not fit the size of the file. */
static io_status read_header(io_file *file, tipsy_header *out)
{
    int found;
    IO_TRY(find_header(file, out, &found));
    if (found == 2) {
        return IO_OK;
    }
    if (found == 0) {
        return io__file_fail(file, IO_FORMAT, "is not a tipsy file any more");
    }
    const int64_t size = expected_size(out);
    return io__file_fail(file, file->size < size ? IO_TRUNCATED : IO_FORMAT,
                         "looks like tipsy, with %lld gas, %lld dark and %lld star particles, but "
                         "has %lld bytes; expected %lld",
                         (long long)out->n[GAS], (long long)out->n[DARK], (long long)out->n[STAR],
                         (long long)file->size, (long long)size);
}

/** Choose the kinds that the options name. @param[out] n  number of their particles */
static io_status choose(io_file *file, const tipsy_header *header, bool wanted[KINDS], int64_t *n)
{
    io_species species;
    IO_TRY(io__species_parse(file, &species));
    *n = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        wanted[kind] = io__species_wants(&species, kinds[kind].type, header->n[kind]) &&
                       header->n[kind] > 0;
        *n += wanted[kind] ? header->n[kind] : 0;
    }
    return io__species_check(file, &species);
}

/** Read the records of one kind that are in the part, the first of the kind as particle `row`. */
static io_status read_kind(io_file *file, const tipsy_header *header, int kind, int64_t offset,
                           unsigned fields, io_particles *out, int64_t row)
{
    const struct {
        unsigned field;
        int at;
    } columns[] = {{IO_POSITIONS, POSITION},
                   {IO_MASSES, MASS},
                   {IO_VELOCITIES, VELOCITY},
                   {IO_POTENTIALS, kinds[kind].potential},
                   {IO_DENSITIES, kinds[kind].density}};
    enum { MOST = sizeof columns / sizeof *columns };
    const io_scalar type = {'f', 4, header->swapped};
    int64_t count = header->n[kind], skip;
    row = io__particles_cut(out, row, &count, &skip);
    const io_records records = {offset + skip * kinds[kind].bytes, kinds[kind].bytes, count};
    io_field wanted[MOST];
    int n = 0;
    for (int k = 0; k < MOST; k++) {
        if (columns[k].field & fields) {
            wanted[n++] = io__particles_field(out, columns[k].field, row, columns[k].at, type);
        }
    }
    if (fields & IO_TYPES) {
        memset(out->type + row, kinds[kind].type, (size_t)count);
    }
    return io__records_read(file, &records, wanted, n);
}

io_status io__tipsy_read(io_file *file, io_particles *out)
{
    tipsy_header header;
    bool wanted[KINDS];
    int64_t n = 0;
    IO_TRY(read_header(file, &header));
    IO_TRY(choose(file, &header, wanted, &n));
    IO_TRY(io__particles_alloc(file, out, n, header.dim == 2 ? 2 : 3, KITH_FLOAT));
    unsigned fields = IO_MASSES | IO_VELOCITIES | IO_TYPES | IO_POTENTIALS;
    if (!wanted[DARK] && !wanted[STAR]) {
        fields |= IO_DENSITIES;
    } else if (wanted[GAS]) {
        out->partial = io__fields_wanted(file) & IO_DENSITIES;
    }
    fields &= io__fields_wanted(file);
    for (int kind = 0; kind < KINDS; kind++) {
        out->in_file[kinds[kind].type] = header.n[kind];
    }
    IO_TRY(io__particles_add(file, out, fields));
    out->has_time = true;
    out->time = header.time;
    int64_t offset = header.bytes, row = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        if (wanted[kind]) {
            IO_TRY(read_kind(file, &header, kind, offset, fields | IO_POSITIONS, out, row));
        }
        offset += header.n[kind] * kinds[kind].bytes;
        row += wanted[kind] ? header.n[kind] : 0;
    }
    return IO_OK;
}

io_status io__tipsy_inspect(io_file *file, io_summary *out)
{
    tipsy_header header = {0};
    IO_TRY(read_header(file, &header));
    const bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != header.swapped;
    snprintf(out->description, sizeof out->description, "tipsy, %s, %d-byte header",
             little ? "native (little-endian)" : "standard (big-endian)", header.bytes);
    out->precision = KITH_FLOAT;
    out->has_time = true;
    out->time = header.time;
    out->n_species = KINDS;
    for (int kind = 0; kind < KINDS; kind++) {
        snprintf(out->species[kind].name, IO_NAME_LENGTH, "%s", kinds[kind].name);
        out->species[kind].n = header.n[kind];
        out->n += header.n[kind];
    }
    return IO_OK;
}
