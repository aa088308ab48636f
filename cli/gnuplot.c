/* SPDX-License-Identifier: BSD-3-Clause */
#include "gnuplot.h"

void gnuplot_quote(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        fputs(*text == '\'' ? "''" : (const char[]){*text, '\0'}, out);
    }
    fputc('\'', out);
}
