//! Working folders on the real machine.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::os::unix::fs::MetadataExt;

use iotoll_places::WorkDir;

#[test]
fn a_working_folder_is_private_and_removed_when_dropped() {
    let place = tempfile::tempdir().unwrap();
    let work = WorkDir::create("disk", place.path()).unwrap();
    let metadata = fs::symlink_metadata(work.path()).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o700);
    fs::write(work.path().join("file"), "text").unwrap();
    drop(work);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
