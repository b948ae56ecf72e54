//! Commands of the user's, for a shell. What an arm fills in stands in their texts and in their
//! environment: `{place}` and `$IOTOLL_PLACE`.

use std::path::Path;
use std::process::Command;

use model::shell::quoted;

/// What is filled in, and what it is called in the environment.
pub(crate) const PLACE: [&str; 2] = ["{place}", "IOTOLL_PLACE"];
pub(crate) const PORT: [&str; 2] = ["{port}", "IOTOLL_PORT"];
pub(crate) const VARIANT: [&str; 2] = ["{variant}", "IOTOLL_VARIANT"];

/// Whether a text says, in either way, where that belongs.
pub(crate) fn names(text: &str, what: [&str; 2]) -> bool {
    what.iter().any(|name| text.contains(name))
}

/// The shell that runs a script for an arm in a folder.
pub(crate) fn shell(script: &str, folder: &Path, variant: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(script).env(PLACE[1], folder).env(VARIANT[1], variant);
    shell
}

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
