//! Foreign text as it may be printed.
//!
//! A label, a path, a reply's header or a record from somebody else may have characters
//! that move the cursor, colour what follows, or begin a line that looks like ours. In a
//! report each of them stands as its number.

use std::borrow::Cow;

/// A text in one line, with every character escaped that would not be seen as itself.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_unprintable)
}

/// The same of a text that has several lines.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_unprintable(c))
}

/// As much of a text as so many characters hold, the last of them an ellipsis where there
/// is more.
pub fn shortened(text: &str, chars_max: usize) -> Cow<'_, str> {
    if text.chars().count() <= chars_max {
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

/// Controls, ends of lines, and what turns the direction of writing or has no width.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_be_seen_as_itself_is_escaped() {
        assert_eq!(printable("a\u{1b}[31m\nb\r\t\u{7f}"), "a\\u{1b}[31m\\nb\\r\\t\\u{7f}");
        assert_eq!(printable("\u{9b}1m \u{202e}x\u{2066}"), "\\u{9b}1m \\u{202e}x\\u{2066}");
        assert_eq!(printable_lines("a\n\u{7}b"), "a\n\\u{7}b");
        for plain in ["", "disk=/var/log", "1.93 µs – “ü” 日本 \\n"] {
            assert!(matches!(printable(plain), Cow::Borrowed(same) if same == plain));
        }
    }

    #[test]
    fn a_text_that_is_too_long_ends_in_an_ellipsis_and_has_all_the_room() {
        let cut = |max| shortened("dé日本x", max);
        assert_eq!([cut(6), cut(5), cut(4), cut(1)], ["dé日本x", "dé日本x", "dé日…", "…"]);
    }
}
