/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hub: messages are counted references, one lock guards all.
 */
#include "hub.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double ALIVE_SECONDS = 1;

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

bool hub_open(hub *h)
{
    *h = (hub){.closing = false};
    pthread_condattr_t clock;
    if (pthread_condattr_init(&clock) != 0) {
        return false;
    }
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    const bool made = pthread_mutex_init(&h->lock, NULL) == 0 &&
                      pthread_cond_init(&h->news, &clock) == 0 &&
                      pthread_cond_init(&h->call, &clock) == 0;
    pthread_condattr_destroy(&clock);
    return made;
}

void hub_stop(hub *h)
{
    pthread_mutex_lock(&h->lock);
    h->closing = true;
    pthread_cond_broadcast(&h->news);
    const struct timespec until = after(ALIVE_SECONDS);
    while (h->viewers > 0 && pthread_cond_timedwait(&h->call, &h->lock, &until) == 0) {}
    pthread_mutex_unlock(&h->lock);
}

static void blob_free(hub_blob *blob)
{
    if (blob) {
        free(blob->shown.data);
        free(blob);
    }
}

void hub_close(hub *h)
{
    for (int c = 0; c < WEB_CHANNELS; c++) {
        blob_free(h->newest[c]);
    }
    blob_free(h->spare);
    for (int k = 0; k < h->commands; k++) {
        json_decref(h->command[(h->first + k) % HUB_MOST_COMMANDS]);
    }
    pthread_cond_destroy(&h->news);
    pthread_cond_destroy(&h->call);
    pthread_mutex_destroy(&h->lock);
}

/** One user less. Memory of points is kept for the next ones. */
static void let_go(hub *h, hub_blob *blob)
{
    if (!blob || --blob->users > 0) {
        return;
    }
    for (int k = 0; k < WEB_MOST_BLOBS; k++) {
        if (h->living[k] == blob) {
            h->living[k] = NULL;
        }
    }
    if (blob->points && !h->spare) {
        h->spare = blob;
    } else {
        blob_free(blob);
    }
}

/** A place among the points that live. Where all are taken, viewers of the oldest are cut off, so
 *  that there will be one. */
static int find_place(hub *h)
{
    hub_blob *oldest = NULL;
    for (int k = 0; k < WEB_MOST_BLOBS; k++) {
        if (!h->living[k]) {
            return k;
        }
        if (h->living[k] != h->newest[WEB_POINTS] && (!oldest || h->living[k]->age < oldest->age)) {
            oldest = h->living[k];
        }
    }
    atomic_store(&oldest->dropped, true);
    return -1;
}

web_blob *hub_blob_new(hub *h, bool points, size_t size)
{
    pthread_mutex_lock(&h->lock);
    const int place = points ? find_place(h) : 0;
    hub_blob *blob = NULL;
    if (place >= 0) {
        if (points && h->spare && h->spare->room >= size && h->spare->room / 4 <= size) {
            blob = h->spare;
            h->spare = NULL;
        } else {
            blob = calloc(1, sizeof *blob);
            unsigned char *data = blob ? malloc(size + 1) : NULL;
            if (!data) {
                free(blob);
                blob = NULL;
            } else {
                blob->shown.data = data;
                blob->room = size;
            }
        }
    }
    if (blob) {
        blob->shown.size = size;
        blob->shown.head = size;
        blob->shown.item = 0;
        blob->users = 1;
        blob->points = points;
        atomic_store(&blob->dropped, false);
        blob->age = ++h->made;
        if (points) {
            h->living[place] = blob;
        }
    }
    pthread_mutex_unlock(&h->lock);
    return blob ? &blob->shown : NULL;
}

void hub_publish(hub *h, web_channel channel, web_blob *blob)
{
    if (!blob) {
        return;
    }
    pthread_mutex_lock(&h->lock);
    let_go(h, h->newest[channel]);
    h->newest[channel] = (hub_blob *)blob;
    h->version[channel]++;
    pthread_cond_broadcast(&h->news);
    pthread_mutex_unlock(&h->lock);
}

static bool has_credit(const hub_viewer *v)
{
    return v->window == 0 || v->on_way < v->window;
}

static bool wants(const hub *h)
{
    for (int k = 0; k < WEB_MOST_VIEWERS; k++) {
        const hub_viewer *v = &h->viewer[k];
        if (v->used && has_credit(v) && v->seen[WEB_POINTS] == h->version[WEB_POINTS]) {
            return true;
        }
    }
    return false;
}

bool hub_wants(hub *h)
{
    pthread_mutex_lock(&h->lock);
    const bool wanted = wants(h);
    pthread_mutex_unlock(&h->lock);
    return wanted;
}

int64_t hub_wanted(hub *h)
{
    int64_t most = 0;
    pthread_mutex_lock(&h->lock);
    for (int k = 0; k < WEB_MOST_VIEWERS; k++) {
        if (h->viewer[k].used && h->viewer[k].points > most) {
            most = h->viewer[k].points;
        }
    }
    pthread_mutex_unlock(&h->lock);
    return most;
}

int hub_viewers(hub *h)
{
    pthread_mutex_lock(&h->lock);
    const int viewers = h->viewers;
    pthread_mutex_unlock(&h->lock);
    return viewers;
}

void hub_wait(hub *h, bool points, double seconds)
{
    pthread_mutex_lock(&h->lock);
    const struct timespec until = after(seconds);
    while (!h->commands && !(points && wants(h)) &&
           pthread_cond_timedwait(&h->call, &h->lock, &until) == 0) {}
    pthread_mutex_unlock(&h->lock);
}

int hub_enter(hub *h, uint32_t client, int64_t window, int64_t points)
{
    int viewer = -1;
    pthread_mutex_lock(&h->lock);
    for (int k = 0; k < WEB_MOST_VIEWERS && !h->closing && viewer < 0; k++) {
        if (!h->viewer[k].used) {
            h->viewer[k] = (hub_viewer){
                .used = true, .client = client, .window = window, .points = points};
            h->viewers++;
            viewer = k;
        }
    }
    pthread_cond_signal(&h->call);
    pthread_mutex_unlock(&h->lock);
    return viewer;
}

void hub_leave(hub *h, int viewer)
{
    pthread_mutex_lock(&h->lock);
    h->viewer[viewer].used = false;
    h->viewers--;
    pthread_cond_signal(&h->call);
    pthread_mutex_unlock(&h->lock);
}

/** The bytes of a message that this viewer gets. */
static size_t cut(const web_blob *blob, int64_t points)
{
    const size_t most = points > 0 && blob->item ? blob->head + (size_t)points * blob->item
                                                 : blob->size;
    return most < blob->size ? most : blob->size;
}

/** Find a channel with news. @return WEB_ALIVE: none */
static web_channel find_news(const hub *h, const hub_viewer *v)
{
    for (int c = WEB_STATE; c < WEB_CHANNELS; c++) {
        if (v->seen[c] != h->version[c] && (c != WEB_POINTS || has_credit(v))) {
            return (web_channel)c;
        }
    }
    return WEB_ALIVE;
}

bool hub_next(hub *h, int viewer, hub_message *out)
{
    pthread_mutex_lock(&h->lock);
    hub_viewer *v = &h->viewer[viewer];
    web_channel c = find_news(h, v);
    const struct timespec until = after(ALIVE_SECONDS);
    for (int late = 0; c == WEB_ALIVE && !h->closing && !late; c = find_news(h, v)) {
        pthread_cond_signal(&h->call); /* it may want points now */
        late = pthread_cond_timedwait(&h->news, &h->lock, &until);
    }
    *out = (hub_message){.channel = c, .version = h->version[c], .blob = h->newest[c]};
    v->seen[c] = h->version[c];
    if (out->blob) {
        out->blob->users++;
        out->size = cut(&out->blob->shown, v->points);
        v->on_way += c == WEB_POINTS;
    }
    const bool goes_on = c != WEB_ALIVE || !h->closing;
    pthread_mutex_unlock(&h->lock);
    return goes_on;
}

void hub_sent(hub *h, hub_blob *blob)
{
    pthread_mutex_lock(&h->lock);
    let_go(h, blob);
    pthread_mutex_unlock(&h->lock);
}

void hub_seen(hub *h, uint32_t client, int64_t points)
{
    pthread_mutex_lock(&h->lock);
    for (int k = 0; k < WEB_MOST_VIEWERS; k++) {
        hub_viewer *v = &h->viewer[k];
        if (v->used && v->client == client) {
            v->on_way -= v->on_way > 0;
            v->points = points > 0 ? points : v->points;
        }
    }
    pthread_cond_broadcast(&h->news);
    pthread_cond_signal(&h->call);
    pthread_mutex_unlock(&h->lock);
}

bool hub_put_command(hub *h, json_t *command)
{
    pthread_mutex_lock(&h->lock);
    const bool room = h->commands < HUB_MOST_COMMANDS && !h->closing;
    if (room) {
        h->command[(h->first + h->commands++) % HUB_MOST_COMMANDS] = command;
        pthread_cond_signal(&h->call);
    }
    pthread_mutex_unlock(&h->lock);
    return room;
}

json_t *hub_take_command(hub *h)
{
    json_t *command = NULL;
    pthread_mutex_lock(&h->lock);
    if (h->commands > 0) {
        command = h->command[h->first];
        h->first = (h->first + 1) % HUB_MOST_COMMANDS;
        h->commands--;
    }
    pthread_mutex_unlock(&h->lock);
    return command;
}
