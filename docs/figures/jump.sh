#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw jump.png: the transitions of flock.md with vectorial and with angular noise. Wants kith in the
# path, and gnuplot; takes some minutes on 32 cores. Tables that are in the folder KEPT are not made
# again.
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
sweep fine16 512 16 vectorial 0.606:0.624:0.002
sweep angular16 512 16 vicsek 0.36:0.7:0.02
[ "$kept" = "$work" ] || cp "$kept"/*.txt "$work"
cd "$work"
gnuplot <<'END'
set terminal pngcairo size 900,340 font ',11'
set output 'jump.png'
set multiplot layout 1,2
set grid lc rgb '#e0e0e0'
set xlabel 'noise'
set ylabel 'order parameter'
set key bottom left Left reverse samplen 2
set yrange [0:1]
plot 'angular16.txt' using 1:2:4 with yerrorlines lc rgb '#888888' pt 7 ps 0.5 \
         title 'angular, L = 16', \
     'vectorial16.txt' using 1:2:4 with yerrorlines lc rgb '#0072b2' pt 7 ps 0.5 \
         title 'vectorial, L = 16', \
     'vectorial32.txt' using 1:2:4 with yerrorlines lc rgb '#d55e00' pt 7 ps 0.5 \
         title 'vectorial, L = 32'
set ylabel "Binder's cumulant"
set yrange [*:0.7]
plot 'angular16.txt' using 1:8 with linespoints lc rgb '#888888' pt 7 ps 0.5 notitle, \
     '< cat vectorial16.txt fine16.txt | sort -g' using 1:8 with linespoints lc rgb '#0072b2' \
         pt 7 ps 0.5 notitle, \
     'vectorial32.txt' using 1:8 with linespoints lc rgb '#d55e00' pt 7 ps 0.5 notitle
unset multiplot
END
mv jump.png "$here/jump.png"
