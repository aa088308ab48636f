/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The search for the nearest neighbours of the particles of one leaf, for one precision. Included
 * by nearest_kernel.c, which describes the algorithm, through core/per_precision.h, once for double
 * and once for float: `real` is the type, and KITH_REAL(name) is name_d or name_f. nearest_kernel.c
 * calls search_leaf of each; it defines struct pending_node and the functions on lists before. The
 * vector types, with SIDE_BY_SIDE numbers each, and their operations are those of
 * engine/cpu/lanes.h.
 */

/** The particles of one leaf, whose neighbours are searched. */
struct KITH_REAL(leaf_search) {
    const struct kith__nearest_search *all; /**< what all threads share */
    int64_t leaf;                           /**< number of the leaf in the tree all->a */
    int n;                                  /**< particles of the leaf */
    int64_t k;                              /**< neighbours to find of each particle */
    int64_t steps;                          /**< nodes that have been visited, in all images: counts
                                                 the tests for cancellation */
    bool only_others;                       /**< there is one set: in the box itself a particle is
                                                 not its own neighbour */
    real x[3][KITH_LEAF];                   /**< coordinates of the particles; NaN from n on
                                                 [length] */
    int32_t id[KITH_LEAF];                  /**< [n] indices in the caller's order */
    real radius[KITH_LEAF];                 /**< [n] radii; not set without radii [length] */
    real most_radius;                       /**< largest of `radius` [length] */
    real lo[3], hi[3];                      /**< bounds of the coordinates [length] */
    int64_t found[KITH_LEAF];               /**< [n] neighbours in the list of each */
    real reach2[KITH_LEAF];       /**< largest r^2 that a candidate of each particle may have:
                                       r^2 of the last neighbour in a full list, else the squared
                                       cutoff, or the square of the largest distance that radii
                                       permit if that is shorter; infinity without a cutoff; -1
                                       from n on [length^2] */
    real widest2;                 /**< largest of reach2 [length^2] */
    struct kith__neighbour *list; /**< [n][k] list of each particle */
    int32_t packed_shift;         /**< shift S of the image that is being searched, packed */
    bool is_image;                /**< S is not 0 */
    real translation[3][3]; /**< S[k] * row[k], each product rounded; they are added in the order
                                 c, b, a [length] */
};

/** Add component m of the image's translation to component m of a vector, row by row in the order
 *  of the definition of a pair. */
static inline real KITH_REAL(translate)(const struct KITH_REAL(leaf_search) *s, real d, int m)
{
    return s->is_image ? ((d + s->translation[2][m]) + s->translation[1][m]) + s->translation[0][m]
                       : d;
}

/** Return a lower bound of r^2 between the leaf's particles and an image of those of a node.
 *  @param box  bounding box of the node: lowest, then highest coordinates [length] */
static real KITH_REAL(least_square)(const struct KITH_REAL(leaf_search) *s, const real box[6])
{
    real gap[3];
    for (int m = 0; m < 3; m++) {
        const real low = KITH_REAL(translate)(s, box[m] - s->hi[m], m);
        const real high = KITH_REAL(translate)(s, box[3 + m] - s->lo[m], m);
        gap[m] = low > 0 ? low : high < 0 ? -high : 0;
    }
    return (gap[0] * gap[0] + gap[1] * gap[1]) + gap[2] * gap[2];
}

/** Add component m of the image's translation to component m of several vectors, one in each lane,
 *  in the order of the definition of a pair. */
KITH_INLINE KITH_REAL(vector)
    KITH_REAL(translate_lanes)(const struct KITH_REAL(leaf_search) *s, KITH_REAL(vector) d, int m)
{
    return s->is_image ? ((d + s->translation[2][m]) + s->translation[1][m]) + s->translation[0][m]
                       : d;
}

/** Remove the candidates with which radii permit no pair from a bit mask of candidates in
 *  consecutive lanes. Not inlined: a search without radii tests for them alone.
 *  @param p      the query particle
 *  @param first  index of the first lane's candidate in the arrays of its tree
 *  @param r2     [SIDE_BY_SIDE] squared distances [length^2] */
static __attribute__((noinline)) unsigned KITH_REAL(keep_permitted)(
    const struct KITH_REAL(leaf_search) *s, int p, int64_t first, const real *r2, unsigned near)
{
    const real *radius = (const real *)s->all->b.radius + first;
    unsigned kept = 0;
    for (; near; near &= near - 1) {
        const int lane = __builtin_ctz(near);
        const bool some = KITH_REAL(kith__radii_permit)(s->all->rules->radius_rule, s->radius[p],
                                                        radius[lane], r2[lane]);
        kept |= (unsigned)some << lane;
    }
    return kept;
}

/** Test the candidates of a leaf against query particle p, and insert its neighbours into its list.
 *  @param leaf      number of the leaf in the tree of the candidates
 *  @param by_radii  known at compile time: pairs are permitted by radii */
KITH_INLINE void KITH_REAL(test_query)(struct KITH_REAL(leaf_search) *s, int p, int64_t leaf,
                                       bool by_radii)
{
    enum { N = KITH_REAL(SIDE_BY_SIDE) };
    const struct kith__tree *tree = &s->all->b;
    const int64_t first = leaf * KITH_LEAF;
    const int32_t *id = tree->id + first;
    struct kith__neighbour *list = s->list + p * s->k;
    /* index of the candidate to leave out; -1: none */
    const int32_t itself = s->only_others && !s->is_image ? s->id[p] : -1;
    for (int c = 0; c < KITH_LEAF; c += N) {
        KITH_REAL(vector) d[3];
        for (int m = 0; m < 3; m++) {
            const KITH_REAL(vector) x = KITH_REAL(load)((real *)tree->xyz[m] + first + c);
            d[m] = KITH_REAL(translate_lanes)(s, x - s->x[m][p], m);
        }
        const KITH_REAL(vector) squares = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        /* a NaN, that of a padding lane of the last leaf, is never within reach */
        unsigned near = KITH_REAL(lanes_to)(squares, s->reach2[p]);
        real r2[N];
        memcpy(r2, &squares, sizeof r2);
        if (by_radii) {
            near = KITH_REAL(keep_permitted)(s, p, first + c, r2, near);
        }
        for (; near; near &= near - 1) {
            const int lane = __builtin_ctz(near);
            const int32_t j = id[c + lane];
            const struct kith__neighbour hit = {kith__neighbour_place(j, s->packed_shift),
                                                (double)r2[lane]};
            if (j != itself) {
                s->found[p] = insert(list, s->found[p], s->k, &hit);
            }
        }
        if (s->found[p] == s->k) {
            s->reach2[p] = (real)last_of(list, s->k)->r2;
        }
    }
}

/** Compute lower bounds of r^2 between candidates in a bounding box and each of the particles c to
 *  c + SIDE_BY_SIDE - 1 of the leaf, one in each lane of a vector.
 *  @param box          bounding box of the candidates
 *  @param[out] least2  lower bounds of r^2 [length^2]
 *  @return which particles are within reach of the box, as a bit mask: bit l for particle c + l */
KITH_INLINE unsigned KITH_REAL(find_queries)(const struct KITH_REAL(leaf_search) *s, int c,
                                             const real box[6], KITH_REAL(vector) *least2)
{
    const KITH_REAL(vector) zero = {0};
    KITH_REAL(vector) gap[3];
    for (int m = 0; m < 3; m++) {
        const KITH_REAL(vector) x = KITH_REAL(load)(s->x[m] + c);
        const KITH_REAL(vector) low = KITH_REAL(translate_lanes)(s, box[m] - x, m);
        const KITH_REAL(vector) high = KITH_REAL(translate_lanes)(s, box[3 + m] - x, m);
        gap[m] = KITH_REAL(larger)(KITH_REAL(larger)(low, -high), zero);
    }
    *least2 = (gap[0] * gap[0] + gap[1] * gap[1]) + gap[2] * gap[2];
    return KITH_REAL(lanes_at_most)(*least2, KITH_REAL(load)(s->reach2 + c));
}

/** Return true when a bounding box is a point: the candidates in it coincide. */
static inline bool KITH_REAL(is_point)(const real box[6])
{
    return box[0] == box[3] && box[1] == box[4] && box[2] == box[5];
}

/** Remove from a bit mask of find_queries the particles that take none of some candidates, which
 *  all have one position: those whose list is full and whose last neighbour is equally far away and
 *  has a smaller index than each candidate. Without this, n coinciding particles cost O(n^2).
 *  @param c        first particle of the mask
 *  @param queries  the bit mask
 *  @param least2   r^2 of the candidates, for each particle [length^2]
 *  @param least    smallest index of the candidates
 *  @return the bit mask of the other particles */
static unsigned KITH_REAL(drop_tied)(const struct KITH_REAL(leaf_search) *s, int c,
                                     unsigned queries, KITH_REAL(vector) least2, int32_t least)
{
    real r2[KITH_REAL(SIDE_BY_SIDE)];
    memcpy(r2, &least2, sizeof r2);
    unsigned kept = queries;
    for (; queries; queries &= queries - 1) {
        const int lane = __builtin_ctz(queries), p = c + lane;
        const struct kith__neighbour *last = last_of(s->list + p * s->k, s->k);
        if (s->found[p] == s->k && r2[lane] == s->reach2[p] &&
            last->place >> 32 < (uint64_t)least) {
            kept &= ~(1U << lane);
        }
    }
    return kept;
}

/** Return true when a particle of the leaf may take one of some coinciding candidates.
 *  @param box    their bounding box, a point
 *  @param least  smallest index of the candidates */
static bool KITH_REAL(takes_any)(const struct KITH_REAL(leaf_search) *s, const real box[6],
                                 int32_t least)
{
    unsigned queries = 0;
    for (int c = 0; c < s->n && !queries; c += KITH_REAL(SIDE_BY_SIDE)) {
        KITH_REAL(vector) least2;
        queries = KITH_REAL(find_queries)(s, c, box, &least2);
        queries = KITH_REAL(drop_tied)(s, c, queries, least2, least);
    }
    return queries;
}

/** Test the candidates of a leaf against each query particle that may have a neighbour among them.
 *  Updates the lists, reach2 and widest2.
 *  @param leaf      number of the leaf in the tree of the candidates
 *  @param box       bounding box of the candidates
 *  @param by_radii  as for test_query */
KITH_INLINE void KITH_REAL(test_leaf_by)(struct KITH_REAL(leaf_search) *s, int64_t leaf,
                                         const real box[6], bool by_radii)
{
    for (int c = 0; c < s->n; c += KITH_REAL(SIDE_BY_SIDE)) {
        KITH_REAL(vector) least2;
        unsigned queries = KITH_REAL(find_queries)(s, c, box, &least2);
        for (; queries; queries &= queries - 1) {
            KITH_REAL(test_query)(s, c + __builtin_ctz(queries), leaf, by_radii);
        }
    }
    s->widest2 = 0;
    for (int p = 0; p < s->n; p++) {
        s->widest2 = s->reach2[p] > s->widest2 ? s->reach2[p] : s->widest2;
    }
}

/** Return the square of the largest distance that two radii permit. */
static inline real KITH_REAL(square_of_radii)(const struct KITH_REAL(leaf_search) *s, real hi,
                                              real hj)
{
    const real h = KITH_REAL(kith__radius_of_pair)(s->all->rules->radius_rule, hi, hj);
    return h * h;
}

/** test_leaf_by with radii. Not inlined, so that a search without radii is compiled as if there
 *  were none. */
static
    __attribute__((noinline)) void KITH_REAL(test_leaf_by_radii)(struct KITH_REAL(leaf_search) *s,
                                                                 int64_t leaf, const real box[6])
{
    KITH_REAL(test_leaf_by)(s, leaf, box, true);
}

/** Test the candidates of a leaf: test_leaf_by. */
static void KITH_REAL(test_leaf)(struct KITH_REAL(leaf_search) *s, int64_t leaf, const real box[6])
{
    if (s->all->rules) {
        KITH_REAL(test_leaf_by_radii)(s, leaf, box);
    } else {
        KITH_REAL(test_leaf_by)(s, leaf, box, false);
    }
}

/** Return true when radii permit no pair of the leaf's particles and those of a node.
 *  @param least2  lower bound of r^2 between them [length^2] */
static __attribute__((noinline)) bool KITH_REAL(is_beyond_radii)(
    const struct KITH_REAL(leaf_search) *s, int64_t node, real least2)
{
    const real most = ((const real *)s->all->b.most_radius)[node];
    return least2 > KITH_REAL(square_of_radii)(s, s->most_radius, most);
}

/** Return an entry of the stack of nodes, for the image that is searched. Its lower bound of r^2 is
 *  infinite where radii permit no pair with the node.
 *  @param node        number of the node
 *  @param begin, end  leaves [begin, end) of the node */
static inline struct pending_node KITH_REAL(node_of)(const struct KITH_REAL(leaf_search) *s,
                                                     int64_t node, int64_t begin, int64_t end)
{
    const real *box = (const real *)s->all->b.box + 6 * node;
    const real least2 = KITH_REAL(least_square)(s, box);
    const bool none = s->all->rules && KITH_REAL(is_beyond_radii)(s, node, least2);
    return (struct pending_node){node, begin, end, none ? INFINITY : (double)least2};
}

/** Search one image of the candidates, depth first, the nearer half of a node first. Where all
 *  candidates of a node coincide, the half with the smallest index comes first, so that drop_tied
 *  can skip the other half.
 *  @param own  leaf to skip, as it has been searched; -1: none */
static void KITH_REAL(search_image)(struct KITH_REAL(leaf_search) *s, int64_t own)
{
    enum { COST = 500 }; /* of a step, for kith__skip [about 1 ns] */
    const real *boxes = s->all->b.box;
    const int32_t *least = s->all->b.least;
    struct pending_node stack[STACK];
    int n = 1;
    stack[0] = KITH_REAL(node_of)(s, 0, 0, s->all->b.leaves);
    while (n > 0 && !kith__skip(s->all->ctx, ++s->steps, COST)) {
        const struct pending_node top = stack[--n];
        const real *box = boxes + 6 * top.node;
        if (top.least2 > (double)s->widest2) {
            continue;
        }
        const bool coincide = KITH_REAL(is_point)(box);
        if (coincide && !KITH_REAL(takes_any)(s, box, least[top.node])) {
            continue;
        }
        if (top.end - top.begin == 1) {
            if (top.begin != own) {
                KITH_REAL(test_leaf)(s, top.begin, box);
            }
            continue;
        }
        const int64_t m = kith__tree_split(top.begin, top.end);
        const struct pending_node left = KITH_REAL(node_of)(s, top.node + 1, top.begin, m);
        const struct pending_node right = KITH_REAL(node_of)(s, top.node + 2 * (m - top.begin), m,
                                                             top.end);
        const bool left_first = coincide ? least[left.node] <= least[right.node]
                                         : left.least2 <= right.least2;
        stack[n++] = left_first ? right : left;
        stack[n++] = left_first ? left : right;
    }
}

/** Set packed_shift, is_image and translation to the image to search next. @param shift  S */
static void KITH_REAL(set_image)(struct KITH_REAL(leaf_search) *s, const int32_t shift[3])
{
    const struct KITH_REAL(kith__lattice) *box = &s->all->question->KITH_REAL(box);
    s->packed_shift = kith__pack_shift(shift);
    s->is_image = shift[0] || shift[1] || shift[2];
    for (int k = 0; k < 3; k++) {
        for (int m = 0; m < 3; m++) {
            s->translation[k][m] = (real)shift[k] * box->row[k][m];
        }
    }
}

/** Search the images with S[axis] = number, and first[k] <= S[k] <= last[k] along the other
 *  axes. */
static void KITH_REAL(search_slab)(struct KITH_REAL(leaf_search) *s, int axis, int32_t number,
                                   const int32_t first[3], const int32_t last[3])
{
    const int one = (axis + 1) % 3, other = (axis + 2) % 3;
    int32_t shift[3];
    shift[axis] = number;
    for (shift[one] = first[one]; shift[one] <= last[one]; shift[one]++) {
        for (shift[other] = first[other]; shift[other] <= last[other]; shift[other]++) {
            KITH_REAL(set_image)(s, shift);
            KITH_REAL(search_image)(s, -1);
        }
    }
}

/** Search images of the box as long as one may hold a neighbour.
 *  @return KITH_OK; KITH_LIMIT when one that may hold a neighbour is more than KITH_MAX_IMAGES
 *          boxes away */
static kith_status KITH_REAL(search_images)(struct KITH_REAL(leaf_search) *s)
{
    const struct kith__nearest_search *all = s->all;
    const struct kith__image_planes *planes = &all->planes;
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) { /* bounds of normal[k] . r over the leaf's particles */
        if (planes->periodic[k]) {
            kith__range_along(all->question->precision, &all->a, s->leaf, planes->normal[k], &lo[k],
                              &hi[k]);
        }
    }
    struct kith__image_range searched = {{0, 0, 0}, {0, 0, 0}};
    struct kith__image_slab slab;
    while (!kith__cancelled(all->ctx) &&
           kith__next_slab(planes, lo, hi, all->lo, all->hi, &searched, &slab)) {
        const double least = slab.distance - all->tolerance[slab.axis] * (1 + slab.boxes);
        if (least > 0 && least * least > (double)s->widest2) {
            return KITH_OK;
        }
        if (slab.boxes > KITH_MAX_IMAGES) {
            return KITH_LIMIT;
        }
        KITH_REAL(search_slab)(s, slab.axis, slab.number, searched.first, searched.last);
        kith__extend_range(&searched, &slab);
    }
    return KITH_OK;
}

/** Write the distance, vector and shift of an entry of a row. The shift is for the coordinates as
 *  given: the boxes that wrapping subtracted are taken into account.
 *  @param own_image  boxes that wrapping subtracted from particle p
 *  @param one        the neighbour
 *  @param at         index of the entry */
static void KITH_REAL(write_extras)(const struct KITH_REAL(leaf_search) *s, int p,
                                    const int32_t own_image[3], const struct kith__neighbour *one,
                                    int64_t at)
{
    const struct kith__question *q = s->all->question;
    const kith_nearest *out = s->all->out;
    if (out->distances) {
        ((real *)out->distances)[at] = KITH_REAL(root)((real)one->r2);
    }
    if (!out->vectors && !out->shifts) {
        return;
    }
    real ri[3] = {s->x[0][p], s->x[1][p], s->x[2][p]}, rj[3], d[3];
    int32_t shift[3], image[3];
    kith__unpack_shift((int32_t)(uint32_t)one->place, shift);
    (void)KITH_REAL(kith__load)(&q->KITH_REAL(box), &q->b, q->dim, (int64_t)(one->place >> 32), rj,
                                image);
    const real r2 = KITH_REAL(kith__separation)(&q->KITH_REAL(box), ri, rj, shift, d);
    assert((double)r2 == one->r2);
    (void)r2;
    for (int m = 0; m < 3; m++) {
        if (out->vectors) {
            ((real *)out->vectors)[3 * at + m] = d[m] + 0; /* never -0 */
        }
        if (out->shifts) {
            out->shifts[3 * at + m] = shift[m] - image[m] + own_image[m];
        }
    }
}

/** Fill entry `at` of a row after its last neighbour: index -1, distance infinity, zeros. */
static void KITH_REAL(write_none)(const kith_nearest *out, int64_t at)
{
    out->j[at] = -1;
    if (out->distances) {
        ((real *)out->distances)[at] = (real)INFINITY;
    }
    for (int m = 0; m < 3; m++) {
        if (out->vectors) {
            ((real *)out->vectors)[3 * at + m] = 0;
        }
        if (out->shifts) {
            out->shifts[3 * at + m] = 0;
        }
    }
}

/** Write entries [begin, end) of the row of particle p. @param own_image  as for write_extras */
static void KITH_REAL(write_entries)(const struct KITH_REAL(leaf_search) *s, int p,
                                     const int32_t own_image[3], int64_t begin, int64_t end)
{
    const kith_nearest *out = s->all->out;
    const struct kith__neighbour *list = s->list + p * s->k;
    const int64_t first = s->id[p] * s->k;
    const int64_t some = s->found[p] < end ? s->found[p] : end;
    int64_t e = begin;
    for (; e < some; e++) {
        out->j[first + e] = (int32_t)(list[e].place >> 32);
        KITH_REAL(write_extras)(s, p, own_image, &list[e], first + e);
    }
    for (; e < end; e++) {
        KITH_REAL(write_none)(out, first + e);
    }
}

/** Write the rows of the leaf's particles. */
static void KITH_REAL(write_rows)(const struct KITH_REAL(leaf_search) *s)
{
    /* Entries that are written between two tests for cancellation. An entry costs about 4 ns. Items
     * of kith__skip are numbered from 1 here, as it reads the clock at item 0. */
    enum { PART = 1 << 12 };
    const struct kith__question *q = s->all->question;
    const kith_nearest *out = s->all->out;
    for (int p = 0; p < s->n && !kith__skip(s->all->ctx, 1 + p, s->k); p++) {
        sort_list(s->all->ctx, s->list + p * s->k, s->found[p], s->k);
        int32_t image[3] = {0, 0, 0};
        if (out->shifts) {
            real r[3];
            (void)KITH_REAL(kith__load)(&q->KITH_REAL(box), &q->a, q->dim, s->id[p], r, image);
        }
        for (int64_t e = 0; e < s->k && !kith__skip(s->all->ctx, 1 + e / PART, 4 * PART);
             e += PART) {
            KITH_REAL(write_entries)(s, p, image, e, s->k - e < PART ? s->k : e + PART);
        }
        if (out->counts) {
            out->counts[s->id[p]] = (int32_t)s->found[p];
        }
    }
}

/** Read the radii of the leaf's particles, and limit their reach to what the radii permit. The
 *  candidates have particles. */
static void KITH_REAL(read_radii)(struct KITH_REAL(leaf_search) *s)
{
    const real *radii = s->all->rules->radii[0];
    const real most = *(const real *)s->all->b.most_radius; /* of the root */
    const real cutoff2 = s->widest2;
    s->most_radius = 0;
    s->widest2 = 0;
    for (int p = 0; p < s->n; p++) {
        s->radius[p] = radii[s->id[p]];
        s->most_radius = s->radius[p] > s->most_radius ? s->radius[p] : s->most_radius;
        const real limit2 = KITH_REAL(square_of_radii)(s, s->radius[p], most);
        s->reach2[p] = limit2 < cutoff2 ? limit2 : cutoff2;
        s->widest2 = s->reach2[p] > s->widest2 ? s->reach2[p] : s->widest2;
    }
}

/** Find the neighbours of the particles of one leaf of the tree all->a, and write their rows. */
static kith_status KITH_REAL(search_leaf)(const struct kith__nearest_search *all, int64_t leaf,
                                          void *lists)
{
    const struct kith__question *q = all->question;
    const int64_t left = all->a.n - leaf * KITH_LEAF;
    struct KITH_REAL(leaf_search) s;
    s.all = all;
    s.leaf = leaf;
    s.n = left < KITH_LEAF ? (int)left : KITH_LEAF;
    s.k = all->out->k;
    s.steps = 0;
    s.only_others = !q->cross;
    s.list = lists;
    memcpy(s.id, all->a.id + leaf * KITH_LEAF, sizeof s.id);
    const real cutoff = (real)q->cutoff;
    s.widest2 = q->cutoff > 0 ? cutoff * cutoff : (real)INFINITY;
    for (int m = 0; m < 3; m++) {
        memcpy(s.x[m], (real *)all->a.xyz[m] + leaf * KITH_LEAF, sizeof s.x[m]);
        s.lo[m] = s.hi[m] = s.x[m][0];
        for (int p = 1; p < s.n; p++) {
            s.lo[m] = s.x[m][p] < s.lo[m] ? s.x[m][p] : s.lo[m];
            s.hi[m] = s.x[m][p] > s.hi[m] ? s.x[m][p] : s.hi[m];
        }
    }
    for (int p = 0; p < KITH_LEAF; p++) {
        s.found[p] = 0;
        s.reach2[p] = p < s.n ? s.widest2 : -1; /* a lane without a particle has no hits */
    }
    kith_status status = KITH_OK;
    if (all->rules && all->b.n > 0) {
        KITH_REAL(read_radii)(&s);
    }
    if (all->b.n > 0) {
        const int32_t none[3] = {0, 0, 0};
        KITH_REAL(set_image)(&s, none);
        if (!q->cross) { /* the leaf itself first: its neighbours let most other nodes be skipped */
            const real box[6] = {s.lo[0], s.lo[1], s.lo[2], s.hi[0], s.hi[1], s.hi[2]};
            KITH_REAL(test_leaf)(&s, leaf, box);
        }
        KITH_REAL(search_image)(&s, q->cross ? -1 : leaf);
        status = KITH_REAL(search_images)(&s);
    }
    KITH_REAL(write_rows)(&s);
    return status;
}
