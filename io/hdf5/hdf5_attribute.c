/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening HDF5 files, closing their objects, and reading their attributes. Messages of the library
 * are turned off.
 */
#include "io_hdf5.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void io__hdf5_enter(const char *path)
{
    char library[40] = "";
    io_hdf5_version(library, sizeof library);
    io_foreign_file(library, path);
    /* A damaged file may leave the library with ids that it cannot close; at exit it would
       complain, or crash. All that kith writes is closed before. */
    H5dont_atexit();
    errno = 0; /* if a call fails for lack of memory, errno is ENOMEM */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

bool io_hdf5_version(char *out, int room)
{
    unsigned part[3] = {0};
    (void)H5get_libversion(&part[0], &part[1], &part[2]);
    snprintf(out, (size_t)room, "HDF5 %u.%u.%u", part[0], part[1], part[2]);
    return true;
}

bool io__close(hid_t id)
{
    if (id < 0) {
        return false;
    }
    switch (H5Iget_type(id)) {
    case H5I_FILE: return H5Fclose(id) >= 0;
    case H5I_DATASET: return H5Dclose(id) >= 0; /* frees the id even if closing fails */
    default: return H5Idec_ref(id) >= 0;
    }
}

/** Return true when sign, exponent and mantissa of a floating-point type lie within its bits. */
static bool is_float_sound(hid_t type, size_t bits)
{
    size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
           sign < bits && exponent <= bits && exponent_bits <= bits - exponent &&
           mantissa <= bits && mantissa_bits <= bits - mantissa;
}

char io__hdf5_number(hid_t type)
{
    const size_t most = 16; /* quadruple precision [byte]; a damaged file may have gigabytes */
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) {
        return 0;
    }
    const size_t size = H5Tget_size(type), bits = 8 * size, used = H5Tget_precision(type);
    const int offset = H5Tget_offset(type);
    if (size > most || used < 1 || used > bits || offset < 0 || (size_t)offset > bits - used) {
        return 0; /* the library would read out of bounds */
    }
    if (kind == H5T_FLOAT) {
        return is_float_sound(type, bits) ? 'f' : 0;
    }
    return H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i';
}

/** Return true when a path leads to an object that has no links: a dataset or a type. */
static bool is_leaf(hid_t where, const char *path)
{
    const hid_t object = H5Oopen(where, path, H5P_DEFAULT);
    const bool leaf = object >= 0 && H5Iget_type(object) != H5I_GROUP;
    io__close(object);
    return leaf;
}

/** Find out whether every link of a path exists.
 *  @param[out] damaged  NULL, or the path of the object whose links cannot be read ["/"]
 *  @return > 0: all exist, 0: one does not exist, < 0: the links of an object cannot be read */
static htri_t exists(hid_t where, const char *path, char damaged[2 * IO_HDF5_NAME])
{
    char part[2 * IO_HDF5_NAME] = "/";
    size_t length = 0; /* length of the path up to the link that is tested */
    do {
        const size_t last = length;
        length += path[length] == '/';
        length += strcspn(path + length, "/");
        char now[sizeof part];
        snprintf(now, sizeof now, "%.*s", (int)length, path);
        const htri_t found = H5Lexists(where, now, H5P_DEFAULT);
        /* H5Lexists fails, too, where the object before is no group. */
        if (found < 0 && last > 0 && is_leaf(where, part)) {
            return 0;
        }
        if (found < 0 && damaged) {
            snprintf(damaged, sizeof part, "%s", part);
        }
        if (found <= 0) {
            return found;
        }
        snprintf(part, sizeof part, "%s", now);
    } while (path[length]);
    return 1;
}

io_status io__hdf5_find(io_file *file, hid_t where, const char *path, bool *found)
{
    char damaged[2 * IO_HDF5_NAME];
    const htri_t result = exists(where, path, damaged);
    *found = result > 0;
    if (result >= 0) {
        return IO_OK;
    }
    if (errno == ENOMEM) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory to look for %s", path);
    }
    return io__file_fail(file, IO_FORMAT,
                         "%s cannot be opened: damaged, or a link that leads nowhere", damaged);
}

hid_t io__attribute_open(hid_t where, const char *object, const char *name, bool *absent)
{
    htri_t found = strcmp(object, ".") == 0 ? 1 : exists(where, object, NULL);
    if (found > 0) {
        found = H5Aexists_by_name(where, object, name, H5P_DEFAULT);
    }
    *absent = found == 0;
    return found > 0 ? H5Aopen_by_name(where, object, name, H5P_DEFAULT, H5P_DEFAULT) : -1;
}

io_status io__attribute_read(io_file *file, hid_t id, const char *object, const char *name,
                             double *out, int most, int *n)
{
    bool absent;
    const hid_t attribute = io__attribute_open(id, object, name, &absent);
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    const bool read = count > 0 && count <= most && io__hdf5_number(type) &&
                      H5Aread(attribute, H5T_NATIVE_DOUBLE, out) >= 0;
    *n = read ? (int)count : 0;
    io__close(space);
    io__close(type);
    io__close(attribute);
    if (absent || read || count == 0) {
        return IO_OK;
    }
    if (errno == ENOMEM) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for attribute '%s' of %s", name,
                             object);
    }
    return io__file_fail(file, IO_FORMAT, "attribute '%s' of %s cannot be read as %s%d number%s",
                         name, object, most > 1 ? "at most " : "", most, most > 1 ? "s" : "");
}

io_status io__hdf5_open(io_file *file, hid_t *out)
{
    *out = io__source_open(file->path);
    if (*out < 0 && errno == ENOMEM) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory to read with");
    }
    if (*out < 0) {
        return io__file_fail(file, IO_TRUNCATED,
                             "begins as an HDF5 file, but cannot be opened: "
                             "cut short or damaged");
    }
    return IO_OK;
}

io_status io__hdf5_box(io_file *file, hid_t id, double out[3])
{
    static const char *const groups[2] = {"Header", "Parameters"};
    int n = 0;
    for (int k = 0; k < 2 && n == 0; k++) {
        IO_TRY(io__attribute_read(file, id, groups[k], "BoxSize", out, 3, &n));
        if (n == 2) {
            return io__file_fail(file, IO_FORMAT,
                                 "attribute 'BoxSize' of %s has 2 lengths; expected 1 or 3",
                                 groups[k]);
        }
    }
    for (int axis = n; axis < 3; axis++) {
        out[axis] = n == 1 ? out[0] : 0;
    }
    return IO_OK;
}
