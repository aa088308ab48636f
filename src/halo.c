/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One group, in three passes over its members. The first marks which 64ths of the box they lie in
 * along each axis, which finds where to cut a periodic box so that no compact group is torn; the
 * second sums masses, positions and velocities, the third moments about their means.
 *
 * Each pass takes pieces of a fixed number of members, summed one after another, and adds the sums
 * of the pieces in order: threads share pieces, and never change a bit.
 */
#include "halo.h"

#include <string.h>

enum { SLICES = 64 };

/** Where a group lies, and how its parts move. */
struct frame {
    double cut[3];    /* fractional coordinate at which each periodic axis begins */
    double place[3];  /* a member's position, from which moment is taken */
    double offset[3]; /* X - place */
    double velocity[3];
};

typedef void (*pass_fn)(const struct kith__members *members, const struct frame *frame,
                        const int32_t *order, int64_t n, struct kith__halo_sums *out);

/** Position of a member in the box as it is cut. */
static void unwrapped(const struct kith__members *members, const struct frame *frame, int64_t p,
                      double r[3])
{
    const struct kith__lattice_d *box = &members->question->box_d;
    double given[3];
    kith__position(members->question, p, given);
    memcpy(r, given, sizeof given);
    for (int k = 0; k < 3; k++) {
        if (box->periodic[k]) {
            const double boxes = floor(kith__fraction_d(box, given, k) - frame->cut[k]);
            for (int m = 0; m < 3; m++) {
                r[m] -= boxes * box->row[k][m];
            }
        }
    }
}

static double mass_of(const struct kith__members *members, int64_t p)
{
    const void *masses = members->input->masses;
    return masses ? kith__real_at(masses, p, members->question->precision) : 1;
}

static void velocity_of(const struct kith__members *members, int64_t p, double v[3])
{
    for (int k = 0; k < 3; k++) {
        v[k] = kith__real_at(members->input->velocities, 3 * p + k, members->question->precision);
    }
}

static void mark_slices(const struct kith__members *members, const struct frame *frame,
                        const int32_t *order, int64_t n, struct kith__halo_sums *out)
{
    const struct kith__lattice_d *box = &members->question->box_d;
    (void)frame;
    for (int64_t at = 0; at < n; at++) {
        double r[3];
        kith__position(members->question, order[at], r);
        for (int k = 0; k < 3; k++) {
            const double f = kith__fraction_d(box, r, k);
            const int slice = (int)((f - floor(f)) * SLICES);
            out->used[k] |= (uint64_t)1 << (slice < SLICES ? slice : SLICES - 1);
        }
    }
}

static void sum_means(const struct kith__members *members, const struct frame *frame,
                      const int32_t *order, int64_t n, struct kith__halo_sums *out)
{
    const kith_halo_input *input = members->input;
    const void *marks = input->potentials ? input->potentials : input->densities;
    const double sign = input->potentials ? 1 : -1;
    out->particle = -1;
    for (int64_t at = 0; at < n; at++) {
        const int64_t p = order[at];
        const double m = mass_of(members, p);
        const int type = input->types ? input->types[p] : 0;
        double r[3], v[3];
        out->members_of_type[type]++;
        out->mass_of_type[type] += m;
        unwrapped(members, frame, p, r);
        for (int k = 0; k < 3; k++) {
            out->moment[k] += m * (r[k] - frame->place[k]);
        }
        if (input->velocities) {
            velocity_of(members, p, v);
            for (int k = 0; k < 3; k++) {
                out->momentum[k] += m * v[k];
            }
        }
        if (marks) {
            const double mark = sign * kith__real_at(marks, p, members->question->precision);
            if (out->particle < 0 || mark < out->best) {
                out->best = mark;
                out->particle = p;
            }
        }
    }
}

static void sum_moments(const struct kith__members *members, const struct frame *frame,
                        const int32_t *order, int64_t n, struct kith__halo_sums *out)
{
    for (int64_t at = 0; at < n; at++) {
        const int64_t p = order[at];
        const double m = mass_of(members, p);
        double r[3], u[3];
        unwrapped(members, frame, p, r);
        for (int k = 0; k < 3; k++) {
            r[k] = (r[k] - frame->place[k]) - frame->offset[k];
        }
        for (int k = 0; k < 3; k++) {
            out->second[k] += m * (r[k] * r[k]);
        }
        out->second[3] += m * (r[0] * r[1]);
        out->second[4] += m * (r[0] * r[2]);
        out->second[5] += m * (r[1] * r[2]);
        out->farthest = fmax(out->farthest, r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
        if (members->input->velocities) {
            velocity_of(members, p, u);
            for (int k = 0; k < 3; k++) {
                u[k] -= frame->velocity[k];
            }
            out->stir += m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
            for (int k = 0; k < 3; k++) {
                const int y = (k + 1) % 3, z = (k + 2) % 3;
                out->spin[k] += m * (r[y] * u[z] - r[z] * u[y]);
            }
        }
    }
}

static void add_sums(struct kith__halo_sums *to, const struct kith__halo_sums *part)
{
    for (int t = 0; t < KITH_TYPES; t++) {
        to->members_of_type[t] += part->members_of_type[t];
        to->mass_of_type[t] += part->mass_of_type[t];
    }
    for (int k = 0; k < 3; k++) {
        to->used[k] |= part->used[k];
        to->moment[k] += part->moment[k];
        to->momentum[k] += part->momentum[k];
        to->spin[k] += part->spin[k];
    }
    for (int k = 0; k < 6; k++) {
        to->second[k] += part->second[k];
    }
    to->stir += part->stir;
    to->farthest = fmax(to->farthest, part->farthest);
    if (part->particle >= 0 && part->best < to->best) {
        to->best = part->best;
        to->particle = part->particle;
    }
}

/** Do a pass over all members; parts[0] receives the sums. */
static void run(const struct kith__members *members, const struct frame *frame, pass_fn pass,
                const int32_t *order, int64_t n, struct kith__halo_sums *parts, int threads)
{
    const int64_t pieces = (n + KITH_HALO_PIECE - 1) / KITH_HALO_PIECE;
    if (pieces == 1) {
        parts[0] = (struct kith__halo_sums){0};
        pass(members, frame, order, n, &parts[0]);
        return;
    }
#pragma omp parallel for num_threads(threads)
    for (int64_t piece = 0; piece < pieces; piece++) {
        const int64_t begin = piece * KITH_HALO_PIECE;
        const int64_t count = n - begin < KITH_HALO_PIECE ? n - begin : KITH_HALO_PIECE;
        struct kith__halo_sums sums = {0};
        pass(members, frame, order + begin, count, &sums);
        parts[piece] = sums;
    }
    for (int64_t piece = 1; piece < pieces; piece++) {
        add_sums(&parts[0], &parts[piece]);
    }
}

/** Where the widest run of empty slices ends, as a fractional coordinate; of equals the first. */
static double find_cut(uint64_t used)
{
    int widest = 0, cut = 0, empty = 0;
    for (int k = 0; k < 2 * SLICES; k++) { /* twice round, for the run that crosses the end */
        if (used >> (k % SLICES) & 1) {
            if (empty > widest && empty < SLICES) {
                widest = empty;
                cut = k % SLICES;
            }
            empty = 0;
        } else {
            empty++;
        }
    }
    return (double)cut / SLICES;
}

/** Turn s[j][j], s[k][k] so that s[j][k] becomes 0, and v's rows with them. */
static void rotate(double s[3][3], double v[3][3], int j, int k)
{
    const double theta = (s[k][k] - s[j][j]) / (2 * s[j][k]);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), sine = t * c;
    for (int m = 0; m < 3; m++) {
        const double a = s[m][j], b = s[m][k];
        s[m][j] = c * a - sine * b;
        s[m][k] = sine * a + c * b;
    }
    for (int m = 0; m < 3; m++) {
        const double a = s[j][m], b = s[k][m];
        s[j][m] = c * a - sine * b;
        s[k][m] = sine * a + c * b;
    }
    for (int m = 0; m < 3; m++) {
        const double a = v[j][m], b = v[k][m];
        v[j][m] = c * a - sine * b;
        v[k][m] = sine * a + c * b;
    }
}

/** Eigenvalues and vectors by Jacobi's rotations (Golub & Van Loan 2013, section 8.5). */
static void find_axes(const double second[6], double mass, kith_halo *out)
{
    enum { SWEEPS = 12 }; /* the error squares with each; 6 are enough for doubles */
    double s[3][3] = {{second[0], second[3], second[4]},
                      {second[3], second[1], second[5]},
                      {second[4], second[5], second[2]}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int j = 0; j < 2; j++) {
            for (int k = j + 1; k < 3; k++) {
                if (s[j][k] != 0) {
                    rotate(s, v, j, k);
                }
            }
        }
    }
    int order[3] = {0, 1, 2};
    for (int j = 0; j < 2; j++) {
        for (int k = 2; k > j; k--) {
            const int a = order[k - 1], b = order[k];
            if (s[b][b] > s[a][a]) {
                order[k - 1] = b;
                order[k] = a;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        out->axis_length[k] = sqrt(fmax(s[order[k]][order[k]], 0) / mass);
        memcpy(out->axis[k], v[order[k]], sizeof out->axis[k]);
    }
}

static void finish(const struct kith__halo_sums *sums, int dim, kith_halo *out)
{
    const double *s = sums->second;
    out->dispersion = sqrt(sums->stir / (dim * out->mass));
    out->radius_rms = sqrt((s[0] + s[1] + s[2]) / out->mass);
    out->radius_max = sqrt(sums->farthest);
    memcpy(out->angular_momentum, sums->spin, sizeof sums->spin);
    const double inertia[6] = {s[1] + s[2], s[0] + s[2], s[0] + s[1], -s[3], -s[4], -s[5]};
    memcpy(out->inertia, inertia, sizeof inertia);
    find_axes(s, out->mass, out);
}

void kith__halo_measure(const struct kith__members *members, int64_t first, int64_t n,
                        struct kith__halo_sums *parts, int threads, kith_halo *out)
{
    const struct kith__question *q = members->question;
    const int32_t *order = members->order + first;
    struct frame frame = {0};
    int32_t image[3];
    if (q->box_d.periodic[0] || q->box_d.periodic[1] || q->box_d.periodic[2]) {
        run(members, &frame, mark_slices, order, n, parts, threads);
        for (int k = 0; k < 3; k++) {
            frame.cut[k] = find_cut(parts[0].used[k]);
        }
    }
    unwrapped(members, &frame, order[0], frame.place);
    run(members, &frame, sum_means, order, n, parts, threads);
    const struct kith__halo_sums *sums = &parts[0];
    *out = (kith_halo){.members = n, .particle = sums->particle};
    for (int t = 0; t < KITH_TYPES; t++) {
        out->members_of_type[t] = sums->members_of_type[t];
        out->mass_of_type[t] = sums->mass_of_type[t];
        out->mass += sums->mass_of_type[t];
    }
    for (int k = 0; k < 3; k++) {
        frame.offset[k] = sums->moment[k] / out->mass;
        frame.velocity[k] = out->velocity[k] = sums->momentum[k] / out->mass;
        out->centre_of_mass[k] = frame.place[k] + frame.offset[k];
    }
    kith__wrap_d(&q->box_d, out->centre_of_mass, image);
    memcpy(out->centre, out->centre_of_mass, sizeof out->centre);
    if (out->particle >= 0) {
        kith__position(q, out->particle, out->centre);
        kith__wrap_d(&q->box_d, out->centre, image);
    }
    run(members, &frame, sum_moments, order, n, parts, threads);
    finish(&parts[0], q->dim, out);
}
