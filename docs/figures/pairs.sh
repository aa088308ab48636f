#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw pairs.png: particles in a periodic rectangle, with a line for each pair in the colour of its
# distance, also across the faces. Wants kith in the path, awk, gnuplot and ImageMagick.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
kith make uniform 500 --seed 3 -q -o cube.txt
awk '!/^#/ { print 16 * $1, 10 * $2, 0 }' cube.txt >points.txt
kith pairs points.txt --box 16,10,1 --periodic xy --cutoff 1.1 --vectors --full -q -o pairs.txt
awk 'NR == FNR { x[n] = $1; y[n++] = $2; next }
     !/^#/ { print x[$1], y[$1], $3, $4, sqrt($3 * $3 + $4 * $4) }' points.txt pairs.txt >lines.txt
gnuplot <<END
set terminal pngcairo size 800,500 font 'Sans,10'
set output 'pairs.png'
set size ratio -1; set margins 0, 0, 0, 0
unset key; unset tics; unset colorbox; set border lw 1 lc rgb '#888888'
set xrange [0:16]; set yrange [0:10]
set palette defined (0 '#D55E00', 0.5 '#E69F00', 1 '#D6E6F2')
plot 'lines.txt' using 1:2:3:4:5 with vectors nohead lw 1.2 palette, \
     'points.txt' using 1:2 with points pt 7 ps 0.7 lc rgb '#0072B2'
END
convert pairs.png -dither None -colors 48 -define png:exclude-chunks=date,time "PNG8:$here/pairs.png"
