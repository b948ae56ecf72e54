#!/bin/sh
# Makes the five files of the page: prepare.sh PLACE
# Of 211,800 bytes together, the nth has 1/n of the first's.
set -eu
n=0
for size in 92762 46379 30919 23189 18551; do
    n=$((n + 1))
    seq 100000 | head -c "$size" >"$1/part$n.txt"
done
