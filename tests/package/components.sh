#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Install each component alone, and see that together they are the whole installation; then use
# those that docs/library.md says go together:  components.sh BUILD WORK CMAKE CC
set -eu
build=$1 work=$2 cmake=$3 cc=$4
here=$(cd "$(dirname "$0")" && pwd)

# listing FOLDER...: the files in folders, relative to them, sorted.
listing()
{
    for folder; do
        (cd "$folder" && find . ! -type d)
    done | sort
}

rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/whole" >"$work/log"
for component in library headers command doc io mpi; do
    mkdir "$work/$component"
    "$cmake" --install "$build" --prefix "$work/$component" --component $component >>"$work/log"
done
listing "$work/whole" >"$work/expected"
listing "$work/library" "$work/headers" "$work/command" "$work/doc" "$work/io" \
    "$work/mpi" >"$work/found"
diff "$work/expected" "$work/found" ||
    { echo "the components are not the whole installation, each file once"; exit 1; }

cp -R "$work/library" "$work/program"
cp -R "$work/headers/." "$work/program"
command -v pkg-config >/dev/null || {
    echo "skipped: no pkg-config (apt-get install pkg-config)"
    exit 77
}
pc=$(find "$work/program" -name kith.pc)
export PKG_CONFIG_PATH="${pc%/*}"
# shellcheck disable=SC2046 # flags are words
"$cc" "$here/../../examples/first_pairs.c" $(pkg-config --cflags --libs kith) \
    -Wl,-rpath,"$(pkg-config --variable=libdir kith)" -o "$work/first_pairs"
"$work/first_pairs"
if [ -e "$work/command/bin/kith" ]; then
    cp -R "$work/library/." "$work/command"
    "$work/command/bin/kith" --version
fi
