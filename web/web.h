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
 * THE ADDRESS http://127.0.0.1:8420/TOKEN/ holds 128 random bits. A request without them, or from a
 * page of another origin, gets status 403.
 *
 *     GET  TOKEN/                  the page; TOKEN/style.css, TOKEN/NAME.js what belongs to it
 *     GET  TOKEN/frames            messages without end. ?client=ID&window=W&points=N: at most W
 *                                  frames of points on their way before they are acknowledged (0:
 *                                  any number), of N points each
 *     POST TOKEN/seen              ?client=ID&points=N: a frame was drawn; from now on N points
 *     POST TOKEN/control           an object of JSON, for web_next_command
 *
 * A MESSAGE is 16 bytes, four little-endian uint32: WEB_MAGIC, channel, bytes that follow, version;
 * then the bytes. Each viewer is sent the newest message of each channel, and none twice: messages
 * that were published while it was busy are skipped. Channel 0 is a sign of life, once a second.
 *
 * MEMORY is bounded: at most WEB_MOST_BLOBS messages of points exist at a time. A viewer that is
 * still being sent the oldest of them is disconnected when one more is needed. A viewer that
 * accepts no byte for some seconds is disconnected, too.
 *
 * THREADS. One thread makes the calls; viewers are served by other threads. Any thread may make and
 * publish messages.
 */
#ifndef KITH_WEB_H
#define KITH_WEB_H

#include <jansson.h>
#include <kith.h>
#include <stdbool.h>

enum {
    WEB_MAGIC = 0x3156574b,  /**< first number of a message: the bytes "KWV1" */
    WEB_MOST_VIEWERS = 100,  /**< viewers at one time */
    WEB_MOST_BLOBS = 8,      /**< messages of points that exist at one time */
    WEB_MOST_COMMAND = 4096, /**< size of a command [byte] */
    WEB_PORT = 8420          /**< usual port */
};

/** Kinds of messages. */
typedef enum web_channel {
    WEB_ALIVE,    /**< a sign of life, without content */
    WEB_STATE,    /**< JSON: what is shown, and what can be changed */
    WEB_POINTS,   /**< particles */
    WEB_CURVES,   /**< measures of a flock over time: float [rows][columns], of which the first is
                       the step; WEB_STATE names the columns */
    WEB_GROUPS,   /**< JSON: halos */
    WEB_PLOT,     /**< JSON: a curve beside the particles, for example g(r) */
    WEB_THINGS,   /**< JSON: obstacles and attractors of a flock */
    WEB_PARTICLE, /**< JSON: values of the particle that a viewer has selected */
    WEB_CHANNELS  /**< number of channels */
} web_channel;

/** How to listen. */
typedef struct web_options {
    const char *address; /**< numeric address or host name to listen at; NULL: 127.0.0.1 */
    int port;            /**< port to listen at; 0: WEB_PORT or, if it is in use, any free port */
} web_options;

/** A server with its viewers. */
typedef struct web_server web_server;

/** Return true when this build has a server; web_open fails in others. */
bool web_is_built(void);

/** Start to listen.
 *  @param[out] error  [room] message on failure; may be NULL
 *  @return false on failure */
bool web_open(const web_options *options, web_server **out, char *error, size_t room);

/** Return the address of the page, with its token. */
const char *web_address(const web_server *server);

/** Return the port that the server listens at. */
int web_port(const web_server *server);

/** Return the host that the server listens at, as in the address of the page: IPv6 in brackets. */
const char *web_host(const web_server *server);

/** Return true when other machines can reach the address. */
bool web_is_open(const web_server *server);

/** A message, without its 16 bytes. For viewers that asked for fewer points, a message of points is
 *  truncated to its head and some complete items. */
typedef struct web_blob {
    unsigned char *data; /**< bytes of the message [size] */
    size_t size;         /**< number of bytes */
    size_t head;         /**< size of the head [byte] */
    size_t item;         /**< size of an item [byte]; 0: the message is never truncated */
} web_blob;

/** Allocate a message.
 *  @return NULL: memory is exhausted, or too many messages of points exist */
web_blob *web_blob_new(web_server *server, web_channel channel, size_t size);

/** Make a message the newest of the channel. @param blob  owned by the function; NULL: nothing is
 *  done */
void web_publish(web_server *server, web_channel channel, web_blob *blob);

/** Make a JSON value the newest message of the channel. @param value  owned by the function */
void web_publish_json(web_server *server, web_channel channel, json_t *value);

/** Return true when a viewer has been sent the points published last, and may be sent more: its
 *  unacknowledged frames are fewer than its window. */
bool web_wants_points(web_server *server);

/** Return the largest number of points that a viewer asks for; 0: there are no viewers. */
int64_t web_points_wanted(web_server *server);

/** Return the number of viewers that are connected. */
int web_viewers(web_server *server);

/** Take the oldest command of a viewer. @return an object, to be json_decref'd; NULL: there is
 *  none */
json_t *web_next_command(web_server *server);

/** Wait until there is a command, or for `seconds`.
 *  @param points  return also when a viewer waits for points */
void web_wait(web_server *server, bool points, double seconds);

/** Send all viewers the messages that were published, disconnect them, and free the server. NULL is
 *  allowed. */
void web_close(web_server *server);

/* ------------------------------------------------------------------------------------- points */

/** What colours mean. The numbers are those of the messages. */
typedef enum web_colour {
    WEB_PLAIN,   /**< nothing: the page shows the density */
    WEB_SPEED,   /**< magnitude of the velocity */
    WEB_HEADING, /**< direction of the velocity */
    WEB_GROUP,   /**< group of the particle */
    WEB_MASS,    /**< mass, on a logarithmic scale */
    WEB_SPECIES, /**< species */
    WEB_COLOURS  /**< number of meanings */
} web_colour;

/* Sizes of parts of a message of points [byte]. */
enum {
    WEB_POINTS_HEAD = 112,   /**< before the points */
    WEB_FEW_BYTES = 8,       /**< a point */
    WEB_BODY_BYTES = 10,     /**< a point with a direction beside its colour */
    WEB_MANY_BYTES = 16,     /**< a point in float */
    WEB_MOST_BODIES = 400000 /**< points; messages of more have no directions, unless in float */
};

/** Particles to show. Arrays are borrowed. */
typedef struct web_scene {
    int64_t n;   /**< number of particles in the arrays */
    int64_t all; /**< number of particles of which the arrays hold a choice, in the order
                                   of the choice; 0: the arrays hold all */
    kith_precision precision; /**< type of positions and velocities */
    const void *positions;    /**< positions [n][3] */
    const void *velocities;   /**< velocities [n][3]; NULL: not known */
    const int32_t *labels;    /**< group of each particle [n], 1 is the largest, 0: none; NULL: not
                                   known */
    const uint16_t *shades;   /**< WEB_MASS, WEB_SPECIES: colour of each particle as the message
                                   has it [n]; NULL for other colours */
    kith_box box;             /**< box in which they are shown; its rows are independent */
    double step;              /**< step of the simulation */
    double time;              /**< time of the simulation */
    uint32_t frame;           /**< index of the frame of a file */
    uint32_t epoch;    /**< points with equal epochs are of one set of particles, between whose
                                   frames the page interpolates */
    web_colour colour; /**< meaning of the colours */
    double range[2];   /**< speeds of the first and the last colour */
    struct kith__pool *pool; /**< threads that make the message; NULL: the calling thread alone */
    bool precise;            /**< 16 bytes for each point, not 8 */
} web_scene;

/** A random choice of particles in random order, so that its first elements are a choice, too. */
typedef struct web_choice {
    int64_t of;     /**< number of particles that are chosen from */
    int64_t n;      /**< number of chosen particles */
    int32_t *index; /**< indices of the chosen particles [n] */
} web_choice;

/** Choose at least `most` of n particles, or all. Zero the choice first; web_choice_free it.
 *  @return false if memory is exhausted */
bool web_choose(web_choice *choice, int64_t n, int64_t most);

/** Free the indices, and zero the choice. */
void web_choice_free(web_choice *choice);

/**
 * Make a message of points. Little-endian; floats and doubles of IEEE 754:
 *     0  double step; 8 double time; 16 double particles in all
 *    24  uint32 bytes a point (8, 10 or 16), colour; 32 float range[2]
 *    40  uint32 dim, bits of the periodic axes; 48 float origin[3], rows[9]
 *    96  uint32 frame, epoch; 104 uint32 place of the direction in a point, 0: it has none; 108 0
 *   112  points: uint16 x, y, z in 1/65536 of the rows, uint16 colour, and in a point of 10 bytes
 *        uint16 direction; or float x, y, z, uint16 colour, uint16 direction
 * The direction is the octahedral map of the velocity, a byte each; 0: the particle stands still.
 * The colour is 65535 (speed - range[0]) / (range[1] - range[0]); for headings the direction; for
 * groups 0 in none, else 1 + (label - 1) % 65535; for masses the place on the map, 0 to 65535; for
 * species their number, from 1.
 * @param choice  choice of the particles; NULL: the arrays hold the chosen particles
 * @param n       number of chosen particles in the message
 * @return NULL: memory is exhausted, or too many messages of points exist
 */
web_blob *web_points(web_server *server, const web_scene *scene, const web_choice *choice,
                     int64_t n);

/** Compute a box that holds all points: that of the scene, with its open axes widened.
 *  @param[in,out] box  grows, and never shrinks; its rows are zero at first */
void web_enclose(kith_box *box, const web_scene *scene);

/* ------------------------------------------------------------------------------------- inside */

/** A file of the page. */
typedef struct web_file {
    const char *name;          /**< name in the address; NULL ends the list */
    const char *type;          /**< Content-Type */
    const unsigned char *data; /**< contents [size] */
    size_t size;               /**< number of bytes */
} web_file;

extern const web_file web__files[]; /* the files of the page */

#endif
