//! Text of others within Markdown.

use model::printable::printable;

/// Text that Markdown leaves as it is.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in printable(text).chars() {
        let is_markup =
            matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&');
        // At a line's beginning these make it an item or a heading.
        let is_item = out.is_empty() && matches!(c, '-' | '+' | '=');
        if is_markup || is_item {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_markup() {
        assert_eq!(escaped("a|b_c"), "a\\|b\\_c");
        assert_eq!(escaped("<b>`x`\n"), "\\<b\\>\\`x\\`\\\\n");
        assert_eq!(escaped("- &lt;-"), "\\- \\&lt;-");
    }
}
