//! Files are opened and read again and again by a process, and have not changed.
//!
//! What many processes read once each, none of them could have kept: libraries, locales, includes.

use super::Evidence;
use crate::bill::{FileUse, above, is_in, text};
use crate::pattern::{Pattern, PatternKind};

/// What a process reads again fewer times, it reads by chance.
const TIMES: u64 = 9;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Pattern> {
    let files: Vec<_> = evidence.files().filter(|(_, file)| file.again >= TIMES).collect();
    let Some((first, _)) = files.first() else { return Vec::new() };
    let sum = |of: fn(&FileUse) -> u64| {
        files.iter().fold(0, |sum: u64, (_, file)| sum.saturating_add(of(file)))
    };
    let count = files.len() as u64;
    let times = sum(|file| file.again);
    let total_bytes = sum(|file| file.again_bytes / file.again);
    let per_second = evidence.per_second(times) / count as f64;
    let common = files.iter().fold(*first, |common, (path, _)| in_common(common, path));
    let path = text(common);
    let what = PatternKind::ReadAgain { path, files: count, times, total_bytes, per_second };
    vec![evidence.pattern(what, sum(|file| file.again_ns))]
}

/// The path of both, or the folder that both are in.
pub(super) fn in_common<'a>(mut one: &'a [u8], other: &[u8]) -> &'a [u8] {
    while !is_in(other, one) {
        one = above(one);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_deepest_folder_in_common() {
        for (one, other, common) in [
            ("/a/b/c", "/a/b/d", "/a/b"),
            ("/a/b", "/a/b", "/a/b"),
            ("/a/bc", "/a/b", "/a"),
            ("/a/b", "/a/bc", "/a"),
            ("/a", "/b", "/"),
            ("a", "b", "/"),
        ] {
            assert_eq!(in_common(one.as_bytes(), other.as_bytes()), common.as_bytes());
        }
    }
}
