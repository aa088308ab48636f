#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw flock.png: the example of flock.md. Wants kith in the path, gnuplot and ImageMagick.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
sed -n '/# vicsek.txt/,/^$/p' "$here/../flock.md" >vicsek.txt
kith flock --boids 1000 --parameters vicsek.txt --steps 5000 --seed 1 --measure-every 20 \
    --plot vicsek.png --quiet
convert vicsek.png -resize 640x -colors 16 "PNG8:$here/flock.png"
