/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hub: the newest message wins, viewers get no more than they have room for, memory is bounded,
 * and nothing is lost between threads.
 */
#include "check.h"
#include "hub.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 400, SIZE = 4096 };

static web_blob *blob_of(web_server *h, bool points, size_t size, int value)
{
    web_blob *blob = web_blob_new(h, points ? WEB_POINTS : WEB_STATE, size);
    if (blob) {
        memset(blob->data, value, size);
    }
    return blob;
}

static void check_newest(void)
{
    web_server h;
    CHECK(hub_open(&h), "no hub");
    const int viewer = hub_enter(&h, 5, 0, 3);
    hub_message m;
    CHECK(web_wants_points(&h), "a new viewer wants no points");
    for (int k = 1; k <= 20; k++) { /* seen by nobody: none of them stays */
        web_blob *blob = blob_of(&h, true, 100, k);
        CHECK(blob, "no room for message %d", k);
        blob->head = 20;
        blob->item = 10;
        web_publish(&h, WEB_POINTS, blob);
    }
    CHECK(!web_wants_points(&h), "points wait for the viewer, and it wants newer ones");
    CHECK(hub_next(&h, viewer, &m) && m.channel == WEB_POINTS && m.version == 20 &&
              m.blob->shown.data[0] == 20,
          "channel %d, version %u", (int)m.channel, m.version);
    CHECK(m.size == 50, "%zu bytes for 3 points", m.size);
    hub_sent(&h, m.blob);
    CHECK(web_wants_points(&h), "the viewer has room again");
    web_publish(&h, WEB_STATE, blob_of(&h, false, 10, 1));
    web_publish(&h, WEB_STATE, blob_of(&h, false, 11, 2));
    CHECK(hub_next(&h, viewer, &m) && m.channel == WEB_STATE && m.size == 11, "old state");
    hub_sent(&h, m.blob);
    hub_leave(&h, viewer);
    CHECK(!web_wants_points(&h) && web_viewers(&h) == 0, "nobody is there");
    hub_stop(&h);
    hub_close(&h);
}

/** A viewer with a window gets so many frames, then none until it has seen one. */
static void check_window(void)
{
    web_server h;
    CHECK(hub_open(&h), "no hub");
    const int viewer = hub_enter(&h, 77, 2, 0);
    hub_message m;
    for (int k = 1; k <= 4; k++) {
        const bool room = k <= 2 || k == 4;
        if (k == 4) {
            hub_seen(&h, 77, 9);
        }
        CHECK(web_wants_points(&h) == room, "frame %d: wanted %d", k, web_wants_points(&h));
        if (room) {
            web_publish(&h, WEB_POINTS, blob_of(&h, true, 64, k));
            CHECK(hub_next(&h, viewer, &m) && m.channel == WEB_POINTS, "frame %d is missing", k);
            hub_sent(&h, m.blob);
        }
    }
    CHECK(web_points_wanted(&h) == 9, "asked for 9 points: %lld", (long long)web_points_wanted(&h));
    hub_leave(&h, viewer);
    hub_stop(&h);
    hub_close(&h);
}

/** Viewers that keep what they got: the oldest is told to leave, and room comes back. */
static void check_bounded(void)
{
    web_server h;
    hub_message m[WEB_MOST_BLOBS];
    CHECK(hub_open(&h), "no hub");
    for (int k = 0; k < WEB_MOST_BLOBS; k++) {
        const int viewer = hub_enter(&h, (uint32_t)k, 0, 0);
        web_publish(&h, WEB_POINTS, blob_of(&h, true, 64, k));
        CHECK(hub_next(&h, viewer, &m[k]) && m[k].blob, "viewer %d got nothing", k);
    }
    CHECK(!blob_of(&h, true, 64, 0), "more messages than allowed");
    for (int k = 0; k < WEB_MOST_BLOBS; k++) {
        CHECK(atomic_load(&m[k].blob->dropped) == (k == 0), "message %d", k);
    }
    hub_sent(&h, m[0].blob);
    web_publish(&h, WEB_POINTS, blob_of(&h, true, 64, 9));
    for (int k = 1; k < WEB_MOST_BLOBS; k++) {
        hub_sent(&h, m[k].blob);
    }
    for (int k = WEB_MOST_BLOBS; k < WEB_MOST_VIEWERS; k++) {
        CHECK(hub_enter(&h, 1, 0, 0) == k, "viewer %d", k);
    }
    CHECK(hub_enter(&h, 1, 0, 0) == -1, "more viewers than allowed");
    for (int k = 0; k < WEB_MOST_VIEWERS; k++) {
        hub_leave(&h, k);
    }
    hub_stop(&h);
    hub_close(&h);
}

static void *view(void *user)
{
    web_server *h = user;
    const int viewer = hub_enter(h, 1, 0, 0);
    uint32_t last = 0;
    hub_message m;
    while (hub_next(h, viewer, &m)) {
        for (size_t k = 1; m.blob && k < m.size; k++) {
            CHECK(m.blob->shown.data[k] == m.blob->shown.data[0], "a torn message");
        }
        if (m.channel == WEB_POINTS) {
            CHECK(m.version > last, "version %u after %u", m.version, last);
            last = m.version;
        }
        hub_sent(h, m.blob);
        json_t *command = json_pack("{s:i}", "k", (int)last);
        if (!hub_put_command(h, command)) {
            json_decref(command);
        }
    }
    CHECK(last == ROUNDS, "the last message seen is %u", last);
    hub_leave(h, viewer);
    return NULL;
}

static void check_threads(void)
{
    web_server h;
    pthread_t thread[THREADS];
    int64_t commands = 0;
    CHECK(hub_open(&h), "no hub");
    for (int k = 0; k < THREADS; k++) {
        pthread_create(&thread[k], NULL, view, &h);
    }
    while (web_viewers(&h) < THREADS) {
        web_wait(&h, false, 0.01);
    }
    for (int k = 0; k < ROUNDS;) {
        web_blob *blob = blob_of(&h, true, SIZE, k);
        if (blob) {
            web_publish(&h, WEB_POINTS, blob);
            k++;
        }
        for (json_t *command; (command = web_next_command(&h)) != NULL; commands++) {
            json_decref(command);
        }
        web_wait(&h, true, 0.001);
    }
    hub_stop(&h);
    for (int k = 0; k < THREADS; k++) {
        pthread_join(thread[k], NULL);
    }
    CHECK(commands > 0, "no command came through");
    hub_close(&h);
}

int main(void)
{
    check_newest();
    check_window();
    check_bounded();
    check_threads();
    return check_done();
}
