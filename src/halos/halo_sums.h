/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Properties of one group, for every backend, in three passes over its members; kith__halo_small,
 * at the end, shows their order. The first pass finds which of 64 slices of the box, along each
 * axis, hold members. The box is cut, along each periodic axis, at the end of the widest run of
 * empty slices, and members are moved by whole boxes to the box that begins there, so that no
 * compact group is in two parts. The second pass sums masses, positions and velocities; the third
 * sums moments about their means.
 *
 * The order of summation is fixed: members are summed in pieces of KITH_HALO_PIECE, the sums of
 * KITH_HALO_PIECE consecutive pieces are added in order, and so on until there is one sum. So the
 * bits do not depend on threads or devices. Every operation is rounded once: contraction to fused
 * multiply-add is off where this header is compiled. KITH_FN (engine/pair.h) makes a function that
 * both the host and a kernel can call.
 */
#ifndef KITH_HALO_SUMS_H
#define KITH_HALO_SUMS_H

#include "halo.h"

/* Members of a piece, and branching factor of the tree of sums: so many sums are added one after
 * another to one sum of the next level. */
enum { KITH_HALO_PIECE = 64 };

enum { KITH_SLICES = 64 }; /**< slices of the box along each axis */

/* Unrolled on a GPU, so that several loads are in flight. */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define KITH_UNROLL _Pragma("unroll 4")
#else
#define KITH_UNROLL
#endif

/** Frame of reference of a group: results of the passes before the current one. kith__halo_cut sets
 *  cut and place after the first pass, kith__halo_middle the others after the second. */
struct kith__halo_frame {
    double cut[3];      /**< fractional coordinate where each periodic axis is cut */
    double place[3];    /**< unwrapped position of the first member: the origin of the sums of
                             positions, which keeps rounding errors small [length] */
    double offset[3];   /**< centre of mass, relative to `place` [length] */
    double velocity[3]; /**< mean velocity, weighted by mass [velocity] */
};

/** Sums over some members of a group. m, v are mass and velocity of a member; r is its position
 *  relative to the centre of mass, u its velocity relative to the mean velocity. The first pass
 *  sets `used`; the second the fields to `momentum`, best and particle; the third the others. */
struct kith__halo_sums {
    uint64_t used[3];                    /**< for each axis a mask: bit k is set when slice k holds
                                              members */
    int64_t members_of_type[KITH_TYPES]; /**< number of members of each type */
    double mass_of_type[KITH_TYPES];     /**< mass of each type [mass] */
    double moment[3];   /**< sum m d, d relative to kith__halo_frame.place [mass length] */
    double momentum[3]; /**< sum m v [mass velocity] */
    double second[6];   /**< sum m r_j r_k: xx, yy, zz, xy, xz, yz [mass length^2] */
    double spin[3];     /**< sum m r x u [mass length velocity] */
    double thermal;     /**< sum m u^2, for the dispersion [mass velocity^2] */
    double farthest;    /**< largest r^2 [length^2] */
    double best;        /**< smallest potential; without potentials minus the largest density */
    int64_t particle;   /**< index of the particle with that value, the first one; -1: there are
                             neither potentials nor densities */
};

/** The passes: slices that hold members; masses and means; moments about the means. */
enum kith__halo_pass { KITH_PASS_SLICES, KITH_PASS_MEANS, KITH_PASS_MOMENTS };

/** The members of one group. `precision` repeats of->points.precision, so that it can be a constant
 *  at compile time (a template parameter on a GPU). */
struct kith__halo_group {
    const struct kith__members *of; /**< the input */
    kith_precision precision;       /**< precision of the points */
    const int32_t *order;           /**< [n] indices of the group's particles, ascending */
    int64_t n;                      /**< number of members */
};

/** Compute the position of particle p, moved by whole rows of the box so that its fractional
 *  coordinates along periodic axes are within [cut, cut + 1) [length]. */
KITH_FN void kith__unwrapped(const struct kith__members *of, kith_precision precision,
                             const struct kith__halo_frame *frame, int64_t p, double r[3])
{
    double given[3]; /* fractional coordinates are those of the position before any row is moved */
    kith__position(&of->points, of->dim, precision, p, given);
    for (int k = 0; k < 3; k++) {
        r[k] = given[k];
    }
    for (int k = 0; k < 3; k++) {
        if (of->box.periodic[k]) {
            const double boxes = kith__floor(kith__fraction_d(&of->box, given, k) - frame->cut[k]);
            for (int m = 0; m < 3; m++) {
                r[m] -= boxes * of->box.row[k][m];
            }
        }
    }
}

/** Return the mass of particle p; 1 when no masses are given. */
KITH_FN double kith__mass_of(const struct kith__members *of, kith_precision precision, int64_t p)
{
    return of->input.masses ? kith__real_at(of->input.masses, p, precision) : 1;
}

/** Read the velocity of particle p. input.velocities must not be NULL. */
KITH_FN void kith__velocity_of(const struct kith__members *of, kith_precision precision, int64_t p,
                               double v[3])
{
    for (int k = 0; k < 3; k++) {
        v[k] = kith__real_at(of->input.velocities, 3 * p + k, precision);
    }
}

/** First pass: set the bits of the slices that hold particle p, along periodic axes. */
KITH_FN void kith__halo_slice(const struct kith__members *of, kith_precision precision, int64_t p,
                              struct kith__halo_sums *out)
{
    double r[3];
    kith__position(&of->points, of->dim, precision, p, r);
    for (int k = 0; k < 3; k++) {
        if (of->box.periodic[k]) {
            const double f = kith__fraction_d(&of->box, r, k);
            const int slice = (int)((f - kith__floor(f)) * KITH_SLICES);
            out->used[k] |= (uint64_t)1 << (slice < KITH_SLICES ? slice : KITH_SLICES - 1);
        }
    }
}

/** Second pass: add the mass, moment and momentum of particle p, and compare its potential, or its
 *  density, with the best so far. */
KITH_FN void kith__halo_mean(const struct kith__members *of, kith_precision precision,
                             const struct kith__halo_frame *frame, int64_t p,
                             struct kith__halo_sums *out)
{
    const kith_halo_input *input = &of->input;
    const double m = kith__mass_of(of, precision, p);
    double r[3], v[3];
    if (input->types) { /* a variable index would keep the sums in memory on a GPU */
        const int type = input->types[p];
        for (int t = 0; t < KITH_TYPES; t++) {
            out->members_of_type[t] += t == type;
            out->mass_of_type[t] += t == type ? m : 0;
        }
    } else {
        out->members_of_type[0]++;
        out->mass_of_type[0] += m;
    }
    kith__unwrapped(of, precision, frame, p, r);
    for (int k = 0; k < 3; k++) {
        out->moment[k] += m * (r[k] - frame->place[k]);
    }
    if (input->velocities) {
        kith__velocity_of(of, precision, p, v);
        for (int k = 0; k < 3; k++) {
            out->momentum[k] += m * v[k];
        }
    }
    if (input->potentials || input->densities) {
        /* the smallest is sought; of equal ones the first particle stays */
        const double mark = input->potentials ? kith__real_at(input->potentials, p, precision)
                                              : -kith__real_at(input->densities, p, precision);
        if (out->particle < 0 || mark < out->best) {
            out->best = mark;
            out->particle = p;
        }
    }
}

/** Third pass: add the moments of particle p about the means. */
KITH_FN void kith__halo_moment(const struct kith__members *of, kith_precision precision,
                               const struct kith__halo_frame *frame, int64_t p,
                               struct kith__halo_sums *out)
{
    const double m = kith__mass_of(of, precision, p);
    double r[3], u[3];
    kith__unwrapped(of, precision, frame, p, r);
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
    if (of->input.velocities) {
        kith__velocity_of(of, precision, p, u);
        for (int k = 0; k < 3; k++) {
            u[k] -= frame->velocity[k];
        }
        out->thermal += m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        for (int k = 0; k < 3; k++) {
            const int y = (k + 1) % 3, z = (k + 2) % 3;
            out->spin[k] += m * (r[y] * u[z] - r[z] * u[y]);
        }
    }
}

/** Sum over one piece: n members from member `first` on, one after another.
 *  @param frame  results of earlier passes; unused in KITH_PASS_SLICES */
KITH_FN void kith__halo_piece(const struct kith__halo_group *group, enum kith__halo_pass pass,
                              const struct kith__halo_frame *frame, int64_t first, int64_t n,
                              struct kith__halo_sums *out)
{
    const struct kith__halo_sums none = {{0, 0, 0}, {0}, {0}, {0}, {0}, {0}, {0}, 0, 0, 0, -1};
    struct kith__halo_sums sums = none;
    KITH_UNROLL
    for (int64_t at = first; at < first + n; at++) {
        const int64_t p = group->order[at];
        switch (pass) {
        case KITH_PASS_SLICES: kith__halo_slice(group->of, group->precision, p, &sums); break;
        case KITH_PASS_MEANS: kith__halo_mean(group->of, group->precision, frame, p, &sums); break;
        case KITH_PASS_MOMENTS:
            kith__halo_moment(group->of, group->precision, frame, p, &sums);
            break;
        }
    }
    *out = sums;
}

/** Add the sums *part to the sums *to; the members of *part follow those of *to. */
KITH_FN void kith__halo_add(struct kith__halo_sums *to, const struct kith__halo_sums *part)
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
    to->thermal += part->thermal;
    to->farthest = fmax(to->farthest, part->farthest);
    if (part->particle >= 0 && part->best < to->best) {
        to->best = part->best;
        to->particle = part->particle;
    }
}

/** One node of the tree of sums: add to sums[0] the next KITH_HALO_PIECE - 1 sums in order:
 *  sums[apart], sums[2 apart], and so on, those below sums[n].
 *  @param apart  distance of these sums in the array: KITH_HALO_PIECE^level */
KITH_FN void kith__halo_gather(struct kith__halo_sums *sums, int64_t apart, int64_t n)
{
    struct kith__halo_sums all = sums[0];
    for (int64_t k = 1; k < KITH_HALO_PIECE && k * apart < n; k++) {
        kith__halo_add(&all, &sums[k * apart]);
    }
    sums[0] = all;
}

/** Return the end of the widest run of empty slices, as a fractional coordinate; of equal runs the
 *  first. @param used  bit k is set when slice k holds members */
KITH_FN double kith__find_cut(uint64_t used)
{
    int widest = 0, cut = 0, empty = 0;
    for (int k = 0; k < 2 * KITH_SLICES; k++) { /* two rounds, for a run that crosses the end */
        if (used >> (k % KITH_SLICES) & 1) {
            if (empty > widest) {
                widest = empty;
                cut = k % KITH_SLICES;
            }
            empty = 0;
        } else {
            empty++;
        }
    }
    return (double)cut / KITH_SLICES;
}

/** Return true when the box is periodic along some axis. */
KITH_FN bool kith__is_periodic(const struct kith__lattice_d *box)
{
    return box->periodic[0] || box->periodic[1] || box->periodic[2];
}

/** After the first pass: set frame->cut and place. @param sums  not read along open axes */
KITH_FN void kith__halo_cut(const struct kith__halo_group *group,
                            const struct kith__halo_sums *sums, struct kith__halo_frame *frame)
{
    for (int k = 0; k < 3; k++) {
        frame->cut[k] = group->of->box.periodic[k] ? kith__find_cut(sums->used[k]) : 0;
    }
    kith__unwrapped(group->of, group->precision, frame, group->order[0], frame->place);
}

/** After the second pass: set frame->offset and velocity, and the results that follow from the
 *  sums; all other members of *out become 0. */
KITH_FN void kith__halo_middle(const struct kith__halo_group *group,
                               const struct kith__halo_sums *sums, struct kith__halo_frame *frame,
                               kith_halo *out)
{
    const struct kith__members *of = group->of;
    const kith_halo none = {0};
    int32_t image[3];
    *out = none;
    out->members = group->n;
    out->particle = sums->particle;
    for (int t = 0; t < KITH_TYPES; t++) {
        out->members_of_type[t] = sums->members_of_type[t];
        out->mass_of_type[t] = sums->mass_of_type[t];
        out->mass += sums->mass_of_type[t];
    }
    for (int k = 0; k < 3; k++) {
        frame->offset[k] = sums->moment[k] / out->mass;
        frame->velocity[k] = out->velocity[k] = sums->momentum[k] / out->mass;
        out->centre_of_mass[k] = frame->place[k] + frame->offset[k];
    }
    kith__wrap_d(&of->box, out->centre_of_mass, image);
    for (int k = 0; k < 3; k++) {
        out->centre[k] = out->centre_of_mass[k];
    }
    if (out->particle >= 0) {
        kith__position(&of->points, of->dim, group->precision, out->particle, out->centre);
        kith__wrap_d(&of->box, out->centre, image);
    }
}

/** Apply one Jacobi rotation, which makes s[j][k] zero, to the symmetric matrix s, and to rows j
 *  and k of v. */
KITH_FN void kith__rotate(double s[3][3], double v[3][3], int j, int k)
{
    /* t, c, sine: tangent, cosine and sine of the angle of rotation; t is the smaller root of
     * t^2 + 2 theta t - 1 = 0 */
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

/** Compute axis_length and axis of *out: from the eigenvalues and eigenvectors of the second
 *  moments, by Jacobi rotations (Golub & Van Loan 2013, section 8.5), largest first.
 *  @param second  kith__halo_sums.second
 *  @param mass    mass of the group */
KITH_FN void kith__find_axes(const double second[6], double mass, kith_halo *out)
{
    enum { SWEEPS = 12 }; /* convergence is quadratic; 6 sweeps suffice for doubles */
    double s[3][3] = {{second[0], second[3], second[4]},
                      {second[3], second[1], second[5]},
                      {second[4], second[5], second[2]}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int j = 0; j < 2; j++) {
            for (int k = j + 1; k < 3; k++) {
                if (s[j][k] != 0) {
                    kith__rotate(s, v, j, k);
                }
            }
        }
    }
    int order[3] = {0, 1, 2}; /* bubble sort by falling eigenvalue */
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
        out->axis_length[k] = sqrt(fmax(s[order[k]][order[k]], 0.0) / mass);
        for (int m = 0; m < 3; m++) {
            out->axis[k][m] = v[order[k]][m];
        }
    }
}

/** After the third pass: set the results that follow from its sums. */
KITH_FN void kith__halo_finish(const struct kith__halo_sums *sums, int dim, kith_halo *out)
{
    const double *s = sums->second;
    /* sum m (r^2 delta_jk - r_j r_k), from the second moments */
    const double inertia[6] = {s[1] + s[2], s[0] + s[2], s[0] + s[1], -s[3], -s[4], -s[5]};
    out->dispersion = sqrt(sums->thermal / (dim * out->mass));
    out->radius_rms = sqrt((s[0] + s[1] + s[2]) / out->mass);
    out->radius_max = sqrt(sums->farthest);
    for (int k = 0; k < 3; k++) {
        out->angular_momentum[k] = sums->spin[k];
    }
    for (int k = 0; k < 6; k++) {
        out->inertia[k] = inertia[k];
    }
    kith__find_axes(s, out->mass, out);
}

/** Measure a group of at most KITH_HALO_PIECE members, in one piece. */
KITH_FN void kith__halo_small(const struct kith__halo_group *group, kith_halo *out)
{
    struct kith__halo_frame frame;
    struct kith__halo_sums sums;
    if (kith__is_periodic(&group->of->box)) {
        kith__halo_piece(group, KITH_PASS_SLICES, NULL, 0, group->n, &sums);
    }
    kith__halo_cut(group, &sums, &frame);
    kith__halo_piece(group, KITH_PASS_MEANS, &frame, 0, group->n, &sums);
    kith__halo_middle(group, &sums, &frame, out);
    kith__halo_piece(group, KITH_PASS_MOMENTS, &frame, 0, group->n, &sums);
    kith__halo_finish(&sums, group->of->dim, out);
}

#endif
