/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binary snapshots of Gadget-1 and Gadget-2: Fortran records, each between two markers of its
 * length modulo 2^32, in either byte order. The first record is the header of 256 bytes. In format
 * 1, records of positions, velocities, ids and masses follow in this order; which records follow
 * depends on how Gadget was compiled, so later ones are not read. In format 2, a record with a
 * label of four letters precedes each; the radii of the gas are the record whose label the options
 * name, "HSML". A record holds one type after the other; that of masses has
 * only the types whose mass is not in the header. A file whose records do not fit its header is
 * refused. Springel, User guide for GADGET-2, section 6.
 */
#include "core/io_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Types of particles; sizes of the header, of a marker, and of the record of a label with its
 *  markers [byte]; most blocks of a file. */
enum { TYPES = 6, HEADER = 256, MARKER = 4, LABEL = 16, MOST_BLOCKS = 64 };

/** The blocks that are read, in the order of format 1. */
static const struct {
    const char label[5]; /* label in format 2 */
    unsigned field;      /* the field that the block holds */
    bool ordered;        /* format 1 has the block at a fixed position */
} known[] = {{"POS ", IO_POSITIONS, true},   {"VEL ", IO_VELOCITIES, true},
             {"ID  ", IO_IDS, true},         {"MASS", IO_MASSES, true},
             {"POT ", IO_POTENTIALS, false}, {"RHO ", IO_DENSITIES, false}};
enum { KNOWN = sizeof known / sizeof *known };

/** A block of a file: one record. */
typedef struct block {
    char label[5];  /* label, or that of format 2 for a block of format 1 */
    unsigned field; /* the field that it holds; 0: none that is read */
    int64_t offset; /* offset of its numbers [byte] */
    int64_t size;   /* size of its numbers [byte] */
    io_scalar type; /* type of its numbers */
} block;

/** State of the reader. */
typedef struct gadget {
    int format;                /* format: 1 or 2 */
    bool swapped;              /* the byte order is not that of this machine */
    int n_blocks;              /* number of blocks */
    block blocks[MOST_BLOCKS]; /* blocks behind the header [n_blocks] */
} gadget;

/** Find format and byte order from the first bytes of a file: format 1 begins with the marker of
 *  the header, 256; format 2 with a record of 8 bytes, the first four of which are "HEAD".
 *  @return false if it is not Gadget's */
static bool begins(const char *head, int64_t size, gadget *out)
{
    *out = (gadget){0};
    for (int swapped = 0; swapped < 2 && size >= 8; swapped++) {
        const uint32_t first = io__get32(head, swapped);
        const bool named = first == 8 && memcmp(head + MARKER, "HEAD", 4) == 0;
        const bool ends = size < HEADER + 2 * MARKER ||
                          io__get32(head + MARKER + HEADER, swapped) == HEADER;
        out->format = named ? 2 : first == HEADER && ends ? 1 : 0;
        out->swapped = swapped;
        if (out->format) {
            return true;
        }
    }
    return false;
}

bool io__gadget_detect(const char *head, int64_t size)
{
    gadget unused;
    return begins(head, size, &unused);
}

/** Return true when the block of a field has numbers of gas alone. */
static bool is_of_gas(unsigned field)
{
    return field == IO_DENSITIES || field == IO_RADII;
}

/** The number of particles that have numbers in the block of a field. */
static int64_t count_in(const io_header *header, unsigned field)
{
    int64_t n = 0;
    for (int type = 0; type < TYPES; type++) {
        if (is_of_gas(field) ? type == 0 : field == IO_MASSES ? header->mass[type] == 0 : true) {
            n += header->n[type];
        }
    }
    return n;
}

/** Find the end of the record that begins at `at`. Its markers give its length modulo 2^32 only.
 *  @param exact  the two lengths that it may have; {0, 0}: any length */
static io_status measure(io_file *file, bool swapped, int64_t at, const int64_t exact[2],
                         block *out)
{
    enum { MOST_TURNS = 1 << 16 }; /* multiples of 2^32 bytes that are tried */
    char marker[MARKER];
    IO_TRY(io__file_peek(file, marker, MARKER, at));
    const uint32_t length = io__get32(marker, swapped);
    out->offset = at + MARKER;
    bool fits = false;
    for (int64_t k = 0; k < (exact[0] ? 2 : MOST_TURNS); k++) {
        out->size = exact[0] ? exact[k] : length + (k << 32);
        if ((uint32_t)out->size != length) {
            continue;
        }
        fits = true;
        if (out->offset + out->size + MARKER > file->size) {
            break;
        }
        IO_TRY(io__file_peek(file, marker, MARKER, out->offset + out->size));
        if (io__get32(marker, swapped) == length) {
            return IO_OK;
        }
    }
    if (!fits) {
        return io__file_fail(file, IO_FORMAT,
                             "block %s has %u bytes; expected %lld or %lld for its particles",
                             out->label, length, (long long)exact[0], (long long)exact[1]);
    }
    if (out->offset + out->size + MARKER > file->size) {
        return io__file_fail(file, IO_TRUNCATED,
                             "block %s needs %lld bytes from byte %lld on; the file ends at %lld",
                             out->label, (long long)(out->size + MARKER), (long long)out->offset,
                             (long long)file->size);
    }
    return io__file_fail(file, IO_FORMAT, "block %s at byte %lld does not end with its length %u",
                         out->label, (long long)at, length);
}

/** Return true when the options name the radii by this label, less the blanks that fill it up. */
static bool names_radii(const io_file *file, const char label[4])
{
    const char *name = file->options->radii;
    size_t length = 4;
    while (length > 0 && label[length - 1] == ' ') {
        length--;
    }
    return name && strlen(name) == length && memcmp(name, label, length) == 0;
}

/** Add a block that begins at *at, and move *at behind it. Its size tells how many bytes a number
 *  has, 4 or 8. */
static io_status add_block(io_file *file, gadget *g, const io_header *header, int64_t *at,
                           const char label[4])
{
    if (g->n_blocks == MOST_BLOCKS) {
        return io__file_fail(file, IO_LIMIT, "has more than %d blocks", MOST_BLOCKS);
    }
    block *b = &g->blocks[g->n_blocks];
    *b = (block){.type = {.kind = 'f', .swapped = g->swapped}};
    io__copy_name(b->label, sizeof b->label, label, 4);
    for (int k = 0; k < KNOWN; k++) {
        if (memcmp(known[k].label, label, 4) == 0) {
            b->field = known[k].field;
        }
    }
    if (!b->field && names_radii(file, label)) {
        b->field = IO_RADII;
    }
    const int64_t width = b->field ? io__field_width(b->field) : 0;
    const int64_t n = b->field ? count_in(header, b->field) : 0;
    const int64_t exact[2] = {4 * width * n, 8 * width * n};
    IO_TRY(measure(file, g->swapped, *at, exact, b));
    b->type.kind = b->field == IO_IDS ? 'u' : 'f';
    b->type.size = n > 0 ? (int)(b->size / (width * n)) : 4;
    *at = b->offset + b->size + MARKER;
    if (n == 0) {
        b->field = 0;
    }
    g->n_blocks++;
    return IO_OK;
}

/** Find the blocks of format 2, which have labels. */
static io_status find_labelled(io_file *file, gadget *g, const io_header *header, int64_t at)
{
    while (at < file->size) {
        char label[LABEL];
        IO_TRY(io__file_peek(file, label, LABEL, at));
        if (io__get32(label, g->swapped) != 8 || io__get32(label + 12, g->swapped) != 8) {
            return io__file_fail(file, IO_FORMAT,
                                 "byte %lld: expected the label of a block of a Gadget snapshot "
                                 "of format 2",
                                 (long long)at);
        }
        at += LABEL;
        IO_TRY(add_block(file, g, header, &at, label + MARKER));
    }
    return IO_OK;
}

/** Find the blocks of format 1: positions, velocities, ids, masses. Empty blocks are not
 *  written. */
static io_status find_ordered(io_file *file, gadget *g, const io_header *header, int64_t at)
{
    for (int k = 0; k < KNOWN && known[k].ordered; k++) {
        if (count_in(header, known[k].field) > 0 && at < file->size) {
            IO_TRY(add_block(file, g, header, &at, known[k].label));
        }
    }
    return IO_OK;
}

/** Parse the 256 bytes of a header. Numbers in the code are offsets of its fields [byte].
 *  @param[out] given  cosmology, not yet checked */
static void parse_header(const char *head, bool swapped, io_header *out, io_universe *given)
{
    for (int type = 0; type < TYPES; type++) {
        const size_t t = (size_t)type;
        out->n[type] = io__get32(head + 4 * t, swapped);
        out->mass[type] = io__get_double(head + 24 + 8 * t, swapped);
        /* The upper 32 bits are another field. INT32_MAX: the sum is not negative. */
        out->total[type] = io__get32(head + 96 + 4 * t, swapped) +
                           ((int64_t)(io__get32(head + 168 + 4 * t, swapped) & INT32_MAX) << 32);
    }
    out->dim = 3;
    out->has_time = true;
    out->time = io__get_double(head + 72, swapped);
    out->redshift = io__get_double(head + 80, swapped);
    out->files = io__get32(head + 124, swapped);
    out->files = out->files ? out->files : 1; /* initial conditions often have 0 */
    for (int axis = 0; axis < 3; axis++) {
        out->box[axis] = io__get_double(head + 128, swapped);
    }
    *given = (io_universe){.group = "the header",
                           .comoving = -1,
                           .omega_m = io__get_double(head + 136, swapped),
                           .omega_lambda = io__get_double(head + 144, swapped),
                           .h = io__get_double(head + 152, swapped)};
    out->units = io__units_usual();
}

/** Set the fields, units and precision of each type from the blocks. IO_TRUNCATED: no positions. */
static io_status set_fields(io_file *file, const gadget *g, io_header *out)
{
    const block *positions = NULL;
    unsigned fields = 0;
    for (int k = 0; k < g->n_blocks; k++) {
        fields |= g->blocks[k].field;
        if (g->blocks[k].field == IO_POSITIONS) {
            positions = &g->blocks[k];
        }
    }
    if (!positions && count_in(out, IO_POSITIONS) > 0) {
        return io__file_fail(file, IO_TRUNCATED,
                             "has %lld particles, but no block POS of their positions",
                             (long long)count_in(out, IO_POSITIONS));
    }
    for (int type = 0; type < TYPES; type++) {
        out->fields[type] = fields;
        if (out->mass[type] > 0) {
            out->fields[type] |= IO_MASSES;
        }
        if (type != 0) {
            out->fields[type] &= ~(unsigned)(IO_DENSITIES | IO_RADII);
        }
        out->length_h[type] = out->units.length_h;
        out->mass_h[type] = out->units.mass_h;
        out->precision[type] = positions && positions->type.size == 8 ? KITH_DOUBLE : KITH_FLOAT;
    }
    return IO_OK;
}

/** Read the header of a file, and find its blocks. */
static io_status open_blocks(io_file *file, gadget *g, io_header *out)
{
    char head[LABEL + MARKER + HEADER + MARKER] = {0};
    io_universe given;
    const int64_t room = file->size < (int64_t)sizeof head ? file->size : (int64_t)sizeof head;
    IO_TRY(io__file_peek(file, head, room, 0));
    if (!begins(head, room, g)) {
        return io__file_fail(file, IO_FORMAT, "is not a Gadget snapshot");
    }
    const int64_t at = g->format == 2 ? LABEL : 0;
    const int64_t end = at + MARKER + HEADER + MARKER;
    if (file->size < end) {
        return io__file_fail(file, IO_TRUNCATED,
                             "ends at byte %lld, inside the header of a Gadget snapshot",
                             (long long)file->size);
    }
    if (io__get32(head + at, g->swapped) != HEADER ||
        io__get32(head + end - MARKER, g->swapped) != HEADER) {
        return io__file_fail(
            file, IO_FORMAT, "has a Gadget header between markers of %u and %u bytes; expected %d",
            io__get32(head + at, g->swapped), io__get32(head + end - MARKER, g->swapped), HEADER);
    }
    parse_header(head + at + MARKER, g->swapped, out, &given);
    for (int type = 0; type < TYPES; type++) {
        if (!isfinite(out->mass[type])) { /* masses tell below how long the block MASS is */
            return io__header_check(file, out);
        }
    }
    IO_TRY(io__header_cosmology(file, &given, out));
    IO_TRY(g->format == 2 ? find_labelled(file, g, out, end) : find_ordered(file, g, out, end));
    return set_fields(file, g, out);
}

/** The `open` of io_snapshot_format. */
static io_status open_gadget(io_file *file, io_header *out, void **private)
{
    *private = malloc(sizeof(gadget));
    if (!*private) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for the list of blocks");
    }
    return open_blocks(file, *private, out);
}

/** Read the wanted particles of a block: type after type, as it is stored. */
static io_status read_block(io_file *file, const io_header *header, const block *b,
                            const io_wanted *wanted)
{
    const int width = io__field_width(b->field);
    const int64_t stride = (int64_t)width * b->type.size;
    int64_t at = b->offset;
    for (int type = 0; type < TYPES; type++) {
        const int64_t n = header->n[type];
        if ((b->field == IO_MASSES && header->mass[type] > 0) ||
            (is_of_gas(b->field) && type != 0)) {
            continue;
        }
        const io_records records = {at + wanted->skip[type] * stride, stride, wanted->n[type]};
        at += n * stride;
        if (wanted->n[type] == 0) {
            continue;
        }
        io_field field = io__particles_field(wanted->out, b->field, wanted->row[type], 0, b->type);
        if (b->field == IO_VELOCITIES && header->cosmology.known) {
            field.scale = sqrt(header->cosmology.a);
        }
        IO_TRY(io__records_read(file, &records, &field, 1));
    }
    return IO_OK;
}

static io_status read_gadget(io_file *file, const io_header *header, void *private,
                             const io_wanted *wanted)
{
    const gadget *g = private;
    for (int k = 0; k < g->n_blocks; k++) {
        if (g->blocks[k].field & wanted->fields) {
            IO_TRY(read_block(file, header, &g->blocks[k], wanted));
        }
    }
    return IO_OK;
}

static void describe(const io_header *header, void *private, io_summary *out)
{
    const gadget *g = private;
    const bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != g->swapped;
    snprintf(out->description, sizeof out->description, "Gadget snapshot, format %d, %s", g->format,
             little ? "little-endian" : "big-endian");
    for (int k = 0; k < g->n_blocks; k++) {
        const block *b = &g->blocks[k];
        const int at = out->n_fields++;
        io__copy_name(out->fields[at].name, IO_NAME_LENGTH, b->label, strcspn(b->label, " "));
        if (!b->field) {
            snprintf(out->fields[at].type, IO_NAME_LENGTH, "bytes");
            snprintf(out->fields[at].shape, IO_NAME_LENGTH, "(%lld,)", (long long)b->size);
            continue;
        }
        const long long n = count_in(header, b->field);
        snprintf(out->fields[at].type, IO_NAME_LENGTH, "%s%d",
                 b->type.kind == 'u' ? "uint" : "float", 8 * b->type.size);
        snprintf(out->fields[at].shape, IO_NAME_LENGTH,
                 io__field_width(b->field) == 3 ? "(%lld, 3)" : "(%lld,)", n);
    }
}

static const char *sources(unsigned field)
{
    return field == IO_MASSES       ? "a block MASS, or a mass in the header"
           : field == IO_VELOCITIES ? "a block VEL"
           : field == IO_IDS        ? "a block ID"
           : field == IO_POTENTIALS ? "a block POT of format 2"
           : field == IO_RADII      ? "a block of this name, of format 2, which gas alone has"
                                    : "a block RHO of format 2, which gas alone has";
}

static const io_snapshot_format gadget_format = {open_gadget, read_gadget, describe, free, sources};

int64_t io__gadget_files(io_file *file)
{
    io_header header = {.files = 1};
    void *private = NULL;
    const io_status status = open_gadget(file, &header, &private);
    free(private);
    return status == IO_OK && header.files > 1 ? header.files : 1;
}

io_status io__gadget_read(io_file *file, io_particles *out)
{
    return io__snapshot_read(file, &gadget_format, out);
}

io_status io__gadget_inspect(io_file *file, io_summary *out)
{
    return io__snapshot_inspect(file, &gadget_format, out);
}
