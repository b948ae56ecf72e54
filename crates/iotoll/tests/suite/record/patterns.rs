//! Small real programs, each of which does one thing that may pay to be done another way: whether
//! the bill of a recording knows it, and whether its command runs as it is pasted.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use trace::{Bill, Journal, Pattern, PatternKind, TraceReader, bill_of};

use crate::common::{at_once, iotoll, skip, stderr};

/// A program, and what it does.
struct Real {
    name: &'static str,
    /// It must be installed.
    needs: &'static str,
    /// Lines for sh, in a folder of its own.
    script: &'static str,
    does: fn(&PatternKind) -> bool,
}

const PROGRAMS: &[Real] = &[
    Real {
        name: "PHP opens a log for each record",
        needs: "php",
        script: r#"exec php -r 'for ($n = 0; $n < 3000; $n++)
            file_put_contents("app.log", str_repeat("x", 136) . "\n", FILE_APPEND);'"#,
        does: |what| {
            matches!(what, PatternKind::Reopened { path, times: 3000, record_bytes: 137, synced: false, .. }
                if path.ends_with("/app.log"))
        },
    },
    Real {
        name: "PHP opens a log for each record and forces it to the device",
        needs: "php",
        script: r#"exec php -r 'for ($n = 0; $n < 200; $n++) {
            $log = fopen("app.log", "a"); fwrite($log, "$n\n"); fsync($log); fclose($log); }'"#,
        does: |what| matches!(what, PatternKind::SyncedEach { syncs: 200, .. }),
    },
    Real {
        name: "Python forces each record to the device",
        needs: "python3",
        script: "exec /usr/bin/python3 -c 'import os
with open(\"app.log\", \"a\") as log:
    for number in range(200):
        log.write(\"x\" * 136 + \"\\n\")
        log.flush()
        os.fsync(log.fileno())'",
        does: |what| matches!(what, PatternKind::SyncedEach { syncs: 200, record_bytes: 137, .. }),
    },
    Real {
        name: "PHP writes a few bytes at a time",
        needs: "php",
        script: r#"exec php -r '$out = fopen("out.csv", "w");
            for ($n = 0; $n < 20000; $n++) fwrite($out, sprintf("%06d;%06d\n", $n, $n * 7));'"#,
        does: |what| matches!(what, PatternKind::SmallWrites { writes: 20_000, write_bytes: 14, .. }),
    },
    Real {
        name: "PHP reads its settings for each request",
        needs: "php",
        script: r#"mkdir conf
            for n in 1 2 3; do echo '{"debug": false, "size": 1000}' > conf/$n.json; done
            exec php -r 'for ($n = 0; $n < 1000; $n++) for ($m = 1; $m <= 3; $m++)
                json_decode(file_get_contents("conf/$m.json"));'"#,
        does: |what| {
            matches!(what, PatternKind::ReadAgain { path, files: 3, times: 2997, .. }
                if path.ends_with("/conf"))
        },
    },
    Real {
        name: "Python looks for templates in three folders",
        needs: "python3",
        script: "mkdir one two three; touch three/page.html
exec /usr/bin/python3 -c 'import os
for number in range(5000):
    [folder for folder in (\"one\", \"two\", \"three\") if os.path.exists(folder + \"/page.html\")]'",
        does: |what| {
            matches!(what, PatternKind::Looks { looks, again, missing, .. }
                if *looks >= 15_000 && *again >= 14_990 && *missing >= 10_000)
        },
    },
    Real {
        name: "Python waits for a lock that another has",
        needs: "python3",
        script: "cat > work.py <<'END'
import fcntl, time
with open(\"orders.lock\", \"w\") as lock:
    for number in range(200):
        fcntl.flock(lock, fcntl.LOCK_EX)
        time.sleep(0.001)
        fcntl.flock(lock, fcntl.LOCK_UN)
END
/usr/bin/python3 work.py & /usr/bin/python3 work.py & wait",
        does: |what| {
            matches!(what, PatternKind::Locks { path, locks: 400, threads: 2, .. }
                if path.ends_with("/orders.lock"))
        },
    },
    Real {
        name: "the shell of SQLite, with a journal that is deleted",
        needs: "sqlite3",
        script: "for n in $(seq 100); do echo \"INSERT INTO t (v) VALUES ($n);\"; done > inserts
{ echo 'CREATE TABLE t (v);'; cat inserts; } | sqlite3 shop.db",
        does: |what| is_database(what, Journal::Delete, "shop.db"),
    },
    Real {
        name: "the shell of SQLite, with a journal that is emptied",
        needs: "sqlite3",
        script: "for n in $(seq 100); do echo \"INSERT INTO t (v) VALUES ($n);\"; done > inserts
{ echo 'PRAGMA journal_mode = truncate; CREATE TABLE t (v);'; cat inserts; } | sqlite3 shop.db",
        does: |what| is_database(what, Journal::Truncate, "shop.db"),
    },
    Real {
        name: "the shell of SQLite, with a journal that stays",
        needs: "sqlite3",
        script: "for n in $(seq 100); do echo \"INSERT INTO t (v) VALUES ($n);\"; done > inserts
{ echo 'PRAGMA journal_mode = persist; CREATE TABLE t (v);'; cat inserts; } | sqlite3 shop.db",
        does: |what| is_database(what, Journal::Persist, "shop.db"),
    },
    Real {
        name: "Python and SQLite with a write-ahead log",
        needs: "python3",
        script: "exec /usr/bin/python3 -c 'import sqlite3
shop = sqlite3.connect(\"shop.db\")
shop.execute(\"PRAGMA journal_mode = wal\")
shop.execute(\"CREATE TABLE t (v)\")
for number in range(100):
    with shop:
        shop.executemany(\"INSERT INTO t VALUES (?)\", [(number,)] * 10)'",
        does: |what| is_database(what, Journal::Wal, "shop.db"),
    },
];

fn is_database(what: &PatternKind, journal: Journal, name: &str) -> bool {
    matches!(what, PatternKind::Sqlite(database) if database.journal == journal
        && database.path.ends_with(name) && (100..=103).contains(&database.transactions))
}

/// Fails where a pattern of a real program is missed or has other numbers, or where its command
/// cannot be pasted.
#[test]
fn what_real_programs_do_is_known_and_the_command_answers() {
    let test = "what_real_programs_do_is_known_and_the_command_answers";
    at_once(3, PROGRAMS, |real| is_known_and_answered(test, real));
}

fn is_known_and_answered(test: &str, real: &Real) {
    let installed = Command::new(real.needs).arg("--version").output();
    if !installed.is_ok_and(|output| output.status.success()) {
        skip(test, &format!("{}: there is no {}", real.name, real.needs));
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let bill = recorded(real, &folder);
    let Some(pattern) = bill.patterns.iter().find(|pattern| (real.does)(&pattern.what)) else {
        panic!("{}: {:#?}", real.name, bill.patterns);
    };
    // Of names in memory, the answer is known.
    if matches!(pattern.what, PatternKind::Looks { .. }) && pattern.command.is_empty() {
        return;
    }
    pasted(real, folder.path(), pattern);
}

/// The bill of a program, which was recorded in a folder.
fn recorded(real: &Real, folder: &TempDir) -> Bill {
    let kept = tempfile::tempdir().unwrap();
    let trace = kept.path().join("x.trace");
    let mut record = iotoll();
    record.args(["record", "-o"]).arg(&trace).args(["--", "sh", "-ec", real.script]);
    let output = record.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}: {}", real.name, stderr(&output));
    bill_of(&mut TraceReader::new(File::open(&trace).unwrap()).unwrap(), report::command_of)
        .unwrap()
}

/// Runs a pattern's command for a round; it may leave nothing.
fn pasted(real: &Real, folder: &Path, pattern: &Pattern) {
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let program = iotoll();
    let own = pattern.command.replacen("iotoll", &program.get_program().to_string_lossy(), 1);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{own} --rounds 1 --budget 10s --no-save")]).current_dir(folder);
    shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    let said = stderr(&output);
    assert!(output.status.success(), "{}: {}\n{said}", real.name, pattern.command);
    assert_eq!(names(), before, "{}", real.name);
}
