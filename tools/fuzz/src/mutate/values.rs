//! Numbers at the edges of their types, and hostile texts.

use std::sync::LazyLock;

use rand::Rng;
use rand::seq::IndexedRandom as _;
use serde_json::{Number, Value};

/// Hostile texts: sequences of a terminal, lines that look like ours, markup, formulas of
/// spreadsheets, and letters that turn the direction of writing.
pub const PAYLOADS: &[&str] = &[
    "",
    " ",
    "\u{1b}]0;PLANTED\u{7}\u{1b}[31mX\u{9b}2J\rY",
    "a\n::error title=PLANTED::b\n# PLANTED\n| PLANTED | b |",
    "PLANTED\r\n::set-output name=PLANTED::x",
    "<img src=x onerror=PLANTED></script><script>PLANTED</script>\"'><!-- ]]>",
    "[x](javascript:PLANTED) ![i](http://PLANTED/x.png) `a`|b *c* _d_",
    "=cmd|' /C PLANTED'!A0",
    "x\"} 1\n# EOF\nPLANTED 1",
    "\u{202e}PLANTED\u{2066}\u{200b}\u{feff}\u{e0041}",
    "\0",
    "/dev/../proc/self/mem",
    "{plan}{port}{}",
    "%s%n–−×\u{1f600}\u{301}",
    "a=b,c:d@e;f|g",
    "nan",
    "log/held@disk",
    "18446744073709551616",
    "1e999",
    "0 B..0 B",
];

/// Numbers as a text has them.
pub static NUMBERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let others = ["0.5", "1e-320", "1e308", "-1e308", "1e999", "00"].map(str::to_owned);
    WHOLE.iter().map(i128::to_string).chain(others).collect()
});

const WHOLE: &[i128] = &[
    0,
    1,
    2,
    3,
    10,
    255,
    256,
    1000,
    65_535,
    65_536,
    1_000_000,
    1_000_000_000,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    86_400_000_000_000,
    1 << 53,
    (1 << 53) + 1,
    1 << 60,
    1 << 61,
    1 << 62,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    1 << 64,
    -1,
    -2,
    -100,
    -4096,
    -(1 << 31),
    -(1 << 63),
];

const FRACTIONS: &[f64] = &[
    0.0,
    -0.0,
    f64::from_bits(1),
    1e-310,
    f64::MIN_POSITIVE,
    1e-300,
    1e-9,
    0.01,
    0.5,
    0.999_999_999_999,
    1.0,
    1.000_000_000_001,
    2.0,
    1e3,
    1e9,
    9_007_199_254_740_992.0,
    1e15,
    18_446_744_073_709_551_615.0,
    1e300,
    1e308,
    f64::MAX,
    -1.0,
    -1e9,
    -1e308,
    f64::MIN,
];

/// A whole number at an edge of its type, or near the number before. A schema names the type as
/// `format`.
pub fn whole(format: Option<&str>, before: Option<&Number>, random: &mut impl Rng) -> Value {
    let (low, high) = range(format);
    let edges: Vec<i128> =
        WHOLE.iter().copied().chain([low, high]).filter(|n| (low..=high).contains(n)).collect();
    let before = before.and_then(Number::as_i128).filter(|_| random.random_ratio(1, 4));
    let number = match before {
        // Sums overflow there first.
        None if random.random_ratio(1, 3) => high,
        Some(before) => match random.random_range(0..5) {
            0 => before + 1,
            1 => before - 1,
            2 => before * 2,
            3 => before / 2,
            _ => before * 1000,
        },
        None => edges.choose(random).copied().unwrap_or_default(),
    };
    Number::from_i128(number.clamp(low, high)).map_or(Value::Null, Value::Number)
}

/// The lowest or the highest number of a type.
pub(super) fn end(format: Option<&str>, is_whole: bool, is_high: bool) -> Value {
    let (low, high) = range(format);
    let whole = || Number::from_i128(if is_high { high } else { low });
    let fraction = || Number::from_f64(if is_high { f64::MAX } else { 0.0 });
    (if is_whole { whole() } else { fraction() }).map_or(Value::Null, Value::Number)
}

/// The numbers that a type holds; for an unknown one, all that JSON holds.
fn range(format: Option<&str>) -> (i128, i128) {
    match format {
        Some("uint8") => (0, u8::MAX.into()),
        Some("uint16") => (0, u16::MAX.into()),
        Some("uint32") => (0, u32::MAX.into()),
        Some("uint" | "uint64") => (0, u64::MAX.into()),
        Some("int8") => (i8::MIN.into(), i8::MAX.into()),
        Some("int16") => (i16::MIN.into(), i16::MAX.into()),
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("int" | "int64") => (i64::MIN.into(), i64::MAX.into()),
        _ => (i64::MIN.into(), u64::MAX.into()),
    }
}

/// A number with a point.
pub fn fraction(before: Option<f64>, random: &mut impl Rng) -> Value {
    let before = before.filter(|_| random.random_ratio(1, 4));
    let number = match before {
        Some(before) => {
            let factors = [-1.0, 0.1, 0.999, 1.001, 10.0, 1e9, 1e200, 1e-200];
            before * factors.choose(random).copied().unwrap_or(1.0)
        }
        None => FRACTIONS.choose(random).copied().unwrap_or_default(),
    };
    Number::from_f64(number).map_or_else(|| Value::from(f64::MAX), Value::Number)
}

/// A hostile text, a word that the parser knows, or a very long text.
pub fn text(words: &[&str], random: &mut impl Rng) -> String {
    match random.random_range(0..10) {
        0 => "long ".repeat(random.random_range(1..4000)),
        1..5 => (*words.choose(random).unwrap_or(&"x")).to_owned(),
        5 => {
            let some = [words, PAYLOADS].map(|of| of.choose(random).copied().unwrap_or_default());
            some.concat()
        }
        _ => (*PAYLOADS.choose(random).unwrap_or(&"")).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn whole_numbers_reach_both_ends_of_their_type_and_never_leave_it() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for (format, low, high) in [
            ("uint8", 0, i128::from(u8::MAX)),
            ("uint64", 0, i128::from(u64::MAX)),
            ("int32", i128::from(i32::MIN), i128::from(i32::MAX)),
        ] {
            let before = Number::from(7);
            let all: Vec<i128> = (0..2000)
                .map(|_| whole(Some(format), Some(&before), &mut random))
                .filter_map(|value| value.as_number().and_then(Number::as_i128))
                .collect();
            assert_eq!(all.len(), 2000);
            assert_eq!((all.iter().min(), all.iter().max()), (Some(&low), Some(&high)));
        }
    }

    #[test]
    fn fractions_are_numbers_that_a_file_can_have() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for before in [None, Some(1e300), Some(0.0)] {
            assert!((0..500).all(|_| fraction(before, &mut random).is_number()));
        }
    }
}
