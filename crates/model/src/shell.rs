//! Commands of the user's, in which what an arm fills in stands in the text and in the
//! environment: `{place}` and `$IOTOLL_PLACE`.

use units::quoted;

/// What is filled in, and its name in the environment.
pub type FilledIn = [&'static str; 2];
/// The folder that a command works in.
pub const PLACE: FilledIn = ["{place}", "IOTOLL_PLACE"];
/// The port that a server listens on.
pub const PORT: FilledIn = ["{port}", "IOTOLL_PORT"];
/// What tells an arm's commands from those of others: the study's parameter of that name.
pub const VARIANT: FilledIn = ["{variant}", "IOTOLL_VARIANT"];

/// A text with each value as one word of the shell.
pub fn filled_in(text: &str, values: &[(&str, &str)]) -> String {
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
