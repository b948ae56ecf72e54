//! Patterns of paths, in which `*` stands for any bytes, slashes too.

/// Whether a pattern matches the whole of a path.
pub(super) fn matches(pattern: &str, path: &[u8]) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern.as_bytes() == path };
    let Some(mut path) = path.strip_prefix(begin.as_bytes()) else { return false };
    let (between, end) = rest.rsplit_once('*').map_or(("", rest), |(between, end)| (between, end));
    for part in between.split('*').filter(|part| !part.is_empty()) {
        let Some(at) = path.windows(part.len()).position(|bytes| bytes == part.as_bytes()) else {
            return false;
        };
        path = &path[at + part.len()..];
    }
    path.ends_with(end.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, path) in [
            ("*", "/any"),
            ("/a", "/a"),
            ("*/pg_wal/*", "/var/lib/pg_wal/0001"),
            ("*.php", "/srv/index.php"),
            ("*/.git/*.lock", "/src/.git/refs/heads/x.lock"),
        ] {
            assert!(matches(pattern, path.as_bytes()), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("/a", "/ab"),
            ("*/pg_wal/*", "/var/lib/pg_wal"),
            ("*.php", "/srv/index.phps"),
            ("/srv/*", "/etc/srv/x"),
            ("*/.git/*.lock", "/src/.git/index"),
            ("*ab*ba", "/aba"),
        ] {
            assert!(!matches(pattern, path.as_bytes()), "{pattern} {path}");
        }
    }
}
