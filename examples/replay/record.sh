#!/bin/sh
# Records examples/replay.trace again, by the iotoll that is named, or the one on the path:
# sh examples/replay/record.sh [IOTOLL]
set -eu
iotoll=${1:-iotoll}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The program lies beside its files, so that the trace does not name its author's folders.
cp "$here/shop.php" "$folder"
cd "$folder"
php shop.php prepare
sync -f .
"$iotoll" record -o replay.trace -- php shop.php 2>&1 </dev/null | cat
mv replay.trace "$here/../replay.trace"
