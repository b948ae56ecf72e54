//! Real programs, as small applications use them: what each finds, and what it does. Five are
//! here, which replays were made with; those that they are judged by are in `bench/programs.toml`.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use xtask::packages::is_installed;

/// A program in a folder of its own.
#[derive(Deserialize)]
pub(crate) struct Program {
    pub(crate) name: String,
    /// What must be installed, by the names that `cargo xtask packages` knows or of commands.
    pub(crate) needs: Vec<String>,
    /// Makes what it finds, in the working folder.
    pub(crate) prepare: String,
    /// What is recorded and timed, in the working folder.
    pub(crate) command: String,
}

impl Program {
    /// Whether all that it needs is installed; says so where it is not.
    pub(crate) fn can_run(&self) -> bool {
        let missing = self.needs.iter().find(|needed| !is_installed(needed));
        missing.inspect(|name| println!("{}: skipped, for there is no {name}", self.name)).is_none()
    }
}

/// The programs of others, as the file has them.
#[derive(Deserialize)]
struct Listed {
    program: Vec<Program>,
}

/// All programs.
pub(crate) fn all() -> Result<Vec<Program>> {
    let listed: Listed = toml::from_str(include_str!("../../../../bench/programs.toml"))
        .context("bench/programs.toml")?;
    let own = OWN.iter().map(|own| Program {
        name: own.name.to_owned(),
        needs: vec![own.needs.to_owned()],
        prepare: own.prepare.to_owned(),
        command: own.command.to_owned(),
    });
    Ok(own.chain(listed.program).collect())
}

/// A program of the five.
struct Own {
    name: &'static str,
    needs: &'static str,
    prepare: &'static str,
    command: &'static str,
}

const OWN: [Own; 5] = [
    Own {
        name: "PHP writing a log",
        needs: "php",
        prepare: "cat > append.php <<'END'\n\
                  <?php\n\
                  for ($n = 0; $n < 20000; $n++) {\n\
                      $line = sprintf('%06d GET /products/%d %s', $n, $n * 7919 % 10007, md5($n));\n\
                      file_put_contents('app.log', $line . \"\\n\", FILE_APPEND | LOCK_EX);\n\
                  }\n\
                  END",
        command: "php append.php",
    },
    Own {
        name: "sqlite3 shell",
        needs: "sqlite3",
        prepare: "sqlite3 shop.db 'CREATE TABLE orders (id INTEGER PRIMARY KEY, text)'\n\
                  for n in $(seq 400); do\n\
                      echo \"INSERT INTO orders (text) VALUES (printf('%0200d', $n));\"\n\
                      echo \"SELECT count(*) FROM orders WHERE id > $n - 20;\"\n\
                  done > statements.sql",
        command: "sqlite3 shop.db < statements.sql > out",
    },
    Own {
        name: "git clone",
        needs: "git",
        prepare: "mkdir source && cd source && git init -q -b main .\n\
                  for n in $(seq 600); do\n\
                      mkdir -p d$((n % 30)) && seq $n $((n + 900)) > d$((n % 30))/$n\n\
                  done\n\
                  git add . && git -c user.name=x -c user.email=x@x commit -q -m all",
        command: "git clone -q --no-hardlinks source copy",
    },
    Own {
        name: "tar of a source tree",
        needs: "tar",
        prepare: "for n in $(seq 1500); do\n\
                      mkdir -p tree/d$((n % 40)) && seq $n $((n * 3 % 4000 + n)) > tree/d$((n % 40))/$n\n\
                  done",
        command: "tar cf tree.tar tree",
    },
    Own {
        name: "a Django view",
        needs: "django",
        prepare: DJANGO,
        command: "/usr/bin/python3 view.py",
    },
];

/// A view that counts visits in SQLite and writes a log, called as a server calls it.
const DJANGO: &str = r#"cat > view.py <<'END'
import logging, os, sys
import django
from django.conf import settings
settings.configure(
    DEBUG=False, SECRET_KEY="x", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "visits.db"}})
django.setup()
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import path
log = logging.getLogger("visits")
log.addHandler(logging.FileHandler("visits.log"))
def view(request, number):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE visits SET count = count + 1 WHERE id = %s", [number % 10])
        cursor.execute("SELECT sum(count) FROM visits")
        total = cursor.fetchone()[0]
    log.warning("visit %s of %s", total, number)
    return HttpResponse(f"{total} visits")
urlpatterns = [path("visit/<int:number>", view)]
client = Client()
for number in range(300):
    assert client.get(f"/visit/{number}").status_code == 200
END
/usr/bin/python3 - <<'END'
import sqlite3
with sqlite3.connect("visits.db") as db:
    db.execute("CREATE TABLE visits (id INTEGER PRIMARY KEY, count INTEGER)")
    db.executemany("INSERT INTO visits VALUES (?, 0)", [(n,) for n in range(10)])
END"#;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::HashSet;

    use super::*;

    #[test]
    fn all_programs_can_be_read_and_have_names() {
        let programs = all().unwrap();
        assert!(programs.len() >= 25);
        let names: HashSet<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names.len(), programs.len());
        assert!(programs.iter().all(|program| !program.needs.is_empty()));
    }
}
