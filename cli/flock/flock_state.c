/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a flock starts: INPUT, the seed, or the restart file of an earlier run. That file holds a
 * head and then all positions and velocities as they are in memory, so that the resumed run is
 * identical bit for bit, the samples so far, and the species, if there are any; a checksum tells a
 * whole file from a damaged one.
 */
#include "flock_place.h"
#include "flock_saved.h"

#include "common/box.h"
#include "ranks/ranks.h"
#include "common/report.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <core/memory_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char magic[8] = "KITHfl8";

typedef struct head {
    char magic[8];
    uint64_t sum;   /* checksum of all that follows */
    uint64_t order; /* 1 on the machine that wrote it */
    int64_t n, step, precision, dim, n_samples, n_things;
    double time; /* time of the simulation at the step */
    flock_saved options;
    io_mark record, measures;                  /* ends of the files at this step */
    kith_flock_thing things[KITH_MOST_THINGS]; /* predators have moved */
    kith_box box;                              /* the box as it was given */
} head;

enum { SUMMED_FROM = offsetof(head, order) };

static head head_of(const flock_task *task, const flock_run *run)
{
    const io_particles *p = &run->in.particles;
    head h;
    memset(&h, 0, sizeof h); /* padding, too: the checksum covers it */
    memcpy(h.magic, magic, sizeof magic);
    h.order = 1;
    h.n = p->n;
    h.step = run->step;
    h.precision = p->precision;
    h.dim = p->dim;
    h.n_samples = run->n_samples;
    h.n_things = task->stage[run->stage].model.n_things;
    h.record = run->record_mark;
    h.measures = run->measures_mark;
    h.box = run->box;
    h.time = flock_time(task, run->step);
    h.options = flock_saved_of(task, run->step);
    ranks_flock_read_things(run->ranks, run->flock, h.things);
    return h;
}

int flock_save(const flock_task *task, const flock_run *run)
{
    const io_particles *p = &run->in.particles;
    const size_t vectors = 3 * (size_t)p->n * (size_t)p->precision;
    const size_t samples = (size_t)run->n_samples * sizeof *run->samples;
    const size_t species = run->species ? (size_t)p->n : 0;
    const size_t names = run->species ? sizeof run->species_name : 0;
    const size_t size = sizeof(head) + 2 * vectors + samples + names + species;
    char *data = malloc(size);
    if (!data) {
        return report_no_memory(task->restart);
    }
    head h = head_of(task, run);
    char *at = data + sizeof h;
    memcpy(data, &h, sizeof h);
    memcpy(at, p->pos, vectors);
    memcpy(at + vectors, p->velocity, vectors);
    if (samples > 0) {
        memcpy(at + 2 * vectors, run->samples, samples);
    }
    if (species > 0) {
        memcpy(at + 2 * vectors + samples, run->species_name, names);
        memcpy(at + 2 * vectors + samples + names, run->species, species);
    }
    h.sum = io_sum(data + SUMMED_FROM, (int64_t)(size - SUMMED_FROM));
    memcpy(data, &h, sizeof h);
    io_error error = {0};
    const io_status status = io_rewrite_bytes(task->restart, data, (int64_t)size, &error);
    free(data);
    return report_io(status, &error, true);
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
    struct stat facts;
    const bool known = fstat(fileno(file), &facts) == 0;
    if (known && S_ISDIR(facts.st_mode)) {
        errno = EISDIR;
    } else if (known) {
        *size = (size_t)facts.st_size;
        data = malloc(*size + 1);
    }
    if (data && fread(data, 1, *size, file) != *size) {
        errno = ferror(file) ? errno : EIO; /* the file became shorter while it was read */
        free(data);
        data = NULL;
    }
    const int kept = errno;
    fclose(file);
    errno = kept;
    return data;
}

/** Report why a run cannot continue from a file. Files of other versions have another digit in
 *  their first bytes. */
static int refuse_file(const char *path, const char *data, size_t size)
{
    enum { DIGIT = sizeof magic - 2 };
    if (size >= sizeof magic && memcmp(data, magic, DIGIT) == 0 && data[DIGIT] != magic[DIGIT]) {
        return report_error(
            STATUS_FORMAT, "end the run with the version that began it, or remove it to start anew",
            "%s: is a restart file of %s version of kith, in another format", path,
            data[DIGIT] < magic[DIGIT] ? "an earlier" : "a later");
    }
    return report_error(STATUS_FORMAT, "remove it to start anew",
                        "%s: is not a whole restart file of kith flock", path);
}

/** Bytes of the names of species, and of the species, in a file. */
static size_t species_in(const head *h)
{
    return h->options.n_species > 0 ? sizeof((flock_run *)0)->species_name + (size_t)h->n : 0;
}

/** Return true when the data are a complete restart file, written by a machine with the byte order
 *  and types of this one. @param[out] h  the head of the file */
static bool is_whole(const char *data, size_t size, head *h)
{
    if (size < sizeof *h) {
        return false;
    }
    memcpy(h, data, sizeof *h);
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->order == 1 && h->n >= 0 &&
           h->n <= INT32_MAX && (h->dim == 2 || h->dim == 3) && h->step >= 0 &&
           h->record.bytes >= 0 && h->measures.bytes >= 0 &&
           (h->precision == KITH_FLOAT || h->precision == KITH_DOUBLE) && h->n_samples >= 0 &&
           h->n_samples <= (int64_t)(size / sizeof(flock_sample)) && h->n_things >= 0 &&
           h->n_things <= KITH_MOST_THINGS && h->options.n_things >= 0 &&
           h->options.n_things <= KITH_MOST_THINGS &&
           size == sizeof *h + 6 * (size_t)h->n * (size_t)h->precision +
                       (size_t)h->n_samples * sizeof(flock_sample) + species_in(h) &&
           h->sum == io_sum(data + SUMMED_FROM, (int64_t)(size - SUMMED_FROM));
}

static bool is_same_box(const kith_box *a, const kith_box *b)
{
    bool same = a->dim == b->dim;
    for (int k = 0; k < a->dim && same; k++) {
        same = a->origin[k] == b->origin[k] && a->periodic[k] == b->periodic[k];
        for (int m = 0; m < a->dim; m++) {
            same = same && a->row[k][m] == b->row[k][m];
        }
    }
    return same;
}

/** Report that --box, --origin or --periodic differ from the restart file, with both boxes. */
static int refuse_box(const char *path, const char *hint, const kith_box *saved,
                      const kith_box *wanted)
{
    io_memory_file text = {0};
    FILE *out = io_memory_file_open(&text);
    if (out) {
        fputs("its box is ", out);
        space_put_box(out, saved);
        fputs(", but --box, --origin and --periodic give ", out);
        space_put_box(out, wanted);
    }
    const int status = io_memory_file_close(&text, out)
                           ? report_error(STATUS_INVALID, hint, "%s: %s", path, text.data)
                           : report_no_memory(path);
    free(text.data);
    return status;
}

/** Fail if the options describe another flock than the restart file holds. */
static int check_head(const flock_task *task, const head *h)
{
    char hint[PATH_MAX + 64];
    snprintf(hint, sizeof hint, "give the options of the first run, or remove %s to start again",
             task->restart);
    const options *o = &task->shared;
    if (task->boids > 0 && task->boids != h->n) {
        return report_error(STATUS_INVALID, hint, "%s: holds %lld particles, but --boids is %lld",
                            task->restart, (long long)h->n, (long long)task->boids);
    }
    const int64_t species = task->start.model.n_species;
    if (species != h->options.n_species) {
        return report_error(STATUS_INVALID, hint,
                            "%s: holds a flock of %lld species, but --flock-species is %lld",
                            task->restart, (long long)h->options.n_species, (long long)species);
    }
    if (task->boids > 0 && task->dim != h->dim) {
        return report_error(STATUS_INVALID, hint, "%s: holds a flock in %lld-D, but --dim is %d",
                            task->restart, (long long)h->dim, task->dim);
    }
    if (o->read.precision && (int64_t)o->read.precision != h->precision) {
        return report_error(
            STATUS_INVALID, hint, "%s: its --precision is %s, but --precision is %s", task->restart,
            report_precision((kith_precision)h->precision), report_precision(o->read.precision));
    }
    /* without --boids the box may be that of INPUT, which is not read again */
    const io_particles like = {.dim = (int)h->dim,
                               .has_box = task->boids > 0 || h->box.row[0][0] != 0,
                               .box = task->boids > 0 ? flock_usual_box() : h->box};
    space wanted;
    const int status = space_choose(o, task->restart, &like, &wanted);
    if (status == STATUS_OK && !is_same_box(&wanted.box, &h->box)) {
        return refuse_box(task->restart, hint, &h->box, &wanted.box);
    }
    return status;
}

/** Fail if an option differs from the restart file and --restart-change is not given. */
static int check_options(const flock_task *task, const head *h)
{
    const flock_saved now = flock_saved_of(task, h->step);
    char hint[PATH_MAX + 128];
    snprintf(hint, sizeof hint,
             "give the options of the first run, --restart-change to continue with the new ones, "
             "or remove %s to start again",
             task->restart);
    char *differences = flock_saved_differences(&h->options, &now);
    int status = differences ? STATUS_OK : report_no_memory(task->restart);
    if (status == STATUS_OK && *differences && !task->restart_change) {
        status = report_error(STATUS_INVALID, hint, "%s: at step %lld %s", task->restart,
                              (long long)h->step, differences);
    } else if (status == STATUS_OK && *differences && !task->shared.quiet) {
        (void)report_error(STATUS_OK, NULL, "%s: from step %lld on, %s", task->restart,
                           (long long)h->step, differences);
    }
    free(differences);
    return status;
}

/** Copy what is behind the head of the file. @return false: no memory */
static bool take_body(const head *h, const char *body, flock_run *run)
{
    const size_t vectors = 3 * (size_t)h->n * (size_t)h->precision;
    const size_t samples = (size_t)h->n_samples * sizeof *run->samples;
    io_particles *p = &run->in.particles;
    *p = (io_particles){.n = h->n,
                        .dim = (int)h->dim,
                        .precision = (kith_precision)h->precision,
                        .pos = malloc(vectors + 1),
                        .velocity = malloc(vectors + 1)};
    free(run->samples);
    free(run->species);
    run->samples = malloc(samples + 1);
    run->species = species_in(h) > 0 ? malloc((size_t)h->n + 1) : NULL;
    if (!p->pos || !p->velocity || !run->samples || (species_in(h) > 0 && !run->species)) {
        return false;
    }
    memcpy(p->pos, body, vectors);
    memcpy(p->velocity, body + vectors, vectors);
    memcpy(run->samples, body + 2 * vectors, samples);
    if (run->species) {
        const size_t names = sizeof run->species_name;
        memcpy(run->species_name, body + 2 * vectors + samples, names);
        memcpy(run->species, body + 2 * vectors + samples + names, (size_t)h->n);
    }
    for (int k = 0; k < FLOCK_SPECIES; k++) {
        run->species_name[k][IO_NAME_LENGTH - 1] = '\0';
    }
    run->n_samples = run->room = h->n_samples;
    return true;
}

/** Restore particles, step and lengths of files from the restart file, if there is one. */
static int load(flock_task *task, flock_run *run)
{
    size_t size = 0;
    errno = 0;
    char *data = read_whole(task->restart, &size);
    if (!data) {
        return errno == ENOENT ? STATUS_OK
                               : report_error(errno == ENOMEM ? STATUS_NO_MEMORY : STATUS_INPUT,
                                              NULL, "%s: %s", task->restart, strerror(errno));
    }
    head h;
    if (!is_whole(data, size, &h)) {
        const int refused = refuse_file(task->restart, data, size);
        free(data);
        return refused;
    }
    int status = check_head(task, &h);
    if (status == STATUS_OK) {
        status = check_options(task, &h);
    }
    if (status == STATUS_OK && !take_body(&h, data + sizeof h, run)) {
        status = report_no_memory(task->restart);
    }
    free(data);
    CLI_TRY(status);
    flock_stage *stage = &task->stage[flock_stage_at(task, h.step)];
    for (int64_t t = 0; t < h.n_things && t < stage->model.n_things; t++) {
        if (stage->things[t].kind == KITH_PREDATOR && h.things[t].kind == KITH_PREDATOR) {
            memcpy(stage->things[t].place, h.things[t].place, sizeof h.things[t].place);
        }
    }
    run->resumed = true;
    run->box = h.box;
    run->saved = run->step = h.step;
    task->time_before = h.time - flock_time(task, h.step);
    run->record_mark = h.record;
    run->measures_mark = h.measures;
    return STATUS_OK;
}

static int read_input(flock_task *task, flock_run *run)
{
    task->shared.read.fields = IO_VELOCITIES;
    CLI_TRY(input_read(&task->shared, task->input, &run->in));
    CLI_TRY(flock_choose_box(task, task->input, run));
    CLI_TRY(flock_check_walls(&task->stage[0], run));
    return flock_check_places(task, run);
}

bool flock_steps_fit(const kith_flock_options *m, const kith_box *box)
{
    for (int k = 0; k < box->dim; k++) {
        const double side = box_vector_length(box->row[k]);
        if ((box->periodic[k] || m->reflecting[k]) && m->max_speed * m->time_step > side / 2) {
            return false;
        }
    }
    return true;
}

/** Refuse steps longer than half the box: a boid could pass its neighbours within one step. */
static int check_steps(const flock_stage *stage, const flock_run *run)
{
    const kith_flock_options *m = &stage->model;
    return flock_steps_fit(m, &run->box)
               ? STATUS_OK
               : report_error(STATUS_INVALID, NULL,
                              "--time-step: %s at --max-speed %s crosses more than half the box "
                              "in a step; expected less",
                              report_real(m->time_step).s, report_real(m->max_speed).s);
}

int flock_start(flock_task *task, flock_run *run)
{
    task->time_before = 0;
    if (task->restart) {
        CLI_TRY(load(task, run));
    }
    if (!run->resumed) {
        CLI_TRY(task->input ? read_input(task, run) : flock_strew(task, run));
        CLI_TRY(flock_set_species(task, run));
    }
    if (!run->in.particles.velocity) {
        CLI_TRY(flock_strew_velocities(task, &run->in.particles));
    }
    run->space = run->box;
    for (int k = 0; k < 3; k++) {
        run->space.periodic[k] = run->box.periodic[k] && !task->start.model.reflecting[k];
    }
    run->first = run->step;
    CLI_TRY(flock_check_input(task, run));
    CLI_TRY(flock_check_flat(task, run->in.particles.dim));
    for (int64_t k = 0; k < task->n_stages; k++) {
        CLI_TRY(check_steps(&task->stage[k], run));
        CLI_TRY(flock_check_walls(&task->stage[k], run));
    }
    return STATUS_OK;
}
