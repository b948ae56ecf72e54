//! Outputs of root while the owner of their folder exchanges it, many times for each.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use iotoll_places::{Output, Readers};
use rustix::fs::{CWD, RenameFlags, Uid, renameat_with};
use rustix::thread::{set_thread_groups, set_thread_res_uid};
use support::{NOBODY, is_root, skip};

/// How often the folder is exchanged, where this variable asks for no more.
const EXCHANGES: u64 = 20_000;
const EXCHANGES_VARIABLE: &str = "IOTOLL_TEST_EXCHANGES";
const NAMES: [&str; 3] = ["new", "old", "trace"];

/// Exchanges a folder for a link and for a folder of links, as the user who owns it.
fn exchange(theirs: &Path, roots: &Path, exchanges: u64) {
    let nobody = Uid::from_raw(NOBODY);
    set_thread_groups(&[]).unwrap();
    set_thread_res_uid(nobody, nobody, nobody).unwrap();
    assert!(fs::write(roots.join("x"), "").is_err(), "only root may write there");
    let [folder, link, links] = ["out", "link", "links"].map(|name| theirs.join(name));
    symlink(roots, &link).unwrap();
    fs::create_dir(&links).unwrap();
    for name in NAMES {
        symlink(roots.join("precious"), links.join(name)).unwrap();
    }
    for number in 0..exchanges {
        let decoy = if number % 4 < 2 { &link } else { &links };
        renameat_with(CWD, &folder, CWD, decoy, RenameFlags::EXCHANGE).unwrap();
        if number % 100 == 0 {
            // What its owner would like to get back with root's contents.
            let old = folder.join("old");
            let _ = fs::remove_file(&old).and_then(|()| fs::write(&old, "theirs"));
            let _ = fs::set_permissions(&old, Permissions::from_mode(0o777));
        }
        if number % 3 == 0 {
            std::thread::yield_now();
        }
    }
}

/// Writes by every way there is; whether it was written.
fn write(path: &Path, number: usize) -> bool {
    let readers = if number.is_multiple_of(2) { Readers::Usual } else { Readers::Owner };
    let Ok(output) = Output::find(path, readers) else { return false };
    match number % 3 {
        0 => output.begin().is_ok_and(|mut file| file.write_all(b"written").is_ok()),
        _ => output.write(b"written").is_ok(),
    }
}

/// Files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(self::files(&entry.path()));
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    files
}

#[test]
fn a_folder_that_is_exchanged_for_links_leads_no_output_elsewhere_and_gets_none_of_its_owners() {
    if !is_root() {
        return skip("a_folder_that_is_exchanged_for_links", "only root can give a folder away");
    }
    let exchanges = std::env::var(EXCHANGES_VARIABLE).ok().and_then(|text| text.parse().ok());
    let exchanges = exchanges.unwrap_or(EXCHANGES);
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    fs::set_permissions(base.path(), Permissions::from_mode(0o755)).unwrap();
    let [theirs, roots] = ["theirs", "roots"].map(|name| base.path().join(name));
    let folder = theirs.join("out");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir(&roots).unwrap();
    fs::write(roots.join("precious"), "precious").unwrap();
    for path in [&theirs, &folder] {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let is_over = AtomicBool::new(false);
    let (mut written, mut refused, mut number) = (0_u64, 0_u64, 0);
    let (mut elsewhere, mut given_away) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let attack = std::panic::catch_unwind(|| exchange(&theirs, &roots, exchanges));
            is_over.store(true, Ordering::Relaxed);
            attack.unwrap();
        });
        while !is_over.load(Ordering::Relaxed) {
            let name = NAMES[number % NAMES.len()];
            let path = folder.join(name);
            if write(&path, number) {
                written += 1;
            } else {
                refused += 1;
            }
            number += 1;
            elsewhere += fs::read_dir(&roots).unwrap().count() - 1;
            assert_eq!(fs::read(roots.join("precious")).unwrap(), b"precious");
        }
    });
    for file in files(&theirs) {
        let (facts, text) = (fs::metadata(&file).unwrap(), fs::read(&file).unwrap());
        let is_roots = facts.uid() == 0 && facts.mode() & 0o022 == 0;
        given_away += u32::from(text == b"written" && !is_roots);
    }
    println!(
        "{exchanges} exchanges, {written} written, {refused} refused: {elsewhere} elsewhere, \
         {given_away} of another owner"
    );
    assert_eq!((elsewhere, given_away), (0, 0));
    assert!(written > 0 && refused > 0, "{written} written, {refused} refused");
}
