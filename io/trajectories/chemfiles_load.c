/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loading chemfiles. The first of these libraries that can be loaded is used until the program
 * ends:
 *   1. the environment's KITH_CHEMFILES: the absolute path of a libchemfiles.so, then no other
 *   2. libchemfiles.so where the dynamic linker looks (LD_LIBRARY_PATH, /etc/ld.so.conf)
 *   3. where pip and conda put it: in the active virtual environment (VIRTUAL_ENV), the active
 *      conda environment (CONDA_PREFIX), the user's ~/.local, /usr/local, /usr
 * A relative path is never loaded: a library planted in the working directory would be run.
 */
#include "chemfiles_load.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 512 }; /* size of a buffer for a path or a reason [byte] */

static io_chemfiles api;       /* functions of the library, if loaded */
static bool loaded;            /* the library was loaded */
static char reason[PATH_ROOM]; /* why a library could not be loaded; "": none was found */

#define SYMBOL(result, name, older, arguments) {"chfl_" #name, older, offsetof(io_chemfiles, name)},

static const struct {
    const char *name;  /* name of the function */
    const char *older; /* name in chemfiles 0.10; NULL: equal */
    size_t offset;     /* offset of its pointer in io_chemfiles [byte] */
} symbols[] = {CHEMFILES_FUNCTIONS(SYMBOL)};

/** The callback for warnings of chemfiles, which would otherwise be printed. */
static void say_nothing(const char *message)
{
    (void)message;
}

/** Look up every function of the library. @return false, with the reason, if one is missing */
static bool bind(void *library)
{
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        void *symbol = dlsym(library, symbols[k].name);
        if (!symbol && symbols[k].older) {
            symbol = dlsym(library, symbols[k].older);
        }
        if (!symbol) {
            snprintf(reason, sizeof reason, "its libchemfiles has no %s", symbols[k].name);
            return false;
        }
        /* ISO C has no conversion of object pointers to function pointers: copy bytes. */
        memcpy((char *)&api + symbols[k].offset, &symbol, sizeof symbol);
    }
    api.columns = dlsym(library, "chfl_trajectory_read_at") == NULL; /* 0.10 lacks this name */
    api.set_warning_callback(say_nothing);
    return true;
}

/** Load a library and look up its functions. @return true when all were found */
static bool try_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return false;
    }
    loaded = bind(library);
    if (!loaded) {
        dlclose(library);
    }
    return loaded;
}

/** Try the libraries that match a pattern below a prefix. Relative prefixes are ignored.
 *  @param prefix  folder; may be NULL
 *  @param below   pattern of glob(), appended to the prefix
 *  @return true when one was loaded */
static bool try_prefix(const char *prefix, const char *below)
{
    glob_t found;
    char pattern[PATH_ROOM];
    if (!prefix || *prefix != '/' ||
        (size_t)snprintf(pattern, sizeof pattern, "%s%s", prefix, below) >= PATH_ROOM) {
        return false;
    }
    if (glob(pattern, 0, NULL, &found) != 0) {
        return false;
    }
    for (size_t k = 0; k < found.gl_pathc && !loaded; k++) {
        try_library(found.gl_pathv[k]);
    }
    globfree(&found);
    return loaded;
}

/** Try the libraries in the order given at the head of this file. */
static void load(void)
{
    static const char *const names[] = {"libchemfiles.so", "libchemfiles.so.0.11",
                                        "libchemfiles.so.0.10"};
    static const char site[] = "/lib/python3*/site-packages/chemfiles/libchemfiles.so";
    static const char dist[] = "/lib/python3*/dist-packages/chemfiles/libchemfiles.so";
    const char *given = getenv("KITH_CHEMFILES");
    if (given && *given) {
        if (*given != '/') {
            snprintf(reason, sizeof reason, "KITH_CHEMFILES is not an absolute path");
        } else if (!try_library(given) && !reason[0]) {
            snprintf(reason, sizeof reason, "KITH_CHEMFILES: %s", dlerror());
        }
        return;
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (try_library(names[k])) {
            return;
        }
    }
    const char *home = getenv("HOME");
    char local[PATH_ROOM];
    snprintf(local, sizeof local, "%s/.local", home ? home : "");
    (void)(try_prefix(getenv("VIRTUAL_ENV"), site) || try_prefix(getenv("CONDA_PREFIX"), site) ||
           try_prefix(getenv("CONDA_PREFIX"), "/lib/libchemfiles.so") || try_prefix(local, site) ||
           try_prefix("/usr/local", site) || try_prefix("/usr/local", dist) ||
           try_prefix("/usr", dist));
}

io_status io__chemfiles_load(io_file *file, const char *else_do, const io_chemfiles **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *out = &api;
    if (loaded) {
        return IO_OK;
    }
    return io__file_fail(file, IO_UNSUPPORTED,
                         "is read through the library chemfiles, which %s%s%s: pip install "
                         "chemfiles, or set KITH_CHEMFILES to the absolute path of a "
                         "libchemfiles.so%s",
                         reason[0] ? "cannot be loaded (" : "is not installed", reason,
                         reason[0] ? ")" : "", else_do);
}
