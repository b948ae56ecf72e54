//! Programs of another architecture, whose calls have other numbers.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Whether a process runs a program of another word size, whose system calls have other
/// numbers. Of one that has ended its path says so; where that is relative, it is taken for one of
/// ours.
pub(crate) fn is_foreign(process: u32, program: &[u8]) -> bool {
    const CLASS_32: u8 = 1;
    let mut head = [0; 5];
    let program = Path::new(OsStr::from_bytes(program));
    // It does not wait for a pipe that has taken the name.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let open = || File::options().read(true).custom_flags(flags).open(program);
    let by_path = |error| if program.is_absolute() { open() } else { Err(error) };
    let program = File::open(format!("/proc/{process}/exe")).or_else(by_path);
    let read = program.and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == [0x7f, b'E', b'L', b'F', CLASS_32]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    #[test]
    fn what_a_process_was_that_has_ended_is_found_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        for (class, foreign) in [(1, true), (2, false)] {
            fs::write(&path, [0x7f, b'E', b'L', b'F', class]).unwrap();
            assert_eq!(is_foreign(u32::MAX, path.as_os_str().as_bytes()), foreign);
            assert!(!is_foreign(std::process::id(), path.as_os_str().as_bytes()));
        }
        fs::write(&path, b"#!/").unwrap();
        assert!(!is_foreign(u32::MAX, path.as_os_str().as_bytes()));
        assert!(!is_foreign(u32::MAX, b"program"));
    }
}
