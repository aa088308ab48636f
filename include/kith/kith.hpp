/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith for C++17: contexts and results that free themselves, failures as exceptions.
 *
 *     kith::context ctx;
 *     const auto points = kith::points(xyz.data(), xyz.size() / 3); // double xyz[n][3]
 *     const kith_box box = kith_box_periodic(lx, ly, lz);
 *     const kith::pairs list = ctx.pairs(points, cutoff, &box);
 *     for (std::size_t p = 0; p < list.size(); p++)
 *         use(list->i[p], list->j[p]);
 *
 * All else is called as in C, with ctx.get(); kith::check turns a status into an exception. See
 * kith.h for pairs, boxes, memory and threads: a result is destroyed before its context.
 */
#ifndef KITH_API_HPP
#define KITH_API_HPP

#include <kith.h>

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kith
{

/** A call that failed: what() has the message of the library. */
class error : public std::runtime_error
{
  public:
    error(kith_status status, const char *message) : std::runtime_error(message), status_(status)
    {
    }

    /** What the call returned. */
    kith_status status() const noexcept
    {
        return status_;
    }

  private:
    kith_status status_;
};

/** Throw the error of a call on ctx. Nothing happens if status is KITH_OK.
 *  @param ctx  nullptr: a call without a context, whose message is that of the thread */
inline void check(kith_status status, const kith_ctx *ctx)
{
    if (status != KITH_OK) {
        /* a busy context holds the message of another call; the thread holds that of this call */
        const bool in_thread = !ctx || status == KITH_BUSY;
        throw error(status, kith_message(in_thread ? nullptr : ctx));
    }
}

/** Borrow an array [n][3] in host memory. */
inline kith_points points(const double *xyz, std::size_t n)
{
    return kith_points_packed(xyz, static_cast<int64_t>(n), KITH_DOUBLE);
}

inline kith_points points(const float *xyz, std::size_t n)
{
    return kith_points_packed(xyz, static_cast<int64_t>(n), KITH_FLOAT);
}

/** Elements of an array that a result owns, valid as long as the result. */
template <typename T> class span
{
  public:
    span(T *first, int64_t n) : first_(first), n_(static_cast<std::size_t>(n))
    {
    }

    T *begin() const noexcept
    {
        return first_;
    }
    T *end() const noexcept
    {
        return first_ + n_;
    }
    T *data() const noexcept
    {
        return first_;
    }
    std::size_t size() const noexcept
    {
        return n_;
    }
    T &operator[](std::size_t k) const
    {
        return first_[k];
    }

  private:
    T *first_;
    std::size_t n_;
};

/** A struct of results of the C interface, which is freed by the destructor. Its size says that it
 *  has all fields that kith.h declares. */
template <typename C, void (*Free)(C *)> class result
{
  public:
    result() noexcept
    {
        fields_.size = sizeof(C);
    }
    ~result()
    {
        Free(&fields_);
    }
    result(result &&other) noexcept : result()
    {
        std::swap(fields_, other.fields_);
    }
    /** Exchange the two: `other` gets these arrays, and frees them when it is destroyed. */
    result &operator=(result &&other) noexcept
    {
        std::swap(fields_, other.fields_);
        return *this;
    }
    result(const result &) = delete;
    result &operator=(const result &) = delete;

    C *get() noexcept
    {
        return &fields_;
    }
    const C *get() const noexcept
    {
        return &fields_;
    }
    const C *operator->() const noexcept
    {
        return &fields_;
    }

  private:
    C fields_ = C();
};

/** A list of pairs: kith_pairs. */
class pairs : public result<kith_pairs, kith_pairs_free>
{
  public:
    std::size_t size() const noexcept
    {
        return static_cast<std::size_t>(get()->n);
    }
    /** KITH_MATRIX: the number of neighbours of each particle. */
    span<const int32_t> counts() const
    {
        return {get()->counts, get()->rows};
    }
    /** KITH_MATRIX: the neighbours of particle i, counts()[i] of them. */
    span<const int32_t> of(std::size_t i) const
    {
        return {get()->j + i * static_cast<std::size_t>(get()->width), get()->counts[i]};
    }
};

/** The nearest neighbours of each particle: kith_nearest. */
class nearest : public result<kith_nearest, kith_nearest_free>
{
  public:
    std::size_t size() const noexcept
    {
        return static_cast<std::size_t>(get()->rows);
    }
    span<const int32_t> counts() const
    {
        return {get()->counts, get()->rows};
    }
    /** The neighbours of particle i, in the order of their distances: counts()[i] of them. */
    span<const int32_t> of(std::size_t i) const
    {
        return {get()->j + i * static_cast<std::size_t>(get()->k), get()->counts[i]};
    }
};

/** An order of particles: kith_order. */
class order : public result<kith_order, kith_order_free>
{
  public:
    std::size_t size() const noexcept
    {
        return static_cast<std::size_t>(get()->n);
    }
    /** The particle that comes k-th. */
    int32_t operator[](std::size_t k) const
    {
        return get()->order[k];
    }
    const int32_t *begin() const noexcept
    {
        return get()->order;
    }
    const int32_t *end() const noexcept
    {
        return get()->order + get()->n;
    }
};

/** Groups of particles: kith_groups. */
class groups : public result<kith_groups, kith_groups_free>
{
  public:
    std::size_t size() const noexcept
    {
        return static_cast<std::size_t>(get()->n);
    }
    span<const int32_t> labels() const
    {
        return {get()->labels, get()->points};
    }
    span<const int64_t> members() const
    {
        return {get()->members, get()->n};
    }
};

/** Properties of groups: kith_halos. */
class halos : public result<kith_halos, kith_halos_free>
{
  public:
    halos() noexcept
    {
        get()->stride = sizeof(kith_halo);
    }
    std::size_t size() const noexcept
    {
        return static_cast<std::size_t>(get()->n);
    }
    const kith_halo &operator[](std::size_t k) const
    {
        return get()->halo[k];
    }
};

/** A list that is kept over the steps of a simulation: kith_verlet. */
class verlet
{
  public:
    /** kith_verlet_open on a context, which is destroyed after the list. */
    verlet(kith_ctx *ctx, const kith_verlet_options &options) : ctx_(ctx)
    {
        check(kith_verlet_open(ctx, &options, &verlet_), ctx);
    }
    ~verlet()
    {
        kith_verlet_close(verlet_);
    }
    verlet(verlet &&other) noexcept
        : ctx_(other.ctx_), verlet_(std::exchange(other.verlet_, nullptr))
    {
    }
    verlet &operator=(verlet &&other) noexcept
    {
        std::swap(ctx_, other.ctx_);
        std::swap(verlet_, other.verlet_);
        return *this;
    }
    verlet(const verlet &) = delete;
    verlet &operator=(const verlet &) = delete;

    kith_verlet *get() const noexcept
    {
        return verlet_;
    }

    /** kith_verlet_update. @param reuse  an earlier list, whose arrays are used again */
    kith::pairs update(const kith_points &points, const kith_box *box = nullptr,
                       kith::pairs reuse = {})
    {
        check(kith_verlet_update(verlet_, &points, box, reuse.get()), ctx_);
        return reuse;
    }

    /** kith_verlet_update_batch. @param reuse  an earlier list, whose arrays are used again */
    kith::pairs update(const kith_points &points, const kith_box *box, const kith_batch &batch,
                       kith::pairs reuse = {})
    {
        check(kith_verlet_update_batch(verlet_, &points, box, &batch, reuse.get()), ctx_);
        return reuse;
    }

    /** kith_verlet_reasons: a kith_verlet_reason of each system of the last update. */
    std::vector<int32_t> reasons(int64_t systems) const
    {
        std::vector<int32_t> found(static_cast<size_t>(systems < 0 ? 0 : systems));
        check(kith_verlet_reasons(verlet_, systems, found.data()), ctx_);
        return found;
    }

    /** kith_verlet_rebuild. */
    void rebuild()
    {
        check(kith_verlet_rebuild(verlet_), ctx_);
    }

    /** kith_verlet_read. */
    kith_verlet_state state() const
    {
        kith_verlet_state found;
        check(kith_verlet_read(verlet_, &found), ctx_);
        return found;
    }

  private:
    kith_ctx *ctx_;
    kith_verlet *verlet_ = nullptr;
};

/** A backend, its threads and its memory: kith_ctx. */
class context
{
  public:
    /** kith_open. @param options  nullptr: the defaults. All functions of this class throw
     *  kith::error when a call fails. */
    explicit context(const kith_options *options = nullptr)
    {
        check(kith_open(options, &ctx_), nullptr);
    }
    ~context()
    {
        kith_close(ctx_);
    }
    context(context &&other) noexcept : ctx_(std::exchange(other.ctx_, nullptr))
    {
    }
    context &operator=(context &&other) noexcept
    {
        std::swap(ctx_, other.ctx_);
        return *this;
    }
    context(const context &) = delete;
    context &operator=(const context &) = delete;

    kith_ctx *get() const noexcept
    {
        return ctx_;
    }

    /** kith_set_stream. @param stream  a cudaStream_t of the context's device; nullptr: the default
     *  stream, the stream 0 of PyTorch and CuPy. Throws with KITH_UNSUPPORTED on a CPU. */
    void set_stream(void *stream)
    {
        check(kith_set_stream(ctx_, stream), ctx_);
    }

    /** kith_pairs_find. @param reuse  an earlier list, whose arrays are used again */
    kith::pairs pairs(const kith_points &points, double cutoff, const kith_box *box = nullptr,
                      const kith_pairs_options *options = nullptr, kith::pairs reuse = {})
    {
        check(kith_pairs_find(ctx_, &points, box, cutoff, options, reuse.get()), ctx_);
        return reuse;
    }

    /** kith_verlet_open. */
    kith::verlet verlet(const kith_verlet_options &options)
    {
        return {ctx_, options};
    }

    /** kith_nearest_find. @param reuse  an earlier result, whose arrays are used again */
    kith::nearest nearest(const kith_points &points, int64_t k, const kith_box *box = nullptr,
                          const kith_nearest_options *options = nullptr, kith::nearest reuse = {})
    {
        check(kith_nearest_find(ctx_, &points, box, k, options, reuse.get()), ctx_);
        return reuse;
    }

    /** kith_order_find. @param cell  width of a cell; 0: along a curve, for any cutoff.
     *  @param reuse  an earlier result, whose array is used again */
    kith::order order(const kith_points &points, const kith_box *box = nullptr, double cell = 0,
                      kith::order reuse = {})
    {
        check(kith_order_find(ctx_, &points, box, cell, reuse.get()), ctx_);
        return reuse;
    }

    /** kith_fof_find. @param reuse  an earlier result, whose arrays are used again */
    kith::groups groups(const kith_points &points, double length, const kith_box *box = nullptr,
                        const kith_fof_options *options = nullptr, kith::groups reuse = {})
    {
        check(kith_fof_find(ctx_, &points, box, length, options, reuse.get()), ctx_);
        return reuse;
    }

    /** kith_halos_measure. @param reuse  an earlier result, whose array is used again */
    kith::halos halos(const kith_points &points, const kith::groups &groups,
                      const kith_box *box = nullptr, const kith_halo_input *input = nullptr,
                      kith::halos reuse = {})
    {
        check(kith_halos_measure(ctx_, &points, box, groups.get(), input, reuse.get()), ctx_);
        return reuse;
    }

  private:
    kith_ctx *ctx_ = nullptr;
};

} // namespace kith

#endif
