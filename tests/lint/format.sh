#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The sources look as .clang-format says; `make format` makes them so.
command -v clang-format >/dev/null || {
    echo "skipped: no clang-format (apt-get install clang-format)"
    exit 77
}
cd "$(dirname "$0")/../.." || exit 1
said=$(tests/lint/sources c | xargs clang-format --dry-run -Werror 2>&1) && exit 0
echo "Not as clang-format would have it:"
echo "$said" | grep -v '^[ ^]*$' | head -n 40
exit 1
