//! Which programs take the library; `execute.c` looks at those that the command starts.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::bytes::{eight, two};
use crate::privileges::gives_rights;

/// A script's interpreter may be a script.
const INTERPRETERS_MAX: usize = 5;
const HEAD: u64 = 255;
const X86_64: u16 = 62;
const CLASS_64: u8 = 2;
const HEADER_BYTES: usize = 56;
const INTERPRETER: u32 = 3;
const NOTE: u32 = 4;
const LINKER: &[u8] = b"/ld-linux-x86-64.so.2\0";
const GO: &[u8] = b"Go\0\0";

/// Why a program does not take it; nothing where it does, or cannot be run at all.
pub(super) fn refusal(program: &Path) -> Option<String> {
    let mut file = program.to_owned();
    for _ in 0..INTERPRETERS_MAX {
        let shown = file.display();
        if gives_rights(&file) {
            return Some(format!("{shown} runs with rights of its own, and takes no library"));
        }
        let opened = match File::open(&file) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => return Some(format!("{shown} cannot be looked at ({error})")),
        };
        let mut head = Vec::new();
        if (&opened).take(HEAD).read_to_end(&mut head).is_err() {
            return Some(format!("{shown} cannot be looked at"));
        }
        match head.strip_prefix(b"#!") {
            Some(rest) => file = interpreter(rest),
            None => return unsuitable(&opened, &head).map(|what| format!("{shown} is {what}")),
        }
    }
    None
}

fn interpreter(line: &[u8]) -> PathBuf {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(|byte| [b' ', b'\t'].contains(byte)).filter(|word| !word.is_empty());
    PathBuf::from(std::ffi::OsStr::from_bytes(words.next().unwrap_or_default()))
}

fn unsuitable(file: &File, head: &[u8]) -> Option<&'static str> {
    let is_ours = head.starts_with(b"\x7fELF")
        && head.get(4) == Some(&CLASS_64)
        && two(head, 18) == Some(X86_64);
    if !is_ours {
        return Some("no program for x86-64");
    }
    let (table, count) = eight(head, 32).zip(two(head, 56))?;
    let mut linker = false;
    for index in 0..u64::from(count) {
        let mut header = [0; HEADER_BYTES];
        let at = table.saturating_add(index * HEADER_BYTES as u64);
        if file.read_exact_at(&mut header, at).is_err() {
            return Some("damaged");
        }
        let (offset, bytes) = eight(&header, 8).zip(eight(&header, 32))?;
        let mut text = vec![0; bytes.min(HEAD) as usize];
        match u32::from_le_bytes(header[..4].try_into().ok()?) {
            INTERPRETER if file.read_exact_at(&mut text, offset).is_ok() => {
                linker = text.ends_with(LINKER);
                if !linker {
                    return Some("of another C library than glibc");
                }
            }
            NOTE if file.read_exact_at(&mut text, offset).is_ok() && is_of_go(&text) => {
                return Some("written in Go, whose stacks have no room for signals");
            }
            _ => {}
        }
    }
    (!linker).then_some("a static program, which takes no library")
}

fn is_of_go(note: &[u8]) -> bool {
    note.chunks_exact(4).any(|word| word == GO)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn interpreters_are_looked_at_in_place_of_scripts() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        let with = |text: &str| {
            std::fs::write(&script, text).unwrap();
            refusal(&script)
        };
        let shell = refusal(Path::new("/bin/sh"));
        assert_eq!(with("#! /bin/sh -e\nexit 0\n"), shell);
        assert_eq!(with("#!/no/such/interpreter\n"), None);
        assert!(with("echo\n").unwrap().contains("no program"));
        assert!(with(&format!("#!{}\n", script.display())).is_none(), "it ends");
        assert_eq!(refusal(Path::new("/no/such/program")), None);
    }
}
