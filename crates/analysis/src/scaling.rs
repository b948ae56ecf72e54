//! How what several clients get done together grows with their number, and where it ends.
//!
//! The rate is that from the first client's start to the last one's end, as the study counts
//! it. Where clients outnumber processors, or some end late, it is less than their number
//! divided by that of one. The knee is the fewest clients whose rate falls short of the
//! highest by less than matters.

use model::analysis::ArmResult;
use model::grouped::in_groups;
use model::scaling::{CLIENTS, CLIENTS_PER_S, Scaling, ScalingPoint};

/// Of each way that was done by several numbers of clients.
pub(crate) fn of(arms: &[ArmResult], threshold: f64) -> Vec<Scaling> {
    let known = arms.iter().enumerate();
    let ways = in_groups(known.filter_map(|(index, arm)| Some((way(arm), point(index, arm)?))));
    let several = ways.into_iter().filter(|(_, points)| points.len() > 1);
    several.map(|(_, points)| scaling(&arms[points[0].arm], points, threshold)).collect()
}

fn point(arm: usize, result: &ArmResult) -> Option<ScalingPoint> {
    let clients = result.params.get(CLIENTS)?.parse().ok()?;
    let of_one = || result.typical_ns.filter(|typical_ns| clients == 1 && *typical_ns > 0.0);
    let counted = result.metrics.get(CLIENTS_PER_S).copied();
    let per_s = counted.or_else(|| of_one().map(|typical_ns| 1e9 / typical_ns))?;
    Some(ScalingPoint { arm, clients, per_s })
}

/// What arms have in common that differ in the number of clients alone.
fn way(arm: &ArmResult) -> impl PartialEq {
    let others = arm.params.iter().filter(|(name, _)| *name != CLIENTS);
    ([&arm.study, &arm.strategy, &arm.place], others.collect::<Vec<_>>())
}

fn scaling(way: &ArmResult, mut points: Vec<ScalingPoint>, threshold: f64) -> Scaling {
    points.sort_by_key(|point| point.clients);
    let highest = points.iter().map(|point| point.per_s).fold(0.0, f64::max);
    let enough = |point: &&ScalingPoint| point.per_s > highest * (1.0 - threshold);
    let knee = points.iter().find(enough).or(points.last());
    Scaling {
        study: way.study.clone(),
        strategy: way.strategy.clone(),
        place: way.place.clone(),
        knee: knee.map_or(1, |point| point.clients),
        points,
    }
}

#[cfg(test)]
mod tests {
    use model::description::FigureDescription;
    use model::study::{Better, Fold, Unit};

    use super::*;
    use crate::{analyse, testing};

    /// Arms of so many clients each, who do one operation in so long.
    fn found(clients: &[(&str, &str, u64)], threshold: f64) -> Vec<Scaling> {
        let blocks = (0..5).flat_map(|block| {
            let slice = move |(arm, (count, _, ns)): (usize, &(&str, &str, u64))| {
                let mut slice = testing::slice(arm, block);
                slice.spent.elapsed_ns = ns * slice.operations;
                if *count != "1" {
                    // Its clients did not work at the same time.
                    slice.spent.elapsed_ns /= 2;
                    let per_s = count.parse::<f64>().unwrap_or(0.0) * 1e9 / *ns as f64;
                    slice.outcome.figures.insert(CLIENTS_PER_S.to_owned(), per_s);
                }
                slice
            };
            clients.iter().enumerate().map(slice).collect::<Vec<_>>()
        });
        let mut run = testing::run(clients.len(), blocks.collect());
        for (arm, (count, other, _)) in run.plan.arms.iter_mut().zip(clients) {
            let params = [(CLIENTS, *count), ("size", *other)];
            arm.params = params.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            arm.place = 0;
        }
        run.studies[0].figures.push(FigureDescription {
            name: CLIENTS_PER_S.to_owned(),
            title: String::new(),
            about: String::new(),
            unit: Unit::PerSecond,
            better: Better::More,
            fold: Fold::Mean,
            shown: true,
        });
        run.plan.threshold = threshold;
        analyse(&run).scaling
    }

    #[test]
    fn the_knee_is_where_more_clients_get_no_more_done() {
        let arms = [("4", "a", 400), ("1", "a", 100), ("2", "a", 110), ("8", "a", 420)];
        let of_knee = |threshold| {
            let scaling = found(&arms, threshold);
            assert_eq!(scaling.len(), 1);
            let clients: Vec<u64> = scaling[0].points.iter().map(|point| point.clients).collect();
            assert_eq!(clients, [1, 2, 4, 8]);
            scaling[0].knee
        };
        // Together: 10, 18.2, 10 and 19 operations in a microsecond.
        assert_eq!((of_knee(0.01), of_knee(0.05), of_knee(0.5)), (8, 2, 1));
    }

    #[test]
    fn arms_that_differ_in_something_else_are_apart_and_one_number_is_none() {
        let scaling = found(&[("1", "a", 9), ("2", "a", 9), ("1", "b", 9), ("2", "c", 9)], 0.05);
        assert_eq!(scaling.len(), 1);
        assert_eq!(scaling[0].points.iter().map(|point| point.arm).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(found(&[("1", "a", 9)], 0.05), []);
    }
}
