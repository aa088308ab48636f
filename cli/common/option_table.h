/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of a verb, as tables. One row says all about one option: its name, how its value is
 * read and checked, where the value is stored, and its line of the help. Parsing, --help and
 * --usage come from the rows; the man page is made from --help, the shell completion from --usage.
 */
#ifndef KITH_CLI_OPTION_TABLE_H
#define KITH_CLI_OPTION_TABLE_H

#include "files.h"

#include <argp.h>
#include <float.h>
#include <kith.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How the argument of an option is read. */
typedef enum option_kind {
    OPTION_FLAG,  /**< has no argument: sets a bool, or the bits `value` of an unsigned integer */
    OPTION_TEXT,  /**< const char *: the argument itself; one of the words in `expected`, if any */
    OPTION_WHOLE, /**< int or int64_t, from `least` to `most` */
    OPTION_REAL,  /**< double, from `least` to `most` */
    OPTION_WORD,  /**< bool or enum: `value` + the index of the argument in the words `expected` */
    OPTION_READ   /**< any type: read and checked by the function `read` */
} option_kind;

struct option_given;

/** One option; or a heading of the help, without a name; or the end of the table, without help. */
typedef struct option_row {
    const char *name;     /**< long name, without its dashes */
    int letter;           /**< short name; 0: none */
    const char *argument; /**< what the help calls the argument; NULL: the option has none */
    /** NULL: the option shares the line of the help of the row above. OPTION_NAMED_ABOVE: it has no
     *  line; the text of another line names it. */
    const char *help;
    int group;            /**< the help shows groups in rising order, and sorts each by name */
    option_kind kind;     /**< how the argument is read */
    size_t at;            /**< offset of the value in its struct [bytes] */
    size_t size;          /**< size of the value [bytes] */
    int64_t value;        /**< of OPTION_FLAG and OPTION_WORD; other uses belong to `read` */
    double least, most;   /**< allowed range of OPTION_REAL; of OPTION_WHOLE, 2^53 at most */
    const char *expected; /**< range for errors, "1 to 65535"; or words, "sc, bcc or fcc" */
    /** Read, check and store the argument; ends the command where it is wrong.
     *  @param at  where the value is stored */
    void (*read)(void *at, const struct option_given *given);
    file_role file; /**< what the verb does with the file that the argument names */
    size_t path_at; /**< offset of the const char * to that file's name; NULL: no file [bytes] */
} option_row;

/** An option on the command line. */
typedef struct option_given {
    const option_row *row; /**< the option */
    char *arg; /**< borrowed as long as the task; NULL where the option has no argument */
    struct argp_state *state; /**< for option_error */
} option_given;

/** Help of an option that the text of another line names. */
#define OPTION_NAMED_ABOVE ""

/* The last fields of a row, for a value that is stored in a field of a struct: BITS_AT sets bits of
   an unsigned integer, FLAG_AT a bool, TEXT_AT a const char *, FILE_AT the path of a file (PATH_AT
   adds the path to a READ_AT), WORD_AT an enum, WHOLE_AT an integer, REAL_AT a double, READ_AT what
   a function stores. `type` is the struct, `text` the range for errors. */
#define OPTION_AT(type, field) .at = offsetof(type, field), .size = sizeof(((type *)0)->field)
#define BITS_AT(type, field, bits) .kind = OPTION_FLAG, .value = (bits), OPTION_AT(type, field)
#define FLAG_AT(type, field) BITS_AT(type, field, 1)
#define TEXT_AT(type, field) .kind = OPTION_TEXT, OPTION_AT(type, field)
#define PATH_AT(type, field, role) .file = (role), .path_at = offsetof(type, field)
#define FILE_AT(type, field, role) TEXT_AT(type, field), PATH_AT(type, field, role)
#define WORD_AT(type, field, first, words) \
    .kind = OPTION_WORD, .value = (first), .expected = (words), OPTION_AT(type, field)
#define WHOLE_AT(type, field, from, to, text) \
    .kind = OPTION_WHOLE, .least = (from), .most = (to), .expected = (text), OPTION_AT(type, field)
#define FROM_ZERO_AT(type, field) WHOLE_AT(type, field, 0, 0x1p53, "0 or more")
#define FROM_ONE_AT(type, field) WHOLE_AT(type, field, 1, 0x1p53, "1 or more")
#define REAL_AT(type, field, from, to, text) \
    .kind = OPTION_REAL, .least = (from), .most = (to), .expected = (text), OPTION_AT(type, field)
#define POSITIVE_AT(type, field) \
    REAL_AT(type, field, DBL_TRUE_MIN, HUGE_VAL, "a finite number above 0")
#define NOT_NEGATIVE_AT(type, field) REAL_AT(type, field, 0, HUGE_VAL, "a finite number, 0 or more")
#define READ_AT(type, field, function) \
    .kind = OPTION_READ, .read = (function), OPTION_AT(type, field)
/* For a function that stores in several fields: its `at` is the whole struct. */
#define READ_BY(function) .kind = OPTION_READ, .read = (function)

/** A table whose values are stored in a part of the verb's task. */
typedef struct option_table {
    const option_row *rows; /**< NULL: the end of a list of tables */
    size_t base;            /**< offset of that part in the task [bytes] */
} option_table;

/** What a verb accepts on its command line. */
typedef struct command_line {
    const char *operands; /**< as --help shows them, "INPUT --cutoff R"; NULL: as `operand` */
    const char *operand;  /**< name of the only operand, a file to read; NULL: see read_operand */
    size_t operand_at;    /**< offset of its const char * in the task [bytes] */
    bool may_lack;        /**< the operand is optional */
    /** Take an operand; NULL: `operand` is stored, or there is none. */
    void (*read_operand)(void *task, const char *arg, struct argp_state *state);
    option_table tables[10]; /**< ends with an empty one */
    /** Check the task when all options are read; ends the command where they are wrong. */
    void (*check)(void *task, struct argp_state *state);
    const char *help; /**< what the verb does, then "\vExample:" and commands */
} command_line;

/** Parse argv into the task, which holds the defaults; ends the command on wrong arguments, --help
 *  and --usage. */
void command_line_parse(const command_line *line, int argc, char **argv, void *task);

/** Find an option by its long name. @return its row; NULL: it is none of this table */
const option_row *option_find(const option_row *rows, const char *name);

/** Read, check and store an option; ends the command where it is wrong.
 *  @param base  the struct that the row's offset is counted from */
void option_set(void *base, const option_given *given);

/** Return true when option_set has stored an option of this row. */
bool option_is_set(const option_row *row);

/** Read `float` or `double` into a kith_precision. */
void option_read_precision(void *at, const option_given *given);

/** Read a seed of random numbers into an uint64_t. */
void option_read_seed(void *at, const option_given *given);

/** Read axes, for example "xy" or "none", into an int[3]; errors say the row's `expected`. */
void option_read_axes(void *at, const option_given *given);

/** Return the command line that was parsed, as one text, for the headers of outputs. */
const char *option_command(void);

/** End the command: the value of an option is not allowed (exit status 6). */
_Noreturn void option_invalid(const char *option, const char *value, const char *expected);

/** End the command where options contradict each other, or one is missing. */
void option_refuse(struct argp_state *state, bool wrong, const char *why);

/** End the command as argp_error does. Control characters in the message, for example a newline in
 *  the value of an option, are escaped. */
void option_error(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Read a finite number from least to most; ends the command when it is not one.
 *  @param expected  the range, as errors put it */
double option_number(struct argp_state *state, const char *option, const char *arg, double least,
                     double most, const char *expected);

/** Read a finite number above 0; ends the command when it is not one. */
double option_positive(struct argp_state *state, const char *option, const char *arg);

/** Read a whole number of at least 0 or 1, written for example as 1000000, 1_000_000, 1e6 or 1M;
 *  ends the command when it is not one. */
int64_t option_whole(struct argp_state *state, const char *option, const char *arg, int64_t least);

/** Read one of a few words. @param words  as errors put them: "sc, bcc or fcc"
 *  @return its index; ends the command when it is none. */
int option_word(struct argp_state *state, const char *option, const char *arg, const char *words);

#endif
