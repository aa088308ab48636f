#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Build and run the consumer through pkg-config:  pkg_config.sh PREFIX WORK CC VERSION
set -eu
prefix=$1 work=$2 cc=$3 version=$4
here=$(cd "$(dirname "$0")" && pwd)
command -v pkg-config >/dev/null || {
    echo "skipped: no pkg-config (apt-get install pkg-config)"
    exit 77
}

pc=$(find "$prefix" -name kith.pc)
export PKG_CONFIG_PATH="${pc%/*}"
found=$(pkg-config --modversion kith)
[ "$found" = "$version" ] || { echo "kith.pc says version $found, not $version"; exit 1; }

rm -rf "$work"
mkdir -p "$work"
make -C "$work" -f "$here/consumer/Makefile" CC="$cc" \
    EXAMPLES="$(echo "$prefix"/share/doc/*kith*/examples)"
