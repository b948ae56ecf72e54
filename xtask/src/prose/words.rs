//! Words that readers do not know, or know in another sense, and those to write instead.
//!
//! Only words without an honest meaning in these pages are here: a block is 4 KiB of a disk as
//! well, and a lock is held.

/// Words to avoid, and those to write. `*` at the end stands for the rest of a word.
const AVOID: [(&str, &str); 37] = [
    ("toll", "time per operation\" or \"overhead"),
    ("tolls", "times per operation\" or \"overheads"),
    ("arm", "combination"),
    ("arms", "combinations"),
    ("block by block", "round by round"),
    ("blocks of slices", "rounds"),
    ("the worth", "the threshold"),
    ("a worth", "a threshold"),
    ("its worth", "its threshold"),
    ("what is done now", "now"),
    ("×0.*", "5.3× faster\" or \"12% less time"),
    ("delete-full", "journal_mode=DELETE synchronous=FULL"),
    ("wal-normal", "WAL synchronous=NORMAL"),
    ("invented", "generated"),
    ("made up", "generated"),
    ("made-up", "generated"),
    ("told", "reported"),
    ("is said", "reports"),
    ("are said", "reports"),
    ("was said", "reported"),
    ("beside", "next to\" or \"also"),
    ("held against", "compared with"),
    ("hold against", "compare with"),
    ("holds against", "compares with"),
    ("anew", "again"),
    ("of its own", "its"),
    ("of their own", "their"),
    ("of your own", "your"),
    ("of our own", "our"),
    ("of ours", "our"),
    ("whoever", "the user"),
    ("whatever", "any"),
    ("whichever", "any"),
    ("whosoever", "any"),
    ("at best", "at most"),
    ("more: see the table", "the names"),
    ("as the two before", "the names"),
];

/// Each word to avoid, with its place in the text.
pub(super) fn faults(text: &str) -> Vec<(usize, String)> {
    let words = words(text);
    let mut faults = Vec::new();
    for (avoid, instead) in AVOID {
        let wanted: Vec<&str> = avoid.split(' ').collect();
        let found = words.windows(wanted.len()).filter(|found| {
            found.iter().zip(&wanted).all(|((_, word), wanted)| is_same(word, wanted))
        });
        faults.extend(found.map(|words| (words[0].0, format!("\"{avoid}\": write \"{instead}\""))));
    }
    faults
}

/// The words with their places, without punctuation about them.
fn words(text: &str) -> Vec<(usize, &str)> {
    let is_punctuation = |c: char| !c.is_alphanumeric() && c != '×';
    let mut place = 0;
    let parts = text.split(|c: char| c.is_whitespace() || c == '/').map(|part| {
        let start = place + (part.len() - part.trim_start_matches(is_punctuation).len());
        place += part.len() + 1;
        // A colon belongs to a phrase of the list.
        (start, part.trim_matches(|c| is_punctuation(c) && c != ':').trim_start_matches(':'))
    });
    parts.filter(|(_, word)| !word.is_empty()).collect()
}

fn is_same(word: &str, wanted: &str) -> bool {
    let word = if wanted.ends_with(':') { word } else { word.trim_end_matches(':') };
    // Processors are Arm, or ARM.
    if wanted.starts_with("arm") {
        return word == wanted;
    }
    match wanted.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word.to_lowercase() == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_to_avoid_is_found_where_it_stands() {
        for (avoid, _) in AVOID {
            let text = format!("One line,\nand ({}) more", avoid.replace('*', "19"));
            let found = faults(&text);
            assert_eq!(found.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [15], "{found:?}");
        }
    }

    #[test]
    fn words_with_an_honest_meaning_are_left() {
        let text = "iotoll is worth it on Arm, besides a block of 4 KiB; its own lock is held. \
                    It tells you what was rewritten, and 2 more: see there";
        assert!(faults(text).is_empty(), "{:?}", faults(text));
    }
}
