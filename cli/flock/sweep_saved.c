/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file of the finished runs of a sweep, lines of JSON: a head with the options on which all
 * runs depend, then a line for each run, in the order in which they ended. A sweep with more values
 * or more replicas uses the runs that are there. What follows the last whole line is dropped: a run
 * whose line was cut short by a kill is made again. When the last run has ended, the file is
 * replaced by one in the order of the runs, so that its bytes do not depend on threads and ranks.
 */
#include "sweep.h"

#include "flock_options.h"
#include "flock_saved.h"

#include "common/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mean_names[SWEEP_MEANS] = {[SWEEP_MILLING] = "milling",
                                                    [SWEEP_NEIGHBOURS] = "neighbours",
                                                    [SWEEP_FLOCKS] = "flocks",
                                                    [SWEEP_LARGEST] = "largest",
                                                    [SWEEP_LENGTH] = "correlation_length"};

/** The options of all runs, as hexadecimal digits; to be freed. NULL: no memory. */
static char *hex_of(const flock_saved *saved)
{
    char *text = malloc(2 * sizeof *saved + 1);
    for (size_t k = 0; k < sizeof *saved && text; k++) {
        snprintf(text + 2 * k, 3, "%02x", ((const unsigned char *)saved)[k]);
    }
    return text;
}

/** Read hexadecimal digits. @return false: they are none of these options */
static bool read_hex(const char *text, flock_saved *out)
{
    bool good = text && strlen(text) == 2 * sizeof *out;
    for (size_t k = 0; k < sizeof *out && good; k++) {
        unsigned byte;
        good = sscanf(text + 2 * k, "%2x", &byte) == 1;
        ((unsigned char *)out)[k] = (unsigned char)byte;
    }
    return good;
}

/** The options of all runs. The one that is swept is 1, whatever it is without --sweep: runs do not
 *  depend on that value. */
static flock_saved saved_of(const sweep *s)
{
    flock_task task = *s->task;
    flock_stage stage = task.stage[0];
    const option_row *row = option_find(flock_model_options, s->name);
    if (row) {
        char one[] = "1";
        option_set(&stage, &(option_given){row, one, NULL});
    }
    task.stage = &stage;
    task.n_stages = 1;
    return flock_saved_of(&task, 0);
}

/** The head of the file. */
static json_t *head_of(const sweep *s)
{
    const flock_task *task = s->task;
    const flock_saved saved = saved_of(s);
    char *hex = hex_of(&saved);
    const bool by_boids = strcmp(s->name, "boids") == 0;
    json_t *head = json_pack(
        "{s:i, s:s, s:I, s:I, s:I, s:I, s:i, s:s, s:o, s:I, s:s*}", "version", 1, "--sweep",
        s->name, "--equilibrate", (json_int_t)task->equilibrate, "--sample",
        (json_int_t)task->sample, "--measure-every", (json_int_t)s->every, "--boids",
        (json_int_t)(by_boids ? 0 : task->boids), "--dim", s->dim, "--precision",
        report_precision(s->precision), "--box", space_box_json(&s->box), "checksum of INPUT",
        (json_int_t)(task->input ? s->start : 0), "options", hex);
    free(hex);
    return head;
}

/** Report that a head is of another sweep, if it is. @return exit status */
static int check_head(const char *path, const json_t *was, json_t *is)
{
    static const char *const hint = "give the options of the first sweep, or another --restart";
    const char *key;
    json_t *value;
    flock_saved before, now;
    if (!json_is_string(json_object_get(was, "--sweep"))) {
        return report_error(STATUS_FORMAT, hint,
                            "%s: is not a file of finished runs of kith flock --sweep", path);
    }
    json_object_foreach(is, key, value)
    {
        const json_t *old = json_object_get(was, key);
        if (!json_equal(value, old) && strcmp(key, "options") != 0) {
            char *a = json_dumps(old, JSON_ENCODE_ANY | JSON_COMPACT);
            char *b = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
            const int status = report_error(STATUS_INVALID, hint, "%s: %s was %s and is %s", path,
                                            key, a ? a : "not known", b ? b : "not known");
            free(a);
            free(b);
            return status;
        }
    }
    if (!read_hex(json_string_value(json_object_get(was, "options")), &before) ||
        !read_hex(json_string_value(json_object_get(is, "options")), &now)) {
        return report_error(STATUS_FORMAT, hint, "%s: is not a file of finished runs", path);
    }
    char *differences = flock_saved_differences(&before, &now);
    const int status = !differences ? report_no_memory(path)
                       : *differences
                           ? report_error(STATUS_INVALID, hint, "%s: %s", path, differences)
                           : STATUS_OK;
    free(differences);
    return status;
}

/** Return the number of the value that is written so; -1: it is none of this sweep. */
static int value_of(const sweep *s, const char *text)
{
    for (int v = 0; v < s->n && text; v++) {
        if (strcmp(s->value[v].text, text) == 0) {
            return v;
        }
    }
    return -1;
}

/** Note that a line of the file is that of a run. */
static void note_line(sweep *s, int64_t run)
{
    s->shuffled = s->shuffled || run < s->last;
    s->last = run;
}

/** Append a line to a text. @return false: no memory */
static bool add_line(io_memory_file *text, const char *line)
{
    return io_memory_file_add(text, line, strlen(line)) && io_memory_file_add(text, "\n", 1);
}

/** Take a run from its line; keep the line of a run that is not of this sweep.
 *  @param text  the line   @return false: the line is not that of a run */
static bool take_run(sweep *s, json_t *line, const char *text)
{
    const char *value = NULL;
    json_int_t replica;
    json_t *blocks, *means;
    sweep_result result = {.done = true};
    if (json_unpack(line, "{s:s, s:I, s:o, s:o}", "value", &value, "replica", &replica, "blocks",
                    &blocks, "means", &means) != 0 ||
        json_array_size(blocks) != SWEEP_BLOCKS || replica < 0) {
        return false;
    }
    for (size_t b = 0; b < SWEEP_BLOCKS; b++) {
        json_int_t n;
        sweep_sums *block = &result.block[b];
        if (json_unpack(json_array_get(blocks, b), "[I, F, F, F]", &n, &block->sum[0],
                        &block->sum[1], &block->sum[2]) != 0) {
            return false;
        }
        block->n = n;
    }
    const json_t *time = json_object_get(line, "correlation_time");
    result.time = json_is_number(time) ? json_number_value(time) : NAN;
    for (int m = 0; m < SWEEP_MEANS; m++) {
        const json_t *mean = json_object_get(means, mean_names[m]);
        result.mean[m] = json_is_number(mean) ? json_number_value(mean) : NAN;
    }
    const int v = value_of(s, value);
    if (v >= 0 && replica < s->task->replicas) {
        const int64_t run = v * s->task->replicas + replica;
        s->found += !s->result[run].done;
        s->result[run] = result;
        note_line(s, run);
    } else {
        (void)add_line(&s->others, text); /* take_text finds out what was lost */
        note_line(s, INT64_MAX);
    }
    return true;
}

/** Return true when a text is the beginning of the head: its line was cut short by a kill. */
static bool begins_head(const sweep *s, const char *text)
{
    json_t *head = head_of(s);
    char *line = json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const bool begins = line && strncmp(line, text, strlen(text)) == 0;
    free(line);
    json_decref(head);
    return begins;
}

/** Take the runs from the text of a file. @param[out] whole  bytes of its whole lines, 0: the file
 *  is new   @return exit status, reported */
static int take_text(sweep *s, char *text, int64_t *whole)
{
    const char *path = s->task->restart;
    char *line = text, *end;
    int status = STATUS_OK;
    for (; status == STATUS_OK && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        json_t *value = json_loads(line, 0, NULL);
        if (line == text && value) {
            json_t *head = head_of(s);
            status = head ? check_head(path, value, head) : report_no_memory(path);
            json_decref(head);
        } else if (!value || !take_run(s, value, line)) {
            status = report_error(STATUS_FORMAT, "remove it to start anew",
                                  "%s: is not a file of finished runs of kith flock --sweep", path);
        }
        json_decref(value);
        *end = '\n';
    }
    CLI_TRY(status == STATUS_OK && s->others.lost ? report_no_memory(path) : status);
    *whole = line - text;
    return *whole > 0 || begins_head(s, text)
               ? STATUS_OK
               : report_error(STATUS_FORMAT, "remove it to start anew",
                              "%s: is not a file of finished runs of kith flock --sweep", path);
}

/** The line of a run. */
static json_t *line_of(const sweep *s, int64_t run)
{
    const int64_t value = run / s->task->replicas, replica = run % s->task->replicas;
    const sweep_result *result = &s->result[run];
    json_t *blocks = json_array(), *means = json_object();
    for (int b = 0; b < SWEEP_BLOCKS; b++) {
        const sweep_sums *block = &result->block[b];
        json_array_append_new(blocks, json_pack("[I, f, f, f]", (json_int_t)block->n, block->sum[0],
                                                block->sum[1], block->sum[2]));
    }
    for (int m = 0; m < SWEEP_MEANS; m++) {
        json_object_set_new(means, mean_names[m], report_json_real(result->mean[m]));
    }
    return json_pack("{s:s, s:I, s:o, s:o, s:o}", "value", s->value[value].text, "replica",
                     (json_int_t)replica, "correlation_time", report_json_real(result->time),
                     "means", means, "blocks", blocks);
}

/** Append a line, and bring it to the disk. Releases the value. */
static int put_line(io_recording *file, const char *path, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
    io_error error = {0};
    io_mark mark;
    json_decref(value);
    if (!text || !report_json_whole()) {
        free(text);
        return report_no_memory(path);
    }
    io_status status = io_recording_line(file, text, &error);
    status = status == IO_OK ? io_recording_sync(file, &mark, &error) : status;
    free(text);
    return report_io(status, &error, true);
}

int sweep_load(sweep *s, io_recording **file)
{
    const char *path = s->task->restart;
    io_error error = {0};
    io_mark mark = {0};
    char *text = NULL;
    size_t room = 0;
    *file = NULL;
    if (!path) {
        return STATUS_OK;
    }
    FILE *old = fopen(path, "rb");
    if (!old && errno != ENOENT) {
        return report_error(STATUS_INPUT, NULL, "%s: %s", path, strerror(errno));
    }
    if (old) {
        errno = 0;
        const ssize_t size = getdelim(&text, &room, '\0', old);
        const int failed = size < 0 ? errno : 0;
        fclose(old);
        int status = failed ? report_error(STATUS_INPUT, NULL, "%s: %s", path, strerror(failed))
                            : STATUS_OK;
        status = status == STATUS_OK && size > 0 ? take_text(s, text, &mark.bytes) : status;
        mark.tail_bytes = mark.bytes < IO_TAIL ? mark.bytes : IO_TAIL;
        mark.tail_at = mark.bytes - mark.tail_bytes;
        mark.tail_sum = mark.bytes > 0 ? io_sum(text + mark.tail_at, mark.tail_bytes) : 0;
        free(text);
        CLI_TRY(status);
    }
    CLI_TRY(report_io(io_recording_open(path, &mark, file, &error), &error, true));
    return mark.bytes > 0 ? STATUS_OK : put_line(*file, path, head_of(s));
}

int sweep_keep(sweep *s, int64_t run, io_recording *file)
{
    note_line(s, run);
    return file ? put_line(file, s->task->restart, line_of(s, run)) : STATUS_OK;
}

/** Append a value as a line to a text. Releases the value. @return false: no memory */
static bool add_value(io_memory_file *text, json_t *value)
{
    char *line = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const bool added = line && add_line(text, line);
    free(line);
    json_decref(value);
    return added;
}

int sweep_order(const sweep *s)
{
    io_memory_file text = {0};
    if (!s->task->restart || !s->shuffled) {
        return STATUS_OK;
    }
    bool whole = add_value(&text, head_of(s));
    for (int64_t run = 0; run < s->n * s->task->replicas && whole; run++) {
        whole = add_value(&text, line_of(s, run));
    }
    if (s->others.n > 0) {
        whole = whole && io_memory_file_add(&text, s->others.data, s->others.n);
    }
    whole = whole && report_json_whole();
    return report_written(s->task->restart, &text, whole, true);
}
