//! Limits on what a run measures: which figures there are, and what became of each limit.

use units::{Judgement, Limit, Quantity, Range};

use crate::arm::Arm;
use crate::description::StudyDescription;
use crate::figure::Unit;
use crate::plan::{Plan, PlanError, suggestion};
use crate::run::{ArmRecord, Run};
use crate::subject::subject;

/// The figures that every combination has, all but the share that failed per operation.
pub const FIGURES: [(&str, Quantity); 13] = [
    ("time", Quantity::Time),
    ("mean", Quantity::Time),
    ("p50", Quantity::Time),
    ("p90", Quantity::Time),
    ("p99", Quantity::Time),
    ("p999", Quantity::Time),
    ("max", Quantity::Time),
    ("cpu", Quantity::Time),
    ("syncs", Quantity::Number),
    ("calls", Quantity::Number),
    ("bytes", Quantity::Size),
    ("device_bytes", Quantity::Size),
    ("failed", Quantity::Share),
];

/// Bytes per second, of studies that move bytes.
pub const THROUGHPUT: &str = "throughput_mb_per_s";

/// Whether one combination keeps a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Limited {
    /// The limit, as it was written.
    pub limit: String,
    /// The combination: `log/held@disk`.
    pub id: String,
    /// The figure.
    pub figure: String,
    /// Whether the figure is a time, a size, a share or a number.
    pub quantity: Quantity,
    /// What is known of it; nothing where it was not measured.
    pub range: Option<Range>,
    /// Whether it is within the limit.
    pub judgement: Judgement,
}

/// A combination as limits name it.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    id: &'a str,
    study: &'a StudyDescription,
    label: Option<&'a str>,
    strategy: &'a str,
    place: &'a str,
}

impl<'a> Row<'a> {
    /// A combination of a plan.
    fn of_plan(plan: &'a Plan, arm: &'a Arm) -> Self {
        Self {
            id: &arm.id,
            study: arm.study,
            label: arm.label.as_deref(),
            strategy: &arm.strategy.name,
            place: &plan.places[arm.place].label,
        }
    }

    /// A combination of a run; nothing where the run does not describe its study.
    pub fn of_run(run: &'a Run, arm: &'a ArmRecord) -> Option<Self> {
        Some(Self {
            id: &arm.id,
            study: run.study(&arm.study)?,
            label: arm.label.as_deref(),
            strategy: &arm.strategy,
            place: &run.places.get(arm.place)?.label,
        })
    }

    /// Whether `log`, `log/held`, `log@disk`, `log/held@disk` or its whole name names it.
    /// An empty text names every combination.
    pub fn is_named_by(&self, text: &str) -> bool {
        if text.is_empty() || text == self.id {
            return true;
        }
        let (way, place) = text.rsplit_once('@').map_or((text, None), |(w, p)| (w, Some(p)));
        let (study, strategy) = way.split_once('/').map_or((way, None), |(s, w)| (s, Some(w)));
        let is_study = [self.study.name.as_str(), &subject(&self.study.name, self.label)]
            .into_iter()
            .chain(self.label)
            .any(|name| name == study);
        let is_own_way = self.id.rsplit_once('@').is_some_and(|(own, _)| own == way);
        place.is_none_or(|place| place == self.place)
            && (is_own_way || is_study && strategy.is_none_or(|strategy| strategy == self.strategy))
    }

    /// Whether a figure is a time, a size, a share or a number; `None` if the study has none of that
    /// name.
    pub fn quantity(&self, figure: &str) -> Option<Quantity> {
        let own = self.study.figures.iter().find(|own| own.name == figure);
        let general = FIGURES.iter().find(|(name, _)| *name == figure);
        let throughput = self.study.moves_bytes && figure == THROUGHPUT;
        let general = general.map(|(_, quantity)| *quantity);
        general
            .or_else(|| own.map(|own| quantity_of(own.unit)))
            .or_else(|| throughput.then_some(Quantity::Number))
    }

    fn figures(&self) -> impl Iterator<Item = &'a str> {
        let own = self.study.figures.iter().map(|figure| figure.name.as_str());
        let throughput = self.study.moves_bytes.then_some(THROUGHPUT);
        FIGURES.iter().map(|(name, _)| *name).chain(own).chain(throughput)
    }
}

/// A share in percent is one in parts, as limits are written with a percent sign.
fn quantity_of(unit: Unit) -> Quantity {
    match unit {
        Unit::Nanoseconds => Quantity::Time,
        Unit::Bytes => Quantity::Size,
        Unit::Share | Unit::Percent => Quantity::Share,
        Unit::Count | Unit::PerSecond | Unit::MegabytesPerSecond | Unit::Ratio => Quantity::Number,
    }
}

impl Plan {
    /// Whether each limit names a figure that this plan measures, in a unit that it has.
    pub fn check_limits(&self) -> Result<(), PlanError> {
        let arms = self.arms();
        let rows: Vec<Row<'_>> = arms.iter().map(|arm| Row::of_plan(self, arm)).collect();
        self.fail.iter().try_for_each(|limit| check(limit, &rows))
    }
}

fn check(limit: &Limit, rows: &[Row<'_>]) -> Result<(), PlanError> {
    let wrong = |why: String| PlanError(format!("--fail '{limit}': {why}"));
    let named: Vec<&Row<'_>> = rows.iter().filter(|row| row.is_named_by(&limit.subject)).collect();
    if named.is_empty() {
        let known = rows.iter().map(|row| row.id);
        return Err(wrong(format!(
            "this run has nothing that `{}` names{}",
            limit.subject,
            suggestion(&limit.subject, known)
        )));
    }
    for row in named {
        let quantity = row.quantity(&limit.figure).ok_or_else(|| {
            wrong(format!(
                "{} has no figure `{}`; there is {}",
                row.study.name,
                limit.figure,
                row.figures().collect::<Vec<_>>().join(", ")
            ))
        })?;
        limit.check(quantity).map_err(|error| PlanError(error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::LazyLock;

    use super::*;
    use crate::figure::FigureDescription;
    use crate::plan::{Draft, StudyPlan};
    use crate::study::StrategyDescription;

    static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| StudyDescription {
        strategies: ["one", "two"].map(|name| StrategyDescription::new(name, "", "")).to_vec(),
        figures: vec![FigureDescription::new("pages", "", "")],
        ..StudyDescription::new("made", "", "step")
    });

    fn checked(limit: &str) -> Result<(), String> {
        let draft = Draft {
            places: vec!["disk=/a".parse().unwrap(), "ram=/b".parse().unwrap()],
            studies: vec![StudyPlan {
                label: Some("shop.log".to_owned()),
                ..StudyPlan::new(&SPEC)
            }],
            fail: vec![limit.parse().unwrap()],
            ..Draft::default()
        };
        draft.finish(1).and_then(|plan| plan.check_limits()).map_err(|error| error.0)
    }

    #[test]
    fn a_limit_names_combinations_by_any_part_of_their_names() {
        for name in ["", "made.", "shop.log.", "made:shop.log.", "made@ram.", "made/two."] {
            assert_eq!(checked(&format!("{name}p99 > 5ms")), Ok(()), "{name}");
        }
        assert_eq!(checked("made:shop.log/two@ram.pages > 5"), Ok(()));
    }

    #[test]
    fn what_does_not_exist_is_answered_with_what_does() {
        let none = checked("made.p98 > 5ms").unwrap_err();
        assert!(none.contains("no figure `p98`; there is time, mean, p50"), "{none}");
        assert!(none.contains(", pages"), "{none}");
        let nothing = checked("made/three.p99 > 5ms").unwrap_err();
        assert!(nothing.contains("nothing that `made/three` names"), "{nothing}");
        let unit = checked("made.syncs > 5ms").unwrap_err();
        assert!(unit.contains("write the value of syncs without a unit"), "{unit}");
    }
}
