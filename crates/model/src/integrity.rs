//! What became of the records that a study wrote: every one accounted for.

use serde::{Deserialize, Serialize};

/// What became of the records that were written. A record that broke is counted
/// in one of the fields, never in two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Integrity {
    /// Records that were acknowledged to their writers, and so checked.
    pub records: u64,
    /// No trace is left.
    pub lost: u64,
    /// Cut off: the beginning is there, the end is not.
    pub torn: u64,
    /// Mixed with another's on one line.
    pub interleaved: u64,
    /// The end is there, and something else stands where it began.
    #[serde(default)]
    pub overwritten: u64,
    /// There although nobody wrote it: a line, a file or bytes that are no record's.
    #[serde(default)]
    pub foreign: u64,
    /// Whole copies beyond the first.
    pub duplicated: u64,
    /// Whole, but after a later record of the same writer.
    pub reordered: u64,
    /// What a record of this size has room to show.
    #[serde(default)]
    pub checks: Checks,
    /// A line that broke, cut to what fits, with what cannot be printed escaped.
    #[serde(default)]
    pub example: Option<String>,
}

/// What a record's size leaves room to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Checks {
    /// Run, writer, sequence, length, payload and a checksum of 32 bits.
    #[default]
    Full,
    /// Writer, sequence, payload and a checksum of 12 bits.
    Short,
    /// How many lines of the right length each writer has; a record that is
    /// replaced by a copy of another goes unseen.
    Count,
}

impl Integrity {
    /// Records that are not as they were written.
    pub fn broken(&self) -> u64 {
        self.kinds().map(|(_, count)| count).sum()
    }

    /// Whether every record is there, once, whole and in order.
    pub fn is_intact(&self) -> bool {
        self.broken() == 0
    }

    /// Where none broke: the largest share of broken records that is still
    /// believable, at 95%. With n records and none broken it is 1 − 0.05^(1/n),
    /// some 3/n (the rule of three; Hanley and Lippman-Hand, JAMA 249, 1983).
    pub fn share_at_most(&self) -> Option<f64> {
        let known = self.is_intact() && self.records > 0;
        known.then(|| -(0.05_f64.ln() / self.records as f64).exp_m1())
    }

    /// Both accounts together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            lost: self.lost + other.lost,
            torn: self.torn + other.torn,
            interleaved: self.interleaved + other.interleaved,
            overwritten: self.overwritten + other.overwritten,
            foreign: self.foreign + other.foreign,
            duplicated: self.duplicated + other.duplicated,
            reordered: self.reordered + other.reordered,
            checks: self.checks,
            example: self.example.or(other.example),
        }
    }

    /// The kinds of breakage that there are, with their counts: `lost`, 3.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("lost", self.lost),
            ("torn", self.torn),
            ("interleaved", self.interleaved),
            ("overwritten", self.overwritten),
            ("foreign", self.foreign),
            ("duplicated", self.duplicated),
            ("reordered", self.reordered),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_broken_bounds_the_share_by_the_rule_of_three() {
        let intact = Integrity { records: 1_000_000, ..Integrity::default() };
        assert!(intact.share_at_most().is_some_and(|share| (share * 1e6 - 2.9957).abs() < 0.001));
        assert_eq!(Integrity { lost: 1, ..intact }.share_at_most(), None);
        assert_eq!(Integrity::default().share_at_most(), None);
    }

    #[test]
    fn every_kind_counts_as_broken_and_survives_adding_up() {
        let one = Integrity {
            records: 9,
            lost: 1,
            torn: 1,
            interleaved: 1,
            overwritten: 1,
            foreign: 1,
            duplicated: 1,
            reordered: 1,
            ..Integrity::default()
        };
        let two = one.clone().and(one);
        assert_eq!((two.broken(), two.kinds().count()), (14, 7));
        assert!(two.kinds().all(|(_, count)| count == 2));
    }
}
