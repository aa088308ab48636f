/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text from outside as each of its readers must get it.
 */
#include "check.h"
#include "core/quote.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    io_syntax syntax;
    const char *text, *expected;
} cases[] = {
    {IO_QUOTE_SHOWN, "", ""},
    {IO_QUOTE_SHOWN, "a b'\"\\`$(", "a b'\"\\`$("},
    {IO_QUOTE_SHOWN, "a\nb\tc\rd", "a\\nb\\tc\\rd"},
    {IO_QUOTE_SHOWN, "\033[31m\a\177", "\\x1b[31m\\x07\\x7f"},
    {IO_QUOTE_SHOWN, "\303\245 \342\202\254 \360\237\220\246",
     "\303\245 \342\202\254 \360\237\220\246"},
    {IO_QUOTE_SHOWN, "\302\233m", "\\u009bm"},                        /* CSI in 8 bits */
    {IO_QUOTE_SHOWN, "\342\200\256x\342\201\246", "\\u202ex\\u2066"}, /* right to left */
    {IO_QUOTE_SHOWN, "\342\200\250", "\\u2028"},                      /* end of line */
    {IO_QUOTE_SHOWN, "\377\300\257", "\\xff\\xc0\\xaf"},          /* no UTF-8; too long a form */
    {IO_QUOTE_SHOWN, "\355\240\200", "\\xed\\xa0\\x80"},          /* a surrogate */
    {IO_QUOTE_SHOWN, "\364\220\200\200", "\\xf4\\x90\\x80\\x80"}, /* beyond U+10FFFF */
    {IO_QUOTE_SHOWN, "\303", "\\xc3"},                            /* cut short */
    {IO_QUOTE_WORD, "a b\n", "a\\x20b\\n"},
    {IO_QUOTE_SHELL, "", "''"},
    {IO_QUOTE_SHELL, "--box=1,2", "--box=1,2"},
    {IO_QUOTE_SHELL, "a b", "'a b'"},
    {IO_QUOTE_SHELL, "it's", "'it'\\''s'"},
    {IO_QUOTE_SHELL, "\303\245", "'\303\245'"},
    {IO_QUOTE_SHELL, "a\n'\\\033\377", "$'a\\n\\'\\\\\\033\\377'"},
    {IO_QUOTE_GNUPLOT_FILE, "a\n\"`@$\\\303\245\377",
     "a\\012\\042\\140\\100\\044\\134\303\245\\377"},
    {IO_QUOTE_GNUPLOT_TEXT, "a\n\"", "a\\134n\\042"},
    {IO_QUOTE_GNUPLOT_LABEL, "{a_b}", "\\134{a\\134_b\\134}"},
    {IO_QUOTE_XVG, "a\"\\\n", "a\\\"\\\\\\\\n"},
};

/** In less room than all of it needs, the text ends before a character, with its mark. */
static void try_rooms(io_syntax syntax, const char *text)
{
    char whole[256], cut[256];
    io_quote(whole, sizeof whole, syntax, text);
    for (size_t room = 8; room < strlen(whole) + 1; room++) {
        memset(cut, '!', sizeof cut);
        io_quote(cut, room, syntax, text);
        const size_t length = strlen(cut);
        const size_t same = syntax == IO_QUOTE_SHELL ? length - 1 : length;
        CHECK(length < room && memcmp(cut, whole, same) == 0, "room %zu: %s", room, cut);
        CHECK(syntax != IO_QUOTE_SHELL || cut[length - 1] == '\'', "room %zu: %s", room, cut);
        CHECK(cut[room] == '!', "room %zu: wrote beyond it", room);
    }
}

int main(void)
{
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char out[256], *put = NULL;
        size_t size = 0;
        io_quote(out, sizeof out, cases[k].syntax, cases[k].text);
        CHECK(strcmp(out, cases[k].expected) == 0, "%zu: %s, not %s", k, out, cases[k].expected);
        FILE *stream = open_memstream(&put, &size);
        io_quote_put(stream, cases[k].syntax, cases[k].text);
        fclose(stream);
        CHECK(strcmp(put, cases[k].expected) == 0, "%zu: put %s", k, put);
        free(put);
    }
    try_rooms(IO_QUOTE_SHOWN, "a\n\033\303\245\342\200\256bcdef");
    try_rooms(IO_QUOTE_SHELL, "it's a 'name' of a file");
    try_rooms(IO_QUOTE_SHELL, "a\nb\033c");
    return check_done();
}
