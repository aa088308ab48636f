#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Install the peers into a virtual environment beside the results, and time them beside kith.
#
#   peers.sh pairs KITH_BENCH LIBKITH RESULTS.json [n] [threads] [cutoff]
#   peers.sh fof KITH_BENCH LIBKITH RESULTS.json [n] [threads]
#   peers.sh rdf KITH_BENCH LIBKITH RESULTS.json [n] [threads]
set -eu
question=$1 bench=$2 library=$3 results=$4 n=${5:-1000000} threads=${6:-1,2} cutoff=${7:-0.03}
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
folder=$(dirname "$results")
venv=$folder/peers-venv
case $question in
pairs) peers="vesin matscipy-neighbours scipy" sets=uniform only=half ;;
fof) peers="kdcount scipy pyfof" sets="uniform clustered soneira_peebles" only=uniform ;;
rdf) peers="Corrfunc freud-analysis" sets=uniform only=short ;;
*) echo "peers.sh: \"$question\" is not pairs, fof or rdf" >&2 && exit 2 ;;
esac

[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
for package in numpy $peers; do
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" ||
        echo "peers.sh: $package could not be installed, left out" >&2
done
[ "$question" != rdf ] || command -v gsl-config >/dev/null ||
    echo "peers.sh: Corrfunc is compiled, for minutes, with GSL (Debian: libgsl-dev)" >&2
"$venv/bin/python" -c 'import numpy' 2>/dev/null || {
    echo "peers.sh: no NumPy, no peers" >&2
    exit 0
}
[ -s "$results" ] || OMP_PROC_BIND=true "$bench" "$question" --case "$only" --threads "$threads" \
    --points "$n" --output "$results"
for set in $sets; do
    points=$folder/points_$set.npy
    "$bench" points "$set" "$n" "$points"
    case $question in
    pairs) set -- "$here/peers.py" --cutoff "$cutoff" ;;
    *) set -- "$here/peers_$question.py" ;;
    esac
    "$venv/bin/python" "$@" --kith "$library" --points "$points" --set "$set" \
        --threads "$threads" --output "$results"
    rm -f "$points"
done
