//! `cargo xtask site`: the documentation as a site, in `target/site`, to be put on any web
//! server or opened as it is. It needs no network and no script.
//!
//! Its pages are the README and what `docs/README.md` lists, in that order, which is the
//! navigation, too. Every link within the repository is checked, down to the heading.

mod links;
mod page;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use self::links::{Link, resolved};
use self::page::{Groups, Page, escaped};
use crate::process;

/// The page that a site begins with, and the one that lists the others.
const FRONT: &str = "README.md";
const INDEX: &str = "docs/README.md";
/// What is part of the site besides its pages.
const ASSETS: [&str; 2] = ["docs", "docs/schema"];
const STYLE: &str = include_str!("site/style.css");

/// Writes it and prints where it is.
pub fn run() -> Result<()> {
    let folder = write()?;
    println!("{}", folder.join("index.html").display());
    Ok(())
}

/// Writes it; the folder that it is in.
pub fn write() -> Result<PathBuf> {
    let folder = process::root().join("target/site");
    Site::read(process::root())?.write(&folder)?;
    Ok(folder)
}

/// An error where the site could not be made: a link that leads nowhere, a page that the
/// index does not list.
pub fn check() -> Result<()> {
    Site::read(process::root()).map(drop)
}

/// The pages in the order of the navigation, the front page first.
struct Site {
    pages: Vec<Page>,
    /// The navigation, whose links lead to the sources of pages.
    groups: Groups,
    /// Files that pages link, and where they are in the repository.
    files: Vec<String>,
}

fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

impl Site {
    fn read(root: &Path) -> Result<Self> {
        let read = |source: &str| -> Result<Page> {
            let text = fs::read_to_string(root.join(source)).with_context(|| source.to_owned())?;
            Ok(Page::new(source, &text))
        };
        let index = read(INDEX)?;
        let mut groups = index.groups();
        for (_, to) in groups.iter_mut().flat_map(|(_, links)| links) {
            *to = resolved(INDEX, to).map(|link| link.path).unwrap_or_default();
        }
        let mut pages = vec![read(FRONT)?, index];
        for (_, source) in groups.iter().flat_map(|(_, links)| links) {
            if is_page(source) && pages.iter().all(|page| page.source != *source) {
                pages.push(read(source)?);
            }
        }
        let mut site = Self { pages, groups, files: Vec::new() };
        let faults = [site.unlisted(root)?, site.link(root)].concat();
        if !faults.is_empty() {
            bail!(
                "the documentation has links that lead nowhere, or pages that none leads to:\n{}",
                faults.join("\n")
            );
        }
        Ok(site)
    }

    /// The pages in `docs` that the index lacks.
    fn unlisted(&self, root: &Path) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        for entry in fs::read_dir(root.join("docs")).context("docs")? {
            let source = format!("docs/{}", entry?.file_name().to_string_lossy());
            if is_page(&source) && self.pages.iter().all(|page| page.source != source) {
                faults.push(format!("{INDEX} does not list {source}"));
            }
        }
        Ok(faults)
    }

    /// Gives every link the address that its target has in the site; what has none is told.
    fn link(&mut self, root: &Path) -> Vec<String> {
        let mut faults = Vec::new();
        let mut files = Vec::new();
        let known: BTreeMap<String, (String, Vec<String>)> = self
            .pages
            .iter()
            .map(|page| (page.source.clone(), (page.name.clone(), page.anchors.clone())))
            .collect();
        for page in &mut self.pages {
            let source = page.source.clone();
            page.link(|to| {
                let Link { path, anchor } = resolved(&source, to)?;
                let target = match known.get(&path) {
                    Some((name, anchors)) => {
                        let is_there =
                            anchor.as_ref().is_none_or(|anchor| anchors.contains(anchor));
                        is_there.then(|| name.clone())
                    }
                    None => root.join(&path).is_file().then(|| path.clone()),
                };
                let Some(target) = target else {
                    faults.push(format!("{source}: {to}"));
                    return None;
                };
                if !known.contains_key(&path) {
                    files.push(path);
                }
                Some(anchor.map_or(target.clone(), |anchor| format!("{target}#{anchor}")))
            });
        }
        self.files = files;
        faults
    }

    fn write(&self, folder: &Path) -> Result<()> {
        // What an earlier version of a page linked is gone.
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        fs::create_dir_all(folder)?;
        fs::write(folder.join("style.css"), STYLE)?;
        for (place, page) in self.pages.iter().enumerate() {
            fs::write(folder.join(&page.name), self.html(place, page))?;
        }
        let mut files = self.files.clone();
        for assets in ASSETS {
            for entry in fs::read_dir(process::root().join(assets))? {
                files.push(format!("{assets}/{}", entry?.file_name().to_string_lossy()));
            }
        }
        files.retain(|file| !is_page(file) && process::root().join(file).is_file());
        for file in files {
            let copy = folder.join(&file);
            fs::create_dir_all(copy.parent().context("a file is in a folder")?)?;
            fs::copy(process::root().join(&file), copy).context(file)?;
        }
        Ok(())
    }

    /// A page with the navigation around it.
    fn html(&self, place: usize, page: &Page) -> String {
        let step = |class: &str, to: Option<&Page>| {
            to.map_or_else(String::new, |to| {
                format!("<a class=\"{class}\" href=\"{}\">{}</a>", to.name, escaped(&to.title))
            })
        };
        let title = match place {
            0 => page.title.clone(),
            _ => format!("{} – {}", page.title, self.pages[0].title),
        };
        let before = place.checked_sub(1).and_then(|before| self.pages.get(before));
        format!(
            include_str!("site/page.html"),
            title = escaped(&title),
            navigation = self.navigation(page),
            text = page.html,
            before = step("before", before),
            after = step("after", self.pages.get(place + 1)),
        )
    }

    fn navigation(&self, current: &Page) -> String {
        let mut html = String::new();
        for (group, links) in &self.groups {
            let _ = write!(html, "<h2>{}</h2>\n<ul>\n", escaped(group));
            for (text, source) in links {
                let Some(page) = self.pages.iter().find(|page| page.source == *source) else {
                    continue;
                };
                let is_current = page.source == current.source;
                let mark = if is_current { " aria-current=\"page\"" } else { "" };
                let text = escaped(text);
                let _ = writeln!(html, "<li><a href=\"{}\"{mark}>{text}</a></li>", page.name);
            }
            html.push_str("</ul>\n");
        }
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a site of the README, the index and one more page.
    fn faults(index: &str, page: &str) -> String {
        let root = tempfile::tempdir().expect("a folder");
        let docs = root.path().join("docs");
        fs::create_dir(&docs).expect("a folder in it");
        for (file, text) in [(FRONT, "# Front\n"), (INDEX, index), ("docs/log.md", page)] {
            fs::write(root.path().join(file), text).expect("a file in it");
        }
        Site::read(root.path()).err().map_or_else(String::new, |error| format!("{error:#}"))
    }

    #[test]
    fn links_that_lead_nowhere_and_pages_that_are_not_listed_are_found() {
        let index = "# Index\n\n## Pages\n\n- [Log](log.md)\n";
        let page = "# Log\n\n## What it is\n\n[there](#what-it-is), [front](../README.md#front)\n";
        assert_eq!(faults(index, page), "");
        for (from, to) in
            [("#what-it-is", "#what-it-was"), ("README.md#", "README.md#no-"), ("../", "./")]
        {
            let found = faults(index, &page.replace(from, to));
            assert!(found.contains("docs/log.md: ") && found.lines().count() == 2, "{to}: {found}");
        }
        assert!(faults("# Index\n", page).contains("does not list docs/log.md"));
        assert!(faults(&index.replace("log.md", "lag.md"), page).contains("docs/lag.md"));
    }
}
