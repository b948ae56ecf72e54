#!/bin/sh
# Fails, with exit code 5, where file I/O takes surely more time than in an earlier run.
# Without that run it measures one, for the next time.
#
#     gate.sh BASELINE.json [arguments of iotoll compare]...
#
# What changed is in iotoll.xml as well, as JUnit's XML.
set -eu

baseline=$1
shift

if [ ! -e "$baseline" ]; then
    exec iotoll compare "$@" --json "$baseline"
fi
exec iotoll compare "$@" --baseline "$baseline" --junit iotoll.xml ${GITHUB_ACTIONS:+--github}
