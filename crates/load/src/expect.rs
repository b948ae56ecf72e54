//! What a reply's body should be, checked while it streams past.
//!
//! Nothing of a body is kept: a text is looked for with Knuth, Morris and
//! Pratt's automaton, whose whole state is one number, and everything else is
//! compared by hash.

use crate::Error;
use sha2::{Digest, Sha256};
use std::fmt;
use xxhash_rust::xxh3::Xxh3;

/// What every body should be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Expect {
    /// Anything.
    #[default]
    Anything,
    /// It contains this text.
    Text(Text),
    /// It has this SHA-256.
    Sha256([u8; 32]),
    /// It is the same as the body of the first reply.
    First,
}

impl Expect {
    /// Reads `text:TEXT`, `sha256:HEX` or `first`.
    pub fn parse(given: &str) -> Result<Self, Error> {
        let bad = |why: &str| Error::input("expectation", given, why);
        match given.split_once(':') {
            None if given == "first" => Ok(Self::First),
            Some(("text", "")) => Err(bad("the text is empty and would match every body")),
            Some(("text", text)) => Ok(Self::Text(Text::new(text.as_bytes()))),
            Some(("sha256", hex)) => parse_hash(hex)
                .map(Self::Sha256)
                .ok_or_else(|| bad("a SHA-256 is 64 hexadecimal digits, as printed by sha256sum")),
            _ => Err(bad("must be text:TEXT, sha256:HEX or first")),
        }
    }
}

fn parse_hash(hex: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (i, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(hash)
}

/// A text to look for, with its automaton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    text: Vec<u8>,
    /// How much of the text still matches after a mismatch behind `i` bytes.
    fallback: Vec<usize>,
}

impl Text {
    fn new(text: &[u8]) -> Self {
        let mut fallback = vec![0; text.len() + 1];
        let mut matched = 0;
        for i in 1..text.len() {
            while matched > 0 && text[i] != text[matched] {
                matched = fallback[matched];
            }
            matched += usize::from(text[i] == text[matched]);
            fallback[i + 1] = matched;
        }
        Self { text: text.to_vec(), fallback }
    }

    /// How much of the text matches after `bytes`, when `matched` did before.
    fn advance(&self, mut matched: usize, bytes: &[u8]) -> usize {
        for &byte in bytes {
            if matched == self.text.len() {
                break;
            }
            while matched > 0 && byte != self.text[matched] {
                matched = self.fallback[matched];
            }
            matched += usize::from(byte == self.text[matched]);
        }
        matched
    }
}

/// The check of one body.
#[derive(Clone)]
pub(crate) enum Check {
    Nothing,
    Text { matched: usize },
    Sha256(Box<Sha256>),
    Same(Box<Xxh3>),
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

impl Check {
    pub(crate) fn new(expect: &Expect) -> Self {
        match expect {
            Expect::Anything => Self::Nothing,
            Expect::Text(_) => Self::Text { matched: 0 },
            Expect::Sha256(_) => Self::Sha256(Box::default()),
            Expect::First => Self::Same(Box::new(Xxh3::new())),
        }
    }

    #[inline]
    pub(crate) fn update(&mut self, expect: &Expect, bytes: &[u8]) {
        match (self, expect) {
            (Self::Text { matched }, Expect::Text(text)) => {
                *matched = text.advance(*matched, bytes);
            }
            (Self::Sha256(hasher), _) => hasher.update(bytes),
            (Self::Same(hasher), _) => hasher.update(bytes),
            _ => {}
        }
    }

    /// Whether the body, now over, is what it should be. `first` is the hash
    /// of the first reply's body, set here when there was none yet.
    pub(crate) fn holds(self, expect: &Expect, first: &mut Option<u128>) -> bool {
        match (self, expect) {
            (Self::Text { matched }, Expect::Text(text)) => matched == text.text.len(),
            (Self::Sha256(hasher), Expect::Sha256(hash)) => hasher.finalize()[..] == hash[..],
            (Self::Same(hasher), _) => {
                let hash = hasher.digest128();
                *first.get_or_insert(hash) == hash
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn holds(expect: &Expect, first: &mut Option<u128>, parts: &[&[u8]]) -> bool {
        let mut check = Check::new(expect);
        for part in parts {
            check.update(expect, part);
        }
        check.holds(expect, first)
    }

    #[test]
    fn bodies_are_told_apart_by_hash_and_by_the_first() {
        let hello = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        let expect = Expect::parse(hello).unwrap();
        assert!(holds(&expect, &mut None, &[b"hel", b"lo"]));
        assert!(!holds(&expect, &mut None, &[b"hello "]));
        let mut first = None;
        assert!(holds(&Expect::First, &mut first, &[b"a", b"bc"]));
        assert!(holds(&Expect::First, &mut first, &[b"abc"]));
        assert!(!holds(&Expect::First, &mut first, &[b"abd"]));
        assert!(!holds(&Expect::First, &mut first, &[]));
    }

    #[test]
    fn expectations_that_cannot_be_meant_are_refused() {
        for given in ["", "text", "text:", "sha256:", "sha256:xyz", "md5:00", "First"] {
            assert!(Expect::parse(given).is_err(), "{given} was taken");
        }
        assert!(Expect::parse(&format!("sha256:{}", "é".repeat(32))).is_err());
    }

    proptest! {
        #[test]
        fn a_text_is_found_however_the_body_is_cut(
            body in "[ab]{0,40}", text in "[ab]{1,6}", cut in 0_usize..40,
        ) {
            let expect = Expect::parse(&format!("text:{text}")).unwrap();
            let (head, tail) = body.as_bytes().split_at(cut.min(body.len()));
            prop_assert_eq!(holds(&expect, &mut None, &[head, tail]), body.contains(&text));
        }
    }
}
