//! `iotoll try`: what it says of a command, and that nothing of the user's changes.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{assert_fails, iotoll, is_root, skip, stderr};

/// A folder with files of every kind that a command may change.
fn project() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("data/deep")).unwrap();
    for (name, text) in [("data/kept", "kept"), ("data/changed", "old"), ("data/removed", "gone")] {
        fs::write(path(name), text).unwrap();
    }
    fs::hard_link(path("data/kept"), path("twin")).unwrap();
    std::os::unix::fs::symlink("data/kept", path("link")).unwrap();
    fs::set_permissions(path("data/deep"), Permissions::from_mode(0o750)).unwrap();
    folder
}

/// All below a folder: contents, rights, times and inodes.
fn state(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut state = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let facts = fs::symlink_metadata(&path).unwrap();
            let contents = if facts.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            let time = (facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec());
            let what = (facts.mode(), facts.ino(), facts.nlink(), time, contents);
            state.insert(path.clone(), format!("{what:?}"));
            if facts.is_dir() {
                folders.push(path);
            }
        }
    }
    state
}

/// What is tried in a folder, once in each variant unless it says more.
fn trying(folder: &Path, options: &[&str], command: &[&str]) -> Command {
    let mut iotoll = iotoll();
    iotoll.current_dir(folder).arg("try").args(options);
    iotoll.args(["--budget", "20", "--mechanism", "ptrace", "--json", "-", "--"]).args(command);
    iotoll
}

fn result(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(output)))
}

/// The rows of a variant.
fn row<'a>(result: &'a Value, variant: &str) -> Option<&'a Value> {
    result["rows"].as_array().unwrap().iter().find(|row| row["variant"] == variant)
}

/// Whether it can be tried at all here.
fn is_possible(test: &str) -> bool {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let output = trying(folder.path(), &["--rounds", "1"], &["true"]).output().unwrap();
    let refused = stderr(&output).contains("private view");
    if refused {
        skip(test, "commands can have no private view of their files here");
    }
    !refused
}

const CHANGES: &str = "echo new > data/changed; rm data/removed; echo more > data/added; \
                       chmod 700 data/deep; echo x >> data/kept; mv link data/deep/; \
                       dd if=/dev/zero of=data/synced bs=1k count=3 conv=fsync status=none; \
                       mktemp > /dev/null; echo done";

#[test]
fn a_command_that_changes_everything_leaves_the_users_files_as_they_are() {
    let test = "a_command_that_changes_everything_leaves_the_users_files_as_they_are";
    if !is_possible(test) {
        return;
    }
    let folder = project();
    // Others work in the one that is usual.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let before = state(folder.path());
    let mut command = trying(folder.path(), &["--rounds", "2"], &["sh", "-c", CHANGES]);
    let output = command.env("TMPDIR", scratch.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(state(folder.path()), before);
    let result = result(&output);
    let schema = include_str!("../../../../docs/schema/try-1.json");
    let schema = serde_json::from_str(schema).unwrap();
    jsonschema::validate(&schema, &result).unwrap();
    let variants = result["rows"].as_array().unwrap().iter();
    for row in variants.clone() {
        assert_ne!(row["verdict"], "invalid", "{result:#}");
        assert!(row["time_ns"].is_number(), "{result:#}");
    }
    assert!(row(&result, "all-in-ram").is_some() && row(&result, "syncs-free").is_some());
    assert_eq!(row(&result, "syncs-free").unwrap()["is_bound"], true);
    assert_eq!((&result["syncs"]["calls"], &result["rounds"]), (&1.into(), &2.into()));
    // The temporary file is of another name in each run, which is not compared.
    let notes = result["notes"].to_string();
    assert!(notes.contains("Files that differ from run to run were not compared"), "{notes}");
    assert!(!result["outside"].as_array().unwrap().is_empty());
}

/// Fails if the folder above it is copied: a compiler asks so about /tmp, and the root cannot be copied.
#[test]
fn a_command_may_ask_whether_it_may_write_to_a_folder_below_the_root() {
    if !is_possible("a_command_may_ask_whether_it_may_write_to_a_folder_below_the_root") {
        return;
    }
    let folder = project();
    let asks = ["sh", "-c", "[ -w /mnt ]; echo new > data/changed"];
    let output = trying(folder.path(), &["--rounds", "1"], &asks).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// Fails where the folder that would be moved is not the one that the command writes to.
#[test]
fn what_writes_only_elsewhere_is_moved_there() {
    if !is_possible("what_writes_only_elsewhere_is_moved_there") {
        return;
    }
    let (folder, scratch) = (project(), tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    // So many that starting programs takes little beside them.
    let lines = "f=$(mktemp); for n in $(seq 3000); do echo $n >> $f; read x < $f; done; rm $f";
    let mut command = trying(folder.path(), &["--rounds", "1"], &["sh", "-c", lines]);
    // Else programs look for libraries where cargo has them.
    command.env_remove("LD_LIBRARY_PATH").env("TMPDIR", scratch.path());
    let told = result(&command.output().unwrap());
    let in_ram = row(&told, "in-ram").unwrap_or_else(|| panic!("{told:#}"));
    assert_eq!(in_ram["folder"], scratch.path().to_str().unwrap(), "{told:#}");
    assert!(in_ram["scratch"].as_f64().unwrap() > 0.0, "{told:#}");
}

#[test]
fn a_variant_that_comes_to_something_else_is_not_compared() {
    if !is_possible("a_variant_that_comes_to_something_else_is_not_compared") {
        return;
    }
    let folder = project();
    let tells_storage = ["sh", "-c", "echo x > data/x; stat -f -c %T data"];
    let moved = trying(folder.path(), &["--rounds", "1", "--move", "data"], &tells_storage);
    let told = result(&{ moved }.output().unwrap());
    assert_eq!(row(&told, "in-ram").unwrap()["verdict"], "invalid", "{told:#}");
    let output = trying(folder.path(), &["--rounds", "1"], &tells_storage).output().unwrap();
    let told = result(&output);
    let in_ram = row(&told, "all-in-ram").unwrap();
    let why = in_ram["why"].to_string();
    assert!(in_ram["verdict"] == "invalid" && why.contains("standard output differs"), "{told:#}");
    let ignoring = ["--rounds", "1", "--ignore", "stdout"];
    let output = trying(folder.path(), &ignoring, &tells_storage).output().unwrap();
    assert_ne!(row(&result(&output), "all-in-ram").unwrap()["verdict"], "invalid");
    let failing = ["--rounds", "1", "--check", "stat -f -c %T data | grep -v tmpfs"];
    let output = trying(folder.path(), &failing, &["touch", "data/x"]).output().unwrap();
    let told = result(&output);
    let why = row(&told, "all-in-ram").unwrap()["why"].to_string();
    assert!(why.contains("--check ended with exit status 1"), "{told:#}");
    let never = trying(folder.path(), &["--check", "exit 3"], &["true"]).output().unwrap();
    let told = "--check ended with exit status 3, of what the unchanged command made";
    assert_fails(&never, 1, &[told]);
    let nowhere = trying(folder.path(), &["--ram", "/no/such"], &["true"]).output().unwrap();
    assert_fails(&nowhere, 2, &["--ram: ram=/no/such: there is no such directory"]);
}

#[test]
fn a_command_that_cannot_run_twice_is_told_so() {
    if !is_possible("a_command_that_cannot_run_twice_is_told_so") {
        return;
    }
    let folder = project();
    // What is open already can be written to: the third run finds what the ones before left.
    let script = "exec 3>>twice; exec \"$0\" try --budget 5 --mechanism ptrace -- \
                  sh -c 'echo x >&3; test $(wc -l < /proc/self/fd/3) -lt 2'";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_iotoll")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_fails(&output, 1, &["when it runs again (exit status 1 instead of 0)", "--setup"]);
}

/// Fails where what a command leaves behind is waited for, or lives on among the copies of later runs.
#[test]
fn a_command_that_starts_a_daemon_is_timed_alone_and_the_daemon_ended() {
    if !is_possible("a_command_that_starts_a_daemon_is_timed_alone_and_the_daemon_ended") {
        return;
    }
    let folder = project();
    let lines = ["sh", "-c", "setsid sleep 98.7 & echo new > data/changed"];
    let output = trying(folder.path(), &["--rounds", "1"], &lines).output().unwrap();
    let result = result(&output);
    let time_ns = row(&result, "as-now").unwrap()["time_ns"].as_f64().unwrap();
    assert!(time_ns < 50e9, "{result:#}");
    let notes = result["notes"].to_string();
    assert_eq!(notes.matches("left processes behind").count(), 1, "{notes}");
    let is_there = fs::read_dir("/proc").unwrap().any(|process| {
        let line = fs::read(process.unwrap().path().join("cmdline"));
        line.is_ok_and(|line| line.starts_with(b"sleep\098.7"))
    });
    assert!(!is_there);
}

#[test]
fn wrong_input_is_answered_with_what_to_do() {
    let folder = project();
    let output = trying(folder.path(), &["--move", "nowhere"], &["true"]).output().unwrap();
    assert_fails(&output, 2, &["--move nowhere", "no directory"]);
    let output = trying(folder.path(), &[], &["/no/such/program"]).output().unwrap();
    assert!(matches!(output.status.code(), Some(1 | 2)), "{}", stderr(&output));
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}

#[test]
fn a_trial_that_is_killed_changes_nothing_of_the_users() {
    if !is_possible("a_trial_that_is_killed_changes_nothing_of_the_users") {
        return;
    }
    let folder = project();
    let before = state(folder.path());
    for (number, signal) in ["KILL", "KILL", "KILL", "INT", "TERM"].into_iter().enumerate() {
        let mut command = trying(folder.path(), &[], &["sh", "-c", CHANGES]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(150 + 370 * number as u64));
        let mut kill = Command::new("kill");
        kill.args([format!("-{signal}"), child.id().to_string()]);
        assert!(kill.status().unwrap().success());
        let ended = child.wait().unwrap();
        assert!(signal == "KILL" || ended.code() == Some(130), "{signal}: {ended}");
        assert_eq!(state(folder.path()), before, "after {signal}");
    }
}

#[test]
fn an_ordinary_user_can_try_as_well() {
    let test = "an_ordinary_user_can_try_as_well";
    if !is_root() {
        return;
    }
    let folder = project();
    let before = given_to_nobody(folder.path(), 65_534);
    let Some(output) = tried_by_nobody(test, folder.path(), CHANGES) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(state(folder.path()), before);
    assert_ne!(row(&result(&output), "all-in-ram").unwrap()["verdict"], "invalid");
}

/// Fails where a file of another group, which no overlay in a user's own namespace can copy, cannot be
/// changed in the view, so that another command is tried than the user's.
#[test]
fn an_ordinary_user_changes_files_of_another_group() {
    let test = "an_ordinary_user_changes_files_of_another_group";
    if !is_root() {
        return;
    }
    let folder = project();
    let before = given_to_nobody(folder.path(), 0);
    let changes = "echo new > data/changed || exit 9";
    let Some(output) = tried_by_nobody(test, folder.path(), changes) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(state(folder.path()), before);
    assert_eq!(result(&output)["status"], 0, "{}", stderr(&output));
    assert_ne!(row(&result(&output), "all-in-ram").unwrap()["verdict"], "invalid");
}

/// Fails where a file system whose server is gone ends it, and where root of a user namespace, as in a
/// rootless container, has no overlays, so that the command cannot write.
#[test]
fn a_dead_mount_and_a_rootless_container_are_no_obstacles() {
    const DIES: &str = "exec 9<>/dev/fuse && mount -i -t fuse none \"$0\" \
        -o fd=9,rootmode=40000,user_id=0,group_id=0 && exec 9>&- && exec \"$@\"";
    let folder = project();
    let dead = folder.path().join("dead");
    fs::create_dir(&dead).unwrap();
    let before = state(folder.path());
    let within = |command: &Command| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", DIES]).arg(&dead);
        unshare.arg(command.get_program()).args(command.get_args());
        unshare.current_dir(folder.path()).output().unwrap()
    };
    let gone = within(Command::new("ls").arg(&dead));
    if !stderr(&gone).contains("not connected") {
        let why = format!("no FUSE in a user namespace: {}", stderr(&gone));
        return skip("a_dead_mount_and_a_rootless_container_are_no_obstacles", &why);
    }
    let changes = trying(folder.path(), &["--rounds", "1"], &["sh", "-c", CHANGES]);
    let output = within(&changes);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(result(&output)["status"], 0, "{}", stderr(&output));
    assert_ne!(row(&result(&output), "all-in-ram").unwrap()["verdict"], "invalid");
    assert_eq!(state(folder.path()), before);
}

/// Fails where a copy that cannot be given to its owner, or a file that cannot be read, ends it.
#[test]
fn files_of_others_are_copied_as_the_users_own_and_that_is_told_once() {
    let test = "files_of_others_are_copied_as_the_users_own_and_that_is_told_once";
    if !is_root() || !is_possible(test) {
        return;
    }
    let folder = project();
    let path = |name: &str| folder.path().join(name);
    for (name, owner, mode) in [("data/changed", 33, 0o666), ("data/removed", 34, 0o600)] {
        fs::set_permissions(path(name), Permissions::from_mode(mode)).unwrap();
        std::os::unix::fs::chown(path(name), Some(owner), Some(owner)).unwrap();
    }
    std::os::unix::fs::lchown(path("link"), Some(33), Some(33)).unwrap();
    let before = state(folder.path());
    let changes = ["sh", "-c", "echo new > data/changed; echo new > data/added"];
    let command = trying(folder.path(), &["--rounds", "1"], &changes);
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user"]).arg(command.get_program()).args(command.get_args());
    let output = unshare.current_dir(folder.path()).output().unwrap();
    if stderr(&output).starts_with("unshare") {
        return skip(test, &stderr(&output));
    }
    let result = result(&output);
    let notes = result["notes"].to_string();
    let others = "2 files of other owners are copied as yours.";
    assert_eq!(notes.matches(others).count(), 1, "{notes}");
    let unread = "1 file that you may not read is not copied, and cannot be written";
    assert!(notes.contains(unread), "{notes}");
    assert_eq!(state(folder.path()), before);
    assert_ne!(row(&result, "all-in-ram").unwrap()["verdict"], "invalid", "{result:#}");
}

/// Fails where what cannot be written over a folder with a mount in it is not copied, then.
#[test]
fn a_command_makes_a_file_beside_a_mount() {
    const MOUNTS: &str = "mount -t tmpfs none data && exec \"$@\"";
    let test = "a_command_makes_a_file_beside_a_mount";
    let folder = project();
    let before = state(folder.path());
    let within = |command: &Command| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", MOUNTS, "sh"]);
        unshare.arg(command.get_program()).args(command.get_args());
        unshare.current_dir(folder.path()).output().unwrap()
    };
    let mounted = within(&Command::new("true"));
    if !is_possible(test) || !mounted.status.success() {
        return skip(test, &format!("no mounts in a user namespace: {}", stderr(&mounted)));
    }
    let makes = trying(folder.path(), &["--rounds", "1"], &["sh", "-c", "echo new > made"]);
    let output = within(&makes);
    assert_eq!(result(&output)["status"], 0, "{}", stderr(&output));
    assert_eq!(state(folder.path()), before);
}

/// Gives all of a folder to nobody, and a group; its state then.
fn given_to_nobody(folder: &Path, group: u32) -> BTreeMap<PathBuf, String> {
    for path in [folder.to_owned()].into_iter().chain(state(folder).into_keys()) {
        std::os::unix::fs::lchown(path, Some(65_534), Some(group)).unwrap();
    }
    state(folder)
}

/// What came of trying some lines of shell as nobody; none where that is impossible here.
fn tried_by_nobody(test: &str, folder: &Path, lines: &str) -> Option<Output> {
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(env!("CARGO_BIN_EXE_iotoll"))
        .args(["try", "--rounds", "1", "--budget", "20", "--json", "-", "--", "sh", "-c", lines])
        .current_dir(folder)
        .output();
    let is_possible = |output: &Output| {
        let said = stderr(output);
        !said.contains("Permission denied") && !said.contains("private view")
    };
    let output = output.ok().filter(is_possible);
    if output.is_none() {
        skip(test, "another user cannot run it, or has no user namespaces");
    }
    output
}
