//! Commands of the user's, for a shell.

use model::shell::quoted;

/// A text with each value as one word of the shell.
pub(crate) fn filled_in(text: &str, values: &[(&str, &str)]) -> String {
    // In one pass, so that what is put in is not looked at again.
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        let found = values.iter().find(|(name, _)| from.starts_with(name));
        let (put_in, taken) = found.map_or(("{".to_owned(), 1), |(n, v)| (quoted(v), n.len()));
        filled.push_str(&put_in);
        rest = &from[taken..];
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_is_one_word_for_the_shell() {
        let filled = |text, variant| {
            filled_in(text, &[("{variant}", variant), ("{place}", "/a b/c"), ("{port}", "81")])
        };
        let text = filled("serve {variant} {place}:{port}", "it's $HOME");
        assert_eq!(text, r"serve 'it'\''s $HOME' '/a b/c':81");
        assert_eq!(filled("serve {variant} {x}", ""), "serve '' {x}");
        // What a variant says is not looked at again.
        assert_eq!(filled("{variant}", "{place}"), "'{place}'");
    }
}
