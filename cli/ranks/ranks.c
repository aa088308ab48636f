/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening and closing the ranks of a command, and the loop in which ranks above 0 do their jobs.
 */
#include "ranks_internal.h"

#include "common/engine.h"
#include "common/progress.h"
#include "pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ranks *ranks__processes;

/* What JOB_DEAL calls; NULL: nothing. */
static ranks_deal_fn on_deal;

/** Count the names of a list of backends. */
static int count_backends(const char *list)
{
    int names = 1;
    for (const char *at = list; *at; at++) {
        names += *at == ',';
    }
    return names;
}

/** Return true when a list has more than one name, and they differ. */
static bool backends_differ(const char *list)
{
    const size_t length = strcspn(list, ",");
    for (const char *at = list + length; *at == ','; at += strcspn(at, ",")) {
        at++;
        if (strcspn(at, ",") != length || memcmp(at, list, length) != 0) {
            return true;
        }
    }
    return false;
}

/** Copy the name of the backend that a rank uses from the list. */
static void choose_backend(const struct ranks *r, const char *list, char out[BACKENDS_BYTES])
{
    const int names = count_backends(list);
    for (int turn = (r->mpi ? launcher_local_rank() : r->control.rank) % names; turn > 0; turn--) {
        list = strchr(list, ',') + 1;
    }
    snprintf(out, BACKENDS_BYTES, "%.*s", (int)strcspn(list, ","), list);
}

/** Open the context of a rank above 0, or that of rank 0, with a progress bar. */
static kith_status open_context(struct ranks *r, const struct job *job, kith_watch_fn watch,
                                void *user)
{
    char backend[BACKENDS_BYTES];
    kith_options settings;
    kith_options_init(&settings);
    choose_backend(r, job->backends, backend);
    settings.backend = *backend ? backend : NULL;
    settings.threads = job->threads;
    settings.watch = watch;
    settings.user = user;
    const kith_status status = kith_open(&settings, &r->ctx);
    if (status != KITH_OK) {
        snprintf(r->message, sizeof r->message, "%.500s", kith_message(NULL));
    }
    return status;
}

/** Close the team and the context of a rank; rank 0's context is the command's. */
static void close_member(struct ranks *r)
{
    kith_team_groups_free(&r->groups);
    kith_team_flock_close(r->flock);
    r->flock = NULL;
    for (int set = 0; set < 2; set++) {
        io_particles_free(&r->share[set]);
    }
    r->shares = false;
    kith_team_close(r->team);
    if (r->control.rank > 0) {
        kith_close(r->ctx);
    }
    r->team = NULL;
    r->ctx = NULL;
    for (int c = 0; c < COLUMNS; c++) {
        free(r->column[c]);
        r->column[c] = NULL;
    }
    free(r->members);
    r->members = NULL;
}

/** Open the context and the team of a rank. */
static kith_status do_open(struct ranks *r, const struct job *job, kith_watch_fn watch, void *user)
{
    kith_status status = open_context(r, job, watch, user);
    RANKS_TRY(ranks__fetch_message(r, status, true));
    if (r->mpi) {
        RANKS_TRY(ranks__agree(r, launcher_transport(&r->work)));
    }
    kith_transport work = r->work;
    memset(&r->work, 0, sizeof r->work);
    status = kith_team_open(r->ctx, &work, NULL, &r->team);
    if (status != KITH_OK) {
        snprintf(r->message, sizeof r->message, "%.500s", kith_message(r->ctx));
    }
    return status;
}

void ranks_on_deal(ranks_deal_fn fn)
{
    on_deal = fn;
}

/** Call a function with the transport and the context of this rank. */
static kith_status do_deal(struct ranks *r, ranks_deal_fn fn, void *user)
{
    return fn(&r->control, r->ctx, user) == KITH_OK ? KITH_OK : ranks__lose(r);
}

kith_status ranks_deal(ranks *r, ranks_deal_fn fn, void *user)
{
    struct job job = {.kind = JOB_DEAL};
    RANKS_TRY(ranks__tell(r, &job));
    return do_deal(r, fn, user);
}

/** Do the jobs of a rank above 0 until it is told to end. @return the exit status of rank 0 */
static int serve(struct ranks *r)
{
    for (;;) {
        struct job job;
        spread unused;
        kith_flock_measures measures;
        int64_t n, begin[KITH_TYPES + 1];
        if (ranks__tell(r, &job) != KITH_OK) {
            close_member(r);
            return STATUS_NO_BACKEND;
        }
        switch (job.kind) { /* rank 0 has the statuses too, or the transport is lost (lose) */
        case JOB_READ: ranks__do_read(r, &job); break;
        case JOB_OPEN: (void)do_open(r, &job, progress_watch_interrupt, NULL); break;
        case JOB_RADII:
            (void)ranks__do_radii(r, &job, &r->share[job.set], NULL, &(radii_range){0},
                                  &(io_error){0});
            break;
        case JOB_SPECIES:
            (void)ranks__do_species(r, &job, &r->share[job.set], &(species_names){0}, NULL,
                                    &(io_error){0});
            break;
        case JOB_WEIGHTS:
            (void)ranks__do_weights(r, &job, &r->share[0], NULL, &(bool){false}, &(io_error){0});
            break;
        case JOB_PASS: (void)ranks__do_pass(r, &r->share[0], &(pass){.kind = PASS_FIELDS}); break;
        case JOB_FOF: (void)ranks__do_fof(r, &job, NULL); break;
        case JOB_COUNT_LABELS: (void)ranks__do_count_labels(r, job.groups, NULL); break;
        case JOB_RENUMBER: (void)ranks__do_renumber(r, &job); break;
        case JOB_HALOS: (void)ranks__do_halos(r, &job, NULL); break;
        case JOB_SORT: (void)ranks__do_sort(r, &job, begin); break;
        case JOB_ROWS: (void)ranks__do_rows(r, &job, NULL); break;
        case JOB_NEAREST: (void)ranks__do_nearest(r, &job, NULL); break;
        case JOB_RDF: (void)ranks__do_rdf(r, &job, NULL, &(ranks_weight_sums){0}); break;
        case JOB_FRAMES: (void)ranks__do_frames(r, &job, NULL); break;
        case JOB_PAIRS: (void)ranks__do_pairs(r, &job, &n, NULL); break;
        case JOB_SPREAD:
            (void)ranks__do_spread(r, r->column[RESULTS], r->share[0].n, &unused);
            break;
        case JOB_LIST: (void)ranks__do_list(r, &job, NULL, NULL); break;
        case JOB_FLOCK: (void)ranks__do_flock(r, &job); break;
        case JOB_CHANGE: (void)ranks__do_change(r, &job); break;
        case JOB_STEP: (void)kith_team_flock_step(r->flock, job.steps); break;
        case JOB_STATE: (void)ranks__do_state(r, &job, NULL); break;
        case JOB_MEASURE: (void)kith_team_flock_measure(r->flock, &measures); break;
        case JOB_DEAL: (void)do_deal(r, on_deal, NULL); break;
        case JOB_CLOSE: close_member(r); break;
        case JOB_END: close_member(r); return job.status;
        }
    }
}

/** Free a rank, whose context and team are closed. */
static void free_member(struct ranks *r)
{
    kith_transport_close(&r->work);
    kith_transport_close(&r->control);
    free(r->parcel);
    r->parcel = NULL;
    r->room = 0;
}

/** For on_exit, in rank 0 of MPI: let the other ranks end with this status. */
static void end_processes(int status, void *unused)
{
    struct job job = {.kind = JOB_END, .status = status};
    (void)unused;
    if (ranks__tell(ranks__processes, &job) != KITH_OK) {
        ranks__processes->control.abort(ranks__processes->control.self);
    }
    free_member(ranks__processes);
    launcher_end();
}

int ranks_join(bool *several)
{
    static struct ranks self = {.mpi = true};
    int all = 1;
    CLI_TRY(launcher_begin(&all, &self.control));
    *several = all > 1;
    if (!*several) {
        return STATUS_OK;
    }
    if (!ranks__need_parcels(&self, 0)) {
        (void)report_no_memory("the ranks");
        self.control.abort(self.control.self);
        return STATUS_NO_MEMORY;
    }
    if (self.control.rank > 0) {
        (void)dup2(STDERR_FILENO, STDOUT_FILENO); /* these ranks print nothing, but MPI may */
        progress_catch_signals();
        const int end = serve(&self);
        free_member(&self);
        launcher_end();
        exit(end);
    }
    ranks__processes = &self;
    (void)setenv("NO_COLOR", "1", 0); /* the terminal may be the launcher's, which ends in a file */
    (void)on_exit(end_processes, NULL);
    return STATUS_OK;
}

/** Main function of the thread of a rank. */
static void *run_thread(void *argument)
{
    (void)serve(argument);
    return NULL;
}

/** Let the threads of some ranks end, and free all ranks. @param started  ranks that were started,
 *  rank 0 included */
static void end_threads(struct ranks *all, int started)
{
    struct job job = {.kind = JOB_END};
    const int n = all->control.ranks;
    if (started < n || ranks__tell(all, &job) != KITH_OK) {
        all->control.abort(all->control.self);
    }
    for (int k = 1; k < started; k++) {
        pthread_join(all[k].thread, NULL);
    }
    for (int k = 0; k < n; k++) {
        free_member(&all[k]);
    }
    free(all);
}

/** Start a thread for each rank but the first. @return rank 0; NULL: no memory or no thread */
static struct ranks *start_threads(int n)
{
    struct ranks *all = calloc((size_t)n, sizeof *all);
    kith_transport *control = calloc((size_t)n, sizeof *control);
    kith_transport *work = calloc((size_t)n, sizeof *work);
    int started = 0;
    if (all && control && work && kith_transport_threads(n, control) == KITH_OK) {
        bool fits = kith_transport_threads(n, work) == KITH_OK;
        for (int k = 0; k < n; k++) {
            all[k] = (struct ranks){.control = control[k], .work = work[k], .all = all};
            fits = fits && ranks__need_parcels(&all[k], 0);
        }
        started = 1;
        while (fits && started < n &&
               pthread_create(&all[started].thread, NULL, run_thread, &all[started]) == 0) {
            started++;
        }
        if (started < n) {
            end_threads(all, started);
            all = NULL;
        }
    } else {
        free(all);
        all = NULL;
    }
    free(control);
    free(work);
    return all;
}

/** Return the list of backends that the options or the environment give; "": none. */
static const char *listed_backends(const options *o)
{
    const char *asked = o->backend ? o->backend : getenv("KITH_BACKEND");
    return asked ? asked : "";
}

bool ranks_several(const options *o)
{
    return ranks__processes || count_backends(listed_backends(o)) > 1;
}

int ranks_open(const options *o, kith_watch_fn watch, void *user, kith_ctx **ctx, ranks **out)
{
    const char *list = listed_backends(o);
    const int names = count_backends(list);
    *out = NULL;
    if (!ranks_several(o)) {
        return engine_open(o, watch, user, ctx);
    }
    if (strlen(list) >= BACKENDS_BYTES || names > MOST_RANKS) {
        return report_error(STATUS_INVALID, NULL, "--backend: the list of backends is too long");
    }
    if (*list == ',' || strstr(list, ",,") || (names > 1 && list[strlen(list) - 1] == ',')) {
        return report_error(STATUS_INVALID, NULL, "--backend: got '%s', a name is empty", list);
    }
    struct ranks *r = ranks__processes ? ranks__processes : start_threads(names);
    if (!r) {
        return report_no_memory("the ranks of --backend");
    }
    struct job job = {.kind = JOB_OPEN, .threads = o->threads};
    snprintf(job.backends, sizeof job.backends, "%s", list);
    snprintf(r->list, sizeof r->list, "%s", backends_differ(list) ? list : "");
    if (!r->mpi) { /* the ranks of a process share its threads */
        const int threads = (o->threads > 0 ? o->threads : kith__default_threads()) / names;
        job.threads = threads > 0 ? threads : 1;
    }
    *out = r;
    progress_unstoppable(true);
    kith_status status = ranks__tell(r, &job);
    status = status == KITH_OK ? do_open(r, &job, watch, user) : status;
    progress_unstoppable(false);
    *ctx = r->ctx;
    return ranks_status(r, NULL, status, NULL);
}

void ranks_close(ranks *r)
{
    if (!r) {
        return;
    }
    struct job job = {.kind = JOB_CLOSE};
    (void)ranks__tell(r, &job);
    close_member(r);
    if (!r->mpi) {
        end_threads(r->all, r->control.ranks);
    }
}

int ranks_number(const ranks *r)
{
    return r ? r->control.ranks : 1;
}

const char *ranks_backend(const ranks *r, const kith_ctx *ctx)
{
    return r && *r->list ? r->list : kith_backend(ctx);
}

shown_text ranks_words(const ranks *r, const kith_ctx *ctx)
{
    const int threads = kith_threads(ctx);
    if (!r) {
        return report_text(engine_words(ctx).s);
    }
    shown_text words;
    snprintf(words.s, sizeof words.s, "%d ranks of %s, %d thread%s", r->control.ranks,
             ranks_backend(r, ctx), threads, threads == 1 ? "" : "s");
    return words;
}

int ranks_status(const ranks *r, const kith_ctx *ctx, kith_status status, const char *about)
{
    if (status == KITH_OK || !r || !r->message[0]) {
        return report_kith(ctx, status, about);
    }
    return report_kith_text(status, about, r->message);
}
