#!/bin/sh
# Serves the page until it is told to stop: serve.sh runserver|gunicorn PLACE PORT
set -eu
here=$(dirname "$0")
server=$1
export FIVE_FILES="$2"
address=127.0.0.1:$3

# A venv's Python comes first on the path; Debian's packages are the system's own.
for python in python3 /usr/bin/python3 ''; do
    "$python" -c 'import django, gunicorn' 2>/dev/null && break
done
if [ -z "$python" ]; then
    echo "no Python here has both Django and gunicorn: install Debian's python3-django and" \
        "gunicorn, or \`pip install django gunicorn\` in a venv and start iotoll from it" >&2
    exit 1
fi

# -B: nothing is written beside the sources.
case $server in
# Its greeting on standard output is of no use here.
runserver) exec "$python" -B "$here/five_files.py" runserver --noreload "$address" >/dev/null ;;
# Two workers, so that a page can be rendered while another is sent; files that are
# in memory leave nothing to wait for that would need more. The application is loaded
# before anyone listens (--preload), or else the first requests would wait for that.
gunicorn)
    exec "$python" -B -m gunicorn --chdir "$here" --preload --workers 2 \
        --worker-tmp-dir "$FIVE_FILES" --log-level warning --bind "$address" \
        five_files:application
    ;;
*)
    echo "$server: neither runserver nor gunicorn" >&2
    exit 2
    ;;
esac
