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

/// Declares a study's strategies: an enum as [`choices`] makes one, and beside each variant
/// all that plans, reports and tests know of it. It comes with `descriptions`, in the same
/// order, and `facts`, those of one.
macro_rules! strategies {
    (
        $(#[$about:meta])*
        $vis:vis enum $kind:ident {
            $($variant:ident = $name:literal, $by_default:ident {
                label: $label:literal,
                about: $does:expr,
                promises: $promises:expr,
                syncs: $syncs:ident,
                relies_on: [$($guarantee:ident $(where $condition:expr)?),*],
                params: [$($param:expr),*],
                needs: $needs:expr,
                recipe: $recipe:expr,
            })+
        }
    ) => {
        $crate::choices::choices! {
            $(#[$about])*
            $vis enum $kind { $($variant = $name,)+ }
        }

        impl $kind {
            /// What each is, in order.
            $vis fn descriptions() -> &'static [::model::study::StrategyDescription] {
                use ::model::strategy::{StrategyDescription, StrategyFacts, Syncs};

                static ALL: ::std::sync::LazyLock<Vec<StrategyDescription>> =
                    ::std::sync::LazyLock::new(|| vec![$({
                        let $crate::rules::Promise { text, when } = $promises.into();
                        StrategyDescription {
                            label: $label.to_owned(),
                            by_default: $crate::choices::strategies!(@ $by_default),
                            facts: StrategyFacts {
                                syncs: Syncs::$syncs,
                                promise_when: when,
                                relies_on: vec![
                                    $((
                                        ::model::guarantee::Guarantee::$guarantee,
                                        vec![$($condition)?],
                                    )),*
                                ],
                                params: &[$($param),*],
                                needs: $needs,
                                recipe: $recipe,
                            },
                            ..StrategyDescription::new($name, $does, &text)
                        }
                    }),+]);
                &ALL
            }

            /// What it does and needs.
            #[allow(dead_code, reason = "not every study asks its strategies")]
            $vis fn facts(self) -> &'static ::model::strategy::StrategyFacts {
                &Self::descriptions()[self as usize].facts
            }
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

    use model::guarantee::Guarantee;
    use model::strategy::{Recipe, Syncs};

    strategies! {
        /// Made up.
        pub(crate) enum Made {
            Plain = "plain", by_default {
                label: "as it is",
                about: "as it is",
                promises: "", syncs: Never, relies_on: [], params: [], needs: None,
                recipe: Recipe::Control,
            }
            WithExtra = "with-extra", by_name {
                label: "with more",
                about: "and more",
                promises: "keeps it", syncs: Always, relies_on: [Flock], params: ["extra"],
                needs: Some("php"),
                recipe: Recipe::AsItIs,
            }
        }
    }

    #[test]
    fn names_variants_and_descriptions_go_together() {
        assert_eq!(Made::NAMES, ["plain", "with-extra"]);
        assert_eq!(Made::of("with-extra").unwrap(), Made::WithExtra);
        assert_eq!(serde_json::to_string(&Made::WithExtra).unwrap(), "\"with-extra\"");
        let error = Made::of("plane").unwrap_err().to_string();
        assert_eq!(error, "there is no `plane` among plain, with-extra");
        let [plain, extra] = Made::descriptions() else { panic!("there are two") };
        assert_eq!((plain.by_default, extra.by_default), (true, false));
        assert_eq!((extra.name.as_str(), extra.promise.as_str()), ("with-extra", "keeps it"));
        let facts = Made::WithExtra.facts();
        assert_eq!((facts.syncs, facts.needs), (Syncs::Always, Some("php")));
        assert_eq!(facts.relies_on, [(Guarantee::Flock, vec![])]);
    }
}
