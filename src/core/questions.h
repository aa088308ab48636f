/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of questions: what the library can compute (pair lists, groups, ...). A question
 * NAME has a folder src/NAME/. Its header defines `struct kith__NAME_backend`, the operations that
 * a backend offers for the question; its folders cpu/ and gpu/ define the constant tables
 * kith__cpu_NAME and kith__cuda_NAME of that type. A new question adds its name to this list and
 * its folder to src/CMakeLists.txt.
 */
#ifndef KITH_QUESTIONS_H
#define KITH_QUESTIONS_H

/** Expand X(NAME) for each question. */
#define KITH_QUESTIONS(X) \
    X(pairs) \
    X(fof) X(halos) X(rdf) X(waves) X(debye) X(overlap) X(flock) X(nearest) X(order) X(verlet)

/** Numbers of the buffers of a context's scratch memory, on the host and on a device: buffers 0 to
 *  KITH_WORK_EACH - 1 belong to the engine; question NAME has KITH_WORK_EACH buffers from number
 *  KITH_WORK_OF(NAME) on. */
#define KITH_OWNER(question) KITH_OWNER_##question,
enum { KITH_OWNER_ENGINE, KITH_QUESTIONS(KITH_OWNER) KITH_OWNERS };
#undef KITH_OWNER
enum { KITH_WORK_EACH = 32, KITH_WORK_BUFFERS = KITH_WORK_EACH * KITH_OWNERS };
#define KITH_WORK_OF(question) (KITH_OWNER_##question * KITH_WORK_EACH)

#endif
