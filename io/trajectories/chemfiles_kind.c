/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which formats are left to chemfiles, by how their files begin.
 */
#include "frames.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const io_chemfiles_kind xtc = {"XTC", "XTC", true, false}, trr = {"TRR", "TRR", true, false},
                               dcd = {"DCD", "DCD", true, false},
                               netcdf = {"AMBER NetCDF", "Amber NetCDF", true, false},
                               pdb = {"PDB", "PDB", false, false},
                               gro = {"GRO", "GRO", false, false},
                               cif = {"CIF", "", false, false}, /* or mmCIF */
    packed = {"compressed", "", false, true};

static const struct {
    int at;
    const char *bytes;
    size_t length;
    const io_chemfiles_kind *kind;
} signatures[] = {
    {0, "\0\0\x07\xcb", 4, &xtc}, /* 1995 */
    {0, "\0\0\x07\xe7", 4, &xtc}, /* 2023: beyond 300 million atoms */
    {0, "\0\0\x07\xc9", 4, &trr}, /* 1993 */
    {4, "CORD", 4, &dcd},         /* after the length of a Fortran record, of 4 bytes or 8 */
    {8, "CORD", 4, &dcd},         {0, "CDF\1", 4, &netcdf}, {0, "CDF\2", 4, &netcdf},
    {0, "CDF\5", 4, &netcdf},     {0, "HEADER ", 7, &pdb},  {0, "TITLE  ", 7, &pdb},
    {0, "REMARK ", 7, &pdb},      {0, "CRYST1 ", 7, &pdb},  {0, "MODEL  ", 7, &pdb},
    {0, "ATOM   ", 7, &pdb},      {0, "HETATM ", 7, &pdb},  {0, "data_", 5, &cif},
    {0, "\x1f\x8b", 2, &packed},  {0, "BZh", 3, &packed},   {0, "\xfd\x37zXZ", 5, &packed},
};

/** GRO: a title, a count, then atoms in columns of fixed width, x y z as %8.3f from column 20. */
static bool is_gro(const char *head)
{
    const char *count = strchr(head, '\n');
    const char *atom = count ? strchr(count + 1, '\n') : NULL;
    char *end = NULL;
    if (!atom || !isdigit((unsigned char)count[1 + strspn(count + 1, " ")])) {
        return false;
    }
    strtoull(count + 1, &end, 10);
    if (end[strspn(end, " \r")] != '\n' || strcspn(++atom, "\n") < 44) {
        return false;
    }
    return isdigit((unsigned char)atom[4]) && isdigit((unsigned char)atom[19]) && atom[24] == '.' &&
           atom[32] == '.' && atom[40] == '.';
}

const io_chemfiles_kind *io__chemfiles_kind(const char *head, int64_t size)
{
    for (size_t k = 0; k < sizeof signatures / sizeof *signatures; k++) {
        if ((size_t)size >= (size_t)signatures[k].at + signatures[k].length &&
            memcmp(head + signatures[k].at, signatures[k].bytes, signatures[k].length) == 0) {
            return signatures[k].kind;
        }
    }
    return is_gro(head) ? &gro : NULL;
}
