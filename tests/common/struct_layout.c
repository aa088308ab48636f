/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Print the size of each public struct, and the offset and the size of each field, as the C
 * compiler has them: "struct size" and "struct.field offset size", one a line.
 * python/kith/_abi.py and fortran/kith.f90 are checked against it.
 */
#include <stddef.h>
#include <stdio.h>

#include <kith.h>

#define SIZE(type) printf(#type " %zu\n", sizeof(type))
#define FIELD(type, field) \
    printf(#type "." #field " %zu %zu\n", offsetof(type, field), sizeof(((type *)0)->field))

int main(void)
{
    SIZE(kith_options);
    FIELD(kith_options, size);
    FIELD(kith_options, backend);
    FIELD(kith_options, threads);
    FIELD(kith_options, watch);
    FIELD(kith_options, user);
    FIELD(kith_options, stream);

    SIZE(kith_points);
    FIELD(kith_points, n);
    FIELD(kith_points, x);
    FIELD(kith_points, y);
    FIELD(kith_points, z);
    FIELD(kith_points, stride);
    FIELD(kith_points, precision);
    FIELD(kith_points, memory);

    SIZE(kith_box);
    FIELD(kith_box, origin);
    FIELD(kith_box, row);
    FIELD(kith_box, periodic);
    FIELD(kith_box, dim);

    SIZE(kith_batch);
    FIELD(kith_batch, size);
    FIELD(kith_batch, systems);
    FIELD(kith_batch, offsets);
    FIELD(kith_batch, against_offsets);
    FIELD(kith_batch, boxes);
    FIELD(kith_batch, dim);
    FIELD(kith_batch, memory);

    SIZE(kith_pairs_options);
    FIELD(kith_pairs_options, size);
    FIELD(kith_pairs_options, against);
    FIELD(kith_pairs_options, full);
    FIELD(kith_pairs_options, sorted);
    FIELD(kith_pairs_options, unordered);
    FIELD(kith_pairs_options, layout);
    FIELD(kith_pairs_options, extras);
    FIELD(kith_pairs_options, block_pairs);
    FIELD(kith_pairs_options, batch);
    FIELD(kith_pairs_options, width);
    FIELD(kith_pairs_options, fill);
    FIELD(kith_pairs_options, queued);
    FIELD(kith_pairs_options, n_species);
    FIELD(kith_pairs_options, radius_rule);
    FIELD(kith_pairs_options, species);
    FIELD(kith_pairs_options, species_against);
    FIELD(kith_pairs_options, cutoffs);
    FIELD(kith_pairs_options, radii);
    FIELD(kith_pairs_options, radii_against);
    FIELD(kith_pairs_options, r_min);
    FIELD(kith_pairs_options, molecules);
    FIELD(kith_pairs_options, molecules_against);
    FIELD(kith_pairs_options, bond_offsets);
    FIELD(kith_pairs_options, bonds);
    FIELD(kith_pairs_options, active);

    SIZE(kith_pairs);
    FIELD(kith_pairs, n);
    FIELD(kith_pairs, rows);
    FIELD(kith_pairs, i);
    FIELD(kith_pairs, j);
    FIELD(kith_pairs, offsets);
    FIELD(kith_pairs, distances);
    FIELD(kith_pairs, vectors);
    FIELD(kith_pairs, shifts);
    FIELD(kith_pairs, capacity);
    FIELD(kith_pairs, memory);
    FIELD(kith_pairs, size);
    FIELD(kith_pairs, owner);
    FIELD(kith_pairs, counts);
    FIELD(kith_pairs, width);
    FIELD(kith_pairs, widest);
    FIELD(kith_pairs, overflowed);

    SIZE(kith_nearest_options);
    FIELD(kith_nearest_options, size);
    FIELD(kith_nearest_options, against);
    FIELD(kith_nearest_options, cutoff);
    FIELD(kith_nearest_options, extras);
    FIELD(kith_nearest_options, batch);
    FIELD(kith_nearest_options, radii);
    FIELD(kith_nearest_options, radii_against);
    FIELD(kith_nearest_options, radius_rule);

    SIZE(kith_nearest);
    FIELD(kith_nearest, rows);
    FIELD(kith_nearest, k);
    FIELD(kith_nearest, counts);
    FIELD(kith_nearest, j);
    FIELD(kith_nearest, distances);
    FIELD(kith_nearest, vectors);
    FIELD(kith_nearest, shifts);
    FIELD(kith_nearest, memory);
    FIELD(kith_nearest, size);
    FIELD(kith_nearest, owner);

    SIZE(kith_verlet_options);
    FIELD(kith_verlet_options, size);
    FIELD(kith_verlet_options, cutoff);
    FIELD(kith_verlet_options, skin);
    FIELD(kith_verlet_options, with_skin);
    FIELD(kith_verlet_options, full);
    FIELD(kith_verlet_options, layout);
    FIELD(kith_verlet_options, extras);

    SIZE(kith_verlet_state);
    FIELD(kith_verlet_state, updates);
    FIELD(kith_verlet_state, rebuilds);
    FIELD(kith_verlet_state, reason);
    FIELD(kith_verlet_state, rebuilt);
    FIELD(kith_verlet_state, kept);
    FIELD(kith_verlet_state, displacement);
    FIELD(kith_verlet_state, allowed);

    SIZE(kith_order);
    FIELD(kith_order, n);
    FIELD(kith_order, order);
    FIELD(kith_order, memory);
    FIELD(kith_order, size);
    FIELD(kith_order, owner);

    SIZE(kith_fof_options);
    FIELD(kith_fof_options, size);
    FIELD(kith_fof_options, min_members);
    FIELD(kith_fof_options, ids);
    FIELD(kith_fof_options, roles);
    FIELD(kith_fof_options, min_links);
    FIELD(kith_fof_options, velocities);
    FIELD(kith_fof_options, velocity_length);
    FIELD(kith_fof_options, batch);
    FIELD(kith_fof_options, memory);

    SIZE(kith_groups);
    FIELD(kith_groups, n);
    FIELD(kith_groups, points);
    FIELD(kith_groups, labels);
    FIELD(kith_groups, members);
    FIELD(kith_groups, memory);
    FIELD(kith_groups, size);
    FIELD(kith_groups, owner);
    FIELD(kith_groups, systems);
    FIELD(kith_groups, offsets);

    SIZE(kith_halo_input);
    FIELD(kith_halo_input, size);
    FIELD(kith_halo_input, masses);
    FIELD(kith_halo_input, velocities);
    FIELD(kith_halo_input, types);
    FIELD(kith_halo_input, potentials);
    FIELD(kith_halo_input, densities);
    FIELD(kith_halo_input, sphere_density);

    SIZE(kith_halo);
    FIELD(kith_halo, members);
    FIELD(kith_halo, members_of_type);
    FIELD(kith_halo, mass);
    FIELD(kith_halo, mass_of_type);
    FIELD(kith_halo, centre_of_mass);
    FIELD(kith_halo, centre);
    FIELD(kith_halo, particle);
    FIELD(kith_halo, velocity);
    FIELD(kith_halo, dispersion);
    FIELD(kith_halo, radius_rms);
    FIELD(kith_halo, radius_max);
    FIELD(kith_halo, angular_momentum);
    FIELD(kith_halo, inertia);
    FIELD(kith_halo, axis_length);
    FIELD(kith_halo, axis);
    FIELD(kith_halo, sphere_radius);
    FIELD(kith_halo, sphere_mass);

    SIZE(kith_halos);
    FIELD(kith_halos, n);
    FIELD(kith_halos, halo);
    FIELD(kith_halos, memory);
    FIELD(kith_halos, size);
    FIELD(kith_halos, owner);
    FIELD(kith_halos, sphere_seconds);
    FIELD(kith_halos, stride);

    SIZE(kith_rdf_options);
    FIELD(kith_rdf_options, size);
    FIELD(kith_rdf_options, bins);
    FIELD(kith_rdf_options, r_min);
    FIELD(kith_rdf_options, r_max);
    FIELD(kith_rdf_options, edges);
    FIELD(kith_rdf_options, against);
    FIELD(kith_rdf_options, species);
    FIELD(kith_rdf_options, species_against);
    FIELD(kith_rdf_options, n_species);
    FIELD(kith_rdf_options, molecules);
    FIELD(kith_rdf_options, molecules_against);
    FIELD(kith_rdf_options, bond_offsets);
    FIELD(kith_rdf_options, bonds);
    FIELD(kith_rdf_options, weights);
    FIELD(kith_rdf_options, weights_against);
    FIELD(kith_rdf_options, minimum_image);
    FIELD(kith_rdf_options, forces);
    FIELD(kith_rdf_options, forces_against);
    FIELD(kith_rdf_options, batch);

    SIZE(kith_debye_options);
    FIELD(kith_debye_options, size);
    FIELD(kith_debye_options, q_min);
    FIELD(kith_debye_options, q_width);
    FIELD(kith_debye_options, n_q);
    FIELD(kith_debye_options, species);
    FIELD(kith_debye_options, n_species);

    SIZE(kith_histogram);
    FIELD(kith_histogram, bins);
    FIELD(kith_histogram, n_species);
    FIELD(kith_histogram, partials);
    FIELD(kith_histogram, against);
    FIELD(kith_histogram, size);
    FIELD(kith_histogram, frames);
    FIELD(kith_histogram, edges);
    FIELD(kith_histogram, counts);
    FIELD(kith_histogram, sums);
    FIELD(kith_histogram, ideal);
    FIELD(kith_histogram, pairs);
    FIELD(kith_histogram, centres);
    FIELD(kith_histogram, dim);
    FIELD(kith_histogram, pushes);
    FIELD(kith_histogram, density);
    FIELD(kith_histogram, owner);

    SIZE(kith_flock_rule);
    FIELD(kith_flock_rule, radius);
    FIELD(kith_flock_rule, weight);

    SIZE(kith_flock_factors);
    FIELD(kith_flock_factors, separation);
    FIELD(kith_flock_factors, alignment);
    FIELD(kith_flock_factors, cohesion);

    SIZE(kith_flock_thing);
    FIELD(kith_flock_thing, kind);
    FIELD(kith_flock_thing, place);
    FIELD(kith_flock_thing, normal);
    FIELD(kith_flock_thing, radius);
    FIELD(kith_flock_thing, speed);
    FIELD(kith_flock_thing, reach);
    FIELD(kith_flock_thing, weight);

    SIZE(kith_flock_options);
    FIELD(kith_flock_options, size);
    FIELD(kith_flock_options, model);
    FIELD(kith_flock_options, separation);
    FIELD(kith_flock_options, alignment);
    FIELD(kith_flock_options, cohesion);
    FIELD(kith_flock_options, relative);
    FIELD(kith_flock_options, min_speed);
    FIELD(kith_flock_options, max_speed);
    FIELD(kith_flock_options, time_step);
    FIELD(kith_flock_options, reflecting);
    FIELD(kith_flock_options, nearest);
    FIELD(kith_flock_options, blind_angle);
    FIELD(kith_flock_options, noise);
    FIELD(kith_flock_options, things);
    FIELD(kith_flock_options, n_things);
    FIELD(kith_flock_options, seed);
    FIELD(kith_flock_options, first_step);
    FIELD(kith_flock_options, gaussian);
    FIELD(kith_flock_options, turn_rate);
    FIELD(kith_flock_options, repulsion);
    FIELD(kith_flock_options, factors);
    FIELD(kith_flock_options, n_species);
    FIELD(kith_flock_options, species);
    FIELD(kith_flock_options, leaders);
    FIELD(kith_flock_options, leader_weight);
    FIELD(kith_flock_options, leader_direction);

    SIZE(kith_flock_measures);
    FIELD(kith_flock_measures, polarisation);
    FIELD(kith_flock_measures, milling);
    FIELD(kith_flock_measures, mean_speed);
    FIELD(kith_flock_measures, neighbours);

    SIZE(kith_replicas);
    FIELD(kith_replicas, n);
    FIELD(kith_replicas, dim);
    FIELD(kith_replicas, values);
    FIELD(kith_replicas, stride);
    FIELD(kith_replicas, type);

    SIZE(kith_overlap_options);
    FIELD(kith_overlap_options, size);
    FIELD(kith_overlap_options, measure);
    FIELD(kith_overlap_options, subtract_mean);
    FIELD(kith_overlap_options, bins);
    FIELD(kith_overlap_options, low);
    FIELD(kith_overlap_options, high);

    SIZE(kith_overlaps);
    FIELD(kith_overlaps, bins);
    FIELD(kith_overlaps, edges);
    FIELD(kith_overlaps, counts);
    FIELD(kith_overlaps, pairs);
    FIELD(kith_overlaps, spins);
    FIELD(kith_overlaps, size);
    FIELD(kith_overlaps, owner);

    SIZE(kith_waves);
    FIELD(kith_waves, size);
    FIELD(kith_waves, n);
    FIELD(kith_waves, hkl);
    FIELD(kith_waves, species);
    FIELD(kith_waves, n_species);

    SIZE(kith_domain_view);
    FIELD(kith_domain_view, size);
    FIELD(kith_domain_view, n);
    FIELD(kith_domain_view, ghosts);
    FIELD(kith_domain_view, xyz);
    FIELD(kith_domain_view, ids);

    SIZE(kith_transport);
    FIELD(kith_transport, size);
    FIELD(kith_transport, self);
    FIELD(kith_transport, rank);
    FIELD(kith_transport, ranks);
    FIELD(kith_transport, device);
    FIELD(kith_transport, counts);
    FIELD(kith_transport, exchange);
    FIELD(kith_transport, gather);
    FIELD(kith_transport, combine);
    FIELD(kith_transport, abort);
    FIELD(kith_transport, close);

    SIZE(kith_team_load);
    FIELD(kith_team_load, size);
    FIELD(kith_team_load, points);
    FIELD(kith_team_load, owned);
    FIELD(kith_team_load, ghosts);
    FIELD(kith_team_load, most_owned);
    FIELD(kith_team_load, most_ghosts);

    SIZE(kith_team_groups);
    FIELD(kith_team_groups, n);
    FIELD(kith_team_groups, points);
    FIELD(kith_team_groups, labels);
    FIELD(kith_team_groups, first);
    FIELD(kith_team_groups, held);
    FIELD(kith_team_groups, members);
    FIELD(kith_team_groups, memory);
    FIELD(kith_team_groups, size);
    FIELD(kith_team_groups, owner);

    SIZE(kith_team_halos);
    FIELD(kith_team_halos, n);
    FIELD(kith_team_halos, first);
    FIELD(kith_team_halos, held);
    FIELD(kith_team_halos, halo);
    FIELD(kith_team_halos, memory);
    FIELD(kith_team_halos, size);
    FIELD(kith_team_halos, owner);
    FIELD(kith_team_halos, stride);

    SIZE(kith_team_pairs);
    FIELD(kith_team_pairs, n);
    FIELD(kith_team_pairs, all);
    FIELD(kith_team_pairs, rows);
    FIELD(kith_team_pairs, points);
    FIELD(kith_team_pairs, ids);
    FIELD(kith_team_pairs, ids_against);
    FIELD(kith_team_pairs, i);
    FIELD(kith_team_pairs, j);
    FIELD(kith_team_pairs, distances);
    FIELD(kith_team_pairs, vectors);
    FIELD(kith_team_pairs, shifts);
    FIELD(kith_team_pairs, capacity);
    FIELD(kith_team_pairs, memory);
    FIELD(kith_team_pairs, size);
    FIELD(kith_team_pairs, owner);
    FIELD(kith_team_pairs, offsets);

    SIZE(kith_team_nearest);
    FIELD(kith_team_nearest, rows);
    FIELD(kith_team_nearest, k);
    FIELD(kith_team_nearest, counts);
    FIELD(kith_team_nearest, j);
    FIELD(kith_team_nearest, distances);
    FIELD(kith_team_nearest, vectors);
    FIELD(kith_team_nearest, shifts);
    FIELD(kith_team_nearest, memory);
    FIELD(kith_team_nearest, size);
    FIELD(kith_team_nearest, owner);
    return 0;
}
