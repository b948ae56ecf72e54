//! What processes have when a recording begins: threads, descriptors, a working folder.

use std::cell::LazyCell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use host::sockets;
use trace::{ROOT_FOLDER, WORKING_FOLDER};

use crate::connections;

/// A descriptor, or the working folder.
#[derive(Debug)]
pub(crate) struct Inherited {
    pub(crate) fd: i32,
    pub(crate) path: Vec<u8>,
    pub(crate) flags: u64,
    pub(crate) offset: u64,
}

/// A process's working folder and descriptors. What cannot be read is left out.
pub(crate) fn of_process(process: u32) -> Vec<Inherited> {
    let link = |name: &str| {
        let target = fs::read_link(format!("/proc/{process}/{name}")).ok()?;
        Some(target.as_os_str().as_bytes().to_vec())
    };
    let folder =
        link("cwd").map(|path| Inherited { fd: WORKING_FOLDER, path, flags: 0, offset: 0 });
    // After chroot(2); in another namespace, it is its own `/`.
    let root = link("root").filter(|path| path != b"/");
    let root = root.map(|path| Inherited { fd: ROOT_FOLDER, path, flags: 0, offset: 0 });
    let mut numbers = numbers_in(&format!("/proc/{process}/fd"));
    numbers.sort_unstable();
    // The kernel walks its whole table of connections, which takes milliseconds: only for sockets.
    let accepted = LazyCell::new(|| connections::accepted(process));
    let descriptors = numbers.into_iter().filter_map(|fd| {
        let mut path = link(&format!("fd/{fd}"))?;
        let socket = sockets::inode(Path::new(OsStr::from_bytes(&path)));
        if socket.is_some_and(|inode| accepted.contains(&inode)) {
            path.extend(trace::ACCEPTED);
        }
        let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{fd}")).ok()?;
        let (flags, offset) = flags_and_position(&info)?;
        Some(Inherited { fd: fd as i32, path, flags, offset })
    });
    folder.into_iter().chain(root).chain(descriptors).collect()
}

/// A process's threads, itself first.
pub(crate) fn threads(process: u32) -> Vec<u32> {
    let mut threads = numbers_in(&format!("/proc/{process}/task"));
    threads.sort_unstable_by_key(|thread| (*thread != process, *thread));
    threads
}

/// Whether a process has other mounts than this one: its paths may mean other files.
pub(crate) fn has_other_mounts(process: u32) -> bool {
    let mounts = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    mounts(&process.to_string()) != mounts("self")
}

/// Whether one of a process's threads is on a processor, or waits for one.
pub(crate) fn runs(process: u32) -> bool {
    threads(process).into_iter().any(|thread| {
        let stat = fs::read_to_string(format!("/proc/{process}/task/{thread}/stat"));
        // Behind the name, which is in brackets and may have any.
        stat.is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" R")))
    })
}

fn numbers_in(folder: &str) -> Vec<u32> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).collect()
}

fn flags_and_position(info: &str) -> Option<(u64, u64)> {
    let value = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let flags = u64::from_str_radix(value("flags:")?, 8).ok()?;
    // A position may be beyond what is signed, as in a process's memory.
    Some((flags, value("pos:")?.parse().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::File;
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn an_open_file_is_told_with_its_position_and_flags() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"123").unwrap();
        let me = std::process::id();
        let all = of_process(me);
        let found = all.iter().find(|inherited| inherited.fd == file.as_raw_fd()).unwrap();
        assert_eq!(found.offset, 3);
        assert_eq!(found.flags & 3, 2, "it is open for both");
        assert_ne!(found.flags & libc::O_CLOEXEC as u64, 0);
        assert_eq!(all[0].fd, WORKING_FOLDER);
        assert_eq!(threads(me)[0], me);
        drop(File::open("/").unwrap());
    }

    #[test]
    fn what_is_no_process_has_nothing() {
        assert!(of_process(u32::MAX).is_empty() && threads(u32::MAX).is_empty());
        assert_eq!(flags_and_position("pos:\t7\nflags:\t0100002\n"), Some((0o100_002, 7)));
        assert_eq!(flags_and_position("pos: 7"), None);
    }
}
