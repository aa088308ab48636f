#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Build the Debian packages of debian/ into a folder, and check them with lintian:  deb.sh FOLDER
#
# dpkg-buildpackage writes beside the sources, and leaves much in them: it builds a copy of them,
# FOLDER/kith, which needs no git.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
rm -rf "$folder/kith" "$folder"/*.deb "$folder"/*.changes "$folder"/*.buildinfo
mkdir "$folder/kith"
tar -c --exclude='./build*' --exclude=./.git . | tar -x -C "$folder/kith"

cd "$folder/kith"
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-noautodbgsym}" # no packages of debugging symbols
dpkg-buildpackage --build=binary --no-sign
# Two things are for packages that are uploaded to Debian: a bug that the first version closes, and
# an address of the maintainers, which the project does not have yet.
upload=initial-upload-closes-no-bugs,bogus-mail-host,bogus-mail-host-in-debian-changelog
lintian --allow-root --fail-on error,warning --info --suppress-tags $upload \
    "$folder"/kith_*.changes
rm -rf "$folder/kith"
