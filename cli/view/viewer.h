/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What verbs with a live view share. The page in the browser and its messages are those of
 * web/web.h. A colour here is a web_colour, the meaning of the colours of points.
 */
#ifndef KITH_CLI_VIEWER_H
#define KITH_CLI_VIEWER_H

#include "common/options.h"
#include "web.h"

enum { VIEWER_MOST_POINTS = 4000000 }; /* points of a message: 64 MB at 16 bytes each */

/** Serve the live view as the options say, and print its address.
 *  @return exit status, reported */
int viewer_open(const options *o, web_server **out);

/** Return how many of n points to send: the most that a viewer asks for, up to VIEWER_MOST_POINTS,
 *  which is also used without viewers. */
int64_t viewer_points(web_server *server, int64_t n);

/** Return the name of a colour in messages and commands, for example "speed". */
const char *viewer_colour_name(web_colour colour);

/** Return the colours that particles have at least: bits 1 << web_colour.
 *  @param velocities  velocities are known: WEB_SPEED, WEB_HEADING
 *  @param groups      groups are known: WEB_GROUP */
unsigned viewer_colours_of(bool velocities, bool groups);

/** Find a colour by its name.
 *  @param among  the colours that particles have: bits 1 << web_colour
 *  @return false: none of these colours has this name */
bool viewer_colour_find(const char *name, unsigned among, web_colour *out);

/** Return a list of colours for the page: [{name, label}], of which the label is shown.
 *  @param among       bits 1 << web_colour
 *  @param group_name  label of WEB_GROUP */
json_t *viewer_colours(unsigned among, const char *group_name);

/** Choose the range of speeds for colours: all but the slowest and the fastest fiftieth of a
 *  sample, and never so narrow that rounding errors of equal speeds have different colours.
 *  @param choice      particles of the scene that are sent; NULL: the scene holds these alone
 *  @param[out] range  speeds of the first and the last colour */
void viewer_speed_range(const web_scene *scene, const web_choice *choice, double range[2]);

/** Find a kind of obstacles and attractors by its name. @return false when no kind has this name */
bool viewer_thing_find(const char *name, kith_flock_kind *out);

/** Return n obstacles and attractors as a list for the page. @param things  [n] */
json_t *viewer_things(const kith_flock_thing *things, int64_t n);

/** Return the values of a particle for the page, the message WEB_PARTICLE.
 *  @param point  its index among the points that are sent
 *  @param at     its index in the arrays of the scene
 *  @param index  its index in the run or the file */
json_t *viewer_particle(const web_scene *scene, int64_t point, int64_t at, int64_t index);

/** Lasting colours of groups, from 1: labels are in the order of size, and change when a group
 *  grows larger than another. Zero it first; viewer_tags_free frees it. */
typedef struct viewer_tags {
    int32_t *tag; /**< colour of each particle [n]; 0: in no group */
    int64_t n;    /**< number of particles */
    int64_t room; /**< number of elements that tag has room for */
    int32_t *of;  /**< colour of each label, from 1 to the largest; of[0] is 0 */
    int32_t next; /**< the colour to try first for a new group, minus 1 */
} viewer_tags;

/** Give each group the colour that most of its particles had before, if no larger group has it;
 *  else a new one. At first colours are the labels. Particles keep their index between calls; those
 *  beyond the former n had no colour. Cost: O(n).
 *  @param labels  [n] groups of the particles, 1 is the largest, 0: none
 *  @return false without memory; the colours are unchanged */
bool viewer_tags_follow(viewer_tags *tags, const int32_t *labels, int64_t n);

/** Free the arrays, and zero the struct. */
void viewer_tags_free(viewer_tags *tags);

#endif
