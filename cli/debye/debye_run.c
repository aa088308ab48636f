/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The frames of `kith debye`: elements, and distances of pairs.
 *
 * A cluster's distances are counted in a periodic box twice as wide. There the nearest image of a
 * particle is the particle itself, so that a count of nearest images takes each pair once, at its
 * true distance.
 */
#include "common/bin_edges.h"
#include "common/box.h"
#include "debye.h"
#include "common/engine.h"
#include "common/lanes.h"
#include "common/length_unit.h"
#include "common/name_order.h"
#include "common/progress.h"
#include "common/report.h"

#include <kith/debye.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BINS = 1 << 20,    /* of a histogram */
    LEAST_BINS = 10000,     /* of a histogram, unless --r-width is given */
    MOST_COUNTERS = 1 << 24 /* bins times partials */
};

/* Change of q_max r across one bin [radians], which limits the error of the histogram. It is larger
 * with a wide --r-width, or where it would need too many bins. */
static const double phase_in_bin = 0.005;

bool debye_next_element(const char **at, debye_renaming *out)
{
    static const char *const blanks = " \t";
    out->name = *at + strspn(*at, blanks);
    const size_t word = strcspn(out->name, ","), name = strcspn(out->name, "=,");
    const char *end = out->name + word;
    out->element = out->name + name + (name < word);
    out->element += strspn(out->element, blanks);
    for (out->length = name; out->length > 0 && strchr(blanks, out->name[out->length - 1]);) {
        out->length--;
    }
    *at = end + (*end == ',');
    while (end > out->element && strchr(blanks, end[-1])) {
        end--;
    }
    out->element_length = end > out->element ? (size_t)(end - out->element) : 0;
    return name < word && out->element_length > 0;
}

/** Return true when a renaming is of this species. */
static bool is_of(const debye_renaming *renaming, const char *name)
{
    return strlen(name) == renaming->length && memcmp(renaming->name, name, renaming->length) == 0;
}

/** Copy the name of the element of a species: the name that --elements gives it, else its own. */
static void rename_species(const debye_task *task, const char *name, char out[IO_NAME_LENGTH])
{
    debye_renaming renaming;
    snprintf(out, IO_NAME_LENGTH, "%s", name);
    for (const char *at = task->elements; at && *at && debye_next_element(&at, &renaming);) {
        if (is_of(&renaming, name)) {
            snprintf(out, IO_NAME_LENGTH, "%.*s", (int)renaming.element_length, renaming.element);
        }
    }
}

/** Fail where --elements names a species that the first frame lacks. @return exit status,
 *  reported */
static int check_elements(const debye_task *task, const io_frame *frame)
{
    debye_renaming renaming;
    for (const char *at = task->elements; at && *at && debye_next_element(&at, &renaming);) {
        char names[256] = "";
        size_t used = 0;
        bool found = false;
        for (int k = 0; k < frame->n_names && !found; k++) {
            found = is_of(&renaming, frame->names[k]);
            used += used < sizeof names
                        ? (size_t)snprintf(names + used, sizeof names - used, "%s%s", k ? ", " : "",
                                           *frame->names[k] ? frame->names[k] : "unnamed")
                        : 0;
        }
        if (!found) {
            return report_error(STATUS_INVALID, "--by element, type or name says which is meant",
                                "%s: --elements: no particle is '%.*s'; there are: %s", task->input,
                                (int)renaming.length, renaming.name, names);
        }
    }
    return STATUS_OK;
}

/** Append an element to found->element. @return exit status, reported */
static int add_element(const debye_task *task, debye_outcome *found, const char *name)
{
    if (found->n_elements == DEBYE_MOST_ELEMENTS) {
        return report_error(STATUS_LIMIT, NULL, "%s: more than %d elements", task->input,
                            DEBYE_MOST_ELEMENTS);
    }
    if (!*name) {
        return report_error(STATUS_INVALID, "--elements =O takes all as oxygen",
                            "%s: the particles have no names", task->input);
    }
    if (!scatterer_find(name, task->neutron, &found->scatterer[found->n_elements])) {
        char hint[2 * IO_NAME_LENGTH + 80];
        snprintf(hint, sizeof hint,
                 "--elements %s=Fe says that it is iron, say; see also --by element", name);
        return report_error(STATUS_INVALID, hint, "%s: no %s is known for '%s'", task->input,
                            task->neutron ? "neutron scattering length" : "X-ray form factor",
                            name);
    }
    snprintf(found->element[found->n_elements++], IO_NAME_LENGTH, "%s", name);
    return STATUS_OK;
}

/** Find the element of each particle, and count the atoms of each element in found->members. The
 *  first frame's elements are added in the order of name_order.h; later frames may have no others.
 *  @param[out] element  [particles] index of the element, -1 for virtual sites
 *  @return exit status, reported */
static int find_elements(const debye_task *task, debye_outcome *found, const io_frame *frame,
                         int32_t *element)
{
    const size_t names = (size_t)frame->n_names;
    int *of_name = malloc((2 * names + 1) * sizeof *of_name), *order = of_name + names;
    if (!of_name) {
        return report_no_memory("elements");
    }
    int status = STATUS_OK;
    name_order(frame->n_names, (const char(*)[IO_NAME_LENGTH])frame->names, NULL, NULL, false,
               order);
    for (int which = 0; which < frame->n_names && status == STATUS_OK; which++) {
        const int k = order[which];
        char name[IO_NAME_LENGTH];
        rename_species(task, frame->names[k], name);
        if (strcmp(name, IO_VIRTUAL_SITE) == 0) {
            of_name[k] = -1;
            continue;
        }
        int at = 0;
        while (at < found->n_elements && strcmp(found->element[at], name) != 0) {
            at++;
        }
        of_name[k] = at;
        if (at == found->n_elements && found->frames > 0) {
            status = report_error(STATUS_FORMAT, NULL,
                                  "%s: frame %lld has particles of '%s', which the first lacks",
                                  task->input, (long long)frame->index, name);
        } else if (at == found->n_elements) {
            status = add_element(task, found, name);
        }
    }
    for (int64_t p = 0; p < frame->particles.n && status == STATUS_OK; p++) {
        element[p] = of_name[frame->species[p]];
        if (element[p] >= 0) {
            found->members[element[p]]++;
        }
    }
    free(of_name);
    return status;
}

/** Fail if a coordinate is not finite. Atoms are packed later, and so have other indices. */
static int check_finite(const debye_task *task, const io_frame *frame)
{
    const io_particles *p = &frame->particles;
    for (int64_t k = 0; k < 3 * p->n; k++) {
        if (!isfinite(io_real(p->pos, k, p->precision))) {
            return report_error(STATUS_NOT_FINITE, NULL,
                                "%s: frame %lld: a coordinate of particle %lld (counted from 0) is "
                                "not finite",
                                task->input, (long long)frame->index, (long long)(k / 3));
        }
    }
    return STATUS_OK;
}

/** Make a periodic cube around a cluster, wider than twice its widest side.
 *  @param[out] reach  the diagonal of the cluster's bounding box
 *  @return exit status, reported: the cube's volume must be a double */
static int enclose(const debye_task *task, const io_frame *frame, kith_box *out, double *reach)
{
    const io_particles *p = &frame->particles;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t k = 0; k < 3 * p->n; k++) {
        const double x = io_real(p->pos, k, p->precision);
        low[k % 3] = fmin(low[k % 3], x);
        high[k % 3] = fmax(high[k % 3], x);
    }
    double widest = 0, diagonal = 0;
    for (int k = 0; k < 3 && p->n > 0; k++) {
        widest = fmax(widest, high[k] - low[k]);
        diagonal += (high[k] - low[k]) * (high[k] - low[k]);
    }
    const double side = fmax(2.001 * widest, 1); /* 1: holds the least reach of choose_space() */
    *out = kith_box_periodic(side, side, side);
    for (int k = 0; k < 3 && p->n > 0; k++) {
        out->origin[k] = low[k] / 2 + high[k] / 2 - side / 2;
    }
    *reach = sqrt(diagonal);
    if (!isfinite(side * side * side)) {
        return report_error(STATUS_LIMIT, NULL,
                            "%s: frame %lld: the particles are too far apart: the volume of a box "
                            "around them exceeds the range of double",
                            task->input, (long long)frame->index);
    }
    return STATUS_OK;
}

/** Choose the bins of a histogram up to found->reach: the longest distance in a cluster, or r_max
 *  of a box. In a box with --r-width, the last bin may be narrower; found->edges has the edges.
 *  @param[out] how  its bins and r_max are set
 *  @return exit status, reported */
static int choose_bins(const debye_task *task, debye_outcome *found, kith_rdf_options *how)
{
    const double usual = phase_in_bin / (task->q_max * found->angstrom), reach = found->reach;
    const double width = task->r_width > 0 ? task->r_width : usual;
    const int partials = found->n_elements * (found->n_elements + 1) / 2;
    const double most = fmin(MOST_BINS, floor((double)MOST_COUNTERS / partials));
    double bins = bin_edges_count(0, reach, width);
    if (task->r_width > 0 && bins > most) {
        return report_error(STATUS_LIMIT, NULL, "%s: %.15g bins of %s, more than %.15g",
                            task->input, bins, report_real(width).s, most);
    }
    bins = task->r_width > 0 ? bins : fmin(fmax(bins, LEAST_BINS), most);
    how->bins = (int64_t)bins;
    how->r_max = task->r_width > 0 && found->open ? bins * width : reach;
    if (task->r_width > 0 && !found->open) {
        found->edges = malloc(((size_t)how->bins + 1) * sizeof *found->edges);
        if (!found->edges) {
            return report_no_memory("bins");
        }
        (void)bin_edges_fill(0, reach, width, how->bins, found->edges);
    }
    return STATUS_OK;
}

/** Find the largest distance of pairs that are counted in a box: --r-max, else half the least
 *  height of the box, below which a pair has one image. @return exit status, reported */
static int find_reach(const debye_task *task, const io_frame *frame, const kith_box *box,
                      double *reach)
{
    const double half = box_half_height(box);
    *reach = task->r_max > 0 ? task->r_max : half;
    if (task->r_max > half * (1 + 1e-6)) {
        return report_error(
            STATUS_INVALID, NULL, "%s: frame %lld: r_max is %s, beyond half the box, %s",
            task->input, (long long)frame->index, report_real(task->r_max).s, report_real(half).s);
    }
    return STATUS_OK;
}

/** Find out from the periodic axes if a frame is a box or a cluster. All frames must be of the kind
 *  of the first one, which sets found->open.
 *  @param[out] box    box in which pairs are counted; around a cluster, that of enclose()
 *  @param[out] reach  largest distance of pairs [length]
 *  @return exit status, reported */
static int choose_space(const debye_task *task, debye_outcome *found, const io_frame *frame,
                        kith_box *box, double *reach)
{
    space here;
    CLI_TRY(space_choose(&task->shared, task->input, &frame->particles, &here));
    const int periodic = here.box.periodic[0] + here.box.periodic[1] + here.box.periodic[2];
    if (here.box.dim != 3) {
        return report_error(STATUS_INVALID, NULL,
                            "%s: frame %lld is in 2-D; scattering needs three dimensions",
                            task->input, (long long)frame->index);
    }
    if (periodic % 3 != 0) {
        return report_error(STATUS_INVALID, "--periodic none makes it a cluster",
                            "%s: frame %lld is neither periodic along x, y and z nor open",
                            task->input, (long long)frame->index);
    }
    if (!found->begun) {
        found->space = here;
        found->open = periodic == 0;
        found->begun = true;
    }
    if (found->open != (periodic == 0)) {
        return report_error(STATUS_FORMAT, NULL, "%s: frame %lld %s a box, unlike the first",
                            task->input, (long long)frame->index, periodic ? "has" : "has not");
    }
    if (found->open && (task->r_max > 0 || task->has_window)) {
        return report_error(STATUS_INVALID, "leave it out, or give a --box",
                            "%s: %s limits the pairs of a box, but this is a cluster, all of whose "
                            "pairs are counted",
                            task->input, task->r_max > 0 ? "--r-max" : "--window");
    }
    CLI_TRY(check_finite(task, frame));
    if (!found->open) {
        *box = here.box;
        return find_reach(task, frame, box, reach);
    }
    /* Raised, so that rounding leaves no distance above it, and the range of bins is not empty. */
    CLI_TRY(enclose(task, frame, box, reach));
    *reach = fmax(*reach, 1e-3) * (1 + 1e-6);
    return STATUS_OK;
}

/** Update found->reach by a frame: the largest reach of the clusters, or the smallest of the boxes.
 *  The result does not depend on the order of the frames. */
static void add_reach(debye_outcome *found, double reach)
{
    const bool first = !(found->reach > 0);
    found->reach = first         ? reach
                   : found->open ? fmax(found->reach, reach)
                                 : fmin(found->reach, reach);
}

/** Set found->angstrom, the unit of length in Angstrom, as q is in 1/Angstrom. The unit is that of
 *  --unit, else that of the file, else Angstrom. Later frames must have the first frame's unit.
 *  @return exit status, reported */
static int find_unit(const debye_task *task, debye_outcome *found, const io_frame *frame)
{
    if (found->frames > 0) {
        return length_unit_same(task->input, frame, found->unit);
    }
    CLI_TRY(length_unit_check(task->input, frame, task->unit));
    memcpy(found->unit, frame->unit, sizeof found->unit);
    const char *unit = task->unit ? task->unit : *frame->unit ? frame->unit : "A";
    found->angstrom = length_unit_angstrom(unit);
    return found->angstrom > 0
               ? STATUS_OK
               : report_error(STATUS_INVALID, "--unit A or nm says what to take them as",
                              "%s: lengths are in %s, and q is in 1/A", task->input, unit);
}

/** Refuse a frame that is empty, or not of the size of the first one, or a box with --exact. */
static int check_frame(const debye_task *task, const debye_outcome *found, const io_frame *frame)
{
    const int64_t n = frame->particles.n;
    if (n == 0) {
        return report_error(STATUS_INVALID, NULL, "%s: frame %lld has no particles", task->input,
                            (long long)frame->index);
    }
    if (found->frames > 0 && n != found->particles) {
        return report_error(STATUS_FORMAT, "choose the frames with --frames",
                            "%s: frame %lld has %lld particles, but the first has %lld",
                            task->input, (long long)frame->index, (long long)n,
                            (long long)found->particles);
    }
    if (task->exact && !found->open) {
        return report_error(STATUS_INVALID, "--periodic none makes it a cluster",
                            "%s: --exact sums over the pairs of a cluster, and this is a box",
                            task->input);
    }
    return STATUS_OK;
}

/** State of the callbacks for frames. */
struct work {
    const debye_task *task; /**< options */
    debye_outcome *found;   /**< results */
    progress *bar;          /**< progress bar; counts particles */
};

/** Update found->reach by a frame: the first pass over the trajectory, which reads it whole, as all
 *  frames need one range of bins. */
static int survey_frame(void *user, const io_frame *frame)
{
    const struct work *w = user;
    kith_box box;
    double reach = 0;
    CLI_TRY(choose_space(w->task, w->found, frame, &box, &reach));
    add_reach(w->found, reach);
    return STATUS_OK;
}

/** Compact the particles that have an element, without virtual sites.
 *  @param element   [p->n] elements, compacted in place
 *  @param[out] pos  [p->n][3] of the file's precision: receives the positions
 *  @return the number of particles that have an element */
static int64_t pack_atoms(const io_particles *p, int32_t *element, void *pos)
{
    const size_t row = 3 * (size_t)p->precision;
    int64_t n = 0;
    for (int64_t k = 0; k < p->n; k++) {
        if (element[k] >= 0) {
            memcpy((char *)pos + (size_t)n * row, (const char *)p->pos + (size_t)k * row, row);
            element[n++] = element[k];
        }
    }
    return n;
}

/* The functions of a lanes_calls follow; common/lanes.h says what each does. A record is a
 * debye_frame. */
static bool count_frame(void *user, kith_ctx *ctx, void *record)
{
    const struct work *w = user;
    return debye_frame_count(w->task, w->found, ctx, record);
}

static int report_frame(void *user, void *record)
{
    return debye_frame_report(((const struct work *)user)->task, record);
}

static int add_frame(void *user, void *record)
{
    struct work *w = user;
    const debye_frame *f = record;
    w->bar->items += f->particles;
    return debye_frame_add(w->task, w->found, record);
}

static void free_frame(void *record)
{
    debye_frame_free(record);
}

/** Set how a frame is counted: the first frame chooses the bins, later ones take over its bins.
 *  @return exit status, reported */
static int prepare_bins(const debye_task *task, debye_outcome *found, debye_frame *f)
{
    kith_rdf_options_init(&f->how);
    f->how.n_species = found->n_elements;
    f->how.species = f->element;
    f->how.minimum_image = found->open;
    if (task->exact) {
        return STATUS_OK;
    }
    if (found->frames == 0) {
        CLI_TRY(choose_bins(task, found, &f->how));
    } else {
        f->how.bins = found->histogram.bins;
        f->how.r_max = found->histogram.edges[f->how.bins];
    }
    f->how.edges = found->edges;
    return STATUS_OK;
}

/** Check a frame, and copy its atoms and their elements to a record.
 *  @return exit status, reported */
static int prepare_frame(void *user, const io_frame *frame, bool copy, void *record)
{
    const struct work *w = user;
    const debye_task *task = w->task;
    debye_outcome *found = w->found;
    debye_frame *f = record;
    const io_particles *p = &frame->particles;
    (void)copy; /* atoms are packed in any case */
    double reach = 0;
    CLI_TRY(choose_space(task, found, frame, &f->box, &reach));
    CLI_TRY(check_frame(task, found, frame));
    CLI_TRY(find_unit(task, found, frame));
    if (found->frames == 0) {
        CLI_TRY(check_elements(task, frame));
        add_reach(found, reach);
        input_warn_guessed(task->input, frame);
    }
    free(f->element);
    free(f->pos);
    f->element = malloc((size_t)p->n * sizeof *f->element);
    f->pos = malloc((size_t)p->n * 3 * (size_t)p->precision);
    CLI_TRY(f->element && f->pos ? find_elements(task, found, frame, f->element)
                                 : report_no_memory("elements"));
    if (found->n_elements == 0) {
        return report_error(STATUS_INVALID, NULL, "%s: frame %lld has virtual sites alone",
                            task->input, (long long)frame->index);
    }
    const int64_t n = pack_atoms(p, f->element, f->pos);
    f->points = kith_points_packed(f->pos, n, p->precision);
    f->particles = p->n;
    return prepare_bins(task, found, f);
}

/** Return the bytes that counting one frame needs, which limit the number of records. */
static int64_t memory_of_frame(const void *user)
{
    enum { ARRAYS = 4 }; /* counters of a frame and of a context, expected counts, and edges */
    const struct work *w = user;
    const kith_histogram *h = &w->found->histogram;
    const int64_t numbers = w->task->exact ? debye_sums(w->found) : (h->partials + 1) * h->bins;
    return ARRAYS * numbers * (int64_t)sizeof(double);
}

int debye_run(const debye_task *task, debye_outcome *found)
{
    progress bar;
    const io_trajectory_options how = input_how(&task->shared);
    static const lanes_calls calls = {.bytes = sizeof(debye_frame),
                                      .prepare = prepare_frame,
                                      .count = count_frame,
                                      .report = report_frame,
                                      .add = add_frame,
                                      .memory = memory_of_frame,
                                      .free = free_frame};
    debye_frame alone = {0};
    struct work work = {.task = task, .found = found, .bar = &bar};
    CLI_TRY(engine_open(&task->shared, progress_watch, &bar, &found->ctx));
    int status = STATUS_OK;
    if (!task->exact && !(task->r_max > 0)) {
        status = input_survey(task->input, &how, task->shared.quiet, survey_frame, &work);
    }
    if (status == STATUS_OK) {
        lanes_counting counting = {.calls = &calls,
                                   .user = &work,
                                   .ctx = found->ctx,
                                   .from = &found->from,
                                   .alone = &alone};
        double busy;
        status = lanes_count(&counting, task->input, &how, task->shared.quiet, &bar, &busy);
        found->count_seconds = busy >= 0 ? busy : found->count_seconds;
    }
    if (status != STATUS_OK) {
        return status == STATUS_INTERRUPTED ? report_interrupted(task->shared.output) : status;
    }
    for (int a = 0; a < found->n_elements; a++) {
        found->members[a] /= (double)found->frames;
    }
    return STATUS_OK;
}
