/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The number of threads by default: OMP_NUM_THREADS, the affinity mask, the ranks of an MPI job,
 * and the quota of a control group of version 1 and 2.
 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pool.h"

static void check_asked(const char *value, int expected)
{
    setenv("OMP_NUM_THREADS", value, 1);
    const int got = kith__default_threads();
    CHECK(got == expected, "OMP_NUM_THREADS=%s: %d threads, expected %d", value, got, expected);
    unsetenv("OMP_NUM_THREADS");
}

static void check_environment(void)
{
    unsetenv("OMP_NUM_THREADS");
    const int all = kith__default_threads();
    CHECK(all >= 1, "%d threads", all);
    check_asked("3", 3);
    check_asked("5,2", 5);
    check_asked("0", all);
    check_asked("-2", all);
    check_asked("many", all);
    check_asked("", all);
    check_asked("99999999999999999999", all);
    check_asked("100000", 4096);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1000000", 1);
    CHECK(kith__default_threads() == 1, "a rank of many: %d threads", kith__default_threads());
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");

    cpu_set_t before, one;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0, "no affinity mask");
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &before)) {
            CPU_SET(cpu, &one);
        }
    }
    if (sched_setaffinity(0, sizeof one, &one) == 0) {
        CHECK(kith__default_threads() == 1, "one core: %d threads", kith__default_threads());
        sched_setaffinity(0, sizeof before, &before);
    }
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (CHECK(file != NULL, "%s", path)) {
        fputs(text, file);
        fclose(file);
    }
}

static void check_quota(const char *folder, const char *groups, int expected)
{
    char path[512];
    snprintf(path, sizeof path, "%s/groups", folder);
    put(folder, "groups", groups);
    const int got = kith__group_quota(path, folder);
    CHECK(got == expected, "groups \"%s\": quota %d, expected %d", groups, got, expected);
}

static void check_groups(void)
{
    char folder[] = "/tmp/kith_groups_XXXXXX";
    CHECK(mkdtemp(folder) != NULL, "no folder");
    put(folder, "two/cpu.max", "150000 100000\n");
    put(folder, "two/inner/cpu.max", "max 100000\n");
    put(folder, "four/cpu.max", "400000 100000\n");
    put(folder, "four/less/cpu.max", "300000 100000\n");
    put(folder, "cpu/old/cpu.cfs_quota_us", "700000\n");
    put(folder, "cpu/old/cpu.cfs_period_us", "100000\n");
    put(folder, "cpu/free/cpu.cfs_quota_us", "-1\n");
    put(folder, "cpu/free/cpu.cfs_period_us", "100000\n");
    check_quota(folder, "0::/two\n", 2);
    check_quota(folder, "0::/two/inner\n", 2);
    check_quota(folder, "0::/four/less\n", 3);
    check_quota(folder, "0::/none\n", INT_MAX);
    check_quota(folder, "7:memory:/two\n4:cpu,cpuacct:/old\n", 7);
    check_quota(folder, "4:cpu,cpuacct:/free\n", INT_MAX);
    check_quota(folder, "nonsense\n::\n0::relative\n", INT_MAX);
    CHECK(kith__group_quota("/nowhere/at/all", folder) == INT_MAX, "no file of groups");
    char command[600];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0, "%s", command);
}

int main(void)
{
    check_environment();
    check_groups();
    return check_done();
}
