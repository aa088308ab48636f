/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of species in tables: the user's, else by number or name, never by first appearance.
 */
#ifndef KITH_CLI_NAME_ORDER_H
#define KITH_CLI_NAME_ORDER_H

#include "io.h"

/** Return true when a word of the user names a species.
 *  @param word    [length] the word
 *  @param name    name of the species in the file
 *  @param typed   species are types of a snapshot: "stars", "PartType4" and "4" name "star", as
 *                 wherever types are named (io_types_parse) */
bool name_is(const char *word, size_t length, const char *name, bool typed);

/** Return the position of a name in a list with commas between, from 0; -1: it is not there.
 *  @param list   with commas between, and blanks behind them; may be NULL, a list without names
 *  @param typed  as in name_is */
int name_position(const char *list, const char *name, bool typed);

/** Sort names: those of `first` in its order, then those of `second` in its order, then numbers by
 *  value, then all other names by their bytes.
 *  @param first, second  lists with commas between; may be NULL
 *  @param typed          as in name_is
 *  @param[out] order     [n] indices into names */
void name_order(int n, const char (*names)[IO_NAME_LENGTH], const char *first, const char *second,
                bool typed, int *order);

#endif
