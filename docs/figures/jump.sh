#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw jump.png: the transitions of flock.md with vectorial and with angular noise. Wants kith in the
# path, gnuplot and ImageMagick; takes a minute on 32 cores. Tables that are in the folder KEPT are
# not made again.
#
#   jump.sh [KEPT]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
kept=${1:-$work}
sweep() {
    [ -e "$kept/$1.txt" ] || kith flock --boids "$2" --box "$3" --model "$4" --sweep "noise=$5" \
        --dim 2 --alignment 1 --max-speed 0.5 --time-step 1 --replicas 2 --equilibrate 5000 \
        --sample 20000 -o "$kept/$1.txt" --quiet
}
sweep vectorial16 512 16 vectorial 0.54:0.7:0.01
sweep vectorial32 2048 32 vectorial 0.54:0.7:0.01
sweep angular32 2048 32 vicsek 0.36:0.7:0.02
[ "$kept" = "$work" ] || cp "$kept"/*.txt "$work"
cd "$work"
gnuplot <<'END'
set terminal pngcairo size 900,340 font ',11'
set output 'jump.png'
set multiplot layout 1,2
set grid lc rgb '#e0e0e0'
set xlabel 'noise'
set ylabel 'order parameter'
set key bottom left
set yrange [0:1]
plot 'angular32.txt' u 1:2:(($4 > $3 ? $4 : $3)) w yerrorl pt 7 ps 0.5 t 'angular, L = 32', \
     'vectorial16.txt' u 1:2:(($4 > $3 ? $4 : $3)) w yerrorl pt 7 ps 0.5 t 'vectorial, L = 16', \
     'vectorial32.txt' u 1:2:(($4 > $3 ? $4 : $3)) w yerrorl pt 7 ps 0.5 t 'vectorial, L = 32'
set ylabel "Binder's cumulant"
set yrange [*:0.75]
plot 'angular32.txt' u 1:8 w lp pt 7 ps 0.5 notitle, 'vectorial16.txt' u 1:8 w lp pt 7 ps 0.5 notitle, \
     'vectorial32.txt' u 1:8 w lp pt 7 ps 0.5 notitle
unset multiplot
END
convert jump.png -colors 16 "PNG8:$here/jump.png"
