//! Cleaning on the real machine: what killed runs left goes, all else stays.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};

use host::owner::Owner;
use iotoll_places::{CleanReport, Foreign, PlaceError, WorkDir, clean};
use support::{Helper, Mounted, NOBODY, is_root, skip};
use tempfile::TempDir;

const NAME: &str = ".iotoll-0123456789abcdef";
/// How often root cleans while names are exchanged.
const CLEANINGS: u32 = 20_000;

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A folder that a run of this host left, which has ended.
fn leftover(place: &TempDir, files: &[&str]) -> PathBuf {
    let path = folder(place, NAME, files);
    fs::write(path.join("lock"), signed(&ended())).unwrap();
    path
}

/// A process of this host that is no more.
fn ended() -> Owner {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    Owner { pid: child.id(), started_ns: 1, ..Owner::this_process() }
}

fn signed(owner: &Owner) -> String {
    let Owner { pid, started_ns, pid_namespace, boot, machine, host } = owner;
    format!(
        "pid {pid}\nstarted 2026-01-01T00:00:00Z\nstarted_ns {started_ns}\n\
         pid_namespace {pid_namespace}\nboot {boot}\nmachine {machine}\nhost {host}\nend\n"
    )
}

fn folder(place: &TempDir, name: &str, files: &[&str]) -> PathBuf {
    let path = place.path().join(name);
    fs::create_dir(&path).unwrap();
    for file in files {
        fs::write(path.join(file), "text").unwrap();
    }
    path
}

#[test]
fn a_live_childs_folder_stays_and_goes_once_it_is_killed() {
    let place = place();
    let mut child = Helper::start("hold", place.path(), None);
    let path = PathBuf::from(child.told("path"));
    let report = clean(place.path(), Foreign::Keep).unwrap();
    assert_eq!((report.removed.len(), report.failed.len()), (0, 0));
    assert_eq!((&report.in_use[0].path, report.in_use[0].pid), (&path, Some(child.child.id())));
    assert!(path.join("slice/file").exists());

    child.kill();
    assert!(path.exists(), "a killed run cannot remove its folder");
    let report = clean(place.path(), Foreign::Keep).unwrap();
    assert_eq!((report.in_use.len(), report.failed.len()), (0, 0));
    assert_eq!((&report.removed[0].path, report.removed[0].files), (&path, 1));
    assert!(report.removed[0].bytes >= 10_000, "{report:?}");
    assert!(!path.exists());
}

#[test]
fn a_leftover_of_any_depth_is_removed() {
    let place = place();
    let mut child = Helper::start("leave-deep", place.path(), None);
    child.told("path");
    child.kill();
    let report = clean(place.path(), Foreign::Keep).unwrap();
    assert_eq!((report.removed.len(), report.failed.len()), (1, 0), "{report:?}");
    assert_eq!(report.removed[0].files, 500);
}

#[test]
fn the_next_run_in_the_place_removes_what_a_killed_one_left_and_says_so() {
    let place = place();
    let mut child = Helper::start("hold", place.path(), None);
    let path = PathBuf::from(child.told("path"));
    let beside = WorkDir::create("disk", place.path()).unwrap();
    assert_eq!(beside.swept().in_use[0].path, path);
    child.kill();
    let next = WorkDir::create("disk", place.path()).unwrap();
    assert_eq!(next.swept().removed[0].path, path);
    assert_eq!(next.swept().in_use[0].path, beside.path());
    assert!(!path.exists() && beside.path().join("lock").exists());
}

#[test]
fn a_program_that_the_run_had_started_does_not_keep_its_folder_alive() {
    let place = place();
    let mut child = Helper::start("hold-and-start", place.path(), None);
    let sleeper: i32 = child.told("sleeper").parse().unwrap();
    child.kill();
    let report = clean(place.path(), Foreign::Keep).unwrap();
    let sleeper = rustix::process::Pid::from_raw(sleeper).unwrap();
    rustix::process::kill_process(sleeper, rustix::process::Signal::KILL).unwrap();
    assert_eq!((report.removed.len(), report.in_use.len()), (1, 0));
}

#[test]
fn a_link_named_like_a_folder_is_left_alone_and_not_followed() {
    let (place, other) = (place(), place());
    let target = folder(&other, "target", &["lock", "precious"]);
    symlink(&target, place.path().join(NAME)).unwrap();
    assert_eq!(clean(place.path(), Foreign::Keep).unwrap(), CleanReport::default());
    assert!(target.join("precious").exists() && place.path().join(NAME).is_symlink());
}

#[test]
fn links_within_a_leftover_are_not_followed() {
    let (place, other) = (place(), place());
    let target = folder(&other, "target", &["precious"]);
    let leftover = leftover(&place, &[]);
    symlink(&target, leftover.join("link")).unwrap();
    let report = clean(place.path(), Foreign::Keep).unwrap();
    assert_eq!(report.removed[0].files, 1);
    assert!(target.join("precious").exists() && !leftover.exists());
}

#[test]
fn a_lock_that_is_a_link_or_a_directory_is_not_taken() {
    let (place, other) = (place(), place());
    let elsewhere = folder(&other, "target", &["lock"]);
    let linked = folder(&place, NAME, &["precious"]);
    symlink(elsewhere.join("lock"), linked.join("lock")).unwrap();
    let odd = folder(&place, ".iotoll-fedcba9876543210", &["precious"]);
    fs::create_dir(odd.join("lock")).unwrap();
    let report = clean(place.path(), Foreign::Keep).unwrap();
    assert_eq!((report.removed.len(), report.failed.len()), (0, 2));
    assert!(linked.join("precious").exists() && odd.join("precious").exists());
}

#[test]
fn without_a_lock_file_only_an_empty_folder_goes() {
    let place = place();
    let empty = folder(&place, NAME, &[]);
    let full = folder(&place, ".iotoll-fedcba9876543210", &["precious"]);
    let report = clean(place.path(), Foreign::Keep).unwrap();
    let place = place.path().canonicalize().unwrap();
    assert_eq!(report.removed[0].path, place.join(NAME));
    assert_eq!(report.failed[0].path, place.join(".iotoll-fedcba9876543210"));
    assert!(report.failed[0].why.contains("no lock file"), "{report:?}");
    assert!(!empty.exists() && full.join("precious").exists());
}

#[test]
fn names_that_are_not_exactly_ours_and_what_lies_deeper_are_left_alone() {
    let place = place();
    for name in [
        ".iotoll-",
        ".iotoll-0123456789abcde",
        ".iotoll-0123456789abcdef0",
        ".iotoll-0123456789ABCDEF",
        ".iotoll-0123456789abcdeg",
        "iotoll-0123456789abcdef",
    ] {
        folder(&place, name, &["lock"]);
    }
    let deeper = folder(&place, "deeper", &[]);
    fs::create_dir(deeper.join(NAME)).unwrap();
    fs::write(place.path().join(NAME), "a file").unwrap();
    assert_eq!(clean(place.path(), Foreign::Keep).unwrap(), CleanReport::default());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 8);
    assert!(deeper.join(NAME).exists());
}

#[test]
fn a_folder_whose_owner_may_live_elsewhere_stays_until_its_removal_is_asked_for() {
    let other = || "other".to_owned();
    let (pid, host) = (ended().pid, ended().host);
    let ended = || Owner { pid, ..ended() };
    for (owner, says) in [
        (Owner { host: "web2".to_owned(), ..ended() }, format!("process {pid} on the host web2")),
        (Owner { machine: other(), ..ended() }, format!("process {pid} on the host {host}")),
        (Owner { boot: other(), ..ended() }, "before its last boot".to_owned()),
        (Owner { pid_namespace: other(), ..ended() }, "in another container".to_owned()),
    ] {
        let place = place();
        let path = folder(&place, NAME, &["precious"]);
        fs::write(path.join("lock"), signed(&owner)).unwrap();
        let beside = WorkDir::create("disk", place.path()).unwrap();
        assert_eq!(beside.swept().foreign.len(), 1);
        drop(beside);
        let report = clean(place.path(), Foreign::Keep).unwrap();
        assert_eq!((report.removed.len(), report.failed.len()), (0, 0), "{report:?}");
        assert!(report.foreign[0].why.contains(&says), "{report:?}");
        assert!(path.join("precious").exists());
        let report = clean(place.path(), Foreign::Remove).unwrap();
        assert_eq!((report.removed.len(), report.foreign.len()), (1, 0), "{report:?}");
        assert!(!path.exists());
    }
}

#[test]
fn a_lock_that_does_not_say_whose_it_is_is_foreign() {
    let whole = signed(&ended());
    for text in
        ["", "pid 7\nstarted 2026-01-01T00:00:00Z\n", &whole[..whole.len() - 5], "\u{0}\u{0}"]
    {
        let place = place();
        let path = folder(&place, NAME, &[]);
        fs::write(path.join("lock"), text).unwrap();
        let report = clean(place.path(), Foreign::Keep).unwrap();
        let why = &report.foreign[0].why;
        assert!(why.contains("its lock file does not say which run it belongs to"), "{why}");
        assert!(path.exists());
        assert_eq!(clean(place.path(), Foreign::Remove).unwrap().removed.len(), 1);
    }
}

#[test]
fn a_folder_whose_process_lives_stays_though_its_lock_is_free() {
    let place = place();
    let path = folder(&place, NAME, &[]);
    fs::write(path.join("lock"), signed(&Owner::this_process())).unwrap();
    for foreign in [Foreign::Keep, Foreign::Remove] {
        let report = clean(place.path(), foreign).unwrap();
        assert_eq!(report.in_use[0].pid, Some(std::process::id()), "{report:?}");
    }
    assert!(path.exists());
}

#[test]
fn a_folder_whose_lock_is_held_stays_whoever_it_says_it_is_of() {
    let place = place();
    let path = folder(&place, NAME, &[]);
    let owner = Owner { host: "web2".to_owned(), ..ended() };
    fs::write(path.join("lock"), signed(&owner)).unwrap();
    let lock = fs::File::open(path.join("lock")).unwrap();
    lock.lock().unwrap();
    let report = clean(place.path(), Foreign::Remove).unwrap();
    assert_eq!((report.in_use.len(), report.removed.len()), (1, 0));
}

#[test]
fn a_run_that_was_killed_before_its_lock_was_signed_left_nothing_that_stays() {
    let place = place();
    let path = folder(&place, NAME, &["lock.new"]);
    let report = clean(place.path(), Foreign::Keep).unwrap();
    assert_eq!((report.removed.len(), report.failed.len()), (1, 0));
    assert!(!path.exists());
}

#[test]
fn a_folder_of_another_user_is_left_alone_even_by_root() {
    if !is_root() {
        return skip("a_folder_of_another_user…", "only root can give a folder away");
    }
    let place = place();
    let foreign = folder(&place, NAME, &["lock"]);
    chown(&foreign, Some(NOBODY), Some(NOBODY)).unwrap();
    assert_eq!(clean(place.path(), Foreign::Keep).unwrap(), CleanReport::default());
    assert!(foreign.join("lock").exists());
}

/// What somebody could hope for who forges a record: in a folder of theirs, root acts upon
/// none, whatever it says.
#[test]
fn roots_cleaning_acts_upon_no_record_outside_of_the_home_of_records() {
    if !is_root() {
        return skip("roots_cleaning_acts_upon_no_record…", "for others, records are their own");
    }
    let (place, elsewhere) = (place(), place());
    let victim = leftover(&elsewhere, &["precious"]);
    let forged = leftover(&place, &[]);
    let boot = Owner::this_process().boot;
    let digits: String =
        elsewhere.path().to_str().unwrap().bytes().map(|byte| format!("{byte:02x}")).collect();
    fs::write(forged.join("made"), format!("boot {boot}\nworking-in {digits}\n")).unwrap();
    for foreign in [Foreign::Keep, Foreign::Remove] {
        let report = clean(place.path(), foreign).unwrap();
        assert!(report.failed[0].why.contains("acts only on records"), "{report:?}");
        assert_eq!(report.removed, []);
        assert!(victim.join("precious").exists() && forged.exists());
    }
}

/// The owner of a directory exchanges a folder of root's for one of their own, which looks
/// like a leftover, again and again while root cleans there.
#[test]
fn a_folder_of_another_that_is_put_in_roots_place_while_root_cleans_is_left_alone() {
    if !is_root() {
        return skip(
            "a_folder_that_is_exchanged_while_root_cleans…",
            "only root can give one away",
        );
    }
    let place = place();
    let roots = folder(&place, NAME, &["precious"]);
    let theirs = folder(&place, "theirs", &["precious"]);
    fs::write(theirs.join("lock"), signed(&ended())).unwrap();
    for path in [place.path(), &theirs] {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                let cwd = rustix::fs::CWD;
                rustix::fs::renameat_with(cwd, &roots, cwd, &theirs, exchange).unwrap();
            }
        });
        for _ in 0..CLEANINGS {
            let report = clean(place.path(), Foreign::Keep);
            if !report.as_ref().is_ok_and(|report| report.removed.is_empty()) {
                is_over.store(true, std::sync::atomic::Ordering::Relaxed);
                panic!("{report:?}");
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(roots.join("precious").exists() && theirs.join("precious").exists());
}

/// A folder of root's, and in it what another user could write.
#[test]
fn a_lock_or_record_of_another_user_in_ones_own_folder_is_not_acted_upon() {
    if !is_root() {
        return skip("a_lock_or_record_of_another_user…", "only root can give a file away");
    }
    let place = place();
    let path = leftover(&place, &["precious"]);
    chown(path.join("lock"), Some(NOBODY), Some(NOBODY)).unwrap();
    let report = clean(place.path(), Foreign::Remove).unwrap();
    assert!(report.failed[0].why.contains("opening its lock file failed"), "{report:?}");
    assert!(path.join("precious").exists());
}

#[test]
fn the_lock_of_a_leftover_may_be_no_fifo_and_nothing_waits_for_one() {
    let place = place();
    let path = folder(&place, NAME, &["precious"]);
    let lock = path.join("lock");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, &lock, kind, mode, 0).unwrap();
    assert_eq!(clean(place.path(), Foreign::Remove).unwrap().failed.len(), 1);
    assert!(path.join("precious").exists());
}

/// What a writer leaves that is killed between giving a file a name and renaming it.
#[test]
fn an_unfinished_file_goes_with_clean_alone_once_nobody_writes_it() {
    let place = place();
    let boot: String = Owner::this_process().boot.chars().take(8).collect();
    let file = |start: &str| {
        let path = place.path().join(format!(".iotoll-{start}01234567.tmp"));
        fs::write(&path, "half").unwrap();
        path
    };
    let (killed, elsewhere) = (file(&boot), file("ffffffff"));
    let written = place.path().join(format!(".iotoll-{boot}89abcdef.tmp"));
    let writer = fs::File::create(&written).unwrap();
    writer.lock().unwrap();
    // A run in the place sweeps folders alone.
    drop(WorkDir::create("disk", place.path()).unwrap());
    assert!(killed.exists());
    let report = clean(place.path(), Foreign::Keep).unwrap();
    assert!(!killed.exists() && elsewhere.exists() && written.exists(), "{report:?}");
    assert_eq!((report.unfinished.len(), report.foreign.len()), (1, 1));
    assert!(report.unfinished[0].bytes > 0);
    let report = clean(place.path(), Foreign::Remove).unwrap();
    assert!(!elsewhere.exists() && written.exists(), "{report:?}");
    drop(writer);
    assert_eq!(clean(place.path(), Foreign::Keep).unwrap().unfinished.len(), 1);
    for kind in ["folder", "link", "of another"] {
        match kind {
            "folder" => fs::create_dir(&killed).unwrap(),
            "link" => symlink(file("fedcba98"), &killed).unwrap(),
            _ if is_root() => chown(file(&boot), Some(NOBODY), None).unwrap(),
            _ => return skip("an_unfinished_file…", "only root can give a file away"),
        }
        assert_eq!(clean(place.path(), Foreign::Keep).unwrap().unfinished, [], "{kind}");
        assert!(fs::symlink_metadata(&killed).is_ok(), "{kind}");
        let _ = fs::remove_dir(&killed);
        let _ = fs::remove_file(&killed);
    }
}

#[test]
fn a_leftover_on_a_read_only_file_system_is_reported_as_still_there() {
    let test = "a_leftover_on_a_read_only_file_system_is_reported_as_still_there";
    let Some(mut mounted) = Mounted::new(test, &["-t", "tmpfs", "tmpfs"]) else { return };
    fs::create_dir(mounted.path().join(NAME)).unwrap();
    fs::write(mounted.path().join(NAME).join("lock"), signed(&ended())).unwrap();
    let path = mounted.path();
    let source = path.to_str().unwrap();
    assert!(mounted.mount_over(test, &["--bind", "-o", "ro", source]));
    let report = clean(&path, Foreign::Keep).unwrap();
    assert_eq!((report.removed.len(), report.failed.len()), (0, 1));
    assert!(report.failed[0].why.contains("Read-only file system"), "{report:?}");
}

#[test]
fn a_directory_that_is_not_there_is_an_error() {
    let error = clean(Path::new("/no/such/place"), Foreign::Keep).unwrap_err();
    assert!(matches!(error, PlaceError::Missing(_)), "{error}");
    assert!(error.to_string().starts_with("/no/such/place: "), "{error}");
}
