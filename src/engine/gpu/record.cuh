/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A particle as one aligned record, which a thread reads by loads of 16 bytes.
 */
#ifndef KITH_GPU_RECORD_CUH
#define KITH_GPU_RECORD_CUH

#include <stdint.h>

/** Three components of a particle's position or velocity, and a number, which the array of records
 *  defines. */
template <typename real> struct record;

template <> struct __align__(16) record<float>
{
    float x, y, z;
    int32_t number;
};

template <> struct __align__(16) record<double>
{
    double x, y, z;
    int64_t number;
};

#endif
