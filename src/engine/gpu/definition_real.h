/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of pair.h and cells.h as members of a template by the type of coordinate. Included
 * by device.cuh through per_precision.h, which defines the type `real` and KITH_REAL(name), the
 * name with the suffix _d or _f. Generates definition<double>, definition<float>, and overloads of
 * two functions for both types.
 */

/** For one type of coordinate: member NAME is the function kith__NAME_d or kith__NAME_f, except for
 *  box and square. */
template <> struct definition<real> {
    typedef struct KITH_REAL(kith__lattice) lattice;
    /** Return the box of a question in this precision. */
    static __device__ const lattice &box(const struct kith__question &q)
    {
        return q.KITH_REAL(box);
    }
    static __device__ int load(const lattice &box, const kith_points &points, int dim, int64_t p,
                               real r[3], int32_t image[3])
    {
        return KITH_REAL(kith__load)(&box, &points, dim, p, r, image);
    }
    static __device__ void fractions(const lattice &box, const real r[3], double f[3])
    {
        KITH_REAL(kith__fractions)(&box, r, f);
    }
    static __device__ void bounds_add(const lattice &box, int64_t p, const real r[3], int fits,
                                      const int32_t image[3], struct kith__bounds *bounds)
    {
        KITH_REAL(kith__bounds_add)(&box, p, r, fits, image, bounds);
    }
    static __device__ real separation(const lattice &box, const real ri[3], const real rj[3],
                                      const int32_t s[3], real d[3])
    {
        return KITH_REAL(kith__separation)(&box, ri, rj, s, d);
    }
    static __device__ real phase(real r2, real length, const real vi[3], const real vj[3],
                                 real speed)
    {
        return KITH_REAL(kith__phase)(r2, length, vi, vj, speed);
    }
    /** Return the square of a cutoff, which r^2 of a pair does not exceed. */
    static __device__ real square(real cutoff)
    {
        return KITH_MUL(cutoff, cutoff);
    }
};

/** Return a component of a separation at an image, by the definition, in an orthorhombic box.
 *  @param d   component of rj - ri [length]
 *  @param by  component of the image's vector [length] */
static __device__ __forceinline__ real moved(real d, real by)
{
    return KITH_ADD(d, by);
}

/** Return r^2 of a separation's components, by the definition. */
static __device__ __forceinline__ real square_of(real x, real y, real z)
{
    return KITH_ADD(KITH_ADD(KITH_MUL(x, x), KITH_MUL(y, y)), KITH_MUL(z, z));
}
