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
for folder in threads src/*/ src/*/cpu examples; do
    mkdir -p "$work/$folder" # of the object files
done

# compile TARGET FILE...: all files, as many at a time as there are cores.
compile()
{
    target=$1
    shift
    for file; do
        case $file in */abi_*) continue ;; esac # of systems whose symbols have versions
        echo "$file"
    done >"$work/files"
    xargs -P "$(nproc)" -I FILE "$python" -m ziglang cc -target "$target" -std=c11 -D_GNU_SOURCE \
        -DKITH_HAVE_BASELINE -DKITH_ISA=baseline -ffp-contract=off -Wall -Wextra -Werror -Iinclude \
        -Ithreads -Isrc -c FILE -o "$work/FILE.o" <"$work/files"
    "$python" -m ziglang c++ -target "$target" -std=c++17 -Wall -Wextra -Werror -Iinclude \
        -c examples/molecular_dynamics.cpp -o "$work/object.o"
    echo "$target: $(wc -l <"$work/files") files in C, 1 in C++"
}

for target in aarch64-macos x86_64-macos; do
    compile $target threads/*.c src/*/*.c src/*/cpu/*.c examples/first_pairs.c
done
