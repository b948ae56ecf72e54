//! Every sentence that the program can print, from its own code.
//!
//! They are listed in a file that stands beside the code, made by `cargo xtask generate`
//! and held against the code by the tests: whoever adds a sentence sees it there as a user
//! will, without what is around it in the code, and so does whoever reviews the change.
//! Help texts are comments of the code, and are listed in `docs/reference.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::str::FromStr as _;

use anyhow::{Context as _, Result, anyhow};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::{process, tidy};

/// Crates and modules whose sentences reach nobody but us.
const NOT_PRINTED: [&str; 2] = ["simulated", "testkit"];
/// With fewer words it is a name, a unit or a part of a path.
const WORDS_MIN: usize = 3;

/// The list, file by file.
pub(crate) fn list() -> Result<String> {
    let mut files = Vec::new();
    tidy::collect(&process::root().join("crates"), &mut files)?;
    files.sort();
    let mut text = String::from(
        "Every sentence that the program can print, by the file that it stands in; {} stands for \
         what is filled in. Made by `cargo xtask generate`.\n",
    );
    for file in files.iter().filter(|file| is_printed(file)) {
        let name = file.strip_prefix(process::root()).unwrap_or(file).display().to_string();
        let name = name.replace("/../", "/");
        let code = fs::read_to_string(file).with_context(|| name.clone())?;
        let sentences = of_code(&code).with_context(|| name.clone())?;
        if !sentences.is_empty() {
            text += &format!("\n{name}\n");
            text.extend(sentences.iter().map(|sentence| format!("    {sentence}\n")));
        }
    }
    Ok(text)
}

/// Whether it is part of the program, and not of its tests.
fn is_printed(file: &Path) -> bool {
    let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    let is_test = |part: &str| {
        matches!(part, "tests" | "benches" | "testing.rs" | "tests.rs")
            || NOT_PRINTED.contains(&part)
    };
    parts.contains(&"src") && !parts.into_iter().any(is_test)
}

fn of_code(code: &str) -> Result<BTreeSet<String>> {
    let tokens = TokenStream::from_str(code).map_err(|error| anyhow!("{error}"))?;
    let mut sentences = BTreeSet::new();
    collect(tokens, &mut sentences);
    Ok(sentences)
}

/// Collects what is told from tokens, but for comments and tests.
fn collect(tokens: TokenStream, sentences: &mut BTreeSet<String>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut skips_item = false;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(TokenTree::Punct(mark)) = tokens.peek()
                    && mark.as_char() == '!'
                {
                    tokens.next();
                }
                if let Some(TokenTree::Group(attribute)) = tokens.peek() {
                    let text = attribute.stream().to_string();
                    skips_item |= text.starts_with("cfg (test") || text == "test";
                    let is_comment =
                        ["doc", "allow", "expect", "cfg"].iter().any(|a| text.starts_with(a));
                    if is_comment {
                        tokens.next();
                    }
                }
            }
            TokenTree::Group(group) if skips_item && ends_item(&group) => skips_item = false,
            TokenTree::Punct(mark) if mark.as_char() == ';' => skips_item = false,
            TokenTree::Group(group) => collect(group.stream(), sentences),
            TokenTree::Literal(literal) if !skips_item => {
                let text = syn::parse_str::<syn::LitStr>(&literal.to_string());
                sentences.extend(
                    text.ok().map(|text| one_line(&text.value())).filter(|t| is_sentence(t)),
                );
            }
            _ => {}
        }
    }
}

fn ends_item(group: &Group) -> bool {
    group.delimiter() == Delimiter::Brace
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether it has words enough, of letters alone.
fn is_sentence(text: &str) -> bool {
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '-')
    };
    text.split(' ').filter(is_word).count() >= WORDS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_where_they_are_said_and_not_where_they_are_tested() {
        let code = r#"
            //! A comment of the file.
            /// A comment of the item.
            #[error("the file {0} is missing")]
            struct Missing(String);
            fn tell() { println!("it goes on \
                                  in a second line"); let path = "/proc/self/fd"; }
            #[cfg(test)]
            mod tests { const OF: &str = "what is said in tests"; }
            const AFTER: &str = "after the tests there is more";
        "#;
        let found: Vec<String> = of_code(code).expect("it is code").into_iter().collect();
        let expected = [
            "after the tests there is more",
            "it goes on in a second line",
            "the file {0} is missing",
        ];
        assert_eq!(found, expected);
    }
}
