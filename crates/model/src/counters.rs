//! Structs of counters that can be added up and subtracted, field by field.

use serde::{Deserialize, Serialize};

/// Something that counts up, so that two readings have a difference and two
/// spans have a sum.
pub trait Counters: Copy {
    /// Both spans together.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// What passed since an earlier reading.
    #[must_use]
    fn since(self, earlier: Self) -> Self;

    /// Part `at`, from 0, of `all` parts that add up to this and differ by 1 at most.
    #[must_use]
    fn part(self, at: u64, all: u64) -> Self;
}

impl Counters for u64 {
    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }

    fn since(self, earlier: Self) -> Self {
        self.saturating_sub(earlier)
    }

    fn part(self, at: u64, all: u64) -> Self {
        self / all + u64::from(at < self % all)
    }
}

/// Known only where both sides know it.
impl<T: Counters> Counters for Option<T> {
    fn plus(self, other: Self) -> Self {
        self.zip(other).map(|(a, b)| a.plus(b))
    }

    fn since(self, earlier: Self) -> Self {
        self.zip(earlier).map(|(now, then)| now.since(then))
    }

    fn part(self, at: u64, all: u64) -> Self {
        self.map(|whole| whole.part(at, all))
    }
}

/// A level rather than a count: the state at the end of a span, and of several
/// spans the highest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Level(pub u64);

impl Counters for Level {
    fn plus(self, other: Self) -> Self {
        self.max(other)
    }

    fn since(self, _earlier: Self) -> Self {
        self
    }

    fn part(self, _at: u64, _all: u64) -> Self {
        self
    }
}

/// Declares structs of [`Counters`], and implements that trait for them. Each field is named
/// once, so that no sum or difference can forget it.
#[macro_export]
macro_rules! counters {
    ($(
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$field_about:meta])* pub $field:ident: $kind:ty,)*
        }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            $($(#[$field_about])* pub $field: $kind,)*
        }

        impl $crate::counters::Counters for $name {
            fn plus(self, other: Self) -> Self {
                Self { $($field: $crate::counters::Counters::plus(self.$field, other.$field),)* }
            }

            fn since(self, earlier: Self) -> Self {
                Self { $($field: $crate::counters::Counters::since(self.$field, earlier.$field),)* }
            }

            fn part(self, at: u64, all: u64) -> Self {
                Self { $($field: $crate::counters::Counters::part(self.$field, at, all),)* }
            }
        }
    )*};
}

/// All of them together; nothing where there are none.
pub fn sum<T: Counters + Default>(all: impl IntoIterator<Item = T>) -> T {
    all.into_iter().reduce(Counters::plus).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_does_not_know_is_not_known_of_both() {
        assert_eq!(Some(2_u64).plus(Some(3)), Some(5));
        assert_eq!(Some(2_u64).plus(None), None);
        assert_eq!(Some(5_u64).since(Some(3)), Some(2));
    }

    #[test]
    fn parts_are_the_whole_together() {
        let parts: Vec<Option<u64>> = (0..4).map(|at| Some(10).part(at, 4)).collect();
        assert_eq!(parts, [3, 3, 2, 2].map(Some));
        assert_eq!(None::<u64>.part(0, 4), None);
        assert_eq!(Level(7).part(1, 4), Level(7));
    }

    #[test]
    fn a_level_is_the_highest_of_several_and_the_last_of_one() {
        assert_eq!(Level(3).plus(Level(7)).plus(Level(5)), Level(7));
        assert_eq!(Level(3).since(Level(9)), Level(3));
    }
}
