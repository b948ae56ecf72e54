//! A store that others could read is narrowed, and nothing else is.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;

use common::{filled, folder, loaded};
use iotoll_store::{Narrowed, Store};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn widen(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_new_store_is_its_owners_alone() {
    let (_home, folder) = folder();
    let store = filled(&folder, &["aa11"]);
    assert_eq!(store.narrowed(), []);
    assert_eq!(mode(&folder), 0o700);
    for file in fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
}

#[test]
fn a_store_that_others_could_read_is_narrowed_once() {
    let (_home, folder) = folder();
    drop(filled(&folder, &["aa11"]));
    let database = folder.join("runs.db");
    for [of_folder, of_database] in [[0o755, 0o644], [0o750, 0o600], [0o2755, 0o666]] {
        widen(&folder, of_folder);
        widen(&database, of_database);
        fs::create_dir_all(folder.join("originals")).unwrap();
        fs::write(folder.join("ab12.running"), "").unwrap();
        let store = Store::open_existing(&folder).unwrap().unwrap();
        let narrowed = store.narrowed();
        let of = |path: &Path, mode, now| Narrowed { path: path.to_owned(), mode, now };
        assert_eq!(narrowed.first(), Some(&of(&folder, of_folder, 0o700)));
        let is_database_narrowed = narrowed.contains(&of(&database, of_database, 0o600));
        assert_eq!(is_database_narrowed, of_database != 0o600);
        assert_eq!((mode(&folder), mode(&database)), (0o700, 0o600));
        loaded(&store, "aa11");
        drop(store);
        assert_eq!(Store::open(&folder).unwrap().narrowed(), []);
    }
}

#[test]
fn an_empty_folder_becomes_a_store_and_one_with_other_files_keeps_its_rights() {
    let (_home, folder) = folder();
    fs::create_dir(&folder).unwrap();
    widen(&folder, 0o755);
    drop(Store::open(&folder).unwrap());
    assert_eq!(mode(&folder), 0o700);
    widen(&folder, 0o755);
    widen(&folder.join("runs.db"), 0o644);
    fs::write(folder.join("of another program"), "").unwrap();
    let store = Store::open(&folder).unwrap();
    assert_eq!(store.narrowed().len(), 1);
    assert_eq!((mode(&folder), mode(&folder.join("runs.db"))), (0o755, 0o600));
    assert_eq!(mode(&folder.join("of another program")), 0o644);
}

#[test]
fn what_links_lead_to_and_what_is_anothers_is_left_alone() {
    let (home, folder) = folder();
    drop(filled(&folder, &["aa11"]));
    let outside = home.path().join("outside.db");
    fs::rename(folder.join("runs.db"), &outside).unwrap();
    symlink(&outside, folder.join("runs.db")).unwrap();
    widen(&outside, 0o644);
    assert!(Store::open(&folder).is_err());
    assert_eq!(mode(&outside), 0o644);
    fs::remove_file(folder.join("runs.db")).unwrap();
    if rustix::process::geteuid().is_root() {
        fs::rename(&outside, folder.join("runs.db")).unwrap();
        chown(folder.join("runs.db"), Some(12), None).unwrap();
        assert!(Store::open(&folder).is_err());
        assert_eq!(mode(&folder.join("runs.db")), 0o644);
    }
}
