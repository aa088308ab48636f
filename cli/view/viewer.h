/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What verbs with a live view share.
 */
#ifndef KITH_CLI_VIEWER_H
#define KITH_CLI_VIEWER_H

#include "common/options.h"
#include "web.h"

enum { VIEWER_MOST_POINTS = 4000000 };

/** Serve the live view as the options say, and print its address.
 *  @return exit status, reported */
int viewer_open(const options *o, web_server **out);

/** How many of n points to send: what viewers ask for, up to VIEWER_MOST_POINTS. */
int64_t viewer_points(web_server *server, int64_t n);

/** Name of a colour on the page. */
const char *viewer_colour_name(web_colour colour);

/** Find a colour by its name. @return false: no colour has this name */
bool viewer_colour_find(const char *name, web_colour *out);

/** Names of the colours that particles with these properties can have. */
json_t *viewer_colours(bool velocities, bool groups, const char *group_name);

/** Range of speeds for colours: 0 to the mean plus two standard deviations.
 *  @param choice  particles of the scene that are sent; NULL: the scene holds these alone */
void viewer_speed_range(const web_scene *scene, const web_choice *choice, double range[2]);

#endif
