# A writer in Python. Run with `python3 -I -c`; speaks the workers' protocol, a
# line of JSON at a time, on standard input and output.

import gc
import json
import logging
import logging.handlers
import math
import os
import resource
import sys
import time
from collections import Counter

clock = time.monotonic_ns


def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def say(what):
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def strict(handler):
    """logging swallows errors of its handlers; here none may go unseen."""

    class Strict(handler):
        def handleError(self, record):
            raise

    return Strict


def opened(handler, name):
    """A handler of a file in the working directory. logging would make the name absolute,
    and somebody could exchange a directory on that path for a link."""
    handler = handler(name, delay=True)
    handler.baseFilename = name
    handler.stream = handler._open()
    if isinstance(handler, logging.handlers.WatchedFileHandler):
        handler._statstream()
    return handler


HANDLERS = {
    "python-file-handler": strict(logging.FileHandler),
    "python-watched-file-handler": strict(logging.handlers.WatchedFileHandler),
}


def wait_until(at):
    """Sleeps, then spins, until the clock shows so much."""
    left = at - clock() - 100_000
    if left > 0:
        time.sleep(left / 1e9)
    while clock() < at:
        pass


def counted(latencies):
    """Latencies within 0.4%, and how often each came."""
    def rounded(ns):
        step = 1 << max(0, ns.bit_length() - 8)
        return ns - ns % step
    return list(Counter(map(rounded, latencies)).items())


def run(work):
    with open(work["records_file"], encoding="ascii") as file:
        records = file.read().split("\n")[:-1]
    os.chdir(work["folder"])
    handler = opened(HANDLERS[work["strategy"]], f"{work['stem']}.log")
    logger = logging.Logger("iotoll")
    logger.addHandler(handler)
    info = logger.info
    every, interval = work["sync_records"], work["sync_interval_ns"]
    pace, first = work["pace_ns"], work["pace_first_ns"]
    latencies, services = [0] * len(records), []
    sync_calls = sync_ns = 0
    gc.disable()
    say("ready")
    told = hear()
    if told is None:
        sys.exit(0)
    wait_until(told["start"])

    usage = resource.getrusage(resource.RUSAGE_SELF)
    began = last = clock()
    next_sync = began + work["sync_first_ns"] if interval else math.inf
    until_sync = every or -1
    for index, record in enumerate(records):
        if pace:
            last = int(began + first + index * pace)
            wait_until(last)
            real = clock()
        info(record)
        until_sync -= 1
        if until_sync == 0 or last >= next_sync:
            before = clock()
            os.fdatasync(handler.stream.fileno())
            sync_ns += clock() - before
            sync_calls += 1
            until_sync = every or -1
            next_sync = last + interval if interval else math.inf
        now = clock()
        latencies[index] = now - last
        if pace:
            services.append(now - real)
        last = now
    handler.close()
    ended = clock()
    used = resource.getrusage(resource.RUSAGE_SELF)
    gc.enable()

    figures = {}
    if services:
        services.sort()
        figures["service_mean_ns"] = sum(services) / len(services)
        figures["service_p99_ns"] = services[math.ceil(0.99 * len(services)) - 1]
    return {
        "acknowledged": len(records),
        "started_after_ns": began - told["start"],
        "ended_after_ns": ended - told["start"],
        "unit_ns": 1.0,
        "latencies": counted(latencies),
        "latency_max": max(latencies),
        "spent": {
            "elapsed_ns": sum(latencies) if pace else ended - began,
            "sync_calls": sync_calls,
            "sync_ns": sync_ns,
            "user_ns": int((used.ru_utime - usage.ru_utime) * 1e9),
            "system_ns": int((used.ru_stime - usage.ru_stime) * 1e9),
            "requested_bytes": sum(map(len, records)) + len(records),
        },
        "figures": figures,
    }


while (told := hear()) is not None:
    if "work" not in told:
        continue
    try:
        say({"done": run(told["work"]["assignment"]["work"])})
    except Exception as error:
        say({"failed": f"Python: {error}"})
