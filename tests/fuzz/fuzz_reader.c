/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libFuzzer target of the readers: the input is a file. The last byte of it also chooses among
 * options. Whatever the file holds, reading gives particles or an error with a sentence.
 */
#include <io.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/** The HDF5 library, when a file lies, asks for absurd sizes, leaks and reads past its own buffers:
 *  not ours to judge, as long as it returns. */
const char *__asan_default_options(void)
{
    return FUZZ_FORMAT == IO_HDF5
               ? "allocator_may_return_null=1:detect_leaks=0:replace_intrin=0:replace_str=0"
               : "";
}

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_reader: %s\n", what);
    abort();
}

static char path[64]; /* a name that HDF5 can resolve: no memfd */

static void write_file(const uint8_t *data, size_t size)
{
    snprintf(path, sizeof path, "/dev/shm/fuzz_reader.%ld", (long)getpid());
    FILE *file = fopen(path, "wb");
    require(file && fwrite(data, 1, size, file) == size && fclose(file) == 0, "no room for a file");
}

static io_read_options options_from(uint8_t choice)
{
    io_read_options options = {.precision = choice & 1 ? KITH_FLOAT : 0};
    options.columns = FUZZ_FORMAT == IO_TEXT && choice & 2 ? "y,0,z" : NULL;
    options.species = FUZZ_FORMAT == IO_TIPSY && choice & 2  ? "dark"
                      : FUZZ_FORMAT == IO_XYZ && choice & 2  ? "O,H"
                      : FUZZ_FORMAT == IO_HDF5 && choice & 2 ? "PartType1"
                                                             : NULL;
    options.frame = (FUZZ_FORMAT == IO_XYZ || FUZZ_FORMAT == IO_HDF5) && choice & 4 ? 1 : 0;
    options.dataset = FUZZ_FORMAT == IO_HDF5 && choice & 8 ? "Coordinates" : NULL;
    return options;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static io_summary summary;
    io_error error;
    write_file(data, size);
    const io_status known = io_inspect(path, &summary, &error);
    require((known == IO_OK) == (error.text[0] == 0), "a status and its sentence disagree");
    const io_read_options options = options_from(size ? data[size - 1] : 0);
    io_particles particles;
    const io_status status = io_read(path, &options, &particles, &error);
    unlink(path); /* here, since libFuzzer ends without exit handlers */
    require((status == IO_OK) == (error.text[0] == 0), "a status and its sentence disagree");
    require((status == IO_OK) == (particles.pos != NULL), "a status and its array disagree");
    double sum = 0;
    for (int64_t k = 0; k < 3 * particles.n; k++)
        sum += particles.precision == KITH_FLOAT ? (double)((float *)particles.pos)[k]
                                                 : ((double *)particles.pos)[k];
    require(particles.n > 0 || sum == 0, "no particles, but coordinates");
    io_particles_free(&particles);
    return summary.format == FUZZ_FORMAT ? 0 : -1; /* -1: no seed for this reader */
}
