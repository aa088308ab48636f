#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Make the tarball of the sources, build it where there is no git, and run some of its tests:
#   dist.sh SOURCE WORK CMAKE CC VERSION
# Not optimised, as that is faster.
set -eu
source=$1 work=$2 cmake=$3 cc=$4 version=$5
if [ -n "${KITH_TEST_BRIEF:-}" ]; then
    echo "skipped: the short form of tests builds nothing anew (unset KITH_TEST_BRIEF)"
    exit 77
fi
if ! [ -e "$source/.git" ] || ! command -v git >/dev/null; then
    echo "skipped: no git repository (the tarball is made of a commit)"
    exit 77
fi

rm -rf "$work"
"$source/packaging/dist.sh" "$work"
tar -xzf "$work/kith-$version.tar.gz" -C "$work"
mkdir "$work/bin"
cat >"$work/bin/git" <<SH
#!/bin/sh
echo "git \$*" >>"$work/git.log"
exit 127
SH
chmod +x "$work/bin/git"
PATH=$work/bin:$PATH
cd "$work/kith-$version"
"$cmake" -S . -B build -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug -DKITH_CUDA=OFF \
    -DKITH_X86_ISAS=
"$cmake" --build build -j 2 --target kith_cli test_pairs_arguments test_fof_known
ctest --test-dir build --output-on-failure --no-tests=error \
    -R '^(test_(pairs_arguments|fof_known)/|cli/make$|lint/(house|includes|names|version|words)$)'
[ ! -e "$work/git.log" ] || { echo "git is called:"; cat "$work/git.log"; exit 1; }
