//! Whether the arm that ran before changes what the next one takes.
//!
//! An arm may leave a full queue, a cold cache or a busy disk to whatever runs
//! next. Of two arms in blocks of two, each mostly follows the other, so that the
//! comparison is off by half of what one leaves behind and the other does not.
//!
//! The log time of a slice is taken as the sum of its arm's level, its block's
//! level and what the arm before left behind. The levels are taken out by medians
//! (J. W. Tukey's median polish, 1977), and of what remains each arm's slices are
//! ranked among themselves. The order being random, which of them followed a given
//! arm is random, too, whatever the noise: the ranks are tested against it as in a
//! stratified rank test (P. van Elteren 1960), with the levels of arms and blocks
//! taken out of "followed" as they were of the times. The sum over the blocks is
//! divided by the root of its sum of squares, which needs no variance to exist or
//! to be the same in all blocks (B. Efron, "Student's t-test under symmetry
//! conditions", 1969).

use std::collections::BTreeMap;

use crate::bisect::bisect;
use crate::median::median;
use crate::normal;

/// Rounds of taking out the levels of blocks and of arms in turn; two are enough where
/// each block has every arm.
const ROUNDS: usize = 4;
/// Halvings of the bracket in which an effect is searched: to a millionth of it.
const HALVINGS: usize = 20;

/// To find how much one changes takes dozens of times as long as that it does.
const FOUND_MAX: usize = 16;

/// One slice of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The arm that ran.
    pub arm: usize,
    /// The block that the slice is part of.
    pub block: usize,
    /// The arm that ran just before; nothing where none did.
    pub before: Option<usize>,
    /// The natural logarithm of the slice's time; finite.
    pub log_typical: f64,
}

/// An arm that surely changes what follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarryOver {
    /// The arm.
    pub after: usize,
    /// By how much the log time of what follows it is higher than after the others.
    pub effect: f64,
    /// The same in standard deviations.
    pub z: f64,
}

/// The arms that surely change the time of what follows them, the strongest first, sixteen at
/// the most.
/// At most a share `level` of runs without any such arm have one.
///
/// Of two arms, what one leaves behind can only be told against what the other does:
/// the one after which times are higher is named.
pub fn carry_over(steps: &[Step], level: f64) -> Vec<CarryOver> {
    let steps: Vec<Step> = steps.iter().filter(|step| step.before.is_some()).copied().collect();
    let by_arm = groups(&steps, |step| step.arm);
    let by_block = groups(&steps, |step| step.block);
    let before = groups(&steps, |step| step.before.unwrap_or_default());
    if before.len() < 2 {
        return Vec::new();
    }
    let groups = [&by_block, &by_arm];
    let typical_times: Vec<f64> = steps.iter().map(|step| step.log_typical).collect();
    let ranked = scores(&typical_times, groups);
    let follows = |followers: &[usize]| {
        let mut follows = vec![0.0; steps.len()];
        for &index in followers {
            follows[index] = 1.0;
        }
        follows
    };
    let labels = |follows: &[f64]| without_levels(follows, groups, mean);
    let mut sure = Vec::new();
    for (&after, followers) in &before {
        let z = Test { labels: &labels(&follows(followers)), groups }.z(&ranked);
        let is_sure = normal::beyond(z) * before.len() as f64 <= level;
        if is_sure && (before.len() > 2 || z > 0.0) {
            sure.push((after, followers, z));
        }
    }
    sure.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    sure.truncate(FOUND_MAX);
    let found = sure.into_iter().map(|(after, followers, z)| {
        let follows = follows(followers);
        let effect = Test { labels: &labels(&follows), groups }.effect(&follows, &typical_times);
        CarryOver { after, effect, z }
    });
    found.collect()
}

/// The indices of slices that have a key in common.
type Groups = BTreeMap<usize, Vec<usize>>;

fn groups(steps: &[Step], key: impl Fn(&Step) -> usize) -> Groups {
    let mut groups = Groups::new();
    for (index, step) in steps.iter().enumerate() {
        groups.entry(key(step)).or_default().push(index);
    }
    groups
}

/// A value for each slice without the levels of blocks and of arms, which are the
/// mean or the median of what each has left.
fn without_levels(values: &[f64], ways: [&Groups; 2], level: fn(&mut [f64]) -> f64) -> Vec<f64> {
    let mut left = values.to_vec();
    for _ in 0..ROUNDS {
        for group in ways.iter().flat_map(|way| way.values()) {
            let mut of_group: Vec<f64> = group.iter().map(|&index| left[index]).collect();
            let level = level(&mut of_group);
            for &index in group {
                left[index] -= level;
            }
        }
    }
    left
}

fn mean(values: &mut [f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The rank of each slice among those of its arm, from -½ to ½, by what is left of its
/// time without the levels of blocks and arms.
fn scores(typical_times: &[f64], groups: [&Groups; 2]) -> Vec<f64> {
    let [_, by_arm] = groups;
    let values = without_levels(typical_times, groups, median);
    let mut scores = vec![0.0; values.len()];
    for group in by_arm.values() {
        let mut sorted: Vec<f64> = group.iter().map(|&index| values[index]).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        for &index in group {
            let value = &values[index];
            let smaller = sorted.partition_point(|other| other < value);
            let before = sorted.partition_point(|other| other.total_cmp(value).is_lt());
            let equal = sorted.partition_point(|other| other.total_cmp(value).is_le()) - before;
            let rank = smaller as f64 + 0.5 * equal as f64;
            scores[index] = rank / group.len() as f64 - 0.5;
        }
    }
    scores
}

/// Whether what follows an arm takes longer than what does not.
struct Test<'a> {
    /// Whether each slice follows the arm, without the levels of blocks and arms.
    labels: &'a [f64],
    /// By block and by arm.
    groups: [&'a Groups; 2],
}

impl Test<'_> {
    /// The sum over the blocks of what ranks and labels have in common, over the root
    /// of its sum of squares.
    fn z(&self, scores: &[f64]) -> f64 {
        let [by_block, _] = self.groups;
        let of_block = |block: &Vec<usize>| block.iter().map(|&i| self.labels[i] * scores[i]).sum();
        let sums: Vec<f64> = by_block.values().map(of_block).collect();
        let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
        if squares > 0.0 { sums.iter().sum::<f64>() / squares.sqrt() } else { 0.0 }
    }

    /// What, once it is taken off the slices that follow the arm, leaves nothing to be
    /// found (J. L. Hodges and E. L. Lehmann 1963).
    fn effect(&self, follows: &[f64], typical_times: &[f64]) -> f64 {
        let left = without_levels(typical_times, self.groups, median);
        let farthest = left.iter().fold(0.0, |most: f64, typical| most.max(typical.abs()));
        let leaves_some = |taken: f64| {
            let without = typical_times.iter().zip(follows).map(|(typical, f)| typical - taken * f);
            self.z(&scores(&without.collect::<Vec<_>>(), self.groups)) > 0.0
        };
        let (low, high) = bisect(-2.0 * farthest, 2.0 * farthest, HALVINGS, leaves_some);
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices in this order, each block having so many; what follows arm 1 takes longer
    /// by `left`. What else scatters is small and alike in all orders.
    fn ran(order: &[usize], of_block: usize, left: f64) -> Vec<Step> {
        let before = [None].into_iter().chain(order.iter().copied().map(Some));
        let slices = order.iter().zip(before).enumerate();
        slices
            .map(|(index, (&arm, before))| Step {
                arm,
                block: index / of_block,
                before,
                log_typical: 5.0 * arm as f64
                    + if before == Some(1) { left } else { 0.0 }
                    + 0.01 * (index * 17 % 40) as f64 / 40.0,
            })
            .collect()
    }

    const OF_THREE: [usize; 12] = [0, 1, 2, 2, 1, 0, 1, 0, 2, 2, 0, 1];

    #[test]
    fn of_three_arms_the_one_that_leaves_something_is_named() {
        let found = carry_over(&ran(&OF_THREE.repeat(10), 3, 0.2), 0.01);
        assert_eq!(found[0].after, 1);
        assert!((found[0].effect - 0.2).abs() < 0.01, "{found:?}");
        assert_eq!(carry_over(&ran(&OF_THREE.repeat(10), 3, 0.0), 0.01), []);
    }

    #[test]
    fn of_two_arms_the_one_after_which_tolls_are_higher_is_named() {
        let order = [0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0].repeat(5);
        for (left, after) in [(0.2, 1), (-0.2, 0)] {
            let found = carry_over(&ran(&order, 2, left), 0.01);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].after, after);
            assert!((found[0].effect - 0.2).abs() < 0.01, "{found:?}");
        }
    }

    #[test]
    fn one_arm_or_none_leaves_nothing_to_others() {
        assert_eq!(carry_over(&[], 0.01), []);
        assert_eq!(carry_over(&ran(&[0; 30], 1, 0.0), 0.01), []);
        assert_eq!(carry_over(&ran(&[0, 1], 2, 0.3), 0.01), []);
    }
}
