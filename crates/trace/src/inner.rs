//! Paths as they are named from a folder above them.

/// What is left of a path behind a folder: nothing of the folder itself, and none where it is
/// elsewhere.
pub fn inner<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
