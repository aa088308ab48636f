/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small frames of a trajectory, which are dealt to the ranks: each counts whole ones, and rank 0
 * gets a histogram of each.
 */
#include "ranks_internal.h"

#include <stdio.h>
#include <string.h>

/** A frame in a message; positions and species follow, each filled up to 8 bytes. */
struct frame_head {
    int64_t n;                /**< particles */
    kith_box box;             /**< the box */
    kith_precision precision; /**< of the positions */
};

/** Bytes of an array in a message: whole words of 8 bytes. */
static int64_t filled(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/** Bytes of the positions of a frame, filled up; of its species. */
static int64_t bytes_of_positions(const struct frame_head *head)
{
    return filled(3 * head->n * (int64_t)head->precision);
}

static int64_t bytes_of_species(const struct frame_head *head)
{
    return filled(head->n * (int64_t)sizeof(int32_t));
}

/** Describe a frame. */
static struct frame_head head_of(const ranks_frame *frame)
{
    return (struct frame_head){frame->points.n, frame->box, frame->points.precision};
}

/** Bytes of the message with frames [begin, end). */
static int64_t bytes_of_frames(const ranks_frame *frame, int64_t begin, int64_t end)
{
    int64_t bytes = 0;
    for (int64_t k = begin; k < end; k++) {
        const struct frame_head head = head_of(&frame[k]);
        bytes += filled(sizeof head) + bytes_of_positions(&head) + bytes_of_species(&head);
    }
    return bytes;
}

/** Write the message with n frames. */
static void pack_frames(const ranks_frame *frame, int64_t n, char *to)
{
    for (int64_t k = 0; k < n; k++) {
        const struct frame_head head = head_of(&frame[k]);
        memcpy(to, &head, sizeof head);
        to += filled(sizeof head);
        if (head.n > 0) {
            memcpy(to, frame[k].points.x, 3 * (size_t)head.n * (size_t)head.precision);
            memcpy(to + bytes_of_positions(&head), frame[k].species,
                   (size_t)head.n * sizeof *frame[k].species);
        }
        to += bytes_of_positions(&head) + bytes_of_species(&head);
    }
}

/** Numbers of a histogram in a message: counts, ideal and centres, of 8 bytes each. */
static int64_t numbers_of(const kith_rdf_options *o)
{
    const int64_t partials = (int64_t)o->n_species * (o->n_species + 1) / 2;
    return 2 * partials * o->bins + o->n_species;
}

/** Count the frame of a message. @param[out] numbers  [numbers_of(o)] */
static kith_status count_frame(kith_ctx *ctx, const char *message, kith_rdf_options o,
                               const struct frame_head *head, char *numbers)
{
    const char *xyz = message + filled(sizeof *head);
    const kith_points points = kith_points_packed(xyz, head->n, head->precision);
    kith_histogram h = {0};
    o.species = (const int32_t *)(const void *)(xyz + bytes_of_positions(head));
    const kith_status status = kith_rdf_count(ctx, &points, &head->box, &o, &h);
    if (status == KITH_OK) {
        const size_t bytes = (size_t)h.partials * (size_t)h.bins * sizeof *h.counts;
        memcpy(numbers, h.counts, bytes);
        memcpy(numbers + bytes, h.ideal, bytes);
        memcpy(numbers + 2 * bytes, h.centres, (size_t)h.n_species * sizeof *h.centres);
    }
    kith_histogram_free(&h);
    return status;
}

/** Send each rank its frames: one message, in column ROWS of each rank, at the end of which rank 0
 *  has those of the others. @param[out] message  the frames of this rank */
static kith_status deal_frames(struct ranks *r, const struct job *job, const ranks_frame *frame,
                               char **message)
{
    const kith_transport *t = &r->control;
    struct part part[MOST_RANKS], size[MOST_RANKS];
    int64_t bytes[MOST_RANKS + 1] = {0}, own = 0, all = 0;
    const bool root = t->rank == 0;
    for (int k = 0; k < t->ranks; k++) {
        bytes[k] = root ? bytes_of_frames(frame, ranks__first_of(r, job->n, k),
                                          ranks__first_of(r, job->n, k + 1))
                        : 0;
        size[k] = (struct part){(char *)&bytes[k], sizeof bytes[k]};
        all += bytes[k];
    }
    size[0].data = (char *)(root ? &bytes[0] : &own);
    RANKS_TRY(ranks__agree(
        r, ranks__got(ranks__need_parcels(r, t->ranks * (int64_t)sizeof own) ? r : NULL)));
    RANKS_TRY(ranks__exchange(r, size, false));
    char *rows = ranks__need_column(r, ROWS, root ? all : own, 1);
    RANKS_TRY(
        ranks__agree(r, ranks__got(rows && ranks__need_parcels(r, root ? all : own) ? r : NULL)));
    *message = rows;
    part[0] = (struct part){rows, own};
    for (int k = 0; k < t->ranks && root; k++) {
        const int64_t begin = ranks__first_of(r, job->n, k);
        pack_frames(frame + begin, ranks__rows_of(r, job->n, k), rows);
        part[k] = (struct part){rows, bytes[k]};
        rows += bytes[k];
    }
    return ranks__exchange(r, part, false);
}

kith_status ranks__do_frames(struct ranks *r, const struct job *job, ranks_frame *frame)
{
    const bool root = r->control.rank == 0;
    kith_rdf_options o = job->rdf;
    const size_t each = (size_t)numbers_of(&o) * sizeof(int64_t);
    int64_t held[MOST_RANKS];
    const void *edges;
    char *message;
    for (int k = 0; k < r->control.ranks; k++) {
        held[k] = ranks__rows_of(r, job->n, k);
    }
    const int64_t own = held[r->control.rank];
    RANKS_TRY(ranks__share(r, job, EDGES, (o.bins + 1) * (int64_t)sizeof *o.edges, &edges));
    RANKS_TRY(deal_frames(r, job, frame, &message));
    char *numbers = ranks__need_column(r, RESULTS, root ? job->n : own, each);
    RANKS_TRY(ranks__agree(r, ranks__got(numbers)));
    kith_status status = KITH_OK;
    o.edges = edges;
    for (int64_t k = 0; k < own && status == KITH_OK; k++) {
        struct frame_head head;
        memcpy(&head, message, sizeof head);
        status = count_frame(r->ctx, message, o, &head, numbers + (size_t)k * each);
        message += filled(sizeof head) + bytes_of_positions(&head) + bytes_of_species(&head);
    }
    if (status != KITH_OK) {
        snprintf(r->message, sizeof r->message, "%.500s", kith_message(r->ctx));
    }
    RANKS_TRY(ranks__fetch_message(r, status, false));
    RANKS_TRY(ranks__bring_held(r, held, numbers, each));
    for (int64_t k = 0; k < job->n && root; k++) {
        kith_histogram *h = &frame[k].histogram;
        char *at = numbers + (size_t)k * each;
        *h = (kith_histogram){.bins = o.bins, .n_species = o.n_species, .frames = 1};
        h->partials = o.n_species * (o.n_species + 1) / 2;
        h->counts = (int64_t *)(void *)at;
        h->ideal = (double *)(void *)(at + (size_t)h->partials * (size_t)o.bins * sizeof *h->ideal);
        h->centres = (int64_t *)(void *)(at + each) - o.n_species;
    }
    return KITH_OK;
}

kith_status ranks_frames_count(ranks *r, const kith_rdf_options *how, ranks_frame *frame, int64_t n)
{
    struct job job = {.kind = JOB_FRAMES, .rdf = *how, .n = n, .whole = {[EDGES] = how->edges}};
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_frames(r, &job, frame);
}
