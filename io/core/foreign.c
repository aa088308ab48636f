/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The message for a crash is made before the call, because a handler of signals may not call
 * snprintf, which is not async-signal-safe.
 */
#include "foreign.h"

#include "io_internal.h"

#include <stdio.h>
#include <string.h>

_Thread_local io_foreign io_foreign_calls;

void io_foreign_file(const char *library, const char *path)
{
    enum { SHOWN = 1200 }; /* bytes of a long path */
    char name[SHOWN];
    io_foreign *calls = &io_foreign_calls;
    const size_t length = strlen(path);
    /* of a long path, the end is shown */
    const size_t skipped = length < sizeof name ? 0 : length - sizeof name + 1;
    io__copy_name(name, sizeof name, path + skipped, length - skipped);
    calls->length = snprintf(calls->text, sizeof calls->text,
                             "kith: %s: the library %.100s crashed while it worked on this file, "
                             "which is probably damaged\n",
                             name, library);
}
