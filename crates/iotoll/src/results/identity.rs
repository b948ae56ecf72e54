//! Which program this is, told from any other build of it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

/// The version, with the size and the time of the file that runs: what one build found is not
/// taken for what another would find. Nothing where the file cannot be looked at.
pub(crate) fn this_program() -> Option<String> {
    let file = fs::metadata("/proc/self/exe").ok()?;
    let (size, seconds, nanoseconds) = (file.size(), file.mtime(), file.mtime_nsec());
    Some(format!("{} {size} {seconds}.{nanoseconds:09}", env!("CARGO_PKG_VERSION")))
}
