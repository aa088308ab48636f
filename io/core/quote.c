/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quoting in one pass over the text. Each character is decoded from UTF-8 and becomes a piece of a
 * few bytes, by the rules of the syntax.
 */
#include "quote.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { PIECE = 64 }; /* size of a piece [byte]; the longest is \u202e as a label of gnuplot */

/** Return true when a byte is a printable character of ASCII, or a blank. */
static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f;
}

/** Decode one character of UTF-8.
 *  @param text       NUL-terminated
 *  @param[out] code  its code point
 *  @return its length [byte]; 0: not UTF-8, an overlong encoding, or a surrogate */
static int decode(const char *text, uint32_t *code)
{
    const unsigned char *c = (const unsigned char *)text;
    const int length = c[0] < 0x80                   ? 1
                       : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                       : (c[0] & 0xf0) == 0xe0       ? 3
                       : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                     : 0;
    *code = length == 1 ? c[0] : c[0] & (0x7fu >> length);
    for (int k = 1; k < length; k++) {
        if ((c[k] & 0xc0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (c[k] & 0x3f);
    }
    const bool too_long = (length == 3 && *code < 0x800) || (length == 4 && *code < 0x10000);
    const bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return too_long || surrogate || *code > 0x10ffff ? 0 : length;
}

/** Return true when a character is a control character for a terminal or an editor: it is not
 *  simply displayed. */
static bool acts(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) ||         /* control */
           code == 0x61c || code == 0x200e || code == 0x200f ||    /* direction of writing */
           (code >= 0x202a && code <= 0x202e) || code == 0xfeff || /* direction; byte order */
           (code >= 0x2066 && code <= 0x2069) ||                   /* direction of writing */
           code == 0x2028 || code == 0x2029;                       /* end of line, paragraph */
}

/** Make the piece of one character for IO_QUOTE_SHOWN. @return the number of bytes of text used */
static int show(char piece[PIECE], const char *text)
{
    uint32_t code;
    const int length = decode(text, &code);
    if (length == 0) {
        snprintf(piece, PIECE, "\\x%02x", (unsigned char)*text);
    } else if (!acts(code)) {
        snprintf(piece, PIECE, "%.*s", length, text);
    } else if (code == '\n' || code == '\t' || code == '\r') {
        snprintf(piece, PIECE, "\\%c", code == '\n' ? 'n' : code == '\t' ? 't' : 'r');
    } else {
        snprintf(piece, PIECE, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
    }
    return length ? length : 1;
}

/** Escape each byte of a piece for a string in double quotes in gnuplot, where a backquote runs a
 *  command and @ expands a macro: these bytes become octal escapes.
 *  @param also  characters that get a backslash, \134, before them: those with a meaning in
 *               enhanced mode */
static void escape_gnuplot(char piece[PIECE], const char *also)
{
    char in[PIECE];
    int used = 0;
    memcpy(in, piece, PIECE);
    for (const char *c = in; *c && used < PIECE - 8; c++) { /* 8: \134 and \ooo of one byte */
        if (strchr(also, *c)) {
            used += sprintf(piece + used, "\\134");
        }
        const bool safe = (is_plain((unsigned char)*c) || (unsigned char)*c >= 0x80) &&
                          !strchr("\"\\`@$", *c);
        used += sprintf(piece + used, safe ? "%c" : "\\%03o", (unsigned char)*c);
    }
    piece[used] = '\0';
}

/** Make the piece of one character of a file name, for a string in double quotes in gnuplot.
 *  @return the number of bytes of text used */
static int spell(char piece[PIECE], const char *text)
{
    uint32_t code;
    const int length = decode(text, &code);
    if (length > 1 && !acts(code)) {
        snprintf(piece, PIECE, "%.*s", length, text);
        return length;
    }
    snprintf(piece, PIECE, is_plain((unsigned char)*text) ? "%c" : "\\%03o", (unsigned char)*text);
    if (piece[1] == '\0') { /* one printable character, which gnuplot may give a meaning */
        escape_gnuplot(piece, "");
    }
    return 1;
}

/** Put a backslash before each character of a piece that is in `which`. */
static void escape(char piece[PIECE], const char *which)
{
    char in[PIECE];
    int used = 0;
    memcpy(in, piece, PIECE);
    for (const char *c = in; *c && used < PIECE - 4; c++) { /* a byte becomes two at most */
        used += sprintf(piece + used, strchr(which, *c) ? "\\%c" : "%c", *c);
    }
    piece[used] = '\0';
}

/** Return true when a word has bytes that a shell reads in $'...' only: control characters, or
 *  bytes that are not UTF-8. */
static bool has_control(const char *text)
{
    uint32_t code;
    for (int length = 1; *text && length > 0; text += length) {
        length = decode(text, &code);
        if (length == 0 || acts(code)) {
            return true;
        }
    }
    return false;
}

/** Make the piece of one byte of a word of a shell. @param control  the word is in $'...', not
 *  '...' */
static void escape_shell(char piece[PIECE], unsigned char c, bool control)
{
    if (!control) {
        snprintf(piece, PIECE, c == '\'' ? "'\\''" : "%c", c);
    } else if (!is_plain(c)) {
        snprintf(piece, PIECE, c == '\n' ? "\\n" : "\\%03o", c);
    } else {
        snprintf(piece, PIECE, c == '\'' || c == '\\' ? "\\%c" : "%c", c);
    }
}

/** Make the piece of the next character of text, or in a shell word of the next byte.
 *  @param control  the text has control characters (has_control)
 *  @return the number of bytes of text used */
static int take(char piece[PIECE], io_syntax syntax, const char *text, bool control)
{
    int took = 1;
    switch (syntax) {
    case IO_QUOTE_SHELL: escape_shell(piece, (unsigned char)*text, control); return 1;
    case IO_QUOTE_GNUPLOT_FILE: return spell(piece, text);
    case IO_QUOTE_WORD:
        took = show(piece, text);
        if (*piece == ' ') {
            snprintf(piece, PIECE, "\\x20");
        }
        return took;
    default: took = show(piece, text);
    }
    if (syntax == IO_QUOTE_GNUPLOT_TEXT) {
        escape_gnuplot(piece, "");
    }
    if (syntax == IO_QUOTE_GNUPLOT_LABEL) {
        escape_gnuplot(piece, "{}^_@&~\\");
    }
    if (syntax == IO_QUOTE_XVG) {
        escape(piece, "\"\\");
    }
    return took;
}

/** Return the quote before or behind a word of a shell: "", "'" or "$'". Other syntaxes have none.
 *  @param control  the text has control characters (has_control)
 *  @param behind   return the quote behind the word, else the one before it */
static const char *mark(io_syntax syntax, const char *text, bool control, bool behind)
{
    /* characters without a meaning to a shell */
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_@%+=:,./-";
    const bool needed = syntax == IO_QUOTE_SHELL && (!*text || text[strspn(text, safe)] != '\0');
    return !needed ? "" : control && !behind ? "$'" : "'";
}

void io_quote(char *out, size_t room, io_syntax syntax, const char *text)
{
    const bool control = has_control(text);
    const char *const last = mark(syntax, text, control, true);
    size_t used = (size_t)snprintf(out, room, "%s", mark(syntax, text, control, false));
    while (*text) {
        char piece[PIECE];
        const int took = take(piece, syntax, text, control);
        if (used + strlen(piece) + strlen(last) >= room) {
            break;
        }
        used += (size_t)sprintf(out + used, "%s", piece);
        text += took;
    }
    snprintf(out + used, room - used, "%s", last);
}

void io_quote_put(FILE *out, io_syntax syntax, const char *text)
{
    const bool control = has_control(text);
    fputs(mark(syntax, text, control, false), out);
    for (const char *at = text; *at;) {
        char piece[PIECE];
        at += take(piece, syntax, at, control);
        fputs(piece, out);
    }
    fputs(mark(syntax, text, control, true), out);
}
