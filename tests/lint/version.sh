#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The papers know the version that the build has:  version.sh VERSION
cd "$(dirname "$0")/../.." || exit 1
fail=0
grep -q "^version: $1\$" CITATION.cff || { echo "CITATION.cff does not say version: $1"; fail=1; }
grep -q "^## \[$1\]" CHANGELOG.md || { echo "CHANGELOG.md has no section [$1]"; fail=1; }
grep -q "^kith ($1-" debian/changelog || { echo "debian/changelog has no version $1"; fail=1; }
exit $fail
