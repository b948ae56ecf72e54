//! Whether figures that come from elsewhere can be added up, and texts be shown.
//!
//! What is measured is far from the end of 64 bits, and adding it up takes that for
//! granted. A record comes from a file, in which anything may stand: it is held against
//! this once, when it is read, rather than in each of the sums.

use std::cell::Cell;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// What all whole numbers of a record may come to. A day of a machine with 256 processors
/// and a terabyte of memory comes to 2^60; what is added up more than once needs the rest.
const SUM_MAX: u64 = 1 << 62;

/// What a text of a record may have: as much as a plan file, in which the longest are written.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// What is wrong with a record whose whole numbers cannot be added up, or whose texts are too
/// long.
pub fn check(record: &impl Serialize) -> Result<(), String> {
    if of(record).sum.get() > SUM_MAX {
        return Err("its figures are larger than anything that can be measured".to_owned());
    }
    check_texts(record)
}

/// What is wrong with a record whose texts are too long.
pub fn check_texts(record: &impl Serialize) -> Result<(), String> {
    match of(record).longest_text.get() {
        ..=TEXT_BYTES_MAX => Ok(()),
        longest => Err(format!(
            "it has a text of {longest} bytes, but at most {TEXT_BYTES_MAX} are allowed"
        )),
    }
}

fn of(record: &impl Serialize) -> Adding {
    let adding = Adding::default();
    // It only fails where a map has keys that are no texts, which no record has.
    let _ = record.serialize(&mut Serializer::with_formatter(io::sink(), &adding));
    adding
}

/// Writes JSON to nowhere, and looks at what it has.
#[derive(Default)]
struct Adding {
    /// The whole numbers, all but those below 0.
    sum: Cell<u64>,
    text: Cell<usize>,
    /// The bytes of the longest text.
    longest_text: Cell<usize>,
}

impl Adding {
    fn add(&self, number: u64) {
        self.sum.set(self.sum.get().saturating_add(number));
    }
}

impl Formatter for &Adding {
    fn begin_string<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.text.set(0);
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.text.set(self.text.get() + fragment.len());
        self.longest_text.set(self.longest_text.get().max(self.text.get()));
        Ok(())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, _: &mut W, _: CharEscape) -> io::Result<()> {
        self.text.set(self.text.get() + 1);
        self.longest_text.set(self.longest_text.get().max(self.text.get()));
        Ok(())
    }

    fn write_u8<W: ?Sized + Write>(&mut self, _: &mut W, value: u8) -> io::Result<()> {
        self.add(value.into());
        Ok(())
    }

    fn write_u16<W: ?Sized + Write>(&mut self, _: &mut W, value: u16) -> io::Result<()> {
        self.add(value.into());
        Ok(())
    }

    fn write_u32<W: ?Sized + Write>(&mut self, _: &mut W, value: u32) -> io::Result<()> {
        self.add(value.into());
        Ok(())
    }

    fn write_u64<W: ?Sized + Write>(&mut self, _: &mut W, value: u64) -> io::Result<()> {
        self.add(value);
        Ok(())
    }

    fn write_i64<W: ?Sized + Write>(&mut self, _: &mut W, value: i64) -> io::Result<()> {
        self.add(value.try_into().unwrap_or_default());
        Ok(())
    }

    /// Nothing: what has a point is no count of anything, and to find its digits takes long.
    fn write_f64<W: ?Sized + Write>(&mut self, _: &mut W, _: f64) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sum_of(record: &impl Serialize) -> u64 {
        of(record).sum.get()
    }

    #[test]
    fn whole_numbers_are_added_up_and_nothing_else_is() {
        let value = json!([1, 20, { "3": 4 }, 5.5, -6, 7e2, "8\"9", true, null, 300]);
        assert_eq!(sum_of(&value), 325);
        assert_eq!(sum_of(&[u64::MAX]), u64::MAX);
        assert_eq!(sum_of(&[u64::MAX, 9]), u64::MAX);
        assert_eq!(sum_of(&(1_u8, 2_u16, 3_u32, 4_usize, -5_i64, Value::Null)), 10);
    }

    #[test]
    fn figures_that_cannot_be_added_up_are_refused() {
        assert!(check(&[SUM_MAX / 2; 2]).is_ok());
        assert!(check(&[SUM_MAX / 2, SUM_MAX / 2, 1]).is_err());
        assert!(check(&[1e300]).is_ok());
    }

    #[test]
    fn a_text_that_is_too_long_is_refused() {
        let long = "a\n".repeat(TEXT_BYTES_MAX / 2);
        assert!(check_texts(&[&long, &long]).is_ok());
        for why in [check(&json!({ "a": [long.clone() + "b"] })), check_texts(&[long + "\n"])] {
            assert!(why.is_err_and(|why| why.contains("at most 262144")));
        }
    }
}
