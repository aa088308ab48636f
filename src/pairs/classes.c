/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Dividing particles into classes of radius, by a counting sort, and listing the searches between
 * classes (classes.h). O(n).
 */
#include "classes.h"

#include <math.h>
#include <string.h>

/** Return the class of a radius: 0 for the largest, KITH_CLASSES - 1 for all of the smallest.
 *  @param largest  the largest radius of all particles; 0: all radii are in the last class */
static int class_of(double radius, double largest)
{
    if (!(radius > largest * 0x1p-31)) { /* the last class, 31; so 0 is not a divisor below */
        return KITH_CLASSES - 1;
    }
    int exponent; /* largest / radius is in [2^(exponent - 1), 2^exponent) */
    (void)frexp(largest / radius, &exponent);
    const int c = exponent - 1;
    return c < 0 ? 0 : c < KITH_CLASSES ? c : KITH_CLASSES - 1;
}

/** Return the largest of n radii. */
static double largest_of(const void *radii, int64_t n, kith_precision precision)
{
    double largest = 0;
    for (int64_t p = 0; p < n; p++) {
        const double radius = kith__real_at(radii, p, precision);
        largest = radius > largest ? radius : largest;
    }
    return largest;
}

/** Sort the particles of a set by class (counting sort), and find the largest radius of each class.
 *  @param active   [n] particles with 0 are ignored; NULL: there are none
 *  @param largest  the largest radius of both sets
 *  @param set      number of the set: start, largest and order of this set are set in `classes` */
static void sort_set(const void *radii, int64_t n, kith_precision precision, const uint8_t *active,
                     double largest, int set, struct kith__classes *classes)
{
    int64_t *const start = classes->start[set];
    int64_t next[KITH_CLASSES];
    memset(start, 0, sizeof classes->start[set]);
    memset(classes->largest[set], 0, sizeof classes->largest[set]);
    for (int64_t p = 0; p < n; p++) {
        const double radius = kith__real_at(radii, p, precision);
        const int c = class_of(radius, largest);
        if (!active || active[p]) {
            start[c + 1]++;
            classes->largest[set][c] = fmax(classes->largest[set][c], radius);
        }
    }
    for (int c = 0; c < KITH_CLASSES; c++) { /* prefix sum: start[c + 1] was the count of class c */
        next[c] = start[c];
        start[c + 1] += start[c];
    }
    for (int64_t p = 0; p < n; p++) {
        if (!active || active[p]) {
            const int c = class_of(kith__real_at(radii, p, precision), largest);
            classes->order[set][next[c]++] = (int32_t)p;
        }
    }
}

/** Return true when a class has no particles of either set. */
static bool is_empty(const struct kith__classes *classes, int c)
{
    return classes->start[0][c] == classes->start[0][c + 1] &&
           classes->start[1][c] == classes->start[1][c + 1];
}

int kith__classes_find(const struct kith__question *q, const struct kith__rules *rules,
                       const void *const radii[2], const uint8_t *active,
                       struct kith__classes *classes)
{
    const double largest = fmax(largest_of(radii[0], q->a.n, q->precision),
                                largest_of(radii[1], q->b.n, q->precision));
    int n = 0;
    classes->rule = rules->radius_rule;
    classes->two_sets = rules->two_sets;
    sort_set(radii[0], q->a.n, q->precision, active, largest, 0, classes);
    sort_set(radii[1], q->b.n, q->precision, NULL, largest, 1, classes);
    for (int c = 0; c < KITH_CLASSES; c++) {
        n += !is_empty(classes, c);
    }
    return n;
}

/** A range of classes, [first, last). */
struct class_range {
    int first, last;
};

/** Return the largest radius of a range of classes of a set. */
static double largest_in(const struct kith__classes *classes, int set, struct class_range range)
{
    double largest = 0;
    for (int c = range.first; c < range.last; c++) {
        largest = fmax(largest, classes->largest[set][c]);
    }
    return largest;
}

/** Return the largest distance of a pair whose radii are at most hi and hj [length]. */
static double reach_of(kith_radius_rule rule, kith_precision precision, double hi, double hj)
{
    return precision == KITH_FLOAT ? (double)kith__radius_of_pair_f(rule, (float)hi, (float)hj)
                                   : kith__radius_of_pair_d(rule, hi, hj);
}

/** Describe the search of the rows of a range of classes against the particles of another range.
 *  @param most  the cutoff of the question [length]
 *  @param a     range of set 0, the rows
 *  @param b     range of set 1, the candidates
 *  @return 1, the number of searches; 0, with *search undefined, where a range has no particles */
static int add_search(const struct kith__classes *classes, kith_precision precision, double most,
                      struct class_range a, struct class_range b, struct kith__class_search *search)
{
    const struct class_range range[2] = {a, b};
    for (int set = 0; set < 2; set++) {
        search->first[set] = classes->start[set][range[set].first];
        search->last[set] = classes->start[set][range[set].last];
        if (search->first[set] == search->last[set]) {
            return 0;
        }
    }
    /* Radii may be 0, but the square of a cutoff has to be a normal number: at least 2^-126 in
     * float and 2^-1022 in double; the factor 1.2 is far more than its roundings. A cutoff below
     * most / 2^32, where only the last class can be, is raised to that. */
    const double least = fmax(most * 0x1p-32,
                              precision == KITH_FLOAT ? 1.2 * 0x1p-63 : 1.2 * 0x1p-511);
    const double reach = reach_of(classes->rule, precision, largest_in(classes, 0, a),
                                  largest_in(classes, 1, b));
    search->cutoff = kith__rounded(fmin(fmax(reach, least), most), precision);
    return 1;
}

int kith__class_searches_to(const struct kith__classes *classes, kith_precision precision,
                            double most, int tail,
                            struct kith__class_search search[KITH_CLASS_SEARCHES])
{
    const struct class_range all = {0, KITH_CLASSES};
    int n = 0;
    /* Class c has larger radii than class c + 1. In step c == tail, `own` is the whole tail. */
    for (int c = 0; c <= tail && c < KITH_CLASSES; c++) {
        const struct class_range own = {c, c == tail ? KITH_CLASSES : c + 1};
        const struct class_range not_larger = {c, KITH_CLASSES};
        const struct class_range smaller = {own.last, KITH_CLASSES};
        const struct class_range not_smaller = {0, own.last};
        const struct class_range larger = {0, c};
        switch (classes->rule) {
        case KITH_RADIUS_GATHER:
            n += add_search(classes, precision, most, own, all, &search[n]);
            break;
        case KITH_RADIUS_SCATTER:
            n += add_search(classes, precision, most, all, own, &search[n]);
            break;
        case KITH_RADIUS_BOTH:
            n += add_search(classes, precision, most, own, not_smaller, &search[n]);
            n += add_search(classes, precision, most, larger, own, &search[n]);
            break;
        default:
            n += add_search(classes, precision, most, own, not_larger, &search[n]);
            n += add_search(classes, precision, most, smaller, own, &search[n]);
        }
    }
    return n;
}

int kith__class_searches(const struct kith__classes *classes, kith_precision precision, double most,
                         struct kith__class_search search[KITH_CLASS_SEARCHES])
{
    return kith__class_searches_to(classes, precision, most, KITH_CLASSES, search); /* no tail */
}

int kith__class_tail(const struct kith__classes *classes, kith_precision precision, double most,
                     int tail, struct kith__class_search *search)
{
    const struct class_range all = {0, KITH_CLASSES};
    const struct class_range own = {tail, KITH_CLASSES};
    const bool by_j = classes->rule == KITH_RADIUS_SCATTER;
    const bool either = classes->rule == KITH_RADIUS_EITHER || classes->rule == KITH_RADIUS_SUM;
    int n = 0;
    for (int c = tail; c < KITH_CLASSES; c++) {
        n += !is_empty(classes, c);
    }
    return add_search(classes, precision, most, by_j ? all : own, by_j || either ? own : all,
                      search)
               ? n
               : 0;
}
