#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Compile the library, and examples in C and C++, for macOS on 64-bit Arm and x86-64, without
# linking:  macos.sh WORK [PYTHON]
# PYTHON has the package ziglang of PyPI, a compiler that brings the headers of that system.
set -eu
work=$1 python=${2:-python3}
cd "$(dirname "$0")/../.."
"$python" -c 'import ziglang' 2>/dev/null || {
    echo "skipped: no ziglang (pip install ziglang, .ci/zig)"
    exit 77
}
mkdir -p "$work"
for target in aarch64-macos x86_64-macos; do
    compiled=0
    for file in threads/*.c src/*/*.c src/*/cpu/*.c examples/first_pairs.c; do
        case $file in */abi_*) continue ;; esac # of systems whose symbols have versions
        "$python" -m ziglang cc -target $target -std=c11 -D_GNU_SOURCE -DKITH_HAVE_BASELINE \
            -DKITH_ISA=baseline -ffp-contract=off -Wall -Wextra -Werror -Iinclude -Ithreads -Isrc \
            -c "$file" -o "$work/object.o"
        compiled=$((compiled + 1))
    done
    "$python" -m ziglang c++ -target $target -std=c++17 -Wall -Wextra -Werror -Iinclude \
        -c examples/molecular_dynamics.cpp -o "$work/object.o"
    echo "$target: $compiled files in C, 1 in C++"
done
