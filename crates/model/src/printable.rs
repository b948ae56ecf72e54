//! Foreign text as it may be printed.
//!
//! A label, a path, a reply's header or a record from somebody else may have characters
//! that move the cursor, colour what follows, or begin a line that looks like ours. In a
//! report each of them stands as its number. Build servers obey some texts that a program
//! prints, such as `::error::…`; those are broken up, too.

use std::borrow::Cow;
use std::iter::successors;

/// Begins each line but the first of a message. A build server removes blanks there, and
/// would obey a command that stands behind them.
const CONTINUED: &str = "  | ";

/// A text in one line, with every character escaped that would not be seen as itself.
pub fn printable(text: &str) -> Cow<'_, str> {
    unbracketed(escaped(text, is_unprintable))
}

/// The same of a message that may have several lines. Each but the first is marked, so that
/// none can pass for a message or a command.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    match escaped(text, |c| c != '\n' && is_unprintable(c)) {
        text if text.contains('\n') => {
            unbracketed(text.replace('\n', &format!("\n{CONTINUED}")).into())
        }
        text => unbracketed(text),
    }
}

/// A text with the program's own lines and styles, no line of which is a command to a build
/// server. Foreign text may have come to a line's beginning when the text was wrapped.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    let text = unbracketed(Cow::Borrowed(text));
    if !text.contains("::") {
        return text;
    }
    Cow::Owned(text.split_inclusive('\n').map(obeyed_by_none).collect())
}

/// Whether a character would not be seen as itself: controls, ends of lines, and what turns
/// the direction of writing or has no width.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// As much of a text as so many characters hold, the last of them an ellipsis where there
/// is more.
pub fn shortened(text: &str, chars_max: usize) -> Cow<'_, str> {
    if text.chars().nth(chars_max).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect())
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            printable.extend(c.escape_default());
        } else {
            printable.push(c);
        }
    }
    Cow::Owned(printable)
}

/// Without the commands that GitHub, Azure and `TeamCity` obey anywhere in a line:
/// `##[error]`, `##vso[…]`.
fn unbracketed(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_command = |at: usize| {
        let name = text[at + 2..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        name.starts_with('[').then_some(at + 1)
    };
    let hashes =
        successors(text.find("##"), |at| text[at + 1..].find("##").map(|further| at + 1 + further));
    let broken: Vec<usize> = hashes.filter_map(is_command).collect();
    if broken.is_empty() {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut from = 0;
    for at in broken {
        out += &text[from..at];
        out.extend('#'.escape_unicode());
        from = at + 1;
    }
    Cow::Owned(out + &text[from..])
}

/// A line, with the first colon escaped where GitHub would take it for a command.
fn obeyed_by_none(line: &str) -> Cow<'_, str> {
    let seen = after_styles_and_blanks(line);
    let is_command = seen
        .strip_prefix("::")
        .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    if !is_command {
        return Cow::Borrowed(line);
    }
    let before = &line[..line.len() - seen.len()];
    Cow::Owned(format!("{before}{}{}", ':'.escape_unicode(), &seen[1..]))
}

/// What a line begins with once its styles are stripped and blanks removed.
fn after_styles_and_blanks(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some(style) = rest.strip_prefix("\u{1b}[") {
        let Some(end) = style.find('m') else { break };
        rest = style[end + 1..].trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_be_seen_as_itself_is_escaped() {
        assert_eq!(printable("a\u{1b}[31m\nb\r\t\u{7f}"), "a\\u{1b}[31m\\nb\\r\\t\\u{7f}");
        assert_eq!(printable("\u{9b}1m \u{202e}x\u{2066}"), "\\u{9b}1m \\u{202e}x\\u{2066}");
        assert_eq!(printable_lines("a\n\u{7}b"), "a\n  | \\u{7}b");
        for plain in ["", "disk=/var/log", "1.93 µs – “ü” 日本 \\n"] {
            assert!(matches!(printable(plain), Cow::Borrowed(same) if same == plain));
        }
    }

    #[test]
    fn no_line_is_a_command_to_a_build_server() {
        let broken = "\\u{23}";
        assert_eq!(
            printable("a##[error]b ##vso[x]"),
            format!("a#{broken}[error]b #{broken}vso[x]")
        );
        assert_eq!(printable("###[x]"), format!("##{broken}[x]"));
        for plain in ["## [x]", "a ## b", "##", "x::y", "#[x]"] {
            assert_eq!(printable(plain), plain);
            assert_eq!(without_commands(plain), plain);
        }
        assert_eq!(printable_lines("a\n::error::b"), "a\n  | ::error::b");
        let styled = "x\n\u{1b}[1m \u{1b}[0m\u{3000}::stop-commands::y\n ::1 is an address\n";
        assert_eq!(without_commands(styled), styled.replace("::stop", "\\u{3a}:stop"));
        assert_eq!(without_commands("::error::x"), "\\u{3a}:error::x");
    }

    #[test]
    fn a_text_that_is_too_long_ends_in_an_ellipsis_and_has_all_the_room() {
        let cut = |max| shortened("dé日本x", max);
        assert_eq!([cut(6), cut(5), cut(4), cut(1)], ["dé日本x", "dé日本x", "dé日…", "…"]);
    }
}
