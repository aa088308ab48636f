/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parsing and help from tables of options. The rows become a vector of argp, which parses the words
 * and prints the help. Where options share a line of the help, argp gets them as hidden options
 * below a line of text whose label is made from their rows. An argument that cannot be read is
 * wrong usage (status 2); one that is read but out of range is an invalid value (status 6).
 */
#include "option_table.h"

#include "parse.h"
#include "report.h"

#include <assert.h>
#include <core/memory_file.h>
#include <core/quote.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 80,     /* of all tables of a verb */
    LABEL_COLUMNS = 30, /* of a shared line; argp ends the line after longer ones */
    KEY_FIRST = 0x100,  /* key of the first row; letters are below */
    KEY_USAGE = KEY_FIRST + MOST_ROWS
};

/* One parse of a command line. */
typedef struct parsing {
    const command_line *line;                   /* what the verb accepts */
    void *task;                                 /* receives the values */
    int n;                                      /* number of options */
    int n_argp;                                 /* number of entries of argp */
    const option_row *row[MOST_ROWS];           /* [n] the options */
    void *base[MOST_ROWS];                      /* [n] what the offset of row[k] is counted from */
    char label[MOST_ROWS][2 * LABEL_COLUMNS];   /* [n] label of a line that options share */
    struct argp_option argp[2 * MOST_ROWS + 4]; /* [n_argp] for argp, then zeros: headings, and for
                                                   each option one entry, or two where it begins a
                                                   line that options share */
} parsing;

void option_invalid(const char *option, const char *value, const char *expected)
{
    exit(report_error(STATUS_INVALID, NULL, "%s: got %s, expected %s", option, value, expected));
}

void option_error(const struct argp_state *state, const char *format, ...)
{
    char message[1 << 13];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    argp_error(state, "%s", report_text(message).s);
}

void option_refuse(struct argp_state *state, bool wrong, const char *why)
{
    if (wrong) {
        option_error(state, "%s", why);
    }
}

double option_number(struct argp_state *state, const char *option, const char *arg, double least,
                     double most, const char *expected)
{
    double value = 0;
    if (!parse_real(arg, &value)) {
        option_error(state, "%s: got '%s', expected a number", option, arg);
    }
    if (!isfinite(value) || value < least || value > most) {
        option_invalid(option, arg, expected);
    }
    return value;
}

double option_positive(struct argp_state *state, const char *option, const char *arg)
{
    return option_number(state, option, arg, DBL_TRUE_MIN, HUGE_VAL, "a finite number above 0");
}

/** Read a whole number from least to most; ends the command when it is not one. */
static int64_t read_whole(struct argp_state *state, const char *option, const char *arg,
                          int64_t least, int64_t most, const char *expected)
{
    int64_t value = 0;
    if (!parse_count(arg, &value)) {
        option_error(state, "%s: got '%s', expected a whole number like 1000000, 1e6 or 1M", option,
                     arg);
    }
    if (value < least || value > most) {
        option_invalid(option, arg, expected);
    }
    return value;
}

int64_t option_whole(struct argp_state *state, const char *option, const char *arg, int64_t least)
{
    return read_whole(state, option, arg, least, INT64_MAX, least ? "1 or more" : "0 or more");
}

int option_word(struct argp_state *state, const char *option, const char *arg, const char *words)
{
    const char *word = words;
    for (int k = 0; *word; k++) {
        const size_t length = strcspn(word, ", ");
        if (strlen(arg) == length && memcmp(arg, word, length) == 0) {
            return k;
        }
        word += length;
        word += strncmp(word, " or ", 4) == 0 ? 4 : strspn(word, ", ");
    }
    option_error(state, "%s: got '%s', expected %s", option, arg, words);
    return 0;
}

const option_row *option_find(const option_row *rows, const char *name)
{
    for (; rows->name || rows->help; rows++) {
        if (rows->name && strcmp(rows->name, name) == 0) {
            return rows;
        }
    }
    return NULL;
}

void option_read_precision(void *at, const option_given *given)
{
    *(kith_precision *)at = option_word(given->state, "--precision", given->arg, "float or double")
                                ? KITH_DOUBLE
                                : KITH_FLOAT;
}

void option_read_seed(void *at, const option_given *given)
{
    char *end = NULL;
    errno = 0;
    *(uint64_t *)at = strtoull(given->arg, &end, 10);
    if (!isdigit((unsigned char)*given->arg) || *end || errno) {
        option_error(given->state, "--seed: got '%s', expected a whole number from 0 to 2^64 - 1",
                     given->arg);
    }
}

void option_read_axes(void *at, const option_given *given)
{
    if (!parse_axes(given->arg, at)) {
        option_error(given->state, "--%s: got '%s', expected %s", given->row->name, given->arg,
                     given->row->expected);
    }
}

/** Store an integer as the type that the size of the row tells: bool, int or int64_t. */
static void store_whole(const option_row *row, void *at, int64_t value)
{
    switch (row->size) {
    case sizeof(bool): *(bool *)at = value != 0; return;
    case sizeof(int): *(int *)at = (int)value; return;
    default: *(int64_t *)at = value;
    }
}

/* The rows whose options were set, each once. */
static const option_row *set_rows[MOST_ROWS];
static int n_set_rows;

bool option_is_set(const option_row *row)
{
    int k = 0;
    while (k < n_set_rows && set_rows[k] != row) {
        k++;
    }
    return k < n_set_rows;
}

void option_set(void *base, const option_given *given)
{
    const option_row *row = given->row;
    if (!option_is_set(row) && n_set_rows < MOST_ROWS) {
        set_rows[n_set_rows++] = row;
    }
    const char *arg = given->arg;
    struct argp_state *state = given->state;
    void *const at = (char *)base + row->at;
    char name[40];
    snprintf(name, sizeof name, "--%s", row->name);
    switch (row->kind) {
    case OPTION_FLAG: /* into an unsigned integer, bits are added to those of other options */
        store_whole(row, at, row->value | (row->size == sizeof(int) ? *(int *)at : 0));
        return;
    case OPTION_TEXT:
        if (row->expected) {
            (void)option_word(state, name, arg, row->expected);
        }
        *(const char **)at = arg;
        return;
    case OPTION_WHOLE:
        store_whole(
            row, at,
            read_whole(state, name, arg, (int64_t)row->least, (int64_t)row->most, row->expected));
        return;
    case OPTION_REAL:
        *(double *)at = option_number(state, name, arg, row->least, row->most, row->expected);
        return;
    case OPTION_WORD:
        store_whole(row, at, row->value + option_word(state, name, arg, row->expected));
        return;
    case OPTION_READ: row->read(at, given); return;
    }
}

/** Return the length of the longest common beginning of all names that ends with a dash, or common
 *  end that begins with one, the dash included; 0: there is none. */
static int common_length(const option_row *rows, int n, bool end)
{
    const char *const first = rows[0].name;
    const int length = (int)strlen(first);
    int common = 0;
    for (int k = 1; k <= length; k++) {
        const char *const part = end ? first + length - k : first;
        bool all = part[end ? 0 : k - 1] == '-';
        for (int r = 1; r < n && all; r++) {
            const int other = (int)strlen(rows[r].name);
            all = other > k && memcmp(rows[r].name + (end ? other - k : 0), part, (size_t)k) == 0;
        }
        common = all ? k : common;
    }
    return common;
}

/** Write the label of a line that n options share: "--r-min=R, --r-max=R"; one that is too long is
 *  folded at a common beginning or end of the names: "--q-{min,max,width}=Q". Arguments that differ
 *  are then written as X. */
static void write_label(const option_row *rows, int n, char *label, size_t size)
{
    int length = 0;
    for (int r = 0; r < n; r++) {
        const char *const argument = rows[r].argument;
        length += snprintf(length < (int)size ? label + length : NULL,
                           length < (int)size ? size - (size_t)length : 0, "%s--%s%s%s",
                           r ? ", " : "", rows[r].name, argument ? "=" : "",
                           argument ? argument : "");
    }
    if (length <= LABEL_COLUMNS) {
        return;
    }
    const int before = common_length(rows, n, false), after = common_length(rows, n, true);
    const char *argument = rows[0].argument;
    length = snprintf(label, size, "--%.*s{", before, rows[0].name);
    for (int r = 0; r < n; r++) {
        const int middle = (int)strlen(rows[r].name) - before - after;
        length += snprintf(label + length, size - (size_t)length, "%s%.*s", r ? "," : "", middle,
                           rows[r].name + before);
        argument = argument && strcmp(argument, rows[r].argument) != 0 ? "X" : argument;
    }
    length += snprintf(label + length, size - (size_t)length, "}%s%s%s",
                       rows[0].name + strlen(rows[0].name) - after, argument ? "=" : "",
                       argument ? argument : "");
    assert(length <= LABEL_COLUMNS);
}

/** Add a table to the vector of argp. A row with help begins a line; the rows without help after it
 *  share this line. */
static void add_table(parsing *p, const option_table *table)
{
    for (const option_row *row = table->rows; row->name || row->help; row++) {
        if (!row->name) {
            p->argp[p->n_argp++] = (struct argp_option){.doc = row->help, .group = row->group};
            continue;
        }
        assert(p->n < MOST_ROWS);
        int sharing = 1;
        while (row[sharing].name && !row[sharing].help) {
            sharing++;
        }
        const bool has_line = row->help && *row->help;
        if (has_line && sharing > 1) {
            write_label(row, sharing, p->label[p->n], sizeof p->label[p->n]);
            p->argp[p->n_argp++] = (struct argp_option){.name = p->label[p->n],
                                                        .flags = OPTION_DOC | OPTION_NO_USAGE,
                                                        .doc = row->help,
                                                        .group = row->group};
        }
        const bool alone = has_line && sharing == 1;
        p->argp[p->n_argp++] = (struct argp_option){.name = row->name,
                                                    .key = row->letter ? row->letter
                                                                       : KEY_FIRST + p->n,
                                                    .arg = row->argument,
                                                    .flags = alone ? 0 : OPTION_HIDDEN,
                                                    .doc = alone ? row->help : NULL,
                                                    .group = row->group};
        p->row[p->n] = row;
        p->base[p->n++] = (char *)p->task + table->base;
    }
}

/** Print all options, those that share a line of the help too. */
static void print_usage(parsing *p, struct argp_state *state)
{
    for (int k = 0; k < p->n_argp; k++) {
        p->argp[k].flags &= ~OPTION_HIDDEN;
    }
    argp_state_help(state, state->out_stream, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
}

/** Store an operand; ends the command where there is one too many. */
static void take_operand(const parsing *p, const char *arg, struct argp_state *state)
{
    const command_line *line = p->line;
    if (line->read_operand) {
        line->read_operand(p->task, arg, state);
    } else if (!line->operand) {
        option_error(state, "too many arguments: '%s'", arg);
    } else {
        void *const at = (char *)p->task + line->operand_at;
        const char **const operand = at;
        if (*operand) {
            option_error(state, "one %s only: got '%s' and '%s'", line->operand, *operand, arg);
        }
        *operand = arg;
    }
}

/** Return the text whose address is stored at an offset of a struct [bytes]. */
static const char *text_at(const void *base, size_t at)
{
    const void *const text = (const char *)base + at;
    return *(const char *const *)text;
}

/** Check the files that the operand and the options name. */
static void check_files(const parsing *p, const struct argp_state *state)
{
    file_use uses[MOST_ROWS + 1];
    char name[MOST_ROWS][40];
    int n = 0;
    if (p->line->operand) {
        uses[n++] = (file_use){p->line->operand, text_at(p->task, p->line->operand_at), FILE_READ};
    }
    for (int k = 0; k < p->n; k++) {
        const option_row *row = p->row[k];
        if (row->file != FILE_NONE) {
            snprintf(name[k], sizeof name[k], "--%s", row->name);
            uses[n++] = (file_use){name[k], text_at(p->base[k], row->path_at), row->file};
        }
    }
    for (int k = 0; k < n; k++) {
        if (uses[k].path && !*uses[k].path) {
            option_error(state, "%s: the name is empty", uses[k].option);
        }
    }
    files_check(uses, n);
}

/** Check the task when all words are read: operand, options, files. */
static void check_all(const parsing *p, struct argp_state *state)
{
    const command_line *line = p->line;
    if (line->operand && !line->may_lack && !text_at(p->task, line->operand_at)) {
        option_error(state, "no %s given", line->operand);
    }
    if (line->check) {
        line->check(p->task, state);
    }
    check_files(p, state);
}

/** The parser of argp: called for each option and operand, and at the end. */
static error_t parse_word(int key, char *arg, struct argp_state *state)
{
    parsing *p = state->input;
    switch (key) {
    case '?': argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP); return 0;
    case KEY_USAGE: print_usage(p, state); return 0;
    case ARGP_KEY_ARG: take_operand(p, arg, state); return 0;
    case ARGP_KEY_END: check_all(p, state); return 0;
    default: break;
    }
    for (int k = 0; k < p->n; k++) {
        if (key == (p->row[k]->letter ? p->row[k]->letter : KEY_FIRST + k)) {
            option_set(p->base[k], &(option_given){p->row[k], arg, state});
            return 0;
        }
    }
    return ARGP_ERR_UNKNOWN;
}

/* The command line, as a shell reads it. */
static char *command;

const char *option_command(void)
{
    return command;
}

/** Keep the command line as one text, quoted so that a shell splits it into its words again.
 *  argv[0] is "kith VERB" (main.c), and is not quoted. */
static void keep_command(char **argv)
{
    io_memory_file words = {0};
    FILE *out = io_memory_file_open(&words);
    for (char **word = argv; out && *word; word++) {
        fputs(word == argv ? *word : " ", out);
        if (word > argv) {
            io_quote_put(out, IO_QUOTE_SHELL, *word);
        }
    }
    if (!io_memory_file_close(&words, out)) {
        exit(report_no_memory("the options"));
    }
    command = words.data;
}

/* The command line that was parsed. */
static parsing parsed;

/** Return true when the verb has an option of this name. */
static bool has_option(const char *name)
{
    bool has = false;
    for (int k = 0; k < parsed.n; k++) {
        has = has || strcmp(parsed.row[k]->name, name) == 0;
    }
    return has;
}

void command_line_parse(const command_line *line, int argc, char **argv, void *task)
{
    parsing *const p = &parsed;
    *p = (parsing){.line = line, .task = task};
    for (const option_table *table = line->tables; table->rows; table++) {
        add_table(p, table);
    }
    report_use_options(has_option);
    p->argp[p->n_argp++] = (struct argp_option){"help", '?', NULL, 0, "Give this help list", -1};
    p->argp[p->n_argp++] = (struct argp_option){
        "usage", KEY_USAGE, NULL, 0, "Give a short usage message", -1};
    const struct argp argp = {.options = p->argp,
                              .parser = parse_word,
                              .args_doc = line->operands ? line->operands : line->operand,
                              .doc = line->help};
    keep_command(argv); /* argp reorders argv */
    /* leave out argp's note that arguments of long options are those of short ones, too; users may
     * set another style */
    setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
    const error_t failed = argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, p);
    if (failed) {
        exit(report_error(failed == ENOMEM ? STATUS_NO_MEMORY : STATUS_USAGE, NULL, "arguments: %s",
                          strerror(failed)));
    }
}
