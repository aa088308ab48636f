/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages and summaries of the command: errors and their exit statuses, numbers formatted for
 * people, JSON for scripts.
 */
#ifndef KITH_CLI_REPORT_H
#define KITH_CLI_REPORT_H

#include "io.h"
#include "core/lock.h"
#include "core/memory_file.h"

#include <jansson.h>

/** Prepare for reports; call it first. From then on control characters in all that is written to
 *  the stream `stderr`, also by argp and libraries, are escaped, and failed allocations of jansson
 *  are noticed (report_json_whole). */
void report_start(void);

/** Exit statuses, as kith --help lists them; never reused for another meaning. */
enum {
    STATUS_OK = 0,         /**< success */
    STATUS_USAGE = 2,      /**< the command line cannot be read, or options contradict each other */
    STATUS_INPUT = 3,      /**< an input cannot be opened or read */
    STATUS_FORMAT = 4,     /**< an input is malformed, truncated, or lacks a field */
    STATUS_NOT_FINITE = 5, /**< a coordinate is not finite */
    STATUS_INVALID = 6,    /**< a value is out of range, or does not suit the input */
    STATUS_LIMIT = 7,      /**< too many particles, or a size overflows */
    STATUS_NO_MEMORY = 8,  /**< memory is exhausted */
    STATUS_OUTPUT = 9,     /**< an output cannot be written */
    STATUS_NO_BACKEND = 10,  /**< a backend, library or program is missing, or a rank is lost */
    STATUS_INTERRUPTED = 130 /**< interrupted by Ctrl-C or another signal */
};

/** Return the exit status of a failed step, which has reported it. */
#define CLI_TRY(call) \
    do { \
        const int status_ = (call); \
        if (status_ != STATUS_OK) { \
            return status_; \
        } \
    } while (0)

/** Print "kith: ..." and a hint to stderr. @param hint  may be NULL. @return status. */
int report_error(int status, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Keep the message of the last error, instead of printing it, until report_release prints it.
 *  Warnings (status STATUS_OK) are printed at once. For one thread. */
void report_hold(void);
void report_release(void);

/** Report that there is no memory for something: "the options". @return exit status. */
static inline int report_no_memory(const char *what)
{
    (void)report_error(STATUS_NO_MEMORY, NULL, "no memory for %s", what);
    return STATUS_NO_MEMORY;
}

/** Return the exit status for a status of io. @param writing  true when an output failed, not an
 *  input */
int report_io_status(io_status status, bool writing);

/** Report a failure of io, if it is one. @param writing  true when an output failed, not an input.
 *  @return the exit status that goes with it. */
int report_io(io_status status, const io_error *error, bool writing);

/** Tell report_kith which options the verb has, for messages of the library that name a field of
 *  its options. @param has  returns true for the name of an option, without its dashes */
void report_use_options(bool (*has)(const char *name));

/** Report a failure of a call on ctx, if it is one. @param about  the file it was about.
 *  @return exit status. */
int report_kith(const kith_ctx *ctx, kith_status status, const char *about);

/** Report a failed call as report_kith does, of which the message is known. */
int report_kith_text(kith_status status, const char *about, const char *message);

/** Write a file that was composed in memory, and free the memory. @param whole  false: memory was
 *  exhausted while it was composed. @param again  replace what a killed command left of it
 *  (io_rewrite_bytes). @return exit status, reported */
int report_written(const char *path, io_memory_file *file, bool whole, bool again);

/** Take a lock on an output (io_lock_take), and warn if the file system has no locks.
 *  @return exit status, reported */
int report_lock(const char *path, io_lock_kind kind, io_lock **out);

/** Report an interrupt; a second one is not reported again.
 *  @param output  the file that was not written because of it; may be NULL */
int report_interrupted(const char *output);

/** For atexit: end the command with an error if standard output could not be written. */
void report_close_stdout(void);

/** A short text returned by value, valid to the end of the full expression. */
typedef struct printed {
    char s[96]; /**< the text, which ends with 0 */
} printed;

/** Format as printf does; the text is truncated to the size of `printed`. */
printed report_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

printed report_count(int64_t n);        /**< 32,768 or 54.67 million */
printed report_bytes(int64_t n);        /**< 1.18 MB */
printed report_seconds(double s);       /**< 1.2 ms, 0.315 s, 2 min 05 s */
printed report_real(double x);          /**< the shortest decimal that reads back as x */
double report_rate(double n, double s); /**< n/s; 0 when no time was measured */
const char *report_precision(kith_precision precision); /**< "float" or "double" */

/** Escape sequences for stdout; "" if it is no terminal, or NO_COLOR is set. */
typedef struct style {
    const char *bold;  /**< begins bold text */
    const char *faint; /**< begins faint text */
    const char *bar;   /**< begins the colour of bars */
    const char *end;   /**< ends bold, faint and coloured text */
    bool blocks;       /**< bars of block characters can be shown */
} style;

/** Return the escape sequences of this terminal. */
const style *report_style(void);

/** Return a text in bold, on a terminal. */
printed report_bold(const char *text);

/** Print the first line of a summary. */
void report_title(const char *text);

/** Print a line of a summary: its name, and formatted text, which ends with the newline.
 *  @param name  "" if the line continues the one before */
void report_line(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Print a text as lines of a summary of up to 80 columns. Lines break at blanks; within
 *  parentheses only if these do not fit on a line. @param text  ASCII */
void report_wrapped(const char *name, const char *text);

/** Print a line of a summary: the path of an output, and its size. NULL: print nothing. */
void report_output(const char *name, const char *path);

/** Return the size of a file [bytes]; 0 if there is no file. */
int64_t report_file_bytes(const char *path);

/** Return the peak resident memory of this program [bytes]: VmHWM of /proc, which starts at 0 with
 *  the program; where there is no /proc, ru_maxrss, which a program inherits from its parent. */
int64_t report_peak_memory(void);

/** A text of any length returned by value, valid to the end of the full expression. */
typedef struct shown_text {
    char s[1 << 13]; /**< the text, which ends with 0 */
} shown_text;

/** Return a name from outside (a file, a species, a unit) for a terminal: one line, without control
 *  characters; truncated where it is too long. */
shown_text report_text(const char *text);

/** Return true when no allocation of jansson has failed so far. After a failure, jansson omits
 *  values without an error. */
bool report_json_whole(void);

/** Print a JSON value, on many lines or on one, and release it. NULL: memory was exhausted.
 *  @return exit status, reported */
int report_json(json_t *value);
int report_json_line(json_t *value);
/** Return a text as JSON, null for NULL. One that is not UTF-8 is written as in summaries
 *  (IO_QUOTE_SHOWN): each byte that is no part of a character becomes \xff. */
json_t *report_json_text(const char *s);
/** Set a member whose name a file may have given; it is written by the rule of report_json_text. */
void report_json_set(json_t *object, const char *name, json_t *value);
json_t *report_json_real(double x); /**< null where x is not finite */
json_t *report_json_reals(const double *x, int64_t n);

#endif
