//! What programs are made of traces.

use super::*;
use crate::replay::plan::program::Target;

#[test]
fn what_was_found_is_there_before_and_what_is_elsewhere_is_thinking() {
    let mut told = TestTrace::new();
    let library = told.open(MAIN, "/usr/lib/libc.so", RDONLY);
    told.read(MAIN, library, 832, 832);
    told.close(MAIN, library);
    let settings = told.open(MAIN, "etc/settings", RDONLY);
    told.read(MAIN, settings, 4096, 700);
    told.read(MAIN, settings, 4096, 0);
    told.close(MAIN, settings);
    let log = told.open(MAIN, "log/app.log", MAKES | libc::O_APPEND);
    told.write(MAIN, log, 70);
    told.looked("log/app.log", FileKind::Regular, 1070);
    told.on(MAIN, Op::Stat, "missing", MISSING);
    let now_ns = told.now_ns;
    let program = told.program();
    assert_eq!(initial(&program), ["etc/", "etc/settings 700", "log/", "log/app.log 1000"]);
    let acts = &acts(&program)[0];
    assert_eq!(acts.len(), 7, "{acts:?}");
    assert!(matches!(acts[4], Act::Open { slot: 1, .. }));
    assert!(matches!(acts[6], Act::Stat { target: Target::At(_), .. }));
    // All time is in calls or in thinking.
    let think_ns: u64 = program.replay_threads[0].steps.iter().map(|step| step.think_ns).sum();
    assert_eq!(think_ns + 7 * CALL_NS, now_ns);
    assert_eq!((program.facts.files_ns, program.facts.calls), (7 * CALL_NS, 7));
    assert_eq!((program.facts.written_bytes, program.facts.made), (70, 1));
}

/// Fails where a look at a file that came late is lost, or is taken for the program's time.
#[test]
fn a_file_may_be_looked_at_after_the_end() {
    let mut told = TestTrace::new();
    let log = told.open(MAIN, "log", MAKES | libc::O_APPEND);
    told.write(MAIN, log, 70);
    let ended_ns = told.now_ns;
    told.pause(Duration::from_millis(100));
    told.looked("log", FileKind::Regular, 1070);
    told.now_ns = ended_ns;
    let program = told.program();
    assert_eq!(initial(&program), ["log 1000"]);
    assert_eq!(program.facts.recorded_ns, ended_ns);
}

#[test]
fn the_recorders_toll_is_no_thinking() {
    let mut told = TestTrace::with_overhead(OverheadNs { low: 200, high: 400 });
    let log = told.open(MAIN, "log", MAKES);
    for _ in 0..10 {
        told.write(MAIN, log, 70);
    }
    let now_ns = told.now_ns;
    let program = told.program();
    let think: Vec<u64> =
        program.replay_threads[0].steps.iter().map(|step| step.think_ns).collect();
    assert_eq!(think[2..12], [700; 10]);
    assert_eq!(program.facts.recorded_ns, now_ns - 11 * 300);
}

#[test]
fn a_descriptors_copies_are_one_open_file() {
    let mut told = TestTrace::new();
    let log = told.open(MAIN, "log", MAKES);
    let (fd, other) = (log, 1);
    told.call(Call { fd, other, result: 1, ..Call::new(MAIN, Op::Duplicate) });
    told.close(MAIN, log);
    told.write(MAIN, 1, 5);
    told.fork(MAIN, 200);
    told.close(MAIN, 1);
    told.write(200, 1, 5);
    told.exit(200);
    let acts: Vec<Act> = acts(&told.program()).concat();
    let is_of_log = |act: &Act| {
        matches!(
            act,
            Act::Open { slot: 0, .. } | Act::Write { slot: 0, .. } | Act::Close { slot: 0 }
        )
    };
    // Closed once, by the end of the last process that had it.
    assert!(acts.iter().all(is_of_log) && acts.len() == 4, "{acts:?}");
    assert!(matches!(acts[3], Act::Close { .. }), "{acts:?}");
}

#[test]
fn the_folder_is_where_the_program_was_started_if_it_wrote_there() {
    let chosen = |path: &str| {
        let mut told = TestTrace::new();
        told.open(MAIN, path, MAKES);
        told.open(MAIN, "/var/lib/data/b", MAKES);
        told.open(MAIN, "/dev/null", MAKES);
        let (_folder, path) = told.file();
        let (recording, _) = read::recording(&path, Duration::from_secs(60)).unwrap();
        folder::chosen(&recording).map(|folder| String::from_utf8(folder).unwrap())
    };
    assert_eq!(chosen("log").as_deref(), Ok("/srv/app"));
    assert_eq!(chosen("/var/lib/a").as_deref(), Ok("/var/lib"));
    assert!(chosen("/etc/x").unwrap_err().contains("replay.folder=/var/lib/app"));
    assert_eq!(folder::named("/srv/app/../app/").as_deref(), Ok(&b"/srv/app"[..]));
    assert!(folder::named("app").is_err() && folder::named("/").is_err());
}

#[test]
fn what_cannot_be_replayed_is_refused_in_a_sentence() {
    let mut lossy = TestTrace::new();
    lossy.open(MAIN, "log", MAKES);
    lossy.push(Entry::Lost { count: 12 });
    assert!(lossy.refused(&[]).contains("lacks 12 entries"));

    let mut cut = TestTrace::new();
    (0..2000).for_each(|n| cut.on(MAIN, Op::Stat, &format!("file-{n}"), MISSING));
    let whole = cut.bytes();
    let told = refusal(&whole[..whole.len() - 40], &[]);
    assert!(told.contains("was cut short"), "{told}");
    let mut damaged = whole;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let told = refusal(&damaged, &[]);
    assert!(told.contains("cannot be replayed") && told.contains("record it again"), "{told}");

    assert!(TestTrace::new().refused(&[]).contains("no file calls"));
    assert!(refusal(b"#!/bin/sh", &[]).contains("not a trace"));
    let mut elsewhere = TestTrace::new();
    elsewhere.open(MAIN, "log", MAKES);
    assert!(elsewhere.refused(&[("folder", "/var/spool")]).contains("is in /var/spool"));
    let missing = testing::refusal(&REPLAY, "recorded", &[("trace", "/nowhere/x")]);
    assert!(missing.contains("cannot be read"), "{missing}");
    assert!(testing::refusal(&REPLAY, "recorded", &[]).contains("iotoll record -o"));
}

#[test]
fn a_stretch_is_the_recordings_beginning() {
    let mut told = TestTrace::new();
    let log = told.open(MAIN, "log", MAKES);
    told.write(MAIN, log, 10);
    told.pause(Duration::from_secs(9));
    told.write(MAIN, log, 20);
    let (_folder, path) = told.file();
    let (recording, _) = read::recording(&path, Duration::from_secs(2)).unwrap();
    let program = make::program(&recording, b"/srv/app").unwrap();
    assert_eq!(acts(&program)[0].len(), 2);
    assert_eq!(program.facts.stretch_ns, 2_000_000_000);
    assert!(program.facts.recorded_ns > 9_000_000_000);
}
