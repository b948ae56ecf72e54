//! Runs are kept as they go, and shown again.

#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::faults::{Going, Image};
use common::{Mounted, Places, assert_fails, iotoll, place, skip, stderr, stdout, unnamed};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

thread_local! {
    /// Each test works in a folder of its own, that no other's killed run is swept there.
    static WORK: TempDir = tempfile::tempdir_in("/dev/shm").unwrap();
}

fn work(label: &str) -> String {
    WORK.with(|folder| place(label, folder.path()))
}

/// The binary, which keeps its runs there.
fn keeping(folder: &Path) -> Command {
    let mut command = iotoll();
    command.env("IOTOLL_DIR", folder);
    command
}

fn comparing(folder: &Path, budget: &str) -> Command {
    let mut command = keeping(folder);
    command.args(["compare", &work("ram"), "--study", "log"]);
    command.args(["--strategy", "reopen,held", "--budget", budget]);
    command
}

/// A run that goes on until it is killed, once it has told of that many blocks.
fn killed_after(blocks: usize, signal: Signal, mut command: Command) -> Child {
    let twins = ["a", "b"].map(work);
    command.arg("compare").args(twins).args(["--study", "log", "--strategy", "held"]);
    command.args(["--threshold", "0.0001%", "--budget", "10min", "--tell-blocks"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    let last = format!("block {blocks}");
    lines.find(|line| line.as_ref().unwrap().ends_with(&last)).unwrap().unwrap();
    kill_process(Pid::from_child(&child), signal).unwrap();
    child
}

/// How many blocks are in a result.
fn blocks_of(result: &Value) -> usize {
    let slices = result["slices"].as_array().unwrap();
    let blocks = slices.iter().filter_map(|slice| slice["phase"]["block"].as_u64());
    blocks.max().map_or(0, |last| last as usize + 1)
}

#[test]
fn the_last_run_and_any_by_the_beginning_of_its_name_are_shown_as_they_were_printed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert_fails(&keeping(&data).arg("show").output().unwrap(), 2, &["no runs are saved in"]);
    // A file in its place is no empty store.
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let history = keeping(&data).env("IOTOLL_DIR", &file).arg("history").output().unwrap();
    assert_fails(&history, 1, &["not a directory"]);
    assert!(!data.exists(), "showing made it");
    let mut printed = Vec::new();
    for number in 0..2 {
        let json = folder.path().join(format!("{number}.json"));
        let output = comparing(&data, "1s").arg("--json").arg(&json).output().unwrap();
        let noted = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{noted}");
        assert!(noted.is_empty() || noted.contains("the budget has room for"), "{noted}");
        let result: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        let id = result["run"]["id"].as_str().unwrap().to_owned();
        printed.push((id, stdout(&output), fs::read_to_string(&json).unwrap()));
    }
    let shown = |args: &[&str]| {
        let output = keeping(&data).arg("show").args(args).output().unwrap();
        let noted = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{noted}");
        assert!(noted.is_empty() || noted.contains("--budget"), "{noted}");
        stdout(&output)
    };
    assert_eq!(shown(&[]), printed[1].1);
    for (id, report, json) in &printed {
        assert_eq!(unnamed(&shown(&[&id[..8]]), &id[..8]), unnamed(report, id));
        // The verdicts are decided anew, from the blocks, where a worth is given.
        assert_eq!(unnamed(&shown(&[id, "--threshold", "5%"]), id), unnamed(report, id));
        assert_eq!(shown(&[id, "--threshold", "5%", "--full"]), shown(&[id, "--full"]));
        assert_eq!(shown(&[id, "--json", "-"]), *json);
    }
    let unknown = keeping(&data).args(["show", "0123456789abcdef"]).output().unwrap();
    assert_fails(
        &unknown,
        2,
        &["cannot show 0123456789abcdef: there is neither a file nor a saved run"],
    );
}

#[test]
fn with_no_save_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert!(comparing(&data, "1s").arg("--no-save").output().unwrap().status.success());
    assert!(comparing(&data, "1s").arg("--dry-run").output().unwrap().status.success());
    assert!(!data.exists());
}

#[test]
fn a_killed_run_has_its_blocks_and_is_told_of_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = killed_after(5, Signal::KILL, keeping(folder.path()));
    child.wait().unwrap();
    let next = comparing(folder.path(), "1s").output().unwrap();
    let told = stderr(&next);
    let id = told.split("`iotoll show ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    assert!(told.contains("(log on a, b) was killed after ") && id.len() == 8, "{told}");
    assert!(!stderr(&comparing(folder.path(), "1s").output().unwrap()).contains("was killed"));

    let shown = keeping(folder.path()).args(["show", id]).output().unwrap();
    assert!(stdout(&shown).contains("interrupted after"), "{}", stdout(&shown));
    let json = keeping(folder.path()).args(["show", id, "--json", "-"]).output().unwrap();
    let result: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(result["run"]["interrupted"], true);
    // One may have been kept and not yet told.
    assert!((5..=6).contains(&blocks_of(&result)), "{} blocks", blocks_of(&result));
    WORK.with(|folder| assert_eq!(common::entries(folder.path()).len(), 0));
}

#[test]
fn a_run_that_a_signal_ends_in_order_is_saved_as_it_is_reported() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let folder = tempfile::tempdir().unwrap();
        let child = killed_after(3, signal, keeping(folder.path()));
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let shown = keeping(folder.path()).args(["show", "--json", "-"]).output().unwrap();
        assert_eq!(stderr(&shown), "", "it was no kill");
        let result: Value = serde_json::from_slice(&shown.stdout).unwrap();
        assert_eq!(result["run"]["interrupted"], true);
        assert!(blocks_of(&result) >= 3);
    }
}

#[test]
fn sigpipe_ends_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = killed_after(3, Signal::PIPE, keeping(folder.path()));
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("block 9")), "it did not go on");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_run_that_goes_on_is_shown_so_far() {
    let folder = tempfile::tempdir().unwrap();
    // One that does nothing.
    let mut child = killed_after(3, Signal::CONT, keeping(folder.path()));
    let shown = keeping(folder.path()).arg("show").output().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        stderr(&shown).contains("is still running; these are its results"),
        "{}",
        stderr(&shown)
    );
    assert!(stdout(&shown).contains("interrupted after"));
}

/// What a run says whose store takes nothing any more.
const NOT_SAVED: &str = "the run goes on, but its rounds are not saved before its end: ";

/// A run that goes on for some seconds and tells of its blocks.
fn going(folder: &Path) -> Going {
    let mut command = comparing(folder, "5s");
    command.args(["--threshold", "0.0001%"]);
    Going::start(command)
}

#[test]
fn a_store_that_another_holds_for_a_while_has_the_whole_run_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut going = going(folder.path());
    going.await_blocks(2);
    let other = rusqlite::Connection::open(folder.path().join("runs.db")).unwrap();
    other.busy_timeout(Duration::from_secs(5)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    going.await_text("not saved before its end");
    other.execute_batch("COMMIT").unwrap();
    let ended = going.end();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    assert!(ended.said.contains(NOT_SAVED), "{}", ended.said);
    assert!(ended.said.contains("locked; another program holds it: end"), "{}", ended.said);
    let shown = keeping(folder.path()).arg("show").output().unwrap();
    assert_eq!((stdout(&shown), stderr(&shown)), (ended.report, String::new()));
}

#[test]
fn a_store_that_becomes_read_only_keeps_the_blocks_that_it_had() {
    let test = "a_store_that_becomes_read_only_keeps_the_blocks_that_it_had";
    let Some(mut image) = Image::new(test, "ext4") else { return };
    let folder = image.path().join("runs");
    let mut going = going(&folder);
    going.await_blocks(3);
    image.abort();
    let ended = going.end();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    assert!(ended.said.contains(NOT_SAVED), "{}", ended.said);
    assert!(ended.said.contains("may have become read-only"), "{}", ended.said);
    assert!(ended.said.contains("the end of this run is not saved"), "{}", ended.said);
    let unreadable = keeping(&folder).arg("show").output().unwrap();
    assert_fails(&unreadable, 2, &["set IOTOLL_DIR to a directory that you may write to"]);
    // Mounted again, its journal brings back what was synced.
    image.mount_anew();
    let shown = keeping(&folder).args(["show", "--json", "-"]).output().unwrap();
    assert!(shown.status.success(), "{}\n{}", stderr(&shown), ended.said);
    let result: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert!(blocks_of(&result) >= 3 && result["run"]["interrupted"] == true);
}

#[test]
fn a_store_that_is_full_ends_no_run_and_keeps_what_it_had() {
    let test = "a_store_that_is_full_ends_no_run_and_keeps_what_it_had";
    let Some(mounted) = Mounted::tmpfs(test, "size=320k,mode=700") else { return };
    let output = comparing(mounted.path(), "4s").args(["--threshold", "0.01%"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for what in [NOT_SAVED, "the end of this run is not saved", "free some space there, or set"] {
        assert!(stderr(&output).contains(what), "{}", stderr(&output));
    }
    assert_eq!(stderr(&output).lines().count(), 2);
    assert!(stdout(&output).contains(" of ") && stdout(&output).contains(" sure"));
    mounted.remount("size=1m");
    let shown = keeping(mounted.path()).args(["show", "--json", "-"]).output().unwrap();
    let result: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert!(blocks_of(&result) > 0 && result["run"]["interrupted"] == true);
}

#[test]
fn a_store_that_cannot_be_used_is_told_and_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("runs.db");
    fs::write(&data, "a text of someone's that is longer than a header of SQLite, by some")
        .unwrap();
    let output = comparing(folder.path(), "1s").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("this run is not saved: "), "{}", stderr(&output));
    assert!(stderr(&output).contains("runs.db is not an iotoll database"), "{}", stderr(&output));
    assert!(fs::read_to_string(&data).unwrap().starts_with("a text of someone's"));
    assert_fails(
        &keeping(folder.path()).arg("show").output().unwrap(),
        2,
        &["not an iotoll database"],
    );
}

#[test]
fn as_root_nothing_is_made_in_the_home_of_another() {
    if !common::is_root() {
        return skip("as_root_nothing_is_made_in_the_home_of_another", "it takes root");
    }
    let home = tempfile::tempdir().unwrap();
    chown(home.path(), Some(12), Some(12)).unwrap();
    let mut command = comparing(home.path(), "1s");
    command.env_remove("IOTOLL_DIR").env_remove("XDG_DATA_HOME").env("HOME", home.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("belongs to user 12"), "{}", stderr(&output));
    assert!(stderr(&output).contains("set IOTOLL_DIR to a directory of your own"));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn other_runs_are_kept_as_well() {
    let (folder, places) = (tempfile::tempdir().unwrap(), Places::new());
    let server = "exec python3 -m http.server --bind 127.0.0.1 {port}";
    let mut load = keeping(folder.path());
    load.args(["load", "http://127.0.0.1:{port}/", "--rate", "100", "--connections", "5"]);
    let loaded = load.args(["--serve", server]).output().unwrap();
    assert!(loaded.status.success(), "{}", stderr(&loaded));
    let shown = || stdout(&keeping(folder.path()).arg("show").output().unwrap());
    assert_eq!(shown(), stdout(&loaded));
    let here = place("here", places.ram.path());
    let mut selftest = keeping(folder.path());
    let tested = selftest.args(["selftest", &here, "--budget", "3s"]).output().unwrap();
    assert_eq!(shown(), stdout(&tested));
}

#[test]
fn a_saved_run_that_changed_is_refused_by_everything_that_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert!(comparing(&data, "1s").output().unwrap().status.success());
    assert!(comparing(&data, "1s").output().unwrap().status.success());
    let database = rusqlite::Connection::open(data.join("runs.db")).unwrap();
    let id: String =
        database.query_row("SELECT id FROM run WHERE number = 2", (), |row| row.get(0)).unwrap();
    // One byte of a block: a digit for another.
    let flip = "UPDATE part SET slices = replace(slices, '\"arm\":1', '\"arm\":0')
                WHERE number = (SELECT max(number) FROM part)";
    assert_eq!(database.execute(flip, ()).unwrap(), 1);
    let name = &id[..8];
    let out = folder.path().join("out.html").display().to_string();
    let says = [&format!("the saved run {name} is damaged")[..], &format!("iotoll prune {name}")];
    for args in [
        &["show", "last", "--full", "--threshold", "5%"][..],
        &["show", name, "--json", "-"],
        &["diff", "last~1", "last"],
        &["report", "last", "-o", &out],
        &["share", "last", "-o", &out],
        &["rerun", "last", "--dry-run"],
    ] {
        assert_fails(&keeping(&data).args(args).output().unwrap(), 2, &says);
        assert!(!Path::new(&out).exists());
    }
    // The other is as it was, and the damaged one can be removed.
    assert!(keeping(&data).args(["show", "last~1", "--json", "-"]).status().unwrap().success());
    assert!(keeping(&data).args(["prune", name]).output().unwrap().status.success());
    let flip = "UPDATE record SET json = replace(json, '\"seed\":', '\"seed\": ')";
    assert_eq!(database.execute(flip, ()).unwrap(), 1);
    assert_fails(&keeping(&data).arg("show").output().unwrap(), 2, &["is damaged: its checksum"]);
}

#[test]
fn a_store_that_others_could_read_is_reported_once_and_narrowed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert!(comparing(&data, "1s").output().unwrap().status.success());
    let database = data.join("runs.db");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    let first = keeping(&data).arg("show").output().unwrap();
    let note = stderr(&first);
    assert!(first.status.success() && note.lines().count() == 1, "{note}");
    assert!(note.contains("other users could read the saved runs: "), "{note}");
    assert!(note.contains("data had mode 0755 and now has 0700"), "{note}");
    assert!(note.contains("runs.db had mode 0644 and now has 0600"), "{note}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&data), mode(&database)), (0o700, 0o600));
    assert_eq!(stderr(&keeping(&data).arg("history").output().unwrap()), "");
}

#[test]
fn runs_that_can_only_be_read_are_read() {
    let Some(mounted) = Mounted::tmpfs("a store that can only be read", "size=64m,mode=700") else {
        return;
    };
    let folder = mounted.path().join("data");
    let measured = comparing(&folder, "1s").output().unwrap();
    assert!(measured.status.success(), "{}", stderr(&measured));
    killed_after(3, Signal::KILL, keeping(&folder)).wait().unwrap();
    mounted.remount("ro");
    let page = tempfile::tempdir().unwrap().path().with_extension("html");
    for args in [&["show"][..], &["history"], &["report", "-o", page.to_str().unwrap()]] {
        let output = keeping(&folder).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("Read-only"), "{args:?}: {}", stderr(&output));
    }
    assert!(fs::remove_file(page).is_ok());
    let listed = stdout(&keeping(&folder).arg("history").output().unwrap());
    assert!(listed.contains("killed") && !listed.contains("running"), "{listed}");
    let shown = keeping(&folder).args(["show", "last~1"]).output().unwrap();
    assert_eq!(unnamed(&stdout(&shown), "last~1"), unnamed(&stdout(&measured), "last~1"));
    // What cannot be kept is told, and why is told once.
    let told = stderr(&comparing(&folder, "1s").output().unwrap());
    assert!(told.contains("this run is not saved"), "{told}");
    for run in ["last", "last~1"] {
        let removed = keeping(&folder).args(["prune", run]).output().unwrap();
        assert_eq!(removed.status.code(), Some(1));
        assert_eq!(stderr(&removed).matches("attempt to write").count(), 1, "{}", stderr(&removed));
    }
}
