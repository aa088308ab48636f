#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw a results file as bars, through gnuplot.

    plot.py results.json picture.svg|picture.png

Speeds in million half pairs (of friends of friends: particles) a second and thread, so that half
and full lists, one thread and more can be compared; kith in one colour, others in a second. Of a
file with both the pairs are drawn.
"""

import subprocess
import sys

from results import counts_pairs, load

OURS, OTHERS, INK = "#0072b2", "#e69f00", "#303030"
SCRIPT = """
set terminal {terminal} size {width},{height} font "sans,12" background rgb "white"
set output "{output}"
set label 1 "{title}" at screen 0.5, screen 1 center offset 0,-1.5 textcolor rgb "{ink}"
set tmargin 3
set xlabel "million {what} / s / thread" textcolor rgb "{ink}"
set border 1 linecolor rgb "{ink}"
set xtics nomirror out
set ytics nomirror scale 0 ({labels})
set yrange [{count}-0.4:-0.6]
set xrange [0:*]
set grid xtics linecolor rgb "#d0d0d0" linetype 1
set lmargin {margin}
set boxwidth 0.7
set style fill solid noborder
unset key
plot $bars using ($2/2):1:($2/2):(0.35):3 with boxxyerror linecolor rgb variable, \\
     $bars using 2:1:(sprintf(" %.4g", $2)) with labels left textcolor rgb "{ink}"
"""


def label(result):
    threads = f"{result['threads']} thread{'s' if result['threads'] > 1 else ''}"
    case = result["case"] if counts_pairs(result) else result["set"]
    if "bins" in result:
        case += f" {result['precision']}, {result['bins']} bins"
    if result["program"] == "kith":
        return f"kith {case}, {result['backend']}, {threads}"
    return f"{result['program']} {result['version']} {case}, {threads}"


def quoted(text):
    return text.replace("\\", "").replace('"', "'").replace("_", "\\\\_")


def draw(data, output):
    pairs = counts_pairs(data["results"][0])
    results = [r for r in data["results"] if counts_pairs(r) == pairs]
    speed = "million_half_pairs_per_second" if pairs else "million_particles_per_second"
    bars = [(label(r), r[speed] / r["threads"],
             int((OURS if r["program"] == "kith" else OTHERS)[1:], 16)) for r in results]
    lines = "\n".join(f"{k} {rate} {colour}" for k, (_, rate, colour) in enumerate(bars))
    labels = ", ".join(f'"{quoted(name)}" {k}' for k, (name, _, _) in enumerate(bars))
    machine, build = data["machine"], data["build"]
    script = SCRIPT.format(
        what="half pairs" if pairs else "particles",
        terminal="pngcairo" if output.endswith(".png") else "svg",
        output=output.replace('"', '\\"'),
        title=quoted(f"{machine['cpu']}, {build['compiler']}, commit {build['commit']}"),
        width=1000, height=90 + 22 * len(bars), count=len(bars), labels=labels, ink=INK,
        margin=max(len(name) for name, _, _ in bars))
    subprocess.run(["gnuplot"], input=f"$bars << EOD\n{lines}\nEOD\n{script}", text=True,
                   check=True)


def main():
    if len(sys.argv) != 3 or not sys.argv[2].endswith((".svg", ".png")):
        sys.exit(__doc__)
    draw(load(sys.argv[1]), sys.argv[2])


if __name__ == "__main__":
    main()
