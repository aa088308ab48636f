#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Build kith as a part of another project, in all ways:  parent.sh SOURCE WORK CMAKE CC
# The parent gets the library alone, and its own tests alone. Where the parent asks for it, kith is
# installed beside its programs. Not optimised, as that is faster.
set -eu
source=$1 work=$2 cmake=$3 cc=$4
here=$(cd "$(dirname "$0")" && pwd)

rm -rf "$work"
for way in add fetch; do
    [ $way = add ] && shared=ON || shared=OFF
    "$cmake" -S "$here/parent" -B "$work/$way" -DWAY=$way -DKITH_SOURCE="$source" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=$shared \
        -DKITH_X86_ISAS=
    "$cmake" --build "$work/$way" -j 2
    ctest --test-dir "$work/$way" --output-on-failure --no-tests=error
    tests=$(ctest --test-dir "$work/$way" -N | sed -n 's/^Total Tests: //p')
    [ "$tests" -eq 2 ] || { echo "$way: $tests tests in the parent, not its own 2"; exit 1; }
    built=$(find "$work/$way" -name 'libkith.so' -o -name 'libkith_io.a' -o -name kith_bench)
    case $way/$built in
    add/*/libkith.so | fetch/) ;;
    *) echo "$way: built, but not asked for: $built"; exit 1 ;;
    esac
done

# kith goes where the parent is installed, its documents into a folder of their own.
"$cmake" -DKITH_INSTALL=ON "$work/add"
"$cmake" --build "$work/add" -j 2
"$cmake" --install "$work/add" --prefix "$work/prefix"
library=$(find "$work/prefix" -name libkith.so)
[ -n "$library" ] || { echo "kith is not installed"; exit 1; }
LD_LIBRARY_PATH="${library%/*}" "$work/add/first_pairs"
[ "$(ls "$work/prefix/share/doc")" = kith ] ||
    { echo "kith's documents are in:"; ls "$work/prefix/share/doc"; exit 1; }
