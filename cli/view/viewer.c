/* SPDX-License-Identifier: BSD-3-Clause */
#include "viewer.h"

#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const colours[] = {
    [WEB_PLAIN] = "plain", [WEB_SPEED] = "speed", [WEB_HEADING] = "heading", [WEB_GROUP] = "group"};

/** Return true when an ssh tunnel to 127.0.0.1 reaches a server at this host. */
static bool is_usual(const char *host)
{
    static const char *const usual[] = {"127.0.0.1", "0.0.0.0", "[::]", "localhost"};
    bool found = false;
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
        found = found || strcmp(host, usual[k]) == 0;
    }
    return found;
}

static void print_address(const options *o, const web_server *server)
{
    char host[64] = "HOST";
    (void)gethostname(host, sizeof host - 1);
    const int port = web_port(server);
    if (o->json) {
        (void)report_json_line(json_pack("{s:o}", "view", report_json_text(web_address(server))));
    } else {
        const style *look = report_style();
        printf("view       %s%s%s\n", look->bold, web_address(server), look->end);
        const char *at = web_host(server);
        const bool usual = is_usual(at);
        printf("           from elsewhere: ssh -N -L %d:%s:%d %s, then this address%s\n", port,
               usual ? "127.0.0.1" : at, port, host, usual ? "" : " at localhost");
    }
    fflush(stdout);
}

int viewer_open(const options *o, web_server **out)
{
    char error[512];
    const web_options how = {.address = o->address, .port = o->port};
    if (!web_open(&how, out, error, sizeof error)) {
        return report_error(web_is_built() ? STATUS_OUTPUT : STATUS_NO_BACKEND, NULL, "%s", error);
    }
    if (web_is_open(*out)) {
        (void)report_error(STATUS_OK, NULL,
                           "warning: other machines can reach %s, and what is sent is not "
                           "encrypted; anyone who reads the address can watch and steer",
                           o->address);
    }
    print_address(o, *out);
    return STATUS_OK;
}

int64_t viewer_points(web_server *server, int64_t n)
{
    const int64_t wanted = web_points_wanted(server);
    const int64_t most = wanted > 0 && wanted < VIEWER_MOST_POINTS ? wanted : VIEWER_MOST_POINTS;
    return n < most ? n : most;
}

const char *viewer_colour_name(web_colour colour)
{
    return colours[colour];
}

bool viewer_colour_find(const char *name, web_colour *out)
{
    for (int k = WEB_PLAIN; name && k <= WEB_GROUP; k++) {
        if (strcmp(name, colours[k]) == 0) {
            *out = (web_colour)k;
            return true;
        }
    }
    return false;
}

json_t *viewer_colours(bool velocities, bool groups, const char *group_name)
{
    json_t *list = json_array();
    for (int k = WEB_PLAIN; k <= WEB_GROUP; k++) {
        if (k == WEB_PLAIN || (k == WEB_GROUP ? groups : velocities)) {
            json_array_append_new(list, json_pack("{s:s, s:s}", "name", colours[k], "label",
                                                  k == WEB_GROUP   ? group_name
                                                  : k == WEB_PLAIN ? "density"
                                                                   : colours[k]));
        }
    }
    return list;
}

void viewer_speed_range(const web_scene *scene, const web_choice *choice, double range[2])
{
    enum { MOST = 10000 };
    double sum = 0, squares = 0;
    const int64_t chosen = choice ? choice->n : scene->n;
    const int64_t n = chosen < MOST ? chosen : MOST;
    for (int64_t k = 0; k < n; k++) {
        double square = 0;
        for (int e = 0; e < 3; e++) {
            const int64_t at = 3 * (choice ? choice->index[k] : k) + e;
            const double v = io_real(scene->velocities, at, scene->precision);
            square += v * v;
        }
        sum += sqrt(square);
        squares += square;
    }
    const double mean = n > 0 ? sum / (double)n : 0;
    const double variance = n > 0 ? squares / (double)n - mean * mean : 0;
    range[0] = 0;
    range[1] = mean + 2 * sqrt(variance > 0 ? variance : 0);
    range[1] = range[1] > 0 && isfinite(range[1]) ? range[1] : 1;
}
