/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A published tipsy snapshot, ../shared/data/fof/dark.std, against its bytes.
 */
#include "check.h"
#include "io_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static float big_float(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    const uint32_t bits = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "";
    if (access(path, R_OK) != 0)
        return check_skip("no %s (public data, kept apart)", path);
    enum { N = 32768, HEADER = 32, RECORD = 36 };
    io_particles got;
    io_error error;
    if (!CHECK(io_read(path, NULL, &got, &error) == IO_OK, "%s", error.text))
        return check_done();
    CHECK(got.n == N && got.dim == 3 && got.precision == KITH_FLOAT && !got.has_box, "shape");
    bytes file = bytes_load(path);
    for (int64_t p = 0; p < got.n; p++)
        for (int axis = 0; axis < 3; axis++) {
            const float exact = big_float(file.data + HEADER + RECORD * p + 4 + 4 * axis);
            CHECK(files_at(&got, p, axis) == (double)exact && exact >= -0.5f && exact < 0.5f,
                  "particle %lld axis %d: %g", (long long)p, axis, files_at(&got, p, axis));
        }
    free(file.data);
    io_particles_free(&got);
    return check_done();
}
