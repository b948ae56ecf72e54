//! Headings and paragraphs of a given width.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use model::printable::printable;

/// How many columns there are.
pub type Width = usize;

/// The width to write for where no terminal says otherwise.
pub const WIDTH: Width = 80;
/// Longer lines of prose are hard to read.
pub(crate) const PROSE: Width = 100;
/// The style of what is wrong with data.
pub(crate) const BOLD_RED: Style = AnsiColor::Red.on_default().bold();

/// A bold line.
pub(crate) fn heading(text: &str) -> String {
    let bold = Style::new().bold();
    format!("{bold}{}{bold:#}\n", printable(text))
}

/// A bold head with what stands at the end of its line, where both fit in.
pub(crate) fn head_with(head: &str, end: &str, width: Width) -> Option<String> {
    let gap = width.checked_sub(head.chars().count() + end.chars().count())?;
    (gap >= 2).then(|| format!("{}{:gap$}{end}\n", heading(head).trim_end(), ""))
}

/// Wrapped text with the indents of its first line and of the rest.
pub fn paragraph(first: &str, rest: &str, text: &str, width: Width) -> String {
    styled_paragraph(first, rest, &printable(text), width)
}

/// Like [`paragraph`], for a text with styles: the caller has made its other parts printable.
pub(crate) fn styled_paragraph(first: &str, rest: &str, text: &str, width: Width) -> String {
    wrapped(first, rest, text, width.max(30)).join("\n") + "\n"
}

/// The lines of wrapped text, without a least width.
pub(crate) fn wrapped(first: &str, rest: &str, text: &str, width: Width) -> Vec<String> {
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(Cow::into_owned).collect()
}

/// An item of a list.
pub(crate) fn bullet(text: &str, width: Width) -> String {
    paragraph("  • ", "    ", text, width)
}

/// A heading with a list below it, apart from what is above; nothing where the list is empty.
pub(crate) fn list(title: &str, items: &[String], width: Width) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: String = items.iter().map(|text| bullet(text, width)).collect();
    format!("\n{}{items}", heading(title))
}

/// The first items of a list, and how many more the result file has.
pub(crate) fn shortened_list(mut items: Vec<String>, items_max: usize) -> Vec<String> {
    let more = items.len().saturating_sub(items_max);
    items.truncate(items_max);
    items.extend((more > 0).then(|| format!("{more} more: see --json")));
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_begins_no_line_and_no_sequence_of_its_own() {
        assert_eq!(paragraph("  • ", "    ", "a\nb\u{1b}[2J", 80), "  • a\\nb\\u{1b}[2J\n");
        assert_eq!(heading("a\r\u{202e}"), "\u{1b}[1ma\\r\\u{202e}\u{1b}[0m\n");
    }
}
