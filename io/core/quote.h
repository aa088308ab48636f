/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text that others chose (names of files, units, species), written where some characters have a
 * meaning. Every such text goes through here.
 */
#ifndef KITH_IO_QUOTE_H
#define KITH_IO_QUOTE_H

#include <stddef.h>
#include <stdio.h>

/** What reads the text. */
typedef enum io_syntax {
    /** A terminal, or a line of a text file. Control characters, characters that change the
     *  direction of writing and bytes that are not UTF-8 become \n, \x1b, \u202e: the text has one
     *  line and cannot move the cursor. */
    IO_QUOTE_SHOWN,
    /** A word of a text file whose words are separated by blanks: also blanks become \x20. */
    IO_QUOTE_WORD,
    /** A word of a POSIX shell, with $'...' where it has control characters: reads back as it
     *  was. */
    IO_QUOTE_SHELL,
    /** Part of a string of gnuplot in double quotes: the name of a file, byte by byte. */
    IO_QUOTE_GNUPLOT_FILE,
    /** Part of a string of gnuplot in double quotes, shown as it is without enhanced mode. */
    IO_QUOTE_GNUPLOT_TEXT,
    /** Part of a string of gnuplot in double quotes, shown as it is in enhanced mode. */
    IO_QUOTE_GNUPLOT_LABEL,
    /** Part of a string of xmgrace in double quotes. */
    IO_QUOTE_XVG
} io_syntax;

/** Write text into out, cut before the first character that does not fit, and end it with a 0. */
void io_quote(char *out, size_t room, io_syntax syntax, const char *text);

/** Write text to a stream. */
void io_quote_put(FILE *out, io_syntax syntax, const char *text);

#endif
