#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Install the Debian packages of a folder by apt, use each, and remove them:  deb.sh FOLDER
# Changes the machine: for a bare Debian 12 root that is thrown away (.ci/fresh deb).
set -eu
folder=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
version=$(dpkg-deb --field "$folder"/kith_*.deb Version)
version=${version%-*} # without Debian's revision
export DEBIAN_FRONTEND=noninteractive

# apt ACTION PACKAGE...: quietly, unless it fails.
apt()
{
    apt-get -y --no-install-recommends "$@" >"$work/apt.log" 2>&1 ||
        { cat "$work/apt.log"; exit 1; }
}

chmod 755 "$work"
apt update

echo "The command"
apt install "$folder"/kith_*.deb "$folder"/libkith0_*.deb
kith --version | grep -x "kith $version.*"
kith make lattice 1000 -q -o "$work/lattice.npy" # 10 x 10 x 10
kith pairs "$work/lattice.npy" --box 1 --cutoff 0.11 -q -o "$work/pairs.txt"
pairs=$(grep -vc '^#' "$work/pairs.txt")
[ "$pairs" -eq 3000 ] ||
    { echo "$pairs pairs in a cubic lattice of 1000 particles, not 3000"; exit 1; }
kith make clustered 10k --seed 1 -q -o "$work/points.h5"
kith fof "$work/points.h5" --box 1 -q -o "$work/halos.csv" --plot "$work/halos.png"
[ -s "$work/halos.png" ]
for verb in pairs nearest fof rdf debye overlap flock view info make bench; do
    [ -s "/usr/share/man/man1/kith-$verb.1.gz" ] || { echo "no page kith-$verb.1"; exit 1; }
done
bash -c '. /usr/share/bash-completion/completions/kith
    complete_for() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _kith; echo "${COMPREPLY[*]}"; }
    compopt() { :; }
    [ "$(complete_for kith fo)" = fof ] && [ "$(complete_for kith pairs --cut)" = --cutoff= ] &&
        [ "$(complete_for kith fof --lin)" = "--linking= --link=" -o \
          "$(complete_for kith fof --lin)" = "--link= --linking=" ] &&
        cd / && [ "$(complete_for kith info sbi)" = sbin ]' || { echo "no completion"; exit 1; }
apt install "$folder"/libkith-openmpi0_*.deb "$folder"/libkith-mpich0_*.deb openmpi-bin mpich
openmpi="mpirun.openmpi --allow-run-as-root --oversubscribe"
for launcher in "$openmpi" mpiexec.mpich; do
    $launcher -n 2 kith fof "$work/points.h5" --box 1 -q -o "$work/ranks.csv" 2>"$work/ranks.log" ||
        { cat "$work/ranks.log"; exit 1; }
    cmp "$work/halos.csv" "$work/ranks.csv"
    rm "$work/ranks.csv"
done
apt install python3
kith bench --quick --no-peers --only overlap -o "$work/bench.json" >"$work/bench.log" 2>&1 ||
    { cat "$work/bench.log"; exit 1; }

echo "The library: CMake, pkg-config, C++, Fortran and MPI"
apt install "$folder"/libkith-dev_*.deb "$folder"/libkith-io0_*.deb \
    cmake g++ gcc gfortran libc6-dev make pkg-config
"$here/cmake.sh" /usr "$work/cmake" cmake cc "$version" >"$work/cmake.log" ||
    { cat "$work/cmake.log"; exit 1; }
"$here/pkg_config.sh" /usr "$work/pkg_config" cc "$version" >"$work/pkg_config.log" ||
    { cat "$work/pkg_config.log"; exit 1; }
apt install libmpich-dev libopenmpi-dev
for launcher in "$openmpi" mpiexec.mpich; do
    mpi=${launcher#mpi*.}
    # shellcheck disable=SC2086 # a launcher has arguments
    "$here/mpi.sh" /usr "$work/mpi" cmake "mpicc.${mpi%% *}" "$version" $launcher \
        >"$work/mpi.log" 2>&1 || { cat "$work/mpi.log"; exit 1; }
done
cd "$work"
examples=/usr/share/doc/libkith-dev/examples
flags=$(pkg-config --cflags --libs kith)
g++ -std=c++17 $examples/molecular_dynamics.cpp $flags -o dynamics
./dynamics
module=$(pkg-config --variable=includedir kith)/kith/kith.f90
gfortran "$module" $examples/halos.f90 $flags -o halos
./halos

echo "The Python package"
apt install "$folder"/python3-kith_*.deb
python3 -c 'import sys, kith, kith._view, numpy as np
x = kith.read("points.h5").positions
groups = kith.fof(x, 0.2 * len(x) ** (-1 / 3), kith.Box(1.0))
halos = np.loadtxt("halos.csv", delimiter=",", skiprows=1)
assert list(groups.members) == list(halos[:, 1]), "not the halos of the command"
assert "draw" in kith._view._scripts()
assert kith.__version__ == sys.argv[1]' "$version"

[ -s /usr/share/doc/libkith-dev/docs/library.md.gz ] || { echo "no docs/library.md"; exit 1; }

echo "Removal"
cd /
apt purge kith libkith0 libkith-dev libkith-io0 libkith-openmpi0 libkith-mpich0 python3-kith
left=$(find / -xdev -name '*kith*' -not -path "$here/*" -not -path "$folder/*" \
    -not -path "$work/*" -not -path "/kith*" -not -path '/proc/*' -not -path '/root/.cache/*')
[ -z "$left" ] || { echo "left behind:"; echo "$left"; exit 1; }
rm -rf "$work"
