/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over blocks of frames. Up to 4 grains for each block are kept. When a frame needs one more,
 * each two adjacent grains are merged: O(1) additions of rows for each frame on average, and memory
 * that does not depend on the number of frames.
 */
#include "rdf_blocks.h"

#include <math.h>
#include <stdlib.h>

enum { GRAINS = 4 }; /* grains of a block at most: the lengths of blocks then differ by a third */

int64_t rdf_blocks_most(int64_t wanted)
{
    return GRAINS * wanted;
}

int64_t rdf_blocks_left(int64_t wanted, int64_t frame)
{
    int64_t each = 1; /* doubles whenever all grains are in use: their number is then halved */
    for (int64_t end = rdf_blocks_most(wanted); frame >= end; end *= 2) {
        each *= 2;
    }
    return each - frame % each;
}

bool rdf_blocks_start(rdf_blocks *blocks, int64_t width, int64_t wanted)
{
    *blocks = (rdf_blocks){.width = width, .wanted = wanted, .each = 1, .last = 1};
    blocks->row = calloc((size_t)rdf_blocks_most(wanted), sizeof *blocks->row);
    blocks->total = calloc((size_t)width, sizeof *blocks->total);
    return blocks->row && blocks->total;
}

static void add_row(const rdf_blocks *blocks, double *to, const double *from)
{
    for (int64_t k = 0; k < blocks->width; k++) {
        to[k] += from[k];
    }
}

/** Move the sum of rows [begin, end) to row `to` <= begin, and free the others. */
static void join(rdf_blocks *blocks, int64_t to, int64_t begin, int64_t end)
{
    double *keep = blocks->row[begin];
    blocks->row[begin] = NULL;
    for (int64_t k = begin + 1; k < end; k++) {
        add_row(blocks, keep, blocks->row[k]);
        free(blocks->row[k]);
        blocks->row[k] = NULL;
    }
    blocks->row[to] = keep;
}

double *rdf_blocks_row(rdf_blocks *blocks)
{
    if (blocks->n > 0 && blocks->last < blocks->each) {
        blocks->last++;
        return blocks->row[blocks->n - 1];
    }
    if (blocks->n == rdf_blocks_most(blocks->wanted)) {
        blocks->n /= 2;
        blocks->each *= 2;
        for (int64_t k = 0; k < blocks->n; k++) {
            join(blocks, k, 2 * k, 2 * k + 2);
        }
    }
    double *row = calloc((size_t)blocks->width, sizeof *row);
    if (row) {
        blocks->row[blocks->n++] = row;
        blocks->last = 1;
    }
    return row;
}

void rdf_blocks_fold(rdf_blocks *blocks)
{
    const int64_t n = blocks->n;
    blocks->grains = n;
    blocks->n = n < blocks->wanted ? n : blocks->wanted;
    for (int64_t b = 0; b < blocks->n; b++) {
        join(blocks, b, b * n / blocks->n, (b + 1) * n / blocks->n);
        add_row(blocks, blocks->total, blocks->row[b]);
    }
}

double rdf_ratio(const double *y, const double *x, int64_t n, int64_t stride, double *error)
{
    double all_y = 0, all_x = 0, squares = 0;
    int64_t blocks = 0; /* blocks with x above 0; one alone has no error */
    for (int64_t b = 0; b < n; b++) {
        all_y += y[b * stride];
        all_x += x[b * stride];
        blocks += x[b * stride] > 0;
    }
    const double ratio = all_x > 0 ? all_y / all_x : (double)NAN;
    for (int64_t b = 0; b < n; b++) {
        const double beside = y[b * stride] - ratio * x[b * stride];
        squares += beside * beside;
    }
    *error = blocks < 2 ? (double)NAN
                        : sqrt((double)blocks / (double)(blocks - 1) * squares) / all_x;
    return ratio;
}

void rdf_blocks_free(rdf_blocks *blocks)
{
    for (int64_t k = 0; k < rdf_blocks_most(blocks->wanted) && blocks->row; k++) {
        free(blocks->row[k]);
    }
    free(blocks->row);
    free(blocks->total);
    *blocks = (rdf_blocks){0};
}
