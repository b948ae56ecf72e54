#!/bin/sh
# Serves a page of five files by Django's own server, or requests on SQLite by lighttpd with
# php-cgi, until it is told to stop: serve.sh django-runserver|lighttpd-php-cgi PLACE PORT
set -eu
examples=$(dirname "$0")/..
case $1 in
django-runserver) exec sh "$examples/django-five-files/serve.sh" runserver "$2" "$3" ;;
lighttpd-php-cgi)
    exec sh "$examples/php-stack/serve.sh" lighttpd-php-cgi "$examples/php-sqlite" "$2" "$3"
    ;;
*)
    echo "$1: neither django-runserver nor lighttpd-php-cgi" >&2
    exit 2
    ;;
esac
