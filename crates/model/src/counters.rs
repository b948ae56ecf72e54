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
}

impl Counters for u64 {
    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }

    fn since(self, earlier: Self) -> Self {
        self.saturating_sub(earlier)
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
}

/// Declares a struct whose fields are all [`Counters`], and makes it one. Each
/// field is written once: reading, adding and subtracting cannot forget it.
#[macro_export]
macro_rules! counters {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$field_about:meta])* pub $field:ident: $kind:ty,)*
        }
    ) => {
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
        }
    };
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
    fn a_level_is_the_highest_of_several_and_the_last_of_one() {
        assert_eq!(Level(3).plus(Level(7)).plus(Level(5)), Level(7));
        assert_eq!(Level(3).since(Level(9)), Level(3));
    }
}
