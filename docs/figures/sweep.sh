#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw sweep.png: Vicsek's transition in flock.md. Wants kith in the path, gnuplot and ImageMagick;
# takes some minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
for flock in "40 3.1" "100 5" "400 10"; do
    kith flock --boids "${flock% *}" --box "${flock#* }" --dim 2 --model vicsek --alignment 1 \
        --max-speed 0.03 --time-step 1 --sweep noise=0:0.8:0.05 --replicas 5 --equilibrate 2000 \
        --sample 5000 --plot "v${flock% *}.png" --quiet
done
gnuplot <<'END'
set terminal pngcairo size 900,340 font ',11'
set output 'sweep.png'
set multiplot layout 1,2
set xlabel 'noise'
set ylabel 'order parameter'
set key bottom left
plot for [n in '40 100 400'] 'v'.n.'.dat' using 1:2:3 with yerrorlines lw 1.5 pt 7 ps 0.5 \
    title 'N = '.n
set ylabel 'susceptibility'
set yrange [0:*]
set key top left
plot for [n in '40 100 400'] 'v'.n.'.dat' using 1:4:5 with yerrorlines lw 1.5 pt 7 ps 0.5 \
    title 'N = '.n
unset multiplot
END
convert sweep.png -colors 16 "PNG8:$here/sweep.png"
