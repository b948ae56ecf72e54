//! Holds the documentation to plain English and to its length, as `tidy` holds the code.
//!
//! Pages that `cargo xtask generate` writes are left out, and so are code spans and blocks.

mod ease;
mod page;
mod sentences;
pub(crate) mod spelling;
mod words;

use std::fs;

use anyhow::{Context as _, Result, ensure};
use xtask::files::{files_below, has_extension};
use xtask::process;

use self::page::Page;

/// The words of a page, by the beginning of its path; the first that fits holds.
const WORDS_MAX: [(&str, usize); 5] = [
    ("ARCHITECTURE.md", 2_500),
    ("README.md", 1_100),
    ("docs/how-to/", 500),
    ("docs/statistics-appendix.md", 3_500),
    ("", 2_000),
];
/// The words of all pages.
const TOTAL_WORDS_MAX: usize = 30_000;
/// Shorter pages have no reading ease that would mean something.
const EASE_WORDS_MIN: usize = 100;

/// What is wrong with the pages. Prints how long and how easy to read they are.
pub(crate) fn check() -> Result<Vec<String>> {
    let pages = pages()?;
    let mut findings: Vec<String> =
        pages.iter().flat_map(|(path, page)| faults(path, page)).collect();
    let words: usize = pages.iter().map(|(_, page)| page.words).sum();
    println!("the documentation has {words} words written by hand, of {TOTAL_WORDS_MAX}");
    if words > TOTAL_WORDS_MAX {
        findings.push(format!("docs:1: {words} words, over {TOTAL_WORDS_MAX}"));
    }
    print_ease(&pages);
    Ok(findings)
}

/// Prints what is wrong with these pages, and how easy to read they are.
pub(crate) fn check_pages(paths: &[String]) -> Result<()> {
    let mut findings = Vec::new();
    for path in paths {
        let text = fs::read_to_string(path).context(path.clone())?;
        let page = Page::new(&text);
        findings.extend(faults(path, &page));
        let ease = ease::reading_ease(&page);
        println!("{path}: {} words, reading ease {ease:.0}", page.words);
    }
    ensure!(findings.is_empty(), "untidy:\n{}", findings.join("\n"));
    Ok(())
}

/// The pages that are written by hand, with their paths: those in the root and all below `docs`.
fn pages() -> Result<Vec<(String, Page)>> {
    let mut paths = files_below(process::root(), "docs")?;
    for entry in fs::read_dir(process::root())? {
        paths.push(entry?.file_name().to_string_lossy().into_owned());
    }
    paths.sort();
    let mut pages = Vec::new();
    for path in paths.into_iter().filter(|path| has_extension(path, "md")) {
        let text = fs::read_to_string(process::root().join(&path)).context(path.clone())?;
        if !page::is_generated(&text) {
            pages.push((path, Page::new(&text)));
        }
    }
    Ok(pages)
}

/// What is wrong with a page, each with path and line.
fn faults(path: &str, page: &Page) -> Vec<String> {
    let mut findings = Vec::new();
    let max =
        WORDS_MAX.iter().find(|(start, _)| path.starts_with(start)).map_or(0, |(_, max)| *max);
    if page.words > max {
        findings.push(format!("{path}:1: {} words, over {max}", page.words));
    }
    let gone = page.codes.iter().filter(|(_, code)| names_missing_file(code));
    findings.extend(gone.map(|(line, code)| format!("{path}:{line}: there is no {code}")));
    for block in &page.blocks {
        let mut found: Vec<(usize, String)> =
            words::faults(&block.text).into_iter().chain(sentences::faults(block)).collect();
        found.sort();
        findings.extend(
            found
                .into_iter()
                .map(|(offset, fault)| format!("{path}:{}: {fault}", block.line_of(offset))),
        );
    }
    findings
}

/// Whether a code span is a path of the code that is not there, from the root or from `crates`.
fn names_missing_file(code: &str) -> bool {
    let is_path = code.contains("/src/") || (has_extension(code, "rs") && code.contains('/'));
    let is_pattern = code.contains(['*', ' ', '\n', 'N']);
    is_path
        && !is_pattern
        && !["", "crates"].iter().any(|folder| process::root().join(folder).join(code).exists())
}

/// Prints the median and the lowest of the pages' reading ease.
fn print_ease(pages: &[(String, Page)]) {
    let long = pages.iter().filter(|(_, page)| page.words >= EASE_WORDS_MIN);
    let mut eases: Vec<(f64, &str)> =
        long.map(|(path, page)| (ease::reading_ease(page), path.as_str())).collect();
    eases.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let (Some((median, _)), Some((lowest, path))) = (eases.get(eases.len() / 2), eases.first()) {
        println!("Flesch reading ease: median {median:.0}, lowest {lowest:.0} ({path})");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        faults(path, &Page::new(text))
    }

    #[test]
    fn a_plain_page_has_no_faults_and_each_fault_is_found_on_its_line() {
        let plain = "# Log\n\nAppend a line.\nIt takes `toll` ns.\n\n```text\nthe toll anew\n```\n";
        assert!(found("docs/log.md", plain).is_empty());
        let toll = found("docs/log.md", &plain.replace("a line", "a line.\nPay the toll"));
        assert_eq!(toll, ["docs/log.md:4: \"toll\": write \"time per operation\" or \"overhead\""]);
        let clause = found("docs/log.md", &plain.replace("Append a", "What appends is a"));
        assert_eq!(clause.len(), 1, "{clause:?}");
        let long = found("docs/log.md", &plain.replace("a line", &"a ".repeat(31)));
        assert_eq!(long, ["docs/log.md:3: a sentence of 32 words, over 30"]);
    }

    #[test]
    fn files_that_are_gone_are_found() {
        let text = "See `stats/src/lib.rs`, `xtask/src/main.rs`, `x.rs`,\n`stats/src/lob.rs` and `stats/src/lob`.\n";
        let missing = [
            "docs/log.md:2: there is no stats/src/lob.rs",
            "docs/log.md:2: there is no stats/src/lob",
        ];
        assert_eq!(found("docs/log.md", text), missing);
    }

    #[test]
    fn a_page_has_a_length_by_its_path() {
        let text = "Two words. ".repeat(251);
        assert_eq!(found("docs/how-to/x.md", &text), ["docs/how-to/x.md:1: 502 words, over 500"]);
        assert!(found("docs/log.md", &text).is_empty());
        assert_eq!(found("docs/log.md", &text.repeat(4)).len(), 1);
        assert!(found("ARCHITECTURE.md", &text.repeat(4)).is_empty());
        assert_eq!(found("README.md", &text.repeat(3)).len(), 1);
    }
}
