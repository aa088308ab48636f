/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copying the arrays of a list's rules to the device, together, by kith__gpu_upload_arrays. The
 * table of cutoffs is in host memory in any case. A call that queues work writes a small table in
 * the parameters of kernels (kith__gpu_put), as a captured graph must not read the host's memory
 * when it is replayed.
 */
#include "rules_gpu.h"

#include "pairs_gpu.h"

/* Buffer of scratch memory on the device. */
enum { RULES = KITH_WORK_OF(pairs) + 16 };

/* Indices in the table of arrays that are copied together; SPECIES, MOLECULES and RADII have two
 * entries, one for each set; the others one. */
enum { SPECIES, MOLECULES = 2, RADII = 4, OFFSETS = 6, BONDS, ACTIVE, SQUARES, ARRAYS };

/* Largest table that is written by parameters of kernels: that of 64 species in double [bytes]. */
static const size_t most_put = 64 * 64 * sizeof(double);

/** Fill a table of the arrays in host memory that are copied to the device. Without a second set,
 *  its entries stay empty. */
static void list_arrays(const struct kith__question *q, const struct kith__rules *rules,
                        struct kith__gpu_array array[ARRAYS])
{
    const size_t n[2] = {(size_t)q->a.n, (size_t)q->b.n};
    const struct kith__excluded *excluded = &rules->excluded;
    for (int set = 0; set < (rules->two_sets ? 2 : 1); set++) {
        array[SPECIES + set] = (struct kith__gpu_array){rules->species[set],
                                                        n[set] * sizeof(int32_t), NULL};
        array[MOLECULES + set] = (struct kith__gpu_array){excluded->molecules[set],
                                                          n[set] * sizeof(int32_t), NULL};
        array[RADII + set] = (struct kith__gpu_array){rules->radii[set],
                                                      n[set] * (size_t)q->precision, NULL};
    }
    if (excluded->bond_offsets) {
        array[OFFSETS] = (struct kith__gpu_array){excluded->bond_offsets,
                                                  (n[0] + 1) * sizeof(int64_t), NULL};
        array[BONDS] = (struct kith__gpu_array){
            excluded->bonds, (size_t)excluded->bond_offsets[n[0]] * sizeof(int32_t), NULL};
    }
    array[ACTIVE] = (struct kith__gpu_array){rules->active, n[0], NULL};
}

/** Set the pointers of the rules to the arrays that were copied. */
static void use_arrays(const struct kith__gpu_array array[ARRAYS], struct kith__rules *rules)
{
    const int other = rules->two_sets ? 1 : 0;
    for (int set = 0; set < 2; set++) {
        rules->species[set] = array[SPECIES + set * other].at;
        rules->excluded.molecules[set] = array[MOLECULES + set * other].at;
        rules->radii[set] = array[RADII + set * other].at;
    }
    rules->excluded.bond_offsets = array[OFFSETS].at;
    rules->excluded.bonds = array[BONDS].at;
    rules->active = array[ACTIVE].at;
}

kith_status kith__gpu_bring_rules(kith_ctx *ctx, const struct kith__question *question,
                                  const struct kith__list *list, bool enqueued,
                                  struct kith__gpu_ruled *ruled)
{
    ruled->list = *list;
    if (!list->rules) {
        return KITH_OK;
    }
    ruled->rules = *list->rules;
    ruled->list.rules = &ruled->rules;
    struct kith__rules *rules = &ruled->rules;
    struct kith__gpu_array array[ARRAYS] = {{NULL, 0, NULL}};
    const struct kith__gpu *gpu = ctx->state;
    const size_t n = (size_t)rules->n_species;
    const size_t bytes = rules->squares ? n * n * (size_t)question->precision : 0;
    const bool put = enqueued && bytes <= most_put;
    KITH_CHECK(ctx, put || !enqueued || !gpu->capturing, KITH_UNSUPPORTED,
               "options.n_species is %d: the most for a call that is captured in a graph is 64",
               (int)rules->n_species);
    if (rules->memory == KITH_HOST) {
        list_arrays(question, rules, array);
    }
    array[SQUARES] = (struct kith__gpu_array){put ? NULL : rules->squares, bytes, NULL};
    void *rest; /* room behind the arrays: for the table, where it is put */
    KITH_TRY(kith__gpu_upload_arrays(ctx, RULES, array, ARRAYS, bytes + KITH_ALIGN, &rest));
    if (rules->memory == KITH_HOST) {
        use_arrays(array, rules);
    }
    if (put && bytes > 0) {
        KITH_GPU_TRY(ctx, "writing the table of cutoffs",
                     kith__gpu_put(rest, rules->squares, bytes, gpu->stream));
    }
    rules->squares = put ? rest : array[SQUARES].at;
    return KITH_OK;
}
