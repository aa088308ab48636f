#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Install the peers into a virtual environment beside the results, and time them beside kith.
#
#   peers.sh KITH_BENCH LIBKITH RESULTS.json [n] [cutoff] [threads]
set -eu
bench=$1 library=$2 results=$3 n=${4:-1000000} cutoff=${5:-0.03} threads=${6:-1,2}
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
folder=$(dirname "$results")
venv=$folder/peers-venv

[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
for package in numpy vesin matscipy-neighbours scipy; do
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" ||
        echo "peers.sh: $package could not be installed, left out" >&2
done
"$venv/bin/python" -c 'import numpy' 2>/dev/null || {
    echo "peers.sh: no NumPy, no peers" >&2
    exit 0
}
[ -s "$results" ] || OMP_PROC_BIND=true "$bench" pairs --case half --threads "$threads" \
    --points "$n" --output "$results"
"$bench" points uniform "$n" "$folder/points.npy"
"$venv/bin/python" "$here/peers.py" --kith "$library" --points "$folder/points.npy" \
    --cutoff "$cutoff" --threads "$threads" --output "$results"
rm -f "$folder/points.npy"
