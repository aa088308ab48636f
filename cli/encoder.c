/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ffmpeg as a process, started without a shell: raw frames in on a pipe, its messages out to a file
 * in memory. It is in a process group of its own, so that Ctrl-C on a terminal ends the run and not
 * the film, which is finished.
 */
#include "encoder.h"

#include "progress.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 48 }; /* of a command line, and more */

/** How long an ffmpeg that does nothing may keep an interrupted run [s]. */
static const double PATIENCE = 30;

struct encoder {
    char *path, *part;
    size_t bytes;   /* of a frame */
    int64_t frames; /* that were begun */
    pid_t process;
    int pipe, messages;
};

/** Words of ffmpeg's command line for an ending. */
static const struct kind {
    const char *ending, *words[20];
} kinds[] = {
    {".mp4",
     {"-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p", "-c:v", "libx264",
      "-preset", "veryfast", "-crf", "17", "-colorspace", "bt709", "-color_primaries", "bt709",
      "-color_trc", "bt709", "-f", "mp4"}},
    {".webm",
     {"-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p", "-c:v", "libvpx-vp9",
      "-crf", "28", "-b:v", "0", "-deadline", "good", "-cpu-used", "5", "-row-mt", "1", "-f",
      "webm"}},
    {".gif",
     {"-vf", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=bayer",
      "-f", "gif"}}};

static const struct kind *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t k = 0; dot && k < sizeof kinds / sizeof *kinds; k++) {
        if (strcasecmp(dot, kinds[k].ending) == 0) {
            return &kinds[k];
        }
    }
    return NULL;
}

bool encoder_knows(const char *path)
{
    return kind_of(path) != NULL;
}

bool encoder_fail(encoder_problem *problem, int status, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    problem->status = status;
    problem->hint = hint;
    return false;
}

/** Start the process. @return 0 or an errno. */
static int start(encoder *e, int input, const char *const words[WORDS])
{
    char *own[WORDS]; /* as posix_spawnp wants them */
    memcpy(own, words, sizeof own);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t usual;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed) {
        return failed;
    }
    failed = posix_spawnattr_init(&how);
    if (!failed) {
        sigemptyset(&usual);
        sigaddset(&usual, SIGPIPE);
        posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&files, e->messages, STDERR_FILENO);
        posix_spawnattr_setsigdefault(&how, &usual);
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
        failed = posix_spawnp(&e->process, "ffmpeg", &files, &how, own, environ);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/** Start ffmpeg with a pipe to it. @return 0 or an errno. */
static int connect_ffmpeg(encoder *e, int width, int height, double rate)
{
    enum { LARGE = 1 << 20 };
    char size[32], speed[32];
    const char *words[WORDS] = {
        "ffmpeg",   "-hide_banner", "-loglevel",   "error", "-nostdin",   "-y",  "-f", "rawvideo",
        "-pix_fmt", "bgr0",         "-video_size", size,    "-framerate", speed, "-i", "pipe:0"};
    int n = 0, ends[2];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(speed, sizeof speed, "%.6f", rate);
    while (words[n]) {
        n++;
    }
    for (const char *const *word = kind_of(e->path)->words; *word; word++) {
        words[n++] = *word;
    }
    words[n++] = e->part;
    e->messages = memfd_create("ffmpeg", MFD_CLOEXEC);
    if (e->messages < 0 || pipe2(ends, O_CLOEXEC) < 0) {
        return errno;
    }
    e->pipe = ends[1];
    (void)fcntl(e->pipe, F_SETPIPE_SZ, LARGE);
    (void)fcntl(e->pipe, F_SETFL, O_NONBLOCK);
    const int failed = start(e, ends[0], words);
    close(ends[0]);
    return failed;
}

static void discard(encoder *e)
{
    if (e->pipe >= 0) {
        close(e->pipe);
    }
    if (e->messages >= 0) {
        close(e->messages);
    }
    free(e->path);
    free(e->part);
    free(e);
}

encoder *encoder_open(const char *path, int width, int height, double rate, bool *absent,
                      encoder_problem *problem)
{
    encoder *e = calloc(1, sizeof *e);
    *absent = false;
    if (e) {
        e->pipe = e->messages = -1;
        e->bytes = (size_t)width * (size_t)height * sizeof(uint32_t);
        e->path = strdup(path);
        /* A leading "./" keeps a name such as -x.mp4 or http:x.mp4 from meaning more. */
        if (asprintf(&e->part, "%s%s.%ld.part", *path == '/' ? "" : "./", path, (long)getpid()) <
            0) {
            e->part = NULL;
        }
    }
    if (!e || !e->path || !e->part) {
        encoder_fail(problem, STATUS_NO_MEMORY, NULL, "%s: no memory for a film", path);
    } else {
        const int failed = connect_ffmpeg(e, width, height, rate);
        if (!failed) {
            return e;
        }
        *absent = failed == ENOENT;
        encoder_fail(problem, STATUS_OUTPUT, NULL, "%s: cannot start ffmpeg: %s", path,
                     strerror(failed));
    }
    if (e) {
        discard(e);
    }
    return NULL;
}

bool encoder_send(encoder *e, const uint32_t *pixels, encoder_problem *problem)
{
    const char *data = (const char *)pixels;
    double moved = progress_clock();
    e->frames++;
    for (size_t done = 0; done < e->bytes;) {
        const ssize_t put = write(e->pipe, data + done, e->bytes - done);
        if (put > 0) {
            done += (size_t)put;
            moved = progress_clock();
        } else if (put < 0 && errno == EAGAIN) {
            struct pollfd wait = {.fd = e->pipe, .events = POLLOUT};
            (void)poll(&wait, 1, 200);
            if (progress_interrupted() && progress_clock() - moved > PATIENCE) {
                return encoder_fail(problem, STATUS_OUTPUT, NULL, "%s: ffmpeg takes no more frames",
                                    e->path);
            }
        } else if (put < 0 && errno != EINTR) {
            return encoder_fail(problem, STATUS_OUTPUT, NULL, "%s: no more frames to ffmpeg: %s",
                                e->path, strerror(errno));
        }
    }
    return true;
}

/** Wait for the process to end. @return what waitpid tells. */
static int reap(const encoder *e)
{
    const struct timespec while_asleep = {.tv_nsec = 5000000};
    int told = -1;
    double since = progress_clock();
    for (;;) {
        const pid_t ended = waitpid(e->process, &told, WNOHANG);
        if (ended == e->process || (ended < 0 && errno != EINTR)) {
            return told;
        }
        if (progress_interrupted() && progress_clock() - since > PATIENCE) {
            kill(e->process, SIGKILL);
            since = progress_clock();
        }
        nanosleep(&while_asleep, NULL);
    }
}

/** The first line that ffmpeg wrote; "" if none. */
static void first_words(const encoder *e, char *words, size_t room)
{
    const ssize_t length = pread(e->messages, words, room - 1, 0);
    words[length > 0 ? length : 0] = '\0';
    words[strcspn(words, "\r\n")] = '\0';
}

/** Give the film its name, if ffmpeg ended well. It ends with 0 where its last bytes do not fit on
 *  the disk, too: then it complained. */
static bool settle(const encoder *e, int told, encoder_problem *problem)
{
    char words[300];
    first_words(e, words, sizeof words);
    if (told != 0) {
        (void)unlink(e->part);
        return encoder_fail(problem, STATUS_OUTPUT, NULL, "%s: ffmpeg failed (%s %d)%s%s", e->path,
                            WIFSIGNALED(told) ? "killed by signal" : "exit status",
                            WIFSIGNALED(told) ? WTERMSIG(told) : WEXITSTATUS(told),
                            *words ? ": " : "", words);
    }
    if (*words) {
        return encoder_fail(problem, STATUS_OUTPUT, NULL, "%s: ffmpeg complained; see %s: %s",
                            e->path, e->part, words);
    }
    return rename(e->part, e->path) == 0 ||
           encoder_fail(problem, STATUS_OUTPUT, NULL, "%s: cannot rename %s into place: %s",
                        e->path, e->part, strerror(errno));
}

bool encoder_close(encoder *e, encoder_problem *problem)
{
    if (!e) {
        return true;
    }
    close(e->pipe);
    e->pipe = -1;
    bool fine = true;
    const int told = reap(e);
    if (e->frames == 0) {
        (void)unlink(e->part);
    } else {
        fine = settle(e, told, problem);
    }
    discard(e);
    return fine;
}
