//! A run as Markdown, to be pasted into an issue or a message: the answer as it stands in
//! a terminal, and all the detail folded away below it.

use model::analysis::{Analysis, Latency};
use model::printable::without_commands;
use model::run::Run;
use units::time;

use crate::check;
use crate::difference::Difference;
use crate::markdown_text::escaped;
use crate::reproduction;
use crate::subject::Subject;
use crate::tables::Section;
use crate::terminal::{self, Rest};
use crate::text::WIDTH;
use crate::words;

/// The answer in a block of plain text, whose columns stay in line wherever it is shown, and
/// the full report in another one.
pub fn text(run: &Run, analysis: &Analysis) -> String {
    let plain = |rest| {
        let styled = terminal::report(run, analysis, rest, WIDTH);
        anstream::adapter::strip_str(&styled).to_string()
    };
    let answer = reproduction::markdown(run, analysis)
        .unwrap_or_else(|| fenced(&plain(Rest::LATEST)) + &figures(run, analysis));
    let page = format!(
        "{}\n<details><summary>All figures, causes and facts</summary>\n\n{}\n</details>\n\n\
         Measured by iotoll {} at {}, seed {}.\n",
        answer,
        fenced(&plain(Rest::Below)),
        escaped(&run.run.version),
        escaped(&run.run.started),
        run.run.seed
    );
    without_commands(&page).into_owned()
}

/// Every combination as a row of a table, with how it compares with what is done now; nothing
/// of a check, whose screen has rows of its own.
fn figures(run: &Run, analysis: &Analysis) -> String {
    if check::is_shown(run, analysis) {
        return String::new();
    }
    let subject = Subject { run, analysis };
    let rows = analysis.arms.iter().map(|arm| {
        let found = analysis.against_now(&arm.id);
        let percentile = |of: fn(&Latency) -> f64| {
            arm.time_per_op_ns.as_ref().map_or_else(String::new, |latency| time(of(latency)))
        };
        let (against, verdict) = found.map_or_else(Default::default, |comparison| {
            let difference = Difference::of(comparison);
            let against = difference.ratio.clone() + &difference.in_brackets();
            (against, comparison.verdict.as_str().to_owned())
        });
        let [p50, p99] = [percentile(|latency| latency.p50), percentile(|latency| latency.p99)];
        vec![arm.id.clone(), words::typical(subject, arm), p50, p99, against, verdict]
    });
    let heads = ["", "time", "p50", "p99", "compared with now", "verdict"];
    format!("\n{}", Section::new("", &heads, rows).markdown())
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
