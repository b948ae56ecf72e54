//! What a plan takes for what an application does now: the first strategy of a study, and the
//! first value of each of its parameters.

use crate::param::ParamValue;
use crate::plan::{Draft, PlanError, StudyPlan, find_study, suggestion, unknown_key};
use crate::study::StudyDescription;

impl Draft {
    /// Takes one `STUDY=STRATEGY` or `STUDY.KEY=VALUE`, and puts that first.
    pub fn set_now(
        &mut self,
        text: &str,
        registry: &[&'static StudyDescription],
    ) -> Result<(), PlanError> {
        let wrong = |why: String| PlanError(format!("--now {text}: {why}"));
        let Some((what, value)) = text.split_once('=') else {
            return Err(wrong("expected STUDY=STRATEGY or STUDY.KEY=VALUE".to_owned()));
        };
        let (study, key) = match what.trim().split_once('.') {
            Some((study, key)) => (study, Some(key)),
            None => (what.trim(), None),
        };
        let spec = find_study(study, registry)?;
        let said = format!("--now {text}:");
        self.planned(|planned| planned.spec.name == spec.name, study, &said)?.try_for_each(
            |planned| match key {
                None => planned.begin_with(value.trim()).map_err(wrong),
                Some(key) => planned.begin_with_value(key, value).map_err(|error| wrong(error.0)),
            },
        )
    }
}

impl StudyPlan {
    /// Puts a strategy before the others: those of the plan, or the default ones.
    fn begin_with(&mut self, name: &str) -> Result<(), String> {
        let Some(strategy) = self.spec.strategy(name) else {
            let known = self.spec.strategies.iter().map(|strategy| strategy.name.as_str());
            let study = &self.spec.name;
            return Err(format!("no strategy `{name}` in {study}{}", suggestion(name, known)));
        };
        if self.strategies.is_empty() {
            self.strategies = self.spec.strategies.iter().filter(|s| s.by_default).collect();
        }
        self.strategies.retain(|known| known.name != strategy.name);
        self.strategies.insert(0, strategy);
        Ok(())
    }

    /// Puts a value of a parameter before its others.
    fn begin_with_value(&mut self, key: &str, text: &str) -> Result<(), PlanError> {
        let Some(param) = self.spec.param(key) else { return Err(unknown_key(key, self.spec)) };
        let value: ParamValue = param.parse(text).map_err(PlanError)?;
        let others = self.values(param).into_iter().filter(|other| *other != value);
        let values = std::iter::once(value.clone()).chain(others).collect();
        self.set(&param.name, values);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::param::ParamKind;
    use crate::place::PlaceRequest;
    use crate::strategy::StrategyDescription;
    use crate::study::ParamDescription;

    static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| StudyDescription {
        params: vec![ParamDescription::new(
            "size",
            "",
            ParamKind::Count { min: 1, max: 99 },
            "1,2",
        )],
        strategies: ["one", "two"].map(|name| StrategyDescription::new(name, "", "")).to_vec(),
        ..StudyDescription::new("made", "", "step")
    });

    fn arms(now: &[&str]) -> Result<Vec<String>, PlanError> {
        let registry: [&'static StudyDescription; 1] = [&SPEC];
        let mut draft = Draft {
            places: vec![PlaceRequest::directory("a", "/")],
            studies: vec![StudyPlan::new(&SPEC)],
            ..Draft::default()
        };
        now.iter().try_for_each(|text| draft.set_now(text, &registry))?;
        Ok(draft.finish(1)?.arms().into_iter().map(|arm| arm.id).collect())
    }

    #[test]
    fn what_is_done_now_comes_first_and_the_others_stay() {
        let found = arms(&["made=two", "made.size=9"]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found.len(), 6);
        assert_eq!(found[..2], ["made/two(size=9)@a", "made/one(size=9)@a"]);
        let known = arms(&["made.size=2"]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((known.len(), known[0].as_str()), (4, "made/one(size=2)@a"));
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        let why = |text: &str| arms(&[text]).err().map(|error| error.0).unwrap_or_default();
        assert_eq!(
            why("made=tow"),
            "--now made=tow: no strategy `tow` in made; did you mean `two`?"
        );
        assert!(why("made").contains("expected STUDY=STRATEGY"), "{}", why("made"));
        assert!(why("made.sise=1").contains("size"), "{}", why("made.sise=1"));
        assert!(why("made.size=0").contains("--now made.size=0"), "{}", why("made.size=0"));
    }
}
