#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Run a program of version 0.1 with today's library:  abi.sh WORK CC LIBKITH_SO
# The library of that version is replaced, for the linker, by one that has its names alone.
set -eu
work=$1 cc=$2 library=$3
here=$(cd "$(dirname "$0")" && pwd)
headers=$here/abi/0.1

rm -rf "$work"
mkdir -p "$work/stub" "$work/run"
sed -n 's/^KITH_API .*[ *]\(kith_[a-z0-9_]*\)(.*/void \1(void); void \1(void) {}/p' \
    "$headers"/*.h >"$work/stub.c"
[ "$(wc -l <"$work/stub.c")" -eq 55 ] || { echo "not the 55 functions of 0.1"; exit 1; }
"$cc" -shared -fPIC "$work/stub.c" -Wl,-soname,libkith.so.0 -o "$work/stub/libkith.so"
"$cc" -std=c11 -Wall -Wextra -Werror -I"$headers" "$here/abi/program.c" -L"$work/stub" -lkith \
    -o "$work/program"
ln -s "$library" "$work/run/libkith.so.0"
LD_LIBRARY_PATH=$work/run "$work/program"
