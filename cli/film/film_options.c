/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of films, --record and --film-..., for every verb that can make one.
 */
#include "pictures/encoder.h"
#include "film.h"
#include "common/options.h"
#include "pictures/png_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void film_options_init(film_options *o)
{
    *o = (film_options){.width = 1920, .height = 1080, .rate = 30, .turn = 6, .afterglow = 0.15};
}

/** Parse --film-size WIDTHxHEIGHT. The numbers are even, as yuv420p halves the resolution of
 *  colours. Errors end the command. */
static void read_size(void *at, const option_given *given)
{
    film_options *o = at;
    const char *const arg = given->arg;
    enum { LEAST = 16, MOST = 8192 };
    char *by = NULL, *end = NULL;
    const bool digits = arg[strspn(arg, "0123456789x")] == '\0';
    const long width = strtol(arg, &by, 10), height = *by == 'x' ? strtol(by + 1, &end, 10) : 0;
    if (!digits || by == arg || !end || end == by + 1 || *end != '\0') {
        option_error(given->state, "--film-size: got '%s', expected WIDTHxHEIGHT", arg);
    }
    if (width < LEAST || height < LEAST || width > MOST || height > MOST || width % 2 ||
        height % 2) {
        option_invalid("--film-size", arg, "even numbers from 16 to 8192");
    }
    o->width = (int)width;
    o->height = (int)height;
}

/** Parse --record: the name must be a film's or that of PNG frames. Errors end the command. */
static void read_record(void *at, const option_given *given)
{
    if (!encoder_knows(given->arg) && !png_frames_named(given->arg)) {
        option_error(given->state,
                     "--record: '%s' is no film: expected .mp4, .webm, .gif, a folder/ or "
                     "NAME%%06d.png; -o FILE writes a trajectory",
                     given->arg);
    }
    *(const char **)at = given->arg;
}

const option_row film_option_rows[] = {
    {"record", 0, "FILE", "film: .mp4, .webm or .gif by ffmpeg; folder/", 40,
     READ_AT(film_options, path, read_record), PATH_AT(film_options, path, FILE_FILM)},
    {"film-size", 0, "WxH", "1920x1080, 30 a second, 6 degrees; --film-colour", 40,
     READ_BY(read_size)},
    {"film-rate", 0, "R", NULL, 40, REAL_AT(film_options, rate, 0.01, 240, "0.01 to 240")},
    {"film-turn", 0, "D", NULL, 40,
     REAL_AT(film_options, turn, -HUGE_VAL, HUGE_VAL, "a finite number of degrees")},
    {"film-colour", 0, "WHAT", OPTION_NAMED_ABOVE, 40,
     WORD_AT(film_options, colour, 0, "heading, speed or density")},
    {0}};

void film_check_options(const film_options *o, struct argp_state *state)
{
    for (const option_row *row = film_option_rows; row->name && !o->path; row++) {
        if (option_is_set(row)) {
            option_error(state, "--%s is of a film: it needs --record FILE", row->name);
        }
    }
}
