/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions that fill descriptions of points (packed or split coordinates) and boxes.
 * They check nothing: the calls that take points and a box as arguments do (engine/question.c).
 */
#include <kith.h>

kith_points kith_points_packed(const void *xyz, int64_t n, kith_precision precision)
{
    const char *first = xyz;
    const size_t element = (size_t)precision; /* the values of kith_precision are sizes [bytes] */
    return (kith_points){.n = n,
                         .x = first,
                         .y = first ? first + element : NULL,
                         .z = first ? first + 2 * element : NULL,
                         .stride = 3,
                         .precision = precision,
                         .memory = KITH_HOST};
}

kith_points kith_points_split(const void *x, const void *y, const void *z, int64_t n,
                              kith_precision precision)
{
    return (kith_points){
        .n = n, .x = x, .y = y, .z = z, .stride = 1, .precision = precision, .memory = KITH_HOST};
}

kith_box kith_box_open(void)
{
    return (kith_box){.dim = 3};
}

kith_box kith_box_periodic(double lx, double ly, double lz)
{
    return kith_box_triclinic(lx, ly, lz, 0, 0, 0);
}

kith_box kith_box_triclinic(double lx, double ly, double lz, double xy, double xz, double yz)
{
    return (kith_box){
        .row = {{lx, 0, 0}, {xy, ly, 0}, {xz, yz, lz}}, .periodic = {1, 1, 1}, .dim = 3};
}
