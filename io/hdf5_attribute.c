/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5 files opened, and their attributes. The library is kept quiet.
 */
#include "io_hdf5.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void io__hdf5_enter(void)
{
    /* A damaged file may leave the library with ids that it cannot close; at exit it would
       complain, or crash. All that kith writes is closed before. */
    H5dont_atexit();
    errno = 0; /* ENOMEM then says why a step failed */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

bool io__close(hid_t id)
{
    if (id < 0)
        return false;
    switch (H5Iget_type(id)) {
    case H5I_FILE: return H5Fclose(id) >= 0;
    case H5I_DATASET: return H5Dclose(id) >= 0; /* lets go of it even where closing it fails */
    default: return H5Idec_ref(id) >= 0;
    }
}

/** True when the bits of a float are all in it. */
static bool is_float_sound(hid_t type, size_t bits)
{
    size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
           sign < bits && exponent <= bits && exponent_bits <= bits - exponent &&
           mantissa <= bits && mantissa_bits <= bits - mantissa;
}

char io__hdf5_number(hid_t type)
{
    const size_t most = 16; /* a quadruple; a damaged file may say gigabytes */
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    if (kind != H5T_FLOAT && kind != H5T_INTEGER)
        return 0;
    const size_t size = H5Tget_size(type), bits = 8 * size, used = H5Tget_precision(type);
    const int offset = H5Tget_offset(type);
    if (size > most || used < 1 || used > bits || offset < 0 || (size_t)offset > bits - used)
        return 0; /* the library would read beside it */
    if (kind == H5T_FLOAT)
        return is_float_sound(type, bits) ? 'f' : 0;
    return H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i';
}

int io__attribute_read(hid_t file, const char *object, const char *name, double *out, int most)
{
    int n = 0;
    if (H5Lexists(file, object, H5P_DEFAULT) <= 0 ||
        H5Aexists_by_name(file, object, name, H5P_DEFAULT) <= 0)
        return 0;
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    if (count > 0 && count <= most && io__hdf5_number(type) &&
        H5Aread(attribute, H5T_NATIVE_DOUBLE, out) >= 0)
        n = (int)count;
    io__close(space);
    io__close(type);
    io__close(attribute);
    return n;
}

bool io__hdf5_exists(hid_t file, const char *path)
{
    char part[IO_HDF5_NAME];
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        if (H5Lexists(file, part, H5P_DEFAULT) <= 0)
            return false;
    }
    return H5Lexists(file, path, H5P_DEFAULT) > 0;
}

io_status io__hdf5_open(io_file *file, hid_t *out)
{
    *out = io__source_open(file->path);
    if (*out < 0 && errno == ENOMEM)
        return io__file_fail(file, IO_NO_MEMORY, "no memory to read with");
    if (*out < 0)
        return io__file_fail(file, IO_TRUNCATED,
                             "begins as an HDF5 file, but cannot be opened: "
                             "cut short or damaged");
    return IO_OK;
}

void io__hdf5_box(hid_t file, double out[3])
{
    int n = io__attribute_read(file, "Header", "BoxSize", out, 3);
    if (n == 0)
        n = io__attribute_read(file, "Parameters", "BoxSize", out, 3);
    if (n == 1)
        out[1] = out[2] = out[0];
    for (int axis = 0; axis < 3 && n != 1 && n != 3; axis++)
        out[axis] = 0;
}
