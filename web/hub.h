/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hub passes messages from the thread that computes to the threads that serve viewers, and
 * commands back. It keeps the newest message of each channel, and which viewer has been sent it. It
 * does not use sockets.
 */
#ifndef KITH_WEB_HUB_H
#define KITH_WEB_HUB_H

#include "web.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { HUB_MOST_COMMANDS = 64 }; /* commands that wait; more are refused */

/** A message, with a count of references. */
typedef struct hub_blob {
    web_blob shown;       /* the message; the first member, so that a web_blob can be cast */
    size_t room;          /* bytes that data has room for */
    int users;            /* number of references: the hub's and those of viewers that send it */
    bool points;          /* a message of points, whose number is limited */
    atomic_bool dropped;  /* viewers that still send it must be disconnected */
    uint64_t age;         /* number of the message, ascending */
    unsigned char data[]; /* bytes of the message [room] */
} hub_blob;

/** A viewer that is connected. */
typedef struct hub_viewer {
    bool used;                   /* the entry is in use */
    uint32_t client;             /* id that the viewer has chosen */
    uint32_t seen[WEB_CHANNELS]; /* version sent last on each channel; 0: none */
    int64_t points;              /* largest number of points of a frame; 0: no limit */
    int64_t window;              /* largest number of frames not yet acknowledged; 0: no limit */
    int64_t on_way;              /* frames of points sent and not yet acknowledged */
} hub_viewer;

/** The part of a server that does not concern sockets; server.c extends it. */
struct web_server {
    pthread_mutex_t lock;             /* protects all members below */
    pthread_cond_t news;              /* signalled to viewers: a new message, or closing */
    pthread_cond_t call;              /* signalled to the computing thread: a command, a viewer */
    bool closing;                     /* no viewer is accepted any more */
    hub_blob *newest[WEB_CHANNELS];   /* newest message of each channel; NULL: none */
    uint32_t version[WEB_CHANNELS];   /* number of messages published on each channel */
    hub_blob *living[WEB_MOST_BLOBS]; /* messages of points that exist; NULL: free */
    hub_blob *spare; /* memory of a freed message of points, for the next; or NULL */
    uint64_t made;   /* number of messages made so far */
    hub_viewer viewer[WEB_MOST_VIEWERS]; /* viewers */
    int viewers;                         /* number of viewers that are connected */
    json_t *command[HUB_MOST_COMMANDS];  /* ring buffer of commands that wait */
    int first;                           /* index of the oldest command */
    int commands;                        /* number of commands that wait */
};

/** The message that a viewer is sent next. */
typedef struct hub_message {
    web_channel channel; /* channel of the message; WEB_ALIVE: a sign of life */
    uint32_t version;    /* version of the message */
    hub_blob *blob;      /* the message; NULL: a sign of life */
    size_t size;         /* bytes to send: the message, truncated to the points of the viewer */
} hub_message;

/** Initialise a hub. @return false on failure */
bool hub_open(web_server *s);

/** Refuse new viewers, and wait up to a second until all have left. */
void hub_stop(web_server *s);

/** Free the hub. No thread may use it any more. */
void hub_close(web_server *s);

/** Add a viewer. @return its index; -1: there are too many */
int hub_enter(web_server *s, uint32_t client, int64_t window, int64_t points);

/** Remove a viewer. */
void hub_leave(web_server *s, int viewer);

/** Wait up to a second for the next message of a viewer, and mark it as sent. Channels with smaller
 *  numbers come first.
 *  @param[out] out  the message, whose blob hub_sent must release; a sign of life after a second
 *  @return false: the server is closing, and the viewer must be disconnected */
bool hub_next(web_server *s, int viewer, hub_message *out);

/** Release a message that was sent, or could not be. */
void hub_sent(web_server *s, hub_blob *blob);

/** Acknowledge a frame of points. @param client  id of the viewer. @param points  its new limit of
 *  points; 0: unchanged */
void hub_seen(web_server *s, uint32_t client, int64_t points);

/** Queue a command. @return false: too many wait; the caller still owns the value */
bool hub_put_command(web_server *s, json_t *command);

#endif
