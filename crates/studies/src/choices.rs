//! Names that users choose from, as enums: each name is written once, beside its
//! variant.

use engine::study::StudyError;

/// Declares an enum whose variants have names, in serde as well. It comes with the
/// names in order, `NAMES`, and the way from a name to its variant, `of`.
macro_rules! choices {
    (
        $(#[$about:meta])*
        $vis:vis enum $kind:ident {
            $($(#[$variant_about:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $kind {
            $($(#[$variant_about])* #[serde(rename = $name)] $variant,)+
        }

        impl $kind {
            /// The names, in order.
            $vis const NAMES: &'static [&'static str] = &[$($name),+];

            /// Its name.
            #[allow(dead_code, reason = "not every choice is shown by its name")]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The one of that name.
            $vis fn of(name: &str) -> Result<Self, ::engine::study::StudyError> {
                match name {
                    $($name => Ok(Self::$variant),)+
                    other => Err($crate::choices::unknown(other, Self::NAMES)),
                }
            }
        }
    };
}

/// Declares a study's strategies: an enum as [`choices`] makes one, and their
/// descriptions in the same order, `SPECS`.
macro_rules! strategies {
    (
        $(#[$about:meta])*
        $vis:vis enum $kind:ident {
            $($variant:ident = $name:literal, $by_default:ident, $does:literal, $promise:expr;)+
        }
    ) => {
        $crate::choices::choices! {
            $(#[$about])*
            $vis enum $kind { $($variant = $name,)+ }
        }

        impl $kind {
            /// What each is, for help texts.
            $vis const SPECS: &'static [::model::study::StrategySpec] = &[
                $(::model::study::StrategySpec {
                    name: $name,
                    about: $does,
                    promise: $promise,
                    by_default: $crate::choices::strategies!(@ $by_default),
                },)+
            ];
        }
    };
    (@ by_default) => { true };
    (@ by_name) => { false };
}

pub(crate) use {choices, strategies};

/// Plans are checked against the names before a study sees them.
pub(crate) fn unknown(name: &str, names: &[&str]) -> StudyError {
    StudyError::Unsuited(format!("there is no `{name}` among {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    strategies! {
        /// Made up.
        pub(crate) enum Made {
            Plain = "plain", by_default, "as it is", "";
            WithExtra = "with-extra", by_name, "and more", "keeps it";
        }
    }

    #[test]
    fn names_variants_and_descriptions_go_together() {
        assert_eq!(Made::NAMES, ["plain", "with-extra"]);
        assert_eq!(Made::of("with-extra").unwrap(), Made::WithExtra);
        assert_eq!(serde_json::to_string(&Made::WithExtra).unwrap(), "\"with-extra\"");
        let error = Made::of("plane").unwrap_err().to_string();
        assert_eq!(error, "there is no `plane` among plain, with-extra");
        let by_default: Vec<bool> = Made::SPECS.iter().map(|spec| spec.by_default).collect();
        assert_eq!((Made::SPECS[1].name, by_default), ("with-extra", vec![true, false]));
    }
}
