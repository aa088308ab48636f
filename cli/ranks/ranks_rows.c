/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of the particles of all shares, for the writers of io.h: in the order of the input, or
 * sorted by group. Each rank sorts its own share; rank 0 gets a piece of rows at a time.
 */
#include "ranks_internal.h"

#include <string.h>

/** The share of particles that this rank has read. */
static const io_particles *own_share(const struct ranks *r, const struct job *job)
{
    return r->control.rank == 0 ? job->share : &r->share[0];
}

/** Turn n counts into the sums of those before each. */
static void sum_before(int64_t *count, int64_t n)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t here = count[k];
        count[k] = sum;
        sum += here;
    }
}

kith_status ranks__do_sort(struct ranks *r, const struct job *job, int64_t begin[KITH_TYPES + 1])
{
    const kith_transport *t = &r->control;
    const io_particles *p = own_share(r, job);
    const int64_t keys = io_sort_keys(job->groups), bytes = keys * (int64_t)sizeof(int64_t);
    const int64_t *wide = r->groups.labels;
    int64_t *at = ranks__need_column(r, NUMBERS, keys, sizeof *at);
    int64_t *first = ranks__need_column(r, FIRST_ROWS, keys, sizeof *first);
    int32_t *labels = ranks__need_column(r, ROWS, p->n, sizeof *labels);
    int32_t *index = ranks__need_column(r, SORTED, p->n, sizeof *index);
    int64_t *rows = ranks__need_column(r, SORTED_ROWS, p->n, sizeof *rows);
    const bool fits = at && first && labels && index && rows && ranks__need_parcels(r, bytes);
    RANKS_TRY(ranks__agree(r, ranks__got(fits ? r : NULL)));
    for (int64_t k = 0; k < p->n; k++) {
        labels[k] = (int32_t)wide[k];
    }
    memset(at, 0, (size_t)bytes);
    io_sort_count(p, labels, job->groups, job->order, at);
    memcpy(first, at, (size_t)bytes);
    RANKS_TRY(ranks__combine(r, KITH_SUM, first, keys));
    sum_before(at, keys);
    sum_before(first, keys);
    io_sort_types(first, job->groups, p->all, begin);
    for (int k = 0; k < t->ranks; k++) {
        if (t->rank == k) {
            io_sort_share(p, labels, job->groups, job->order, at, first, index, rows);
        }
        RANKS_TRY(k + 1 < t->ranks ? ranks__hand_on(r, k, first, bytes) : KITH_OK);
    }
    return KITH_OK;
}

/** Return how many rows of this rank's share are before a row of all. */
static int64_t rows_before(const struct ranks *r, const io_particles *p, io_row_order order,
                           int64_t row)
{
    const int64_t *rows = r->column[SORTED_ROWS];
    if (order == IO_ORDER_INPUT) {
        const int64_t before = row - ranks__first_of(r, p->all, r->control.rank);
        return before < 0 ? 0 : before < p->n ? before : p->n;
    }
    int64_t low = 0, high = p->n; /* binary search: rows before `low` are before it, not `high` */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (rows[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** Copy n rows of a column of this rank's share, from its row `begin` on. */
static void copy_rows(const struct ranks *r, const struct job *job, const io_particles *p,
                      int64_t begin, int64_t n, char *to)
{
    const size_t size = io_row_bytes(p, job->field);
    const char *from = io_column_of(p, NULL, job->field);
    const int32_t *index = job->order == IO_ORDER_INPUT ? NULL : r->column[SORTED];
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = index ? index[begin + k] : begin + k;
        const int32_t label = from ? 0 : (int32_t)r->groups.labels[at];
        memcpy(to + (size_t)k * size, from ? from + (size_t)at * size : (const char *)&label, size);
    }
}

kith_status ranks__do_rows(struct ranks *r, const struct job *job, char *to)
{
    const io_particles *p = own_share(r, job);
    const bool root = r->control.rank == 0, sorted = job->order != IO_ORDER_INPUT;
    const size_t size = io_row_bytes(p, job->field);
    const int64_t begin = rows_before(r, p, job->order, job->first);
    const int64_t own = rows_before(r, p, job->order, job->first + job->n) - begin;
    const int64_t room = root ? job->n : own;
    int64_t held[MOST_RANKS];
    char *rows = root && !sorted ? to : ranks__need_column(r, ROWS, room, size);
    int64_t *number = ranks__need_column(r, ROW_NUMBERS, sorted ? room : 0, sizeof *number);
    RANKS_TRY(ranks__agree(r, ranks__got(rows && number ? r : NULL)));
    RANKS_TRY(ranks__gather(r, &own, sizeof own, held));
    copy_rows(r, job, p, begin, own, rows);
    RANKS_TRY(ranks__bring_held(r, held, rows, size));
    if (!sorted) {
        return KITH_OK;
    }
    const int64_t *sorted_rows = r->column[SORTED_ROWS];
    memcpy(number, sorted_rows + begin, (size_t)own * sizeof *number);
    RANKS_TRY(ranks__bring_held(r, held, number, sizeof *number));
    for (int64_t k = 0; k < job->n && root; k++) {
        memcpy(to + (size_t)(number[k] - job->first) * size, rows + (size_t)k * size, size);
    }
    return KITH_OK;
}

/** Note how a job of io_shares ended. @return true when it succeeded */
static bool end_of_shares(ranks_rows *rows, kith_status status)
{
    rows->status = status;
    return status == KITH_OK;
}

static bool sort_shares(void *user, io_row_order order, int64_t begin[KITH_TYPES + 1])
{
    ranks_rows *rows = user;
    struct job job = {
        .kind = JOB_SORT, .order = order, .groups = rows->groups->n, .share = rows->share};
    kith_status status = ranks__tell(rows->r, &job);
    status = status == KITH_OK ? ranks__do_sort(rows->r, &job, begin) : status;
    return end_of_shares(rows, status);
}

static bool rows_of_shares(void *user, io_catalogue_column column, io_row_order order,
                           int64_t first, int64_t n, void *to)
{
    ranks_rows *rows = user;
    struct job job = {.kind = JOB_ROWS,
                      .order = order,
                      .field = column,
                      .first = first,
                      .n = n,
                      .share = rows->share};
    kith_status status = ranks__tell(rows->r, &job);
    status = status == KITH_OK ? ranks__do_rows(rows->r, &job, to) : status;
    return end_of_shares(rows, status);
}

const io_shares *ranks_rows_of(ranks *r, const io_particles *share, const kith_groups *groups,
                               ranks_rows *rows)
{
    *rows = (ranks_rows){.shares = {.user = rows, .sort = sort_shares, .rows = rows_of_shares},
                         .r = r,
                         .share = share,
                         .groups = groups};
    return r && r->shares ? &rows->shares : NULL;
}
