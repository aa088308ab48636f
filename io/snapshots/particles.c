/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arrays of particles: a table describes the array of each field; functions allocate, find and
 * check them.
 */
#include "core/io_internal.h"
#include "pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20 }; /* alignment of small and of large arrays [byte] */

kith_box io__box_open(void)
{
    return (kith_box){.dim = 3};
}

kith_box io__box_periodic(const double length[3])
{
    kith_box box = {.periodic = {1, 1, 1}, .dim = 3};
    for (int axis = 0; axis < 3; axis++) {
        box.row[axis][axis] = length[axis];
    }
    return box;
}

/** The array of a field. */
typedef struct array_kind {
    unsigned field;   /* the field: IO_MASSES, ... */
    const char *name; /* name of the field in messages */
    size_t offset;    /* offset of the pointer to the array in io_particles [byte] */
    int width;        /* numbers of each particle */
    int size;         /* size of a number [byte]; 0: that of io_particles.precision */
} array_kind;

#define ARRAY(member) offsetof(io_particles, member)
static const array_kind arrays[] = {
    {IO_POSITIONS, "positions", ARRAY(pos), 3, 0},
    {IO_MASSES, "masses", ARRAY(mass), 1, 0},
    {IO_VELOCITIES, "velocities", ARRAY(velocity), 3, 0},
    {IO_IDS, "ids", ARRAY(id), 1, sizeof(int64_t)},
    {IO_TYPES, "types", ARRAY(type), 1, sizeof(uint8_t)},
    {IO_POTENTIALS, "potentials", ARRAY(potential), 1, 0},
    {IO_DENSITIES, "densities", ARRAY(density), 1, 0},
    {IO_RADII, "radii", ARRAY(radius), 1, 0},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

/** Return the description of the array of a field. */
static const array_kind *find_array(unsigned field)
{
    const array_kind *kind = arrays;
    while (kind->field != field) {
        kind++;
        assert(kind < arrays + ARRAYS); /* the field is one bit that has an array */
    }
    return kind;
}

/** Return the array of a field; NULL: not allocated. The pointer is copied as bytes, because
 *  members have different types. */
static void *get_array(const io_particles *particles, const array_kind *kind)
{
    void *array;
    memcpy(&array, (const char *)particles + kind->offset, sizeof array);
    return array;
}

static void set_array(io_particles *particles, const array_kind *kind, void *array)
{
    memcpy((char *)particles + kind->offset, &array, sizeof array);
}

/** Size of the numbers of one particle in an array [byte]. */
static size_t row_bytes(const io_particles *particles, const array_kind *kind)
{
    return (size_t)kind->width * (size_t)(kind->size ? kind->size : (int)particles->precision);
}

/** Allocate an array of n rows, which may be 0. Large arrays get huge pages. NULL: no memory. */
static void *alloc_array(const io_particles *particles, const array_kind *kind, int64_t n)
{
    const size_t bytes = (size_t)n * row_bytes(particles, kind);
    const size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
    const size_t rounded = (bytes / align + 1) * align;
    void *array = aligned_alloc(align, rounded);
#ifdef MADV_HUGEPAGE
    if (array && align == HUGE_PAGE) {
        (void)madvise(array, rounded, MADV_HUGEPAGE); /* few pages are quick to release on exit */
    }
#endif
    return array;
}

const char *io__field_name(unsigned field)
{
    return find_array(field)->name;
}

int io__field_width(unsigned field)
{
    return find_array(field)->width;
}

unsigned io__fields_needed(const io_file *file)
{
    return file->options->needed | (file->options->radii ? (unsigned)IO_RADII : 0);
}

unsigned io__fields_wanted(const io_file *file)
{
    return file->options->fields | io__fields_needed(file);
}

void *io__particles_row(io_particles *particles, unsigned field, int64_t row)
{
    const array_kind *kind = find_array(field);
    assert(get_array(particles, kind) && row >= 0 && row <= particles->n);
    return (char *)get_array(particles, kind) + (size_t)row * row_bytes(particles, kind);
}

int64_t io__particles_cut(const io_particles *particles, int64_t row, int64_t *n, int64_t *skip)
{
    const int64_t begin = row > particles->first ? row : particles->first;
    const int64_t stop = particles->first + particles->n;
    const int64_t end = row + *n < stop ? row + *n : stop;
    *skip = begin < end ? begin - row : 0;
    *n = begin < end ? end - begin : 0;
    return begin < end ? begin - particles->first : 0;
}

io_field io__particles_field(io_particles *particles, unsigned field, int64_t row, int at,
                             io_scalar type)
{
    const int width = io__field_width(field);
    return (io_field){.at = at,
                      .columns = field == IO_POSITIONS ? particles->dim : width,
                      .type = type,
                      .out = io__particles_row(particles, field, row),
                      .width = width,
                      .precision = field == IO_IDS ? 0 : particles->precision,
                      .scale = 1};
}

io_status io__particles_add(io_file *file, io_particles *out, unsigned fields)
{
    for (int k = 0; k < ARRAYS; k++) {
        if (!(arrays[k].field & fields)) {
            continue;
        }
        assert(!get_array(out, &arrays[k]));
        void *array = alloc_array(out, &arrays[k], out->n);
        if (!array) {
            return io__file_fail(file, IO_NO_MEMORY, "no memory for the %s of %lld particles",
                                 arrays[k].name, (long long)out->n);
        }
        set_array(out, &arrays[k], array);
    }
    return IO_OK;
}

io_status io__particles_check(io_file *file, io_particles *particles, const char *format)
{
    for (int k = 0; k < ARRAYS; k++) {
        if ((arrays[k].field & io__fields_needed(file)) && !get_array(particles, &arrays[k])) {
            return io__file_fail(file, IO_MISSING,
                                 "is a %s file without %s of every particle that was to be read; "
                                 "expected a snapshot that has them, or a choice of species",
                                 format, arrays[k].name);
        }
    }
    return IO_OK;
}

void io_particles_free(io_particles *particles)
{
    if (!particles) {
        return;
    }
    for (int k = 0; k < ARRAYS; k++) {
        free(get_array(particles, &arrays[k]));
    }
    *particles = (io_particles){0};
}

static io_status check_count(io_file *file, int64_t n)
{
    if (n > INT32_MAX) {
        return io__file_fail(file, IO_LIMIT, "holds %lld particles; at most %d can be read",
                             (long long)n, INT32_MAX);
    }
    return IO_OK;
}

io_status io__particles_alloc(io_file *file, io_particles *out, int64_t n, int dim,
                              kith_precision native)
{
    assert(n >= 0 && (dim == 2 || dim == 3));
    assert(native == KITH_FLOAT || native == KITH_DOUBLE);
    IO_TRY(check_count(file, n));
    const int64_t part = file->options->part, parts = file->options->parts;
    out->precision = file->options->precision ? file->options->precision : native;
    out->all = n;
    out->first = parts > 0 ? kith__piece_begin(n, parts, part) : 0;
    out->n = parts > 0 ? kith__piece_begin(n, parts, part + 1) - out->first : n;
    out->dim = dim;
    out->box = io__box_open();
    out->box.dim = dim;
    IO_TRY(io__particles_add(file, out, IO_POSITIONS));
    if (dim == 2) {
        memset(out->pos, 0, (size_t)out->n * 3 * out->precision);
    }
    return IO_OK;
}

/** Double the capacity of the arrays that are allocated. */
static io_status grow(io_file *file, io_particles *out, int64_t *capacity)
{
    const int64_t first = 1 << 12;
    const int64_t more = *capacity ? 2 * *capacity : first;
    IO_TRY(check_count(file, out->n + 1));
    for (int k = 0; k < ARRAYS; k++) {
        void *old = get_array(out, &arrays[k]);
        void *grown = old ? alloc_array(out, &arrays[k], more) : NULL;
        if (old && !grown) {
            return io__file_fail(file, IO_NO_MEMORY, "no memory for %lld particles",
                                 (long long)more);
        }
        if (old) {
            memcpy(grown, old, (size_t)out->n * row_bytes(out, &arrays[k]));
            free(old);
            set_array(out, &arrays[k], grown);
        }
    }
    *capacity = more;
    return IO_OK;
}

io_status io__particles_push(io_file *file, io_particles *out, int64_t *capacity,
                             const double xyz[3])
{
    if (out->n == *capacity) {
        IO_TRY(grow(file, out, capacity));
    }
    for (int axis = 0; axis < 3; axis++) {
        io_put_real(out->pos, 3 * out->n + axis, out->precision, xyz[axis]);
    }
    out->n++;
    return IO_OK;
}
