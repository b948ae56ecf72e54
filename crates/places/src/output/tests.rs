//! Outputs on the real machine, also as root in folders of others.

#![allow(clippy::unwrap_used)]

use std::fs::{self, Permissions};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::path::PathBuf;

use rustix::fs::{CWD, Mode, mknodat};
use rustix::process::geteuid;
use tempfile::TempDir;

use super::*;

const NOBODY: u32 = 65_534;

fn put(path: &Path) -> Result<(), OutputError> {
    Output::find(path, Readers::Usual)?.write(b"new")
}

fn refused(path: &Path) -> String {
    Output::find(path, Readers::Usual).unwrap_err().to_string()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn make(path: &Path, kind: FileType, device: u64) {
    mknodat(CWD, path, kind, Mode::from_raw_mode(0o666), device).unwrap();
}

/// A folder of another user's; nothing where only root could give one away.
#[allow(clippy::print_stderr)]
fn folder_of_another(test: &str) -> Option<TempDir> {
    if !geteuid().is_root() {
        eprintln!("SKIPPED: {test}: only root can give a folder away");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    Some(folder)
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_made_and_replaced_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sub/../file");
    assert!(refused(&file).contains("there is no directory"), "{}", refused(&file));
    fs::create_dir(folder.path().join("sub")).unwrap();
    let output = Output::find(&file, Readers::Usual).unwrap();
    assert!(!output.replaces() && names(folder.path()) == [Path::new("sub")]);
    output.write(b"old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    put(&file).unwrap();
    assert_eq!((fs::read(&file).unwrap(), mode(&file)), (b"new".to_vec(), 0o640));
    assert_eq!(names(folder.path()), [Path::new("file"), Path::new("sub")]);
    assert!(refused(folder.path()).contains("it is a directory"));
    assert!(refused(Path::new("/")).contains("it is a directory"));
    assert!(refused(&file.join("x")).contains("Not a directory"));
}

#[test]
fn a_file_without_readers_is_its_owners_and_is_written_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    let output = Output::find(&path, Readers::Owner).unwrap();
    let mut old = String::new();
    output.old().unwrap().unwrap().read_to_string(&mut old).unwrap();
    assert_eq!(old, "old");
    let mut file = output.begin().unwrap();
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (Vec::new(), 0o600));
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn links_of_ones_own_are_followed_to_files_and_folders_and_stay_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("deep")).unwrap();
    symlink("deep", at("relative")).unwrap();
    symlink(at("relative/../deep"), at("absolute")).unwrap();
    symlink("absolute/made", at("file")).unwrap();
    put(&at("file")).unwrap();
    assert_eq!(fs::read(at("deep/made")).unwrap(), b"new");
    assert!(at("file").is_symlink() && at("absolute").is_symlink());
    symlink("round", at("round")).unwrap();
    assert!(refused(&at("round")).contains("symbolic links"));
}

#[test]
fn devices_and_fifos_of_ones_own_are_written_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    make(&fifo, FileType::Fifo, 0);
    let unread = Output::find(&fifo, Readers::Owner).unwrap();
    assert!(matches!(unread.target, Target::Fifo(_)), "it does not wait for a reader");
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::read(fifo).unwrap()
    });
    unread.write(b"new").unwrap();
    assert_eq!(reader.join().unwrap(), b"new");
    put(Path::new("/dev/null")).unwrap();
    let kept = fs::symlink_metadata("/dev/null").unwrap();
    assert_eq!(FileType::from_raw_mode(kept.mode()), FileType::CharacterDevice);
}

/// `/proc/1/fd/1` and its like: what they lead to may have no name.
#[test]
fn a_pipe_of_another_process_is_reached_by_its_descriptor() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut sleep = std::process::Command::new("sleep").arg("600").stdout(writer).spawn().unwrap();
    let path = PathBuf::from(format!("/proc/{}/fd/1", sleep.id()));
    let written = put(&path);
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    written.unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "new");
}

#[test]
fn in_a_folder_of_another_an_ordinary_file_is_written_and_stays_roots() {
    let Some(folder) = folder_of_another("in_a_folder_of_another") else { return };
    let [theirs, new] = ["theirs", "new"].map(|name| folder.path().join(name));
    fs::write(&theirs, "old").unwrap();
    fs::set_permissions(&theirs, Permissions::from_mode(0o777)).unwrap();
    chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
    for path in [theirs, new] {
        put(&path).unwrap();
        let facts = fs::metadata(&path).unwrap();
        assert_eq!((facts.uid(), facts.mode() & 0o133), (0, 0), "{path:?}");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
    // One of root's that anybody might write to, which its owner put there.
    let linked = folder.path().join("linked");
    fs::write(&linked, "old").unwrap();
    fs::set_permissions(&linked, Permissions::from_mode(0o777)).unwrap();
    put(&linked).unwrap();
    assert_eq!(mode(&linked) & 0o133, 0);
}

/// All that somebody can put in the way of root, in their own folder, in one that is below
/// it, and in one that all share.
#[test]
fn root_uses_no_link_fifo_or_device_that_others_may_have_put_there() {
    let Some(theirs) = folder_of_another("root_uses_no_link") else { return };
    let below = theirs.path().join("below");
    fs::create_dir(&below).unwrap();
    let shared = tempfile::tempdir().unwrap();
    fs::set_permissions(shared.path(), Permissions::from_mode(0o1777)).unwrap();
    let roots = tempfile::tempdir().unwrap();
    fs::write(roots.path().join("precious"), "old").unwrap();
    for folder in [theirs.path(), &below, shared.path()] {
        let at = |name: &str| folder.join(name);
        symlink(roots.path().join("precious"), at("link")).unwrap();
        symlink(roots.path(), at("folder")).unwrap();
        symlink("/dev/stdout", at("descriptor")).unwrap();
        make(&at("fifo"), FileType::Fifo, 0);
        make(&at("device"), FileType::CharacterDevice, rustix::fs::makedev(1, 3));
        for name in ["link", "folder", "descriptor", "fifo", "device"] {
            let path = at(name);
            lchown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            let path = if name == "folder" { path.join("file") } else { path };
            let why = refused(&path);
            let what = match name {
                "fifo" => "is a FIFO that belongs to another user; name a file",
                "device" => "is a device that belongs to another user; name a file",
                _ => "is a symbolic link that belongs to another user; name its target instead",
            };
            assert!(why.contains(what), "{path:?}: {why}");
            // Where they may exchange it, it need not be theirs to be.
            lchown(at(name), Some(0), Some(0)).unwrap();
            let is_theirs = folder != shared.path();
            let found = Output::find(&path, Readers::Usual);
            assert_eq!(found.is_err(), is_theirs, "{path:?}");
            if let Err(error) = found {
                assert!(error.to_string().contains("other users can exchange it"), "{error}");
            }
        }
    }
    assert_eq!(names(roots.path()), [Path::new("precious")]);
    assert_eq!(fs::read(roots.path().join("precious")).unwrap(), b"old");
}

/// In a folder that all share, in one of a third user's, and in one's own that a group shares.
#[test]
fn another_user_relies_on_what_root_and_they_themselves_made() {
    const THIRD: u32 = 12;
    let Some(own) = folder_of_another("another_user_relies_on") else { return };
    fs::set_permissions(own.path(), Permissions::from_mode(0o775)).unwrap();
    let [shared, of_third] = [(0, 0o1777), (THIRD, 0o777)].map(|(owner, mode)| {
        let folder = tempfile::tempdir().unwrap();
        chown(folder.path(), Some(owner), None).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        folder
    });
    let folders = [own.path(), shared.path(), of_third.path()];
    for folder in folders {
        for owner in [0, NOBODY, THIRD] {
            let link = folder.join(owner.to_string());
            symlink(format!("target{owner}"), &link).unwrap();
            lchown(link, Some(owner), None).unwrap();
        }
    }
    let written = std::thread::scope(|scope| {
        let as_nobody = || {
            let nobody = rustix::fs::Uid::from_raw(NOBODY);
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            let names = ["0", "65534", "12", "file"];
            folders.map(|folder| names.map(|name| put(&folder.join(name)).is_ok()))
        };
        scope.spawn(as_nobody).join().unwrap()
    });
    let relied_on = [true, true, false, true];
    assert_eq!(written, [relied_on, relied_on, [false, false, false, true]]);
}

#[test]
fn the_folder_that_was_checked_is_written_to_wherever_its_name_leads_by_then() {
    let folder = tempfile::tempdir().unwrap();
    let [checked, moved, other] = ["checked", "moved", "other"].map(|n| folder.path().join(n));
    fs::create_dir(&checked).unwrap();
    fs::create_dir(&other).unwrap();
    let outputs = [Readers::Usual, Readers::Owner]
        .map(|readers| Output::find(&checked.join(format!("{readers:?}")), readers).unwrap());
    fs::rename(&checked, &moved).unwrap();
    symlink(&other, &checked).unwrap();
    let [usual, owner] = outputs;
    usual.write(b"new").unwrap();
    owner.begin().unwrap();
    assert_eq!(names(&other), Vec::<PathBuf>::new());
    assert_eq!(names(&moved), [Path::new("Owner"), Path::new("Usual")]);
}

#[test]
fn the_file_that_was_checked_is_read_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let [checked, secret] = ["checked", "secret"].map(|name| folder.path().join(name));
    fs::write(&checked, "checked").unwrap();
    fs::write(&secret, "secret").unwrap();
    let output = Output::find(&checked, Readers::Owner).unwrap();
    fs::remove_file(&checked).unwrap();
    symlink(&secret, &checked).unwrap();
    let mut text = String::new();
    output.old().unwrap().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "checked");
    output.write(b"new").unwrap();
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
    assert!(!checked.is_symlink(), "what was put there is replaced, not followed");
}
