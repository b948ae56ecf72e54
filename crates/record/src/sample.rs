//! How well the contents of files compress: a replay makes contents that compress as well.

use std::io::Read as _;
use std::path::Path;

use trace::FileFacts;

use crate::regular_file;

/// How much of a file is compressed.
const SAMPLE_BYTES: u64 = 32 << 10;
/// The fastest is enough to tell text from what is compressed already.
const LEVEL: i32 = 1;

/// How much of a file was compressed, and to what; nothing of one that cannot be read, or is
/// another by now.
pub(crate) fn of(path: &Path, facts: &FileFacts) -> Option<(u32, u32)> {
    let file = regular_file::open(path, Some((facts.device, facts.inode)))?;
    let mut sample = Vec::new();
    file.take(SAMPLE_BYTES).read_to_end(&mut sample).ok()?;
    if sample.is_empty() {
        return None;
    }
    let compressed = zstd::bulk::compress(&sample, LEVEL).ok()?;
    Some((sample.len() as u32, compressed.len() as u32))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::MetadataExt as _;

    use trace::{FileKind, PathId};

    use super::*;

    #[test]
    fn what_repeats_compresses_and_another_file_is_not_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![b'x'; 100_000]).unwrap();
        let found = path.metadata().unwrap();
        let facts = FileFacts {
            at_ns: 0,
            path: PathId(0),
            kind: FileKind::Regular,
            bytes: found.len(),
            device: found.dev(),
            inode: found.ino(),
            mode: 0o600,
            sample_bytes: 0,
            compressed_bytes: 0,
            target: None,
        };
        let (sample, compressed) = of(&path, &facts).unwrap();
        assert_eq!(u64::from(sample), SAMPLE_BYTES);
        assert!(compressed < 100);
        assert_eq!(of(&path, &FileFacts { inode: facts.inode + 1, ..facts }), None);
        assert_eq!(of(Path::new("/dev/null"), &facts), None);
    }
}
