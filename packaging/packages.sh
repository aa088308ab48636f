#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Make all that a release consists of from the commit HEAD:  packages.sh FOLDER
# The source archive; the Debian packages and the wheel, built from the unpacked archive; the list of
# what they contain and link, in SPDX (sbom.py); and SHA256SUMS. The same commit gives the same bytes
# on machines with the same packages of Debian and PyPI (tests/package/reproduce.py).
set -eu
umask 022 # modes are in the packages
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
git rev-parse --quiet --verify HEAD >/dev/null ||
    { echo "There is no git commit here to package; the packages of a tarball: make deb"; exit 1; }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct HEAD)}
export SOURCE_DATE_EPOCH
work=$folder/work
rm -rf "$work"
mkdir "$work"
rm -f "$folder"/kith-*.tar.gz "$folder"/*kith*.deb "$folder"/pykith-*.whl \
    "$folder"/kith-*.spdx.json "$folder/SHA256SUMS"

packaging/dist.sh "$folder"
archive=$(echo "$folder"/kith-*.tar.gz)
tar --no-same-permissions -xzf "$archive" -C "$work"
cd "$work"/kith-*
packaging/deb.sh "$work/deb"
mv "$work"/deb/*.deb "$folder"
packaging/wheel.py "$work/wheel"
mv "$work"/wheel/*.whl "$folder"
packaging/sbom.py "$folder"
tools=$work/wheel/tools/bin
"$tools/python3" -m pip install --quiet spdx-tools ntia-conformance-checker
"$tools/pyspdxtools" --infile "$folder"/kith-*.spdx.json # fails where it is not SPDX
"$tools/ntia-checker" --quiet "$folder"/kith-*.spdx.json # or lacks a supplier, version, ...
cd "$folder"
rm -rf "$work"
sha256sum -- *.tar.gz *.deb *.whl *.json >SHA256SUMS
cat SHA256SUMS
