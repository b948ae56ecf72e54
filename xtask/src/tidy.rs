//! What formatting and lints leave to taste, kept by a test instead of by
//! reviewers, as `TigerBeetle` does it in `src/tidy.zig`.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use xtask::process;

use crate::rust_files::rust_files;
use crate::{crate_graph, limits, module_graph, prose, purity};

/// A file has one subject.
const FILE_LINES_MAX: usize = 500;
/// Notes to oneself: do it, or write an issue. In parts, not to find themselves.
const MARKERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// An error that lists what is untidy.
pub(crate) fn check() -> Result<()> {
    let folders = ["crates", "tools", "xtask/src", "bench/engines/src"];
    let mut files = rust_files(process::root(), &folders)?;
    files.sort();
    let mut findings = Vec::new();
    let mut longest = (0, String::new());
    for file in &files {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let name = file.strip_prefix(process::root()).unwrap_or(file).display();
        findings.extend(untidy(&text).into_iter().map(|what| format!("{name}:{what}")));
        let (lines, at) = longest_function(&text);
        longest = longest.max((lines, format!("{name}:{at}")));
    }
    println!("the longest function has {} lines: {}", longest.0, longest.1);
    findings.extend(crate_graph::check()?);
    findings.extend(purity::check()?);
    findings.extend(prose::check()?);
    let circles = module_graph::circles()?;
    let found = [("circles", circles.len() as u64), ("function_lines", longest.0)];
    findings.extend(limits::exceeded(found.map(|(name, n)| (name.to_owned(), n)).into())?);
    findings.extend(circles.into_iter().map(|circle| format!("a circle: {circle}")));
    ensure!(findings.is_empty(), "untidy:\n{}", findings.join("\n"));
    Ok(())
}

/// What is untidy, each with its line.
fn untidy(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut findings = Vec::new();
    if lines.len() > FILE_LINES_MAX {
        findings.push(format!("1: {} lines, over {FILE_LINES_MAX}", lines.len()));
    }
    for (index, line) in lines.iter().enumerate() {
        findings.extend(untidy_line(line).map(|what| format!("{}: {what}", index + 1)));
    }
    findings
}

/// How long a file's longest function is, and on which line it begins.
fn longest_function(text: &str) -> (u64, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let functions = (0..lines.len()).map(|at| (function_lines(&lines[at..]) as u64, at + 1));
    functions.max().unwrap_or_default()
}

fn untidy_line(line: &str) -> Option<String> {
    if line.contains('\t') {
        return Some("a tab".to_owned());
    }
    if line.ends_with(char::is_whitespace) {
        return Some("white space at the end".to_owned());
    }
    let mut words = line.split(|c: char| !c.is_alphanumeric());
    words.find(|word| MARKERS.contains(word)).map(|word| format!("a note to oneself: {word}"))
}

/// How long the function is that begins on the first line; 0 where none does.
/// rustfmt closes a function on a line of its own, as far in as it began.
fn function_lines(lines: &[&str]) -> usize {
    let first = lines[0];
    let code = first.trim_start();
    let before_name = code.split_once("fn ").map(|(before, _)| before);
    let is_function = before_name.is_some_and(|before| {
        let mut words = before.split_whitespace();
        words.all(|w| w.starts_with("pub") || ["const", "unsafe", "async", "extern"].contains(&w))
    });
    if !is_function {
        return 0;
    }
    let signature = 1 + lines.iter().take_while(|line| !line.ends_with(['{', '}', ';'])).count();
    if lines.get(signature - 1).is_none_or(|last| !last.ends_with('{')) {
        return signature;
    }
    let end = format!("{}}}", " ".repeat(first.len() - code.len()));
    1 + lines.iter().take_while(|line| **line != end).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untidy_lines_are_found() {
        let marker = MARKERS[2];
        let found = untidy(&format!("fine\na\ttab\nspace \n// {marker}: later\nXXXXXX\n"));
        let note = format!("4: a note to oneself: {marker}");
        assert_eq!(found, ["2: a tab", "3: white space at the end", &note]);
    }

    #[test]
    fn functions_are_measured_whole() {
        let lines = |text: &'static str| function_lines(&text.lines().collect::<Vec<_>>());
        assert_eq!(lines("pub(crate) fn f() {\n    {\n    }\n}\n}"), 4);
        assert_eq!(lines("    fn f(\n        x: u8,\n    ) -> u8 {\n        x\n    }\n}"), 5);
        assert_eq!(lines("fn f(&self) -> u8;\nfn g() {\n}"), 1);
        assert_eq!(lines("fn f() {}\n}"), 1);
        assert_eq!(lines("let f = |x| x;\n}"), 0);
        assert_eq!(lines("// what fn does {\n}"), 0);
    }

    #[test]
    fn long_files_and_functions_are_found() {
        let function = |lines: usize| format!("fn f() {{\n{}}}\n", "    x();\n".repeat(lines - 2));
        assert_eq!(longest_function(&(function(7) + &function(9) + &function(3))), (9, 8));
        assert!(untidy(&"x\n".repeat(FILE_LINES_MAX)).is_empty());
        assert_eq!(untidy(&"x\n".repeat(FILE_LINES_MAX + 1)).len(), 1);
    }
}
