//! Enumerations that list their own values.

/// Declares one with `ALL`, in the order of the numbers.
macro_rules! listed {
    ($(#[$meta:meta])* $seen:vis enum $name:ident {
        $($(#[$of:meta])* $value:ident $(= $number:literal)?,)*
    }) => {
        $(#[$meta])*
        $seen enum $name {
            $($(#[$of])* $value $(= $number)?,)*
        }

        impl $name {
            /// All of them, in the order of their numbers.
            $seen const ALL: [Self; [$(Self::$value),*].len()] = [$(Self::$value),*];
        }
    };
}
pub(crate) use listed;
