#!/bin/sh
# Fails with exit code 5 if file I/O surely takes more time than in an earlier run, and with
# exit code 6 if this run lacks something of the earlier one.
# Without an earlier run it measures one, for the next time.
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
