#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw force.png: g(r) of one frame, by counts and by forces. Wants a LAMMPS dump with forces of the
# Lennard-Jones liquid at T* = 0.722 as its argument, kith in the path, gnuplot and ImageMagick.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
kith rdf "$1" --frames 0:1 --estimator force --temperature 0.722 --r-max 4 --width 0.005 \
    --unit sigma --plot "$work/force.png" --quiet
convert "$work/force.png" -crop 1110x864+0+0 +repage -resize 720x -colors 32 "PNG8:$here/force.png"
