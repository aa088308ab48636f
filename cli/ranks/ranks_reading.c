/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a file by processes of MPI: each rank reads and keeps its share of the particles. Passes
 * over the shares of all ranks.
 */
#include "ranks_internal.h"

#include "common/progress.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What rank 0 tells the others to read. */
struct request {
    char path[PATH_MAX];                       /**< the file */
    char dataset[PATH_MAX], species[PATH_MAX]; /**< options; "": not given */
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

void ranks__do_read(struct ranks *r, const struct job *job)
{
    const void *at;
    if (ranks__share(r, job, REQUEST, sizeof(struct request), &at) != KITH_OK) {
        return;
    }
    const struct request *request = at;
    io_particles *into = &r->share[job->set];
    io_read_options read = request->read;
    io_error error = {0};
    read.dataset = *request->dataset ? request->dataset : NULL;
    read.species = *request->species ? request->species : NULL;
    read.watch = progress_watch_interrupt;
    read.part = r->control.rank;
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
    return ranks__processes && !o->read.columns && !o->read.radii && fits_request(path) &&
           fits_request(o->read.dataset) && fits_request(o->read.species) &&
           io_reads_parts(path, &o->read, &can, &unused) == IO_OK && can;
}

int ranks_share_begin(const options *o, const char *path, int set)
{
    struct ranks *r = ranks__processes;
    struct request *request = calloc(1, sizeof *request);
    if (!request) {
        return report_no_memory(path);
    }
    assert(!o->read.columns && !o->read.radii); /* ranks_read_shares */
    request->read = o->read;
    request->read.dataset = request->read.species = NULL; /* pointers of this process */
    request->read.watch = NULL;
    request->read.user = NULL;
    request->read.parts = r->control.ranks;
    snprintf(request->path, sizeof request->path, "%s", path);
    snprintf(request->dataset, sizeof request->dataset, "%s",
             o->read.dataset ? o->read.dataset : "");
    snprintf(request->species, sizeof request->species, "%s",
             o->read.species ? o->read.species : "");
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

kith_status ranks__do_pass(struct ranks *r, const io_particles *share, pass *p)
{
    const kith_transport *t = &r->control;
    for (int k = 0; k < t->ranks; k++) {
        const int next = (k + 1) % t->ranks;
        const kith_parcel to = {.peer = next, .data = p, .bytes = sizeof *p};
        kith_parcel from = {.peer = k, .data = p, .bytes = sizeof *p};
        if (t->rank == k) {
            pass_over(p, share);
        }
        RANKS_TRY(ranks__trade(r, &to, t->rank == k, &from, t->rank == next));
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
