//! `iotoll show` of a trace, and the commands that its bill names.

#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Places, assert_fails, run, stderr, stdout};
use serde_json::Value;
use trace::planted::Planted;
use trace::{Bill, Op, TraceReader, bill_of};

const APPEND: u64 = 0o2101;
const READ_WRITE: u64 = 0o102;
const US: u64 = 1000;

fn plant(folder: &Path, what: impl Fn(&mut Planted, u64)) -> Vec<u8> {
    let mut planted = Planted::new(folder.to_str().unwrap());
    for number in 0..1200 {
        what(&mut planted, number);
        planted.think(20 * US);
    }
    planted.finish()
}

fn write_records(planted: &mut Planted, sync: bool) {
    planted.open("logs/app.log", APPEND, 3);
    planted.moved(Op::Write, 3, 137, US);
    if sync {
        planted.on(Op::Fdatasync, 3, 300 * US);
    }
    planted.on(Op::Close, 3, US);
}

/// A transaction of a database, whose journal ends so.
fn transact(planted: &mut Planted, syncs: usize, end: impl Fn(&mut Planted)) {
    planted.call(1, Op::Lock, 500, |call| {
        (call.fd, call.flags, call.mode, call.offset, call.length) = (3, 6, 1, 0x4000_0001, 1);
    });
    planted.open("app.db-journal", READ_WRITE, 4);
    planted.moved(Op::Write, 4, 4096, 3 * US);
    (0..syncs).for_each(|_| planted.on(Op::Fdatasync, 4, 100 * US));
    planted.moved(Op::Write, 3, 4096, 3 * US);
    end(planted);
    planted.on(Op::Close, 4, US);
}

/// Traces with each pattern, and each of its commands.
fn all(folder: &Path) -> Vec<Vec<u8>> {
    let mut all = vec![
        plant(folder, |planted, _| write_records(planted, false)),
        plant(folder, |planted, _| write_records(planted, true)),
        plant(folder, |planted, number| {
            if number == 0 {
                planted.open("logs/out.csv", APPEND, 3);
            }
            planted.moved(Op::Write, 3, 70, US);
        }),
        plant(folder, |planted, _| {
            planted.open("logs/app.json", 0, 3);
            planted.moved(Op::Read, 3, 7000, 3 * US);
            planted.on(Op::Close, 3, US);
            planted.named(Op::Stat, "logs/missing", US, -2);
        }),
        plant(folder, |planted, number| {
            if number == 0 {
                planted.open("logs/lock", APPEND, 3);
            }
            planted.call(1, Op::Flock, 50 * US, |call| (call.fd, call.flags) = (3, 2));
        }),
    ];
    let deleted: fn(&mut Planted) =
        |planted| planted.named(Op::Unlink, "app.db-journal", 5 * US, 0);
    let emptied: fn(&mut Planted) = |planted| planted.on(Op::Truncate, 4, 5 * US);
    for syncs in 0..4 {
        all.push(plant(folder, move |planted, number| {
            if number == 0 {
                planted.open("app.db", READ_WRITE, 3);
            }
            let end = if syncs == 2 { emptied } else { deleted };
            transact(planted, syncs, end);
        }));
    }
    for syncs in [false, true] {
        all.push(plant(folder, move |planted, number| {
            if number == 0 {
                planted.open("app.db", READ_WRITE, 3);
                planted.open("app.db-wal", APPEND, 4);
                planted.open("app.db-shm", READ_WRITE, 5);
            }
            planted.call(1, Op::Lock, 500, |call| {
                (call.fd, call.flags, call.mode, call.offset, call.length) = (5, 6, 1, 120, 1);
            });
            planted.moved(Op::Write, 4, 4120, 3 * US);
            if syncs {
                planted.on(Op::Fdatasync, 4, 100 * US);
            }
        }));
    }
    all
}

fn bill(trace: &[u8]) -> Bill {
    bill_of(&mut TraceReader::new(trace).unwrap(), report::command_of).unwrap()
}

fn folder(places: &Places) -> PathBuf {
    let folder = places.disk.path().to_owned();
    fs::create_dir(folder.join("logs")).unwrap();
    folder
}

/// Fails where a pattern names a study, strategy or parameter that there is not, or a value that
/// it does not take.
#[test]
fn every_command_that_a_bill_names_can_be_run() {
    let places = Places::new();
    let folder = folder(&places);
    let mut commands: Vec<String> =
        all(&folder).iter().flat_map(|trace| bill(trace).patterns).map(|p| p.command).collect();
    commands.sort();
    commands.dedup();
    assert!(commands.len() >= 10, "{commands:#?}");
    for command in commands {
        let program = common::iotoll();
        let own = command.replacen("iotoll", &program.get_program().to_string_lossy(), 1);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("{own} --dry-run")]).current_dir(&folder);
        shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{command}\n{}", stderr(&output));
    }
}

#[test]
fn a_trace_is_shown_as_its_bill() {
    let places = Places::new();
    let folder = folder(&places);
    let file = folder.join("app.trace");
    let whole = plant(&folder, |planted, _| write_records(planted, true));
    fs::write(&file, &whole).unwrap();
    let name = file.to_str().unwrap();
    let output = run(["show", name]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("app spends 94% of its time with files"), "{text}");
    assert!(text.lines().count() <= 40 && text.contains("--strategy reopen"), "{text}");

    let output = run(["show", name, "--json", "-"]);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["schema"], "iotoll.bill/1");
    assert_eq!(document["patterns"][0]["pattern"], "synced-each");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/bill-1.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");

    fs::write(&file, &whole[..whole.len() * 3 / 4]).unwrap();
    assert!(stdout(&run(["show", name])).contains("The recording was cut short"));
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(&file, &damaged).unwrap();
    assert_fails(&run(["show", name]), 2, &["cannot show", name, "damaged"]);
    fs::write(&file, &whole).unwrap();
    for more in [&["--threshold", "1%"][..], &["--openmetrics", "-"], &["--layout", "plain"]] {
        assert_fails(&run([&["show", name], more].concat()), 2, &["it is a trace"]);
    }
}

#[test]
fn a_trace_is_shared_without_its_names() {
    let places = Places::new();
    let folder = folder(&places);
    let [file, shared] = ["app.trace", "shared.trace"].map(|name| folder.join(name));
    let whole = plant(&folder, |planted, _| write_records(planted, true));
    fs::write(&file, &whole).unwrap();
    let [file, shared] = [&file, &shared].map(|path| path.to_str().unwrap());
    let output = run(["share", file, "--output", shared]);
    assert!(output.status.success(), "{}", stderr(&output));
    let copy = fs::read(shared).unwrap();
    let (own, others) = (bill(&whole), bill(&copy));
    assert_eq!(own.files, others.files);
    assert!(!serde_json::to_string(&others).unwrap().contains("app.log"));
    fs::write(file, &whole[..20]).unwrap();
    assert_fails(&run(["share", file, "--output", shared]), 2, &["cannot share", file]);
}
