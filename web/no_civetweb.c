/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The live view in a build without civetweb: it says so. No server is ever open.
 */
#include "web.h"

#include <stdio.h>

bool web_open(const web_options *options, web_server **out, char *error, size_t room)
{
    (void)options;
    *out = NULL;
    snprintf(error, room,
             "this kith was built without the live view; install civetweb "
             "(Debian: apt-get install libcivetweb-dev) and build again");
    return false;
}

const char *web_address(const web_server *server)
{
    (void)server;
    return "";
}

int web_port(const web_server *server)
{
    (void)server;
    return 0;
}

bool web_is_open(const web_server *server)
{
    (void)server;
    return false;
}

web_blob *web_blob_new(web_server *server, web_channel channel, size_t size)
{
    (void)server, (void)channel, (void)size;
    return NULL;
}

void web_publish(web_server *server, web_channel channel, web_blob *blob)
{
    (void)server, (void)channel, (void)blob;
}

void web_publish_json(web_server *server, web_channel channel, json_t *value)
{
    (void)server, (void)channel;
    json_decref(value);
}

bool web_wants_points(web_server *server)
{
    (void)server;
    return false;
}

int64_t web_points_wanted(web_server *server)
{
    (void)server;
    return 0;
}

int web_viewers(web_server *server)
{
    (void)server;
    return 0;
}

json_t *web_next_command(web_server *server)
{
    (void)server;
    return NULL;
}

void web_wait(web_server *server, bool points, double seconds)
{
    (void)server, (void)points, (void)seconds;
}

void web_close(web_server *server)
{
    (void)server;
}
