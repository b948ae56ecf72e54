//! A run as Markdown, to be pasted into an issue or a message: the answer as it stands in
//! a terminal, and all the detail folded away below it.

use model::analysis::Analysis;
use model::printable::without_commands;
use model::run::Run;

use crate::markdown_text::escaped;
use crate::reproduction;
use crate::terminal;
use crate::text::WIDTH;

/// The answer in a block of plain text, whose columns stay in line wherever it is shown, and
/// the full report in another one.
pub fn text(run: &Run, analysis: &Analysis) -> String {
    let plain = |full| {
        let styled = terminal::report(run, analysis, full, WIDTH);
        anstream::adapter::strip_str(&styled).to_string()
    };
    let answer = reproduction::markdown(run, analysis).unwrap_or_else(|| fenced(&plain(false)));
    let page = format!(
        "{}\n<details><summary>All figures, causes and facts</summary>\n\n{}\n</details>\n\n\
         Measured by iotoll {} at {}, seed {}.\n",
        answer,
        fenced(&plain(true)),
        escaped(&run.run.version),
        escaped(&run.run.started),
        run.run.seed
    );
    without_commands(&page).into_owned()
}

/// A block of text that nothing in the text can end.
fn fenced(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_its_block() {
        assert_eq!(fenced("a\n"), "```text\na\n```\n");
        let hostile = fenced("label `x`\n````\n<script>");
        assert!(hostile.starts_with("`````text\n") && hostile.ends_with("\n`````\n"));
    }
}
