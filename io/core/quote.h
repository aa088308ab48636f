/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quoting. Names of files, units and species come from outside of kith, and are written where some
 * characters have a special meaning: on a terminal, in a shell command, in a script of gnuplot. All
 * of them are written by these functions.
 */
#ifndef KITH_IO_QUOTE_H
#define KITH_IO_QUOTE_H

#include <stddef.h>
#include <stdio.h>

/** The syntax to quote for: what reads the text. */
typedef enum io_syntax {
    /** A terminal, or a line of a text file. Control characters, characters that change the
     *  direction of writing and bytes that are not UTF-8 become \n, \x1b, \u202e: the text has one
     *  line and cannot move the cursor. */
    IO_QUOTE_SHOWN,
    /** A word of a text file whose words are separated by blanks: IO_QUOTE_SHOWN, and a blank
     *  becomes \x20. */
    IO_QUOTE_WORD,
    /** A word of a POSIX shell, with $'...' where it has control characters; the shell reads the
     *  original text. */
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

/** Write quoted text to a buffer, truncated before the first character that does not fit, and a 0.
 *  @param[out] out  [room] */
void io_quote(char *out, size_t room, io_syntax syntax, const char *text);

/** Write quoted text to a stream. */
void io_quote_put(FILE *out, io_syntax syntax, const char *text);

#endif
