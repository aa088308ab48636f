/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that verbs with a live view share: its address, colours, and JSON of things and
 * particles.
 */
#include "viewer.h"

#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Names of colours in messages and commands of the page. */
static const char *const colours[] = {
    [WEB_PLAIN] = "plain", [WEB_SPEED] = "speed", [WEB_HEADING] = "heading",
    [WEB_GROUP] = "group", [WEB_MASS] = "mass",   [WEB_SPECIES] = "species"};

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

/** Print the address of the page, and the ssh command that forwards its port to another machine. */
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

unsigned viewer_colours_of(bool velocities, bool groups)
{
    return 1U << WEB_PLAIN | (velocities ? 1U << WEB_SPEED | 1U << WEB_HEADING : 0) |
           (groups ? 1U << WEB_GROUP : 0);
}

bool viewer_colour_find(const char *name, unsigned among, web_colour *out)
{
    for (int k = 0; name && k < WEB_COLOURS; k++) {
        if (among >> k & 1 && strcmp(name, colours[k]) == 0) {
            *out = (web_colour)k;
            return true;
        }
    }
    return false;
}

json_t *viewer_colours(unsigned among, const char *group_name)
{
    json_t *list = json_array();
    for (int k = 0; k < WEB_COLOURS; k++) {
        if (among >> k & 1) {
            json_array_append_new(list, json_pack("{s:s, s:s}", "name", colours[k], "label",
                                                  k == WEB_GROUP   ? group_name
                                                  : k == WEB_PLAIN ? "density"
                                                                   : colours[k]));
        }
    }
    return list;
}

/** Names of the kinds of things in messages and commands of the page. */
static const char *const thing_kinds[] = {[KITH_POINT] = "point",
                                          [KITH_SPHERE] = "sphere",
                                          [KITH_WALL] = "wall",
                                          [KITH_PREDATOR] = "predator"};

bool viewer_thing_find(const char *name, kith_flock_kind *out)
{
    for (int k = KITH_POINT; name && k <= KITH_PREDATOR; k++) {
        if (strcmp(name, thing_kinds[k]) == 0) {
            *out = (kith_flock_kind)k;
            return true;
        }
    }
    return false;
}

json_t *viewer_things(const kith_flock_thing *things, int64_t n)
{
    json_t *list = json_array();
    for (const kith_flock_thing *t = things; t < things + n; t++) {
        json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", thing_kinds[t->kind], "place",
                      report_json_reals(t->place, 3), "normal", report_json_reals(t->normal, 3),
                      "radius", report_json_real(t->radius), "speed", report_json_real(t->speed),
                      "weight", report_json_real(t->weight), "reach", report_json_real(t->reach)));
    }
    return list;
}

/** Return the speed of particle p. */
static double speed_of(const web_scene *scene, int64_t p)
{
    double square = 0;
    for (int e = 0; e < 3; e++) {
        const double v = io_real(scene->velocities, 3 * p + e, scene->precision);
        square += v * v;
    }
    return sqrt(square);
}

/** Order of doubles, for qsort. */
static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void viewer_speed_range(const web_scene *scene, const web_choice *choice, double range[2])
{
    enum {
        MOST = 2000, /* particles of which speeds are sampled */
        RARE = 50    /* 1 in 50 speeds may lie below the range, and above it */
    };
    static const double narrowest = 0.02; /* least width of the range, as part of its upper end */
    double speed[MOST];
    const int64_t chosen = choice ? choice->n : scene->n;
    int64_t n = 0;
    for (int64_t k = 0; k < chosen && n < MOST; k++) {
        const double v = speed_of(scene, choice ? choice->index[k] : k);
        if (isfinite(v)) {
            speed[n++] = v;
        }
    }
    qsort(speed, (size_t)n, sizeof *speed, compare);
    range[0] = n > 0 ? speed[n / RARE] : 0;
    range[1] = n > 0 ? speed[n - 1 - n / RARE] : 0;
    const double least = range[1] > 0 ? narrowest * range[1] : 1;
    if (range[1] - range[0] < least) {
        const double middle = (range[0] + range[1]) / 2;
        range[0] = fmax(middle - least / 2, 0);
        range[1] = range[0] + least;
    }
}

json_t *viewer_particle(const web_scene *scene, int64_t point, int64_t at, int64_t index)
{
    double r[3], v[3];
    for (int e = 0; e < 3; e++) {
        r[e] = io_real(scene->positions, 3 * at + e, scene->precision);
        v[e] = scene->velocities ? io_real(scene->velocities, 3 * at + e, scene->precision) : 0;
    }
    json_t *one = json_pack("{s:I, s:I, s:o, s:o}", "point", (json_int_t)point, "index",
                            (json_int_t)index, "step", report_json_real(scene->step), "position",
                            report_json_reals(r, scene->box.dim));
    if (scene->velocities) {
        json_object_set_new(one, "velocity", report_json_reals(v, scene->box.dim));
        json_object_set_new(one, "speed", report_json_real(speed_of(scene, at)));
    }
    return one;
}
