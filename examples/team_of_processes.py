# SPDX-License-Identifier: BSD-3-Clause
"""Halos of particles that several processes of MPI hold, each a part of them:

    mpirun -n 4 python3 team_of_processes.py

It needs mpi4py. The catalogue does not depend on the number of processes: what is printed is what
one process prints, to the last bit."""
import kith
from mpi4py import MPI

comm = MPI.COMM_WORLD
n = 100_000
everything = kith.make("clustered", n, seed=1).positions  # a program reads its part
mine = everything[n * comm.rank // comm.size:n * (comm.rank + 1) // comm.size]

with kith.Team(comm) as team:
    groups = team.fof(mine, 0.2 * n ** (-1 / 3), kith.Box(1.0))
    halos = groups.halos()  # this process's part of the catalogue
    pairs = team.count_pairs(mine, 0.001, kith.Box(1.0))

if comm.rank == 0:  # which has the largest ones
    print(f"{len(groups)} halos, {pairs} close pairs")
    for halo in halos[:3]:
        print(f"{halo['members']} members, centre {halo['centre'].round(4)}")
