//! The library within programs: what it leaves alone, what it sees, and what it says it does not.

use std::fs;
use std::path::Path;
use std::process::Command;

use trace::{Entry, Op, Unseen};

use crate::common::{iotoll, skip, stderr, stdout};
use crate::record::recorded::{Program, Recorded, mechanisms, read, recording};

/// Fails where the library changes what a program does with signals, threads or processes, or what
/// it is told of a call that fails.
#[test]
fn rough_programs_do_as_they_do_alone() {
    let test = "rough_programs_do_as_they_do_alone";
    let Some(program) = Program::built_of("rough.c", test, &[]) else { return };
    let mut alone = Command::new(&program.file);
    sys::start::default_signals(&mut alone);
    let alone = alone.output().unwrap();
    assert_eq!(alone.status.code(), Some(42), "{}", stdout(&alone));
    for mechanism in mechanisms(test) {
        let trace = program.folder.path().join("x.trace");
        let output = recording(mechanism, &trace).arg(&program.file).output().unwrap();
        assert_eq!(stdout(&output), stdout(&alone), "{mechanism}");
        assert_eq!(output.status.code(), Some(42), "{mechanism}: {}", stderr(&output));
    }
}

/// Fails where a program that writes to the memory which it shares with the recorder ends that,
/// and its exit code is lost.
#[test]
fn a_program_that_scribbles_keeps_its_exit_code() {
    let test = "a_program_that_scribbles_keeps_its_exit_code";
    if !mechanisms(test).contains(&"preload") {
        return;
    }
    let Some(program) = Program::built_of("scribbles.c", test, &[]) else { return };
    let trace = program.folder.path().join("x.trace");
    let output = recording("preload", &trace).arg(&program.file).output().unwrap();
    assert_eq!(output.status.code(), Some(42), "{}", stderr(&output));
    assert!(!stderr(&output).contains("internal error"), "{}", stderr(&output));
    assert!(read(&trace).summary.is_some(), "the trace has no end");
}

/// How often each of the calls was made that the dynamic linker does not make.
fn changes(recorded: &Recorded) -> Vec<(Op, usize)> {
    let changes = [
        Op::Write,
        Op::Fsync,
        Op::Fdatasync,
        Op::Truncate,
        Op::Rename,
        Op::Unlink,
        Op::Mkdir,
        Op::Rmdir,
        Op::Lock,
        Op::Getdents,
        Op::Link,
        Op::Chmod,
        Op::Wait,
    ];
    changes.into_iter().map(|op| (op, recorded.count(op, |_| true))).collect()
}

/// Fails where calls of an interpreter, a shell or a database are not seen, of themselves or of
/// what they start.
#[test]
fn real_programs_make_the_calls_that_ptrace_sees() {
    let test = "real_programs_make_the_calls_that_ptrace_sees";
    if !mechanisms(test).contains(&"preload") {
        return;
    }
    for (needs, script) in [
        ("sh", "mkdir a b; for n in 1 2 3; do echo $n > a/$n; mv a/$n b; done; ls b | sort; rm -r a b"),
        ("php", "php -r 'for ($n = 0; $n < 50; $n++) file_put_contents(\"log\", \"$n\\n\", FILE_APPEND);
            unlink(\"log\"); echo shell_exec(\"echo done\");'"),
        ("sqlite3", "sqlite3 x.db 'CREATE TABLE t (v); INSERT INTO t VALUES (1), (2); DELETE FROM t'"),
        ("/usr/bin/python3", "/usr/bin/python3 -c 'import os, subprocess, threading
def work(name):
    with open(name, \"w\") as file:
        for n in range(100): file.write(\"%d\\n\" % n); file.flush()
    os.rename(name, name + \".done\")
threads = [threading.Thread(target=work, args=(\"f%d\" % n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(subprocess.run([\"cat\", \"f0.done\"], capture_output=True).stdout[:6])
if os.fork() == 0: os._exit(3)
print(os.wait()[1])'"),
        // Dates are part of what git names folders after.
        ("git", "export GIT_AUTHOR_DATE='@1 +0000' GIT_COMMITTER_DATE='@1 +0000'; git init -q x; cd x; \
            echo 1 > f; git add f; git -c user.name=x -c user.email=x@y commit -q -m x; cd ..; \
            git clone -q x y; git -C y fsck"),
    ] {
        if !Command::new(needs).arg("--version").output().is_ok_and(|_| true) {
            skip(test, &format!("{needs} is not installed"));
            continue;
        }
        let [ours, theirs] = ["preload", "ptrace"].map(|mechanism| {
            let folder = tempfile::tempdir().unwrap();
            let trace = folder.path().join("x.trace");
            let work = folder.path().join("work");
            fs::create_dir(&work).unwrap();
            let mut command = recording(mechanism, &trace);
            let output =
                command.args(["sh", "-c", script]).current_dir(&work).output().unwrap();
            assert!(output.status.success(), "{mechanism} {needs}: {}", stderr(&output));
            (stdout(&output), read(&trace))
        });
        assert_eq!(ours.0, theirs.0, "{needs}");
        assert_eq!(changes(&ours.1), changes(&theirs.1), "{needs}");
        assert_eq!(ours.1.lost(), 0, "{needs}");
    }
}

/// Fails where a program that does not take the library is not told of, where a trace without what
/// it did is replayed, or where what dynamic programs are given reaches it.
#[test]
fn static_programs_run_unseen_and_are_counted() {
    let test = "static_programs_run_unseen_and_are_counted";
    let Some(program) = Program::built(test, &["-static"]) else { return };
    if !mechanisms(test).contains(&"preload") {
        return;
    }
    let writes = program.does("write", 10).join(" ");
    let script = format!("{writes}; env -i {writes}; env -i sh -c 'echo one > log; env'");
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("x.trace");
    let output = recording("preload", &trace)
        .args(["sh", "-c", &script])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stdout(&output).contains("LD_PRELOAD"), "{}", stdout(&output));
    let recorded = read(&trace);
    let unseen: u64 = recorded
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Unseen { kind: Unseen::Programs, count } => Some(*count),
            _ => None,
        })
        .sum();
    assert_eq!(unseen, 2);
    assert_eq!(recorded.count(Op::Write, |call| call.length == 4), 1, "behind env -i it is seen");
    let log = fs::metadata(program.folder.path().join("log")).unwrap();
    assert_eq!(log.len(), 2 * 10 * 70, "they ran");
    let replayed = format!("replay.trace={}", trace.display());
    let replay = ["compare", "--study", "replay", "--set", &replayed, "--no-save"];
    let output = iotoll().args(replay).arg(folder.path()).output().unwrap();
    crate::common::assert_fails(&output, 2, &["2 programs"]);
}

/// Fails where a program's own libraries are lost, or seen to be others.
#[test]
fn a_library_of_the_programs_own_stays() {
    let test = "a_library_of_the_programs_own_stays";
    if !mechanisms(test).contains(&"preload") {
        return;
    }
    let Some(own) = ["libm.so.6", "libdl.so.2"].into_iter().find(|name| {
        let folders = ["/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"];
        folders.iter().any(|folder| Path::new(folder).join(name).exists())
    }) else {
        skip(test, "there is no library to load");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let output = recording("preload", &folder.path().join("x.trace"))
        .args(["sh", "-c", "echo $LD_PRELOAD; grep -c libm.so /proc/self/maps; env | grep LD_PRE"])
        .env("LD_PRELOAD", own)
        .output()
        .unwrap();
    let said = stdout(&output);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((lines[0], lines[2]), (own, &*format!("LD_PRELOAD={own}")), "{said}");
}
