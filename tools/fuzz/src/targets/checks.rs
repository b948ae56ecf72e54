//! Checks that hold for everything that is printed.
//!
//! Texts of [`values::PAYLOADS`](crate::mutate::values::PAYLOADS) have the word PLANTED where they
//! would do harm.

use model::printable::{is_unprintable, printable_lines, without_commands};
use pulldown_cmark::{Event, Options, Parser, Tag};

/// The sequences that reports have.
const STYLES: [&str; 8] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[34m", "[35m"];
/// Beginnings of lines that a build server takes for commands.
const COMMANDS: [&str; 2] = ["::error title=PLANTED", "::set-output name=PLANTED"];
/// Beginnings of lines that a forge takes for headings or rows.
const MARKED: [&str; 2] = ["# PLANTED", "| PLANTED | b |"];
/// Markup that a browser would obey.
const MARKUP: [&str; 2] = ["<img src=x", "<script>PLANTED"];
/// The name of a metric.
const METRIC: &str = "PLANTED 1";

/// A text for a terminal, where a long text of others is wrapped and a heading is no more than
/// its letters. All that the program prints goes through [`without_commands`] last.
pub(super) fn printed(what: &str, text: &str) {
    for (at, c) in text.char_indices().filter(|(_, c)| is_unprintable(*c) && *c != '\n') {
        let rest = &text[at + c.len_utf8()..];
        let is_style = c == '\x1b' && STYLES.iter().any(|style| rest.starts_with(style));
        assert!(is_style, "{what} has {c:?}: it is printed after {:?}", before(text, at));
    }
    begins_with_none(what, &without_commands(text), &COMMANDS);
}

/// A text in which no line begins with a text of others.
pub(super) fn lines(what: &str, text: &str) {
    begins_with_none(what, text, &COMMANDS);
    begins_with_none(what, text, &MARKED);
}

fn begins_with_none(what: &str, text: &str, of_others: &[&str]) {
    for line in text.split(['\n', '\r']) {
        let begins = of_others.iter().find(|begins| line.trim_start().starts_with(**begins));
        assert!(begins.is_none(), "{what} has a line of others: {line:?}");
    }
}

/// A text without styles.
pub(super) fn plain(what: &str, text: &str) {
    let hidden = text.char_indices().find(|(_, c)| is_unprintable(*c) && *c != '\n');
    if let Some((at, c)) = hidden {
        panic!("{what} has {c:?}: it stands after {:?}", before(text, at));
    }
    lines(what, text);
}

/// HTML, XML, or a part of them.
pub(super) fn markup(what: &str, text: &str) {
    for planted in MARKUP {
        assert!(!text.contains(planted), "{what} has the markup of others: {planted}");
    }
}

/// Markdown, as it is posted to a forge.
pub(super) fn markdown(what: &str, text: &str) {
    plain(what, text);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => markup(what, &html),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                assert!(!dest_url.contains("PLANTED"), "{what} has a link of others: {dest_url}");
            }
            _ => {}
        }
    }
}

/// Metrics, of which `# EOF` is the end.
pub(super) fn metrics(what: &str, text: &str) {
    lines(what, text);
    let ends = text.lines().filter(|line| *line == "# EOF").count();
    assert!(ends == 1 && text.lines().all(|line| line != METRIC), "{what} has a metric of others");
}

/// A table for a spreadsheet, which calculates a cell that begins like a formula.
pub(super) fn table(what: &str, text: &str) {
    for cell in ["\n=cmd", ",=cmd", "\"=cmd"] {
        assert!(!text.contains(cell), "{what} has a formula of others");
    }
}

/// A message, as it is printed. It may have several lines.
pub(super) fn message(text: &str) {
    let printed = printable_lines(text);
    assert!(!printed.contains(|c| is_unprintable(c) && c != '\n'), "a message has {printed:?}");
}

fn before(text: &str, at: usize) -> String {
    let before: Vec<char> = text[..at].chars().rev().take(60).collect();
    before.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;
    use crate::mutate::values::PAYLOADS;

    #[test]
    fn each_kind_of_harm_is_found() {
        printed("a report", "\u{1b}[1mbold\u{1b}[0m\n");
        for foreign in ["\u{1b}[41mred", "\u{1b}]0;title\u{7}", "\r", "\u{9b}1m", "\u{202e}"] {
            assert!(catch_unwind(|| printed("a report", foreign)).is_err(), "{foreign:?}");
        }
        markdown("a comment", "```text\n<img src=x> [x](javascript:PLANTED)\n```\n");
        let finds: [fn(&str); 5] = [
            |text| plain("a text", text),
            |text| markup("a page", text),
            |text| markdown("a comment", text),
            |text| metrics("metrics", &format!("a{{b=\"{text}\"}} 1\n# EOF\n")),
            |text| table("a table", &format!("a,{text}")),
        ];
        for check in finds {
            check("plain words");
            assert!(PAYLOADS.iter().any(|payload| catch_unwind(|| check(payload)).is_err()));
        }
    }
}
