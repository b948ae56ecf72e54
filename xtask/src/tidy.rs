//! What formatting and lints leave to taste, kept by a test instead of by
//! reviewers, as `TigerBeetle` does it in `src/tidy.zig`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::{house, process};

/// A file has one subject.
const FILE_LINES_MAX: usize = 500;
/// A function fits a screen.
const FUNCTION_LINES_MAX: usize = 70;
/// Notes to oneself: do it, or write an issue. In parts, not to find themselves.
const MARKERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// An error that lists what is untidy.
pub(crate) fn check() -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "xtask/src", "tools/fuzz/src", "bench/engines/src"] {
        collect(&process::root().join(folder), &mut files)?;
    }
    files.sort();
    let mut findings = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let name = file.strip_prefix(process::root()).unwrap_or(file).display();
        findings.extend(untidy(&text).into_iter().map(|what| format!("{name}:{what}")));
    }
    findings.extend(house::check()?);
    if !findings.is_empty() {
        bail!("untidy:\n{}", findings.join("\n"));
    }
    Ok(())
}

/// The Rust files below a folder.
pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
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
        let length = function_lines(&lines[index..]);
        if length > FUNCTION_LINES_MAX {
            findings.push(format!(
                "{}: a function of {length} lines, over {FUNCTION_LINES_MAX}",
                index + 1
            ));
        }
    }
    findings
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
        assert!(untidy(&function(FUNCTION_LINES_MAX)).is_empty());
        assert_eq!(untidy(&function(FUNCTION_LINES_MAX + 1)).len(), 1);
        assert!(untidy(&"x\n".repeat(FILE_LINES_MAX)).is_empty());
        assert_eq!(untidy(&"x\n".repeat(FILE_LINES_MAX + 1)).len(), 1);
    }
}
