//! `cargo xtask screens`: the screens in the documentation, measured again on this machine.
//!
//! A screen is a block that begins as a report of `iotoll compare` does; it is what the
//! command above it printed, without the notes at its end. A command whose places are not
//! there is left as it is.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use xtask::process;

use crate::cast;

/// The pages with screens, but for the README, whose run is kept (`example.rs`).
const PAGES: [&str; 4] = [
    "docs/how-to/logs.md",
    "docs/how-to/php-template-cache.md",
    "docs/how-to/sessions.md",
    "docs/how-to/sqlite.md",
];
/// How a command begins on its line, and how a screen begins.
const COMMAND: &str = "    iotoll compare";
const SCREEN: &str = "```text\niotoll ";
/// What the notes of a report begin with.
const NOTES: &str = "\nRows ";

pub(crate) fn run() -> Result<()> {
    let iotoll = process::build_release_iotoll()?;
    let folder = tempfile::tempdir_in(process::root().join("target"))?;
    for page in PAGES {
        let file = process::root().join(page);
        let mut text = fs::read_to_string(&file).with_context(|| page.to_owned())?;
        // From the last to the first, so that none is moved before it is written.
        for Screen { command, within } in screens(&text).into_iter().rev() {
            if let Some(missing) = missing_place(&command) {
                println!("left as it is, for there is no {missing}: {command}");
                continue;
            }
            println!("{command}");
            let report = printed(&iotoll, &command, folder.path())?;
            text.replace_range(within, answer(&report));
        }
        fs::write(&file, text).with_context(|| page.to_owned())?;
    }
    cast::run(&iotoll, folder.path())
}

/// A command and what it printed.
struct Screen {
    command: String,
    /// Where that is in the page.
    within: Range<usize>,
}

fn screens(page: &str) -> Vec<Screen> {
    let screen = |(at, _): (usize, &str)| {
        let start = at + "```text\n".len();
        let end = start + page[start..].find("```")?;
        let command = command_before(&page[..at])?;
        Some(Screen { command, within: start..end })
    };
    page.match_indices(SCREEN).filter_map(screen).collect()
}

/// The last command in a text; it may go on in further lines.
fn command_before(text: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once(&format!("\n{COMMAND}"))?;
    let end = rest.match_indices('\n').find(|(at, _)| !rest[..*at].ends_with('\\'))?.0;
    Some(format!("{}{}", COMMAND.trim_start(), &rest[..end]))
}

/// A place that a command names, with a label or without one, and that is not there.
fn missing_place(command: &str) -> Option<&str> {
    let mut paths = command.split_whitespace().filter_map(|word| word.rsplit('=').next());
    paths.find(|path| path.starts_with('/') && !Path::new(path).is_dir())
}

/// What a command prints that a shell is given, in that folder.
fn printed(iotoll: &Path, command: &str, folder: &Path) -> Result<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = iotoll.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", std::env::join_paths(paths)?);
    process::output(&mut shell)
}

/// A report without its notes.
fn answer(report: &str) -> &str {
    report.split_once(NOTES).map_or(report, |(answer, _)| answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_belongs_to_the_command_above_it() {
        let page = "# A\n\n    iotoll compare /srv --a \\\n    --b\n\ntext\n\n```text\nstudy,x\n```\n\n\
                    ```text\niotoll 1: x\n\nend\n```\n\n    iotoll compare\n\n```text\niotoll 1: y\n```\n";
        let found = screens(page);
        let told: Vec<_> =
            found.iter().map(|s| (s.command.as_str(), &page[s.within.clone()])).collect();
        let first = ("iotoll compare /srv --a \\\n    --b", "iotoll 1: x\n\nend\n");
        assert_eq!(told, [first, ("iotoll compare", "iotoll 1: y\n")]);
        assert_eq!(answer("iotoll  a\n  b\n\nRows    c\n"), "iotoll  a\n  b\n");
        assert_eq!(missing_place("iotoll compare /nowhere /proc"), Some("/nowhere"));
        assert_eq!(missing_place("iotoll compare disk=/nowhere ram=/proc"), Some("/nowhere"));
        assert_eq!(missing_place("iotoll compare --study log"), None);
    }
}
