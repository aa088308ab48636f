#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Make the Debian package, unpack it elsewhere and use what is in it:  deb.sh BUILD WORK VERSION
set -eu
build=$1 work=$2 version=$3
for tool in dpkg-deb dpkg-shlibdeps file cpack; do
    command -v $tool >/dev/null || {
        echo "skipped: no $tool (apt-get install dpkg-dev file cmake)"
        exit 77
    }
done

rm -rf "$work"
cpack --config "$build/CPackConfig.cmake" -B "$work" >"$build/cpack.log" ||
    { cat "$build/cpack.log"; exit 1; }
deb=$(echo "$work"/kith_"$version"_*.deb)
dpkg-deb --field "$deb" Depends | grep -q 'libc6 (>= ' # the libraries it needs, by dpkg-shlibdeps
dpkg-deb --extract "$deb" "$work/root"
cd "$work/root/usr"
LD_LIBRARY_PATH=$(dirname "$(find "$PWD" -name 'libkith.so.*' -type f)")
export LD_LIBRARY_PATH
bin/kith --version | grep -qx "kith $version"
bin/kith make uniform 1000 --seed 1 -q -o "$work/points.npy"
bin/kith pairs "$work/points.npy" --box 1 --cutoff 0.1 -q -o "$work/pairs.npy"
bin/kith bench --quick --no-peers --only overlap -o "$work/bench.json" >"$work/bench.log" 2>&1
for name in include/kith.h share/doc/kith/LICENSE share/bash-completion/completions/kith; do
    test -s "$name" || { echo "not in the package: $name"; exit 1; }
done

# A page for each verb, and completion of verbs, options and files.
if command -v help2man >/dev/null; then
    for verb in pairs fof rdf flock info make; do
        test -s "share/man/man1/kith-$verb.1.gz" || test -s "share/man/man1/kith-$verb.1"
    done
fi
PATH=$PWD/bin:$PATH bash -c '. share/bash-completion/completions/kith
    complete_for() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _kith; echo "${COMPREPLY[*]}"; }
    compopt() { :; }
    [ "$(complete_for kith fo)" = fof ] && [ "$(complete_for kith pairs --cut)" = --cutoff= ] &&
        [ "$(complete_for kith fof --lin)" = "--linking= --link=" -o \
          "$(complete_for kith fof --lin)" = "--link= --linking=" ] &&
        [ "$(complete_for kith info bi)" = bin ]'
