#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw film.png: frames of two films. Wants kith in the path, and ImageMagick.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
kith flock --boids 60000 --dim 2 --box 150 --model vicsek --alignment 1,1 --noise 0.25 \
    --max-speed 0.3 --time-step 1 --steps 160 --record-every 1 --seed 3 \
    --record plane/ --film-size 640x640 --quiet
kith flock --boids 20000 --box 80 --separation 1.5,0.1 --alignment 4,0.15 --cohesion 5,0.02 \
    --max-speed 1.5 --min-speed 0.5 --steps 320 --record-every 1 --seed 5 \
    --record space/ --film-size 640x640 --film-turn 12 --quiet
montage plane/000160.png space/000320.png -tile 2x1 -geometry 480x480+3+3 -background '#0a0b11' \
    -dither FloydSteinberg -colors 96 "PNG8:$here/film.png"
