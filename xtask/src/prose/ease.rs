//! How easy a page is to read, as Rudolf Flesch counted it: 100 is very easy, 60 is plain
//! English, and 30 is for graduates.
//!
//! Flesch, A new readability yardstick, Journal of Applied Psychology 32 (1948): 206.835 less
//! 1.015 times the words of a sentence, less 84.6 times the syllables of a word. Headings and
//! tables are left out, since they have no sentences. A code span is a word of two syllables.

use super::page::{Block, CODE, Kind, Page, is_word};
use super::sentences::sentences;

/// A page's reading ease; 0 where it has no sentence.
pub(super) fn reading_ease(page: &Page) -> f64 {
    let texts = || page.blocks.iter().filter(|block: &&Block| block.kind == Kind::Text);
    let sentences: usize = texts().map(|block| sentences(&block.text).len()).sum();
    let words: Vec<&str> =
        texts().flat_map(|block| block.text.split_whitespace()).filter(|w| is_word(w)).collect();
    if words.is_empty() {
        return 0.0;
    }
    let syllables: usize = words.iter().map(|word| syllables(word)).sum();
    let words = words.len() as f64;
    206.835 - 1.015 * (words / sentences as f64) - 84.6 * (syllables as f64 / words)
}

/// The syllables of a word: its groups of vowels, without a silent e at the end, and at least
/// one. It errs by less than a tenth over a page of English.
fn syllables(word: &str) -> usize {
    if word.contains(CODE) {
        return 2;
    }
    // Each part of a compound is a word.
    let parts = word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(part_syllables).sum::<usize>().max(1)
}

fn part_syllables(part: &str) -> usize {
    let part = part.to_lowercase();
    let mut groups = 0;
    let mut was_vowel = false;
    for c in part.chars() {
        let is_vowel = "aeiouy".contains(c);
        groups += usize::from(is_vowel && !was_vowel);
        was_vowel = is_vowel;
    }
    let silent = has_silent_e(&part);
    groups.saturating_sub(usize::from(silent)).max(1)
}

/// Whether an e at the end, or before a d or an s there, is not spoken.
fn has_silent_e(part: &str) -> bool {
    let (stem, spoken_after): (&str, &[&str]) = if let Some(stem) = part.strip_suffix("ed") {
        (stem, &["t", "d"])
    } else if let Some(stem) = part.strip_suffix("es") {
        (stem, &["s", "x", "z", "ch", "sh", "c", "g"])
    } else if let Some(stem) = part.strip_suffix('e') {
        (stem, &["bl", "cl", "dl", "fl", "gl", "kl", "pl", "tl"])
    } else {
        return false;
    };
    !stem.ends_with(['a', 'e', 'i', 'o', 'u', 'y'])
        && !spoken_after.iter().any(|end| stem.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syllables_are_counted() {
        for (word, expected) in [
            ("disk", 1),
            ("time", 1),
            ("table", 2),
            ("synced", 1),
            ("counted", 2),
            ("caches", 2),
            ("writes", 1),
            ("directory,", 4),
            ("power-cut", 3),
            ("2,000", 2),
            ("be", 1),
            ("\u{fffc}", 2),
        ] {
            assert_eq!(syllables(word), expected, "{word}");
        }
    }

    #[test]
    fn short_words_and_sentences_are_easier() {
        let ease = |text: &str| reading_ease(&Page::new(text));
        // Two sentences, six words, six syllables.
        assert!((ease("The cat sat. The dog ran.\n") - (206.835 - 3.045 - 84.6)).abs() < 1e-9);
        assert!(ease("# Heading\n\nA cat.\n") > ease("Operational considerations apply.\n"));
        assert!(ease("# A\n").abs() < 1e-9);
    }
}
