/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The choice of species: parsing "dark,gas", and matching types of snapshots, which have a number
 * and several names.
 */
#include "core/io_internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

io_status io__species_parse(io_file *file, io_species *out)
{
    *out = (io_species){0};
    const char *list = file->options->species;
    while (list && *list) {
        const size_t length = strcspn(list, ",");
        const char *next = list + length + (list[length] == ',');
        io_token name = {list + strspn(list, " "), 0};
        name.length = strcspn(name.text, ", ");
        list = next;
        if (name.length == 0 || io__species_find(out, name) >= 0) {
            continue;
        }
        if (out->n == IO_MAX_SPECIES || name.length >= IO_NAME_LENGTH) {
            return io__file_fail(file, IO_INVALID,
                                 "species '%s': expected at most %d names of "
                                 "at most %d letters",
                                 file->options->species, IO_MAX_SPECIES, IO_NAME_LENGTH - 1);
        }
        io__copy_name(out->item[out->n++].name, IO_NAME_LENGTH, name.text, name.length);
    }
    if (file->options->species && out->n == 0) {
        return io__file_fail(file, IO_INVALID, "species '%s' names none", file->options->species);
    }
    return IO_OK;
}

int io__species_find(const io_species *species, io_token name)
{
    for (int k = 0; k < species->n; k++) {
        if (strncasecmp(species->item[k].name, name.text, name.length) == 0 &&
            species->item[k].name[name.length] == 0) {
            return k;
        }
    }
    return -1;
}

/** Return true when `name` is one of the names of a type. */
static bool names_type(const char *name, int type)
{
    static const struct {
        const char *name;
        int type;
    } known[] = {{"gas", 0},  {"dark", 1},     {"dm", 1},       {"halo", 1},
                 {"disk", 2}, {"bulge", 3},    {"star", 4},     {"stars", 4},
                 {"bh", 5},   {"neutrino", 6}, {"neutrinos", 6}};
    char number[16], group[16];
    snprintf(number, sizeof number, "%d", type);
    snprintf(group, sizeof group, "PartType%d", type);
    if (strcmp(name, number) == 0 || strcasecmp(name, group) == 0) {
        return true;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (known[k].type == type && strcasecmp(name, known[k].name) == 0) {
            return true;
        }
    }
    return false;
}

bool io_types_parse(const char *list, bool out[IO_MOST_TYPES])
{
    memset(out, 0, IO_MOST_TYPES * sizeof *out);
    while (*list) {
        char name[IO_NAME_LENGTH];
        list += strspn(list, " \t");
        const size_t length = strcspn(list, ",");
        io__copy_name(name, sizeof name, list, length);
        bool found = false;
        for (int type = 0; type < IO_MOST_TYPES; type++) {
            if (names_type(name, type)) {
                out[type] = found = true;
            }
        }
        if (!found) {
            return false;
        }
        list += length + (list[length] == ',');
    }
    return true;
}

const char *io_type_name(int type)
{
    static const char *const names[] = {"gas",   "dark matter", "coarse or disk", "bulge, sinks",
                                        "stars", "black holes", "neutrinos"};
    return type >= 0 && type < (int)(sizeof names / sizeof *names) ? names[type] : "other";
}

bool io__species_wants(io_species *species, int type, int64_t n)
{
    bool wanted = species->n == 0;
    for (int k = 0; k < species->n; k++) {
        if (names_type(species->item[k].name, type)) {
            species->item[k].n += n;
            wanted = true;
        }
    }
    return wanted;
}

io_status io__species_check(io_file *file, const io_species *species)
{
    for (int k = 0; k < species->n; k++) {
        if (species->item[k].n == 0) {
            return io__file_fail(file, IO_INVALID,
                                 "holds no particles of species '%s'; "
                                 "`kith info` lists those it has",
                                 species->item[k].name);
        }
    }
    return IO_OK;
}
