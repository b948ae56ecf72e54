//! Where a link in a page of the repository leads.

/// A target within the repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The file, from the repository's root.
    pub(super) path: String,
    /// The heading in it.
    pub(super) anchor: Option<String>,
}

/// What a link in a page means; nothing where it leads out of the repository.
pub(super) fn resolved(source: &str, to: &str) -> Option<Link> {
    if to.contains("://") || to.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = to.split_once('#').map_or((to, None), |(path, a)| (path, Some(a)));
    let mut parts: Vec<&str> = source.split('/').collect();
    if !path.is_empty() {
        parts.pop();
    }
    for part in path.split('/').filter(|part| !part.is_empty()) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(Link { path: parts.join("/"), anchor: anchor.map(str::to_owned) })
}

/// The name that GitHub gives a heading, and so links to it use.
pub(super) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_from_the_page_that_they_are_in() {
        let path = |source, to| resolved(source, to).map(|link| (link.path, link.anchor));
        let file =
            |path: &str, anchor: Option<&str>| Some((path.to_owned(), anchor.map(str::to_owned)));
        assert_eq!(path("docs/log.md", "serve.md#a-b"), file("docs/serve.md", Some("a-b")));
        assert_eq!(path("docs/log.md", "../README.md"), file("README.md", None));
        assert_eq!(path("docs/log.md", "#what"), file("docs/log.md", Some("what")));
        assert_eq!(path("README.md", "docs/a.png"), file("docs/a.png", None));
        assert_eq!(path("README.md", "https://rustup.rs"), None);
    }

    #[test]
    fn headings_have_the_names_that_github_gives_them() {
        assert_eq!(anchor("When the power fails"), "when-the-power-fails");
        assert_eq!(anchor("ext4 or XFS, for small files?"), "ext4-or-xfs-for-small-files");
        assert_eq!(anchor("`--csv-rows` & more"), "--csv-rows--more");
    }
}
