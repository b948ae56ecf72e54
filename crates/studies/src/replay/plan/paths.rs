//! Paths of a trace, and where they lie below the folder that is replayed.
//!
//! Any program's trace may come from anyone. What is made of its paths never leaves the slice's
//! folder: they are taken apart here, by their text alone, and none that is left has `..` in it
//! or begins with a slash. Links that a replay makes say names below the folder that they are
//! in, without `..`, wherever they are moved. So no path of a replay leads out, even where the
//! kernel cannot be asked to see to it (`openat2`).

/// The longest path that the kernel takes, with its end.
const PATH_MAX: usize = 4096;
/// The longest name.
const NAME_MAX: usize = 255;

/// A path from `/` on without `.`, `..` and doubled slashes, by its text; none of another.
pub(super) fn whole(path: &[u8]) -> Option<Vec<u8>> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.strip_prefix(b"/")?.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => _ = parts.pop(),
            name => parts.push(name),
        }
    }
    Some([b"/", &parts.join(&b'/')[..]].concat())
}

/// Whether a path can be used below a folder: it is the folder itself, or names without `..`
/// that the kernel takes.
pub(super) fn is_safe(path: &[u8]) -> bool {
    let is_name =
        |part: &[u8]| !part.is_empty() && part != b"." && part != b".." && part.len() <= NAME_MAX;
    let names = || path.split(|b| *b == b'/').all(is_name);
    path.is_empty() || (path.len() < PATH_MAX && !path.contains(&0) && names())
}

/// What of an absolute path lies below a folder; the folder itself is the empty path.
pub(super) fn below<'p>(folder: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    if folder == b"/" {
        return path.strip_prefix(b"/");
    }
    match path.strip_prefix(folder)? {
        [] => Some(&[]),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// The folder that a path is in; none of the empty one.
pub(super) fn parent(path: &[u8]) -> Option<&[u8]> {
    if path.is_empty() {
        return None;
    }
    Some(path.iter().rposition(|b| *b == b'/').map_or(&[], |at| &path[..at]))
}

/// The folder that both are below.
pub(super) fn common<'p>(a: &'p [u8], b: &[u8]) -> &'p [u8] {
    let mut end = 0;
    for (at, byte) in a.iter().enumerate() {
        if b.get(at) != Some(byte) {
            break;
        }
        if *byte == b'/' {
            end = at;
        }
        let (a_ends, b_ends) = (a.len() == at + 1, b.len() == at + 1);
        if (a_ends || a[at + 1] == b'/') && (b_ends || b[at + 1] == b'/') {
            end = at + 1;
        }
    }
    if end == 0 && a.starts_with(b"/") { &a[..1] } else { &a[..end] }
}

/// What a link may say that is below the folder, so that it leads out of it in no case: a path
/// below the folder that it is in. Any other leads nowhere, by a name of the same length.
pub(super) fn harmless_target(says: &[u8]) -> Vec<u8> {
    if !says.is_empty() && is_safe(says) {
        return says.to_vec();
    }
    vec![b'x'; says.len().clamp(1, NAME_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_whatever_it_says() {
        let is = |path: &[u8], expected: Option<&[u8]>| {
            assert_eq!(whole(path).as_deref(), expected, "{path:?}");
        };
        is(b"/srv/./app//x/", Some(b"/srv/app/x"));
        is(b"/srv/../../../etc", Some(b"/etc"));
        is(b"/", Some(b"/"));
        is(b"srv", None);
        for safe in [&b""[..], b"a", b"a/b", b"..a", b"a/...", &[b'a'; 255]] {
            assert!(is_safe(safe), "{safe:?}");
        }
        let long = [&b"a/".repeat(2047)[..], b"bcd"].concat();
        for unsafe_path in [&b".."[..], b"a/../../b", b"/etc", b"a/", b"a//b", b"./a", b"a\0b"] {
            assert!(!is_safe(unsafe_path), "{unsafe_path:?}");
        }
        assert!(!is_safe(&[b'a'; 256]) && !is_safe(&long));
        assert_eq!(below(b"/srv/app", b"/srv/app/x/y"), Some(&b"x/y"[..]));
        assert_eq!(below(b"/srv/app", b"/srv/app"), Some(&b""[..]));
        assert_eq!(below(b"/srv/app", b"/srv/application"), None);
        assert_eq!(below(b"/", b"/etc"), Some(&b"etc"[..]));
    }

    #[test]
    fn a_link_says_nothing_that_leads_out_wherever_it_is_moved() {
        for kept in [&b"a"[..], b"a/b", b"..a/b"] {
            assert_eq!(harmless_target(kept), kept);
        }
        for replaced in [&b"/etc/passwd"[..], b"..", b"a/../../b", b"../b", b"a//b", b"", b"a/"] {
            let says = harmless_target(replaced);
            assert_eq!(says, vec![b'x'; replaced.len().max(1)], "{replaced:?}");
        }
    }

    #[test]
    fn a_common_folder_ends_with_a_whole_name() {
        let common = |a: &str, b: &str| {
            String::from_utf8_lossy(common(a.as_bytes(), b.as_bytes())).into_owned()
        };
        assert_eq!(common("/srv/app/a", "/srv/app/b"), "/srv/app");
        assert_eq!(common("/srv/app", "/srv/application"), "/srv");
        assert_eq!(common("/srv/app", "/srv/app/x"), "/srv/app");
        assert_eq!(common("/srv/app/x", "/srv/app"), "/srv/app");
        assert_eq!(common("/srv", "/var"), "/");
    }

    #[test]
    fn a_path_is_in_its_parent() {
        assert_eq!(parent(b"a/b"), Some(&b"a"[..]));
        assert_eq!(parent(b"a"), Some(&b""[..]));
        assert_eq!(parent(b""), None);
    }
}
