//! Words for a shell.

/// A word that a shell passes on as it is.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./=@:,+-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_blanks_or_quotes_survive_a_shell() {
        assert_eq!(quoted("log.sync=each"), "log.sync=each");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("disk=/my files"), "'disk=/my files'");
        assert_eq!(quoted("disk=/it's"), r"'disk=/it'\''s'");
    }
}
