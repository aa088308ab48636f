/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Colours by mass and by species in the live view: types of snapshots, species or elements of
 * trajectories. A species keeps its number, and so its colour, from frame to frame.
 */
#include "view.h"

#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHADES = 65535 }; /* largest shade; it has the last colour of the palette */

/** Return true when the particles of the frame have masses. */
static bool has_masses(const view_run *run)
{
    return run->shot && (run->weighed ? run->shot->weight != NULL : run->now->mass != NULL);
}

double view_mass(const view_run *run, int64_t p)
{
    return run->weighed ? run->shot->weight[p] : io_real(run->now->mass, p, run->now->precision);
}

/** Find the range of masses, for view_kinds.mass; masses of 0 and less are skipped. */
static void weigh(view_run *run, double range[2])
{
    double least = INFINITY, most = 0;
    for (int64_t p = 0; p < run->now->n && has_masses(run); p++) {
        const double m = view_mass(run, p);
        if (m > 0 && isfinite(m)) {
            least = fmin(least, m);
            most = fmax(most, m);
        }
    }
    range[0] = most > 0 ? least : 0;
    range[1] = most;
}

int view_survey(view_run *run)
{
    const io_frame *shot = run->shot;
    view_kinds *kinds = &run->kinds;
    free(kinds->count);
    free(kinds->shade);
    *kinds = (view_kinds){.count = calloc((size_t)shot->n_names + 1, sizeof *kinds->count),
                          .shade = calloc((size_t)run->now->n + 1, sizeof *kinds->shade)};
    if (!kinds->count || !kinds->shade) {
        snprintf(run->message, sizeof run->message, "no memory for colours");
        return STATUS_NO_MEMORY;
    }
    weigh(run, kinds->mass);
    for (int64_t p = 0; p < run->now->n; p++) {
        kinds->used += kinds->count[shot->species[p]]++ == 0;
    }
    return STATUS_OK;
}

unsigned view_colours(const view_run *run)
{
    const view_kinds *kinds = &run->kinds;
    if (!run->now) {
        return viewer_colours_of(false, false);
    }
    return viewer_colours_of(run->now->velocity, run->groups.labels) |
           (kinds->mass[1] > kinds->mass[0] ? 1U << WEB_MASS : 0) |
           (kinds->used > 1 ? 1U << WEB_SPECIES : 0);
}

void view_shade(view_run *run)
{
    const double *range = run->kinds.mass;
    const double first = log(range[0]), unit = 1 / (log(range[1]) - first);
    for (int64_t p = 0; p < run->now->n; p++) {
        if (run->colour == WEB_SPECIES) {
            run->kinds.shade[p] = (uint16_t)(run->shot->species[p] + 1);
        } else {
            const double m = view_mass(run, p), t = m > range[0] ? (log(m) - first) * unit : 0;
            run->kinds.shade[p] = (uint16_t)(SHADES * fmin(t, 1));
        }
    }
}

/** Return the species with the most particles, and the number of particles of others. Each step
 *  selects the largest species after the last one, in the order by count, then by number. */
static json_t *species_json(const view_run *run)
{
    enum { MOST = 24 };
    const view_kinds *kinds = &run->kinds;
    json_t *list = json_array();
    int64_t left = run->now->n;
    int64_t above = INT64_MAX; /* particles of the species listed last */
    int last = -1;             /* number of the species listed last */
    for (int listed = 0; listed < MOST && left > 0; listed++) {
        int best = -1;
        for (int k = 0; k < run->shot->n_names; k++) {
            const int64_t n = kinds->count[k];
            const bool next = n < above || (n == above && k > last);
            best = n > 0 && next && (best < 0 || n > kinds->count[best]) ? k : best;
        }
        const char *name = run->shot->names[best];
        above = kinds->count[best];
        last = best;
        left -= above;
        json_array_append_new(list, json_pack("{s:o, s:i, s:I}", "name",
                                              report_json_text(*name ? name : "unnamed"), "colour",
                                              best + 1, "n", (json_int_t)above));
    }
    return json_pack("{s:o, s:I}", "species", list, "others", (json_int_t)left);
}

json_t *view_legend_json(const view_run *run)
{
    io_unit_name unit;
    if (run->now && run->colour == WEB_SPECIES) {
        return species_json(run);
    }
    if (!run->now || run->colour != WEB_MASS) {
        return json_null();
    }
    io_unit_names(&run->now->units, &unit);
    return json_pack("{s:o, s:o}", "range", report_json_reals(run->kinds.mass, 2), "unit",
                     report_json_text(unit.mass));
}
