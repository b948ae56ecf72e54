//! Paths made absolute as far as they can be without asking a machine.

/// A path that is relative to a folder, without `.`, `..` and doubled slashes.
///
/// What `..` leads out of is taken for a folder, which symbolic links can make wrong.
pub(super) fn absolute(folder: Option<&[u8]>, path: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        return folder.unwrap_or_default().to_vec();
    }
    let is_absolute = path.starts_with(b"/");
    let folder = folder.filter(|_| !is_absolute).unwrap_or_default();
    let from_root = is_absolute || folder.starts_with(b"/");
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in parts_of(folder).chain(parts_of(path)) {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => {
                parts.pop();
            }
            b".." if from_root => {}
            _ => parts.push(part),
        }
    }
    let mut whole = if from_root { b"/".to_vec() } else { Vec::new() };
    whole.extend(parts.join(&b'/'));
    if whole.is_empty() { b".".to_vec() } else { whole }
}

fn parts_of(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(folder: Option<&str>, path: &str) -> String {
        String::from_utf8_lossy(&absolute(folder.map(str::as_bytes), path.as_bytes())).into_owned()
    }

    #[test]
    fn a_path_is_absolute_where_its_folder_is_known() {
        for (folder, path, expected) in [
            (Some("/srv"), "a/b", "/srv/a/b"),
            (Some("/srv"), "/a//b/", "/a/b"),
            (Some("/srv/x"), "../a/./b", "/srv/a/b"),
            (Some("/srv"), "../../..", "/"),
            (Some("/srv"), "", "/srv"),
            (Some("/"), "a", "/a"),
            (None, "./a/../b", "b"),
            (None, "../../a", "../../a"),
            (None, "a/..", "."),
            (None, "", ""),
            (Some("data"), "x", "data/x"),
        ] {
            assert_eq!(text(folder, path), expected, "{folder:?} {path}");
        }
    }
}
