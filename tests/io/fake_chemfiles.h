/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a test sets and reads of the library fake_chemfiles.c.
 */
#ifndef KITH_TEST_FAKE_CHEMFILES_H
#define KITH_TEST_FAKE_CHEMFILES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fake_chemfiles {
    int64_t calls;   /**< that could fail, since it was set to 0 */
    int64_t fail_at; /**< which of them fails; -1: none */
    int64_t live;    /**< objects made and not freed */
    /* What is another than usual: 0 or NULL for what is usual. */
    const char *const *name; /**< [3] of the atoms */
    const char *const *type; /**< [3] of the atoms */
    const char *residue;     /**< the name of the only one */
    uint64_t members;        /**< of the residue */
    uint64_t positions;      /**< that a frame has */
    uint64_t bonded;         /**< the last atom that a bond names */
    const char *format;      /**< of files whose format is guessed */
    double step;             /**< of the simulation */
    bool massless;           /**< masses are 0 */
} fake_chemfiles;

#endif
