#!/bin/sh
# Serves a folder's PHP scripts through FastCGI until it is told to stop:
#
#     serve.sh lighttpd-php-cgi|nginx-php-fpm FOLDER PLACE PORT [NAME=VALUE...]
#
# NAME=VALUE is a setting of PHP's. The scripts find PLACE in their environment, and all
# that the servers write is below it. Both have four PHP processes, children of one
# parent, so that they share what opcache keeps; two for each core of a small machine,
# as one may wait for a lock or for the storage.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
stack=$1
FOLDER=$(cd "$2" && pwd) PLACE=$(cd "$3" && pwd) PORT=$4
shift 4
export FOLDER PLACE PORT TMPDIR="$PLACE"
# Debian keeps servers where the search path of others than root does not lead.
PATH=$PATH:/usr/sbin:/sbin
# Sockets have short names: their full ones may be longer than the system allows.
cd "$PLACE"

need() {
    command -v "$1" >/dev/null && return
    echo "there is no $1: install it (in Debian the package $2)" >&2
    exit 1
}

# PHP's settings, given as NAME=VALUE, are passed on as -d NAME=VALUE.
lighttpd_php_cgi() {
    need lighttpd lighttpd
    need php-cgi php-cgi
    PHP=$(command -v php-cgi)
    for setting; do PHP="$PHP -d $setting"; done
    export PHP
    exec lighttpd -D -f "$here/lighttpd.conf"
}

# Debian puts PHP's version into FPM's name.
find_fpm() {
    for fpm in "$(command -v php-fpm)" /usr/sbin/php-fpm[0-9]*; do
        [ -x "$fpm" ] && echo "$fpm" && return
    done
    need php-fpm php-fpm
}

nginx_php_fpm() {
    need nginx nginx-light
    fpm=$(find_fpm)
    for setting; do
        set -- "$@" -d "$setting"
        shift
    done
    mkdir nginx
    ln -s "$FOLDER" site
    USER=$(id -un)
    export USER
    sed "s/@USER@/$USER $(id -gn)/; s/@PORT@/$PORT/" "$here/nginx.conf" >nginx/conf

    # FPM leaves this process group: it is not ended with it, but from here.
    servers=
    trap 'kill $servers 2>/dev/null; wait' EXIT
    trap 'exit 143' TERM INT
    # --allow-to-run-as-root: a private folder is open to its owner alone, root or not.
    "$fpm" --nodaemonize --allow-to-run-as-root --prefix . \
        --fpm-config "$here/php-fpm.conf" "$@" &
    servers=$!
    while [ ! -S fpm.sock ]; do
        sleep 0.01
        kill -0 "$servers" 2>/dev/null && continue
        cat fpm.log >&2
        exit 1
    done
    nginx -p "$PLACE" -e stderr -c nginx/conf &
    servers="$servers $!"
    wait $!
}

case $stack in
lighttpd-php-cgi) lighttpd_php_cgi "$@" ;;
nginx-php-fpm) nginx_php_fpm "$@" ;;
*)
    echo "$stack: neither lighttpd-php-cgi nor nginx-php-fpm" >&2
    exit 2
    ;;
esac
