/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libFuzzer target of the readers: the input is a file, and the first two files of a snapshot that
 * says it is in many. The last byte of it also chooses among options. Whatever the file holds,
 * reading gives particles or an error with a sentence.
 */
#include "fuzz_file.h"

#include <io.h>

#include <unistd.h>

const char *__asan_default_options(void);

/** The HDF5 library, when a file lies, asks for absurd sizes, leaks and reads past its own buffers:
 *  not ours to judge, as long as it returns. */
const char *__asan_default_options(void)
{
    return FUZZ_FORMAT == IO_HDF5
               ? "allocator_may_return_null=1:detect_leaks=0:replace_intrin=0:replace_str=0"
               : "";
}

static io_read_options options_from(uint8_t choice)
{
    io_read_options options = {.precision = choice & 1 ? KITH_FLOAT : 0};
    options.columns = FUZZ_FORMAT == IO_TEXT && choice & 2 ? "y,0,z" : NULL;
    options.species = FUZZ_FORMAT == IO_TIPSY && choice & 2    ? "dark"
                      : FUZZ_FORMAT == IO_XYZ && choice & 2    ? "O,H"
                      : FUZZ_FORMAT == IO_HDF5 && choice & 2   ? "PartType1"
                      : FUZZ_FORMAT == IO_GADGET && choice & 2 ? "1,stars"
                                                               : NULL;
    options.frame = (FUZZ_FORMAT == IO_XYZ || FUZZ_FORMAT == IO_HDF5) && choice & 4 ? 1 : 0;
    options.dataset = FUZZ_FORMAT == IO_HDF5 && choice & 8 ? "Coordinates" : NULL;
    const unsigned all = IO_MASSES | IO_VELOCITIES | IO_IDS | IO_TYPES | IO_POTENTIALS |
                         IO_DENSITIES;
    options.fields = choice & 16 ? all : 0;
    options.needed = choice & 32 ? IO_MASSES | IO_VELOCITIES : 0;
    return options;
}

/** Look at every number of an array. */
static void look_at(const io_particles *particles, const void *reals, int64_t width)
{
    double sum = 0;
    for (int64_t k = 0; reals && k < width * particles->n; k++)
        sum += particles->precision == KITH_FLOAT ? (double)((const float *)reals)[k]
                                                  : ((const double *)reals)[k];
    require(particles->n > 0 || sum == 0, "no particles, but numbers");
}

static void look_at_fields(const io_particles *particles, const io_read_options *options)
{
    look_at(particles, particles->pos, 3);
    look_at(particles, particles->velocity, 3);
    look_at(particles, particles->mass, 1);
    look_at(particles, particles->potential, 1);
    look_at(particles, particles->density, 1);
    uint64_t sum = 0;
    for (int64_t p = 0; p < particles->n; p++) {
        sum += particles->id ? (uint64_t)particles->id[p] : 0;
        require(!particles->type || particles->type[p] < IO_MOST_TYPES, "a type beyond all");
    }
    require(particles->n > 0 || sum == 0, "no particles, but ids");
    require(!options->needed || (particles->mass && particles->velocity), "a needed array is not");
    const io_cosmology *universe = &particles->cosmology;
    require(!universe->known || (universe->a > 0 && universe->h > 0 && universe->omega_m > 0),
            "nonsense of a universe");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static io_summary summary;
    io_error error;
    const char *path = write_file(data, size);
    const io_status known = io_inspect(path, &summary, &error);
    require((known == IO_OK) == (error.text[0] == 0), "a status and its sentence disagree");
    const io_read_options options = options_from(size ? data[size - 1] : 0);
    io_particles particles;
    const io_status status = io_read(path, &options, &particles, &error);
    remove_file();
    require((status == IO_OK) == (error.text[0] == 0), "a status and its sentence disagree");
    require((status == IO_OK) == (particles.pos != NULL), "a status and its array disagree");
    if (status == IO_OK)
        look_at_fields(&particles, &options);
    io_particles_free(&particles);
    return summary.format == FUZZ_FORMAT ? 0 : -1; /* -1: no seed for this reader */
}
