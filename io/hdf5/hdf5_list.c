/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of an HDF5 file's datasets.
 */
#include "io_hdf5.h"

#include <stdio.h>
#include <string.h>

static void describe_type(hid_t dataset, char *out)
{
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    const unsigned bits = type >= 0 ? (unsigned)(8 * H5Tget_size(type)) : 0;
    const bool is_unsigned = kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE;
    if (kind == H5T_FLOAT) {
        snprintf(out, IO_NAME_LENGTH, "float%u", bits);
    } else if (kind == H5T_INTEGER) {
        snprintf(out, IO_NAME_LENGTH, "%sint%u", is_unsigned ? "u" : "", bits);
    } else {
        snprintf(out, IO_NAME_LENGTH, kind == H5T_STRING ? "string" : "other");
    }
    io__close(type);
}

static void describe_shape(hid_t dataset, char *out)
{
    hsize_t shape[H5S_MAX_RANK] = {0};
    const hid_t space = H5Dget_space(dataset);
    const int rank = space >= 0 ? H5Sget_simple_extent_dims(space, shape, NULL) : 0;
    size_t used = (size_t)snprintf(out, IO_NAME_LENGTH, "(");
    for (int k = 0; k < rank && used < IO_NAME_LENGTH; k++) {
        used += (size_t)snprintf(out + used, IO_NAME_LENGTH - used, "%s%llu", k ? ", " : "",
                                 (unsigned long long)shape[k]);
    }
    if (used < IO_NAME_LENGTH) {
        snprintf(out + used, IO_NAME_LENGTH - used, rank == 1 ? ",)" : ")");
    }
    io__close(space);
}

/** State of listing a file. */
typedef struct visit {
    io_summary *out; /* summary to which datasets are added */
    int objects;     /* objects visited so far; the number is limited, as links may form cycles */
} visit;

/** List the datasets of a group and of the groups in it. */
static void list_group(visit *seen, hid_t group, const char *path, int depth)
{
    enum { MOST_OBJECTS = 10000, MOST_DEPTH = 8 };
    H5G_info_t facts = {0};
    if (depth == MOST_DEPTH || H5Gget_info(group, &facts) < 0) {
        return;
    }
    for (hsize_t k = 0; k < facts.nlinks && seen->objects < MOST_OBJECTS; k++) {
        char name[128] = "", full[IO_HDF5_NAME];
        seen->objects++;
        if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name,
                               H5P_DEFAULT) < 0) {
            continue;
        }
        const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
        if (object < 0) {
            continue;
        }
        snprintf(full, sizeof full, "%.100s/%.120s", path, name);
        io_summary *out = seen->out;
        if (H5Iget_type(object) == H5I_GROUP) {
            list_group(seen, object, full, depth + 1);
        } else if (H5Iget_type(object) == H5I_DATASET && out->n_fields < IO_MAX_SPECIES) {
            const int field = out->n_fields++;
            io__copy_name(out->fields[field].name, IO_NAME_LENGTH, full, strlen(full));
            describe_type(object, out->fields[field].type);
            describe_shape(object, out->fields[field].shape);
        }
        H5Oclose(object);
    }
}

void io__hdf5_list(hid_t file, io_summary *out)
{
    visit seen = {out, 0};
    list_group(&seen, file, "", 0);
}
