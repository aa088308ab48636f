/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Print the size of each struct of libkith-io that Python uses and the offset of each field, as the
 * C compiler has them: "struct size" and "struct.field offset", one a line.
 * python/kith/_io_abi.py is checked against it.
 */
#include <stddef.h>
#include <stdio.h>

#include "trajectories/trajectory.h"

#define SIZE(type) printf(#type " %zu\n", sizeof(type))
#define FIELD(type, field) printf(#type "." #field " %zu\n", offsetof(type, field))

static void print_io_error(void)
{
    SIZE(io_error);
    FIELD(io_error, status);
    FIELD(io_error, text);
}

static void print_io_cosmology(void)
{
    SIZE(io_cosmology);
    FIELD(io_cosmology, known);
    FIELD(io_cosmology, a);
    FIELD(io_cosmology, redshift);
    FIELD(io_cosmology, h);
    FIELD(io_cosmology, omega_m);
    FIELD(io_cosmology, omega_lambda);
    FIELD(io_cosmology, omega_b);
}

static void print_io_units(void)
{
    SIZE(io_units);
    FIELD(io_units, source);
    FIELD(io_units, length);
    FIELD(io_units, mass);
    FIELD(io_units, velocity);
    FIELD(io_units, length_h);
    FIELD(io_units, mass_h);
}

static void print_io_unit_name(void)
{
    SIZE(io_unit_name);
    FIELD(io_unit_name, length);
    FIELD(io_unit_name, mass);
    FIELD(io_unit_name, velocity);
}

static void print_io_particles(void)
{
    SIZE(io_particles);
    FIELD(io_particles, n);
    FIELD(io_particles, dim);
    FIELD(io_particles, precision);
    FIELD(io_particles, pos);
    FIELD(io_particles, mass);
    FIELD(io_particles, velocity);
    FIELD(io_particles, id);
    FIELD(io_particles, type);
    FIELD(io_particles, potential);
    FIELD(io_particles, density);
    FIELD(io_particles, partial);
    FIELD(io_particles, in_file);
    FIELD(io_particles, has_box);
    FIELD(io_particles, box);
    FIELD(io_particles, bytes);
    FIELD(io_particles, has_time);
    FIELD(io_particles, time);
    FIELD(io_particles, mass_of_type);
    FIELD(io_particles, cosmology);
    FIELD(io_particles, units);
    FIELD(io_particles, frames);
    FIELD(io_particles, all);
    FIELD(io_particles, first);
    FIELD(io_particles, radius);
    FIELD(io_particles, unit);
}

static void print_io_read_options(void)
{
    SIZE(io_read_options);
    FIELD(io_read_options, dataset);
    FIELD(io_read_options, columns);
    FIELD(io_read_options, species);
    FIELD(io_read_options, fields);
    FIELD(io_read_options, needed);
    FIELD(io_read_options, precision);
    FIELD(io_read_options, frame);
    FIELD(io_read_options, watch);
    FIELD(io_read_options, user);
    FIELD(io_read_options, part);
    FIELD(io_read_options, parts);
    FIELD(io_read_options, radii);
    FIELD(io_read_options, columns_if_text);
    FIELD(io_read_options, threads);
}

static void print_io_trajectory_options(void)
{
    SIZE(io_trajectory_options);
    FIELD(io_trajectory_options, read);
    FIELD(io_trajectory_options, frames);
    FIELD(io_trajectory_options, label);
    FIELD(io_trajectory_options, weights);
    FIELD(io_trajectory_options, topology);
    FIELD(io_trajectory_options, boxes_only);
}

static void print_io_frame(void)
{
    SIZE(io_frame);
    FIELD(io_frame, particles);
    FIELD(io_frame, index);
    FIELD(io_frame, has_step);
    FIELD(io_frame, step);
    FIELD(io_frame, unit);
    FIELD(io_frame, guessed);
    FIELD(io_frame, system);
    FIELD(io_frame, species);
    FIELD(io_frame, n_names);
    FIELD(io_frame, names);
    FIELD(io_frame, force);
    FIELD(io_frame, molecule);
    FIELD(io_frame, weight);
    FIELD(io_frame, n_bonds);
    FIELD(io_frame, bond);
    FIELD(io_frame, room);
    FIELD(io_frame, fields);
    FIELD(io_frame, things);
}

int main(void)
{
    print_io_error();
    print_io_cosmology();
    print_io_units();
    print_io_unit_name();
    print_io_particles();
    print_io_read_options();
    print_io_trajectory_options();
    print_io_frame();
    return 0;
}
