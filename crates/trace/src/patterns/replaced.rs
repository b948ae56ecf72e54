//! New contents are written under another name, and renamed over the old file without a sync.
//!
//! Before such a rename, ext4 begins to write out the new data (`auto_da_alloc` in ext4(5)). So the
//! rename may take as long as the device does.

use super::read_again::in_common;
use super::{Evidence, OFTEN};
use crate::bill::text;
use crate::pattern::{Pattern, PatternKind};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Pattern> {
    let (mut files, mut times, mut ns, mut bytes) = (0, 0, 0_u64, 0_u64);
    let mut common: Option<&[u8]> = None;
    for (path, file) in evidence.files().filter(|(_, file)| file.replaced.calls > 0) {
        files += 1;
        times += file.replaced.calls;
        ns = ns.saturating_add(file.replaced.ns);
        bytes = bytes.saturating_add(file.replaced_bytes);
        common = Some(common.map_or(path, |common| in_common(common, path)));
    }
    let Some(common) = common.filter(|_| times >= OFTEN) else { return Vec::new() };
    let (path, per_second) = (text(common), evidence.per_second(times));
    let file_bytes = (bytes / times).max(1);
    let what = PatternKind::Replaced { path, files, times, file_bytes, per_second };
    vec![evidence.pattern(what, ns)]
}
