//! Whether figures that come from elsewhere can be added up.
//!
//! What is measured is far from the end of 64 bits, and adding it up takes that for
//! granted. A record comes from a file, in which anything may stand: it is held against
//! this once, when it is read, rather than in each of the sums.

use std::cell::Cell;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// What all whole numbers of a record may come to. A day of a machine with 256 processors
/// and a terabyte of memory comes to 2^60; what is added up more than once needs the rest.
const SUM_MAX: u64 = 1 << 62;

/// What is wrong with a record whose whole numbers cannot be added up.
pub fn check(record: &impl Serialize) -> Result<(), String> {
    if sum(record) <= SUM_MAX {
        Ok(())
    } else {
        Err("its figures are larger than anything that can be measured".to_owned())
    }
}

/// What its whole numbers come to, all but those below 0.
fn sum(record: &impl Serialize) -> u64 {
    let total = Cell::new(0);
    let mut adding = Serializer::with_formatter(io::sink(), Adding(&total));
    // It only fails where a map has keys that are no texts, which no record has.
    let _ = record.serialize(&mut adding);
    total.get()
}

/// Writes JSON to nowhere, and adds up its whole numbers.
struct Adding<'a>(&'a Cell<u64>);

impl Adding<'_> {
    fn add(&self, number: u64) {
        self.0.set(self.0.get().saturating_add(number));
    }
}

impl Formatter for Adding<'_> {
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

    #[test]
    fn whole_numbers_are_added_up_and_nothing_else_is() {
        let value = json!([1, 20, { "3": 4 }, 5.5, -6, 7e2, "8\"9", true, null, 300]);
        assert_eq!(sum(&value), 325);
        assert_eq!(sum(&[u64::MAX]), u64::MAX);
        assert_eq!(sum(&[u64::MAX, 9]), u64::MAX);
        assert_eq!(sum(&(1_u8, 2_u16, 3_u32, 4_usize, -5_i64, Value::Null)), 10);
    }

    #[test]
    fn figures_that_cannot_be_added_up_are_refused() {
        assert!(check(&[SUM_MAX / 2; 2]).is_ok());
        assert!(check(&[SUM_MAX / 2, SUM_MAX / 2, 1]).is_err());
        assert!(check(&[1e300]).is_ok());
    }
}
