#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What kith does, on a crystal, a clustered universe, a liquid and a flock:
#   demo.sh KITH FOLDER [DOCS]
# Results, pictures and index.html, which shows them with the commands that made them, go to FOLDER.
# With DOCS, gallery.md there and its smaller pictures are made anew too; wants ImageMagick.
set -eu
kith=$1 folder=$2 docs=${3:-}
[ -z "$docs" ] || docs=$(cd "$docs" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
lennard_jones=$(cd "$(dirname "$kith")/../examples" && pwd)/lennard_jones
kith=$(cd "$(dirname "$kith")" && pwd)/kith
data=$here/data
cd "$folder"
rm -f index.html gallery.md

# chapter TITLE TEXT; then run COMMAND...; then show PICTURE
chapter()
{
    title=$1
    printf '\n%s\n' "$1: $2"
    printf '<h2>%s</h2>\n<p>%s</p>\n' "$1" "$2" >>index.html
    printf '\n## %s\n\n%s\n' "$1" "$2" >>gallery.md
}

run()
{
    command=$*
    [ "$1" = "$lennard_jones" ] && command="lennard_jones ${*#"$1" }"
    printf '\n$ %s\n' "$command"
    printf '<pre>$ %s</pre>\n' "$command" >>index.html
    printf '\n    $ %s\n' "$command" >>gallery.md
    if [ "$1" = kith ]; then
        shift
        "$kith" "$@"
    else
        "$@"
    fi
}

show()
{
    [ -s "$1" ] || return 0 # where cairo or gnuplot is missing there is no picture
    printf '<img src="%s" alt="%s">\n' "$1" "$title" >>index.html
    if [ -n "$docs" ]; then
        small=demo_$(echo "$1" | tr / _)
        convert "$1" -resize '1000x>' -dither FloydSteinberg -colors 256 -define \
            png:exclude-chunks=date,time "PNG8:$docs/figures/$small"
        printf '\n![%s](figures/%s)\n' "$title" "$small" >>gallery.md
    fi
}

cat >index.html <<'HTML'
<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>kith: what it does</title>
<style>
body { max-width: 60em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 system-ui, sans-serif;
       color: #222; background: #fff }
pre { background: #f2f2f5; padding: .5em .8em; border-radius: 4px; overflow-x: auto }
img { max-width: 100%; margin: .5em 0 }
</style>
<h1>kith: which particles are near each other?</h1>
HTML
cat >gallery.md <<'MARKDOWN'
# Gallery

The pictures of `make demo`, each under the commands that made it. To make this page anew:

    sh examples/demo.sh build/release/cli/kith build/demo docs

More pictures: [the live view](view.md), [films](film.md), [flocks](flock.md), [halos](halos.md),
[g(r) from forces](force.md), [scattering](debye.md), [overlaps](overlap.md).
MARKDOWN

cp "$data/quartz.xyz" .
chapter "Bonds" "Alpha quartz: every silicon atom (648 of them) is bonded to four oxygen atoms."
run kith pairs quartz.xyz --cutoff 1.7 -o bonds.npy

chapter "Halos" "Halos over a uniform background, a million particles in a periodic box."
run kith make clustered 1M --seed 1 -o halos.npy
run kith pairs halos.npy --box 1 --cutoff 0.001 -o pairs.npy
run kith fof halos.npy --box 1 -o halos.csv --plot halos.png
show halos.png

chapter "A liquid" "Lennard-Jones near its triple point: its forces come from a list of pairs."
run "$lennard_jones" lj.xyz 2000
run kith rdf lj.xyz --unit sigma -o gr.txt --sq sq.txt --plot gr.png
show gr.png

chapter "A flock" "Boids that start in disorder, and agree on a way."
run kith flock --boids 5000 --box 60 --steps 600 --seed 1 --measure-every 20 \
    --plot flock.png --quiet
show flock.png

chapter "A film" "Twenty thousand boids that keep closer; the last of its pictures."
run kith flock --boids 20000 --box 80 --separation 1.5,0.1 --alignment 4,0.15 --cohesion 5,0.02 \
    --max-speed 1.5 --min-speed 0.5 --steps 160 --seed 5 --record film/ --record-every 2 \
    --film-size 640x640 --film-turn 24 --quiet
show film/000080.png

printf '\n%s\n' "Numbers, pictures and index.html, which shows all, are in $PWD."
if [ -n "$docs" ]; then
    cp gallery.md "$docs/gallery.md"
fi
rm -f gallery.md
