#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Build and run a program in Fortran through CMake, and through pkg-config with the shared and with
# the static library:  fortran.sh PREFIX WORK CMAKE FC VERSION
set -eu
prefix=$1 work=$2 cmake=$3 fc=$4 version=$5
here=$(cd "$(dirname "$0")" && pwd)
command -v "$fc" >/dev/null || {
    echo "skipped: no Fortran compiler (apt-get install gfortran)"
    exit 77
}
examples=$(echo "$prefix"/share/doc/*kith*/examples)

rm -rf "$work"
"$cmake" -S "$here/consumer_fortran" -B "$work/cmake" -DCMAKE_Fortran_COMPILER="$fc" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCONSUMER_VERSION="$version" -DCONSUMER_EXAMPLES="$examples"
"$cmake" --build "$work/cmake"
ctest --test-dir "$work/cmake" --output-on-failure --no-tests=error

command -v pkg-config >/dev/null || {
    echo "skipped: no pkg-config (apt-get install pkg-config)"
    exit 77
}
pc=$(find "$prefix" -name kith.pc)
export PKG_CONFIG_PATH="${pc%/*}"
module=$(pkg-config --variable=includedir kith)/kith/kith.f90
libdir=$(pkg-config --variable=libdir kith)
cd "$work"
# shellcheck disable=SC2046 # flags are words
"$fc" "$module" "$examples/halos.f90" $(pkg-config --libs kith) "-Wl,-rpath,$libdir" -o shared
./shared
# shellcheck disable=SC2046
"$fc" "$module" "$examples/halos.f90" \
    $(pkg-config --static --libs kith | sed 's/-lkith/-l:libkith.a/') -o static
./static
