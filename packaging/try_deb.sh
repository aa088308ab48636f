#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Install a Debian package of kith in a new, minimal Debian 12 and use it there:
#   packaging/try_deb.sh build/deb/kith_*.deb       as root, with mmdebstrap and a network
set -eu
deb=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mmdebstrap --quiet --variant=apt bookworm "$root"
cp "$deb" "$root/tmp/kith.deb"
chroot "$root" sh -euc '
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends /tmp/kith.deb gcc libc6-dev pkg-config man-db \
        >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
    cd /tmp
    kith --version
    kith make clustered 100k --seed 1 -q -o points.h5
    kith fof points.h5 --box 1 -o halos.csv --plot halos.png
    kith pairs points.h5 --box 1 --cutoff 0.002 -o pairs.npy
    man kith-fof | head -4
    cc /usr/share/doc/kith/examples/first_pairs.c $(pkg-config --cflags --libs kith) -o first
    ./first
    apt-get purge -y -qq kith >/dev/null 2>&1
    left=$(find / -xdev -name "*kith*" -not -path "/tmp/*" -not -path "/proc/*" -not -path "/var/*")
    test -z "$left" && echo "purged" || { echo "left behind: $left"; exit 1; }'
