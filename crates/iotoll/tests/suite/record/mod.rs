//! What `iotoll record` and `iotoll watch` see of programs, and that these do not notice.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;
mod patterns;
mod preloaded;
mod recorded;
mod unharmed;
mod watched;

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{iotoll, skip, stderr, stdout};
use recorded::{Program, mechanisms, read, record, recording};
use trace::{Entry, FileKind, Op, Unseen, WORKING_FOLDER};

#[test]
fn every_write_is_recorded_of_dynamic_and_static_programs() {
    let test = "every_write_is_recorded_of_dynamic_and_static_programs";
    for flags in [&[][..], &["-static"]] {
        let Some(program) = Program::built(test, flags) else { continue };
        for mechanism in mechanisms(test) {
            if mechanism == "preload" && !flags.is_empty() {
                let trace = program.folder.path().join("x.trace");
                let refused = recording(mechanism, &trace).args(program.does("write", 1)).output();
                common::assert_fails(&refused.unwrap(), 1, &["is a static program"]);
                continue;
            }
            for (what, writes) in [("write", 1000), ("stdio", 1000), ("threads", 4000)] {
                let recorded = record(mechanism, &program.does(what, 1000));
                let said = stderr(&recorded.output);
                assert!(recorded.output.status.success(), "{mechanism} {what}: {said}");
                let like = |call: &trace::Call| call.length == 70 && call.result == 70;
                assert_eq!(recorded.count(Op::Write, like), writes, "{mechanism} {what} {flags:?}");
                assert_eq!(recorded.lost(), 0);
            }
        }
    }
}

#[test]
fn every_kind_of_call_has_its_arguments() {
    let test = "every_kind_of_call_has_its_arguments";
    let Some(program) = Program::built(test, &[]) else { return };
    for mechanism in mechanisms(test) {
        let recorded = record(mechanism, &program.does("kinds", 20));
        assert!(recorded.output.status.success(), "{}", stderr(&recorded.output));
        assert_eq!(recorded.count_of(Op::Open, "log.other"), 20, "{mechanism}");
        assert_eq!(recorded.count(Op::Write, |c| c.length == 30 && c.result == 30), 20);
        assert_eq!(recorded.count(Op::Write, |c| c.length == 7 && c.offset == 100), 20);
        assert_eq!(recorded.count(Op::Read, |c| c.length == 100 && c.offset == 3), 20);
        assert_eq!(recorded.count(Op::Seek, |c| c.offset == 1 && c.result == 1), 20);
        assert_eq!(recorded.count(Op::Lock, |c| c.offset == 5 && c.length == 6), 20);
        assert_eq!(recorded.count(Op::Fsync, |c| c.fd >= 3), 20);
        assert_eq!(recorded.count(Op::Truncate, |c| c.length == 3), 20);
        assert_eq!(recorded.count(Op::Duplicate, |c| c.result > i64::from(c.fd)), 20);
        assert_eq!(recorded.count_of(Op::Stat, "log.other"), 20);
        assert_eq!(recorded.count_of(Op::Access, "log.other"), 20);
        assert_eq!(recorded.count_of(Op::Rename, "log.other"), 20);
        let both =
            |call: &trace::Call| call.to.is_some_and(|to| recorded.path(to).ends_with("/log"));
        assert_eq!(recorded.count(Op::Rename, both), 20);
        assert_eq!(recorded.count_of(Op::Unlink, "/log"), 20);
        let missing = |call: &trace::Call| call.result == -i64::from(libc::ENOENT);
        assert!(recorded.count(Op::Stat, missing) >= 20);
        assert_eq!(recorded.kind("log.other"), Some(FileKind::Missing), "it made that itself");
        let order: Vec<u64> = recorded.calls().map(trace::Call::ended_ns).collect();
        assert!(order.is_sorted(), "one thread's calls are in the order of time");
    }
}

/// Fails where a function in place of libc's makes another call or returns another result, and where
/// a call that programs make often costs a signal.
#[test]
fn names_owners_and_rights_are_changed_as_without_a_recorder() {
    let test = "names_owners_and_rights_are_changed_as_without_a_recorder";
    let Some(program) = Program::built(test, &[]) else { return };
    for mechanism in mechanisms(test) {
        let recorded = record(mechanism, &program.does("names", 20));
        assert!(recorded.output.status.success(), "{mechanism}: {}", stderr(&recorded.output));
        let ops = [
            (Op::Symlink, 20),
            (Op::Link, 20),
            (Op::Mkdir, 20),
            (Op::Rmdir, 20),
            (Op::Unlink, 40),
            (Op::Chmod, 60),
            (Op::Chown, 40),
        ];
        for (op, count) in ops {
            assert_eq!(recorded.count(op, |_| true), count, "{mechanism}: {op:?}");
        }
        let missing = |call: &trace::Call| call.result == -i64::from(libc::ENOENT);
        assert_eq!(recorded.count(Op::Chmod, missing), 20, "{mechanism}");
        let first = recorded.calls().position(|call| call.op == Op::Symlink).unwrap();
        let signals =
            |call: &trace::Call| ops.iter().any(|(op, _)| *op == call.op) && call.dispatched > 0;
        let after: Vec<_> = recorded.calls().skip(first + 1).filter(|call| signals(call)).collect();
        assert!(after.is_empty(), "{mechanism}: {after:?}");
    }
}

/// Fails where time off the processor is missed, or time on it is counted. A busy machine takes
/// either from any call, but not from all of them.
#[test]
fn waiting_is_told_from_working() {
    let test = "waiting_is_told_from_working";
    let Some(program) = Program::built(test, &[]) else { return };
    for mechanism in mechanisms(test) {
        let recorded = record(mechanism, &program.does("waits", 10));
        assert!(recorded.output.status.success(), "{}", stderr(&recorded.output));
        // A busy machine has a thread that works wait for a processor, too.
        let waited_ns = |call: &trace::Call| call.waited_ns - call.queued_ns;
        let share = |call: &trace::Call| waited_ns(call) as f64 / call.took_ns.max(1) as f64;
        let shares = |op, like: fn(&trace::Call) -> bool| -> Vec<f64> {
            recorded.calls().filter(|call| call.op == op && like(call)).map(share).collect()
        };
        let waits = shares(Op::Flock, |call| call.took_ns > 20_000_000);
        let works = shares(Op::Read, |call| call.length == 32 << 20);
        assert!(waits.len() >= 5 && works.len() == 10, "{waits:?} {works:?}");
        let sees = mechanism == "ebpf";
        assert_eq!(waits.iter().all(|share| *share > 0.8), sees, "{mechanism}: {waits:?}");
        assert!(works.iter().any(|share| *share < 0.5), "{mechanism}: {works:?}");
        let said = stderr(&recorded.output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(said.contains("is waiting for a lock"), sees, "{said}");
    }
}

/// Fails where page faults that neither read nor wait are not seen, although moving the file would save
/// them, or where they are of another file or have no time.
#[test]
fn every_first_write_to_a_page_of_a_mapped_file_is_seen() {
    let test = "every_first_write_to_a_page_of_a_mapped_file_is_seen";
    let Some(program) = Program::built(test, &[]) else { return };
    if !mechanisms(test).contains(&"ebpf") {
        return;
    }
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut command = program.does("mapped", 2000);
    *command.last_mut().unwrap() = disk.path().join("log").display().to_string();
    let recorded = record("ebpf", &command);
    if stderr(&recorded.output).contains("page faults of mapped files could not be seen") {
        return skip(test, "this kernel does not show page faults");
    }
    if rustix::fs::statfs(disk.path()).unwrap().f_type == libc::TMPFS_MAGIC {
        return skip(
            test,
            "the files of tests are in memory, whose faults the kernel does not show",
        );
    }
    let is_of_log = |call: &trace::Call| {
        call.took_ns > 0 && call.path.is_some_and(|path| recorded.path(path).ends_with("/log"))
    };
    let faults: f64 = stdout(&recorded.output).trim().parse().unwrap();
    let seen = recorded.count(Op::Fault, is_of_log) as f64;
    // A few are of the program's own memory, or slept and began again.
    assert!(seen > 0.0 && (seen - faults).abs() <= 0.02 * faults + 5.0, "{seen} of {faults}");
    let pages: HashSet<i64> = recorded
        .calls()
        .filter(|call| call.op == Op::Fault && is_of_log(call))
        .map(|call| call.offset)
        .collect();
    assert!(pages.len() as f64 >= 0.98 * seen, "{} pages", pages.len());
}

/// Fails where what stops cost is believed to be little because the program makes no call that shows
/// it.
#[test]
fn a_program_that_only_makes_calls_is_too_coarse_for_ptrace() {
    let test = "a_program_that_only_makes_calls_is_too_coarse_for_ptrace";
    let Some(program) = Program::built(test, &[]) else { return };
    if !mechanisms(test).contains(&"ptrace") {
        return;
    }
    for what in ["write", "threads"] {
        let command = program.does(what, 3000);
        let said = || stderr(&record("ptrace", &command).output);
        let is_too_coarse = |_| said().contains("too coarse for a bill");
        // On a busy machine it may wait for a processor for most of its time.
        assert!((0..3).any(is_too_coarse), "{what}: {}", said());
    }
}

/// Fails where no program has a bill by ptrace.
#[test]
fn a_program_that_waits_is_not_too_coarse_for_ptrace() {
    if !mechanisms("a_program_that_waits_is_not_too_coarse_for_ptrace").contains(&"ptrace") {
        return;
    }
    let mut said = String::new();
    let has_bill = |_| {
        let recorded = record("ptrace", &["sleep", "2"].map(str::to_owned));
        said = stderr(&recorded.output);
        assert!(recorded.output.status.success(), "{said}");
        !said.contains("too coarse")
    };
    // On a busy machine the recorder may wait for a processor for most of its time.
    assert!((0..3).any(has_bill), "{said}");
}

/// Fails where what the command prints is part of the trace.
#[test]
fn a_trace_on_standard_output_is_whole_and_can_be_shown() {
    let output = recording("auto", std::path::Path::new("-"))
        .args(["sh", "-c", "echo of the command; cat /etc/passwd >/dev/null"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("of the command") && said.contains("iotoll show -"), "{said}");
    let mut show =
        iotoll().args(["show", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    show.stdin.take().unwrap().write_all(&output.stdout).unwrap();
    let shown = show.wait_with_output().unwrap();
    assert!(shown.status.success() && stdout(&shown).contains("Recorded:"), "{}", stdout(&shown));
}

#[test]
fn threads_and_processes_are_followed_from_beginning_to_end() {
    let test = "threads_and_processes_are_followed_from_beginning_to_end";
    let Some(program) = Program::built(test, &[]) else { return };
    for mechanism in mechanisms(test) {
        let recorded = record(mechanism, &program.does("threads", 1));
        let forks = |of_threads| {
            let is_it = |entry: &&Entry| {
                matches!(entry, Entry::Fork { parent, thread, shares_files, .. }
                    if *parent != 0 && *thread == of_threads && *shares_files == of_threads)
            };
            recorded.entries.iter().filter(is_it).count()
        };
        assert_eq!((forks(true), forks(false)), (4, 0), "{mechanism}");
        let began = recorded.entries.iter().find_map(|entry| match entry {
            Entry::Exec { at_ns, .. } => Some(*at_ns),
            _ => None,
        });
        assert_eq!(began, Some(0), "{mechanism}: what was before the program is not its time");
        let recorded = record(mechanism, &program.does("others", 10));
        let executed = |entry: &&Entry| {
            matches!(entry, Entry::Exec { program: Some(program), .. }
                if recorded.path(*program).contains("true"))
        };
        assert_eq!(recorded.entries.iter().filter(executed).count(), 10, "{mechanism}");
        assert_eq!(recorded.count(Op::Write, |call| call.length == 70), 10, "{mechanism}");
        let parents: HashSet<u32> = recorded.entries.iter().filter_map(parent).collect();
        assert_eq!(parents.len(), 1, "{mechanism}: who forked stays who it was: {parents:?}");
        let with_code = |code: i32| {
            let has_it = |status: i32| libc::WEXITSTATUS(status) == code;
            let is_it =
                |entry: &&Entry| matches!(entry, Entry::Exit { status, .. } if has_it(*status));
            recorded.entries.iter().filter(is_it).count()
        };
        assert_eq!((with_code(3), with_code(0)), (10, 11), "{mechanism}");
        let summary = recorded.summary.unwrap();
        assert_eq!(summary.status, Some(0));
        assert!(summary.user_ns + summary.system_ns > 0 && summary.wall_ns > 0);
    }
}

fn parent(entry: &Entry) -> Option<u32> {
    match entry {
        Entry::Fork { parent, .. } if *parent != 0 => Some(*parent),
        _ => None,
    }
}

#[test]
fn what_is_there_when_it_begins_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("input"), "12345").unwrap();
    for mechanism in mechanisms("what_is_there_when_it_begins_is_told") {
        let trace = folder.path().join("x.trace");
        let output = recording(mechanism, &trace)
            .args(["sh", "-c", "cat input; cat <&0"])
            .current_dir(folder.path())
            .stdin(fs::File::open(folder.path().join("input")).unwrap())
            .output()
            .unwrap();
        assert_eq!(stdout(&output), "1234512345");
        let recorded = read(&trace);
        let inherited = |wanted: i32| {
            recorded.entries.iter().find_map(|entry| match entry {
                Entry::Inherited { fd, path, .. } if *fd == wanted => Some(recorded.path(*path)),
                _ => None,
            })
        };
        let real = folder.path().canonicalize().unwrap();
        assert_eq!(inherited(0), real.join("input").to_str());
        assert_eq!(inherited(WORKING_FOLDER), real.to_str());
        assert!(inherited(1).unwrap().starts_with("pipe:["));
        let facts = recorded.file("input").unwrap();
        assert_eq!((facts.kind, facts.bytes), (FileKind::Regular, 5), "{mechanism}");
    }
}

#[test]
fn arguments_and_environment_are_no_part_of_a_trace() {
    for mechanism in mechanisms("arguments_and_environment_are_no_part_of_a_trace") {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("x.trace");
        let output = recording(mechanism, &trace)
            .args(["sh", "-c", "true; exit 0", "hidden-word"])
            .env("HIDDEN", "hidden-word")
            .output()
            .unwrap();
        assert!(output.status.success());
        let recorded = read(&trace);
        let told = format!("{:?}", recorded.entries);
        let paths = recorded.entries.iter().filter_map(|entry| match entry {
            Entry::Path { bytes, .. } => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        });
        let all = paths.collect::<Vec<_>>().join("\n") + &told;
        assert!(!all.contains("hidden-word"), "{mechanism}");
        assert!(!String::from_utf8_lossy(&fs::read(&trace).unwrap()).contains("hidden-word"));
    }
}

#[test]
fn a_running_program_is_watched_and_goes_on() {
    for mechanism in mechanisms("a_running_program_is_watched_and_goes_on") {
        if mechanism == "preload" {
            let watch = ["watch", "1", "--mechanism", mechanism];
            common::assert_fails(
                &iotoll().args(watch).output().unwrap(),
                2,
                &["invalid value 'preload'"],
            );
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let script =
            "i=0; until [ -e over ]; do echo $i >> log || exit 1; i=$((i+1)); sleep 0.01; done
            echo end >> log";
        let mut program = Command::new("sh")
            .args(["-c", script])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(200));
        let trace = folder.path().join("x.trace");
        let process = program.id().to_string();
        let watched = |seconds: usize| {
            let time = format!("{seconds}s");
            let watch = ["watch", &process, "--for", &time, "--mechanism", mechanism, "-o"];
            let output = iotoll().args(watch).arg(&trace).output().unwrap();
            assert!(output.status.success(), "{mechanism}: {}", stderr(&output));
            assert!(stdout(&output).contains("Recorded"), "{}", stdout(&output));
            let recorded = read(&trace);
            let writes = recorded.count(Op::Write, |call| call.thread == program.id());
            let written = fs::read_to_string(folder.path().join("log")).unwrap().lines().count();
            assert!(writes <= written, "{mechanism}: {writes} writes of {written} lines");
            (writes >= 3).then_some((recorded, writes))
        };
        // On a busy machine, little is written in a second.
        let (recorded, writes) = [1, 4, 16].into_iter().find_map(watched).expect("it writes");
        assert!(recorded.count_of(Op::Open, "log") >= writes - 1, "{mechanism}");
        fs::write(folder.path().join("over"), "").unwrap();
        assert!(program.wait().unwrap().success());
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        let lines = log.strip_suffix("end\n").unwrap().lines();
        for (written, line) in lines.enumerate() {
            assert_eq!(line, written.to_string(), "{mechanism}");
        }
    }
}

/// Fails where a server is stopped at each call because the recorder lacks the rights for eBPF.
#[test]
fn without_rights_a_running_program_is_stopped_only_if_that_is_asked_for() {
    let test = "without_rights_a_running_program_is_stopped_only_if_that_is_asked_for";
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    let output = Command::new("setpriv")
        .args(["--bounding-set=-all", "--inh-caps=-all", env!("CARGO_BIN_EXE_iotoll"), "watch"])
        .args([&sleeper.id().to_string(), "--for", "1s", "-o", "/dev/null"])
        .output();
    let _ = (sleeper.kill(), sleeper.wait());
    let Ok(output) = output else { return skip(test, "setpriv is not installed") };
    common::assert_fails(&output, 1, &["eBPF cannot be used", "--mechanism ptrace"]);
}

#[test]
fn what_is_not_there_is_wrong_input() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("x.trace");
    let record = |command: &str| recording("auto", &trace).arg(command).output().unwrap();
    common::assert_fails(&record("/no/such/program"), 2, &["cannot run /no/such/program"]);
    common::assert_fails(&record("no-such-program-at-all"), 2, &["cannot run"]);
    let watch = iotoll().args(["watch", "4000000"]).output().unwrap();
    common::assert_fails(&watch, 2, &["there is no process 4000000"]);
    assert!(!trace.exists());
}

#[test]
fn a_file_that_is_no_trace_is_not_replaced_and_a_trace_is() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("x.trace");
    let made = folder.path().join("made");
    fs::write(&trace, "notes of mine").unwrap();
    let touch = || recording("auto", &trace).arg("touch").arg(&made).output().unwrap();
    common::assert_fails(&touch(), 2, &["no trace"]);
    assert_eq!(fs::read_to_string(&trace).unwrap(), "notes of mine");
    assert!(!made.exists(), "the command was not run");
    fs::remove_file(&trace).unwrap();
    for _ in 0..2 {
        assert!(touch().status.success());
        assert!(read(&trace).summary.is_some());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_program_of_another_word_size_is_said_not_to_be_recorded() {
    let test = "a_program_of_another_word_size_is_said_not_to_be_recorded";
    let Some(program) = Program::built(test, &["-m32"]) else { return };
    for mechanism in mechanisms(test).into_iter().filter(|mechanism| *mechanism != "preload") {
        let recorded = record(mechanism, &program.does("write", 10));
        if !recorded.output.status.success() {
            skip(test, "programs of 32 bits do not run here");
            return;
        }
        let unseen =
            |entry: &Entry| matches!(entry, Entry::Unseen { kind: Unseen::Programs, count: 1 });
        assert!(recorded.entries.iter().any(unseen), "{mechanism}");
        assert_eq!(recorded.calls().count(), 0, "{mechanism}");
    }
}

#[test]
fn commands_and_their_arguments_are_taken_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let output = iotoll()
        .args(["record", "sh", "-c", "echo $0 $1", "--for", "-o"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(stdout(&output), "--for -o\n", "{}", stderr(&output));
    assert!(folder.path().join("sh.trace").exists());
}
