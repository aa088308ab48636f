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

/** Colours that particles with these properties have at least: bits 1 << web_colour. */
unsigned viewer_colours_of(bool velocities, bool groups);

/** Find a colour by its name.
 *  @param among  the colours that particles have: bits 1 << web_colour
 *  @return false: none of these colours has this name */
bool viewer_colour_find(const char *name, unsigned among, web_colour *out);

/** Names of colours, for the page. @param among  bits 1 << web_colour */
json_t *viewer_colours(unsigned among, const char *group_name);

/** Range of speeds for colours: all but the slowest and the fastest fiftieth, and never so narrow
 *  that rounding has colours.
 *  @param choice  particles of the scene that are sent; NULL: the scene holds these alone */
void viewer_speed_range(const web_scene *scene, const web_choice *choice, double range[2]);

/** Find a kind of obstacles and attractors by its name. @return false: none has this name */
bool viewer_thing_find(const char *name, kith_flock_kind *out);

/** Obstacles and attractors, for the page. @param things  [n] */
json_t *viewer_things(const kith_flock_thing *things, int64_t n);

/** Values of a particle, for the page.
 *  @param point  its index among the points that are sent
 *  @param at     its index in the arrays of the scene
 *  @param index  its index in the run or the file */
json_t *viewer_particle(const web_scene *scene, int64_t point, int64_t at, int64_t index);

/** Colours of groups that last: labels are by size, and change when a group grows past another. */
typedef struct viewer_tags {
    int32_t *tag; /**< colour of each particle [n]; 0: in no group */
    int64_t n;    /**< number of particles */
    int64_t room; /**< number of elements that tag has room for */
    int32_t *of;  /**< colour of each label, from 1 to the largest; of[0] is 0 */
    int32_t next; /**< the colour to try first for a new group, less 1 */
} viewer_tags;

/** Give each group the colour that most of its particles had before, if no larger group has it;
 *  else a new one. At first colours are the labels. Particles keep their index between calls; those
 *  beyond the former n had no colour. Cost: O(n).
 *  @param labels  [n] groups of the particles, 1 is the largest, 0: none
 *  @return false: memory is exhausted, and the colours are as before */
bool viewer_tags_follow(viewer_tags *tags, const int32_t *labels, int64_t n);
void viewer_tags_free(viewer_tags *tags);

#endif
