/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return setenv("KITH_CHEMFILES", "/nowhere", 1);
}

void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static char path[64], sister[64];

const char *write_file(const uint8_t *data, size_t size)
{
    snprintf(path, sizeof path, "/dev/shm/fuzz_reader.%ld.0", (long)getpid());
    snprintf(sister, sizeof sister, "/dev/shm/fuzz_reader.%ld.1", (long)getpid());
    FILE *file = fopen(path, "wb");
    require(file && fwrite(data, 1, size, file) == size && fclose(file) == 0, "no room for a file");
    require(link(path, sister) == 0, "no second name");
    return path;
}

void remove_file(void)
{
    unlink(path);
    unlink(sister);
}
