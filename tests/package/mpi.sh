#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Build a program that uses MPI through CMake and through pkg-config, and one in Fortran, and run
# them over two and three processes:  mpi.sh PREFIX WORK CMAKE MPICC VERSION LAUNCHER...
set -eu
prefix=$1 work=$2 cmake=$3 mpicc=$4 version=$5
shift 5
here=$(cd "$(dirname "$0")" && pwd)
command -v "$mpicc" >/dev/null || {
    echo "skipped: no $mpicc (apt-get install libopenmpi-dev or libmpich-dev)"
    exit 77
}
examples=$(echo "$prefix"/share/doc/*kith*/examples)

rm -rf "$work"
"$cmake" -S "$here/consumer_mpi" -B "$work" -DMPI_C_COMPILER="$mpicc" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCONSUMER_VERSION="$version" -DCONSUMER_EXAMPLES="$examples"
"$cmake" --build "$work"
"$@" -n 2 "$work/sph_density"

command -v pkg-config >/dev/null || {
    echo "skipped: no pkg-config (apt-get install pkg-config)"
    exit 77
}
pc=$(find "$prefix" -name kith.pc)
export PKG_CONFIG_PATH="${pc%/*}"
transport=$(pkg-config --variable=includedir kith)/kith/transport_mpi.c
# shellcheck disable=SC2046 # flags are words
"$mpicc" "$examples/mpi/sph_density_mpi.c" "$transport" $(pkg-config --cflags --libs kith) -lm \
    "-Wl,-rpath,$(pkg-config --variable=libdir kith)" -o "$work/density"
"$@" -n 2 "$work/density"

mpifort=$(echo "$mpicc" | sed 's/mpicc/mpifort/')
command -v gfortran >/dev/null && command -v "$mpifort" >/dev/null || {
    echo "skipped: no Fortran compiler (apt-get install gfortran)"
    exit 77
}
cd "$work"
# shellcheck disable=SC2046
"$mpicc" -c "$transport" $(pkg-config --cflags kith)
# shellcheck disable=SC2046
"$mpifort" "${transport%/*}/kith.f90" "$examples/mpi/sph_density_mpi.f90" transport_mpi.o \
    $(pkg-config --libs kith) "-Wl,-rpath,$(pkg-config --variable=libdir kith)" -o fortran
"$@" -n 3 ./fortran
