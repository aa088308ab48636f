#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Build and run the consumer through CMake:  cmake.sh PREFIX WORK CMAKE CC VERSION
set -eu
prefix=$1 work=$2 cmake=$3 cc=$4 version=$5
here=$(cd "$(dirname "$0")" && pwd)

rm -rf "$work"
"$cmake" -S "$here/consumer" -B "$work" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCONSUMER_VERSION="$version" -DCONSUMER_EXAMPLES="$(echo "$prefix"/share/doc/*kith*/examples)"
"$cmake" --build "$work"
cd "$work"
ctest --output-on-failure --no-tests=error
