#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Draw study.png: steps per second of flocks, in flock.md, from results of `kith_bench study` on CPU
# cores and on a GPU. Wants python3 and gnuplot.
#
#   study.sh CPU.json GPU.json
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
python3 - "$1" "$2" "$work" <<'END'
"""Write a table for each curve: number of boids, threads or width of cells; steps per second."""
import json
import sys

KEYS = {"blocks": "threads", "widths": "cell_width"}
curves = {}
for path, device in zip(sys.argv[1:3], ("cpu", "gpu")):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["study"]
    for row in rows:
        name = f"{device}-{row['rung'].split(',')[0].lower().replace(' ', '-')}"
        if row["rung"] in KEYS:
            name += f"-{round(row['n'], -3)}"
        elif device == "cpu" and row["rung"] == "kith":
            name += "-1" if row["threads"] == 1 else "-all"
        elif device == "gpu" and row["rung"][0].isdigit():
            name = f"gpu-{row['rung'][0]}"
        name += "-viewed" * row["viewed"]
        key = row[KEYS.get(row["rung"], "n")]
        curves.setdefault(name, []).append((key, row["steps_per_second"]))
for name, points in curves.items():
    with open(f"{sys.argv[3]}/{name}.dat", "w", encoding="utf-8") as file:
        file.writelines(f"{x} {y}\n" for x, y in points)
END
cd "$work"
gnuplot <<'END'
set terminal pngcairo size 1000,760 font ',11'
set output 'study.png'
set multiplot layout 2,2
set grid lc rgb '#e0e0e0'
set logscale xy
set format x '10^{%L}'
set format y '10^{%L}'
set xlabel 'boids'
set ylabel 'steps / s'
set key bottom left Left reverse samplen 2
set xrange [900:7e6]
set yrange [0.02:*]
set title 'CPU'
plot 'cpu-naive.dat' w lp lc rgb '#888888' pt 7 ps 0.5 t 'naive, one core', \
     'cpu-scattered.dat' w lp lc rgb '#d55e00' pt 7 ps 0.5 t 'scattered grid, one core', \
     'cpu-coherent.dat' w lp lc rgb '#e69f00' pt 7 ps 0.5 t 'coherent grid, one core', \
     'cpu-kith-1.dat' w lp lc rgb '#009e73' pt 7 ps 0.5 t 'kith, one core', \
     'cpu-kith-all.dat' w lp lc rgb '#0072b2' pt 7 ps 0.5 t 'kith, all cores', \
     'cpu-kith-all-viewed.dat' w lp lc rgb '#0072b2' pt 6 ps 0.7 dt 2 \
     t 'kith, all cores, each step viewed'
set title 'GPU'
set yrange [0.2:*]
plot 'gpu-1.dat' w lp lc rgb '#888888' pt 7 ps 0.5 t 'naive', \
     'gpu-2.dat' w lp lc rgb '#d55e00' pt 7 ps 0.5 t 'scattered grid', \
     'gpu-3.dat' w lp lc rgb '#e69f00' pt 7 ps 0.5 t 'coherent grid', \
     'gpu-8.dat' w lp lc rgb '#009e73' pt 7 ps 0.5 t 'shared memory, rows', \
     'gpu-kith.dat' w lp lc rgb '#0072b2' pt 7 ps 0.5 t 'kith', \
     'gpu-kith-viewed.dat' w lp lc rgb '#0072b2' pt 6 ps 0.7 dt 2 t 'kith, each step viewed'
set title 'GPU, coherent grid: threads of a block'
unset logscale y
set logscale x 2
set format x '%g'
set format y '%g'
set xlabel 'threads'
set ylabel 'steps / s, largest = 1'
set key bottom center
set xrange [*:*]
set yrange [*:*]
stats 'gpu-blocks-50000.dat' using 2 nooutput name 'a'
stats 'gpu-blocks-500000.dat' using 2 nooutput name 'b'
set yrange [0:1.05]
plot 'gpu-blocks-50000.dat' using 1:($2 / a_max) w lp pt 7 ps 0.6 t '50,000 boids', \
     'gpu-blocks-500000.dat' using 1:($2 / b_max) w lp pt 7 ps 0.6 t '500,000 boids'
set title 'GPU, coherent grid: width of cells'
unset logscale x
set xrange [0:4.2]
set xlabel 'width of a cell / radius'
set yrange [*:*]
stats 'gpu-widths-50000.dat' using 2 nooutput name 'c'
stats 'gpu-widths-500000.dat' using 2 nooutput name 'd'
set yrange [0:1.05]
plot 'gpu-widths-50000.dat' using ($1 / 5):($2 / c_max) w lp pt 7 ps 0.6 t '50,000 boids', \
     'gpu-widths-500000.dat' using ($1 / 5):($2 / d_max) w lp pt 7 ps 0.6 t '500,000 boids'
unset multiplot
END
mv study.png "$here/study.png"
