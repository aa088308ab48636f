/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What verbs with a live view share.
 */
#ifndef KITH_CLI_VIEWER_H
#define KITH_CLI_VIEWER_H

#include "common/options.h"
#include "web.h"

enum { VIEWER_MOST_POINTS = 4000000 };

/** Serve the live view as the options say, and print its address. @return an exit status,
 *  reported. */
int viewer_open(const options *o, web_server **out);

/** How many of n points to choose for those who view. */
int64_t viewer_points(web_server *server, int64_t n);

/** Names of colours, as the page says them. */
const char *viewer_colour_name(web_colour colour);

/** Find a colour by its name. */
bool viewer_colour_find(const char *name, web_colour *out);

/** The colours of particles that have these. */
json_t *viewer_colours(bool velocities, bool groups, const char *group_name);

/** The mean speed of particles, and beside it twice the standard deviation, as a range of colours
 *  from 0. @param choice  NULL where the scene holds those chosen */
void viewer_speed_range(const web_scene *scene, const web_choice *choice, double range[2]);

#endif
