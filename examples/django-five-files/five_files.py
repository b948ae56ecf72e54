"""A Django project in one file: a page that reads five files for every request.

It serves itself (`five_files.py runserver`), or is served as `five_files:application`.
The folder of the files is named by the environment variable FIVE_FILES.
"""

import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.core.wsgi import get_wsgi_application
from django.shortcuts import render
from django.urls import path

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="nothing is signed",
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "DIRS": [os.path.dirname(os.path.abspath(__file__))],
        }
    ],
    # A line logged for each request would be I/O of its own.
    LOGGING={
        "version": 1,
        "disable_existing_loggers": False,
        "loggers": {"django.server": {"level": "ERROR"}},
    },
)

PARTS = [os.path.join(os.environ["FIVE_FILES"], f"part{n}.txt") for n in range(1, 6)]


def page(request):
    texts = []
    for part in PARTS:
        with open(part, encoding="utf-8") as file:
            texts.append(file.read())
    return render(request, "page.html", {"texts": texts})


urlpatterns = [path("", page)]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
else:
    application = get_wsgi_application()
