//! Quantities as people write them, and back: sizes, durations, shares; and words for a shell.
//!
//! Sizes are read with decimal (kB, MB) and binary (KiB, MiB) prefixes and
//! written exactly, so that what was written reads back as the same number.

mod limit;
mod shell;

use std::borrow::Borrow;
use std::time::Duration;

pub use limit::{Fails, Judgement, Limit, LimitError, Quantity, Range};
pub use shell::quoted;
use thiserror::Error;

/// Why a text is not a quantity.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UnitError {
    /// Not a size.
    #[error("`{0}` is not a size: write a number with B, kB, MB, GB, KiB, MiB or GiB, as in 70 B")]
    Size(String),
    /// Not a duration.
    #[error(
        "`{0}` is not a duration: write a number with ms, s, min or h, as in 60s; a \
             number by itself is seconds"
    )]
    Duration(String),
    /// Not a share.
    #[error("`{0}` is not a share: write a percentage between 0% and 1000%, as in 5%")]
    Share(String),
    /// A number that may be a fraction or a percentage.
    #[error("`{0}` may be meant as {1} or as {0}%: write it with a % sign")]
    Fraction(String, String),
}

const SIZE_UNITS: [(&str, u64); 11] = [
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("K", 1 << 10),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Reads a size in bytes: `70`, `70 B`, `4KiB`, `1.5 MiB`.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let fail = || UnitError::Size(text.to_owned());
    let (number, unit) = split_unit(text).ok_or_else(fail)?;
    let (_, factor) = SIZE_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(fail)?;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(*factor).ok_or_else(fail);
    }
    let bytes = number.parse::<f64>().map_err(|_| fail())? * *factor as f64;
    let whole_and_in_range = bytes.fract() == 0.0 && (0.0..9e15).contains(&bytes);
    if whole_and_in_range { Ok(bytes as u64) } else { Err(fail()) }
}

/// Writes a size exactly, in the largest unit that divides it: binary ones, and decimal ones of
/// large sizes.
pub fn exact_size(bytes: u64) -> String {
    let units = [
        ("GiB", 1_u64 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
    ];
    for (unit, factor) in units {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{} {unit}", bytes / factor);
        }
    }
    format!("{bytes} B")
}

/// Writes a size to about three digits, for people: `80.3 GB`.
pub fn rough_size(bytes: u64) -> String {
    let scaled = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]
        .into_iter()
        .find(|(_, factor)| bytes as f64 >= *factor * 0.9995);
    match scaled {
        Some((unit, factor)) => format!("{} {unit}", three_digits(bytes as f64 / factor)),
        None => format!("{bytes} B"),
    }
}

/// Reads a duration: `60s`, `1.5 min`, `250ms`, `1h`; a number by itself is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let fail = || UnitError::Duration(text.to_owned());
    let (number, unit) = split_unit(text).ok_or_else(fail)?;
    let factor_s = match unit {
        "ms" => 1e-3,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(fail()),
    };
    let seconds = number.parse::<f64>().map_err(|_| fail())? * factor_s;
    Duration::try_from_secs_f64(seconds).map_err(|_| fail())
}

/// Writes a duration so that [`parse_duration`] reads it back.
pub fn exact_duration(duration: Duration) -> String {
    let (millis, rest_ns) = (duration.as_millis(), duration.subsec_nanos() % 1_000_000);
    match (millis % 1000, rest_ns) {
        (0, 0) => format!("{}s", millis / 1000),
        (_, 0) => format!("{millis}ms"),
        _ => format!("{}ms", format!("{millis}.{rest_ns:06}").trim_end_matches('0')),
    }
}

/// Reads a share: `5%` is 0.05, and so is `5`. A number below 1 without its sign may be
/// meant either way, and is refused.
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    let fail = || UnitError::Share(text.to_owned());
    let text = text.trim();
    let signed = text.strip_suffix('%');
    let number = signed.unwrap_or(text).trim_end().parse::<f64>().map_err(|_| fail())?;
    let share = number / 100.0;
    if !(share.is_finite() && (0.0..=10.0).contains(&share)) {
        return Err(fail());
    }
    if signed.is_none() && number > 0.0 && number < 1.0 {
        return Err(UnitError::Fraction(text.to_owned(), percent(number)));
    }
    Ok(share)
}

/// Writes a share as a percentage: `5%`, `0.5%`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let text = if (99.85..99.995).contains(&value.abs()) {
        format!("{value:.2}")
    } else if (98.5..99.85).contains(&value.abs()) {
        format!("{value:.1}")
    } else if value.abs() >= 9.95 || value == 0.0 {
        format!("{value:.0}")
    } else if value.abs() >= 0.0995 {
        format!("{value:.1}")
    } else {
        significant(value, 1)
    };
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    format!("{text}%")
}

/// Writes nanoseconds to three digits in the unit that suits: `291 ns`, `1.93 µs`.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        n if n < 999.5 => (ns, "ns"),
        n if n < 999.5e3 => (ns / 1e3, "µs"),
        n if n < 999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// `a`, `a or b`, `a, b or c`.
pub fn listed<S: Borrow<str>>(words: &[S], joint: &str) -> String {
    match words {
        [] => String::new(),
        [only] => only.borrow().to_owned(),
        [most @ .., last] => format!("{} {joint} {}", most.join(", "), last.borrow()),
    }
}

/// A text that begins with a capital.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A number of things with their name, which gets an s where it is not one.
pub fn counted(number: u64, name: &str) -> String {
    counted_as(number, name, &format!("{name}s"))
}

/// The same of things whose plural is not formed by an s.
pub fn counted_as(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// Writes a count with thousands set apart: `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Three significant digits without an exponent.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        _ => significant(value, 2),
    }
}

/// Writes two significant digits without an exponent: what is known no better.
pub fn two_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.5 => {
            let unit = 10_f64.powf(v.log10().floor() - 1.0);
            format!("{:.0}", (value / unit).round() * unit)
        }
        v if v >= 9.95 => format!("{value:.0}"),
        v if v >= 0.995 => format!("{value:.1}"),
        _ => significant(value, 2),
    }
}

fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = |value: f64| value.abs().log10().floor();
    // 0.0998 to two digits is 0.10, whose first digit is a place further left.
    let unit = 10_f64.powf(magnitude(value) - (digits as f64 - 1.0));
    let rounded = (value / unit).round() * unit;
    let leading_zeros = (-magnitude(rounded)).max(0.0) as usize;
    format!("{rounded:.*}", leading_zeros + digits - 1)
}

/// Splits `1.5 MiB` into its number and its unit.
fn split_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (!number.is_empty()).then_some((number, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_back_as_they_were_written() {
        for bytes in [0, 1, 70, 1023, 1024, 8193, 1 << 20, 3 << 20, (1 << 30) + 1] {
            assert_eq!(parse_size(&exact_size(bytes)), Ok(bytes));
        }
        let written = [16 << 30, 200_000_000_000, 500_000_000, 512_000].map(exact_size);
        assert_eq!(written, ["16 GiB", "200 GB", "500 MB", "500 KiB"]);
        assert_eq!(parse_size("1.5 KiB"), Ok(1536));
        assert_eq!(parse_size("2 MB"), Ok(2_000_000));
        for bad in ["", "B", "-1 B", "70 X", "0.3 B", "1e3", "99999999999 GiB", "1 mb"] {
            assert!(parse_size(bad).is_err(), "{bad} was read as a size");
        }
    }

    #[test]
    fn durations_and_shares() {
        assert_eq!(parse_duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_duration("1.5 min"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        for text in ["60s", "250ms", "1.5ms", "0.05ms", "1000.000001ms", "0s"] {
            assert_eq!(parse_duration(text).map(exact_duration).as_deref(), Ok(text));
        }
        assert_eq!(parse_duration("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_duration("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["", "-1s", "-1", "s", "1 day", "nan s", "1e400s", "1e3"] {
            assert!(parse_duration(bad).is_err(), "{bad} was read as a duration");
        }
        assert_eq!(parse_share("5%"), Ok(0.05));
        assert_eq!(parse_share("0.5 %"), Ok(0.005));
        assert_eq!(parse_share("10"), Ok(0.1));
        assert_eq!(parse_share("1"), Ok(0.01));
        assert_eq!(parse_share("0"), Ok(0.0));
        let either = UnitError::Fraction("0.05".to_owned(), "5%".to_owned());
        assert_eq!(parse_share("0.05"), Err(either));
        for bad in ["-5", "-5%", "%", "", "nan%", "inf", "2000%", "2000"] {
            assert!(parse_share(bad).is_err(), "{bad} was read as a share");
        }
    }

    #[test]
    fn quantities_read_well() {
        assert_eq!(time(290.6), "291 ns");
        assert_eq!(time(1930.0), "1.93 µs");
        assert_eq!(time(12.34e6), "12.3 ms");
        assert_eq!(time(0.05), "0.050 ns");
        assert_eq!(time(999.7), "1.00 µs");
        assert_eq!(percent(0.05), "5%");
        assert_eq!(percent(0.1649), "16%");
        assert_eq!(percent(0.005), "0.5%");
        assert_eq!(percent(0.00005), "0.005%");
        assert_eq!(percent(0.9974), "99.7%");
        assert_eq!(percent(0.99946), "99.95%");
        assert_eq!(percent(1.0), "100%");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(three_digits(0.0998), "0.10");
        assert_eq!(three_digits(0.0571), "0.057");
        assert_eq!(rough_size(85_899_345_920), "85.9 GB");
        assert_eq!(rough_size(999_999), "1.00 MB");
    }

    #[test]
    fn two_digits_are_two_whatever_the_size() {
        let told = [0.00983, 0.0473, 0.129, 0.5, 0.997, 1.956, 9.96, 12.34, 99.7, 619.2];
        let expected = ["0.0098", "0.047", "0.13", "0.50", "1.0", "2.0", "10", "12", "100", "620"];
        assert_eq!(told.map(two_digits), expected);
    }
}
