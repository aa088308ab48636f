/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errors on standard error, and summaries on standard output, as text or JSON. Names from outside
 * are escaped before they reach the terminal.
 */
#include "report.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <core/quote.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* An allocation of jansson has failed. Atomic, as threads that serve viewers parse JSON too. */
static atomic_bool json_lost;

/** Allocate memory for jansson, and record a failure in json_lost. */
static void *json_memory(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        atomic_store(&json_lost, true);
    }
    return memory;
}

enum { MESSAGE_ROOM = 1 << 14 }; /* size of the buffer of a message [bytes] */

/** An error that is not yet printed. */
static struct {
    bool holding;                                   /* errors are kept here instead of printed */
    char message[MESSAGE_ROOM], hint[MESSAGE_ROOM]; /* escaped as they are printed; "": none */
} held;

/** Print a message and, unless it is "", a hint. */
static void print_error(const char *message, const char *hint)
{
    fprintf(stderr, "kith: %s\n", message);
    if (*hint) {
        fprintf(stderr, "      %s\n", hint);
    }
}

int report_error(int status, const char *hint, const char *format, ...)
{
    char message[MESSAGE_ROOM], line[MESSAGE_ROOM], hint_line[MESSAGE_ROOM] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    io_quote(line, sizeof line, IO_QUOTE_SHOWN, message);
    if (hint) {
        io_quote(hint_line, sizeof hint_line, IO_QUOTE_SHOWN, hint);
    }
    if (held.holding && status != STATUS_OK) {
        memcpy(held.message, line, sizeof line);
        memcpy(held.hint, hint_line, sizeof hint_line);
    } else {
        print_error(line, hint_line);
    }
    return status;
}

void report_hold(void)
{
    held.holding = true;
    held.message[0] = '\0';
}

void report_release(void)
{
    held.holding = false;
    if (held.message[0]) {
        print_error(held.message, held.hint);
    }
}

/** Write one line to standard error, with control characters escaped. Each write is one message: a
 *  newline before its last byte is part of a word of the command line that getopt repeats. */
static ssize_t put_lines(void *unused, const char *data, size_t size)
{
    (void)unused;
    const bool ends = size > 0 && data[size - 1] == '\n';
    const size_t stop = size - ends;
    for (size_t at = 0; at < stop;) {
        char line[1024], shown[4 * sizeof line];
        size_t length = 0;
        while (at < stop && length < sizeof line - 1) {
            line[length++] = data[at++];
        }
        line[length] = '\0';
        io_quote(shown, sizeof shown, IO_QUOTE_SHOWN, line);
        dprintf(STDERR_FILENO, "%s", shown);
    }
    if (ends) {
        dprintf(STDERR_FILENO, "\n");
    }
    return (ssize_t)size;
}

void report_start(void)
{
    FILE *shown = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put_lines});
    if (shown) {
        setvbuf(shown, NULL, _IONBF, 0);
        stderr = shown; /* a variable in glibc */
    }
    json_set_alloc_funcs(json_memory, free);
}

shown_text report_text(const char *text)
{
    shown_text out;
    io_quote(out.s, sizeof out.s, IO_QUOTE_SHOWN, text);
    return out;
}

int report_io_status(io_status status, bool writing)
{
    switch (status) {
    case IO_OK: return STATUS_OK;
    case IO_SYSTEM: return writing ? STATUS_OUTPUT : STATUS_INPUT;
    case IO_FORMAT:
    case IO_TRUNCATED:
    case IO_MISSING: return STATUS_FORMAT;
    case IO_INVALID: return STATUS_INVALID;
    case IO_LIMIT: return STATUS_LIMIT;
    case IO_NO_MEMORY: return STATUS_NO_MEMORY;
    case IO_CANCELLED: return STATUS_INTERRUPTED;
    case IO_UNSUPPORTED: return STATUS_NO_BACKEND;
    }
    return STATUS_INPUT;
}

int report_io(io_status status, const io_error *error, bool writing)
{
    const int exit_status = report_io_status(status, writing);
    return status == IO_OK          ? STATUS_OK
           : status == IO_CANCELLED ? report_interrupted(NULL)
                                    : report_error(exit_status, NULL, "%s", error->text);
}

/* Returns true for the name of an option of the verb; NULL: no command line was parsed. */
static bool (*has_option)(const char *name);

void report_use_options(bool (*has)(const char *name))
{
    has_option = has;
}

/** Return the option that a field of the library's options has on the command line, without its
 *  dashes. @param length  of the field's name [bytes] */
static printed option_of(const char *field, int length)
{
    /* those that are not named as their fields */
    static const char *const other[][2] = {{"reflecting", "reflect"},
                                           {"velocity-length", "phase-space"}};
    printed name = report_format("%.*s", length, field);
    for (char *c = name.s; *c; c++) {
        *c = *c == '_' ? '-' : *c;
    }
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        if (strcmp(name.s, other[k][0]) == 0) {
            return report_format("%s", other[k][1]);
        }
    }
    return name;
}

/** Copy a message of the library with the names of the command line: "--max-speed" for
 *  "options.max_speed", and "max_speed" where the verb has no option of that name. Words of the
 *  user are in quotes, and stay. */
static void translate(const char *message, char *out, size_t room)
{
    static const char before[] = "options";
    size_t used = 0;
    bool quoted = false, begins = true; /* within quotes; a word can begin here */
    while (*message && used + 1 < room) {
        const bool word = begins && !quoted && strncmp(message, before, sizeof before - 1) == 0;
        const char *rest = message + (word ? sizeof before - 1 : 0);
        if (word && strncmp(rest, ": ", 2) == 0) {
            message = rest + 2;
            continue;
        }
        const int length = word && *rest == '.'
                               ? (int)strspn(rest + 1, "abcdefghijklmnopqrstuvwxyz_")
                               : 0;
        if (length > 0) {
            const printed name = option_of(rest + 1, length);
            const bool known = has_option && has_option(name.s);
            used += (size_t)snprintf(out + used, room - used, "%s%.*s", known ? "--" : "",
                                     known ? (int)strlen(name.s) : length,
                                     known ? name.s : rest + 1);
            message = rest + 1 + length;
            begins = false;
            continue;
        }
        quoted = quoted != (*message == '"');
        begins = *message == ' ' || *message == '(';
        out[used++] = *message++;
    }
    out[used < room ? used : room - 1] = '\0';
}

int report_kith(const kith_ctx *ctx, kith_status status, const char *about)
{
    return report_kith_text(status, about, status == KITH_OK ? "" : kith_message(ctx));
}

/** Step over the "rank R: " of a message about a particle, whose index is that among the particles
 *  of all ranks: which rank has found it says nothing about it. */
static const char *without_rank(const char *text)
{
    int rank, used = 0;
    const bool ranked = sscanf(text, "rank %d: %n", &rank, &used) == 1 && used > 0;
    return ranked && strstr(text, "particle ") ? text + used : text;
}

int report_kith_text(kith_status status, const char *about, const char *text)
{
    char message[MESSAGE_ROOM];
    int exit_status = STATUS_INVALID;
    switch (status) {
    case KITH_OK: return STATUS_OK;
    case KITH_INVALID:
    case KITH_BUSY: break;
    case KITH_NOT_FINITE: exit_status = STATUS_NOT_FINITE; break;
    case KITH_CAPACITY:
    case KITH_LIMIT: exit_status = STATUS_LIMIT; break;
    case KITH_NO_MEMORY: exit_status = STATUS_NO_MEMORY; break;
    case KITH_CANCELLED: return report_interrupted(NULL);
    case KITH_UNSUPPORTED:
    case KITH_NO_BACKEND:
    case KITH_DEVICE_LOST:
    case KITH_TEAM_LOST: exit_status = STATUS_NO_BACKEND; break;
    }
    translate(without_rank(text), message, sizeof message);
    return report_error(exit_status, NULL, "%s%s%s", about ? about : "", about ? ": " : "",
                        message);
}

int report_written(const char *path, io_memory_file *file, bool whole, bool again)
{
    io_error error = {0};
    const int status = whole ? report_io((again ? io_rewrite_bytes : io_write_bytes)(
                                             path, file->data, (int64_t)file->n, &error),
                                         &error, true)
                             : report_no_memory(path);
    free(file->data);
    return status;
}

int report_lock(const char *path, io_lock_kind kind, io_lock **out)
{
    io_error error = {0};
    const int status = report_io(io_lock_take(path, kind, out, &error), &error, true);
    if (*out && !io_lock_is_kept(*out)) {
        (void)report_error(STATUS_OK, NULL,
                           "warning: %s: this file system does not support locks: do not run a "
                           "second writer of this file",
                           path);
    }
    return status;
}

int report_interrupted(const char *output)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&said)) {
        return STATUS_INTERRUPTED;
    }
    if (output) {
        return report_error(STATUS_INTERRUPTED, NULL, "interrupted; %s was not written", output);
    }
    return report_error(STATUS_INTERRUPTED, NULL, "interrupted");
}

void report_close_stdout(void)
{
    const bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fclose(stdout) != 0 || failed) {
        report_error(STATUS_OUTPUT, NULL, "standard output: %s",
                     errno ? strerror(errno) : "cannot be written");
        _exit(STATUS_OUTPUT);
    }
}

printed report_format(const char *format, ...)
{
    printed out;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out.s, sizeof out.s, format, arguments);
    va_end(arguments);
    return out;
}

/** Return 1234567 as "1,234,567". */
static printed grouped(int64_t n)
{
    char digits[32];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)n);
    printed out;
    char *to = out.s;
    for (int k = 0; k < length; k++) {
        *to++ = digits[k];
        const int left = length - 1 - k;
        if (left > 0 && left % 3 == 0 && digits[k] != '-') {
            *to++ = ',';
        }
    }
    *to = '\0';
    return out;
}

printed report_count(int64_t n)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}};
    for (int u = 0; u < 3; u++) {
        if ((double)n >= units[u].unit) {
            return report_format("%.4g %s", (double)n / units[u].unit, units[u].name);
        }
    }
    return grouped(n);
}

printed report_bytes(int64_t n)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double size = (double)n;
    int u = 0;
    while (size >= 999.5 && u < 6) { /* which %.3g would round to 1e+03 */
        size /= 1000;
        u++;
    }
    return report_format("%.3g %s", size, units[u]);
}

printed report_seconds(double s)
{
    /* A time that would be rounded to 0.1 s, 60 s or 100 min is printed in the next unit. */
    const double whole = floor(s + 0.5), minutes = floor(s / 60 + 0.5);
    return s < 0.0995  ? report_format("%.3g ms", s * 1e3)
           : s < 59.95 ? report_format("%.3g s", s)
           : s < 5999.5
               ? report_format("%.0f min %02.0f s", floor(whole / 60), fmod(whole, 60))
               : report_format("%.0f h %02.0f min", floor(minutes / 60), fmod(minutes, 60));
}

printed report_real(double x)
{
    if (x == floor(x) && fabs(x) < 1e9) {
        return report_format("%.0f", x + 0.0); /* 50000, not 5e+04; nor -0 */
    }
    printed out = report_format("%.1g", x);
    for (int digits = 2; digits <= 17 && strtod(out.s, NULL) != x; digits++) {
        out = report_format("%.*g", digits, x);
    }
    return out;
}

double report_rate(double n, double s)
{
    return s > 0 ? n / s : 0;
}

const char *report_precision(kith_precision precision)
{
    return precision == KITH_FLOAT ? "float" : "double";
}

const style *report_style(void)
{
    static style look;
    if (look.end) {
        return &look;
    }
    setlocale(LC_CTYPE, "");
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    const bool colour = isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
                        !(term && strcmp(term, "dumb") == 0);
    const bool blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    look = colour ? (style){"\033[1m", "\033[2m", "\033[36m", "\033[0m", blocks}
                  : (style){"", "", "", "", blocks};
    return &look;
}

printed report_bold(const char *text)
{
    return report_format("%s%.80s%s", report_style()->bold, text, report_style()->end);
}

void report_title(const char *text)
{
    printf("%s%s%s\n", report_style()->bold, report_text(text).s, report_style()->end);
}

void report_line(const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("  %s%-12s%s", report_style()->bold, name, report_style()->end);
    vprintf(format, arguments);
    va_end(arguments);
}

void report_wrapped(const char *name, const char *text)
{
    enum { INDENT = 14, WIDTH = 80 }; /* [columns]; report_line begins a text in column 14 */
    size_t column = INDENT;
    report_line(name, "%s", "");
    while (*text) {
        size_t size = 0;
        for (int depth = 0; text[size] && (text[size] != ' ' || depth > 0); size++) {
            depth += (text[size] == '(') - (text[size] == ')');
        }
        size = size > WIDTH - INDENT ? strcspn(text, " ") : size;
        if (column > INDENT) {
            const bool fits = column + 1 + size <= WIDTH;
            printf("%s%*s", fits ? "" : "\n", fits ? 1 : INDENT, "");
            column = fits ? column + 1 : INDENT;
        }
        printf("%.*s", (int)size, text);
        column += size;
        text += size + strspn(text + size, " ");
    }
    putchar('\n');
}

int64_t report_file_bytes(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 ? (int64_t)file.st_size : 0;
}

void report_output(const char *name, const char *path)
{
    if (path) {
        report_line(name, "%s, %s\n", report_text(path).s, report_bytes(report_file_bytes(path)).s);
    }
}

int64_t report_peak_memory(void)
{
    static const char name[] = "VmHWM:";
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    long long kilobytes = 0;
    while (file && kilobytes == 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, sizeof name - 1) == 0) {
            kilobytes = strtoll(line + sizeof name - 1, NULL, 10);
        }
    }
    if (file) {
        (void)fclose(file);
    }
    struct rusage usage;
    if (kilobytes == 0 && getrusage(RUSAGE_SELF, &usage) == 0) {
        kilobytes = usage.ru_maxrss;
    }
    return (int64_t)kilobytes * 1024;
}

bool report_json_whole(void)
{
    return !atomic_load(&json_lost);
}

/** Print a JSON value to standard output, and release it. @param flags  of json_dumpf */
static int print_json(json_t *value, size_t flags)
{
    const bool whole = value && report_json_whole();
    const bool written = whole && json_dumpf(value, stdout, flags) == 0;
    json_decref(value);
    if (!whole || !report_json_whole()) {
        return report_no_memory("the JSON report");
    }
    if (!written) {
        return report_error(STATUS_OUTPUT, NULL, "standard output: %s", strerror(errno));
    }
    putchar('\n');
    return STATUS_OK;
}

int report_json(json_t *value)
{
    return print_json(value, JSON_INDENT(2));
}

int report_json_line(json_t *value)
{
    return print_json(value, JSON_COMPACT);
}

json_t *report_json_text(const char *s)
{
    json_t *value = s ? json_string(s) : json_null();
    if (!value && s) {
        const size_t room = 4 * strlen(s) + 1; /* a byte becomes four characters at most */
        char *shown = malloc(room);
        if (shown) {
            io_quote(shown, room, IO_QUOTE_SHOWN, s);
        }
        value = shown ? json_string(shown) : NULL;
        free(shown);
    }
    return value;
}

void report_json_set(json_t *object, const char *name, json_t *value)
{
    json_t *key = report_json_text(name);
    json_object_set_new(object, json_string_value(key), value);
    json_decref(key);
}

json_t *report_json_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *report_json_reals(const double *x, int64_t n)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < n; k++) {
        json_array_append_new(list, report_json_real(x[k]));
    }
    return list;
}
