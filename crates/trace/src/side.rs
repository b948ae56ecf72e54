//! The two sides of a trace: one writes fields, the other reads them. Both follow one description
//! of the fields. Numbers take as few bytes as they need (LEB128); signed ones are zigzag first.

use std::sync::Arc;

/// The longest a number becomes.
const BYTES_MAX: u32 = 10;

/// Appends fields, or takes them from the front and sets them to what was appended; none where no
/// such field was appended.
pub(crate) trait Side {
    /// Whether it takes fields.
    const TAKES: bool;

    fn byte(&mut self, byte: &mut u8) -> Option<()>;

    fn number(&mut self, number: &mut u64) -> Option<()>;

    /// Any bytes, behind how many there are.
    fn bytes(&mut self, bytes: &mut Arc<[u8]>) -> Option<()>;

    fn numbers<const N: usize>(&mut self, numbers: [&mut u64; N]) -> Option<()> {
        numbers.into_iter().try_for_each(|number| self.number(number))
    }

    /// A number of 32 bits.
    fn half(&mut self, number: &mut u32) -> Option<()> {
        let mut wide = u64::from(*number);
        self.number(&mut wide)?;
        *number = u32::try_from(wide).ok()?;
        Some(())
    }

    fn signed_half(&mut self, number: &mut i32) -> Option<()> {
        let mut bits = number.cast_unsigned();
        self.half(&mut bits)?;
        *number = bits.cast_signed();
        Some(())
    }

    /// Short where `now` is near `before`, above it or below, which both sides know.
    fn difference(&mut self, now: &mut u64, before: u64) -> Option<()> {
        let difference = now.wrapping_sub(before).cast_signed();
        let mut zigzag = ((difference << 1) ^ (difference >> 63)).cast_unsigned();
        self.number(&mut zigzag)?;
        let difference = (zigzag >> 1) ^ (zigzag & 1).wrapping_neg();
        *now = before.wrapping_add(difference);
        Some(())
    }

    fn signed_difference(&mut self, now: &mut i64, before: i64) -> Option<()> {
        let mut bits = now.cast_unsigned();
        self.difference(&mut bits, before.cast_unsigned())?;
        *now = bits.cast_signed();
        Some(())
    }

    /// That of two numbers of fewer bits.
    fn narrow_difference<T>(&mut self, now: &mut T, before: T) -> Option<()>
    where
        T: Copy + Into<i64> + TryFrom<i64>,
    {
        let mut wide = (*now).into();
        self.signed_difference(&mut wide, before.into())?;
        *now = T::try_from(wide).ok()?;
        Some(())
    }
}

impl Side for Vec<u8> {
    const TAKES: bool = false;

    fn byte(&mut self, byte: &mut u8) -> Option<()> {
        self.push(*byte);
        Some(())
    }

    fn number(&mut self, number: &mut u64) -> Option<()> {
        let mut rest = *number;
        while rest >= 0x80 {
            self.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.push(rest as u8);
        Some(())
    }

    fn bytes(&mut self, bytes: &mut Arc<[u8]>) -> Option<()> {
        self.number(&mut (bytes.len() as u64))?;
        self.extend_from_slice(bytes);
        Some(())
    }
}

impl Side for &[u8] {
    const TAKES: bool = true;

    fn byte(&mut self, byte: &mut u8) -> Option<()> {
        *byte = *self.split_off_first()?;
        Some(())
    }

    /// None where it is cut or longer than any.
    fn number(&mut self, number: &mut u64) -> Option<()> {
        *number = 0;
        for place in 0..BYTES_MAX {
            let byte = *self.split_off_first()?;
            let bits = u64::from(byte & 0x7f);
            let shifted = bits << (7 * place);
            if shifted >> (7 * place) != bits {
                return None;
            }
            *number |= shifted;
            if byte & 0x80 == 0 {
                return Some(());
            }
        }
        None
    }

    fn bytes(&mut self, bytes: &mut Arc<[u8]>) -> Option<()> {
        let mut length = 0;
        self.number(&mut length)?;
        *bytes = self.split_off(..usize::try_from(length).ok()?)?.into();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn taken(mut bytes: &[u8]) -> Option<u64> {
        let mut number = 0;
        bytes.number(&mut number)?;
        bytes.is_empty().then_some(number)
    }

    #[test]
    fn every_length_comes_back_and_takes_no_more_than_it_needs() {
        for bits in 0..=64 {
            let mut number = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
            let mut out = Vec::new();
            out.number(&mut number).unwrap();
            assert_eq!(out.len(), bits.max(1_usize).div_ceil(7));
            assert_eq!(taken(&out), Some(number));
            assert_eq!(taken(&out[..out.len() - 1]), None);
        }
    }

    #[test]
    fn differences_of_any_two_numbers_come_back() {
        let numbers = [0, 1, 63, 64, 1 << 31, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX];
        for (now, before) in numbers.iter().flat_map(|a| numbers.map(|b| (*a, b))) {
            let (mut out, mut there, mut back) = (Vec::new(), now, 7);
            out.difference(&mut there, before).unwrap();
            (&out[..]).difference(&mut back, before).unwrap();
            assert_eq!([there, back], [now; 2]);
        }
        let mut out = Vec::new();
        out.difference(&mut 100, 163).unwrap();
        assert_eq!(out.len(), 1);
    }

    #[test]
    fn numbers_that_fit_nowhere_are_refused() {
        assert_eq!(taken(&[0xff; 11]), None);
        assert_eq!(taken(&[[0xff; 9].as_slice(), &[0x02]].concat()), None);
        assert_eq!(taken(&[[0xff; 9].as_slice(), &[0x01]].concat()), Some(u64::MAX));
    }
}
