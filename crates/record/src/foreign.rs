//! Programs of another architecture, whose calls have other numbers.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::regular_file;

/// Whether a process runs a program of another word size. If the process has ended, the program's
/// path decides; if that is relative, the program counts as one of this word size.
pub(crate) fn is_foreign(process: u32, program: &[u8]) -> bool {
    const CLASS_32: u8 = 1;
    let mut head = [0; 5];
    let running = format!("/proc/{process}/exe");
    let named = Path::new(OsStr::from_bytes(program));
    let by_path = || if named.is_absolute() { regular_file::open(named, None) } else { None };
    let found = regular_file::open(Path::new(&running), None).or_else(by_path);
    let read = found.is_some_and(|mut file| file.read_exact(&mut head).is_ok());
    read && head == [0x7f, b'E', b'L', b'F', CLASS_32]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;

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

    /// Fails where a program that was started by its descriptor makes the recorder read its own.
    #[test]
    fn no_pipe_is_read_in_place_of_a_program() {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(&[0x7f, b'E', b'L', b'F', 1]).unwrap();
        let program = format!("/dev/fd/{}", reader.as_raw_fd());
        assert!(!is_foreign(u32::MAX, program.as_bytes()));
        let mut kept = [0; 5];
        reader.read_exact(&mut kept).unwrap();
        assert_eq!(kept, [0x7f, b'E', b'L', b'F', 1]);
    }
}
