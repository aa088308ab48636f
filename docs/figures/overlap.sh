#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw overlap.png: replicas of a glass with random energies below its transition. Wants kith in the
# path, gnuplot and Python.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
python3 - <<'EOF'
import random
import struct

N, SPINS, STATES, M, FLIPS = 2000, 256, 1000, 0.5, 0.05
source = random.Random(4)
time, weights = 0, []
for _ in range(STATES):
    time += source.expovariate(1)
    weights.append(time ** (-1 / M))
states = [[source.choice((-1, 1)) for _ in range(SPINS)] for _ in range(STATES)]
head = f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({N}, {SPINS}), }}"
head += " " * (-(len(head) + 11) % 64) + "\n"
with open("replicas.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    for state in source.choices(states, weights, k=N):
        file.write(struct.pack(f"{SPINS}b", *(-s if source.random() < FLIPS else s for s in state)))
EOF
kith overlap replicas.npy --bins 128 --plot overlap.png
convert overlap.png -resize 50% -colors 64 "PNG8:$here/overlap.png"
