/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The box of a run: chosen from options and file, checked, and described in summaries.
 */
#include "space.h"

#include "report.h"

#include <math.h>
#include <core/memory_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How to give a box, for messages. */
static const char HINT[] =
    "give it with --box LX,LY,LZ; tipsy cosmology: --box 1 --origin -0.5,-0.5,-0.5";

/** Return the box of 1, 2, 3, 6 or 9 numbers, periodic on all axes. */
static kith_box given_box(const double *v, int numbers)
{
    kith_box box;
    if (numbers == 1) {
        box = kith_box_periodic(v[0], v[0], v[0]);
    } else if (numbers == 2) {
        box = kith_box_periodic(v[0], v[1], 1);
    } else if (numbers == 3) {
        box = kith_box_periodic(v[0], v[1], v[2]);
    } else if (numbers == 6) {
        box = kith_box_triclinic(v[0], v[1], v[2], v[3], v[4], v[5]);
    } else {
        box = kith_box_periodic(1, 1, 1);
        memcpy(box.row, v, sizeof box.row);
    }
    return box;
}

int space_choose(const options *o, const char *path, const io_particles *particles, space *out)
{
    if (o->box_numbers) {
        *out = (space){given_box(o->box, o->box_numbers), "option"};
    } else if (particles->has_box) {
        *out = (space){particles->box, "file"};
    } else {
        *out = (space){kith_box_open(), "none"};
    }

    const bool known = o->box_numbers || particles->has_box;
    const bool wants_periodic = o->has_periodic &&
                                (o->periodic[0] || o->periodic[1] || o->periodic[2]);
    if (!known && (wants_periodic || o->has_origin)) {
        return report_error(STATUS_INVALID, HINT, "%s: %s is asked for, but the file has no box",
                            path, wants_periodic ? "--periodic" : "--origin");
    }
    if (o->box_numbers == 2 && particles->dim != 2) {
        return report_error(STATUS_INVALID, "give three lengths: --box LX,LY,LZ",
                            "%s: --box has two lengths, but the file has three coordinates", path);
    }
    if (o->has_origin) {
        memcpy(out->box.origin, o->origin, sizeof o->origin);
    }
    if (o->has_periodic) {
        memcpy(out->box.periodic, o->periodic, sizeof o->periodic);
    }
    if (particles->dim == 2) {
        out->box.dim = 2;
        out->box.periodic[2] = 0;
    }
    return STATUS_OK;
}

int space_check_volume(const space *s, const char *path)
{
    const kith_box *box = &s->box;
    const double volume = box_volume(box);
    bool open = strcmp(s->source, "none") == 0;
    for (int k = 0; k < box->dim; k++) {
        const double *row = box->row[k];
        open = open || (row[0] == 0 && row[1] == 0 && row[2] == 0);
    }
    if (open || isnormal(volume)) {
        return STATUS_OK;
    }
    io_memory_file text = {0};
    FILE *out = io_memory_file_open(&text);
    if (out) {
        space_put_box(out, box);
    }
    const int status = io_memory_file_close(&text, out)
                           ? report_error(
                                 STATUS_INVALID, "give the box in the unit of the coordinates",
                                 "%s: the box %s, %s, has a volume of %g; expected one "
                                 "within the range of double precision",
                                 path, strcmp(s->source, "file") == 0 ? "of the file" : "of --box",
                                 text.data, volume)
                           : report_no_memory(path);
    free(text.data);
    return status;
}

bool space_is_upright(const kith_box *box)
{
    for (int k = 0; k < box->dim; k++) {
        for (int m = 0; m < box->dim; m++) {
            if (k != m && box->row[k][m] != 0) {
                return false;
            }
        }
    }
    return true;
}

/** Print a vector: "(1, 2, 3)". */
static void put_vector(FILE *out, const double *v, int dim)
{
    for (int k = 0; k < dim; k++) {
        fprintf(out, "%s%s", k ? ", " : "(", report_real(v[k]).s);
    }
    fputc(')', out);
}

void space_put_box(FILE *out, const kith_box *box)
{
    for (int k = 0; k < box->dim; k++) {
        if (space_is_upright(box)) {
            fprintf(out, "%s%s", k ? " x " : "", report_real(box->row[k][k]).s);
        } else {
            fputs(k ? " " : "", out);
            put_vector(out, box->row[k], box->dim);
        }
    }
    if (box->origin[0] != 0 || box->origin[1] != 0 || box->origin[2] != 0) {
        fputs(" from ", out);
        put_vector(out, box->origin, box->dim);
    }
    const char *before = ", periodic ";
    bool any = false;
    for (int k = 0; k < box->dim; k++) {
        if (box->periodic[k]) {
            fprintf(out, "%s%c", any ? "" : before, "xyz"[k]);
            any = true;
        }
    }
    fputs(any ? "" : ", open", out);
}

void space_print(const space *s)
{
    if (strcmp(s->source, "none") == 0) {
        report_line("box", "none: open space\n");
        return;
    }
    space_print_box(&s->box, strcmp(s->source, "file") == 0 ? " (from the file)" : " (from --box)");
}

void space_print_box(const kith_box *box, const char *source)
{
    io_memory_file text = {0};
    FILE *out = io_memory_file_open(&text);
    if (out) {
        space_put_box(out, box);
        fputs(source, out);
    }
    if (io_memory_file_close(&text, out)) {
        report_wrapped("box", text.data);
    } else {
        (void)report_no_memory("the box");
    }
    free(text.data);
}

json_t *space_box_json(const kith_box *box)
{
    json_t *rows = json_array();
    for (int k = 0; k < 3; k++) {
        json_array_append_new(rows, report_json_reals(box->row[k], 3));
    }
    return json_pack("{s:o, s:o, s:[b,b,b], s:i}", "origin", report_json_reals(box->origin, 3),
                     "rows", rows, "periodic", box->periodic[0], box->periodic[1], box->periodic[2],
                     "dim", box->dim);
}

json_t *space_json(const space *s)
{
    json_t *value = space_box_json(&s->box);
    json_object_set_new(value, "source", json_string(s->source));
    return value;
}
