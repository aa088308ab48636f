/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The number of threads that a process should use: from the environment, the affinity mask, the
 * quota of its control group, and the ranks of an MPI job on this machine.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pool.h"

/* MOST_THREADS: largest number returned, the most that kith_open takes. PATH_CAPACITY: longest path
 * or line that is read [bytes]. */
enum { MOST_THREADS = 4096, PATH_CAPACITY = 4096 };

/** Parse a positive number that ends at the end of the text or at a comma.
 *  @return the number, at most MOST_THREADS; 0: the text does not begin with one */
static int positive(const char *text)
{
    if (!text) {
        return 0;
    }
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    const bool whole = end != text && (*end == '\0' || *end == ',');
    if (!whole || errno || value < 1) {
        return 0;
    }
    return value > MOST_THREADS ? MOST_THREADS : (int)value;
}

/** Return the number of cores in the affinity mask of this process, at least 1; 0 when the mask
 *  cannot be read. */
static int mask_cores(void)
{
#ifdef CPU_SETSIZE
    /* sched_getaffinity fails where the set is too small for all cores of the machine: sets are of
     * 1024 cores (CPU_SETSIZE), then of 4, 16 and 64 times as many */
    for (int cpus = CPU_SETSIZE; cpus <= CPU_SETSIZE * 64; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (!set) {
            break;
        }
        const size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
        const int failed = sched_getaffinity(0, bytes, set);
        const int cores = failed ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (!failed) {
            return cores > 0 ? cores : 1;
        }
    }
#endif
    return 0;
}

/** Return the number of cores that this process may run on. */
static int affinity_cores(void)
{
    const int cores = mask_cores();
    if (cores > 0) {
        return cores;
    }
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/** Return the number of processors that a quota of processor time amounts to, rounded up: quota /
 *  period, both in microseconds. INT_MAX when there is no quota, which version 1 of control groups
 *  writes as -1. */
static int quota_processors(long long quota, long long period)
{
    if (quota <= 0 || period <= 0 || quota / period >= INT_MAX) {
        return INT_MAX;
    }
    return (int)((quota + period - 1) / period);
}

/** Read two numbers from a file of a control group.
 *  @param group  path of the group below root: "", or a path that begins with /
 *  @param name   name of the file in the group's folder
 *  @return how many were read: 0, 1 or 2 */
static int read_two(const char *root, const char *group, const char *name, long long number[2])
{
    char path[PATH_CAPACITY];
    if (snprintf(path, sizeof path, "%s%s/%s", root, group, name) >= (int)sizeof path) {
        return 0;
    }
    FILE *file = fopen(path, "re"); /* e: closed on exec */
    if (!file) {
        return 0;
    }
    const int found = fscanf(file, "%lld %lld", &number[0], &number[1]);
    fclose(file);
    return found > 0 ? found : 0;
}

/** Return the quota of one control group in processors, from the file cpu.max (control groups of
 *  version 2), or from the two files of version 1. INT_MAX when there is none: cpu.max then begins
 *  with "max", which is not a number.
 *  @param root   where control groups are mounted
 *  @param group  path of the group below it */
static int quota_of(const char *root, const char *group)
{
    long long quota[2] = {0, 0};
    long long period[2] = {0, 0};
    if (read_two(root, group, "cpu.max", quota) == 2) {
        return quota_processors(quota[0], quota[1]);
    }
    char version_1[PATH_CAPACITY];
    if (snprintf(version_1, sizeof version_1, "%s/cpu", root) < (int)sizeof version_1 &&
        read_two(version_1, group, "cpu.cfs_quota_us", quota) >= 1 &&
        read_two(version_1, group, "cpu.cfs_period_us", period) >= 1) {
        return quota_processors(quota[0], period[0]);
    }
    return INT_MAX;
}

int kith__group_quota(const char *groups, const char *root)
{
    FILE *file = fopen(groups, "re");
    if (!file) {
        return INT_MAX;
    }
    int least = INT_MAX;
    char line[PATH_CAPACITY];
    /* lines are number:controllers:path, "0::/path" in version 2, "3:cpu,cpuacct:/path" in 1 */
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group || group[1] != '/') {
            continue;
        }
        *group++ = '\0';
        /* in version 1 groups of other controllers are passed over; cpuset and cpuacct stay, too */
        if (controllers[1] != '\0' && !strstr(controllers, "cpu")) {
            continue;
        }
        for (;;) { /* the quota of a group limits the groups inside it too */
            const int quota = quota_of(root, group);
            least = quota < least ? quota : least;
            char *last = strrchr(group, '/');
            if (!last) {
                break;
            }
            *last = '\0';
        }
    }
    fclose(file);
    return least;
}

/** Return how many ranks of an MPI job run on this machine, as the launcher says by a variable of
 *  the environment: that of Open MPI, MPICH, MVAPICH2 or Cray PALS. 1 without MPI. */
static int ranks_here(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE"};
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
        const int ranks = positive(getenv(names[k]));
        if (ranks > 0) {
            return ranks;
        }
    }
    return 1;
}

int kith__default_threads(void)
{
    const int asked = positive(getenv("OMP_NUM_THREADS"));
    if (asked > 0) {
        return asked;
    }
    const int cores = affinity_cores();
    const int quota = kith__group_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int machine = online > cores ? (int)online : cores;
    /* MPI ranks share what the quota permits of the whole machine, which is more than the affinity
     * mask where the launcher pins each rank to cores of its own */
    const int shared = quota < machine ? quota : machine;
    const int share = shared / ranks_here();
    const int threads = cores < share ? cores : share;
    return threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
}
