/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The live view: a page in the browser that shows particles and steers what computes them.
 *
 *     web_server *server;
 *     if (web_open(&options, &server, error, sizeof error)) {
 *         printf("%s\n", web_address(server));
 *         while (computing) {
 *             if (web_wants_points(server))
 *                 web_publish(server, WEB_POINTS, web_points(server, &scene, &choice, n));
 *             for (json_t *command; (command = web_next_command(server)) != NULL;)
 *                 obey(command);
 *         }
 *     }
 *     web_close(server);
 *
 * THE ADDRESS http://127.0.0.1:8420/TOKEN/ holds 128 random bits. Who does not know them gets
 * nothing but status 403; so does a page of another origin.
 *
 *     GET  TOKEN/                  the page; TOKEN/style.css, TOKEN/NAME.js what belongs to it
 *     GET  TOKEN/frames            messages without end. ?client=ID&window=W&points=N: at most W
 *                                  frames of points on their way before they are acknowledged (0:
 *                                  any number), of N points each
 *     POST TOKEN/seen              ?client=ID&points=N: a frame was drawn; from now on N points
 *     POST TOKEN/control           an object of JSON, for web_next_command
 *
 * A MESSAGE is 16 bytes, four little-endian uint32: WEB_MAGIC, channel, bytes that follow, version;
 * and those bytes. Each viewer gets the newest message of each channel, and none twice: what was
 * published while it was busy is skipped. Channel 0 is a sign of life, once a second.
 *
 * MEMORY is bounded: at most WEB_MOST_BLOBS messages of points live at a time. A viewer that holds
 * the oldest of them is cut off when one more is needed, and one that takes no byte for some
 * seconds likewise. THREADS: the calls are for one thread, viewers are served by others; messages
 * can be made and published by any.
 */
#ifndef KITH_WEB_H
#define KITH_WEB_H

#include <jansson.h>
#include <kith.h>
#include <stdbool.h>

enum {
    WEB_MAGIC = 0x3156574b, /**< "KWV1" */
    WEB_MOST_VIEWERS = 100,
    WEB_MOST_BLOBS = 8,
    WEB_MOST_COMMAND = 4096, /**< bytes */
    WEB_PORT = 8420
};

typedef enum web_channel {
    WEB_ALIVE,
    WEB_STATE,  /**< JSON: what is shown, and what can be changed */
    WEB_POINTS, /**< particles */
    WEB_CURVES, /**< measures over time: float [rows][columns] */
    WEB_GROUPS, /**< JSON: halos */
    WEB_PLOT,   /**< JSON: a curve beside the particles, such as g(r) */
    WEB_CHANNELS
} web_channel;

typedef struct web_options {
    const char *address; /**< to listen at; NULL: 127.0.0.1 */
    int port;            /**< 0: WEB_PORT, or any free one when it is taken */
} web_options;

typedef struct web_server web_server;

/** Start to listen. @param[out] error  a sentence on failure; NULL is fine. @return success */
bool web_open(const web_options *options, web_server **out, char *error, size_t room);

/** The address of the page, with its token. */
const char *web_address(const web_server *server);
int web_port(const web_server *server);

/** Is it an address that other machines can reach? */
bool web_is_open(const web_server *server);

/** Bytes to be shown. Its size may be cut to `head` and any number of whole items. */
typedef struct web_blob {
    unsigned char *data; /**< [size] */
    size_t size;
    size_t head, item; /**< item 0: never cut */
} web_blob;

/** Get room for a message of this size. @return NULL: no memory, or too many are on their way. */
web_blob *web_blob_new(web_server *server, web_channel channel, size_t size);

/** Make this the channel's newest message. @param blob  given away; NULL: nothing happens. */
void web_publish(web_server *server, web_channel channel, web_blob *blob);

/** Likewise, with a JSON value, which is given away. */
void web_publish_json(web_server *server, web_channel channel, json_t *value);

/** Is some viewer ready for points newer than those published last? */
bool web_wants_points(web_server *server);

/** The most points that any viewer asks for; 0 without viewers. */
int64_t web_points_wanted(web_server *server);

int web_viewers(web_server *server);

/** What a viewer asked for, an object, the caller's to json_decref; NULL: nothing now. */
json_t *web_next_command(web_server *server);

/** Wait until there is a command or the time is over; `points`: or until points are wanted. */
void web_wait(web_server *server, bool points, double seconds);

/** Say good-bye to all viewers, who get what was published before, and free the server. NULL is
 *  fine. */
void web_close(web_server *server);

/* ------------------------------------------------------------------------------------- points */

/** What colours mean. */
typedef enum web_colour { WEB_PLAIN, WEB_SPEED, WEB_HEADING, WEB_GROUP } web_colour;

enum { WEB_POINTS_HEAD = 112, WEB_FEW_BYTES = 8, WEB_MANY_BYTES = 16 };

/** Particles to show. Arrays are borrowed, of the precision given. */
typedef struct web_scene {
    int64_t n;   /**< particles in the arrays: all, */
    int64_t all; /**< or those chosen of so many, in the order of the choice; 0: all */
    kith_precision precision;
    const void *positions;  /**< [n][3] */
    const void *velocities; /**< [n][3]; NULL: not known */
    const int32_t *labels;  /**< [n] 1: the largest group; 0: in none. NULL: not known */
    kith_box box;           /**< to show them in: its rows are independent */
    double step, time;
    uint32_t frame; /**< of a file */
    uint32_t epoch; /**< points of one epoch are the same particles: they may be drawn between */
    web_colour colour;
    double range[2];         /**< of speeds, for colours */
    struct kith__pool *pool; /**< threads that make the message; NULL: the calling one alone */
    bool precise;            /**< 16 bytes a point in place of 8 */
} web_scene;

/** A fixed random choice of particles: whose beginning is one too. */
typedef struct web_choice {
    int64_t of; /**< particles */
    int64_t n;  /**< chosen */
    int32_t *index;
} web_choice;

/** Choose at least `most` of n particles, or all. Zero the choice first. @return false: no memory.
 */
bool web_choose(web_choice *choice, int64_t n, int64_t most);
void web_choice_free(web_choice *choice);

/**
 * Make a message of points. Little-endian; floats and doubles of IEEE 754:
 *     0  double step; 8 double time; 16 double particles in all
 *    24  uint32 bytes a point (8 or 16), colour; 32 float range[2]
 *    40  uint32 dim, bits of the periodic axes; 48 float origin[3], rows[9]
 *    96  uint32 frame, epoch; 104 zeros
 *   112  points: uint16 x, y, z in 1/65536 of the rows, and uint16 colour; or float x, y, z,
 *        uint16 colour, uint16 0
 * The colour is 65535 (speed - range[0]) / (range[1] - range[0]); for headings the octahedral map
 * of the direction, a byte each; for groups 0 in none, else 1 + (label - 1) % 65535.
 * @param choice  NULL where the arrays hold those chosen
 * @param n       of them, so many
 * @return NULL: no memory, or too many are on their way.
 */
web_blob *web_points(web_server *server, const web_scene *scene, const web_choice *choice,
                     int64_t n);

/** The box that holds all points, or the given one with the axes that are open widened to do so.
 *  @param[in,out] box  grows, and never shrinks; zero rows at first */
void web_enclose(kith_box *box, const web_scene *scene);

/* ------------------------------------------------------------------------------------- inside */

/** A file of the page. */
typedef struct web_file {
    const char *name, *type;
    const unsigned char *data;
    size_t size;
} web_file;

extern const web_file web__files[]; /* ended by a name of NULL */

#endif
