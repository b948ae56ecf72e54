//! The length and the beginning of sentences.

use super::page::{Block, CODE, Kind, LINK, count};

const WORDS_MAX: usize = 30;
/// A full stop after these ends no sentence.
const ABBREVIATIONS: [&str; 8] = ["e.g.", "i.e.", "etc.", "vs.", "cf.", "no.", "vol.", "pp."];
/// Words after which `That` begins a clause: it is a pronoun or points at a noun before others.
const AFTER_THAT: [&str; 14] = [
    "a", "an", "the", "it", "they", "this", "these", "there", "no", "each", "every", "all", "you",
    "its",
];
/// Verbs that make a `To` before them a subject.
const AFTER_TO: [&str; 7] =
    [" is ", " are ", " takes ", " costs ", " means ", " needs ", " makes "];

/// Sentences that are too long, or whose subject is a clause, each with its place.
pub(super) fn faults(block: &Block) -> Vec<(usize, String)> {
    if block.kind == Kind::Label {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (at, sentence) in sentences(&block.text) {
        let words = count(sentence);
        if words > WORDS_MAX {
            faults.push((at, format!("a sentence of {words} words, over {WORDS_MAX}")));
        }
        if has_clause_as_subject(sentence) {
            let start: Vec<&str> = sentence.split_whitespace().take(4).collect();
            faults.push((at, format!("a clause as the subject: \"{} …\"", start.join(" "))));
        }
    }
    faults
}

/// The sentences of a text, with their places.
pub(super) fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, _) in text.char_indices().filter(|(_, c)| c.is_whitespace()) {
        let (sentence, rest) = (&text[start..at], text[at..].trim_start());
        if ends(sentence) && rest.starts_with(begins) {
            sentences.push((start, sentence));
            start = text.len() - rest.len();
        }
    }
    sentences.push((start, text[start..].trim_end()));
    sentences.retain(|(_, sentence)| !sentence.trim().is_empty());
    sentences
}

fn ends(sentence: &str) -> bool {
    let bare = sentence.trim_end_matches([')', '"', '”', '’', '*']);
    let last = bare.split_whitespace().last().unwrap_or_default().trim_start_matches('(');
    bare.ends_with(['.', '!', '?']) && !ABBREVIATIONS.contains(&last.to_lowercase().as_str())
}

fn begins(c: char) -> bool {
    c.is_uppercase() || c.is_numeric() || [CODE, LINK, '"', '“', '(', '['].contains(&c)
}

/// Whether a statement begins with a clause that is its subject. A clause that a comma ends may
/// say when or why.
fn has_clause_as_subject(sentence: &str) -> bool {
    let sentence = sentence.trim_start_matches(['(', '"', '“', '[']);
    // A question or a link at the beginning is a page's title.
    if sentence.starts_with(LINK) {
        return false;
    }
    if !sentence.trim_end_matches([')', '"', '”']).ends_with('.') || sentence.contains('?') {
        return false;
    }
    let spaced = sentence.replace('\n', " ");
    let mut words = spaced.split(' ').map(|word| word.trim_end_matches(['.', ',']));
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match first {
        "What" | "Who" | "Whoever" | "Whatever" | "Whichever" | "Which" => true,
        "That" => AFTER_THAT.contains(&second),
        _ if spaced.contains(',') => false,
        "Where" | "Whether" | "How" => true,
        "To" => AFTER_TO.iter().any(|verb| spaced.contains(verb)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let block = Block { kind: Kind::Text, line: 1, text: text.to_owned() };
        faults(&block).into_iter().map(|(_, fault)| fault).collect()
    }

    #[test]
    fn sentences_end_where_the_next_begins() {
        let text = "It took 0.3 s, e.g. Here it did. Did it (yes.) “So.”\nThe end";
        let ends: Vec<&str> = sentences(text).into_iter().map(|(_, sentence)| sentence).collect();
        assert_eq!(ends, ["It took 0.3 s, e.g. Here it did.", "Did it (yes.)", "“So.”", "The end"]);
        assert_eq!(sentences("One. Two.")[1].0, 5);
    }

    #[test]
    fn clauses_as_subjects_are_found() {
        for text in [
            "What a run left is removed.",
            "Whoever reads it may write.",
            "Who writes it waits.",
            "Which of both it is says what helps.",
            "Where it lies is found by the kernel.",
            "How it decides is another matter.",
            "That a run ends is no proof.",
            "To write\nis slow.",
            "It ends. (What follows is left.)",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn questions_and_clauses_that_are_no_subjects_are_left() {
        for text in [
            "What does it cost?",
            "What you see:",
            "Which command do I need? lists them.",
            "\u{200b}How iotoll decides explains it.",
            "Where there is none, the run ends.",
            "Whether it pays or not, it ends.",
            "That is why. That file is old.",
            "To learn whether it is slow, run it.",
            "To undo it run the other.",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn long_sentences_are_found_outside_of_labels() {
        let text = "word ".repeat(31);
        assert_eq!(found(&text), ["a sentence of 31 words, over 30"]);
        assert!(found(&"word ".repeat(30)).is_empty());
        assert!(faults(&Block { kind: Kind::Label, line: 1, text }).is_empty());
    }
}
