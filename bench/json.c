/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Write JSON (RFC 8259).
 */
#include "json.h"

#include <math.h>

static void quote(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(file, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20) {
            fprintf(file, "\\u%04x", (unsigned)*c);
        } else {
            fputc(*c, file);
        }
    }
    fputc('"', file);
}

static void start_line(json *out)
{
    fprintf(out->file, "%s%*s", out->depth ? "\n" : "", 2 * out->depth, "");
}

/* What comes before any value: the comma, the line and the key. */
static bool begin(json *out, const char *key)
{
    if (!out->file) {
        return false;
    }
    if (out->filled) {
        fputc(',', out->file);
    }
    start_line(out);
    if (key) {
        quote(out->file, key);
        fputs(": ", out->file);
    }
    out->filled = true;
    return true;
}

void json_open(json *out, const char *key, char bracket)
{
    if (begin(out, key)) {
        fputc(bracket, out->file);
        out->depth++;
        out->filled = false;
    }
}

void json_close(json *out, char bracket)
{
    if (!out->file) {
        return;
    }
    out->depth--;
    if (out->filled) {
        fputc('\n', out->file);
        fprintf(out->file, "%*s", 2 * out->depth, "");
    }
    fprintf(out->file, "%c%s", bracket, out->depth ? "" : "\n");
    out->filled = true;
}

void json_text(json *out, const char *key, const char *value)
{
    if (begin(out, key)) {
        quote(out->file, value);
    }
}

void json_number(json *out, const char *key, double value)
{
    if (begin(out, key)) {
        fprintf(out->file, isfinite(value) ? "%.9g" : "null", value);
    }
}

void json_integer(json *out, const char *key, int64_t value)
{
    if (begin(out, key)) {
        fprintf(out->file, "%lld", (long long)value);
    }
}

void json_bool(json *out, const char *key, bool value)
{
    if (begin(out, key)) {
        fputs(value ? "true" : "false", out->file);
    }
}
