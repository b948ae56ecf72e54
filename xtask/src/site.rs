//! `cargo xtask site`: the documentation as a site, in `target/site`, to be put on any web
//! server or opened as it is. mdBook makes it.
//!
//! Its pages are the README, what `docs/README.md` lists, in that order, and the decisions. This is
//! the navigation, too. Every link within the repository is checked, down to the heading.

mod links;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use self::links::{Link, resolved};
use self::page::{Groups, Page};
use crate::files::{files_below, has_extension};
use crate::process;

/// The page that a site begins with, and the one that lists the others.
const FRONT: &str = "README.md";
const INDEX: &str = "docs/README.md";
/// A folder whose pages are all part of the site, and their group in the navigation.
const DECISIONS: &str = "docs/decisions";
const DECISIONS_TITLE: &str = "Decisions";
/// What is part of the site besides its pages.
const ASSETS: [&str; 2] = ["docs", "docs/schema"];
const BOOK: &str = "[book]\ntitle = \"iotoll\"\nlanguage = \"en\"\nsrc = \"src\"\n\n\
    [output.html]\nno-section-label = true\n";
/// The generator, and the version that is installed where there is none.
const MDBOOK: &str = "mdbook";
const MDBOOK_VERSION: &str = "0.5.4";

/// Writes it and prints where it is.
pub fn run() -> Result<()> {
    let folder = write()?;
    println!("{}", folder.join("index.html").display());
    Ok(())
}

/// Writes it; the folder that it is in.
pub fn write() -> Result<PathBuf> {
    let (book, folder) = (process::root().join("target/book"), process::root().join("target/site"));
    Site::read(process::root())?.write(&book)?;
    let mut build = Command::new(mdbook()?);
    process::succeed(build.arg("build").arg("--dest-dir").arg(&folder).arg(&book))?;
    Ok(folder)
}

/// An error where the site could not be made: a link that leads nowhere, a page that the
/// index does not list.
pub fn check() -> Result<()> {
    Site::read(process::root()).map(drop)
}

/// The generator; it is installed below `target` where it is not.
fn mdbook() -> Result<PathBuf> {
    if let Some(found) = process::find_program(MDBOOK) {
        return Ok(found);
    }
    let tools = process::root().join("target/tools");
    let program = tools.join("bin").join(MDBOOK);
    if !program.is_file() {
        let mut install = process::cargo(&["install", "--locked", MDBOOK]);
        process::succeed(install.args(["--version", MDBOOK_VERSION]).arg("--root").arg(&tools))?;
    }
    Ok(program)
}

/// The pages in the order of the navigation, the front page first.
struct Site {
    pages: Vec<Page>,
    /// The navigation, whose links lead to the sources of pages.
    groups: Groups,
    /// Files that pages link, and where they are in the repository.
    files: BTreeSet<String>,
}

fn is_page(path: &str) -> bool {
    has_extension(path, "md")
}

/// The pages about decisions, by their numbers.
fn decisions_in(root: &Path) -> Result<Vec<String>> {
    if root.join(DECISIONS).is_dir() { files_below(root, DECISIONS) } else { Ok(Vec::new()) }
}

/// A path or links with the name that mdBook gives the page of a folder. It follows no link to
/// the name before.
fn named_index(text: &str) -> String {
    text.replace("README.md", "index.md")
}

impl Site {
    fn read(root: &Path) -> Result<Self> {
        let read = |source: &str| -> Result<Page> {
            let text = fs::read_to_string(root.join(source)).with_context(|| source.to_owned())?;
            Ok(Page::new(source, &text))
        };
        let index = read(INDEX)?;
        let mut groups = index.groups.clone();
        for (_, to) in groups.iter_mut().flat_map(|(_, links)| links) {
            *to = resolved(INDEX, to).map(|link| link.path).unwrap_or_default();
        }
        let mut pages = vec![read(FRONT)?, index];
        for (_, source) in groups.iter().flat_map(|(_, links)| links) {
            if is_page(source) && pages.iter().all(|page| page.source != *source) {
                pages.push(read(source)?);
            }
        }
        let mut decisions = Vec::new();
        for source in decisions_in(root)? {
            let page = read(&source)?;
            decisions.push((page.title.clone(), source));
            pages.push(page);
        }
        groups.push((DECISIONS_TITLE.to_owned(), decisions));
        let mut site = Self { pages, groups, files: BTreeSet::new() };
        let faults = [site.unlisted(root)?, site.follow_links(root)].concat();
        ensure!(
            faults.is_empty(),
            "the documentation has links that lead nowhere, or pages that none leads to:\n{}",
            faults.join("\n")
        );
        Ok(site)
    }

    /// The pages in `docs`, at any depth, that the index lacks.
    fn unlisted(&self, root: &Path) -> Result<Vec<String>> {
        let mut sources = files_below(root, "docs")?;
        sources.retain(|path| is_page(path) && self.pages.iter().all(|page| page.source != *path));
        Ok(sources.iter().map(|source| format!("{INDEX} does not list {source}")).collect())
    }

    /// Takes up the files that pages link; the links that lead nowhere.
    fn follow_links(&mut self, root: &Path) -> Vec<String> {
        let mut faults = Vec::new();
        let known: BTreeMap<&str, &[String]> =
            self.pages.iter().map(|page| (page.source.as_str(), page.anchors.as_slice())).collect();
        for page in &self.pages {
            for to in &page.links {
                let Some(Link { path, anchor }) = resolved(&page.source, to) else { continue };
                let is_there = match known.get(path.as_str()) {
                    Some(anchors) => anchor.is_none_or(|anchor| anchors.contains(&anchor)),
                    None => root.join(&path).is_file(),
                };
                if !is_there {
                    faults.push(format!("{}: {to}", page.source));
                } else if !known.contains_key(path.as_str()) {
                    self.files.insert(path);
                }
            }
        }
        faults
    }

    /// Writes what mdBook makes it of.
    fn write(&self, book: &Path) -> Result<()> {
        // What an earlier version of a page linked is gone.
        if book.exists() {
            fs::remove_dir_all(book).with_context(|| book.display().to_string())?;
        }
        let folder = book.join("src");
        fs::create_dir_all(&folder)?;
        fs::write(book.join("book.toml"), BOOK)?;
        fs::write(folder.join("SUMMARY.md"), self.summary())?;
        let mut files = self.files.clone();
        for assets in ASSETS {
            for entry in fs::read_dir(process::root().join(assets))? {
                files.insert(format!("{assets}/{}", entry?.file_name().to_string_lossy()));
            }
        }
        files.extend(self.pages.iter().map(|page| page.source.clone()));
        for file in files.iter().filter(|file| process::root().join(file).is_file()) {
            let copy = folder.join(named_index(file));
            fs::create_dir_all(copy.parent().context("a file is in a folder")?)?;
            let source = process::root().join(file);
            if is_page(file) {
                fs::write(copy, named_index(&fs::read_to_string(source)?))?;
            } else {
                fs::copy(source, copy).with_context(|| file.clone())?;
            }
        }
        Ok(())
    }

    /// The navigation as mdBook has it.
    fn summary(&self) -> String {
        let mut summary = "# Summary\n\n".to_owned();
        for page in &self.pages[..2] {
            let _ = writeln!(summary, "[{}]({})", page.title, named_index(&page.source));
        }
        for (group, links) in self.groups.iter().filter(|(_, links)| !links.is_empty()) {
            let _ = writeln!(summary, "\n# {group}\n");
            for (text, source) in links.iter().filter(|(_, source)| is_page(source)) {
                let _ = writeln!(summary, "- [{text}]({source})");
            }
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a site of the README, the index and one more page.
    fn faults(index: &str, page: &str) -> String {
        let root = tempfile::tempdir().expect("a folder");
        let docs = root.path().join("docs");
        fs::create_dir_all(docs.join("how-to")).expect("folders in it");
        for (file, text) in [(FRONT, "# Front\n"), (INDEX, index), ("docs/how-to/log.md", page)] {
            fs::write(root.path().join(file), text).expect("a file in it");
        }
        Site::read(root.path()).err().map_or_else(String::new, |error| format!("{error:#}"))
    }

    #[test]
    fn links_that_lead_nowhere_and_pages_that_are_not_listed_are_found() {
        let index = "# Index\n\n## Pages\n\n- [Log](how-to/log.md)\n";
        let page =
            "# Log\n\n## What it is\n\n[there](#what-it-is), [front](../../README.md#front)\n";
        assert_eq!(faults(index, page), "");
        for (from, to) in
            [("#what-it-is", "#what-it-was"), ("README.md#", "README.md#no-"), ("../../", "./")]
        {
            let found = faults(index, &page.replace(from, to));
            assert!(
                found.contains("docs/how-to/log.md: ") && found.lines().count() == 2,
                "{to}: {found}"
            );
        }
        assert!(faults("# Index\n", page).contains("does not list docs/how-to/log.md"));
        assert!(faults(&index.replace("log.md", "lag.md"), page).contains("docs/how-to/lag.md"));
    }
}
