/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that grow while a simulation runs.
 */
#include "recording.h"

#include "io_internal.h"

#include <stdio.h>
#include <stdlib.h>

struct io_recording {
    io_output output;
};

io_status io_recording_open(const char *path, int64_t keep, io_recording **out, io_error *error)
{
    io_recording *made = calloc(1, sizeof *made);
    *out = NULL;
    if (!made)
        return io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    const io_status status = io__output_append(&made->output, path, keep, error);
    if (status != IO_OK) {
        free(made);
        return status;
    }
    *out = made;
    return IO_OK;
}

io_status io_recording_frame(io_recording *recording, const io_particles *particles, int64_t step,
                             io_error *error)
{
    char facts[96];
    recording->output.error = error;
    const locale_t before = io__locale_enter();
    snprintf(facts, sizeof facts, "step=%lld Time=%.17g ", (long long)step, particles->time);
    const io_status status = io__xyz_write(&recording->output, particles, facts);
    io__locale_leave(before);
    return status;
}

io_status io_recording_text(io_recording *recording, const char *text, io_error *error)
{
    recording->output.error = error;
    return io__output_printf(&recording->output, "%s", text);
}

io_status io_recording_sync(io_recording *recording, int64_t *bytes, io_error *error)
{
    recording->output.error = error;
    IO_TRY(io__output_sync(&recording->output));
    *bytes = recording->output.written;
    return IO_OK;
}

io_status io_recording_close(io_recording *recording, io_error *error)
{
    if (!recording)
        return IO_OK;
    int64_t bytes;
    const io_status status = io_recording_sync(recording, &bytes, error);
    io__output_abort(&recording->output); /* without a part there is nothing to throw away */
    free(recording);
    return status;
}
