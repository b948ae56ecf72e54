//! Arms, and which of them are compared.

use serde::{Deserialize, Serialize};

use crate::plan::{Plan, StudyPlan};
use crate::scaling::CLIENTS;
use crate::study::{Params, StrategyDescription, StudyDescription};
use crate::subject::subject;

/// What is timed: a study, its strategy and parameters, and a place.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Its name in reports and results: `log/held@disk`, with the parameters
    /// that vary within the run, as in `log/held(sync=each)@disk`. A label follows the
    /// study: `log:shop.log/held@disk`.
    pub id: String,
    /// The study.
    pub study: &'static StudyDescription,
    /// What the user calls it: `shop.log`.
    pub label: Option<String>,
    /// How it does its I/O.
    pub strategy: &'static StrategyDescription,
    /// Where, as an index into the plan's places.
    pub place: usize,
    /// The parameters, all of them.
    pub params: Params,
}

impl Arm {
    /// Its study with its label: `log:shop.log`. Arms of two subjects do different work.
    pub fn subject(&self) -> String {
        subject(&self.study.name, self.label.as_deref())
    }

    /// Whether it is of that study and has that label.
    fn is_of(&self, study: &str, label: Option<&str>) -> bool {
        self.study.name == study && self.label.as_deref() == label
    }

    /// How many clients do it at the same time.
    pub fn clients(&self) -> u64 {
        self.study.param(CLIENTS).map_or(1, |_| self.params.count(CLIENTS))
    }
}

/// What two compared arms differ in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// The same I/O at another place.
    #[default]
    Place,
    /// Another way of doing it at the same place: another strategy, or another value
    /// of a parameter that stands for a way of doing it.
    Strategy,
    /// Another way of doing it, at another place.
    Both,
}

/// Two arms that are compared, as indices into the arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// What the other is held against.
    pub base: usize,
    /// The one that is judged.
    pub other: usize,
    /// What they differ in.
    pub axis: Axis,
}

impl Pair {
    /// Whether a check compares it: its arms differ in their places alone.
    pub fn is_of_check(&self) -> bool {
        self.axis == Axis::Place
    }
}

impl Plan {
    /// The arms: for each study the product of parameters, strategies and its places. Of values
    /// that mean nothing to a strategy there is the first alone: with the others, the same
    /// would be done again.
    pub fn arms(&self) -> Vec<Arm> {
        let mut arms = Vec::new();
        for study in &self.studies {
            for params in study.combinations() {
                let written = params.written();
                for strategy in &study.strategies {
                    let applies = |name: &str| study.spec.applies(name, &strategy.name, &written);
                    if study.has_another_idle_value(&params, &applies) {
                        continue;
                    }
                    let told: Vec<bool> = params.0.iter().map(|(name, _)| applies(name)).collect();
                    let places = self.places.iter().enumerate();
                    for (place, _) in places.filter(|(_, place)| study.is_at(&place.label)) {
                        let (id, params) = (String::new(), params.clone());
                        let label = study.label.clone();
                        let arm = Arm { id, study: study.spec, label, strategy, place, params };
                        arms.push((arm, told.clone()));
                    }
                }
            }
        }
        let ids: Vec<String> = arms.iter().map(|arm| self.id(arm, &arms)).collect();
        arms.into_iter().zip(ids).map(|((arm, _), id)| Arm { id, ..arm }).collect()
    }

    /// `log/held(sync=each)@disk`: with the parameters that mean something to the arm, and
    /// vary among those of its study to which they do. Each arm has, parameter by parameter,
    /// whether it means something.
    fn id(&self, (arm, told): &(Arm, Vec<bool>), arms: &[(Arm, Vec<bool>)]) -> String {
        let same_study =
            || arms.iter().filter(|(other, _)| other.is_of(&arm.study.name, arm.label.as_deref()));
        let varies = |at: usize| {
            let values = same_study().filter(|(_, told)| told[at]).map(|(o, _)| &o.params.0[at]);
            values.into_iter().any(|value| *value != arm.params.0[at])
        };
        let shown = (0..told.len()).filter(|at| told[*at] && varies(*at));
        let shown: Vec<String> = shown
            .map(|at| {
                let (name, value) = &arm.params.0[at];
                format!("{name}={value}")
            })
            .collect();
        let params =
            if shown.is_empty() { String::new() } else { format!("({})", shown.join(", ")) };
        let label = &self.places[arm.place].label;
        format!("{}/{}{params}@{label}", arm.subject(), arm.strategy.name)
    }
}

impl StudyPlan {
    /// Whether it is measured at the place of that label.
    fn is_at(&self, label: &str) -> bool {
        self.not_at.iter().all(|other| other != label)
    }

    /// Whether a parameter that means nothing has another value than its first.
    fn has_another_idle_value(&self, params: &Params, applies: &dyn Fn(&str) -> bool) -> bool {
        let mut values = self.spec.params.iter().zip(&params.0);
        values.any(|(param, (_, value))| {
            !applies(&param.name) && self.values(param).first() != Some(value)
        })
    }
}

/// What is compared. What an application does now is the first place with the first
/// strategy and the first value of each parameter; every other arm that does the same
/// work is held against that: another place, another way of doing it, or both. Besides,
/// each way is compared between places, and the ways are compared on each place: "once
/// it is written like that, does moving still pay?"
///
/// Arms whose parameters differ in more than ways of doing it do other work, as files of
/// another size are, and are not compared.
pub fn pairs(arms: &[Arm]) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut against_first = |axis, alike: &dyn Fn(&Arm, &Arm) -> bool| {
        for (other, arm) in arms.iter().enumerate() {
            let base = arms.iter().position(|a| does_the_same(a, arm) && alike(a, arm));
            let base = base.filter(|base| *base != other);
            let is_new = |base: &usize| pairs.iter().all(|p| (p.base, p.other) != (*base, other));
            pairs.extend(base.filter(is_new).map(|base| Pair { base, other, axis }));
        }
    };
    let same_strategy = |a: &Arm, b: &Arm| a.strategy.name == b.strategy.name;
    against_first(Axis::Place, &|a, b| same_strategy(a, b) && a.params == b.params);
    against_first(Axis::Strategy, &|a, b| a.place == b.place && a.params == b.params);
    against_first(Axis::Strategy, &|a, b| a.place == b.place && same_strategy(a, b));
    against_first(Axis::Strategy, &|a, b| a.place == b.place);
    against_first(Axis::Both, &|_, _| true);
    pairs
}

/// Whether two arms do the same work, in whatever way: their parameters differ in none
/// but those that stand for ways of doing it.
fn does_the_same(a: &Arm, b: &Arm) -> bool {
    let compared = &a.study.compared;
    let mut pairs = a.params.0.iter().zip(&b.params.0);
    a.is_of(&b.study.name, b.label.as_deref())
        && pairs.all(|(a, b)| a == b || compared.contains(&a.0))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::place::PlaceRequest;
    use crate::plan::Draft;
    use crate::study::{ParamDescription, ParamKind, ParamValue};

    fn param(name: &str, kind: ParamKind, default: &str) -> ParamDescription {
        ParamDescription::new(name, "", kind, default)
    }

    /// A study, one of whose parameters means something to one of its strategies alone.
    fn study(partly: &'static [&'static str]) -> StudyDescription {
        let count = ParamKind::Count { min: 0, max: 999 };
        let [one, mut two] = ["one", "two"].map(|name| StrategyDescription::new(name, "", ""));
        two.facts.params = partly;
        StudyDescription {
            compared: vec!["lines"],
            params: vec![
                param("rate", count, "200,300"),
                param("lines", count, "0,1,20"),
                param("command", ParamKind::Shell(""), ""),
                param("set", ParamKind::Text(""), ""),
            ],
            ..StudyDescription::new("made", "", "step")
        }
        .with_strategies(&[one, two])
    }

    static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| study(&[]));

    #[test]
    fn all_that_does_the_same_work_is_held_against_what_is_done_now() {
        let place = |label: &str| PlaceRequest::directory(label, "/");
        let draft = Draft {
            places: vec![place("a"), place("b")],
            studies: vec![StudyPlan::new(&SPEC)],
            ..Draft::default()
        };
        let arms = draft.finish(1).unwrap_or_else(|e| panic!("{e}")).arms();
        let pairs = pairs(&arms);
        let of = |pair: &Pair| (&arms[pair.base], &arms[pair.other]);
        for pair in &pairs {
            let (base, other) = of(pair);
            assert_eq!(base.params.count("rate"), other.params.count("rate"), "another load");
            let ways = base.strategy.name != other.strategy.name || base.params != other.params;
            let places = base.place != other.place;
            let expected = match (places, ways) {
                (true, false) => Axis::Place,
                (false, true) => Axis::Strategy,
                _ => Axis::Both,
            };
            assert_eq!(pair.axis, expected, "{} and {}", base.id, other.id);
        }
        // At each of two rates, all else is held against what is done now.
        for rate in [200, 300] {
            let of_rate = |arm: &Arm| arm.params.count("rate") == rate;
            let now = arms.iter().position(of_rate);
            let held = pairs.iter().filter(|pair| Some(pair.base) == now).count();
            assert_eq!(held, 2 * 2 * 3 - 1, "two places, two strategies, three values");
        }
        let unique: std::collections::BTreeSet<_> =
            pairs.iter().map(|pair| (pair.base, pair.other)).collect();
        assert_eq!(unique.len(), pairs.len(), "none is compared twice");
    }

    #[test]
    fn a_value_that_means_nothing_to_a_strategy_makes_no_arm_of_it() {
        static PARTLY: LazyLock<StudyDescription> = LazyLock::new(|| study(&["lines"]));
        let mut study = StudyPlan::new(&PARTLY);
        study.set("rate", vec![ParamValue::Count(1)]);
        let places = vec![PlaceRequest::directory("a", "/")];
        let draft = Draft { places, studies: vec![study], ..Draft::default() };
        let arms = draft.finish(1).unwrap_or_else(|e| panic!("{e}")).arms();
        let ids: Vec<&str> = arms.iter().map(|arm| arm.id.as_str()).collect();
        let expected =
            ["made/one@a", "made/two(lines=0)@a", "made/two(lines=1)@a", "made/two(lines=20)@a"];
        assert_eq!(ids, expected);
    }

    #[test]
    fn a_value_is_told_from_those_of_arms_that_have_a_use_for_it_alone() {
        static PARTLY: LazyLock<StudyDescription> = LazyLock::new(|| study(&["command"]));
        let study = |strategy: &str, command: &str| {
            let mut study = StudyPlan::new(&PARTLY);
            study.strategies.extend(PARTLY.strategy(strategy));
            study.set("rate", vec![ParamValue::Count(1)]);
            study.set("lines", vec![ParamValue::Count(0)]);
            study.set("command", vec![ParamValue::text(command)]);
            study
        };
        let places = vec![PlaceRequest::directory("a", "/")];
        let ids = |studies: Vec<StudyPlan>| -> Vec<String> {
            let draft = Draft { places: places.clone(), studies, ..Draft::default() };
            let arms = draft.finish(1).unwrap_or_else(|e| panic!("{e}")).arms();
            arms.into_iter().map(|arm| arm.id).collect()
        };
        assert_eq!(ids(vec![study("one", ""), study("two", "x")]), ["made/one@a", "made/two@a"]);
        let several = ids(vec![study("one", ""), study("two", "x"), study("two", "y")]);
        assert_eq!(several, ["made/one@a", "made/two(command=x)@a", "made/two(command=y)@a"]);
    }

    #[test]
    fn a_study_that_is_not_measured_everywhere_has_arms_elsewhere_alone() {
        let mut study = StudyPlan::new(&SPEC);
        study.strategies.extend(SPEC.strategy("one"));
        study.set("rate", vec![ParamValue::Count(1)]);
        study.set("lines", vec![ParamValue::Count(0)]);
        study.not_at = vec!["b".to_owned()];
        let places = ["a", "b", "c"].map(|label| PlaceRequest::directory(label, "/")).to_vec();
        let draft = Draft { places, studies: vec![study], ..Draft::default() };
        let arms = draft.finish(1).unwrap_or_else(|e| panic!("{e}")).arms();
        let ids: Vec<String> = arms.into_iter().map(|arm| arm.id).collect();
        assert_eq!(ids, ["made/one@a", "made/one@c"]);
    }

    #[test]
    fn labels_tell_studies_apart_and_keep_their_arms_from_being_compared() {
        let study = |label: &str, set: &str| {
            let mut study = StudyPlan::new(&SPEC);
            study.label = Some(label.to_owned());
            study.set("rate", vec![ParamValue::Count(1)]);
            study.set("lines", vec![ParamValue::Count(0)]);
            study.set("set", vec![ParamValue::text(set)]);
            study
        };
        let places = vec![PlaceRequest::directory("a", "/")];
        let arms = |studies: Vec<StudyPlan>| {
            let draft = Draft { places: places.clone(), studies, ..Draft::default() };
            draft.finish(1).unwrap_or_else(|e| panic!("{e}")).arms()
        };
        let two = arms(vec![study("x", "/same"), study("y", "/same")]);
        let ids: Vec<&str> = two.iter().map(|arm| arm.id.as_str()).collect();
        assert_eq!(ids, ["made:x/one@a", "made:x/two@a", "made:y/one@a", "made:y/two@a"]);
        let held: Vec<(usize, usize)> = pairs(&two).iter().map(|p| (p.base, p.other)).collect();
        assert_eq!(held, [(0, 1), (2, 3)]);
        // A path is no part of a name that a label has made one of its own.
        let apart = arms(vec![study("x", "/p"), study("y", "/q")]);
        assert_eq!(apart[0].id, "made:x/one@a");
    }

    #[test]
    fn what_a_plan_refers_to_is_filled_in() {
        let mut study = StudyPlan::new(&SPEC);
        study.set("command", vec![ParamValue::text("sh {plan}/a"), ParamValue::text("{port}")]);
        study.set("set", vec![ParamValue::text("{plan}/page")]);
        let mut draft = Draft { studies: vec![study], ..Draft::default() };
        draft.fill_in("plan", "/my files");
        let told = ["sh '/my files'/a", "{port}"].map(ParamValue::text);
        let path = ParamValue::text("/my files/page");
        let expected = [("command", told.to_vec()), ("set", vec![path])];
        assert_eq!(draft.studies[0].factors, expected);
    }
}
