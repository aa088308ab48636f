/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays that travel with a job: rank 0 deals out its arrays, or each rank has read its share, and
 * results travel back.
 */
#include "ranks_internal.h"

#include "pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void *ranks__need_column(struct ranks *r, enum column column, int64_t n, size_t size)
{
    free(r->column[column]);
    r->column[column] = malloc((size_t)n * size + 1);
    return r->column[column];
}

int64_t ranks__first_of(const struct ranks *r, int64_t n, int rank)
{
    return kith__piece_begin(n, r->control.ranks, rank);
}

int64_t ranks__rows_of(const struct ranks *r, int64_t n, int rank)
{
    return ranks__first_of(r, n, rank + 1) - ranks__first_of(r, n, rank);
}

kith_status ranks__move_parts(struct ranks *r, char *whole, char *mine, int64_t n, size_t size,
                              bool back)
{
    struct part part[MOST_RANKS];
    const int rank = r->control.rank;
    const int64_t own = ranks__rows_of(r, n, rank);
    for (int k = 0; k < r->control.ranks && rank == 0; k++) {
        const int64_t first = ranks__first_of(r, n, k);
        part[k] = (struct part){whole + (size_t)first * size,
                                ranks__rows_of(r, n, k) * (int64_t)size};
    }
    if (rank > 0) {
        part[0] = (struct part){mine, own * (int64_t)size};
    }
    RANKS_TRY(
        ranks__agree(r, ranks__need_parcels(r, n * (int64_t)size) ? KITH_OK : KITH_NO_MEMORY));
    return ranks__exchange(r, part, back);
}

kith_status ranks__bring(struct ranks *r, enum column column, const void *mine, int64_t n,
                         size_t size, void *whole)
{
    const bool root = r->control.rank == 0;
    const int64_t own = ranks__rows_of(r, n, r->control.rank);
    char *array = root ? ranks__need_column(r, column, n, size) : NULL;
    RANKS_TRY(ranks__agree(r, ranks__got(root ? (void *)array : r)));
    if (root) {
        if (own > 0) {
            memcpy(array, mine, (size_t)own * size);
        }
        memcpy(whole, &array, sizeof array);
    }
    return ranks__move_parts(r, array, (char *)(uintptr_t)mine, n, size, true);
}

kith_status ranks__bring_held(struct ranks *r, const int64_t *held, void *rows, size_t size)
{
    struct part part[MOST_RANKS];
    int64_t all = 0;
    for (int k = 0; k < r->control.ranks; k++) {
        part[k] = (struct part){(char *)rows + (size_t)all * size, held[k] * (int64_t)size};
        all += held[k];
    }
    if (r->control.rank > 0) {
        part[0] = (struct part){rows, held[r->control.rank] * (int64_t)size};
    }
    RANKS_TRY(ranks__agree(r, ranks__got(ranks__need_parcels(r, all * (int64_t)size) ? r : NULL)));
    return ranks__exchange(r, part, true);
}

/** Return the array of a column in the share that this rank has read. */
static const void *share_array(const struct ranks *r, enum column column)
{
    const io_particles *p = &r->share[column == AGAINST];
    switch ((int)column) {
    case XYZ:
    case AGAINST: return p->pos;
    case IDS: return p->id;
    case VELOCITIES: return p->velocity;
    case MASSES: return p->mass;
    case TYPES: return p->type;
    case POTENTIALS: return p->potential;
    case DENSITIES: return p->density;
    case RADII: /* JOB_RADII and JOB_SPECIES have left these */
    case RADII_AGAINST:
    case SPECIES:
    case SPECIES_AGAINST: return r->column[column];
    default: assert(!"a column of a file"); return NULL;
    }
}

kith_status ranks__scatter(struct ranks *r, const struct job *job, enum column column, size_t size,
                           const void **mine)
{
    const char *whole = job->whole[column];
    const int rank = r->control.rank;
    const bool second = column == AGAINST || column == SPECIES_AGAINST ||
                        column == MOLECULES_AGAINST || column == RADII_AGAINST;
    const int64_t n = second ? job->n_against : job->n;
    const int64_t first = ranks__first_of(r, n, rank);
    *mine = NULL;
    if (!whole) {
        return KITH_OK;
    }
    if (job->shares) {
        *mine = rank == 0 ? whole : share_array(r, column);
        return KITH_OK;
    }
    if (!r->mpi || rank == 0) {
        *mine = whole + (size_t)first * size;
    }
    if (!r->mpi) {
        return KITH_OK;
    }
    char *copy = rank > 0 ? ranks__need_column(r, column, ranks__rows_of(r, n, rank), size) : NULL;
    RANKS_TRY(ranks__agree(r, ranks__got(rank > 0 ? (void *)copy : r)));
    *mine = rank > 0 ? copy : *mine;
    return ranks__move_parts(r, (char *)(uintptr_t)whole, copy, n, size, false);
}

kith_status ranks__share(struct ranks *r, const struct job *job, enum column column, int64_t bytes,
                         const void **mine)
{
    struct part part[MOST_RANKS];
    const bool copies = r->mpi && r->control.rank > 0;
    *mine = job->whole[column];
    if (!*mine || !r->mpi) {
        return KITH_OK;
    }
    char *here = copies ? ranks__need_column(r, column, bytes, 1) : (char *)(uintptr_t)*mine;
    for (int k = 0; k < r->control.ranks && k < MOST_RANKS; k++) {
        part[k] = (struct part){here, bytes};
    }
    *mine = here;
    RANKS_TRY(ranks__agree(
        r, ranks__got(here && ranks__need_parcels(r, bytes * r->control.ranks) ? r : NULL)));
    return ranks__exchange(r, part, false);
}

/** Scatter the positions of a set, which are packed. @param n  particles of the set */
static kith_status scatter_set(struct ranks *r, const struct job *job, enum column column,
                               int64_t n, kith_points *mine)
{
    const void *xyz = NULL;
    RANKS_TRY(ranks__scatter(r, job, column, 3 * (size_t)job->precision, &xyz));
    *mine = kith_points_packed(xyz, ranks__rows_of(r, n, r->control.rank), job->precision);
    return KITH_OK;
}

kith_status ranks__scatter_points(struct ranks *r, const struct job *job, kith_points *mine)
{
    return scatter_set(r, job, XYZ, job->n, mine);
}

kith_status ranks__scatter_against(struct ranks *r, const struct job *job, kith_points *mine,
                                   const kith_points **given)
{
    *given = job->has_against ? mine : NULL;
    return scatter_set(r, job, AGAINST, job->n_against, mine);
}

kith_status ranks__scatter_bonds(struct ranks *r, const struct job *job, const int64_t **offsets,
                                 const int32_t **bonds)
{
    const void *every_offset, *every_bond;
    RANKS_TRY(ranks__share(r, job, BOND_OFFSETS, (job->n + 1) * (int64_t)sizeof **offsets,
                           &every_offset));
    RANKS_TRY(ranks__share(r, job, BONDS, job->bonds * (int64_t)sizeof **bonds, &every_bond));
    *offsets = every_offset;
    *offsets += every_offset ? ranks__first_of(r, job->n, r->control.rank) : 0;
    *bonds = every_bond;
    return KITH_OK;
}

void ranks__describe_bonds(struct job *job, const int64_t *offsets, const int32_t *bonds)
{
    if (offsets) {
        job->whole[BOND_OFFSETS] = offsets;
        job->whole[BONDS] = bonds;
        job->bonds = offsets[job->n];
    }
}

void ranks__describe_sets(const struct ranks *r, struct job *job, const kith_points *points,
                          const kith_box *box, const kith_points *against)
{
    job->shares = r->shares;
    job->n = r->shares ? r->of_set[0] : points->n;
    job->precision = points->precision;
    job->whole[XYZ] = points->x;
    job->has_box = box != NULL;
    job->has_against = against != NULL;
    if (box) {
        job->box = *box;
    }
    if (against) {
        job->n_against = r->shares ? r->of_set[1] : against->n;
        job->whole[AGAINST] = against->x;
    }
}

const kith_box *ranks__box_of(const struct job *job)
{
    return job->has_box ? &job->box : NULL;
}
