#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw bridge.png: two halos that a thread joins, linked plainly and by each remedy. Wants kith in
# the path, and ImageMagick.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
kith make bridge 20000 --seed 1 -o bridge.hdf5 --quiet
panel() {
    name=$1 words=$2
    shift 2
    kith fof bridge.hdf5 --min-members 100 "$@" --plot "$name.png" --quiet
    convert "$name.png" -crop 1000x900+40+100 +repage -crop 860x620+0+120 +repage \
        -font DejaVu-Sans -pointsize 30 -fill white -annotate +24+48 "$words" "$name.png"
}
panel 1 "plain: 1 halo"
panel 2 "--phase-space 1.25s: 2 halos" --phase-space 1.25s
panel 3 "--min-links 8: 2 halos" --min-links 8
montage 1.png 2.png 3.png -tile 3x1 -geometry 500x+4+4 -background white -colors 128 \
    "PNG8:$here/bridge.png"
