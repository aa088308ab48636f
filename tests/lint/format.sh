#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The sources look as .clang-format says; `make format` makes them so.
command -v clang-format >/dev/null || exit 77
cd "$(dirname "$0")/../.." && tests/lint/sources c | xargs clang-format --dry-run -Werror
