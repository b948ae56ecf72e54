#!/bin/sh
# Makes the database that the requests work on: prepare.sh PLACE
set -eu
here=$(dirname "$0")
if ! php-cgi -m 2>/dev/null | grep -qx pdo_sqlite; then
    echo "there is no php-cgi with SQLite: install it" \
        "(in Debian the packages php-cgi and php-sqlite3)" >&2
    exit 1
fi
PLACE=$1 php-cgi -q "$here/make.php"
