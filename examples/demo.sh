#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What kith does, on a crystal, a clustered universe and a liquid:  demo.sh KITH FOLDER
set -eu
kith=$1 folder=$2
here=$(dirname "$0")

run()
{
    printf '\n$ kith %s\n' "$*"
    "$kith" "$@"
}

echo
echo "Alpha quartz: every silicon atom (648 of them) is bonded to four oxygen atoms."
run pairs "$here/data/quartz.xyz" --cutoff 1.7 -o "$folder/bonds.npy"

echo
echo "Halos over a uniform background, a million particles in a periodic box."
run make clustered 1M --seed 1 -o "$folder/halos.npy"
run pairs "$folder/halos.npy" --box 1 --cutoff 0.001 -o "$folder/pairs.npy"
run fof "$folder/halos.npy" --box 1 -o "$folder/halos.csv" --plot "$folder/halos.png"

echo
echo "A Lennard-Jones liquid near its triple point: its forces come from a list of pairs."
lj=$(dirname "$kith")/../examples/lennard_jones
printf '\n$ %s\n' "lennard_jones $folder/lj.xyz 2000"
"$lj" "$folder/lj.xyz" 2000
run rdf "$folder/lj.xyz" --unit sigma -o "$folder/gr.txt" --sq "$folder/sq.txt" \
    --plot "$folder/gr.png"
echo
echo "The lists are in $folder: numpy.load() reads them; the halos are halos.csv and
halos.png, g(r) and S(q) are gr.txt, sq.txt and gr.png."
