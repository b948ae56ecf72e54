//! What a system call is done to, in words that are the same from run to run.

use std::fs;
use std::path::{Component, Path, PathBuf};

use nix::sys::ptrace;
use nix::unistd::Pid;

use super::calls::On;

/// A path is read up to here.
const PATH_BYTES_MAX: usize = 512;
/// A mapping of no file.
const NO_FILE: i32 = -1;
/// What stands behind a file that is only looked at.
pub(super) const TO_LOOK: &str = " to look";
const AT_FDCWD: i32 = libc::AT_FDCWD;

/// What the arguments of a call of this thread name; `root` is the folder of the trial.
pub(super) fn name(thread: Pid, on: On, arguments: &[u64; 6], root: &Path) -> String {
    match on {
        On::Nothing => String::new(),
        On::Fd(index) => descriptor(thread, arguments[index] as i32, root),
        On::Mapping if arguments[4] as i32 == NO_FILE => "memory".to_owned(),
        On::Mapping => descriptor(thread, arguments[4] as i32, root),
        On::Path(index) => {
            let path = read_path(thread, arguments[index]);
            general(&absolute(thread, AT_FDCWD, &path), root)
        }
        On::At(index) => {
            let path = read_path(thread, arguments[index]);
            general(&absolute(thread, arguments[index - 1] as i32, &path), root)
        }
        On::Opened => {
            let what = name(thread, On::At(1), arguments, root);
            if is_look(arguments[2] as i32) { format!("{what}{TO_LOOK}") } else { what }
        }
    }
}

/// Whether a file is opened as what is in memory of it is looked at, around each slice and
/// by the same code for all studies: without waiting, and only to be read.
fn is_look(flags: i32) -> bool {
    flags & (libc::O_ACCMODE | libc::O_NONBLOCK) == libc::O_RDONLY | libc::O_NONBLOCK
}

fn descriptor(thread: Pid, fd: i32, root: &Path) -> String {
    fs::read_link(format!("/proc/{thread}/fd/{fd}"))
        .map_or_else(|_| "no descriptor".to_owned(), |path| general(&path, root))
}

fn absolute(thread: Pid, directory: i32, path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.to_owned();
    }
    let from = match directory {
        AT_FDCWD => format!("/proc/{thread}/cwd"),
        fd => format!("/proc/{thread}/fd/{fd}"),
    };
    let from = fs::read_link(from).unwrap_or_default();
    if path.as_os_str().is_empty() { from } else { from.join(path) }
}

/// A path in the memory of the thread, a word at a time.
fn read_path(thread: Pid, at: u64) -> PathBuf {
    let mut bytes = Vec::new();
    while bytes.len() < PATH_BYTES_MAX {
        let address = (at + bytes.len() as u64) as ptrace::AddressType;
        let Ok(word) = ptrace::read(thread, address) else { break };
        let word = word.to_ne_bytes();
        let end = word.iter().position(|byte| *byte == 0);
        bytes.extend_from_slice(&word[..end.unwrap_or(word.len())]);
        if end.is_some() {
            break;
        }
    }
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

/// Without what differs from run to run: numbers, random names, where devices are.
fn general(path: &Path, root: &Path) -> String {
    let text = path.to_string_lossy();
    let text = text.strip_suffix(" (deleted)").unwrap_or(&text);
    if let Some((kind, _)) = text.split_once(":[") {
        return kind.to_owned();
    }
    if let Some(own) = Path::new(text).strip_prefix(root).ok().filter(|p| *p != Path::new("")) {
        let mut names = Vec::new();
        for component in own.components() {
            match component {
                Component::Normal(name) => names.push(own_name(&name.to_string_lossy())),
                // A removal climbs by it.
                Component::ParentDir => drop(names.pop()),
                _ => {}
            }
        }
        return names.join("/");
    }
    if root.starts_with(text) {
        return "above the places".to_owned();
    }
    for tree in ["/sys/", "/usr/", "/lib/", "/etc/"] {
        if text.starts_with(tree) {
            let last = Path::new(text).file_name().unwrap_or_default().to_string_lossy();
            return numberless(&format!("{tree}…/{last}"));
        }
    }
    numberless(text)
}

/// A name below the folder of the trial.
fn own_name(name: &str) -> String {
    match name {
        "a" | "b" => "place".to_owned(),
        _ if name.starts_with(".iotoll") => "work".to_owned(),
        _ => numberless(name),
    }
}

fn numberless(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(letter),
        }
    }
    out.replace("/proc/self/", "/proc/#/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        let name = |path| general(Path::new(path), Path::new("/tmp/x7"));
        assert_eq!(name("/tmp/x7/a/.iotoll-3fe1/slice-12/app.log"), "place/work/slice-#/app.log");
        assert_eq!(name("/tmp/x7/b/.iotoll-3fe1/lock (deleted)"), "place/work/lock");
        assert_eq!(name("/tmp/x7/a/.iotoll-3fe1/arm-0/src/.."), "place/work/arm-#");
        assert_eq!(name("/proc/2817/io"), "/proc/#/io");
        assert_eq!(name("pipe:[2817]"), "pipe");
        assert_eq!(name("anon_inode:[eventfd]"), "anon_inode");
        assert_eq!(name("/sys/devices/pci0000:00/block/vda/stat"), "/sys/…/stat");
        assert_eq!(name("/tmp"), "above the places");
    }
}
