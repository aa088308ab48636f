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

void web_close(web_server *server)
{
    (void)server;
}
