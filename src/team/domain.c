/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A decomposition that is kept: the particles that a rank was dealt, its ghosts, and the two routes
 * by which they came, so that values can follow them and return.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"
#include "ghosts.h"

enum { NEAR = KITH_TEAM_QUESTION /**< first buffer of particles and ghosts */ };

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_DOMAIN_VIEW_0_2 = KITH_SIZE_UP_TO(kith_domain_view, ids) };

/** A decomposition that is kept, opaque to callers (kith/team.h). */
struct kith_domain {
    kith_team *team;  /**< the team */
    kith_team member; /**< a copy of it, whose scratch memory is its own: the particles and the
                                   routes stay there while the team answers other questions. Other
                                   memory, and the transport, are the team's */
    struct kith__question q; /**< box, precision and width */
    struct kith__set set;    /**< the particles as given: their number and `base`; their coordinates
                                   may be gone after kith_domain_open */
    struct kith__dealt dealt; /**< particles that this rank was dealt, and ghosts */
    struct kith__route reach; /**< route of this rank's particles to other ranks' ghosts */
};

/* ------------------------------------------------------------------------------------- open */

/** Check the arguments of this rank, and set domain->q. */
static kith_status check_open(kith_domain *domain, const kith_points *points, const kith_box *box,
                              double width, bool has_out)
{
    kith_ctx *ctx = domain->team->ctx;
    KITH_CHECK(ctx, has_out, KITH_INVALID, "out is NULL");
    KITH_TRY(kith__team_host(domain->team, "points", points));
    KITH_CHECK(ctx, isfinite(width) && width > 0, KITH_INVALID,
               "width is %g, expected a positive, finite length", width);
    return kith__question_init(ctx, points, NULL, box, width, "width", &domain->q);
}

/** Deal the particles, and bring ghosts. Collective. */
static kith_status deal(kith_domain *domain, const kith_points *points, const kith_box *box,
                        double width, bool has_out)
{
    kith_team *member = &domain->member;
    struct kith__equal equal[KITH_TEAM_EQUALS];
    KITH_AGREE(member, check_open(domain, points, box, width, has_out));
    int n = kith__team_space(points, box, equal);
    equal[n++] = (struct kith__equal){"width", kith__bits(width)};
    KITH_TRY(kith__team_equal(member, equal, n));
    domain->set = (struct kith__set){"points", *points, NULL};
    KITH_TRY(kith__team_deal_near(member, NEAR, &domain->q, KITH_TWO_SIDED, &domain->set, 1,
                                  &domain->dealt, &domain->reach));
    for (int b = KITH_TEAM_SAMPLES; b < KITH_TEAM_QUESTION; b++) {
        /* free what found the domains and the ghosts. Routes and particles have later buffers; the
         * earlier ones, of messages, serve kith_domain_send and its like. */
        kith__buffer_free(&member->buffer[b]);
    }
    return KITH_OK;
}

/** Do the work of kith_domain_open between kith__enter and kith__exit. Collective. */
static kith_status open_domain(kith_team *team, const kith_points *points, const kith_box *box,
                               double width, kith_domain **out)
{
    kith_domain *domain = calloc(1, sizeof *domain);
    kith_status status = kith__team_begin_with(team, domain, "a domain");
    if (status == KITH_OK) {
        domain->team = team;
        kith__team_copy_member(team, &domain->member);
        status = deal(domain, points, box, width, out != NULL);
        team->load = domain->member.load;
        team->lost = domain->member.lost;
    }
    if (status != KITH_OK) {
        kith_domain_close(domain);
        return status;
    }
    *out = domain;
    return KITH_OK;
}

kith_status kith_domain_open(kith_team *team, const kith_points *points, const kith_box *box,
                             double width, kith_domain **out)
{
    kith_status status;
    if (out) {
        *out = NULL;
    }
    KITH_TEAM_CALL(team, &status, open_domain(team, points, box, width, out));
    return status;
}

void kith_domain_close(kith_domain *domain)
{
    if (domain) {
        for (int b = 0; b < KITH_TEAM_BUFFERS; b++) {
            kith__buffer_free(&domain->member.buffer[b]);
        }
        free(domain);
    }
}

/** Refuse a domain that is NULL. @return KITH_OK, KITH_INVALID */
static kith_status check_domain(const kith_domain *domain)
{
    kith__clear_message();
    KITH_CHECK(NULL, domain != NULL, KITH_INVALID, "domain is NULL");
    return KITH_OK;
}

kith_status kith_domain_read(const kith_domain *domain, kith_domain_view *out)
{
    KITH_TRY(check_domain(domain));
    KITH_CHECK(NULL,
               out != NULL && out->size >= KITH_DOMAIN_VIEW_0_2 && out->size <= KITH_MOST_SIZE,
               KITH_INVALID, "out is NULL, or out->size is not set");
    const kith_domain_view view = {.size = out->size,
                                   .n = domain->dealt.n,
                                   .ghosts = domain->dealt.ghosts,
                                   .xyz = domain->dealt.xyz,
                                   .ids = domain->dealt.global};
    memset(out, 0, view.size);
    memcpy(out, &view, view.size < sizeof view ? view.size : sizeof view);
    return KITH_OK;
}

/* ----------------------------------------------------------------------------------- values */

/** The arrays of a call that sends values of particles. */
struct values {
    const void *from; /**< values to send; NULL: refresh, which reads and writes `to` */
    void *to;         /**< receives values */
    size_t size;      /**< bytes of a value */
};

/** Sends values one of three ways: send, refresh or home. Collective. */
typedef kith_status travel(kith_domain *domain, const struct values *values);

/** Send values to where the particles were dealt, then to their copies. */
static kith_status send(kith_domain *domain, const struct values *v)
{
    char *ghosts = (char *)v->to + (size_t)domain->dealt.n * v->size;
    KITH_TRY(kith__route_send(&domain->member, &domain->dealt.route, v->from, v->size, v->to));
    return kith__route_send(&domain->member, &domain->reach, v->to, v->size, ghosts);
}

/** Send values from the particles to their copies. */
static kith_status refresh(kith_domain *domain, const struct values *v)
{
    char *ghosts = (char *)v->to + (size_t)domain->dealt.n * v->size;
    return kith__route_send(&domain->member, &domain->reach, v->to, v->size, ghosts);
}

/** Send values to the ranks that gave the particles. */
static kith_status home(kith_domain *domain, const struct values *v)
{
    return kith__route_home(&domain->member, &domain->dealt.route, v->from, v->size, v->to);
}

/** Check the arguments of this rank. @param n_from, n_to  lengths of the arrays */
static kith_status check_values(const kith_domain *domain, const struct values *v, int64_t n_from,
                                int64_t n_to)
{
    enum { MOST = 1 << 20 }; /* limit that kith/team.h states [bytes] */
    kith_ctx *ctx = domain->team->ctx;
    KITH_CHECK(ctx, v->size >= 1 && v->size <= MOST, KITH_INVALID,
               "size is %zu bytes, expected 1 to 2^20", v->size);
    KITH_CHECK(ctx, v->from || n_from == 0, KITH_INVALID, "the values to send are NULL");
    KITH_CHECK(ctx, v->to || n_to == 0, KITH_INVALID, "the array that receives values is NULL");
    return KITH_OK;
}

/** Check the arguments, and send values, as domain->member. Collective.
 *  @param how           the way
 *  @param n_from, n_to  lengths of the arrays */
static kith_status run_member(kith_domain *domain, travel *how, const struct values *v,
                              int64_t n_from, int64_t n_to)
{
    const struct kith__equal equal = {"size", (int64_t)v->size};
    KITH_AGREE(&domain->member, check_values(domain, v, n_from, n_to));
    KITH_TRY(kith__team_equal(&domain->member, &equal, 1));
    return how(domain, v);
}

/** Check the arguments, and send values. A team that is lost on the way is lost for all its calls.
 *  Collective.
 *  @param how           the way
 *  @param n_from, n_to  lengths of the arrays */
static kith_status run(kith_domain *domain, travel *how, const struct values *v, int64_t n_from,
                       int64_t n_to)
{
    KITH_TRY(kith__team_begin(domain->team));
    /* kith__team_begin zeroed the load: that of this call is that of kith_domain_open */
    domain->team->load = domain->member.load;
    const kith_status status = run_member(domain, how, v, n_from, n_to);
    domain->team->lost = domain->member.lost;
    return status;
}

kith_status kith_domain_send(kith_domain *domain, const void *given, size_t size, void *out)
{
    KITH_TRY(check_domain(domain));
    const struct values v = {given, out, size};
    kith_status status;
    KITH_TEAM_CALL(
        domain->team, &status,
        run(domain, send, &v, domain->set.points.n, domain->dealt.n + domain->dealt.ghosts));
    return status;
}

kith_status kith_domain_refresh(kith_domain *domain, void *values, size_t size)
{
    KITH_TRY(check_domain(domain));
    const struct values v = {NULL, values, size};
    kith_status status;
    KITH_TEAM_CALL(domain->team, &status,
                   run(domain, refresh, &v, 0, domain->dealt.n + domain->dealt.ghosts));
    return status;
}

kith_status kith_domain_home(kith_domain *domain, const void *values, size_t size, void *out)
{
    KITH_TRY(check_domain(domain));
    const struct values v = {values, out, size};
    kith_status status;
    KITH_TEAM_CALL(domain->team, &status,
                   run(domain, home, &v, domain->dealt.n, domain->set.points.n));
    return status;
}
