/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a file by processes of MPI: each rank reads and keeps its share of the particles. Passes
 * over the shares of all ranks.
 */
#include "ranks_internal.h"

#include "common/progress.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What rank 0 tells the others to read. */
struct request {
    char path[PATH_MAX];                       /**< the file */
    char dataset[PATH_MAX], species[PATH_MAX]; /**< options; "": not given */
    char radii[PATH_MAX];                      /**< option; "": not given */
    io_read_options read;                      /**< the other options; its pointers are NULL */
};

/** How reading a share ended. */
struct reading {
    io_error error;  /**< status, and why it failed */
    int64_t all;     /**< particles of all shares */
    int dim;         /**< number of coordinates */
    int64_t bytes;   /**< size of the file */
    unsigned fields; /**< bits IO_MASSES | ...: fields that were read */
    int precision;   /**< of the reals */
};

/** Describe what was read. */
static struct reading describe_reading(const io_particles *p, const io_error *error)
{
    return (struct reading){.error = *error,
                            .all = p->all,
                            .dim = p->dim,
                            .bytes = p->bytes,
                            .precision = (int)p->precision,
                            .fields = (p->mass ? (unsigned)IO_MASSES : 0) |
                                      (p->velocity ? (unsigned)IO_VELOCITIES : 0) |
                                      (p->id ? (unsigned)IO_IDS : 0) |
                                      (p->type ? (unsigned)IO_TYPES : 0) |
                                      (p->potential ? (unsigned)IO_POTENTIALS : 0) |
                                      (p->density ? (unsigned)IO_DENSITIES : 0)};
}

/** Make one error of those of all ranks: that of the lowest rank that failed.
 *  @param[in,out] error  that of this rank */
static io_status agree_on_reading(struct ranks *r, const io_particles *share, const char *path,
                                  io_error *error)
{
    const struct reading mine = describe_reading(share, error);
    struct reading *all = malloc((size_t)r->control.ranks * sizeof *all);
    kith_status status = ranks__agree(r, ranks__got(all));
    status = status == KITH_OK ? ranks__gather(r, &mine, sizeof mine, all) : status;
    if (status != KITH_OK) {
        free(all);
        snprintf(error->text, sizeof error->text, "%.800s: %.100s", path, r->message);
        return error->status = status == KITH_TEAM_LOST ? IO_UNSUPPORTED : IO_NO_MEMORY;
    }
    *error = all[0].error;
    for (int k = 1; k < r->control.ranks && error->status == IO_OK; k++) {
        *error = all[k].error;
        if (error->status == IO_OK &&
            (all[k].all != all[0].all || all[k].dim != all[0].dim || all[k].bytes != all[0].bytes ||
             all[k].precision != all[0].precision || all[k].fields != all[0].fields)) {
            error->status = IO_FORMAT;
            snprintf(error->text, sizeof error->text,
                     "%.800s: rank %d reads another file of this name than rank 0", path, k);
        }
    }
    free(all);
    return error->status;
}

/** Return a text of a request; NULL: it was not given. */
static const char *given(const char *text)
{
    return *text ? text : NULL;
}

/** Return the options by which a rank reads its share. */
static io_read_options options_of(const struct ranks *r, const struct request *request)
{
    io_read_options read = request->read;
    read.dataset = given(request->dataset);
    read.species = given(request->species);
    read.radii = given(request->radii);
    read.watch = progress_watch_interrupt;
    read.part = r->control.rank;
    return read;
}

void ranks__do_read(struct ranks *r, const struct job *job)
{
    const void *at;
    if (ranks__share(r, job, REQUEST, sizeof(struct request), &at) != KITH_OK) {
        return;
    }
    const struct request *request = at;
    const io_read_options read = options_of(r, request);
    io_particles *into = &r->share[job->set];
    io_error error = {0};
    io_particles_free(into);
    (void)io_read(request->path, &read, into, &error);
    (void)agree_on_reading(r, into, request->path, &error);
}

/** Return true when a text, or NULL, fits a field of a request; an empty text does not. */
static bool fits_request(const char *text)
{
    return !text || (*text && strlen(text) < PATH_MAX);
}

bool ranks_read_shares(const options *o, const char *path)
{
    io_error unused;
    bool can = false;
    return ranks__processes && !o->read.columns && fits_request(path) &&
           fits_request(o->read.dataset) && fits_request(o->read.species) &&
           fits_request(o->read.radii) && io_reads_parts(path, &o->read, &can, &unused) == IO_OK &&
           can;
}

/** Make a request to read the shares of a file, in rank 0. @return NULL: no memory; free it */
static struct request *make_request(const struct ranks *r, const options *o, const char *path)
{
    const io_read_options *read = &o->read;
    struct request *request = calloc(1, sizeof *request);
    assert(!read->columns); /* ranks_read_shares */
    if (request) {
        request->read = *read;
        request->read.dataset = request->read.species = NULL; /* pointers of this process */
        request->read.radii = NULL;
        request->read.watch = NULL;
        request->read.user = NULL;
        request->read.parts = r->control.ranks;
        request->read.threads = o->threads;
        snprintf(request->path, sizeof request->path, "%s", path);
        snprintf(request->dataset, PATH_MAX, "%s", read->dataset ? read->dataset : "");
        snprintf(request->species, PATH_MAX, "%s", read->species ? read->species : "");
        snprintf(request->radii, PATH_MAX, "%s", read->radii ? read->radii : "");
    }
    return request;
}

int ranks_share_begin(const options *o, const char *path, int set)
{
    struct ranks *r = ranks__processes;
    struct request *request = make_request(r, o, path);
    if (!request) {
        return report_no_memory(path);
    }
    struct job job = {.kind = JOB_READ, .set = set, .whole = {[REQUEST] = request}};
    const void *sent;
    kith_status told = ranks__tell(r, &job);
    told = told == KITH_OK ? ranks__share(r, &job, REQUEST, sizeof *request, &sent) : told;
    free(request);
    return ranks_status(r, NULL, told, path);
}

int ranks_share_end(const char *path, int set, const io_particles *share, io_error *error)
{
    struct ranks *r = ranks__processes;
    CLI_TRY(report_io(agree_on_reading(r, share, path, error), error, false));
    r->shares = true;
    r->of_set[set] = share->all;
    return STATUS_OK;
}

int ranks_processes(void)
{
    return ranks__processes ? ranks__processes->control.ranks : 1;
}

int ranks_read(const options *o, const char *path, int set, bool shares, input *in)
{
    if (!shares) {
        return input_read(o, path, in);
    }
    options mine = *o;
    io_error error = {0};
    mine.read.parts = ranks_processes();
    CLI_TRY(ranks_share_begin(o, path, set));
    (void)input_try(&mine, path, in, &error);
    CLI_TRY(ranks_share_end(path, set, &in->particles, &error));
    input_note_frames(o, in);
    return STATUS_OK;
}

/** How getting the radii of a share ended. */
struct end_of_radii {
    io_error error;    /**< status, and why it failed */
    radii_range range; /**< range of the radii of the share */
};

kith_status ranks__do_radii(struct ranks *r, const struct job *job, const io_particles *p,
                            void *radii, radii_range *range, io_error *error)
{
    const void *from;
    RANKS_TRY(ranks__share(r, job, REQUEST, sizeof(radii_source), &from));
    const enum column column = job->set == 0 ? RADII : RADII_AGAINST;
    void *mine = radii ? radii : ranks__need_column(r, column, p->n, (size_t)p->precision);
    struct end_of_radii own = {0}, *all = calloc((size_t)r->control.ranks, sizeof *all);
    kith_status status = ranks__agree(r, ranks__got(mine && all ? r : NULL));
    if (status == KITH_OK) {
        (void)radii_read(from, p, mine, &own.range, &own.error);
        status = ranks__gather(r, &own, sizeof own, all);
    }
    *error = (io_error){.status = IO_OK};
    *range = own.range;
    for (int k = 0; k < r->control.ranks && status == KITH_OK; k++) {
        *error = error->status == IO_OK ? all[k].error : *error;
        range->least = fmin(range->least, all[k].range.least);
        range->most = fmax(range->most, all[k].range.most);
    }
    free(all);
    return status;
}

int ranks_radii_read(const radii_source *from, int set, const input *in, void *radii,
                     radii_range *range)
{
    io_error error = {0};
    if (in->parts == 1) {
        return report_io(radii_read(from, &in->particles, radii, range, &error), &error, false);
    }
    struct ranks *r = ranks__processes;
    struct job job = {.kind = JOB_RADII, .set = set, .whole = {[REQUEST] = from}};
    kith_status status = ranks__tell(r, &job);
    status = status == KITH_OK ? ranks__do_radii(r, &job, &in->particles, radii, range, &error)
                               : status;
    CLI_TRY(ranks_status(r, NULL, status, in->path));
    return report_io(error.status, &error, false);
}

/** Get the weights of the particles of a share. @param path  file of numbers; "": the masses */
static io_status read_weights(const char *path, const io_particles *p, double *weights,
                              io_error *error)
{
    if (*path) {
        return io_read_numbers(path, p->all, p->first, p->n, weights, error);
    }
    for (int64_t k = 0; k < p->n; k++) {
        weights[k] = io_real(p->mass, k, p->precision);
    }
    return IO_OK;
}

kith_status ranks__do_weights(struct ranks *r, const struct job *job, const io_particles *p,
                              double *weights, bool *any, io_error *error)
{
    const void *path;
    RANKS_TRY(ranks__share(r, job, REQUEST, PATH_MAX, &path));
    double *mine = weights ? weights : ranks__need_column(r, WEIGHTS, p->n, sizeof *mine);
    io_error own = {0}, *all = calloc((size_t)r->control.ranks, sizeof *all);
    kith_status status = ranks__agree(r, ranks__got(mine && all ? r : NULL));
    int64_t some = 0;
    if (status == KITH_OK) {
        const bool read = read_weights(path, p, mine, &own) == IO_OK;
        for (int64_t k = 0; k < p->n && read && some == 0; k++) {
            some = mine[k] != 0;
        }
        status = ranks__gather(r, &own, sizeof own, all);
    }
    *error = (io_error){.status = IO_OK};
    for (int k = 0; k < r->control.ranks && status == KITH_OK && error->status == IO_OK; k++) {
        *error = all[k];
    }
    free(all);
    RANKS_TRY(status);
    RANKS_TRY(ranks__combine(r, KITH_MAX, &some, 1));
    *any = some != 0;
    return KITH_OK;
}

int ranks_weights_read(const char *file, const input *in, double *weights, bool *any)
{
    struct ranks *r = ranks__processes;
    io_error error = {0};
    char path[PATH_MAX] = "";
    struct job job = {.kind = JOB_WEIGHTS, .whole = {[REQUEST] = path}};
    snprintf(path, sizeof path, "%s", file ? file : "");
    kith_status status = ranks__tell(r, &job);
    status = status == KITH_OK ? ranks__do_weights(r, &job, &in->particles, weights, any, &error)
                               : status;
    CLI_TRY(ranks_status(r, NULL, status, in->path));
    return report_io(error.status, &error, false);
}

/** Read the only frame of a share, and check that it has the particles of the share.
 *  @param[out] t      to be closed, also after a failure; the frame is valid until then
 *  @return the frame; NULL on failure, which is in *error */
static const io_frame *read_frame(const struct ranks *r, const struct request *request,
                                  const io_particles *p, io_trajectory **t, io_error *error)
{
    char number[32];
    const io_trajectory_options how = {.read = options_of(r, request), .frames = number};
    const io_frame *frame = NULL;
    snprintf(number, sizeof number, "%lld", (long long)how.read.frame);
    if (io_trajectory_open(request->path, &how, t, error) == IO_OK) {
        (void)io_trajectory_next(*t, &frame, error);
    }
    if (!frame && error->status == IO_OK) {
        error->status = IO_FORMAT;
        snprintf(error->text, sizeof error->text, "%.800s: changed while it was read",
                 request->path);
    } else if (frame && frame->particles.n != p->n) {
        error->status = IO_FORMAT;
        snprintf(error->text, sizeof error->text,
                 "%.800s: %lld particles, but read as a trajectory %lld", request->path,
                 (long long)p->all, (long long)frame->particles.all);
    }
    return frame;
}

kith_status ranks__do_species(struct ranks *r, const struct job *job, const io_particles *p,
                              species_names *names, int32_t *species, io_error *error)
{
    const void *request;
    const enum column column = job->set == 0 ? SPECIES : SPECIES_AGAINST;
    RANKS_TRY(ranks__share(r, job, REQUEST, sizeof(struct request), &request));
    int32_t *mine = species ? species : ranks__need_column(r, column, p->n, sizeof *mine);
    RANKS_TRY(ranks__agree(r, ranks__got(mine)));
    const io_particles none = {0};
    io_trajectory *t = NULL;
    *error = (io_error){.status = IO_OK};
    const io_frame *frame = read_frame(r, request, p, &t, error);
    kith_status status = KITH_OK;
    const bool read = agree_on_reading(r, frame ? &frame->particles : &none,
                                       ((const struct request *)request)->path, error) == IO_OK;
    for (int k = 0; k < r->control.ranks && read && status == KITH_OK; k++) {
        if (r->control.rank == k) {
            species_number(frame, names, mine);
        }
        status = ranks__hand_on(r, k, names, sizeof *names);
    }
    io_trajectory_close(t);
    return status;
}

int ranks_species_read(const options *o, int set, const input *in, species_names *names,
                       int32_t *species)
{
    struct ranks *r = ranks__processes;
    io_error error = {0};
    struct request *request = make_request(r, o, in->path);
    if (!request) {
        return report_no_memory(in->path);
    }
    struct job job = {.kind = JOB_SPECIES, .set = set, .whole = {[REQUEST] = request}};
    kith_status status = ranks__tell(r, &job);
    status = status == KITH_OK ? ranks__do_species(r, &job, &in->particles, names, species, &error)
                               : status;
    free(request);
    CLI_TRY(ranks_status(r, NULL, status, in->path));
    return report_io(error.status, &error, false);
}

kith_status ranks__do_pass(struct ranks *r, const io_particles *share, pass *p)
{
    for (int k = 0; k < r->control.ranks; k++) {
        if (r->control.rank == k) {
            pass_over(p, share);
        }
        RANKS_TRY(ranks__hand_on(r, k, p, sizeof *p));
    }
    return KITH_OK;
}

int ranks_pass(const input *in, pass *p)
{
    if (in->parts == 1) {
        pass_over(p, &in->particles);
        return STATUS_OK;
    }
    struct job job = {.kind = JOB_PASS};
    kith_status status = ranks__tell(ranks__processes, &job);
    status = status == KITH_OK ? ranks__do_pass(ranks__processes, &in->particles, p) : status;
    return ranks_status(ranks__processes, NULL, status, in->path);
}
