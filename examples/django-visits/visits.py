"""A Django project in one file: a view that counts visits in SQLite and writes a log.

Serve it in the folder that its files shall be in:

    python3 -B PATH/visits.py runserver --noreload 127.0.0.1:8000

It makes `visits.db` there where there is none.
"""

import logging
import os
import sqlite3
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import connection
from django.http import HttpResponse
from django.urls import path

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="nothing is signed",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "visits.db"}},
    LOGGING={
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"file": {"class": "logging.FileHandler", "filename": "visits.log"}},
        "loggers": {
            "visits": {"handlers": ["file"], "level": "INFO"},
            "django.server": {"level": "ERROR"},
        },
    },
)

PAGES = 10
log = logging.getLogger("visits")


def visit(request, number):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE visits SET count = count + 1 WHERE page = %s", [number % PAGES])
        cursor.execute("SELECT sum(count) FROM visits")
        total = cursor.fetchone()[0]
    log.info("page %s, visit %s", number, total)
    return HttpResponse(f"{total} visits")


urlpatterns = [path("<int:number>", visit)]


def make_database():
    with sqlite3.connect("visits.db") as database:
        database.execute("CREATE TABLE visits (page INTEGER PRIMARY KEY, count INTEGER)")
        database.executemany("INSERT INTO visits VALUES (?, 0)", [(n,) for n in range(PAGES)])


if __name__ == "__main__":
    if not os.path.exists("visits.db"):
        make_database()
    execute_from_command_line(sys.argv)
