//! What was measured is saved before it is printed, whole, to whatever it is to be saved
//! to; and whoever reads what is printed may go away.

#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread;

use common::{Mounted, assert_fails, iotoll, place, run, skip, stderr, stdout};
use serde_json::Value;
use tempfile::TempDir;

/// A result file, of which any command's delivery can be tried in no time.
static RESULT: LazyLock<(TempDir, String)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.json").display().to_string();
    let output = compare(&file);
    assert!(output.status.success(), "{}", stderr(&output));
    (folder, file)
});

/// What every report of it has, also where others left it too little time for a verdict.
const REPORTED: &str = "iotoll  ram=";

/// A short comparison, saved there.
fn compare(json: &str) -> Output {
    comparing(json).output().unwrap()
}

fn comparing(json: &str) -> Command {
    let mut command = iotoll();
    command.args(["compare", &place("ram", Path::new("/dev/shm")), "--json", json]);
    command.args(["--study", "log", "--strategy", "reopen,held", "--budget", "1s"]);
    command
}

/// The saved result once more, saved there.
fn showing(json: impl AsRef<Path>) -> Command {
    let mut command = iotoll();
    command.args(["show", &RESULT.1, "--json"]).arg(json.as_ref());
    command
}

fn show(json: impl AsRef<Path>) -> Output {
    showing(json).output().unwrap()
}

fn is_result(text: &[u8]) -> bool {
    serde_json::from_slice(text).is_ok_and(|value: Value| value["schema"] == "iotoll.result/2")
}

/// Nothing is in the folder but these.
fn assert_holds(folder: &Path, names: &[&str]) {
    let mut found: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, names);
}

#[test]
fn a_reader_that_goes_away_changes_neither_the_file_nor_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    for (mut command, code) in [
        (comparing(file.to_str().unwrap()), 0),
        (showing(&file), 0),
        // A place does not differ from itself: no verdict is the result's own code.
        (without_verdict(&file), 4),
    ] {
        fs::write(&file, "old").unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(is_result(&fs::read(&file).unwrap()), "{command:?}");
    }
}

/// A comparison that ends without a verdict: of a place with itself.
fn without_verdict(json: &Path) -> Command {
    let twins = ["one", "other"].map(|label| place(label, Path::new("/dev/shm")));
    let mut command = iotoll();
    command.arg("compare").args(twins).arg("--json").arg(json);
    command.args(["--study", "log", "--strategy", "held", "--budget", "1s"]);
    command.args(["--threshold", "0%", "--require-verdict", "--error-rate", "0.01%"]);
    command
}

#[test]
fn a_full_standard_output_is_an_error_and_what_is_saved_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    for mut command in [comparing(file.to_str().unwrap()), showing(&file)] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_fails(&output, 1, &["cannot print the result", "No space left"]);
        assert!(is_result(&fs::read(&file).unwrap()));
        fs::remove_file(&file).unwrap();
    }
    let output = showing("-").stdout(File::create("/dev/full").unwrap()).output().unwrap();
    assert_fails(&output, 1, &["cannot print the result", "No space left"]);
}

#[test]
fn with_standard_output_and_standard_error_closed_the_file_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let script = format!("\"$0\" show '{}' --json '{}' >&- 2>&-", RESULT.1, file.display());
    let status = Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_iotoll")]).status();
    assert_eq!(status.unwrap().code(), Some(0));
    assert!(is_result(&fs::read(&file).unwrap()));
    // Nor does a message that nobody reads end in a panic.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = iotoll().args(["show", "/nowhere/to/be/found"]).stderr(writer).status();
    assert_eq!(status.unwrap().code(), Some(2));
}

#[test]
fn a_full_disk_leaves_the_old_file_whole() {
    let test = "a_full_disk_leaves_the_old_file_whole";
    let Some(mounted) = Mounted::tmpfs(test, "size=64k") else { return };
    let file = mounted.path().join("r.json");
    fs::write(&file, "old").unwrap();
    fs::write(mounted.path().join("ballast"), vec![1; 48 << 10]).unwrap();
    for output in [compare(file.to_str().unwrap()), show(&file)] {
        assert_fails(
            &output,
            1,
            &["cannot save the result", "r.json was left unchanged", "No space"],
        );
        assert!(stdout(&output).contains(REPORTED), "the report was not printed");
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_holds(mounted.path(), &["ballast", "r.json"]);
    }
}

#[test]
fn a_limit_on_the_size_of_files_leaves_the_old_file_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    fs::write(&file, "old").unwrap();
    let script =
        format!("ulimit -f 1; exec \"$0\" show '{}' --json '{}'", RESULT.1, file.display());
    let output = Command::new("bash").args(["-c", &script, env!("CARGO_BIN_EXE_iotoll")]).output();
    assert_fails(&output.unwrap(), 1, &["was left unchanged", "File too large"]);
    assert_eq!(fs::read(&file).unwrap(), b"old");
    assert_holds(folder.path(), &["r.json"]);
}

#[test]
fn a_file_is_replaced_and_keeps_its_rights() {
    let folder = tempfile::tempdir().unwrap();
    let [file, link, dangling] = ["r.json", "link", "dangling"].map(|n| folder.path().join(n));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    symlink("r.json", &link).unwrap();
    symlink("new.json", &dangling).unwrap();
    let (old, mut reader) = (fs::metadata(&file).unwrap(), File::open(&file).unwrap());
    assert!(show(&link).status.success());
    assert!(show(&dangling).status.success());
    for link in [&link, &dangling] {
        assert!(fs::symlink_metadata(link).unwrap().is_symlink(), "a link was replaced");
        assert!(is_result(&fs::read(link).unwrap()));
    }
    let new = fs::metadata(&file).unwrap();
    assert_eq!((new.mode(), new.uid(), new.gid()), (old.mode(), old.uid(), old.gid()));
    // Whoever reads the old one has it to its end.
    assert_ne!(new.ino(), old.ino());
    assert_eq!(std::io::read_to_string(&mut reader).unwrap(), "old");
    assert_holds(folder.path(), &["dangling", "link", "new.json", "r.json"]);
}

#[test]
fn a_new_file_has_the_rights_that_the_umask_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let script = format!("umask 027; exec \"$0\" show '{}' --json '{}'", RESULT.1, file.display());
    let status = Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_iotoll")]).status();
    assert!(status.unwrap().success());
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn what_cannot_be_saved_to_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    let refused = |json: &str, says: &str| {
        assert_fails(&compare(json), 2, &["cannot write the result to", json, says]);
    };
    refused(&format!("{place}/none/r.json"), "there is no directory");
    refused(&place.to_string(), "it is a directory; name a file");
    refused("/dev/fd/77", "Bad file descriptor");
    symlink("round", folder.path().join("round")).unwrap();
    refused(&format!("{place}/round"), "symbolic links");
    assert_holds(folder.path(), &["round"]);
    if common::is_root() {
        let theirs = folder.path().join("theirs");
        symlink("victim", &theirs).unwrap();
        std::os::unix::fs::lchown(&theirs, Some(12), Some(12)).unwrap();
        refused(&theirs.display().to_string(), "link that belongs to another user");
    }
}

#[test]
fn a_target_that_is_read_only_is_refused_and_untouched() {
    let test = "a_target_that_is_read_only_is_refused_and_untouched";
    let Some(mounted) = Mounted::tmpfs(test, "size=1m") else { return };
    let file = mounted.path().join("r.json");
    fs::write(&file, "old").unwrap();
    mounted.remount("ro");
    let json = file.to_str().unwrap();
    assert_fails(&compare(json), 2, &["cannot write the result to", "Read-only file system"]);
    assert_eq!(fs::read(&file).unwrap(), b"old");
}

#[test]
fn whom_rights_bind_is_refused_where_they_lack() {
    if !common::is_root() {
        return skip("whom_rights_bind_is_refused_where_they_lack", "only root can be another");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    fs::copy(&RESULT.1, folder.path().join("saved.json")).unwrap();
    common::copy_program(&folder.path().join("iotoll"));
    fs::write(folder.path().join("r.json"), "old").unwrap();
    fs::create_dir(folder.path().join("open")).unwrap();
    fs::set_permissions(folder.path().join("open"), Permissions::from_mode(0o1777)).unwrap();
    fs::write(folder.path().join("open/r.json"), "old").unwrap();
    fs::set_permissions(folder.path().join("open/r.json"), Permissions::from_mode(0o666)).unwrap();
    for (json, says) in [
        ("r.json", "cannot create a temporary file"),
        ("new.json", "cannot create a temporary file"),
        ("open/r.json", "belongs to another user"),
    ] {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new(folder.path().join("iotoll"));
        command.args(["show", "saved.json", "--json", json]).current_dir(folder.path());
        let output = command.uid(65534).gid(65534).output().unwrap();
        assert_fails(&output, 2, &["cannot write the result to", json, says]);
    }
    assert_holds(folder.path(), &["iotoll", "open", "r.json", "saved.json"]);
    assert_eq!(fs::read(folder.path().join("r.json")).unwrap(), b"old");
}

#[test]
fn a_fifo_has_the_result_whether_its_reader_came_before_or_after_the_run() {
    for comes_late in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let writer = comes_late.then(|| showing(&fifo).stdout(Stdio::null()).spawn().unwrap());
        let reader = thread::spawn({
            let fifo = fifo.clone();
            move || fs::read(fifo).unwrap()
        });
        match writer {
            Some(mut writer) => assert!(writer.wait().unwrap().success()),
            None => assert!(compare(fifo.to_str().unwrap()).status.success()),
        }
        assert!(is_result(&reader.join().unwrap()));
        assert_holds(folder.path(), &["fifo"]);
    }
}

#[test]
fn standard_output_by_its_names_has_the_json_alone() {
    for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let output = show(name);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        assert!(is_result(&output.stdout), "{name}: {}", stdout(&output));
    }
    let output = show("/dev/stderr");
    assert!(is_result(&output.stderr) && stdout(&output).contains(REPORTED));
    assert!(is_result(&compare("/dev/stdout").stdout));
}

#[test]
fn inherited_descriptors_and_process_substitutions_are_written_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let bash = |script: &str| {
        let mut command = Command::new("bash");
        command.args(["-c", script, env!("CARGO_BIN_EXE_iotoll"), &RESULT.1]);
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let holds = |name: &str| is_result(&fs::read(folder.path().join(name)).unwrap());
    bash("\"$0\" show \"$1\" --json >(cat >read) >/dev/null; wait $!");
    assert!(holds("read"));
    // What the shell wrote to it before stays there.
    bash("{ echo '[' >&3; \"$0\" show \"$1\" --json /dev/fd/3; echo ']' >&3; } 3>list >/dev/null");
    let list: Value =
        serde_json::from_slice(&fs::read(folder.path().join("list")).unwrap()).unwrap();
    assert_eq!(list[0]["schema"], "iotoll.result/2");
    bash("\"$0\" show \"$1\" --json >(true); [ $? = 0 ]");
    bash("\"$0\" show \"$1\" --json /dev/null | grep -q '^iotoll  ram='");
    let full = show("/dev/full");
    assert_fails(&full, 1, &["cannot write the result to /dev/full", "No space left"]);
    assert!(stdout(&full).contains(REPORTED), "the report was not printed");
}

#[test]
fn the_other_commands_deliver_likewise() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("load.json");
    let server = "exec python3 -m http.server --bind 127.0.0.1 {port}";
    let mut load = iotoll();
    load.args(["load", "http://127.0.0.1:{port}/", "--rate", "100", "--connections", "5"]);
    load.args(["--serve", server, "--json"]).arg(&file).current_dir(folder.path());
    fs::write(&file, "old").unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = load.stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let saved: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(saved["schema"], "iotoll.load/2");
    let again = run(["show", file.to_str().unwrap(), "--json", "/dev/stdout"]);
    assert_eq!(again.stdout, fs::read(&file).unwrap(), "{}", stderr(&again));
}
