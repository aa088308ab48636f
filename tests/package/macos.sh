#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Compile the library for macOS on 64-bit Arm, without linking it:  macos.sh WORK [PYTHON]
# PYTHON has the package ziglang of PyPI, a compiler that brings the headers of that system.
set -eu
work=$1 python=${2:-python3}
cd "$(dirname "$0")/../.."
"$python" -c 'import ziglang' 2>/dev/null || {
    echo "skipped: no ziglang (pip install ziglang)"
    exit 77
}
mkdir -p "$work"
for file in threads/*.c src/*/*.c src/*/cpu/*.c; do
    case $file in */abi_*) continue ;; esac # of systems whose symbols have versions
    "$python" -m ziglang cc -target aarch64-macos -std=c11 -D_GNU_SOURCE -DKITH_HAVE_BASELINE \
        -DKITH_ISA=baseline -ffp-contract=off -Wall -Wextra -Werror -Iinclude -Ithreads -Isrc \
        -c "$file" -o "$work/object.o"
done
