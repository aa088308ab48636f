#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Compare the interface with that of version 0.1, which abidw has described (abi/README.md):
#   abidiff.sh SOURCE WORK [CMAKE CC]
# Functions may be added. Builds the library with debug information, which abidiff reads, and writes
# WORK/report.txt: what is added, and each change with the reason why built programs do not notice.
set -eu
source=$1 work=$2 cmake=${3:-cmake} cc=${4:-cc}
here=$(cd "$(dirname "$0")" && pwd)
command -v abidiff >/dev/null || {
    echo "skipped: no abidiff (apt-get install abigail-tools)"
    exit 77
}
[ "$(uname -m)" = x86_64 ] || {
    echo "skipped: the interface was described on x86_64 (on one: tests/package/abidiff.sh)"
    exit 77
}

rm -rf "$work"
"$cmake" -S "$source" -B "$work" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug \
    -DKITH_X86_ISAS= -DKITH_COMMAND=OFF -DKITH_TESTS=OFF -DKITH_CUDA=OFF -DKITH_INSTALL=OFF
"$cmake" --build "$work" --target kith_static -j 2

# Without versions of symbols, which 0.1 did not have: abidiff compares no types across them.
"$cc" -shared -Wl,-soname,libkith.so.0 -Wl,--whole-archive "$work/src/libkith.a" \
    -Wl,--no-whole-archive -lm -lpthread -o "$work/libkith.so.0"
old=$here/abi/0.1/libkith-x86_64.abi
changed=0
abidiff --no-added-syms --suppressions "$here/abi/allowed.txt" "$old" "$work/libkith.so.0" \
    >"$work/breaks" || changed=$?

# The status of abidiff says whether there are differences, of which the report is the list.
all=$(abidiff "$old" "$work/libkith.so.0" || true)
added=$(echo "$all" | grep -c "^ *\[A\] 'function" || true)
{
    echo "The interface of libkith.so.0 beside that of version 0.1 (commit 7331239),"
    echo "by $(abidiff --version 2>&1). Made by tests/package/abidiff.sh."
    echo
    echo "Functions added: $added."
    if [ "$changed" -eq 0 ]; then
        echo "Changes that break programs built for 0.1: none."
    else
        echo "Changes that break programs built for 0.1:"
        cat "$work/breaks"
    fi
    echo
    echo "== All differences"
    echo
    echo "$all"
    echo
    echo "== Which of them built programs do not notice, and why"
    echo
    cat "$here/abi/allowed.txt"
} >"$work/report.txt"
cat "$work/breaks"
head -n 5 "$work/report.txt"
echo "The report is $work/report.txt"
[ "$changed" -eq 0 ] || {
    echo "The interface is not that of 0.1 with additions: abidiff's status is $changed"
    exit 1
}
