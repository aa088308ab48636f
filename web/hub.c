/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hub: messages have reference counts; one lock protects all state.
 */
#include "hub.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double ALIVE_SECONDS = 1; /* between two signs of life */

/** Return the time of the monotonic clock in some seconds. */
static struct timespec after(double seconds)
{
    static const double second = 1e9;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double at = (double)until.tv_nsec + second * seconds;
    until.tv_sec += (time_t)(at / second);
    until.tv_nsec = (long)(at - second * (double)(time_t)(at / second));
    return until;
}

bool hub_open(web_server *s)
{
    *s = (web_server){.closing = false};
    pthread_condattr_t clock;
    if (pthread_condattr_init(&clock) != 0) {
        return false;
    }
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    const bool made = pthread_mutex_init(&s->lock, NULL) == 0 &&
                      pthread_cond_init(&s->news, &clock) == 0 &&
                      pthread_cond_init(&s->call, &clock) == 0;
    pthread_condattr_destroy(&clock);
    return made;
}

void hub_stop(web_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->news);
    const struct timespec until = after(ALIVE_SECONDS);
    while (s->viewers > 0 && pthread_cond_timedwait(&s->call, &s->lock, &until) == 0) {}
    pthread_mutex_unlock(&s->lock);
}

void hub_close(web_server *s)
{
    for (int c = 0; c < WEB_CHANNELS; c++) {
        free(s->newest[c]);
    }
    free(s->spare);
    for (int k = 0; k < s->commands; k++) {
        json_decref(s->command[(s->first + k) % HUB_MOST_COMMANDS]);
    }
    pthread_cond_destroy(&s->news);
    pthread_cond_destroy(&s->call);
    pthread_mutex_destroy(&s->lock);
}

/** Drop a reference, and free the message after the last. The memory of one message of points is
 *  kept for the next one. The lock must be held. */
static void release(web_server *s, hub_blob *blob)
{
    if (!blob || --blob->users > 0) {
        return;
    }
    for (int k = 0; k < WEB_MOST_BLOBS; k++) {
        if (s->living[k] == blob) {
            s->living[k] = NULL;
        }
    }
    if (blob->points && !s->spare) {
        s->spare = blob;
    } else {
        free(blob);
    }
}

/** Find a free entry of `living`. If there is none, mark the oldest message other than the newest
 *  one as dropped: threads that still send it disconnect their viewers, so that it becomes free.
 *  @return the index; -1: none is free yet */
static int find_free_blob(web_server *s)
{
    hub_blob *oldest = NULL;
    for (int k = 0; k < WEB_MOST_BLOBS; k++) {
        if (!s->living[k]) {
            return k;
        }
        if (s->living[k] != s->newest[WEB_POINTS] && (!oldest || s->living[k]->age < oldest->age)) {
            oldest = s->living[k];
        }
    }
    atomic_store(&oldest->dropped, true);
    return -1;
}

web_blob *web_blob_new(web_server *s, web_channel channel, size_t size)
{
    const bool points = channel == WEB_POINTS;
    pthread_mutex_lock(&s->lock);
    const int slot = points ? find_free_blob(s) : 0;
    hub_blob *blob = NULL;
    size_t room = size;
    /* The spare memory is used unless it is more than four times too large. */
    if (slot >= 0 && points && s->spare && s->spare->room >= size && s->spare->room / 4 <= size) {
        blob = s->spare;
        room = blob->room;
        s->spare = NULL;
    } else if (slot >= 0) {
        blob = malloc(sizeof *blob + size);
    }
    if (blob) {
        *blob = (hub_blob){.shown = {.data = blob->data, .size = size, .head = size},
                           .room = room,
                           .users = 1,
                           .points = points,
                           .age = ++s->made};
        if (points) {
            s->living[slot] = blob;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return blob ? &blob->shown : NULL;
}

void web_publish(web_server *s, web_channel channel, web_blob *blob)
{
    if (!blob) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    release(s, s->newest[channel]);
    s->newest[channel] = (hub_blob *)blob;
    s->version[channel]++;
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
}

void web_publish_json(web_server *s, web_channel channel, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    web_blob *blob = text ? web_blob_new(s, channel, strlen(text)) : NULL;
    if (blob) {
        memcpy(blob->data, text, blob->size);
        web_publish(s, channel, blob);
    }
    free(text);
    json_decref(value);
}

/** Return true when a viewer may be sent one more frame of points before it acknowledges one. */
static bool has_credit(const hub_viewer *v)
{
    return v->window == 0 || v->on_way < v->window;
}

/** Return what web_wants_points returns. The lock must be held. */
static bool wants(const web_server *s)
{
    for (int k = 0; k < WEB_MOST_VIEWERS; k++) {
        const hub_viewer *v = &s->viewer[k];
        if (v->used && has_credit(v) && v->seen[WEB_POINTS] == s->version[WEB_POINTS]) {
            return true;
        }
    }
    return false;
}

bool web_wants_points(web_server *s)
{
    pthread_mutex_lock(&s->lock);
    const bool wanted = wants(s);
    pthread_mutex_unlock(&s->lock);
    return wanted;
}

int64_t web_points_wanted(web_server *s)
{
    int64_t most = 0;
    pthread_mutex_lock(&s->lock);
    for (int k = 0; k < WEB_MOST_VIEWERS; k++) {
        if (s->viewer[k].used && s->viewer[k].points > most) {
            most = s->viewer[k].points;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return most;
}

int web_viewers(web_server *s)
{
    pthread_mutex_lock(&s->lock);
    const int viewers = s->viewers;
    pthread_mutex_unlock(&s->lock);
    return viewers;
}

void web_wait(web_server *s, bool points, double seconds)
{
    pthread_mutex_lock(&s->lock);
    const struct timespec until = after(seconds);
    while (!s->commands && !(points && wants(s)) &&
           pthread_cond_timedwait(&s->call, &s->lock, &until) == 0) {}
    pthread_mutex_unlock(&s->lock);
}

int hub_enter(web_server *s, uint32_t client, int64_t window, int64_t points)
{
    int viewer = -1;
    pthread_mutex_lock(&s->lock);
    for (int k = 0; k < WEB_MOST_VIEWERS && !s->closing && viewer < 0; k++) {
        if (!s->viewer[k].used) {
            s->viewer[k] = (hub_viewer){
                .used = true, .client = client, .window = window, .points = points};
            s->viewers++;
            viewer = k;
        }
    }
    pthread_cond_signal(&s->call);
    pthread_mutex_unlock(&s->lock);
    return viewer;
}

void hub_leave(web_server *s, int viewer)
{
    pthread_mutex_lock(&s->lock);
    s->viewer[viewer].used = false;
    s->viewers--;
    pthread_cond_signal(&s->call);
    pthread_mutex_unlock(&s->lock);
}

/** Return the number of bytes of a message that a viewer is sent. @param points  its limit of
 *  points; 0: none */
static size_t cut(const web_blob *blob, int64_t points)
{
    const size_t most = points > 0 && blob->item ? blob->head + (size_t)points * blob->item
                                                 : blob->size;
    return most < blob->size ? most : blob->size;
}

/** Find a channel with a message that the viewer has not been sent. @return WEB_ALIVE: none */
static web_channel find_news(const web_server *s, const hub_viewer *v)
{
    for (int c = WEB_STATE; c < WEB_CHANNELS; c++) {
        if (v->seen[c] != s->version[c] && (c != WEB_POINTS || has_credit(v))) {
            return (web_channel)c;
        }
    }
    return WEB_ALIVE;
}

bool hub_next(web_server *s, int viewer, hub_message *out)
{
    pthread_mutex_lock(&s->lock);
    hub_viewer *v = &s->viewer[viewer];
    web_channel c = find_news(s, v);
    const struct timespec until = after(ALIVE_SECONDS);
    for (int late = 0; c == WEB_ALIVE && !s->closing && !late; c = find_news(s, v)) {
        pthread_cond_signal(&s->call); /* web_wait may return: this viewer may be sent points */
        late = pthread_cond_timedwait(&s->news, &s->lock, &until);
    }
    *out = (hub_message){.channel = c, .version = s->version[c], .blob = s->newest[c]};
    v->seen[c] = s->version[c];
    if (out->blob) {
        out->blob->users++;
        out->size = cut(&out->blob->shown, v->points);
        v->on_way += c == WEB_POINTS;
    }
    const bool goes_on = c != WEB_ALIVE || !s->closing;
    pthread_mutex_unlock(&s->lock);
    return goes_on;
}

void hub_sent(web_server *s, hub_blob *blob)
{
    pthread_mutex_lock(&s->lock);
    release(s, blob);
    pthread_mutex_unlock(&s->lock);
}

void hub_seen(web_server *s, uint32_t client, int64_t points)
{
    pthread_mutex_lock(&s->lock);
    for (int k = 0; k < WEB_MOST_VIEWERS; k++) {
        hub_viewer *v = &s->viewer[k];
        if (v->used && v->client == client) {
            v->on_way -= v->on_way > 0;
            v->points = points > 0 ? points : v->points;
        }
    }
    pthread_cond_broadcast(&s->news);
    pthread_cond_signal(&s->call);
    pthread_mutex_unlock(&s->lock);
}

bool hub_put_command(web_server *s, json_t *command)
{
    pthread_mutex_lock(&s->lock);
    const bool room = s->commands < HUB_MOST_COMMANDS && !s->closing;
    if (room) {
        s->command[(s->first + s->commands++) % HUB_MOST_COMMANDS] = command;
        pthread_cond_signal(&s->call);
    }
    pthread_mutex_unlock(&s->lock);
    return room;
}

json_t *web_next_command(web_server *s)
{
    json_t *command = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->commands > 0) {
        command = s->command[s->first];
        s->first = (s->first + 1) % HUB_MOST_COMMANDS;
        s->commands--;
    }
    pthread_mutex_unlock(&s->lock);
    return command;
}
