#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Write the sources of the commit HEAD to FOLDER/kith-VERSION.tar.gz:  dist.sh FOLDER
# The same commit gives the same bytes.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(git show HEAD:include/kith/core.h | sed -n 's/^#define KITH_VERSION "\(.*\)"$/\1/p')
git diff --quiet HEAD || echo "Changes that are not committed are left out"
git archive --prefix="kith-$version/" --output="$folder/kith-$version.tar.gz" HEAD
echo "$folder/kith-$version.tar.gz"
