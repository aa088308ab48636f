/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text that gnuplot reads.
 */
#ifndef KITH_CLI_GNUPLOT_H
#define KITH_CLI_GNUPLOT_H

#include <stdio.h>

/** Print text between single quotes, as gnuplot takes it. */
void gnuplot_quote(FILE *out, const char *text);

#endif
