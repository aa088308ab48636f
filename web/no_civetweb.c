/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stubs of the live view for a build without civetweb: web_open fails. Functions of the hub
 * (hub.c) need no stubs.
 */
#include "web.h"

#include <stdio.h>

bool web_is_built(void)
{
    return false;
}

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

const char *web_host(const web_server *server)
{
    (void)server;
    return "";
}

bool web_is_open(const web_server *server)
{
    (void)server;
    return false;
}

void web_close(web_server *server)
{
    (void)server;
}
