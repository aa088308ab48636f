/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends with roles in device memory: data and launchers of fof_roles.cu. The functions
 * here queue kernels on the stream and return the run time's error code. All arrays are in device
 * memory.
 */
#ifndef KITH_GPU_FOF_ROLES_H
#define KITH_GPU_FOF_ROLES_H

#include "fof_gpu.h"

/** The particles of one role, in the order of the caller's indices. */
struct kith__gpu_selection {
    int64_t n;      /**< number of particles */
    int32_t *index; /**< [n] caller's index of each, ascending */
    void *xyz;      /**< [n][3] coordinates as the caller gave them; z is 0 in 2-D [length] */
};

/* A number of particles of both roles in one word, so that one prefix sum serves both: that of
 * attached particles in the bits from this one on, that of particles that link in those below. */
enum { KITH_GPU_ATTACHED_BIT = 32 };

/** The search for friends near particles, among the clumps of the particles that link. */
struct kith__gpu_near {
    struct kith__gpu_friends f; /**< the particles that link, and their clumps. The id of a slot is
                                     an index in the selection of the particles that link */
    float width[3];             /**< width of a subcell along each axis [linking lengths] */
    float slack;           /**< bound on the error of the distance between a particle and a subcell;
                         infinite where subcells may hold particles outside them [linking
                         lengths] */
    double inverse_square; /**< 1 / linking length^2 [1 / length^2] */
    int64_t min_links;     /**< fewest friends of a particle that links */
    struct kith__gpu_set attached; /**< attached particles in the order of the grid. The id of a
                                        slot is an index in their selection */
    const int32_t *link_index;     /**< kith__gpu_selection.index of the particles that link */
    const int32_t *attached_index; /**< kith__gpu_selection.index of the attached particles */
    const void *velocities; /**< [particles][3] velocities by the caller's index; NULL: none */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Numbers of the first particles whose options cannot be used, as INT64_MAX - index, so that
 *  atomicMax finds the first; 0: none. */
struct kith__gpu_fof_faults {
    unsigned long long role;     /**< particle whose role is none */
    unsigned long long velocity; /**< particle whose velocity is not finite */
};

/** Look for roles and velocities that cannot be used.
 *  @param roles        [n]; NULL: none
 *  @param velocities   [n][3]; NULL: none
 *  @param[out] faults  zeroed */
gpuError_t kith__gpu_find_faults(const uint8_t *roles, const void *velocities,
                                 kith_precision precision, int64_t n,
                                 struct kith__gpu_fof_faults *faults, gpuStream_t stream);

/** Write, for the prefix sum, the word of each particle's role (KITH_GPU_ATTACHED_BIT).
 *  @param roles      [n]
 *  @param[out] rank  [n + 1] the last word is 0 */
gpuError_t kith__gpu_count_roles(const uint8_t *roles, int64_t n, int64_t *rank,
                                 gpuStream_t stream);

/** Copy the indices and coordinates of the particles of each role.
 *  @param question  its points `a` are in device memory
 *  @param rank      [n] exclusive prefix sum of the words of kith__gpu_count_roles
 *  @param link, attached  the selections; their arrays are written */
gpuError_t kith__gpu_select_roles(const struct kith__question *question, const uint8_t *roles,
                                  const int64_t *rank, const struct kith__gpu_selection *link,
                                  const struct kith__gpu_selection *attached, gpuStream_t stream);

/** Copy the ids of a selection. @param[out] to  [n] */
gpuError_t kith__gpu_select_ids(const struct kith__gpu_selection *selection, const int64_t *ids,
                                int64_t *to, gpuStream_t stream);

/** Copy the vectors of a selection.
 *  @param vectors  [particles][3], of which those with the selection's indices are copied
 *  @param[out] to  [n][3] */
gpuError_t kith__gpu_select_vectors(const struct kith__gpu_selection *selection,
                                    kith_precision precision, const void *vectors, void *to,
                                    gpuStream_t stream);

/** Give the role KITH_ATTACH to particles that link and have fewer than near->min_links friends.
 *  @param[in,out] roles  by the caller's index */
gpuError_t kith__gpu_demote(const struct kith__gpu_near *near, uint8_t *roles, gpuStream_t stream);

/** Find the nearest friend of each attached particle (fof/nearest_friend.h). Without velocities,
 *  attached particles near very many that link are not searched further, but listed.
 *  @param[out] nearest  [attached.n] by the id of the attached particle: id of the friend, -1:
 *                       none
 *  @param[out] crowded  [f.small->n_crowded] ids of the listed particles, in any order; room for
 *                       attached.n */
gpuError_t kith__gpu_attach(const struct kith__gpu_near *near, int32_t *nearest, int32_t *crowded,
                            gpuStream_t stream);

/** Write the nearest friends of crowded particles, which were found by another search.
 *  @param crowded       [n] ids of the particles
 *  @param found         [n] ids of their friends, -1: none
 *  @param[out] nearest  as in kith__gpu_attach */
gpuError_t kith__gpu_set_nearest(const int32_t *crowded, const int32_t *found, int64_t n,
                                 int32_t *nearest, gpuStream_t stream);

/** Write the labels of all particles.
 *  @param link        the particles that link
 *  @param attached    the attached particles
 *  @param of_link     [link.n] labels of the particles that link, by their ids
 *  @param nearest     [attached.n] from kith__gpu_attach
 *  @param[out] labels by the caller's index; those of particles of other roles are not written */
gpuError_t kith__gpu_label_roles(const struct kith__gpu_selection *link,
                                 const struct kith__gpu_selection *attached, const int32_t *of_link,
                                 const int32_t *nearest, int32_t *labels, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
