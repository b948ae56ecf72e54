//! What a study is: its strategies, parameters, figures and causes, as data.
//!
//! Help texts, plans and tests are made from it. A run's record has it too, so that no
//! registry of studies is needed to analyse or report a run. Plans and tests alone use
//! what is skipped in the record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::condition::{
    AppliesWhenDescription, Condition, PromiseWhenDescription, ReliesOnDescription,
};
pub use crate::figure::FigureDescription;
use crate::grouped::group_of;
use crate::guarantee::Guarantee;
pub use crate::param::ParamForm;
pub use crate::param_description::ParamDescription;
pub use crate::strategy::StrategyDescription;
use crate::strategy::StrategyFacts;

/// One study, as its runs describe it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyDescription {
    /// Its name in plans and flags.
    pub name: String,
    /// What it asks, in a line.
    pub about: String,
    /// What one operation is, for "per …": `record`.
    pub operation: String,
    /// Whether its speed is best told in bytes per second as well.
    pub moves_bytes: bool,
    /// What its arms are judged by.
    pub score: Score,
    /// What some of its arms are judged by instead; the first that fits counts.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub score_when: Vec<ScoreWhenDescription>,
    /// Its strategies; the first is the base that the others are compared with.
    #[serde(deserialize_with = "bounded::list")]
    pub strategies: Vec<StrategyDescription>,
    /// What strategies promise instead where a parameter changes it; the first that fits
    /// counts.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub promise_when: Vec<PromiseWhenDescription>,
    /// What strategies rely on where several processes share their files; all that fit count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub relies_on: Vec<ReliesOnDescription>,
    /// Its parameters, in its own order.
    #[serde(deserialize_with = "bounded::list")]
    pub params: Vec<ParamDescription>,
    /// Those of them that mean something to some arms alone.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub applies_when: Vec<AppliesWhenDescription>,
    /// What it measures besides the time per operation.
    #[serde(deserialize_with = "bounded::list")]
    pub figures: Vec<FigureDescription>,
    /// The names of those of its figures, in order, that add up to the time of one
    /// operation. Records of older versions have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub parts: Vec<String>,
    /// Causes of its own.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub causes: Vec<CauseDescription>,
    /// Where its ways of doing it may write less for more work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub break_evens: Vec<BreakEvenDescription>,
    /// Sentences made of its figures.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub notes: Vec<NoteDescription>,
    /// How often its operations are done with files of one set, where they are advised on
    /// together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixDescription>,
    /// Whether it is timed when no study is named.
    #[serde(skip)]
    pub by_default: bool,
    /// Parameters whose values are ways of doing it, and are compared as strategies
    /// are, each with the first.
    #[serde(skip)]
    pub compared: Vec<&'static str>,
    /// What an operation does and how it is checked, in Markdown, for the reference.
    #[serde(skip)]
    pub details: &'static str,
}

/// What an arm is judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The mean time per operation.
    #[default]
    MeanTime,
    /// The median time of an operation.
    MedianTime,
    /// The highest rate that it held, kept as the time between two operations and
    /// shown as so many per second.
    HighestRate,
}

/// What arms with some value of a parameter are judged by instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreWhenDescription {
    /// The parameter.
    pub param: String,
    /// Its value, as it is written.
    pub value: String,
    /// What such arms are judged by.
    pub score: Score,
}

/// A cause that a study defines: time that one of its figures tells of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseDescription {
    /// Its stable name.
    pub code: String,
    /// What takes the time: "waiting for a connection of the pool".
    pub what: String,
    /// The figure that has it, as an arm has it: nanoseconds per operation.
    pub figure: String,
    /// The share of the time from which on it is named.
    pub threshold_share: f64,
}

/// A way of doing it may write less for more work; on which devices that pays follows from
/// these figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BreakEvenDescription {
    /// The stable name of the cause that tells it.
    pub code: String,
    /// The figure that has what is written, as an arm has it: bytes per operation.
    pub bytes: String,
    /// The figures that have the time in which the device takes it: nanoseconds per
    /// operation. All other time is work.
    #[serde(deserialize_with = "bounded::list")]
    pub device: Vec<String>,
}

/// What is done with the files of one set: nobody moves a file to where it is removed faster
/// and read more slowly without asking how often either is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MixDescription {
    /// The parameter that says what is done.
    pub param: String,
    /// Its values, each with how often it is done in the life of a file.
    #[serde(deserialize_with = "bounded::list")]
    pub times: Vec<(String, f64)>,
}

/// A sentence made of figures, for arms that have them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteDescription {
    /// The figure that an arm must have for the sentence to be said.
    pub when: String,
    /// The sentence, with figures by their names in braces.
    pub text: String,
}

impl StudyDescription {
    /// A study without parameters or figures, for others to be written as what they have
    /// besides.
    pub fn new(name: &str, about: &str, operation: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: about.to_owned(),
            operation: operation.to_owned(),
            by_default: true,
            ..Self::default()
        }
    }

    /// The study with these strategies. The rules that follow from their facts come before
    /// those of the whole study.
    #[must_use]
    pub fn with_strategies(mut self, strategies: &[StrategyDescription]) -> Self {
        self.strategies = strategies.to_vec();
        let promises = self.grouped(|facts| facts.promise_when.clone()).into_iter();
        let promises = promises.map(|((params, promise), strategies)| PromiseWhenDescription {
            when: Condition { strategies, params },
            promise,
        });
        self.promise_when.splice(..0, promises.collect::<Vec<_>>());
        let relied_on = self.grouped(|facts| facts.relies_on.clone()).into_iter();
        let relied_on = relied_on.map(|((on, params), strategies)| ReliesOnDescription {
            on,
            when: Condition { strategies, params },
        });
        self.relies_on.splice(..0, relied_on.collect::<Vec<_>>());
        let mut applies: Vec<AppliesWhenDescription> = Vec::new();
        for (param, strategies) in self.grouped(|facts| facts.params.to_vec()) {
            let when = Condition { strategies, params: Vec::new() };
            match applies.last_mut().filter(|rule| rule.when == when) {
                Some(rule) => rule.params.push(param.to_owned()),
                None => {
                    applies.push(AppliesWhenDescription { params: vec![param.to_owned()], when });
                }
            }
        }
        self.applies_when.splice(..0, applies);
        self
    }

    /// What the strategies have of something, each with the names of those that have it; no
    /// names where all do.
    fn grouped<T: PartialEq>(
        &self,
        of: impl Fn(&StrategyFacts) -> Vec<T>,
    ) -> Vec<(T, Vec<String>)> {
        let mut groups = Vec::new();
        for strategy in &self.strategies {
            for fact in of(&strategy.facts) {
                group_of(&mut groups, fact).push(strategy.name.clone());
            }
        }
        for (_, names) in &mut groups {
            if names.len() == self.strategies.len() {
                names.clear();
            }
        }
        groups
    }

    /// The study as a run's record has it: without what plans and tests alone use.
    #[must_use]
    pub fn recorded(&self) -> Self {
        let mut study =
            Self { by_default: false, compared: Vec::new(), details: "", ..self.clone() };
        study.strategies.iter_mut().for_each(|s| s.facts = StrategyFacts::default());
        for param in &mut study.params {
            param.default = param.default_values().iter().map(ToString::to_string).collect();
            param.limits = None;
        }
        study
    }

    /// What an arm is judged by, given its parameters as they are written.
    pub fn score_of(&self, params: &BTreeMap<String, String>) -> Score {
        let fits = |when: &&ScoreWhenDescription| params.get(&when.param) == Some(&when.value);
        self.score_when.iter().find(fits).map_or(self.score, |when| when.score)
    }

    /// What an arm promises if the process or the machine dies; empty where nothing
    /// depends on it.
    pub fn promise_of(&self, strategy: &str, params: &BTreeMap<String, String>) -> &str {
        let instead = self.promise_when.iter().find(|rule| rule.when.fits(strategy, params));
        match instead {
            Some(rule) => &rule.promise,
            None => self.strategy(strategy).map_or("", |strategy| &strategy.promise),
        }
    }

    /// What an arm relies on where several processes share its files.
    pub fn guarantees_of(
        &self,
        strategy: &str,
        params: &BTreeMap<String, String>,
    ) -> Vec<Guarantee> {
        let rules = self.relies_on.iter().filter(|rule| rule.when.fits(strategy, params));
        rules.map(|rule| rule.on).collect()
    }

    /// Whether a parameter means anything to an arm.
    pub fn applies(&self, param: &str, strategy: &str, params: &BTreeMap<String, String>) -> bool {
        let mut rules =
            self.applies_when.iter().filter(|rule| rule.params.iter().any(|p| p == param));
        rules.all(|rule| rule.when.fits(strategy, params))
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&ParamDescription> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The strategy of that name.
    pub fn strategy(&self, name: &str) -> Option<&StrategyDescription> {
        self.strategies.iter().find(|strategy| strategy.name == name)
    }

    /// The figure of that name.
    pub fn figure(&self, name: &str) -> Option<&FigureDescription> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

impl ScoreWhenDescription {
    /// Arms whose parameter has this value are judged by this.
    pub fn new(param: &str, value: &str, score: Score) -> Self {
        Self { param: param.to_owned(), value: value.to_owned(), score }
    }
}

impl CauseDescription {
    /// Time that this figure has, worth naming from this share of an operation's time on.
    pub fn new(code: &str, what: &str, figure: &str, threshold_share: f64) -> Self {
        let [code, what, figure] = [code, what, figure].map(str::to_owned);
        Self { code, what, figure, threshold_share }
    }
}

impl NoteDescription {
    /// A sentence for arms that have this figure.
    pub fn new(when: &str, text: &str) -> Self {
        Self { when: when.to_owned(), text: text.to_owned() }
    }

    /// The sentence with a value in the place of each figure's name; nothing where one
    /// of them has none.
    pub fn filled_in(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        value(&self.when)?;
        let mut filled = String::new();
        let mut rest = self.text.as_str();
        while let Some((before, from)) = rest.split_once('{') {
            let (name, after) = from.split_once('}')?;
            filled.push_str(before);
            filled.push_str(&value(name)?);
            rest = after;
        }
        Some(filled + rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::ParamCondition;

    fn study() -> StudyDescription {
        let each = || vec![ParamCondition::one_of("sync", &["each"])];
        let never = || vec![ParamCondition::not("sync", "never")];
        let mut kept = StrategyDescription::new("kept", "", "lost");
        kept.facts.promise_when = vec![(each(), "safe".to_owned())];
        kept.facts.relies_on = vec![(Guarantee::Appends, vec![]), (Guarantee::FcntlLocks, never())];
        kept.facts.params = &["kind", "size"];
        let mut other = StrategyDescription::new("other", "", "never");
        other.facts.relies_on = vec![(Guarantee::FcntlLocks, never())];
        let every = vec![ParamCondition::beginning("sync", "every ")];
        let unset = vec![ParamCondition::one_of("set", &[""])];
        StudyDescription {
            promise_when: vec![PromiseWhenDescription {
                when: Condition::params(every),
                promise: "some".to_owned(),
            }],
            applies_when: vec![AppliesWhenDescription {
                params: vec!["size".to_owned()],
                when: Condition::params(unset),
            }],
            ..StudyDescription::new("made", "", "step")
        }
        .with_strategies(&[kept, other])
    }

    fn written(params: &[(&str, &str)]) -> BTreeMap<String, String> {
        params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn rules_follow_from_what_strategies_have() {
        let study = study();
        let when = |rule: &PromiseWhenDescription| rule.when.to_string();
        assert!(study.promise_when.iter().map(when).eq(["sync=each with kept", "sync=every …"]));
        let when: Vec<String> = study.relies_on.iter().map(|rule| rule.when.to_string()).collect();
        assert_eq!(when, ["kept", "sync other than never"], "of all strategies, none is named");
        assert_eq!(study.applies_when[0].params, ["kind", "size"]);
    }

    #[test]
    fn the_first_promise_that_fits_counts() {
        let study = study();
        let promise = |strategy, sync| study.promise_of(strategy, &written(&[("sync", sync)]));
        assert_eq!(promise("kept", "never"), "lost");
        assert_eq!(promise("kept", "each"), "safe");
        assert_eq!(promise("other", "each"), "never");
        assert_eq!(promise("other", "every 20"), "some");
        assert_eq!(study.promise_of("kept", &BTreeMap::new()), "lost");
        assert_eq!(study.promise_of("nobody's", &BTreeMap::new()), "");
    }

    #[test]
    fn all_that_an_arm_relies_on_counts() {
        let study = study();
        let relied = |strategy, sync| study.guarantees_of(strategy, &written(&[("sync", sync)]));
        assert_eq!(relied("kept", "never"), [Guarantee::Appends]);
        assert_eq!(relied("kept", "each"), [Guarantee::Appends, Guarantee::FcntlLocks]);
        assert_eq!(relied("other", "never"), []);
    }

    #[test]
    fn a_parameter_applies_where_all_that_is_said_of_it_holds() {
        let study = study();
        let applies =
            |param, strategy, set| study.applies(param, strategy, &written(&[("set", set)]));
        assert!(applies("size", "kept", ""));
        assert!(!applies("size", "kept", "/srv"));
        assert!(!applies("size", "other", ""));
        assert!(applies("kind", "kept", "/srv"));
        assert!(applies("set", "other", "/srv"));
    }

    #[test]
    fn a_record_reads_back_as_it_was_recorded() {
        let recorded = study().recorded();
        let json = serde_json::to_string(&recorded).unwrap_or_default();
        assert_eq!(serde_json::from_str::<StudyDescription>(&json).ok(), Some(recorded));
        assert!(!json.contains("facts") && !json.contains("compared"), "{json}");
    }

    #[test]
    fn a_note_has_its_figures_filled_in_or_is_not_said() {
        let note = NoteDescription::new;
        let value = |name: &str| match name {
            "kills" => Some("1,000".to_owned()),
            "lost" => Some("3".to_owned()),
            _ => None,
        };
        let text = "killed {kills} times; {lost} lost.";
        let filled = note("kills", text).filled_in(value);
        assert_eq!(filled.as_deref(), Some("killed 1,000 times; 3 lost."));
        assert_eq!(note("kills", "{kills} {mixed}").filled_in(value), None);
        assert_eq!(note("mixed", text).filled_in(value), None);
    }

    #[test]
    fn a_parameters_value_decides_what_an_arm_is_judged_by() {
        let when = ScoreWhenDescription::new("rate", "max", Score::HighestRate);
        let study = StudyDescription {
            score: Score::MedianTime,
            score_when: vec![when],
            ..StudyDescription::new("made", "", "step")
        };
        let with = |value: &str| study.score_of(&[("rate".to_owned(), value.to_owned())].into());
        assert_eq!(with("max"), Score::HighestRate);
        assert_eq!(with("200"), Score::MedianTime);
        assert_eq!(study.score_of(&BTreeMap::new()), Score::MedianTime);
    }
}
