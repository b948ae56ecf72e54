//! Whatever is given to be read is refused in a sentence, in no time and in little memory.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use common::{Places, assert_fails, iotoll, run, stdout};
use sys::wait::{Waited, wait_for_end};

/// The most that a refusal may take of memory. The kernel counts the peak of whoever starts a process
/// as its own, and tests beside this one take some 65 MiB.
const MEMORY_MAX_KIB: u64 = 128 << 10;
/// The most that it may take of a processor: 0.2 s, and more for an unoptimised program.
const TIME_MAX: Duration = Duration::from_secs(1);

/// Runs it to its end, with what it took.
#[expect(clippy::zombie_processes, reason = "wait_for_end waits for it, and tells its memory")]
fn measured(mut command: Command) -> (Output, u64, Duration) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
    let Waited { status, usage, .. } = wait_for_end(child.id()).unwrap();
    let status = ExitStatus::from_raw(status);
    let took = Duration::from_nanos(usage.user_ns + usage.system_ns);
    (Output { status, stdout: Vec::new(), stderr }, usage.memory_max_kib, took)
}

#[track_caller]
fn refused<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>, says: &[&str]) {
    let mut command = iotoll();
    command.args(args);
    let (output, memory_kib, took) = measured(command);
    assert_fails(&output, 2, says);
    assert!(memory_kib < MEMORY_MAX_KIB, "{says:?}: {memory_kib} KiB");
    assert!(took < TIME_MAX, "{says:?}: {took:?}");
}

fn fifo(folder: &Path) -> String {
    let path = folder.join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path.display().to_string()
}

/// A file of that size without any blocks.
fn sparse(folder: &Path, bytes: u64) -> String {
    let path = folder.join("sparse");
    File::create(&path).unwrap().set_len(bytes).unwrap();
    path.display().to_string()
}

#[test]
fn plans_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let plan = |file: &str, says: &[&str]| refused(["compare", "--plan", file], says);
    plan(
        "/dev/zero",
        &["cannot read the plan file /dev/zero", "larger than the maximum of 256 KiB"],
    );
    plan(&sparse(folder.path(), 1 << 40), &["larger than the maximum of 256 KiB"]);
    plan(&fifo(folder.path()), &["nobody has opened it to write to it"]);
    plan("/", &["cannot read the plan file /", "directory"]);
}

#[test]
fn lists_in_plans_are_bounded_by_their_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    let plan = |text: String, says: &[&str]| {
        assert!(text.len() < 256 << 10);
        fs::write(&file, text).unwrap();
        refused(["compare", "--plan", file.to_str().unwrap()], says);
    };
    let places: String = (0..20_000).map(|n| format!("p{n} = \"/\"\n")).collect();
    plan(format!("[places]\n{places}"), &["combinations, but at most 256 are allowed"]);
    plan(format!("[[study]]\nname = \"log\"\nrecord = [{}]\n", "50, ".repeat(60_000)), &["twice"]);
    let values: String = (1..=1000).map(|n| format!("{n}, ")).collect();
    let studies = format!("[[study]]\nname = \"log\"\nrecord = [{values}]\n").repeat(40);
    plan(studies, &["combinations, but at most 256 are allowed"]);
    plan(
        "[[study]]\nname = \"log\"\n".repeat(10_000),
        &["combinations, but at most 256 are allowed"],
    );
    plan(format!("a = {}", "[".repeat(250_000)), &["plan.toml:1:", "recurs"]);
    plan(format!("a{} = 1", ".a".repeat(120_000)), &["plan.toml:1:", "recurs"]);
}

#[test]
fn places_without_labels_are_bounded_by_their_number() {
    let deep = "/x".repeat(40);
    let places = (0..10_000).map(|n| if n % 2 == 0 { "/" } else { &deep }.to_owned());
    let args = ["compare".to_owned()].into_iter().chain(places);
    refused(args, &["combinations, but at most 256 are allowed"]);
}

#[test]
fn a_plan_may_come_through_a_pipe() {
    let places = Places::new();
    let [disk, ram] = places.args();
    let script = format!(
        "'{}' compare {disk} {ram} --dry-run --plan <(sleep 0.2; echo '[[study]]'; echo 'name = \"log\"')",
        env!("CARGO_BIN_EXE_iotoll")
    );
    let Ok(output) = Command::new("bash").args(["-c", &script]).output() else {
        eprintln!("SKIPPED: there is no bash");
        return;
    };
    assert!(output.status.success(), "{}", common::stderr(&output));
    assert!(stdout(&output).contains("reopen, held, flock; on disk, ram"), "{}", stdout(&output));
}

#[test]
fn results_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let show = |file: &str, says: &[&str]| refused(["show", file], says);
    show("/dev/zero", &["cannot show /dev/zero", "not a result of iotoll"]);
    show(&fifo(folder.path()), &["nobody has opened it to write to it"]);
    show(&sparse(folder.path(), 1 << 40), &["larger than the maximum of 384 MiB"]);
    show(&sparse(folder.path(), 1 << 28), &["not a result of iotoll"]);
    let padded = folder.path().join("padded");
    let mut file = File::create(&padded).unwrap();
    write!(file, "{{\"run\": \"").unwrap();
    file.set_len(1 << 28).unwrap();
    show(padded.to_str().unwrap(), &["not a result of iotoll", "no `schema`"]);
    let deep = folder.path().join("deep");
    fs::write(&deep, format!("{{\"schema\": {}", "[".repeat(8 << 20))).unwrap();
    show(deep.to_str().unwrap(), &["not a result of iotoll", "invalid type"]);
}

#[test]
fn bodies_and_rates_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let body = |file: &str, says: &[&str]| {
        refused(["load", "http://127.0.0.1:1/", "--rate", "1", "--body", file], says);
    };
    body("/dev/zero", &["cannot read the body /dev/zero", "larger than the maximum of 16 MiB"]);
    body(&sparse(folder.path(), 1 << 40), &["larger than the maximum of 16 MiB"]);
    body(&fifo(folder.path()), &["nobody has opened it to write to it"]);
    let rates = "1,".repeat(50_000) + "1";
    refused(
        ["load", "http://127.0.0.1:1/", "--rate", &rates],
        &["50001 rates were given", "at most 1000"],
    );
}

#[test]
fn a_result_in_another_order_is_shown_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("ram={}", folder.path().display());
    let args = ["compare", &place, "--study", "log", "--strategy", "held", "--budget", "1s"];
    let output = run(args.into_iter().chain(["--json", "-"]));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut fields = result.as_object().unwrap().clone();
    let schema = fields.remove("schema").unwrap();
    let mut text = serde_json::to_string(&fields).unwrap();
    text.truncate(text.len() - 1);
    let file = folder.path().join("result.json");
    fs::write(&file, format!("{text}, \"schema\": {schema}}}")).unwrap();
    let shown = run(["show", file.to_str().unwrap()]);
    assert!(shown.status.success(), "{}", common::stderr(&shown));
}
