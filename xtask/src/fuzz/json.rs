//! Changes to JSON that leave it JSON: values are exchanged, lost and doubled.

use std::ops::Range;

use rand::Rng;
use rand::seq::IndexedRandom as _;

use super::change::{BYTES_MAX, NUMBERS};

/// Texts at which something may happen.
const TEXTS: [&str; 10] = [
    r#""""#,
    r#"" ""#,
    r#""\u001b[41mX\u0007""#,
    r#""a\nPLANTED""#,
    r#""\u202eb\u2066""#,
    r#""{x}""#,
    r#""@/(=,)""#,
    r#""\ud83d\ude00\u0301""#,
    r#""\u0000""#,
    r#""%s–−×""#,
];

/// Counts, times and indexes.
const WHOLE: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "1000",
    "1000000",
    "1000000000",
    "86400000000000",
    "9007199254740993",
    "1152921504606846976",
    "4611686018427387904",
];
/// Times, shares and ratios.
const FRACTIONS: &[&str] =
    &["0.0", "0.5", "1.0", "1e-320", "1e-9", "1e9", "1e15", "1e300", "-0.1", "-1e300"];

/// Changes one value of an input; leaves alone what is not JSON.
pub(super) fn change(input: &mut Vec<u8>, words: &[&str], random: &mut impl Rng) {
    let Some(chosen) = choose(input, random) else { return };
    let value = chosen.value.clone();
    match random.random_range(0..10) {
        0 => remove(input, &chosen),
        1 => {
            let copy = [b",", &input[value.clone()]].concat();
            if chosen.in_list && input.len() + copy.len() < BYTES_MAX {
                input.splice(value.end..value.end, copy);
            }
        }
        2 => {
            let other = choose(input, random).map_or_else(Vec::new, |o| input[o.value].to_vec());
            if !other.is_empty() && input.len() + other.len() < BYTES_MAX {
                input.splice(value, other);
            }
        }
        3 => replace(input, value, ["null", "[]", "{}", "true", "false"].choose(random)),
        4 => {
            let text = format!("\"{}\"", words.choose(random).unwrap_or(&"x"));
            input.splice(value, text.into_bytes());
        }
        5 if input[value.start] == b'"' => {
            let long = format!("\"{}\"", "long ".repeat(random.random_range(1..2000)));
            input.splice(value, long.into_bytes());
        }
        _ => match input[value.start] {
            b'"' => replace(input, value, TEXTS.choose(random)),
            b'{' | b'[' => {}
            // Mostly of the same kind, for others are refused when they are read.
            b'0'..=b'9' if random.random_ratio(4, 5) => {
                let is_whole = input[value.clone()].iter().all(u8::is_ascii_digit);
                let some = if is_whole { WHOLE } else { FRACTIONS };
                replace(input, value, some.choose(random));
            }
            _ => replace(input, value, NUMBERS[..NUMBERS.len() - 2].choose(random)),
        },
    }
}

fn replace(input: &mut Vec<u8>, value: Range<usize>, by: Option<&&str>) {
    input.splice(value, by.unwrap_or(&"null").bytes());
}

/// A value and where it stands.
struct Chosen {
    /// With its key, where it has one.
    whole: Range<usize>,
    value: Range<usize>,
    in_list: bool,
}

/// Goes down from the top by chance, so that what stands among few is chosen as often as
/// what stands among thousands.
fn choose(input: &[u8], random: &mut impl Rng) -> Option<Chosen> {
    let end = skip_value(input, 0)?;
    let mut chosen = Chosen { whole: 0..end, value: 0..end, in_list: false };
    loop {
        let children = children(input, chosen.value.clone())?;
        let Some(child) = children.into_iter().reduce_by_chance(random) else {
            return Some(chosen);
        };
        chosen = child;
        if random.random_ratio(1, 8) {
            return Some(chosen);
        }
    }
}

trait ByChance: Iterator + Sized {
    fn reduce_by_chance(self, random: &mut impl Rng) -> Option<Self::Item>;
}

impl<I: ExactSizeIterator> ByChance for I {
    fn reduce_by_chance(mut self, random: &mut impl Rng) -> Option<Self::Item> {
        let among = self.len();
        if among == 0 { None } else { self.nth(random.random_range(0..among)) }
    }
}

/// What is right within a list or an object; nothing where it is neither.
fn children(input: &[u8], value: Range<usize>) -> Option<Vec<Chosen>> {
    let mut children = Vec::new();
    let opening = *input.get(value.start)?;
    if opening != b'[' && opening != b'{' {
        return Some(children);
    }
    let mut at = skip_blanks(input, value.start + 1);
    while !matches!(input.get(at)?, b']' | b'}') {
        let start = at;
        if opening == b'{' {
            at = skip_blanks(input, skip_text(input, at)?);
            at = skip_blanks(input, (input.get(at)? == &b':').then_some(at + 1)?);
        }
        let end = skip_value(input, at)?;
        let in_list = opening == b'[';
        children.push(Chosen { whole: start..end, value: at..end, in_list });
        at = skip_blanks(input, end);
        if input.get(at)? == &b',' {
            at = skip_blanks(input, at + 1);
        }
    }
    Some(children)
}

/// Takes a value out, with its key and a comma.
fn remove(input: &mut Vec<u8>, chosen: &Chosen) {
    let Range { mut start, mut end } = chosen.whole;
    let after = skip_blanks(input, end);
    if input.get(after) == Some(&b',') {
        end = after + 1;
    } else if let Some(comma) = input[..start].iter().rposition(|b| !b.is_ascii_whitespace())
        && input[comma] == b','
    {
        start = comma;
    }
    input.drain(start..end);
}

fn skip_blanks(input: &[u8], at: usize) -> usize {
    let rest = input.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

fn skip_text(input: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match input.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Where a value ends, without looking whether it is one.
fn skip_value(input: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match *input.get(at)? {
            b'"' => at = skip_text(input, at)?,
            b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' | b' ' | b'\n' if depth > 0 => {
                at += 1;
                continue;
            }
            _ => {
                let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\n');
                at += input[at..].iter().position(ends).unwrap_or(input.len() - at).max(1);
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;
    use serde_json::Value;

    use super::*;

    #[test]
    fn json_stays_json_and_every_value_is_changed_at_some_time() {
        let text = r#"{"a": [1, 22, "x\"]"], "b": {"c": null, "d": -1.5e3}, "e": "f"}"#;
        let plain: Value = serde_json::from_str(text).unwrap();
        let mut changed =
            [("/a", 0), ("/a/1", 0), ("/a/2", 0), ("/b/c", 0), ("/b/d", 0), ("/e", 0)];
        for seed in 0..2000 {
            let mut input = text.as_bytes().to_vec();
            change(&mut input, &["word"], &mut ChaCha8Rng::seed_from_u64(seed));
            let shown = String::from_utf8_lossy(&input).into_owned();
            // A number too large for a float is all that may be wrong.
            match serde_json::from_slice::<Value>(&input) {
                Ok(value) => {
                    for (at, times) in &mut changed {
                        *times += u32::from(value.pointer(at) != plain.pointer(at));
                    }
                }
                Err(error) => assert!(error.to_string().contains("out of range"), "{shown}"),
            }
        }
        assert!(changed.iter().all(|(_, times)| *times > 20), "{changed:?}");
    }
}
