#!/bin/sh
# Serves the pages until it is told to stop:
# serve.sh serialised|included-opcache-off|on PLACE PORT
set -eu
here=$(dirname "$0")
export FORM="${1%%-*}"
case $1 in
*-opcache-off) enabled=0 ;;
*-opcache-on) enabled=1 ;;
*)
    echo "$1: neither -opcache-off nor -opcache-on" >&2
    exit 2
    ;;
esac
# opcache looks at each file anew in each request, as an application needs whose cache
# may be rebuilt at any time: what remains of the files' cost is part of the question.
# It keeps files that were just made, too; by default it leaves them out for 2 seconds.
exec sh "$here/../php-stack/serve.sh" lighttpd-php-cgi "$here" "$2" "$3" \
    opcache.enable=$enabled opcache.validate_timestamps=1 opcache.revalidate_freq=0 \
    opcache.file_update_protection=0
