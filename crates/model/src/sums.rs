//! Whether figures that come from elsewhere can be added up.
//!
//! What is measured is far from the end of 64 bits, and adding it up takes that for
//! granted. A record comes from a file, in which anything may stand: it is held against
//! this once, when it is read, rather than in each of the sums.

use std::io;

use serde::Serialize;

/// What all whole numbers of a record may come to. A day of a machine with 256 processors
/// and a terabyte of memory comes to 2^60; what is added up more than once needs the rest.
const SUM_MAX: u64 = 1 << 62;

/// What is wrong with a record whose whole numbers cannot be added up.
pub fn check(record: &impl Serialize) -> Result<(), String> {
    let mut sum = Sum::default();
    // It only fails where a map has keys that are no texts, which no record has.
    let _ = serde_json::to_writer(&mut sum, record);
    sum.end_number();
    if sum.total <= SUM_MAX {
        Ok(())
    } else {
        Err("its figures are larger than anything that can be measured".to_owned())
    }
}

/// Adds up the whole numbers of the JSON that is written to it.
#[derive(Default)]
struct Sum {
    total: u64,
    number: Option<u64>,
    is_fraction: bool,
    in_text: bool,
    is_escaped: bool,
}

impl Sum {
    fn byte(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = self.in_text,
            b'"' => self.in_text = !self.in_text,
            _ if self.in_text => {}
            b'0'..=b'9' => {
                let before = self.number.unwrap_or_default();
                let digit = u64::from(byte - b'0');
                self.number = Some(before.saturating_mul(10).saturating_add(digit));
            }
            b'.' | b'e' | b'E' | b'-' | b'+' => self.is_fraction = true,
            _ => self.end_number(),
        }
    }

    /// What has a sign, a point or an exponent is no count of anything.
    fn end_number(&mut self) {
        let number = self.number.take().filter(|_| !self.is_fraction);
        self.total = self.total.saturating_add(number.unwrap_or_default());
        self.is_fraction = false;
    }
}

impl io::Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.byte(*byte);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(json: &str) -> u64 {
        let mut sum = Sum::default();
        for byte in json.bytes() {
            sum.byte(byte);
        }
        sum.end_number();
        sum.total
    }

    #[test]
    fn whole_numbers_are_added_up_and_nothing_else_is() {
        assert_eq!(sum(r#"[1,20,{"3":4},5.5,-6,7e2,"8\"9",true,null,300]"#), 325);
        assert_eq!(sum("18446744073709551615"), u64::MAX);
        assert_eq!(sum("[18446744073709551615,99999999999999999999]"), u64::MAX);
    }

    #[test]
    fn figures_that_cannot_be_added_up_are_refused() {
        assert!(check(&[SUM_MAX / 2; 2]).is_ok());
        assert!(check(&[SUM_MAX / 2, SUM_MAX / 2, 1]).is_err());
        assert!(check(&[1e300]).is_ok());
    }
}
