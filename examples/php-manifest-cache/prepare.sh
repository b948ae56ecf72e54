#!/bin/sh
# Makes an application's sources and their cache:
# prepare.sh serialised|included[-opcache-off|-opcache-on] PLACE
set -eu
here=$(dirname "$0")
if ! php-cgi -m 2>/dev/null | grep -qx 'Zend OPcache'; then
    echo "there is no php-cgi with opcache: install it" \
        "(in Debian the packages php-cgi and php-opcache)" >&2
    exit 1
fi
FORM=${1%%-*} PLACE=$2 php-cgi -q "$here/make.php"
