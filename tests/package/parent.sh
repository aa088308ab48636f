#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Build kith as a part of another project, in all ways:  parent.sh SOURCE WORK CMAKE CC
# The parent gets the library alone, and its own tests alone. Where the parent asks for it, kith is
# installed beside its programs. Not optimised, as that is faster. One of the ways has settings that
# kith does not take over: fast mathematics, and several sources in one.
set -eu
source=$1 work=$2 cmake=$3 cc=$4
here=$(cd "$(dirname "$0")" && pwd)
if [ -n "${KITH_TEST_BRIEF:-}" ]; then
    echo "skipped: the short form of tests builds nothing anew (unset KITH_TEST_BRIEF)"
    exit 77
fi

rm -rf "$work"
for way in add fetch; do
    settings="-DBUILD_SHARED_LIBS=ON"
    [ $way = add ] ||
        settings="-DBUILD_SHARED_LIBS=OFF -DCMAKE_C_FLAGS=-ffast-math -DCMAKE_UNITY_BUILD=ON"
    # shellcheck disable=SC2086 # settings are words
    "$cmake" -S "$here/parent" -B "$work/$way" -DWAY=$way -DKITH_SOURCE="$source" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug -DKITH_X86_ISAS= $settings
    "$cmake" --build "$work/$way" -j 2
    ctest --test-dir "$work/$way" --output-on-failure --no-tests=error
    tests=$(ctest --test-dir "$work/$way" -N | sed -n 's/^Total Tests: //p')
    [ "$tests" -eq 3 ] || { echo "$way: $tests tests in the parent, not its own 3"; exit 1; }
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
