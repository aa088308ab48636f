/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_frames.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

io_trajectory *frames_open(const char *path, const io_trajectory_options *options)
{
    io_trajectory *t;
    io_error error;
    const io_status status = io_trajectory_open(path, options, &t, &error);
    CHECK(status == IO_OK && t, "%s", error.text);
    return t;
}

const io_frame *frames_next(io_trajectory *t, bool at_end)
{
    const io_frame *frame = NULL;
    io_error error;
    if (!t)
        return NULL;
    CHECK(io_trajectory_next(t, &frame, &error) == IO_OK, "%s", error.text);
    CHECK((frame == NULL) == at_end, "%s", frame ? "more frames than expected" : "no more frames");
    return frame;
}

io_status frames_all(const char *path, const io_trajectory_options *options, int64_t *frames,
                     io_error *error)
{
    io_trajectory *t;
    const io_frame *frame;
    *frames = 0;
    io_status status = io_trajectory_open(path, options, &t, error);
    while (status == IO_OK && (status = io_trajectory_next(t, &frame, error)) == IO_OK && frame)
        ++*frames;
    io_trajectory_close(t);
    return status;
}

void frames_fail(const char *path, const io_trajectory_options *options, io_status wanted,
                 int64_t frames, const char *part)
{
    int64_t got;
    io_error error;
    const io_status status = frames_all(path, options, &got, &error);
    CHECK(status == wanted, "status %d, not %d: %s", status, wanted, error.text);
    CHECK(got == frames, "%lld frames, not %lld, before: %s", (long long)got, (long long)frames,
          error.text);
    CHECK(error.status == status && strstr(error.text, path) && strstr(error.text, part),
          "'%s' does not speak of '%s'", error.text, part);
}

void frames_fail_text(const char *text, const io_trajectory_options *options, io_status wanted,
                      int64_t frames, const char *part)
{
    bytes b = {0};
    bytes_add(&b, text, strlen(text));
    frames_fail(bytes_save(&b, "bad", b.n), options, wanted, frames, part);
    free(b.data);
}

const char *frames_species(const io_frame *frame, int64_t p)
{
    const int32_t species = frame->species[p];
    return species >= 0 && species < frame->n_names ? frame->names[species] : "?";
}

double frames_real(const io_frame *frame, const void *reals, int64_t k)
{
    return frame->particles.precision == KITH_FLOAT ? (double)((const float *)reals)[k]
                                                    : ((const double *)reals)[k];
}

enum { HEADER = 256, NAMES = 1024, ENTRIES = 64, ENTRY = 32, NAME = 64 };

/** The number of a name, which is added when it is new. */
static int number_name(gsd_file *g, const char *name)
{
    size_t at = 0;
    int id = 0;
    for (; at < g->names.n; id++) {
        if (strcmp(g->names.data + at, name) == 0)
            return id;
        at += g->packed ? strlen(g->names.data + at) + 1 : NAME;
    }
    bytes_add(&g->names, name, strlen(name) + 1);
    while (!g->packed && g->names.n % NAME)
        bytes_add(&g->names, "", 1);
    return id;
}

void gsd_add(gsd_file *g, int frame, const char *name, int type, uint64_t n, int m,
             const void *data)
{
    static const size_t sizes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1};
    const size_t location = HEADER + NAMES + ENTRIES * ENTRY + g->data.n;
    const int id = number_name(g, name);
    bytes_put(&g->index, (uint64_t)frame, 8, false);
    bytes_put(&g->index, n, 8, false);
    bytes_put(&g->index, location, 8, false);
    bytes_put(&g->index, (uint64_t)m, 4, false);
    bytes_put(&g->index, (uint64_t)id, 2, false);
    bytes_put(&g->index, (uint64_t)type, 2, false); /* and no flags */
    bytes_add(&g->data, data, n * (size_t)m * sizes[type]);
}

const char *gsd_save(const gsd_file *g, const char *name)
{
    static const char zeros[NAMES + ENTRIES * ENTRY] = {0};
    bytes b = {0};
    bytes_put(&b, 0x65DF65DF65DF65DF, 8, false);
    bytes_put(&b, HEADER + NAMES, 8, false);
    bytes_put(&b, ENTRIES, 8, false);
    bytes_put(&b, HEADER, 8, false);
    bytes_put(&b, NAMES / NAME, 8, false);
    bytes_put(&b, 0x00010004, 4, false);
    bytes_put(&b, g->packed ? 0x00020000 : 0x00010000, 4, false);
    bytes_print(&b, "test");
    bytes_add(&b, zeros, 60);
    bytes_print(&b, "hoomd");
    bytes_add(&b, zeros, 59 + 80);
    bytes_add(&b, g->names.data, g->names.n);
    bytes_add(&b, zeros, NAMES - g->names.n);
    bytes_add(&b, g->index.data, g->index.n);
    bytes_add(&b, zeros, ENTRIES * ENTRY - g->index.n);
    bytes_add(&b, g->data.data, g->data.n);
    const char *path = bytes_save(&b, name, b.n);
    free(b.data);
    return path;
}

void gsd_free(gsd_file *g)
{
    free(g->names.data);
    free(g->index.data);
    free(g->data.data);
    *g = (gsd_file){0};
}
