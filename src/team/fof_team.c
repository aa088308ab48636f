/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends over all ranks. Particles are dealt to domains, and each rank finds the groups
 * among its particles and one-sided ghosts: of each pair of friends on two ranks, one rank has a
 * copy of the other's particle; where particles have roles, both have one. A component is a group
 * of a rank, of any size; its name is the smallest global index of the rank's own particles in it.
 *
 * For each ghost the rank tells the ghost's owner the name of the component that the ghost is in:
 * this name and that of the ghost's component on its own rank belong to one group, an edge. The
 * connected components of all edges (unite.h) are the groups that span ranks. Where the root
 * of their names is kept, their sizes are summed, and the smallest of their ids is found;
 * components without edges are whole groups. All groups of enough members are numbered
 * (renumber.h), and the labels travel back the way that particles and names came.
 */
#include <stdlib.h>
#include <string.h>

#include "core/owned.h"
#include "core/sized.h"
#include "fof/groups.h"
#include "ghosts.h"
#include "renumber.h"
#include "unite.h"

/** Buffers of the team's scratch memory. */
enum {
    NEAR = KITH_TEAM_QUESTION,      /**< particles and ghosts */
    IDS = NEAR + KITH_NEAR_BUFFERS, /**< ids of particles */
    VELOCITIES,                     /**< velocities of particles and ghosts */
    COMPONENTS,                     /**< components of this rank */
    ANSWERS, /**< names for ghosts, then components on their way home, then labels for particles */
    REPLIES, /**< names of the components that copies are in, then pointers to arrived components */
    EDGES,   /**< edges between components */
    SPANNING,                            /**< components with edges */
    NAMES,                               /**< names of components with edges, then roots */
    UNITE,                               /**< buffers of kith__team_unite */
    SUMS = UNITE + KITH_UNITE_BUFFERS,   /**< route of components to the homes of roots */
    ARRIVED = SUMS + KITH_ROUTE_BUFFERS, /**< components that arrived at the homes */
    TARGETS,                             /**< homes of roots */
    SIZED,  /**< groups that are to be numbered, then the labels of arrived components */
    LABELS, /**< labels of these groups, in 64 bits, then of the components with edges */
    ROLES,  /**< roles of particles and ghosts */
    MERGED, /**< particles merged by their global indices */
    ROLES_MERGED = MERGED + KITH_MERGE_BUFFERS, /**< roles in the merged order */
    VELOCITIES_MERGED,                          /**< velocities in the merged order */
    NEAREST,                                    /**< nearest friends of attached particles */
    LINKING_XYZ,                                /**< coordinates of particles that link */
    LINKING_VELOCITIES,                         /**< velocities of particles that link */
    COMPONENT_OF,                               /**< component of each particle */
    NUMBER,                                     /**< buffers of kith__team_number */
    BUFFERS_END = NUMBER + KITH_NUMBER_BUFFERS
};
_Static_assert((int)BUFFERS_END <= (int)KITH_TEAM_BUFFERS, "every purpose needs its own buffer");

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_TEAM_GROUPS_0_2 = KITH_SIZE_UP_TO(kith_team_groups, owner) };

/** A component of this rank: particles that are friends of friends among its particles and ghosts.
 *  Also a component on its way to the home of its root. */
struct component {
    int64_t name;    /**< smallest global index of the rank's own particles in it; -1: it has ghosts
                           alone. On its way, the root of the name */
    int64_t members; /**< own particles in it */
    int64_t least_id; /**< smallest id of these; without ids the name */
    int64_t label;    /**< label of its group; 0: the group is too small. SPANS: it has edges */
};

/** Value of component.label until the label of a component with edges arrives. */
enum { SPANS = -1 };

/** One call. */
struct fof_team {
    kith_team *team;               /**< the team */
    struct kith__question q;       /**< checked arguments */
    const kith_box *box;           /**< the box as given */
    double length;                 /**< the linking length as given */
    const kith_points *points;     /**< the particles as given */
    const kith_fof_options *given; /**< the options as given */
    kith_fof_options options;      /**< the options, of full size (core/sized.h) */
    kith_team_groups *out;         /**< the groups, of full size */
    struct kith__set set;          /**< particles of this rank, as given */
    struct kith__dealt dealt;      /**< particles dealt to this rank, and ghosts */
    struct kith__route reach;      /**< route of this rank's particles to other ranks' ghosts */
    int64_t *ids;                  /**< [dealt.n] ids; NULL: global indices */
    char *velocities;              /**< [dealt.n + ghosts][3] velocities; NULL: none */
    uint8_t *role;                 /**< [dealt.n + ghosts] kith_role of each; NULL: all link */
    const int32_t *label;        /**< [dealt.n + ghosts] number of each one's component, from 1; 0:
                                      it does not link */
    int64_t n;                   /**< components */
    struct component *component; /**< [n] the components */
    int64_t n_edges;             /**< edges that this rank knows */
    int64_t n_spanning;          /**< components with edges */
    int32_t *spanning;           /**< [n_spanning] their numbers, from 0 */
};

/** Return true when some particles may not link. Ranks then need copies of all particles near their
 *  own (KITH_TWO_SIDED), to count links and to find nearest friends. */
static bool has_roles(const kith_fof_options *options)
{
    return options->roles || options->min_links > 0;
}

/** Deal the ids, the velocities and the roles, where they are given; ghosts get the last two.
 *  Without given roles all particles link. Collective. */
static kith_status deal_columns(struct fof_team *w)
{
    kith_team *team = w->team;
    const kith_fof_options *o = &w->options;
    const size_t size = 3 * (size_t)w->q.precision;
    const int64_t all = w->dealt.n + w->dealt.ghosts;
    if (o->ids) {
        KITH_AGREE(team, kith__team_need(team, IDS, w->dealt.n, sizeof *w->ids, &w->ids));
        KITH_TRY(kith__route_send(team, &w->dealt.route, o->ids, sizeof *w->ids, w->ids));
    }
    if (o->velocities) {
        KITH_AGREE(team, kith__team_need(team, VELOCITIES, all, size, &w->velocities));
        KITH_TRY(kith__route_send(team, &w->dealt.route, o->velocities, size, w->velocities));
        KITH_TRY(kith__route_send(team, &w->reach, w->velocities, size,
                                  w->velocities + (size_t)w->dealt.n * size));
    }
    if (has_roles(o)) {
        KITH_AGREE(team, kith__team_need(team, ROLES, all, 1, &w->role));
        memset(w->role, KITH_LINK, (size_t)all);
    }
    if (o->roles) {
        KITH_TRY(kith__route_send(team, &w->dealt.route, o->roles, 1, w->role));
        KITH_TRY(kith__route_send(team, &w->reach, w->role, 1, w->role + w->dealt.n));
    }
    return KITH_OK;
}

/** Particles and ghosts in the order of their global indices, which decides between friends that
 *  are equally near. */
struct merged {
    int32_t *order;          /**< [n] index in fof_team.dealt of each */
    uint8_t *role;           /**< [n] roles */
    struct kith__question q; /**< the positions in this order, box and length */
    struct kith__fof fof;    /**< the options, with roles and velocities in this order */
};

/** Put particles, ghosts, velocities and roles in the order of their global indices. Not
 *  collective. */
static kith_status merge(struct fof_team *w, struct merged *m)
{
    kith_team *team = w->team;
    const size_t size = 3 * (size_t)w->q.precision;
    char *velocities = NULL;
    m->q = w->q;
    KITH_TRY(kith__team_merge(team, MERGED, &w->q, &w->dealt, &m->order, &m->q.a));
    m->q.b = m->q.a;
    const int64_t n = m->q.a.n;
    KITH_TRY(kith__team_need(team, ROLES_MERGED, n, 1, &m->role));
    if (w->velocities) {
        KITH_TRY(kith__team_need(team, VELOCITIES_MERGED, n, size, &velocities));
    }
    for (int64_t k = 0; k < n; k++) {
        m->role[k] = w->role[m->order[k]];
        if (velocities) {
            memcpy(velocities + (size_t)k * size, w->velocities + (size_t)m->order[k] * size, size);
        }
    }
    m->fof = (struct kith__fof){
        .min_members = 1,
        .min_links = w->options.min_links,
        .roles = m->role,
        .velocities = velocities,
        .velocity_length = kith__rounded(w->options.velocity_length, w->q.precision)};
    return kith__proceed(team->ctx);
}

/** Give the role KITH_ATTACH to particles with fewer than min_links friends that link. A rank has
 *  all friends of its own particles, whose roles it then sends to the ghosts of other ranks. The
 *  roles that it computes for its own ghosts are overwritten. Collective. */
static kith_status demote(struct fof_team *w)
{
    kith_team *team = w->team;
    struct merged m;
    kith_status status = merge(w, &m);
    if (status == KITH_OK) {
        status = kith__end_call(team->ctx, kith__fof_demote(team->ctx, &m.q, &m.fof, m.role));
    }
    KITH_AGREE(team, status);
    for (int64_t k = 0; k < m.q.a.n; k++) {
        w->role[m.order[k]] = m.role[k];
    }
    return kith__route_send(team, &w->reach, w->role, 1, w->role + w->dealt.n);
}

/** Find the components among some particles, and set w->n.
 *  @param velocities  [points->n][3] NULL: none
 *  @param[out] label  [points->n] number of each one's component, from 1: labels of team->groups */
static kith_status find_among(struct fof_team *w, const kith_points *points, const void *velocities,
                              const int32_t **label)
{
    kith_groups *groups = &w->team->groups;
    kith_fof_options o = w->options;
    o.min_members = 1;
    o.min_links = 0;
    o.ids = NULL;
    o.roles = NULL;
    o.velocities = velocities;
    KITH_TRY(kith__fof_components(w->team->ctx, points, w->box, w->length, &o, groups));
    *label = groups->labels;
    w->n = groups->n;
    return KITH_OK;
}

/** Find the components among the particles and ghosts that link, which are copied to arrays of
 *  their own. Sets w->label and w->n. */
static kith_status find_among_linking(struct fof_team *w)
{
    kith_team *team = w->team;
    const int64_t all = w->dealt.n + w->dealt.ghosts;
    const size_t size = 3 * (size_t)w->q.precision;
    int32_t *of = NULL; /* component of each particle */
    char *xyz = NULL;
    char *velocities = NULL;
    const int32_t *found = NULL;
    int64_t n = 0;
    KITH_TRY(kith__team_need(team, COMPONENT_OF, all, sizeof *of, &of));
    KITH_TRY(kith__team_need(team, LINKING_XYZ, all, size, &xyz));
    if (w->velocities) {
        KITH_TRY(kith__team_need(team, LINKING_VELOCITIES, all, size, &velocities));
    }
    for (int64_t p = 0; p < all; p++) {
        if (w->role[p] == KITH_LINK) {
            memcpy(xyz + (size_t)n * size, (char *)w->dealt.xyz + (size_t)p * size, size);
            if (velocities) {
                memcpy(velocities + (size_t)n * size, w->velocities + (size_t)p * size, size);
            }
            n++;
        }
    }
    const kith_points points = kith_points_packed(xyz, n, w->q.precision);
    KITH_TRY(find_among(w, &points, velocities, &found));
    n = 0;
    for (int64_t p = 0; p < all; p++) {
        of[p] = w->role[p] == KITH_LINK ? found[n++] : 0;
    }
    w->label = of;
    return KITH_OK;
}

/** Find the components among this rank's particles and ghosts, and the name, the number of members
 *  and the smallest id of each. */
static kith_status find_components(struct fof_team *w)
{
    kith_team *team = w->team;
    const kith_points all = kith__dealt_points(&w->q, &w->dealt, 0, w->dealt.n + w->dealt.ghosts);
    KITH_TRY(w->role ? find_among_linking(w) : find_among(w, &all, w->velocities, &w->label));
    KITH_TRY(kith__team_need(team, COMPONENTS, w->n, sizeof *w->component, &w->component));
    for (int64_t c = 0; c < w->n; c++) {
        w->component[c] = (struct component){.name = -1, .least_id = INT64_MAX};
    }
    for (int64_t p = 0; p < w->dealt.n; p++) {
        if (w->label[p] > 0) {
            struct component *c = &w->component[w->label[p] - 1];
            const int64_t id = w->ids ? w->ids[p] : w->dealt.global[p];
            /* global indices ascend: that of the first member is the smallest */
            c->name = c->members++ == 0 ? w->dealt.global[p] : c->name;
            c->least_id = id < c->least_id ? id : c->least_id;
        }
    }
    return kith__proceed(team->ctx);
}

/** Send the name of the component that each ghost is in back to the ghost's owner, and mark these
 *  components as SPANS. Collective.
 *  @param[out] reply  [reach.sent] for each copy of a particle of this rank, the name of the
 *                     component of the other rank that it is in; -1: none of that rank's particles
 *                     is in it, or the particle does not link */
static kith_status exchange_names(struct fof_team *w, int64_t **reply)
{
    kith_team *team = w->team;
    int64_t *answer = NULL;
    kith_status status = kith__team_need(team, ANSWERS, w->dealt.ghosts, sizeof *answer, &answer);
    status = status ? status : kith__team_need(team, REPLIES, w->reach.sent, sizeof **reply, reply);
    KITH_AGREE(team, status);
    for (int64_t g = 0; g < w->dealt.ghosts; g++) {
        const int32_t label = w->label[w->dealt.n + g];
        answer[g] = label > 0 ? w->component[label - 1].name : -1;
        if (answer[g] >= 0) {
            w->component[label - 1].label = SPANS;
        }
    }
    return kith__route_back(team, &w->reach, answer, sizeof *answer, *reply);
}

/** List the edges that the replies give: between the name in the reply, and that of this rank's
 *  component of the particle. Then list the components with edges.
 *  @param reply       [reach.sent] from exchange_names
 *  @param[out] name   [n_spanning] names of the components with edges */
static kith_status list_edges(struct fof_team *w, const int64_t *reply, int64_t **name)
{
    kith_team *team = w->team;
    struct kith__edge *edge = NULL;
    KITH_TRY(kith__team_need(team, EDGES, w->reach.sent, sizeof *edge, &edge));
    for (int64_t k = 0; k < w->reach.sent; k++) {
        if (reply[k] >= 0) {
            struct component *c = &w->component[w->label[w->reach.order[k]] - 1];
            const bool larger = reply[k] > c->name;
            const struct kith__edge made = {larger ? reply[k] : c->name,
                                            larger ? c->name : reply[k]};
            const struct kith__edge *last = w->n_edges > 0 ? &edge[w->n_edges - 1] : NULL;
            /* most duplicates follow each other: kith__team_unite removes the others */
            const bool again = last && last->high == made.high && last->low == made.low;
            c->label = SPANS;
            edge[w->n_edges] = made;
            w->n_edges += !again;
        }
    }
    for (int64_t c = 0; c < w->n; c++) {
        w->n_spanning += w->component[c].label == SPANS;
    }
    KITH_TRY(kith__team_need(team, SPANNING, w->n_spanning, sizeof *w->spanning, &w->spanning));
    KITH_TRY(kith__team_need(team, NAMES, w->n_spanning, sizeof **name, name));
    int64_t n = 0;
    for (int64_t c = 0; c < w->n; c++) {
        if (w->component[c].label == SPANS) {
            (*name)[n] = w->component[c].name;
            w->spanning[n++] = (int32_t)c;
        }
    }
    return kith__proceed(team->ctx);
}

/** The components of groups that span ranks, at the home of the groups' roots (unite.h). */
struct home {
    struct kith__route route;  /**< from the ranks of the components to here */
    struct component *arrived; /**< [route.received] the components; names are roots */
    int64_t groups;            /**< groups of enough members among them */
};

/** Compare two pointers to components, for qsort: by root. */
static int by_root(const void *left, const void *right)
{
    const struct component *a = *(struct component *const *)left;
    const struct component *b = *(struct component *const *)right;
    return (a->name > b->name) - (a->name < b->name);
}

/** Add up the components of each group: the first of them gets the sums, the others 0 members.
 *  @param by_name  [route.received] scratch; then pointers to the components, sorted by root */
static void sum_groups(const struct fof_team *w, struct home *home, struct component **by_name)
{
    const int64_t n = home->route.received;
    struct component *first = NULL;
    for (int64_t k = 0; k < n; k++) {
        by_name[k] = &home->arrived[k];
    }
    qsort(by_name, (size_t)n, sizeof *by_name, by_root);
    for (int64_t k = 0; k < n; k++) {
        struct component *c = by_name[k];
        if (!first || first->name != c->name) {
            first = c;
            continue;
        }
        first->members += c->members;
        first->least_id = c->least_id < first->least_id ? c->least_id : first->least_id;
        c->members = 0;
    }
    for (int64_t k = 0; k < n; k++) {
        home->groups += home->arrived[k].members >= w->options.min_members;
    }
}

/** Bring the components that have edges to the homes of their roots, and add them up there.
 *  @param root  [n_spanning] root of each */
static kith_status bring_home(struct fof_team *w, const int64_t *root, struct home *home)
{
    kith_team *team = w->team;
    int32_t *target = NULL;
    struct component *out = NULL;
    struct component **by_name = NULL;
    kith_status status = kith__team_need(team, TARGETS, w->n_spanning, sizeof *target, &target);
    status = status ? status : kith__team_need(team, ANSWERS, w->n_spanning, sizeof *out, &out);
    KITH_AGREE(team, status);
    for (int64_t k = 0; k < w->n_spanning; k++) {
        out[k] = w->component[w->spanning[k]];
        out[k].name = root[k];
        target[k] = kith__name_home(team, root[k]);
    }
    KITH_TRY(kith__route_to(team, SUMS, w->n_spanning, target, &home->route));
    const int64_t n = home->route.received;
    status = kith__team_need(team, ARRIVED, n, sizeof *home->arrived, &home->arrived);
    status = status ? status : kith__team_need(team, REPLIES, n, sizeof *by_name, &by_name);
    KITH_AGREE(team, status);
    KITH_TRY(kith__route_send(team, &home->route, out, sizeof *out, home->arrived));
    sum_groups(w, home, by_name);
    return KITH_OK;
}

/** Number the groups of enough members of all ranks: components without edges, and groups at home.
 *  Then components without edges, and the first component of each group at home, have the labels of
 *  their groups; send_labels sets those of the others. Collective.
 *  @param[out] part  this rank's part of the sizes */
static kith_status number(struct fof_team *w, struct home *home, struct kith__numbered *part)
{
    kith_team *team = w->team;
    const int64_t least = w->options.min_members;
    struct kith__sized *sized = NULL;
    int64_t *label = NULL;
    int64_t n = home->groups;
    for (int64_t c = 0; c < w->n; c++) {
        n += w->component[c].label == 0 && w->component[c].members >= least;
    }
    kith_status status = kith__team_need(team, SIZED, n, sizeof *sized, &sized);
    status = status ? status : kith__team_need(team, LABELS, n, sizeof *label, &label);
    KITH_AGREE(team, status);
    n = 0;
    for (int64_t c = 0; c < w->n; c++) {
        const struct component *own = &w->component[c];
        if (own->label == 0 && own->members >= least) {
            sized[n++] = (struct kith__sized){own->members, own->least_id, own->name};
        }
    }
    for (int64_t k = 0; k < home->route.received; k++) {
        const struct component *own = &home->arrived[k];
        if (own->members >= least) {
            sized[n++] = (struct kith__sized){own->members, own->least_id, own->name};
        }
    }
    KITH_TRY(kith__team_number(team, NUMBER, sized, n, label, part));
    n = 0;
    for (int64_t c = 0; c < w->n; c++) {
        struct component *own = &w->component[c];
        if (own->label == 0 && own->members >= least) {
            own->label = label[n++];
        }
    }
    for (int64_t k = 0; k < home->route.received; k++) {
        home->arrived[k].label = home->arrived[k].members >= least ? label[n++] : 0;
    }
    return KITH_OK;
}

/** Send the labels of groups that span ranks from their homes to the components. Collective. */
static kith_status send_labels(struct fof_team *w, struct home *home)
{
    kith_team *team = w->team;
    const int64_t n = home->route.received;
    int64_t *answer = NULL;
    int64_t *label = NULL;
    struct component **by_name = team->buffer[REPLIES].data; /* as sum_groups has sorted it */
    const struct component *first = NULL;
    kith_status status = kith__team_need(team, SIZED, n, sizeof *answer, &answer);
    status = status ? status : kith__team_need(team, LABELS, w->n_spanning, sizeof *label, &label);
    KITH_AGREE(team, status);
    for (int64_t k = 0; k < n; k++) {
        first = first && first->name == by_name[k]->name ? first : by_name[k];
        answer[by_name[k] - home->arrived] = first->label;
    }
    KITH_TRY(kith__route_home(team, &home->route, answer, sizeof *label, label));
    for (int64_t k = 0; k < w->n_spanning; k++) {
        w->component[w->spanning[k]].label = label[k];
    }
    return KITH_OK;
}

/* Numbers of the arrays in kith__owned.array. */
enum { OWNED_LABELS, OWNED_MEMBERS };

/** Make the arrays of the result, with one element more than needed, so that none is NULL. */
static kith_status need_result(kith_team *team, int64_t points, int64_t held, kith_team_groups *out)
{
    struct kith__owned *owned = kith__owned_in(team->ctx, KITH_HOST, &out->owner);
    const size_t size = sizeof(int64_t);
    out->labels = owned ? kith__owned_need(owned, OWNED_LABELS, ((size_t)points + 1) * size) : NULL;
    out->members = owned ? kith__owned_need(owned, OWNED_MEMBERS, ((size_t)held + 1) * size) : NULL;
    KITH_CHECK(team->ctx, out->labels && out->members, KITH_NO_MEMORY,
               "out of memory for %lld labels and %lld groups", (long long)points, (long long)held);
    return KITH_OK;
}

/** Give each attached particle of this rank the label of its nearest friend that links. Collective.
 *  @param label  [dealt.n + ghosts] labels; those of ghosts are set too */
static kith_status attach(struct fof_team *w, int64_t *label)
{
    kith_team *team = w->team;
    struct merged m;
    int32_t *nearest = NULL;
    KITH_TRY(kith__route_send(team, &w->reach, label, sizeof *label, label + w->dealt.n));
    kith_status status = merge(w, &m);
    status = status ? status : kith__team_need(team, NEAREST, m.q.a.n, sizeof *nearest, &nearest);
    for (int64_t k = 0; status == KITH_OK && k < m.q.a.n; k++) {
        if (m.order[k] >= w->dealt.n && m.role[k] == KITH_ATTACH) {
            m.role[k] = KITH_IGNORE; /* its own rank attaches it */
        }
    }
    if (status == KITH_OK) {
        status = kith__end_call(team->ctx, kith__fof_nearest(team->ctx, &m.q, &m.fof, nearest));
    }
    KITH_AGREE(team, status);
    for (int64_t k = 0; k < m.q.a.n; k++) {
        if (nearest[k] >= 0) {
            label[m.order[k]] = label[m.order[nearest[k]]];
        }
    }
    return KITH_OK;
}

/** Send the labels of the particles back to the ranks that gave them, and write the sizes of this
 *  rank's part. Collective. */
static kith_status write_result(struct fof_team *w, const struct kith__numbered *part)
{
    kith_team *team = w->team;
    kith_team_groups *out = w->out;
    int64_t *answer = NULL;
    kith_status status = need_result(team, w->set.points.n, part->n, out);
    status = status ? status
                    : kith__team_need(team, ANSWERS, w->dealt.n + w->dealt.ghosts, sizeof *answer,
                                      &answer);
    KITH_AGREE(team, status);
    for (int64_t p = 0; p < w->dealt.n; p++) {
        answer[p] = w->label[p] > 0 ? w->component[w->label[p] - 1].label : 0;
    }
    KITH_TRY(w->role ? attach(w, answer) : KITH_OK);
    KITH_TRY(kith__route_home(team, &w->dealt.route, answer, sizeof *answer, out->labels));
    for (int64_t g = 0; g < part->n; g++) {
        out->members[g] = part->group[g].size;
    }
    out->n = part->all;
    out->points = w->set.points.n;
    out->first = part->first;
    out->held = part->n;
    return KITH_OK;
}

/** Check the arguments of this rank, and set w->options and w->q. */
static kith_status check(struct fof_team *w)
{
    kith_ctx *ctx = w->team->ctx;
    const kith_team_groups *out = w->out;
    KITH_TRY(kith__team_host(w->team, "points", w->points));
    KITH_TRY(kith__team_check_out(w->team, out->owner, out->labels || out->members, out->memory));
    KITH_TRY(kith__fof_check(ctx, w->points, w->box, w->length, w->given, &w->options, &w->q));
    KITH_CHECK(ctx, !w->options.batch, KITH_UNSUPPORTED,
               "options.batch: teams do not take batches yet");
    return KITH_OK;
}

/** Check that the arguments that must be equal on all ranks are. */
static kith_status check_equal(const struct fof_team *w)
{
    struct kith__equal equal[KITH_TEAM_EQUALS];
    const kith_fof_options *o = &w->options;
    int n = kith__team_space(w->points, w->box, equal);
    equal[n++] = (struct kith__equal){"length", kith__bits(w->length)};
    equal[n++] = (struct kith__equal){"options.min_members", o->min_members};
    equal[n++] = (struct kith__equal){"options.min_links", o->min_links};
    equal[n++] = (struct kith__equal){"options.ids", o->ids != NULL};
    equal[n++] = (struct kith__equal){"options.roles", o->roles != NULL};
    equal[n++] = (struct kith__equal){"options.velocities", o->velocities != NULL};
    equal[n++] = (struct kith__equal){"options.velocity_length", kith__bits(o->velocity_length)};
    return kith__team_equal(w->team, equal, n);
}

/** kith__team_work_fn: find the groups. */
static kith_status find(void *call)
{
    struct fof_team *w = call;
    kith_team *team = w->team;
    int64_t *reply = NULL;
    int64_t *name = NULL;
    struct home home = {.groups = 0};
    struct kith__numbered part;
    KITH_AGREE(team, check(w));
    KITH_TRY(check_equal(w));
    w->set = (struct kith__set){"points", *w->points, NULL};
    KITH_TRY(kith__team_deal_near(team, NEAR, &w->q,
                                  has_roles(&w->options) ? KITH_TWO_SIDED : KITH_ONE_SIDED, &w->set,
                                  1, &w->dealt, &w->reach));
    KITH_TRY(deal_columns(w));
    KITH_TRY(w->options.min_links > 0 ? demote(w) : KITH_OK);
    KITH_AGREE(team, find_components(w));
    KITH_TRY(exchange_names(w, &reply));
    KITH_AGREE(team, list_edges(w, reply, &name));
    KITH_TRY(kith__team_unite(team, UNITE, EDGES, w->n_edges, name, w->n_spanning, name));
    KITH_TRY(bring_home(w, name, &home));
    KITH_TRY(number(w, &home, &part));
    KITH_TRY(send_labels(w, &home));
    return write_result(w, &part);
}

kith_status kith_team_fof_find(kith_team *team, const kith_points *points, const kith_box *box,
                               double length, const kith_fof_options *options,
                               kith_team_groups *out)
{
    kith_status status;
    kith_team_groups own = {0};
    struct fof_team w = {.team = team,
                         .points = points,
                         .box = box,
                         .length = length,
                         .given = options,
                         .out = &own};
    const struct kith__team_out result = KITH_TEAM_OUT(out, KITH_TEAM_GROUPS_0_2, &own);
    KITH_TEAM_CALL(team, &status, kith__team_fill(team, &result, find, &w));
    if (status != KITH_OK && out) {
        out->n = out->points = out->first = out->held = 0;
    }
    return status;
}

void kith_team_groups_free(kith_team_groups *groups)
{
    if (groups) {
        kith__owned_free(groups->owner);
        KITH_RESULT_CLEAR(groups, kith_team_groups, KITH_TEAM_GROUPS_0_2);
    }
}
