#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw debye.png: I(q) and G(r) of a sphere of gold. Wants kith in the path, awk and gnuplot.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
awk 'BEGIN { a = 4.08; for (i = -20; i <= 20; i++) for (j = -20; j <= 20; j++)
     for (k = -20; k <= 20; k++) if ((i + j + k) % 2 == 0 && i*i + j*j + k*k <= (40 / a)^2)
         row[n++] = "Au " i*a/2 " " j*a/2 " " k*a/2
     print n "\n"; for (p = 0; p < n; p++) print row[p] }' > gold.xyz
kith debye gold.xyz --b-iso 0.3 --q-damp 0.04 --q-min 0.8 --q-width 0.02 -o iq.txt --gr gr.txt -q
gnuplot <<END
set terminal pngcairo size 900,330 font 'Sans,10'
set output '$here/debye.png'
set multiplot layout 1,2
set tics scale 0.6; unset key; set logscale y
set xlabel 'q (1/Å)'; set ylabel 'I(q)'; set xrange [0.8:15]
plot 'iq.txt' using 1:2 with lines lw 1.5 lc rgb '#0072B2'
unset logscale y
set xlabel 'r (Å)'; set ylabel 'G(r)'; set xrange [0:15]
plot 0 with lines lc rgb '#BBBBBB', 'gr.txt' using 1:2 with lines lw 1.5 lc rgb '#0072B2'
END
