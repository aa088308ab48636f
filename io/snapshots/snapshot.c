/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Snapshots, of one file or many. A first pass over all headers counts the particles of each type,
 * finds the fields that all of them have, and checks that the files belong together. A second pass
 * reads each file into its rows of the arrays, which are in order of type, then of file.
 */
#include "core/io_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/** A snapshot that is being read. */
typedef struct snapshot {
    const io_snapshot_format *format; /* reader of the format */
    io_file *file;                    /* the file that the caller opened */
    io_header header;                 /* header of that file */
    io_set set;                       /* paths of all files, if there are several */
    io_species species;               /* species that the options name */
    int64_t n[IO_MOST_TYPES];         /* particles of each type in all files; in the second pass,
                                         those not yet read of wanted types */
    int64_t row[IO_MOST_TYPES];       /* second pass: index of the next particle of each type among
                                         those of all parts */
    int dim;                          /* coordinates of a position; 0: no particles so far */
    kith_precision precision;         /* precision of the wanted positions */
    int64_t bytes;                    /* size of all files, counted in the first pass [byte] */
    int64_t done;                     /* size of the files before the current one [byte] */
    io_wanted wanted;                 /* types and fields that are wanted, and their arrays */
    unsigned some;                    /* wanted fields that at least one wanted type has */
    io_summary *summary;              /* summary to be filled; NULL: particles are read */
} snapshot;

/** A function that is called on each file of a snapshot.
 *  @param private  state of the reader for this file */
typedef io_status (*io_visit)(snapshot *s, io_file *file, const io_header *header, void *private);

/** Open a file of the snapshot, check that it belongs to it, and call `visit`. */
static io_status visit_file(snapshot *s, io_file *file, io_visit visit)
{
    io_header header = {0};
    void *private = NULL;
    io_status status = s->format->open(file, &header, &private);
    if (status == IO_OK) {
        status = io__header_check(file, &header);
    }
    if (status == IO_OK && file != s->file) {
        status = io__header_same(file, &header, &s->header, s->file->path);
    }
    if (status == IO_OK) {
        status = visit(s, file, &header, private);
    }
    s->format->close(private);
    return status;
}

/** Open the file of this number, call `visit` on it, and close it. */
static io_status visit_member(snapshot *s, int64_t number, io_visit visit)
{
    io_file file;
    io_error *error = s->file->error;
    io_status status = io__file_open(&file, io__set_member(&s->set, number), s->file->options,
                                     error);
    if (status == IO_OK) {
        file.before = s->done;
        file.total = s->bytes;
        file.watched = s->file->watched;
        status = visit_file(s, &file, visit);
        s->file->watched = file.watched;
        s->done += file.size;
    } else {
        const io_error cause = *error;
        io__file_fail(s->file, status, "is one of the %lld files of a snapshot, but %s",
                      (long long)s->header.files, cause.text);
    }
    io__file_close(&file);
    return status;
}

/** Call `visit` on every file of the snapshot, in order. */
static io_status visit_all(snapshot *s, io_visit visit)
{
    s->done = 0;
    if (s->header.files == 1) {
        return visit_file(s, s->file, visit);
    }
    for (int64_t number = 0; number < s->header.files; number++) {
        IO_TRY(visit_member(s, number, visit));
    }
    return IO_OK;
}

/** Return IO_MISSING if the particles of a type in this file lack a field in `needed`. */
static io_status check_needed(const snapshot *s, io_file *file, const io_header *header, int type,
                              unsigned needed)
{
    const unsigned missing = needed & ~header->fields[type] & ~(unsigned)IO_TYPES;
    char name[IO_NAME_LENGTH] = ""; /* of the radii */
    for (unsigned field = 1; field < IO_FIELDS_END; field <<= 1) {
        if (missing & field & IO_RADII) {
            (void)snprintf(name, sizeof name, " '%.50s'", file->options->radii);
        }
        if (missing & field) {
            return io__file_fail(
                file, IO_MISSING,
                "has no %s%s of its %lld particles of PartType%d (%s)%s; expected "
                "%s. Write them too, or choose other species (--species)",
                io__field_name(field), name, (long long)header->n[type], type, io_type_name(type),
                s->some & field ? ", but of other particles" : "", s->format->sources(field));
        }
    }
    return IO_OK;
}

/** Return IO_MISSING if this file lacks masses, velocities or ids of a type that other types or
 *  files have. Without this check, the field would silently be dropped for all particles. */
static io_status check_partial(snapshot *s, io_file *file, const io_header *header, void *private)
{
    (void)private;
    const unsigned required = s->some & (IO_MASSES | IO_VELOCITIES | IO_IDS);
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (s->wanted.type[type] && header->n[type] > 0) {
            IO_TRY(check_needed(s, file, header, type, required));
        }
    }
    return IO_OK;
}

/** Return IO_FORMAT if lengths, or masses if they are wanted, have different powers of h in two
 *  types. The first type with particles sets the units of the snapshot. */
static io_status check_units(snapshot *s, io_file *file, const io_header *header, int type)
{
    io_units *units = &s->header.units;
    const bool first = s->dim == 0; /* survey_file has set no dim: no type with particles before */
    if (first) {
        units->length_h = header->length_h[type];
        units->mass_h = header->mass_h[type];
    }
    const bool masses_agree = header->mass_h[type] == units->mass_h ||
                              !(s->wanted.fields & IO_MASSES);
    if (header->length_h[type] == units->length_h && masses_agree) {
        return IO_OK;
    }
    return io__file_fail(file, IO_FORMAT,
                         "mixed units: PartType%d has lengths with h^%g and masses with h^%g, but "
                         "types before have h^%g and h^%g; expected one unit. Choose species that "
                         "agree",
                         type, header->length_h[type], header->mass_h[type], units->length_h,
                         units->mass_h);
}

/** The first pass on one file: count its particles, and reduce wanted.fields to those that it
 *  has. */
static io_status survey_file(snapshot *s, io_file *file, const io_header *header, void *private)
{
    (void)private;
    s->bytes += file->size;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        s->n[type] += header->n[type];
        if (!s->wanted.type[type] || header->n[type] == 0) {
            continue;
        }
        IO_TRY(check_needed(s, file, header, type, io__fields_needed(file)));
        IO_TRY(check_units(s, file, header, type));
        s->some |= header->fields[type] & io__fields_wanted(s->file);
        s->wanted.fields &= header->fields[type] | IO_TYPES | IO_POSITIONS;
        if (header->precision[type] == KITH_DOUBLE) {
            s->precision = KITH_DOUBLE;
        }
        if (s->dim != 0 && s->dim != header->dim) {
            return io__file_fail(file, IO_FORMAT, "has %d coordinates, but %s %d", header->dim,
                                 s->file->path, s->dim);
        }
        s->dim = header->dim;
    }
    return IO_OK;
}

/** Return IO_FORMAT if the files hold other numbers of particles than the header counts in all. The
 *  upper 32 bits of a count are in a field of their own in Gadget, but in the count of the next
 *  type in LGADGET, which has one type only. */
static io_status check_totals(const snapshot *s)
{
    const int64_t *total = s->header.total;
    bool has_totals = s->header.files > 1; /* headers of initial conditions often count nothing */
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        has_totals = has_totals || total[type] > 0;
    }
    if (!has_totals) {
        return IO_OK;
    }
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        const int64_t high = type + 1 < IO_MOST_TYPES && s->n[type + 1] == 0 ? total[type + 1] : 0;
        const bool is_long = high > 0 && total[type] == (s->n[type] & UINT32_MAX) &&
                             high == s->n[type] >> 32;
        if (!is_long && total[type] >= 0 && total[type] != s->n[type]) {
            return io__file_fail(s->file, IO_FORMAT,
                                 "counts %lld particles of PartType%d in all, but the %lld files "
                                 "of the snapshot hold %lld",
                                 (long long)total[type], type, (long long)s->header.files,
                                 (long long)s->n[type]);
        }
        type += is_long;
    }
    return IO_OK;
}

/** Store the header of the file that the caller opened. */
static io_status keep_header(snapshot *s, io_file *file, const io_header *header, void *private)
{
    (void)file, (void)private;
    s->header = *header;
    return IO_OK;
}

/** The first pass: read all headers. */
static io_status survey(snapshot *s)
{
    bool numbered = false;
    IO_TRY(visit_file(s, s->file, keep_header));
    if (s->header.files > 1) {
        IO_TRY(io__set_split(s->file, &s->set, &numbered));
        if (!numbered) {
            return io__file_fail(s->file, IO_INVALID,
                                 "is one of the %lld files of a snapshot, but has no number; "
                                 "expected a name like snap.0.hdf5 or snap.0",
                                 (long long)s->header.files);
        }
    }
    IO_TRY(io__species_parse(s->file, &s->species));
    s->wanted.fields = io__fields_wanted(s->file) | IO_POSITIONS;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        s->wanted.type[type] = io__species_wants(&s->species, type, 0); /* counted below */
    }
    IO_TRY(visit_all(s, survey_file));
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        io__species_wants(&s->species, type, s->n[type]);
    }
    if (s->some & ~s->wanted.fields) { /* some types have a field that others lack */
        IO_TRY(visit_all(s, check_partial));
    }
    return check_totals(s);
}

/** The second pass on one file: read its wanted particles that are in the part, and move the rows
 *  behind them. */
static io_status read_file(snapshot *s, io_file *file, const io_header *header, void *private)
{
    io_particles *out = s->wanted.out;
    io_wanted *wanted = &s->wanted;
    bool any = out->n == out->all; /* a file without particles is read, too: its reader checks it */
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (s->wanted.type[type] && header->n[type] > s->n[type]) {
            return io__file_fail(file, IO_FORMAT, "has changed while it was read");
        }
        wanted->n[type] = wanted->type[type] ? header->n[type] : 0;
        wanted->row[type] = io__particles_cut(out, s->row[type], &wanted->n[type],
                                              &wanted->skip[type]);
        any = any || wanted->n[type] > 0;
    }
    IO_TRY(any ? s->format->read(file, header, private, wanted) : IO_OK);
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        const int64_t all = wanted->type[type] ? header->n[type] : 0;
        const int64_t n = wanted->n[type], row = wanted->row[type];
        for (int64_t k = row; k < row + n && header->mass[type] > 0 && out->mass; k++) {
            io_put_real(out->mass, k, out->precision, header->mass[type]);
        }
        if (out->type && n > 0) {
            memset(out->type + row, type, (size_t)n);
        }
        s->row[type] += all;
        s->n[type] -= all;
    }
    return IO_OK;
}

/** The second pass: allocate the arrays, and read all files into them. */
static io_status read_all(snapshot *s, io_particles *out)
{
    const io_header *header = &s->header;
    int64_t n = 0;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        s->row[type] = n;
        n += s->wanted.type[type] ? s->n[type] : 0;
    }
    memcpy(out->in_file, s->n, sizeof out->in_file);
    out->partial = s->some & ~s->wanted.fields;
    IO_TRY(io__particles_alloc(s->file, out, n, s->dim ? s->dim : 3, s->precision));
    IO_TRY(io__particles_add(s->file, out, s->wanted.fields & ~(unsigned)IO_POSITIONS));
    out->box = io__header_box(header, &out->has_box);
    out->box.dim = out->dim;
    out->bytes = s->bytes;
    out->has_time = header->has_time;
    out->time = header->time;
    out->cosmology = header->cosmology;
    out->units = header->units;
    memcpy(out->mass_of_type, header->mass, sizeof out->mass_of_type);
    s->wanted.out = out;
    IO_TRY(visit_all(s, read_file));
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (s->wanted.type[type] && s->n[type] != 0) {
            return io__file_fail(s->file, IO_FORMAT, "has changed while it was read");
        }
    }
    assert(s->row[IO_MOST_TYPES - 1] == out->all); /* all rows are filled */
    if (header->files > 1) { /* the file now stands for the last one, for its progress */
        s->file->before = s->bytes - s->file->size;
        s->file->total = s->bytes;
    }
    return IO_OK;
}

io_status io__snapshot_read(io_file *file, const io_snapshot_format *format, io_particles *out)
{
    snapshot s = {.format = format, .file = file, .precision = KITH_FLOAT};
    io_status status = survey(&s);
    if (status == IO_OK) {
        status = io__species_check(file, &s.species);
    }
    if (status == IO_OK) {
        status = read_all(&s, out);
    }
    io__set_free(&s.set);
    return status;
}

static io_status describe(snapshot *s, io_file *file, const io_header *header, void *private)
{
    (void)file;
    s->format->describe(header, private, s->summary);
    return IO_OK;
}

io_status io__snapshot_inspect(io_file *file, const io_snapshot_format *format, io_summary *out)
{
    snapshot s = {.format = format, .file = file, .precision = KITH_FLOAT, .summary = out};
    io_status status = survey(&s);
    if (status == IO_OK) {
        status = visit_file(&s, file, describe);
    }
    io__set_free(&s.set);
    out->files = (int)s.header.files;
    out->bytes = s.bytes;
    out->precision = s.precision;
    out->box = io__header_box(&s.header, &out->has_box);
    out->box.dim = s.dim ? s.dim : 3;
    out->has_time = s.header.has_time;
    out->time = s.header.time;
    out->cosmology = s.header.cosmology;
    out->units = s.header.units;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (s.n[type] == 0) {
            continue;
        }
        out->n += s.n[type];
        out->species[out->n_species].n = s.n[type];
        out->species[out->n_species].mass = s.header.mass[type];
        snprintf(out->species[out->n_species++].name, IO_NAME_LENGTH, "PartType%d", type);
    }
    return status;
}
