//! Folders of files: what is in them, and getting all of it to the device.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use engine::study::{Doing, StudyError};
use rustix::fs::{AtFlags, Dir, FileType, fsync, statat};
use rustix::io::Errno;

use crate::file::{open_folder, open_for_reading};
use host::page_cache::{start_writing, wait_written};

const SYNCING: &str = "forcing the slice's files to the device";

/// Something in a folder.
pub(crate) struct Entry {
    pub(crate) name: CString,
    /// Unknown where the file system does not tell.
    pub(crate) kind: FileType,
}

/// What is in a folder, in the file system's order.
pub(crate) fn entries(folder: impl AsFd) -> Result<Vec<Entry>, Errno> {
    listed(Dir::read_from(folder)?)
}

/// What is in a folder that was opened to be listed.
pub(crate) fn listed(folder: Dir) -> Result<Vec<Entry>, Errno> {
    let mut entries = Vec::new();
    for entry in folder {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            entries.push(Entry { name: entry.file_name().to_owned(), kind: entry.file_type() });
        }
    }
    Ok(entries)
}

/// The paths of all below a folder that are no folders.
pub(crate) fn files_below(folder: impl AsFd) -> Result<Vec<CString>, Errno> {
    let (mut files, mut folders) = (Vec::new(), vec![c".".to_owned()]);
    while let Some(within) = folders.pop() {
        let opened = open_folder(&folder, &within)?;
        for Entry { name, kind } in entries(&opened)? {
            let is_folder = match kind {
                FileType::Unknown => is_folder(&opened, &name)?,
                kind => kind == FileType::Directory,
            };
            let path = if within.as_c_str() == c"." { name } else { joined(&within, &name) };
            if is_folder { folders.push(path) } else { files.push(path) }
        }
    }
    Ok(files)
}

fn is_folder(folder: &OwnedFd, name: &CStr) -> Result<bool, Errno> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// A path within a folder.
pub(crate) fn joined(folder: &CStr, path: &CStr) -> CString {
    let path = [folder.to_bytes(), b"/", path.to_bytes()].concat();
    CString::new(path).unwrap_or_else(|_| unreachable!("neither has a zero in it"))
}

/// Gets the data of all files below a folder to the device, all together, and then
/// their names and sizes, by one sync of a file and one of the folder: where there is
/// a journal, that commits them all. A sync of each would flush the device once for
/// each, as nothing does that writes back later. Good for settling what was written
/// and for what it costs, and not for what must survive.
pub(crate) fn sync_tree(folder: impl AsFd) -> Result<(), StudyError> {
    let mut files = Vec::new();
    each_file(&folder, |file| keep_or_write(&mut files, file).doing(SYNCING))?;
    files.iter().try_for_each(start_writing).doing(SYNCING)?;
    wait_for(&files, folder).doing(SYNCING)
}

/// The same of some files of a folder in which others have files, too. One that is not there
/// has nothing to be written.
pub(crate) fn sync_files<'p>(
    folder: impl AsFd,
    paths: impl Iterator<Item = &'p CStr>,
) -> Result<(), StudyError> {
    let mut files = Vec::new();
    for path in paths {
        match open_for_reading(&folder, path) {
            Err(Errno::NOENT) => {}
            opened => {
                let file = opened.doing(SYNCING)?;
                start_writing(&file).doing(SYNCING)?;
                keep_or_write(&mut files, file).doing(SYNCING)?;
            }
        }
    }
    wait_for(&files, folder).doing(SYNCING)
}

/// More open files than this are a burden to the process.
const OPEN_MAX: usize = 512;

/// Keeps a file to be waited for with others. Data of files beyond a bound is written at once.
fn keep_or_write(files: &mut Vec<OwnedFd>, file: OwnedFd) -> io::Result<()> {
    if files.len() < OPEN_MAX {
        files.push(file);
        return Ok(());
    }
    wait_written(file)
}

/// Waits for the data of files, then for names and sizes.
fn wait_for(files: &[OwnedFd], folder: impl AsFd) -> io::Result<()> {
    files.iter().try_for_each(wait_written)?;
    files.last().map_or(Ok(()), fsync)?;
    Ok(fsync(folder)?)
}

/// Does something with each file below a folder, opened for reading.
pub(crate) fn each_file(
    folder: impl AsFd,
    mut visit: impl FnMut(OwnedFd) -> Result<(), StudyError>,
) -> Result<(), StudyError> {
    const LOOKING: &str = "opening the slice's files";
    let mut folders = vec![open_folder(folder, c".").doing(LOOKING)?];
    let mut next = 0;
    while next < folders.len() {
        for Entry { name, kind } in entries(&folders[next]).doing(LOOKING)? {
            let opened = match kind {
                FileType::Directory => open_folder(&folders[next], &name),
                FileType::RegularFile | FileType::Unknown => {
                    open_for_reading(&folders[next], &name)
                }
                // A server's socket, a link out of here: nothing to be written back.
                _ => continue,
            };
            let opened = match opened {
                // A server that still runs may remove what it no longer needs.
                Err(Errno::NOENT) => continue,
                opened => opened.doing(LOOKING)?,
            };
            match kind {
                FileType::Directory => folders.push(opened),
                _ => visit(opened)?,
            }
        }
        next += 1;
    }
    Ok(())
}
