/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statuses, contexts, points and boxes: what all calls share.
 *
 * See kith.h for pairs, boxes, memory, threads and errors.
 */
#ifndef KITH_API_CORE_H
#define KITH_API_CORE_H

#include <stddef.h>
#include <stdint.h>

/* Declares a function that the library exports. */
#if defined(_WIN32)
#define KITH_API
#elif defined(__GNUC__)
#define KITH_API __attribute__((visibility("default")))
#else
#define KITH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------- status */

/** What a call returns: 0 is success, errors are negative, values are never reused. */
typedef enum kith_status {
    KITH_OK = 0,
    KITH_INVALID = -1,     /**< an argument is invalid; the message names it */
    KITH_NOT_FINITE = -2,  /**< a number is NaN or infinite; the message has the first index */
    KITH_CAPACITY = -3,    /**< the caller's arrays are too small; the size needed is returned */
    KITH_LIMIT = -4,       /**< beyond a limit of this build (2^31 - 65 particles, say) */
    KITH_NO_MEMORY = -5,   /**< out of memory; the context stays usable */
    KITH_CANCELLED = -6,   /**< a callback stopped the call */
    KITH_UNSUPPORTED = -7, /**< this backend does not offer the operation */
    KITH_NO_BACKEND = -8,  /**< the backend exists but cannot run here (not built, no device) */
    KITH_DEVICE_LOST = -9, /**< the device failed, now or in an earlier call; close the context */
    KITH_BUSY = -10,       /**< the context is in another call: nothing was done (kith.h) */
    KITH_TEAM_LOST = -11   /**< a rank of the team was lost (kith/team.h); close the team */
} kith_status;

/** Return the name of a status, for example "KITH_CAPACITY". @return static text, never NULL. */
KITH_API const char *kith_status_name(kith_status status);

/* -------------------------------------------------------------------------------------- context */

/** A backend, its threads, callbacks and scratch memory. Opaque; made by kith_open. */
typedef struct kith_ctx kith_ctx;

/**
 * Called from the thread that made the call, some 30 times a second while the call runs. On an idle
 * machine the call returns within 0.3 s after a callback first returned anything but 0.
 * @param user   kith_options.user
 * @param done   work finished so far, from 0 to total
 * @param total  work of the whole call, in a unit that the operation chooses
 * @return 0 to continue; anything else stops the call, which then returns KITH_CANCELLED.
 */
typedef int (*kith_watch_fn)(void *user, int64_t done, int64_t total);

/** How to open a context. Fill with kith_options_init, then change what you need. */
typedef struct kith_options {
    size_t size;         /**< sizeof(kith_options): set by kith_options_init */
    const char *backend; /**< "auto", "cpu", "cpu:baseline", "cpu:avx2", "cpu:avx512", "cuda",
                              "cuda:1"; NULL: the environment's KITH_BACKEND, else "auto". Calls
                              restore the thread's current GPU */
    int threads; /**< CPU threads; 0: OMP_NUM_THREADS, else the cores available to the process */
    kith_watch_fn watch; /**< progress and cancellation; may be NULL */
    void *user;          /**< passed to watch */
    void *stream; /**< backend "cuda": the cudaStream_t that work is queued on; NULL: a stream
                       of the context's own, ordered with the device's default stream (see
                       kith_set_stream) */
} kith_options;

/** Set every field to its default. @param[out] options  the caller's struct; NULL: no effect. */
KITH_API void kith_options_init(kith_options *options);

/** Set the fields of a struct of `size` bytes to their defaults. kith_options_init is a macro
 *  that passes sizeof, so that a library of a later version knows which fields there are; the
 *  function of that name sets those of version 0.1. */
KITH_API void kith_options_init_sized(kith_options *options, size_t size);
#define kith_options_init(options) kith_options_init_sized(options, sizeof(kith_options))

/**
 * Open a context.
 * @param options   NULL: the defaults
 * @param[out] out  the context; kith_close it. NULL on failure: kith_message(NULL) says why.
 * @return KITH_OK; KITH_INVALID for an unknown backend or bad option; KITH_NO_BACKEND when the
 *         backend is known but cannot run here; KITH_NO_MEMORY.
 */
KITH_API kith_status kith_open(const kith_options *options, kith_ctx **out);

/** Close a context and free its scratch. Not during a call on ctx, nor before the last replay of a
 *  graph with calls of it has ended. @param ctx  NULL is fine. */
KITH_API void kith_close(kith_ctx *ctx);

/**
 * Queue the work of later calls on another stream, which waits for all work that earlier calls have
 * queued. The host waits for nothing, unless the new stream is being captured in a graph. The old
 * stream may have been destroyed.
 * @param stream  a cudaStream_t of the context's device, which must stay until the last work on it
 *                has ended; NULL: the default stream, the stream 0 of PyTorch and CuPy
 * @return KITH_OK; KITH_UNSUPPORTED on a CPU, and where a capture forbids the change;
 *         KITH_DEVICE_LOST. On failure the stream is the old one.
 */
KITH_API kith_status kith_set_stream(kith_ctx *ctx, void *stream);

/**
 * Get the message of the last call on a context, if that failed.
 * @param ctx  NULL: this thread's last call that failed without a context: kith_open,
 *             kith_shell_volumes and kith_transport_threads, a call of a ctx, flock, kept list,
 *             team or domain that is NULL, or KITH_BUSY
 * @return a sentence, owned by the library, valid until the next call on ctx; "" after success
 */
KITH_API const char *kith_message(const kith_ctx *ctx);

/** Get the name of the backend chosen, for example "cpu:avx512". @return text owned by ctx; "" if
 *  ctx is NULL. */
KITH_API const char *kith_backend(const kith_ctx *ctx);

/** Get the number of CPU threads that the context uses. @return 1 or more; 0 if ctx is NULL. */
KITH_API int kith_threads(const kith_ctx *ctx);

/** Return the bytes of scratch memory that the context holds now; 0 if ctx is NULL. Not during a
 *  call of another thread. */
KITH_API int64_t kith_scratch_bytes(const kith_ctx *ctx);

/* -------------------------------------------------------------------------------- points, boxes */

/** The type of coordinates, distances and vectors; the number is its size [bytes]. */
typedef enum kith_precision { KITH_FLOAT = 4, KITH_DOUBLE = 8 } kith_precision;

/** Where an array is. Always stated by the caller, never guessed. */
typedef enum kith_memory { KITH_HOST = 0, KITH_DEVICE = 1 } kith_memory;

/**
 * A borrowed set of coordinates. Coordinate k of particle p is the element at x[p*stride],
 * y[p*stride], z[p*stride] of the given precision, so that both [n][3] and separate arrays fit.
 */
typedef struct kith_points {
    int64_t n;                /**< number of particles, 0 to 2^31 - 65 */
    const void *x, *y, *z;    /**< first particle's coordinates [length]; z may be NULL in 2-D */
    int64_t stride;           /**< elements from one particle to the next, 1 or more */
    kith_precision precision; /**< element type */
    kith_memory memory;       /**< where the arrays are */
} kith_points;

/** Describe an array [n][3] in host memory. @param xyz  n*3 elements, also in a 2-D box, where z is
 *  ignored; borrowed. */
KITH_API kith_points kith_points_packed(const void *xyz, int64_t n, kith_precision precision);

/** Describe three arrays [n] in host memory. @param z  may be NULL in a 2-D box. */
KITH_API kith_points kith_points_split(const void *x, const void *y, const void *z, int64_t n,
                                       kith_precision precision);

/**
 * The space. Rows a, b, c are drawn in kith.h. The vector of an open axis gives only a direction,
 * and may be zero. In a 2-D box (dim 2) z is ignored and c is unused. For float coordinates the box
 * is rounded to float first.
 */
typedef struct kith_box {
    double origin[3]; /**< corner of the box, where fractional coordinates are 0 [length] */
    double row[3][3]; /**< edge vectors a, b, c of the box [length] */
    int periodic[3];  /**< along a, b, c: 1 periodic, 0 open */
    int dim;          /**< dimensions, 3 or 2 */
} kith_box;

/** Return open space without any boundary, in 3-D; set dim to 2 for a plane. */
KITH_API kith_box kith_box_open(void);

/** Return the box [0, lx) x [0, ly) x [0, lz), periodic on all axes. */
KITH_API kith_box kith_box_periodic(double lx, double ly, double lz);

/** Return the box with rows (lx, 0, 0), (xy, ly, 0), (xz, yz, lz), periodic on all axes. */
KITH_API kith_box kith_box_triclinic(double lx, double ly, double lz, double xy, double xz,
                                     double yz);

/* ---------------------------------------------------------------------------------------- batch */

/**
 * Many systems in one call. Particles of system s are offsets[s] to offsets[s + 1] - 1 of the
 * points. Pairs are within a system, never across. A call with a batch returns what a call for each
 * system alone would, bit for bit, with the indices of particles counted in the whole batch:
 * results of system 0 come first, then those of system 1, and so on. Systems may have any number of
 * particles, 0 too. Fill with kith_batch_init, and pass it in the `batch` of a call's options.
 */
typedef struct kith_batch {
    size_t size;                    /**< sizeof(kith_batch): set by the init call */
    int64_t systems;                /**< number of systems, 0 or more */
    const int64_t *offsets;         /**< [systems + 1] first particle of each system, ascending; the
                                         first is 0, the last the number of points */
    const int64_t *against_offsets; /**< [systems + 1] first particle of each system in
                                         options.against; NULL without a second set */
    const kith_box *boxes; /**< [systems] box of each system, all of one dim; NULL: the box of the
                                call for all. Else the box of the call is NULL */
    int dim;               /**< of boxes in device memory: 2 or 3; 0: 3. Ignored elsewhere */
    kith_memory memory;    /**< where offsets, against_offsets and boxes are */
} kith_batch;

/** Set every field to its default: no systems, arrays in host memory. */
KITH_API void kith_batch_init(kith_batch *batch);

/** Set the fields of a struct of `size` bytes to their defaults; kith_batch_init is a macro that
 *  passes sizeof. */
KITH_API void kith_batch_init_sized(kith_batch *batch, size_t size);
#define kith_batch_init(batch) kith_batch_init_sized(batch, sizeof(kith_batch))

/* -------------------------------------------------------------------------------------- version */
#define KITH_VERSION_MAJOR 0
#define KITH_VERSION_MINOR 1
#define KITH_VERSION_PATCH 0
#define KITH_VERSION "0.1.0"

/** True when this header is at least version major.minor. */
#define KITH_VERSION_GE(major, minor) \
    (KITH_VERSION_MAJOR > (major) || \
     (KITH_VERSION_MAJOR == (major) && KITH_VERSION_MINOR >= (minor)))

/** Return the version of the library that is running, for example "0.1.0". */
KITH_API const char *kith_version(void);

#ifdef __cplusplus
}
#endif

#endif
