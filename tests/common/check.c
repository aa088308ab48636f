/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static const char *current_case;

int check_failed(const char *file, int line, const char *condition, const char *format, ...)
{
    if (current_case) {
        fprintf(stderr, "%s\n", current_case);
        current_case = NULL;
    }
    fprintf(stderr, "%s:%d: not true: %s: ", file, line, condition);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    if (++failures == 20) {
        fprintf(stderr, "20 failures: giving up\n");
        exit(EXIT_FAILURE);
    }
    return 0;
}

int check_skip(const char *format, ...)
{
    printf("skipped: ");
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    return CHECK_SKIPPED;
}

bool check_gcc_tsan(void)
{
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
    return true;
#else
    return false;
#endif
}

void check_case(const char *text)
{
    current_case = text;
}

int check_failures(void)
{
    return failures;
}

int check_done(void)
{
    return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

kith_ctx *check_open(const char *backend, int threads)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.threads = threads;
    kith_ctx *ctx = NULL;
    const kith_status status = kith_open(&options, &ctx);
    if (status == KITH_OK)
        return ctx;
    if (status == KITH_NO_BACKEND)
        exit(check_skip("%s", kith_message(NULL)));
    fprintf(stderr, "kith_open(%s): %s: %s\n", backend ? backend : "NULL", kith_status_name(status),
            kith_message(NULL));
    exit(EXIT_FAILURE);
}

int check_brief(void)
{
    const char *brief = getenv("KITH_TEST_BRIEF");
    return brief != NULL ? atoi(brief) : 0;
}

/** Return true when the library of a tool is mapped: of valgrind, or of compute-sanitizer. */
static bool is_watched(void)
{
    static const char *const names[] = {"vgpreload", "sanitizer-collection", "TreeLauncher"};
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
        for (int k = 0; k < 3; k++)
            found = found || strstr(line, names[k]) != NULL;
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

int check_patience(void)
{
    return is_watched() || check_brief() > 1 ? 20 : check_brief() ? 4 : 1;
}

bool check_deep(void)
{
    return getenv("KITH_TEST_DEEP") != NULL;
}

const char *check_backend(int argc, char **argv)
{
    return argc > 1 ? argv[1] : "auto";
}

void *check_malloc(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "the test ran out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}
