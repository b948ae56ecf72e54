#!/bin/sh
# Makes what a server needs: prepare.sh django-runserver|lighttpd-php-cgi PLACE
set -eu
examples=$(dirname "$0")/..
case $1 in
django-runserver) exec sh "$examples/django-five-files/prepare.sh" "$2" ;;
lighttpd-php-cgi) exec sh "$examples/php-sqlite/prepare.sh" "$2" ;;
*)
    echo "$1: neither django-runserver nor lighttpd-php-cgi" >&2
    exit 2
    ;;
esac
