/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a flock starts: INPUT, the seed, or the restart file of an earlier run. That file holds a
 * head and then all positions and velocities as they are in memory, so that the run goes on with
 * the same bits; a sum over the bytes tells a whole file from a broken one.
 */
#include "flock.h"

#include "random.h"
#include "report.h"
#include "sets.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "KITHfl1";

typedef struct head {
    char magic[8];
    uint64_t sum;   /* of all that follows */
    uint64_t order; /* 1 on the machine that wrote it */
    int64_t n, step, precision, dim, record_bytes, measures_bytes, n_things;
    kith_flock_thing things[KITH_MOST_THINGS]; /* predators have moved */
    kith_box box;
} head;

/** FNV-1a over words of 8 bytes, then single ones. */
static uint64_t sum_bytes(const char *data, size_t size)
{
    uint64_t h = 0xcbf29ce484222325u;
    size_t at = 0;
    for (; at + sizeof h <= size; at += sizeof h) {
        uint64_t word;
        memcpy(&word, data + at, sizeof word);
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 29;
    }
    for (; at < size; at++) {
        h = (h ^ (unsigned char)data[at]) * 0x100000001b3u;
    }
    return h;
}

enum { SUMMED_FROM = offsetof(head, order) };

int flock_save(const flock_task *task, const flock_run *run)
{
    const io_particles *p = &run->in.particles;
    const size_t vectors = 3 * (size_t)p->n * (size_t)p->precision;
    const size_t size = sizeof(head) + 2 * vectors;
    char *data = malloc(size);
    if (!data) {
        return report_error(STATUS_NO_MEMORY, NULL, "no memory to write %s", task->restart);
    }
    head h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof magic);
    h.order = 1;
    h.n = p->n;
    h.step = run->step;
    h.precision = p->precision;
    h.dim = p->dim;
    h.record_bytes = run->record_bytes;
    h.measures_bytes = run->measures_bytes;
    h.box = run->space.box;
    h.n_things = task->model.n_things;
    kith_flock_read_things(run->flock, h.things);
    memcpy(data, &h, sizeof h);
    memcpy(data + sizeof h, p->pos, vectors);
    memcpy(data + sizeof h + vectors, p->velocity, vectors);
    h.sum = sum_bytes(data + SUMMED_FROM, size - SUMMED_FROM);
    memcpy(data, &h, sizeof h);
    io_error error = {0};
    const io_status status = io_write_bytes(task->restart, data, (int64_t)size, &error);
    free(data);
    return status == IO_OK ? STATUS_OK : report_io(&error, true);
}

/** Read a whole file. @return its bytes, or NULL with an errno. */
static char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    *size = 0;
    if (!file) {
        return NULL;
    }
    if (fseeko(file, 0, SEEK_END) == 0 && ftello(file) >= 0) {
        *size = (size_t)ftello(file);
        rewind(file);
        data = malloc(*size + 1);
    }
    if (data && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
    const int kept = errno;
    fclose(file);
    errno = kept;
    return data;
}

/** Is it a whole restart file of this machine? */
static bool is_whole(const char *data, size_t size, head *h)
{
    if (size < sizeof *h) {
        return false;
    }
    memcpy(h, data, sizeof *h);
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->order == 1 && h->n >= 0 &&
           h->n <= INT32_MAX && (h->precision == KITH_FLOAT || h->precision == KITH_DOUBLE) &&
           size == sizeof *h + 6 * (size_t)h->n * (size_t)h->precision &&
           h->sum == sum_bytes(data + SUMMED_FROM, size - SUMMED_FROM);
}

int flock_load(flock_task *task, flock_run *run)
{
    size_t size = 0;
    errno = 0;
    char *data = read_whole(task->restart, &size);
    if (!data) {
        return errno == ENOENT
                   ? STATUS_OK
                   : report_error(STATUS_INPUT, NULL, "%s: %s", task->restart, strerror(errno));
    }
    head h;
    if (!is_whole(data, size, &h)) {
        free(data);
        return report_error(STATUS_FORMAT, "remove it to start anew",
                            "%s: is not a whole restart file of kith flock", task->restart);
    }
    const size_t vectors = 3 * (size_t)h.n * (size_t)h.precision;
    io_particles *p = &run->in.particles;
    *p = (io_particles){.n = h.n,
                        .dim = (int)h.dim,
                        .precision = (kith_precision)h.precision,
                        .pos = malloc(vectors + 1),
                        .velocity = malloc(vectors + 1),
                        .has_box = true,
                        .box = h.box};
    const bool room = p->pos && p->velocity;
    if (room) {
        memcpy(p->pos, data + sizeof h, vectors);
        memcpy(p->velocity, data + sizeof h + vectors, vectors);
    }
    free(data);
    for (int t = 0; t < KITH_MOST_THINGS && t < h.n_things && t < task->model.n_things; t++) {
        if (task->things[t].kind == KITH_PREDATOR && h.things[t].kind == KITH_PREDATOR) {
            memcpy(task->things[t].place, h.things[t].place, sizeof h.things[t].place);
        }
    }
    run->resumed = true;
    run->space = (space){h.box, "file"};
    run->step = h.step;
    run->record_bytes = h.record_bytes;
    run->measures_bytes = h.measures_bytes;
    return room ? STATUS_OK
                : report_error(STATUS_NO_MEMORY, NULL, "no memory for %s", task->restart);
}

/** Headings at random, with the largest speed. */
static void strew_headings(const flock_task *task, io_particles *p, double *v)
{
    random_state random = random_start(task->model.seed ^ UINT64_C(0x666c6f636b));
    const double speed = task->model.max_speed > 0 ? task->model.max_speed : 1;
    for (int64_t i = 0; i < p->n; i++) {
        double x[3], square;
        do {
            (void)random_in_ball(&random, 1, x);
            x[2] = p->dim == 3 ? x[2] : 0;
            square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        } while (!(square > 1e-6));
        for (int k = 0; k < 3; k++) {
            v[3 * i + k] = x[k] / sqrt(square) * speed;
        }
    }
}

/** Store doubles in the precision of the particles. */
static void store(const io_particles *p, const double *from, void *to)
{
    for (int64_t e = 0; e < 3 * p->n; e++) {
        if (p->precision == KITH_FLOAT) {
            ((float *)to)[e] = (float)from[e];
        } else {
            ((double *)to)[e] = from[e];
        }
    }
}

static int fill_velocities(const flock_task *task, io_particles *p)
{
    double *v = calloc((size_t)p->n + 1, 3 * sizeof *v); /* zeros: a linter cannot see them set */
    p->velocity = malloc((size_t)(p->n + 1) * 3 * (size_t)p->precision);
    if (!v || !p->velocity) {
        free(v);
        return report_error(STATUS_NO_MEMORY, NULL, "no memory for velocities");
    }
    strew_headings(task, p, v);
    store(p, v, p->velocity);
    free(v);
    return STATUS_OK;
}

/** --boids: uniform in the box, which is [-100, 100) without --box. */
static int strew(const flock_task *task, flock_run *run)
{
    static const double side = 200;
    io_particles *p = &run->in.particles;
    *p = (io_particles){.n = task->boids, .dim = task->dim, .has_box = true};
    p->precision = task->shared.read.precision ? task->shared.read.precision : KITH_FLOAT;
    p->box = kith_box_periodic(side, side, side);
    for (int k = 0; k < 3; k++) {
        p->box.origin[k] = -side / 2;
    }
    const int status = space_choose(&task->shared, "--boids", p, &run->space);
    if (status != STATUS_OK) {
        return status;
    }
    double *r = malloc((size_t)(p->n + 1) * 3 * sizeof *r);
    p->pos = malloc((size_t)(p->n + 1) * 3 * (size_t)p->precision);
    if (!r || !p->pos) {
        free(r);
        return report_error(STATUS_NO_MEMORY, NULL, "no memory for %lld boids",
                            (long long)task->boids);
    }
    sets_uniform(r, p->n, task->model.seed);
    const kith_box *box = &run->space.box;
    for (int64_t i = 0; i < p->n; i++) {
        const double f[3] = {r[3 * i], r[3 * i + 1], p->dim == 3 ? r[3 * i + 2] : 0};
        for (int k = 0; k < 3; k++) {
            r[3 * i + k] = p->dim == 2 && k == 2
                               ? 0
                               : box->origin[k] + f[0] * box->row[0][k] + f[1] * box->row[1][k] +
                                     f[2] * box->row[2][k];
        }
    }
    store(p, r, p->pos);
    free(r);
    return STATUS_OK;
}

static int read_input(flock_task *task, flock_run *run)
{
    io_error error = {0};
    task->shared.read.fields = IO_VELOCITIES;
    if (input_read(&task->shared, task->input, &run->in, &error) != IO_OK) {
        return report_io(&error, false);
    }
    return space_choose(&task->shared, task->input, &run->in.particles, &run->space);
}

/** Steps that cross half the box make no sense: neighbours are those of nobody. */
static int check_steps(const flock_task *task, const flock_run *run)
{
    const kith_flock_options *m = &task->model;
    for (int k = 0; k < run->space.box.dim; k++) {
        const double side = run->space.box.row[k][k];
        if ((run->space.box.periodic[k] || m->reflecting[k]) &&
            m->max_speed * m->time_step > fabs(side) / 2) {
            return report_error(STATUS_INVALID, NULL,
                                "--time-step: %s at --max-speed %s crosses more than half the box "
                                "in a step; expected less",
                                report_real(m->time_step).s, report_real(m->max_speed).s);
        }
    }
    return STATUS_OK;
}

int flock_start(flock_task *task, flock_run *run)
{
    int status = task->restart ? flock_load(task, run) : STATUS_OK;
    if (status == STATUS_OK && !run->resumed) {
        status = task->input ? read_input(task, run) : strew(task, run);
    }
    if (status == STATUS_OK && !run->in.particles.velocity) {
        status = fill_velocities(task, &run->in.particles);
    }
    for (int k = 0; k < 3; k++) {
        run->space.box.periodic[k] = run->space.box.periodic[k] && !task->model.reflecting[k];
    }
    run->first = run->step;
    task->model.first_step = run->step;
    return status == STATUS_OK ? check_steps(task, run) : status;
}
