#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The sources look as .clang-format says; `make format` makes them so.
command -v clang-format >/dev/null || exit 77
cd "$(dirname "$0")/../.." || exit 1
fail=0
for file in $(tests/lint/sources c); do
    clang-format --dry-run -Werror "$file" 2>/dev/null ||
        { echo "$file: not as clang-format would have it"; fail=1; }
done
exit $fail
