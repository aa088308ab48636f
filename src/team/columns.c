/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns are sent one after the other, each along the route of the particles or of the ghosts
 * (move.h). O(bytes of the columns).
 */
#include "columns.h"

#include <string.h>

kith_status kith__columns_deal(kith_team *team, const struct kith__dealt *dealt,
                               struct kith__columns *columns)
{
    for (int c = 0; c < columns->n; c++) {
        void *column = NULL;
        columns->column[c] = NULL;
        if (!columns->given[c]) {
            continue;
        }
        KITH_AGREE(team,
                   kith__team_need(team, columns->buffer + c, dealt->n, columns->size[c], &column));
        KITH_TRY(
            kith__route_send(team, &dealt->route, columns->given[c], columns->size[c], column));
        columns->column[c] = column;
    }
    return KITH_OK;
}

kith_status kith__columns_ghosts(kith_team *team, const struct kith__route *route,
                                 const struct kith__dealt *dealt, struct kith__columns *columns)
{
    const int64_t all = dealt->n + dealt->ghosts;
    for (int c = 0; c < columns->n; c++) {
        const size_t size = columns->size[c];
        if (!columns->column[c]) {
            continue;
        }
        char *column = kith__buffer_grow(&team->buffer[columns->buffer + c],
                                         (size_t)dealt->n * size, (size_t)all * size);
        KITH_AGREE(team, column ? KITH_OK
                                : kith__fail(team->ctx, KITH_NO_MEMORY,
                                             "out of memory for %lld particles", (long long)all));
        columns->column[c] = column;
        KITH_TRY(kith__route_send(team, route, column, size, column + (size_t)dealt->n * size));
    }
    return KITH_OK;
}

const void *kith__column_from(const struct kith__columns *columns, int column, int64_t first)
{
    const char *all = columns->column[column];
    return all ? all + (size_t)first * columns->size[column] : NULL;
}

kith_status kith__column_in_order(kith_team *team, int buffer, const struct kith__columns *columns,
                                  int column, const int32_t *order, int64_t n, const void **out)
{
    const size_t size = columns->size[column];
    const char *from = columns->column[column];
    char *to = NULL;
    *out = NULL;
    if (!from) {
        return KITH_OK;
    }
    KITH_TRY(kith__team_need(team, buffer, n, size, &to));
    for (int64_t k = 0; k < n; k++) {
        memcpy(to + (size_t)k * size, from + (size_t)order[k] * size, size);
    }
    *out = to;
    return KITH_OK;
}
