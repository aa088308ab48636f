/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding the format of a file by its content: by signatures at fixed offsets; tipsy, which has
 * none, by its size; the text formats by their first lines. Formats that are known but not read
 * (zstd, zip, UTF-16) are refused with advice.
 */
#include "trajectories/frames.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** A signature of a format that is not read. */
typedef struct signature {
    const char *bytes;   /* first bytes of the file */
    size_t length;       /* number of bytes */
    const char *meaning; /* end of the message: "is ...: do ..." */
} signature;

/* Formats that are known, but not read. */
static const signature unread[] = {
    {"\x28\xb5\x2f\xfd", 4, "is compressed by zstd: unpack it with unzstd first"},
    {"PK\3\4", 4, "is a zip or .npz archive: unpack it, then give one .npy file"},
    {"\xff\xfe", 2, "is UTF-16 text: save it as UTF-8 first"},
    {"\xfe\xff", 2, "is UTF-16 text: save it as UTF-8 first"},
};

/** Return true when a file begins with some bytes.
 *  @param head  [size] its first bytes
 *  @param with  [length] the bytes */
static bool begins(const char *head, int64_t size, const char *with, size_t length)
{
    return (size_t)size >= length && memcmp(head, with, length) == 0;
}

/** Return true when a file begins as a dump of LAMMPS. @param head  NUL-terminated */
static bool is_lammps(const char *head)
{
    static const char *const items[] = {"ITEM: TIMESTEP", "ITEM: UNITS", "ITEM: TIME"};
    for (size_t k = 0; k < sizeof items / sizeof *items; k++) {
        if (strncmp(head, items[k], strlen(items[k])) == 0) {
            return true;
        }
    }
    return false;
}

/** Set *out, which is IO_UNKNOWN, to IO_HDF5 if the signature of HDF5 is at offset 0, 512, 1024,
 *  2048, ...: behind a user block. */
static io_status detect_hdf5(io_file *file, io_format *out)
{
    static const char mark[8] = "\x89HDF\r\n\x1a\n";
    char head[8];
    for (int64_t at = 0; at + 8 <= file->size && *out == IO_UNKNOWN; at = at ? 2 * at : 512) {
        IO_TRY(io__file_read(file, head, 8, at));
        if (memcmp(head, mark, 8) == 0) {
            *out = IO_HDF5;
        }
    }
    return IO_OK;
}

/** Return true when a file's first bytes have a control character that is no white space. */
static bool is_binary(const char *head, int64_t size)
{
    for (int64_t k = 0; k < size; k++) {
        if ((unsigned char)head[k] < 0x20 && !isspace((unsigned char)head[k])) {
            return true;
        }
    }
    return false;
}

/** Return true when a line is one number of digits alone, with or without blanks around it. */
static bool is_count(const char *line)
{
    char *end = NULL;
    if (!isdigit((unsigned char)line[strspn(line, " \t")])) {
        return false;
    }
    strtoull(line, &end, 10);
    return end[strspn(end, " \t\r")] == 0;
}

/** Return true when a line begins with a word, of any form, and three numbers: "element x y z". */
static bool is_atom(const char *line)
{
    io_token token;
    if (!io__token_next(&line, &token)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        char *end = NULL;
        if (!io__token_next(&line, &token)) {
            return false;
        }
        strtod(token.text, &end);
        if (end == token.text) {
            return false;
        }
    }
    return true;
}

/** Return true when a file begins as XYZ: a line with a count, a comment, then atoms. With Lattice
 *  or Properties in the comment no atom is needed; with a count of 0 the file may end there. A file
 *  that goes on behind it could be a column of numbers, and is not taken for XYZ.
 *  @param head  NUL-terminated; the ends of its first lines become 0 */
static bool is_xyz(char *head)
{
    char *line[3] = {head, NULL, NULL};
    for (int k = 1; k < 3; k++) {
        char *end = line[k - 1] ? strchr(line[k - 1], '\n') : NULL;
        line[k] = end ? end + 1 : NULL;
        if (end) {
            *end = 0;
        }
    }
    if (!line[1] || !is_count(line[0])) {
        return false;
    }
    if (strstr(line[1], "Lattice=") || strstr(line[1], "Properties=")) {
        return true;
    }
    if (!line[2] || !line[2][strspn(line[2], " \t\r")]) {
        return strtoull(line[0], NULL, 10) == 0;
    }
    line[2][strcspn(line[2], "\n")] = 0;
    return is_atom(line[2]);
}

io_status io__detect(io_file *file, io_format *out)
{
    char head[IO_HEAD + 1];
    const int64_t size = file->size < IO_HEAD ? file->size : IO_HEAD;
    *out = IO_UNKNOWN;
    if (size == 0) {
        return io__file_fail(file, IO_FORMAT, "is empty; expected particles");
    }
    IO_TRY(io__file_read(file, head, size, 0));
    head[size] = 0;
    bool resembles_tipsy = false; /* the header is one of tipsy, but the file has another size */
    if (begins(head, size, "\x93NUMPY", 6)) {
        *out = IO_NPY;
    } else {
        IO_TRY(io__tipsy_detect(file, out, &resembles_tipsy));
    }
    if (*out == IO_UNKNOWN) {
        IO_TRY(detect_hdf5(file, out));
    }
    if (*out != IO_UNKNOWN) {
        return IO_OK;
    }
    if (io__gadget_detect(head, size)) {
        *out = IO_GADGET;
    } else if (is_lammps(head)) {
        *out = IO_LAMMPS;
    } else if (begins(head, size, "\xdf\x65\xdf\x65\xdf\x65\xdf\x65", 8)) {
        *out = IO_GSD;
    } else if (io__chemfiles_kind(head, size)) {
        *out = IO_CHEMFILES;
    }
    if (*out != IO_UNKNOWN) {
        return IO_OK;
    }
    for (size_t k = 0; k < sizeof unread / sizeof *unread; k++) {
        if (begins(head, size, unread[k].bytes, unread[k].length)) {
            return io__file_fail(file, IO_FORMAT, "%s", unread[k].meaning);
        }
    }
    if (is_binary(head, size) && !resembles_tipsy) {
        return io__file_fail(file, IO_FORMAT,
                             "is binary, but none of NumPy .npy, HDF5, tipsy, Gadget, GSD and "
                             "the formats of chemfiles (or cut short)");
    }
    if (resembles_tipsy) { /* its reader says what is wrong with the size */
        *out = IO_TIPSY;
    } else {
        *out = is_xyz(head) ? IO_XYZ : IO_TEXT;
    }
    return IO_OK;
}
