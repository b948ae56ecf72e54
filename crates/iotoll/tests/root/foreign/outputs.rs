//! Outputs of root in a folder that another user owns: they plant what leads elsewhere under
//! the names of outputs, or exchange the folder for a link while root writes.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use report::formats::FORMATS;
use rustix::fs::{CWD, FileType, Mode, RenameFlags, Uid, makedev, mknodat, renameat_with};
use rustix::thread::{set_thread_groups, set_thread_res_uid};
use tempfile::TempDir;

use super::NOBODY;
use super::common::{assert_fails, data_folder, iotoll, is_root, place, skip, stderr};

/// How often the folder is exchanged, where no more is asked for.
const EXCHANGES: u64 = 4_000;
/// How many runs of the program that goes on for, at the least.
const RUNS: u64 = 40;
/// In seconds. A program that waits for the reader of a FIFO would never end.
const HANG: &str = "60";
/// The shell's code of what took longer.
const HUNG: i32 = 137;

/// A saved result, of which every output can be made in no time.
static RESULT: LazyLock<(TempDir, String)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.json").display().to_string();
    let mut compare = iotoll();
    compare.args(["compare", &place("ram", Path::new("/dev/shm")), "--json", &file]);
    compare.args(["--study", "log", "--strategy", "reopen,held", "--budget", "1s"]);
    let output = compare.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    (folder, file)
});

/// A folder of another user's, and one of root's that they would like to write to.
struct Folders {
    _base: TempDir,
    theirs: PathBuf,
    roots: PathBuf,
}

impl Folders {
    fn new(test: &str) -> Option<Self> {
        if !is_root() {
            skip(test, "only root can give a folder away");
            return None;
        }
        let base = tempfile::tempdir().unwrap();
        fs::set_permissions(base.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let [theirs, roots] = ["theirs", "roots"].map(|name| base.path().join(name));
        fs::create_dir(&theirs).unwrap();
        fs::create_dir(&roots).unwrap();
        fs::write(roots.join("precious"), "precious").unwrap();
        chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
        Some(Self { _base: base, theirs, roots })
    }

    fn assert_roots_untouched(&self, what: &str) {
        let names: Vec<_> = fs::read_dir(&self.roots).unwrap().flatten().collect();
        assert_eq!((names.len(), names[0].file_name().to_str()), (1, Some("precious")), "{what}");
        assert_eq!(fs::read(self.roots.join("precious")).unwrap(), b"precious", "{what}");
    }
}

/// The binary in a folder, ended where it hangs.
fn run_in(folder: &Path, args: &[&str]) -> Output {
    let script = format!("umask 022; exec timeout -s KILL {HANG} \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_iotoll")]).args(args);
    command.current_dir(folder).env("IOTOLL_DIR", data_folder()).output().unwrap()
}

/// Every command that writes, with the name of what it writes.
fn outputs() -> Vec<(Vec<&'static str>, &'static str)> {
    let saved = RESULT.1.as_str();
    let mut outputs = vec![
        (vec!["record", "--", "true"], "true.trace"),
        (vec!["report", saved, "-o", "out.html"], "out.html"),
        (vec!["report", saved, "-o", "out.md"], "out.md"),
        (vec!["share", saved, "-o", "out.json"], "out.json"),
        (vec!["places", "/dev/shm", "--json", "out.json"], "out.json"),
    ];
    for format in &FORMATS {
        let flag = format!("--{}", format.flag);
        outputs.push((vec!["show", saved, flag.leak(), "out"], "out"));
    }
    outputs
}

#[test]
fn root_writes_through_nothing_that_another_planted_under_the_name_of_an_output() {
    let Some(folders) = Folders::new("root_writes_through_nothing") else { return };
    for (args, name) in outputs() {
        let planted = folders.theirs.join(name);
        for kind in ["link", "link to a device", "FIFO", "device"] {
            match kind {
                "link" => symlink(folders.roots.join("precious"), &planted).unwrap(),
                "link to a device" => symlink("/dev/full", &planted).unwrap(),
                "FIFO" => {
                    mknodat(CWD, &planted, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
                }
                _ => {
                    let mode = Mode::from_raw_mode(0o666);
                    let device = makedev(1, 3);
                    mknodat(CWD, &planted, FileType::CharacterDevice, mode, device).unwrap();
                }
            }
            lchown(&planted, Some(NOBODY), Some(NOBODY)).unwrap();
            let output = run_in(&folders.theirs, &args);
            assert_ne!(output.status.code(), Some(HUNG), "{args:?} hung on a {kind}");
            assert_fails(&output, 2, &["cannot write", name, "that belongs to another user"]);
            folders.assert_roots_untouched(kind);
            fs::remove_file(&planted).unwrap();
        }
    }
    // The same through a link in place of a folder.
    symlink(&folders.roots, folders.theirs.join("folder")).unwrap();
    lchown(folders.theirs.join("folder"), Some(NOBODY), Some(NOBODY)).unwrap();
    let output = run_in(&folders.theirs, &["show", &RESULT.1, "--json", "folder/out.json"]);
    assert_fails(&output, 2, &["folder is a symbolic link that belongs to another user"]);
    folders.assert_roots_untouched("a link in place of a folder");
}

#[test]
fn an_ordinary_file_in_the_folder_of_another_becomes_roots_with_the_usual_rights() {
    let Some(folders) = Folders::new("an_ordinary_file_in_the_folder_of_another") else { return };
    for (args, name) in outputs() {
        let file = folders.theirs.join(name);
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o777)).unwrap();
        chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
        let output = run_in(&folders.theirs, &args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        let facts = fs::metadata(&file).unwrap();
        assert!(facts.uid() == 0 && facts.len() > 0, "{args:?}");
        let mode = if name == "true.trace" { 0o600 } else { 0o644 };
        assert_eq!(facts.mode() & 0o777, mode, "{args:?}");
        fs::remove_file(&file).unwrap();
    }
}

/// A thread that is another user, as the system calls have it.
fn become_nobody() {
    let nobody = Uid::from_raw(NOBODY);
    set_thread_groups(&[]).unwrap();
    set_thread_res_uid(nobody, nobody, nobody).unwrap();
}

/// Exchanges the folder for a link to root's and for a folder of links that lead there, and
/// back again, until that was often enough and it is over; says how often.
fn exchange(folders: &Folders, names: &[&str], at_least: u64, is_over: &AtomicBool) -> u64 {
    become_nobody();
    assert!(fs::write(folders.roots.join("x"), "").is_err(), "only root may write there");
    let [folder, link, links] = ["out", "link", "links"].map(|name| folders.theirs.join(name));
    symlink(&folders.roots, &link).unwrap();
    fs::create_dir(&links).unwrap();
    for name in names {
        symlink(folders.roots.join("precious"), links.join(name)).unwrap();
    }
    let mut number = 0;
    while number < at_least || !is_over.load(Ordering::Relaxed) {
        let decoy = if number % 4 < 2 { &link } else { &links };
        renameat_with(CWD, &folder, CWD, decoy, RenameFlags::EXCHANGE).unwrap();
        // For the program to come by while it is away, or is not.
        thread::sleep(Duration::from_micros(20 + number * 7919 % 200));
        number += 1;
    }
    number
}

/// Says that it is over when it is dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Files that root wrote, below a folder of another's, and now belong to others or may be
/// written by them.
fn given_away(folder: &Path) -> Vec<PathBuf> {
    let mut given = Vec::new();
    for path in super::common::entries(folder) {
        let facts = fs::symlink_metadata(&path).unwrap();
        if facts.is_dir() {
            given.extend(given_away(&path));
        } else if facts.is_file() && facts.len() > "theirs".len() as u64 {
            let is_roots = facts.uid() == 0 && facts.mode() & 0o022 == 0;
            given.extend((!is_roots).then_some(path));
        }
    }
    given
}

#[test]
fn while_a_folder_is_exchanged_for_links_root_writes_in_it_or_nowhere() {
    let Some(folders) = Folders::new("while_a_folder_is_exchanged") else { return };
    let exchanges = super::exchanges_least(EXCHANGES);
    let folder = folders.theirs.join("out");
    fs::create_dir(&folder).unwrap();
    let names = ["a.json", "a.csv", "a.om", "a.html", "a.md", "a.trace"];
    for name in names {
        fs::write(folder.join(name), if name == "a.trace" { "" } else { "theirs" }).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o777)).unwrap();
        chown(folder.join(name), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
    let saved = RESULT.1.as_str();
    let at = |name: &str| folder.join(name).display().to_string();
    let [json, csv, metrics, html, markdown, trace] = names.map(at);
    let commands: [&[&str]; 8] = [
        &["show", saved, "--json", &json],
        &["show", saved, "--csv", &csv],
        &["show", saved, "--openmetrics", &metrics],
        &["show", saved, "--html", &html],
        &["show", saved, "--markdown", &markdown],
        &["report", saved, "-o", &html],
        &["share", saved, "-o", &json],
        &["record", "--mechanism", "ptrace", "-o", &trace, "--", "true"],
    ];
    let (is_done, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (mut written, mut refused) = (0_u64, 0_u64);
    let exchanges = thread::scope(|scope| {
        let attack = scope.spawn(|| {
            let attack = || exchange(&folders, &names, exchanges, &is_over);
            let attack = std::panic::catch_unwind(std::panic::AssertUnwindSafe(attack));
            is_done.store(true, Ordering::Relaxed);
            attack.unwrap()
        });
        // Also where an assertion fails.
        let over = Over(&is_over);
        for args in commands.iter().cycle() {
            let output = run_in(&folders.theirs, args);
            let code = output.status.code();
            match code {
                Some(0) => written += 1,
                // It was away, or a link was in its place.
                Some(1 | 2) => refused += 1,
                _ => {}
            }
            if written + refused >= RUNS {
                is_over.store(true, Ordering::Relaxed);
            }
            folders.assert_roots_untouched("while the folder was exchanged");
            assert!(matches!(code, Some(0..=2)), "{args:?}: {code:?}: {}", stderr(&output));
            if is_done.load(Ordering::Relaxed) {
                break;
            }
        }
        drop(over);
        attack.join().unwrap()
    });
    eprintln!("{exchanges} exchanges, {written} runs wrote, {refused} were refused");
    assert_eq!(given_away(&folders.theirs), Vec::<PathBuf>::new());
    assert!(written > 0 && refused > 0, "{written} runs wrote, {refused} were refused");
}
