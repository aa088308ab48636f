/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions that return the name of a status and the version of the library.
 */
#include "context.h"

const char *kith_status_name(kith_status status)
{
    switch (status) {
    case KITH_OK: return "KITH_OK";
    case KITH_INVALID: return "KITH_INVALID";
    case KITH_NOT_FINITE: return "KITH_NOT_FINITE";
    case KITH_CAPACITY: return "KITH_CAPACITY";
    case KITH_LIMIT: return "KITH_LIMIT";
    case KITH_NO_MEMORY: return "KITH_NO_MEMORY";
    case KITH_CANCELLED: return "KITH_CANCELLED";
    case KITH_UNSUPPORTED: return "KITH_UNSUPPORTED";
    case KITH_NO_BACKEND: return "KITH_NO_BACKEND";
    case KITH_DEVICE_LOST: return "KITH_DEVICE_LOST";
    case KITH_BUSY: return "KITH_BUSY";
    case KITH_TEAM_LOST: return "KITH_TEAM_LOST";
    }
    return "unknown status";
}

const char *kith_version(void)
{
    return KITH_VERSION;
}
