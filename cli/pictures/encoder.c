/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ffmpeg as a process, started without a shell: raw frames in on a pipe, its messages out to a file
 * in memory. It is in a process group of its own, so that Ctrl-C on a terminal ends the run and not
 * the film, which is finished; ffmpeg has some seconds for that.
 */
#include "encoder.h"

#include "common/progress.h"
#include "common/report.h"

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

enum { WORDS = 48 }; /* room for the arguments of ffmpeg and the NULL behind them */

/** How long ffmpeg may take to finish the film of an interrupted run [s]. */
static const double PATIENCE = 3;

struct encoder {
    char *path;      /**< name of the film, as the user gave it */
    io_output *film; /**< output file that is lent to ffmpeg under a temporary name */
    char *part;      /**< the temporary name, as an argument of ffmpeg */
    size_t bytes;    /**< bytes of a frame */
    int64_t frames;  /**< number of frames of which a part was sent */
    /** Latest end of the film after an interruption, on progress_clock [s]; 0: not interrupted. */
    double deadline;
    bool late;     /**< ffmpeg missed the deadline and was killed */
    pid_t process; /**< process id of ffmpeg */
    /** Descriptors, -1 if closed: the writing end of the pipe, which is non-blocking, and the
     *  memory file that receives ffmpeg's stderr. */
    int pipe, messages;
};

/** A kind of film: the ending of its name, and the arguments of ffmpeg that encode it. */
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

/** Return the kind of film of a path by its ending; NULL: ffmpeg is not to be used for it. */
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

bool encoder_fail_io(encoder_problem *problem, const io_error *error)
{
    const int status = error->status == IO_NO_MEMORY ? STATUS_NO_MEMORY
                       : error->status == IO_INVALID ? STATUS_INVALID
                                                     : STATUS_OUTPUT;
    return encoder_fail(problem, status, NULL, "%s", error->text);
}

/** Start ffmpeg with SIGPIPE at its default, which kith ignores.
 *  @param input  descriptor of its standard input
 *  @param words  its arguments, ended by NULL
 *  @return 0 or an errno */
static int start(encoder *e, int input, const char *const words[WORDS])
{
    char *own[WORDS]; /* posix_spawnp takes pointers without const; it does not write to them */
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
    enum { LARGE = 1 << 20 }; /* bytes of the pipe: fewer wake-ups than the usual 64 KiB */
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

/** Remove the temporary film, unless it was renamed, close descriptors, and free the encoder. */
static void discard(encoder *e)
{
    if (e->pipe >= 0) {
        close(e->pipe);
    }
    if (e->messages >= 0) {
        close(e->messages);
    }
    io_lent_abort(e->film, false);
    free(e->path);
    free(e->part);
    free(e);
}

/** Begin the file that ffmpeg will write. @return false with a problem. */
static bool begin_film(encoder *e, encoder_problem *problem)
{
    io_error error = {0};
    if (io_lend(e->path, &e->film, &error) != IO_OK) {
        return encoder_fail_io(problem, &error);
    }
    const char *name = io_lent_name(e->film);
    /* With a leading "./", ffmpeg takes -x.mp4 for no option and http:x.mp4 for no address. */
    if (asprintf(&e->part, "%s%s", *name == '/' ? "" : "./", name) < 0) {
        e->part = NULL;
        return encoder_fail(problem, STATUS_NO_MEMORY, NULL, "%s: no memory for a film", e->path);
    }
    return true;
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
    }
    if (!e || !e->path) {
        encoder_fail(problem, STATUS_NO_MEMORY, NULL, "%s: no memory for a film", path);
    } else if (begin_film(e, problem)) {
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

/** Return true when the run was interrupted PATIENCE seconds ago. The first call after the
 *  interruption sets the deadline. */
static bool is_late(encoder *e)
{
    if (!progress_interrupted()) {
        return false;
    }
    const double now = progress_clock();
    e->deadline = e->deadline > 0 ? e->deadline : now + PATIENCE;
    return now > e->deadline;
}

bool encoder_send(encoder *e, const uint32_t *pixels, encoder_problem *problem)
{
    const char *data = (const char *)pixels;
    e->frames++;
    for (size_t done = 0; done < e->bytes;) {
        const ssize_t put = write(e->pipe, data + done, e->bytes - done);
        if (put > 0) {
            done += (size_t)put;
        } else if (put < 0 && errno == EAGAIN) {
            struct pollfd wait = {.fd = e->pipe, .events = POLLOUT};
            (void)poll(&wait, 1, 200);
            if (is_late(e)) {
                return encoder_fail(problem, STATUS_OUTPUT, NULL,
                                    "%s: ffmpeg accepts no more frames", e->path);
            }
        } else if (put < 0 && errno != EINTR) {
            return encoder_fail(problem, STATUS_OUTPUT, NULL,
                                "%s: cannot send a frame to ffmpeg: %s", e->path, strerror(errno));
        }
    }
    return true;
}

/** Wait for ffmpeg to end; kill it once it is late. Polls, as waitpid has no timeout.
 *  @return its wait status */
static int reap(encoder *e)
{
    const struct timespec while_asleep = {.tv_nsec = 5000000};
    int told = -1;
    for (;;) {
        const pid_t ended = waitpid(e->process, &told, WNOHANG);
        if (ended == e->process || (ended < 0 && errno != EINTR)) {
            return told;
        }
        if (!e->late && is_late(e)) {
            e->late = true;
            kill(e->process, SIGKILL);
        }
        nanosleep(&while_asleep, NULL);
    }
}

/** Copy the first line of ffmpeg's messages, shortened to `room` bytes; "" if it wrote none. */
static void first_words(const encoder *e, char *words, size_t room)
{
    ssize_t length;
    while ((length = pread(e->messages, words, room - 1, 0)) < 0 && errno == EINTR) {}
    if (length < 0) {
        snprintf(words, room, "its messages cannot be read: %s", strerror(errno));
        return;
    }
    words[length] = '\0';
    words[strcspn(words, "\r\n")] = '\0';
}

/** Rename the temporary film to its path if ffmpeg succeeded: status 0 and no message. Status 0
 *  alone is not enough: ffmpeg exits with 0 also when its last bytes do not fit on the disk.
 *  @param told  wait status of ffmpeg
 *  @return false with a problem */
static bool settle(encoder *e, int told, encoder_problem *problem)
{
    char words[300];
    io_error error = {0};
    io_output *film = e->film;
    first_words(e, words, sizeof words);
    if (e->late) {
        return encoder_fail(problem, STATUS_OUTPUT, NULL,
                            "%s: not written: ffmpeg did not finish it within %g s of the "
                            "interruption",
                            e->path, PATIENCE);
    }
    if (told != 0) {
        return encoder_fail(problem, STATUS_OUTPUT, NULL, "%s: ffmpeg failed (%s %d)%s%s", e->path,
                            WIFSIGNALED(told) ? "killed by signal" : "exit status",
                            WIFSIGNALED(told) ? WTERMSIG(told) : WEXITSTATUS(told),
                            *words ? ": " : "", words);
    }
    e->film = NULL;
    if (*words) {
        io_lent_abort(film, true);
        return encoder_fail(problem, STATUS_OUTPUT, NULL, "%s: ffmpeg complained; see %s: %s",
                            e->path, e->part, words);
    }
    return io_lent_commit(film, &error) == IO_OK || encoder_fail_io(problem, &error);
}

bool encoder_close(encoder *e, encoder_problem *problem)
{
    if (!e) {
        return true;
    }
    close(e->pipe);
    e->pipe = -1;
    const int told = reap(e);
    const bool fine = e->frames == 0 || settle(e, told, problem);
    discard(e);
    return fine;
}
