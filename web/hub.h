/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Between the thread that computes and those that serve viewers: the newest message of each
 * channel, who has seen it, and commands on their way back. Knows nothing of sockets.
 */
#ifndef KITH_WEB_HUB_H
#define KITH_WEB_HUB_H

#include "web.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { HUB_MOST_COMMANDS = 64 };

typedef struct hub_blob {
    web_blob shown; /* first: a web_blob is one of these */
    size_t room;
    int users;
    bool points;
    atomic_bool dropped; /* whoever still sends it is to be cut off */
    uint64_t age;
    unsigned char data[]; /* [room] */
} hub_blob;

typedef struct hub_viewer {
    bool used;
    uint32_t client;
    uint32_t seen[WEB_CHANNELS]; /* version sent last; 0: none */
    int64_t points;              /* at most so many */
    int64_t window, on_way;      /* frames of points; window 0: any number */
} hub_viewer;

/** The hub is what a server is, beside what server.c adds to it. */
struct web_server {
    pthread_mutex_t lock;
    pthread_cond_t news; /* for viewers */
    pthread_cond_t call; /* for who computes */
    bool closing;
    hub_blob *newest[WEB_CHANNELS];
    uint32_t version[WEB_CHANNELS];
    hub_blob *living[WEB_MOST_BLOBS];
    hub_blob *spare;
    uint64_t made;
    hub_viewer viewer[WEB_MOST_VIEWERS];
    int viewers;
    json_t *command[HUB_MOST_COMMANDS];
    int first, commands;
};

/** What to send next. */
typedef struct hub_message {
    web_channel channel;
    uint32_t version;
    hub_blob *blob; /* NULL: a sign of life */
    size_t size;    /* of the blob, cut to the viewer's points */
} hub_message;

bool hub_open(web_server *s);

/** All viewers leave; no new ones come. */
void hub_stop(web_server *s);

/** Free what is left; no thread uses the hub any more. */
void hub_close(web_server *s);

/** @return a number for the viewer; -1: too many. */
int hub_enter(web_server *s, uint32_t client, int64_t window, int64_t points);
void hub_leave(web_server *s, int viewer);

/** Wait for the next message of a viewer, up to a second. @return false: the viewer is to leave. */
bool hub_next(web_server *s, int viewer, hub_message *out);

/** A message was sent, or failed to be. */
void hub_sent(web_server *s, hub_blob *blob);

/** A frame of points was drawn. @param points  0: as before */
void hub_seen(web_server *s, uint32_t client, int64_t points);

/** Hand a command over. @return false: too many wait; the value is still the caller's. */
bool hub_put_command(web_server *s, json_t *command);

#endif
