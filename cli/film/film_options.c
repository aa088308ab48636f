/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of films.
 */
#include "pictures/encoder.h"
#include "film.h"
#include "common/options.h"
#include "pictures/png_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_RECORD = 0x300, KEY_SIZE, KEY_RATE, KEY_TURN, KEY_COLOUR };

static const struct argp_option list[] = {
    {"record", KEY_RECORD, "FILE", 0, "film: .mp4, .webm or .gif by ffmpeg; folder/", 40},
    {"film-size", KEY_SIZE, "WxH", OPTION_HIDDEN, 0, 40},
    {"film-rate", KEY_RATE, "R", OPTION_HIDDEN, 0, 40},
    {"film-turn", KEY_TURN, "D", OPTION_HIDDEN, 0, 40},
    {"film-colour", KEY_COLOUR, "WHAT", OPTION_HIDDEN, 0, 40},
    {"--film-{size,rate,turn}=X", 0, 0, OPTION_DOC | OPTION_NO_USAGE,
     "1920x1080, 30 a second, 6 degrees; --film-colour", 40},
    {0}};

void film_options_init(film_options *o)
{
    *o = (film_options){.width = 1920, .height = 1080, .rate = 30, .turn = 6, .afterglow = 0.15};
}

static void parse_size(film_options *o, const char *arg, struct argp_state *state)
{
    enum { LEAST = 16, MOST = 8192 };
    char *by = NULL, *end = NULL;
    const bool digits = arg[strspn(arg, "0123456789x")] == '\0';
    const long width = strtol(arg, &by, 10), height = *by == 'x' ? strtol(by + 1, &end, 10) : 0;
    if (!digits || by == arg || !end || end == by + 1 || *end != '\0') {
        options_error(state, "--film-size: got '%s', expected WIDTHxHEIGHT", arg);
    }
    if (width < LEAST || height < LEAST || width > MOST || height > MOST || width % 2 ||
        height % 2) {
        options_invalid("--film-size", arg, "even numbers from 16 to 8192");
    }
    o->width = (int)width;
    o->height = (int)height;
}

static error_t parse_film(int key, char *arg, struct argp_state *state)
{
    film_options *o = state->input;
    switch (key) {
    case KEY_RECORD:
        if (!encoder_knows(arg) && !png_frames_named(arg)) {
            options_error(state,
                          "--record: '%s' is no film: expected .mp4, .webm, .gif, a folder/ or "
                          "NAME%%06d.png; -o FILE writes a trajectory",
                          arg);
        }
        o->path = arg;
        return 0;
    case KEY_SIZE: parse_size(o, arg, state); return 0;
    case KEY_RATE:
        o->rate = options_number(state, "--film-rate", arg, 0.01, 240, "0.01 to 240");
        return 0;
    case KEY_TURN:
        o->turn = options_number(state, "--film-turn", arg, -HUGE_VAL, HUGE_VAL,
                                 "a finite number of degrees");
        return 0;
    case KEY_COLOUR:
        o->colour = options_word(state, "--film-colour", arg, "heading, speed or density");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp options_film = {.options = list, .parser = parse_film};
