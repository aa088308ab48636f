/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records that are longer than the block in which others are read.
 */
#include <core/io_internal.h>
#include <stdlib.h>

#include "check.h"
#include "io_files.h"

int main(void)
{
    enum { N = 3, STRIDE = 2 << 20, AT = 8 };
    bytes b = {0};
    static char gap[STRIDE - AT - 4];
    for (int k = 0; k < N; k++) {
        bytes_add(&b, gap, AT);
        bytes_put_float(&b, (float)(k + 1), false);
        bytes_add(&b, gap, sizeof gap);
    }
    const char *path = bytes_save(&b, "records", b.n);
    io_file file = {.fd = -1};
    io_error error = {0};
    CHECK(io__file_open(&file, path, NULL, &error) == IO_OK, "%s", error.text);
    float found[N] = {0};
    const io_records records = {0, STRIDE, N};
    const io_field field = {.at = AT,
                            .columns = 1,
                            .type = {'f', 4, false},
                            .out = found,
                            .width = 1,
                            .precision = KITH_FLOAT,
                            .scale = 1};
    CHECK(io__records_read(&file, &records, &field, 1) == IO_OK, "%s", error.text);
    CHECK(found[0] == 1 && found[1] == 2 && found[2] == 3, "%g %g %g", (double)found[0],
          (double)found[1], (double)found[2]);
    io__file_close(&file);
    free(b.data);
    return check_done();
}
