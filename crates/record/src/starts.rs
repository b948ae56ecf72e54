//! The cost of starting processes under a recorder: eBPF programs run when one is forked, faults on a
//! page and exits, and a preloaded library is loaded by each program.
//!
//! A small program starts processes, bare and recorded, and prints the processor time of each from its
//! start to its end. The cost of their few calls is part of that, and is counted twice.

use trace::OverheadNs;

use crate::middles::{middle_half, no_less, numbers};
use crate::timing::STARTS;

/// A recording waits for a measurement until there are this many. Each scatters by as much as
/// starting costs.
const ENOUGH: usize = 8;
/// The number of measurements that are kept, the latest.
const KEPT: usize = 3 * ENOUGH;

/// What a process took that did nothing, and one that became a program, in nanoseconds.
pub(crate) type Round = [u64; 2];

/// How much more both took, each time that it was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Starts(Vec<[i64; 2]>);

impl Starts {
    /// What the program said.
    pub(crate) fn read_rounds(text: &str) -> Vec<Round> {
        text.lines().filter_map(numbers).take(STARTS).collect()
    }

    /// Those of these lines that are of starts.
    pub(crate) fn read(text: &str) -> Self {
        Self(text.lines().filter_map(numbers).take(KEPT).collect())
    }

    /// The same as lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|[process, program]| format!("{process} {program}"))
    }

    /// Whether enough is known for a recording to begin.
    pub(crate) fn are_enough(&self) -> bool {
        self.0.len() >= ENOUGH
    }

    /// Whether as many are there as are kept.
    pub(crate) fn are_full(&self) -> bool {
        self.0.len() >= KEPT
    }

    /// Adds rounds without the recorder and with it; nothing where one of them is missing. The quicker
    /// rounds are compared: what slows a start is others' work.
    pub(crate) fn add(&mut self, bare: &[Round], recorded: &[Round]) {
        let of = |rounds: &[Round], at: usize| {
            let mut took: Vec<u64> = rounds.iter().map(|round| round[at]).collect();
            took.sort_unstable();
            took.get(took.len() / 4).copied()
        };
        let beyond = |at| Some(of(recorded, at)?.cast_signed() - of(bare, at)?.cast_signed());
        if let (Some(process), Some(program)) = (beyond(0), beyond(1)) {
            self.0.push([process, program]);
            let surplus = self.0.len().saturating_sub(KEPT);
            self.0.drain(..surplus);
        }
    }

    /// How much longer a process takes, and how much more where it becomes a program. None where that
    /// is not known.
    pub(crate) fn overhead(&self) -> Option<[OverheadNs; 2]> {
        let of = |figure: &dyn Fn(&[i64; 2]) -> i64| {
            middle_half(self.0.iter().map(figure).collect()).map(no_less)
        };
        Some([
            of(&|[process, _]| *process)?,
            of(&|[process, program]| program - (*process).max(0))?,
        ])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Fails where what a program costs has that of its process in it, or a slow round counts.
    #[test]
    fn a_program_costs_more_than_its_process() {
        let mut starts = Starts::default();
        assert_eq!(starts.overhead(), None);
        starts.add(&[], &[[1, 1]]);
        assert_eq!(starts.overhead(), None);
        let bare = [[100, 400], [110, 410], [130, 9_000], [140, 430]];
        starts.add(&bare, &[[180, 680], [5_000, 690], [160, 670], [9_000, 9_000]]);
        let exactly = |ns| OverheadNs { low: ns, high: ns };
        assert_eq!(starts.overhead(), Some([exactly(70), exactly(200)]));
        // Nothing is faster for it.
        let mut faster = Starts::default();
        faster.add(&bare, &[[50, 500]]);
        assert_eq!(faster.overhead(), Some([exactly(0), exactly(90)]));
    }

    #[test]
    fn the_latest_are_kept() {
        let mut starts = Starts::default();
        starts.add(&[[1, 2]], &[[1, 2]]);
        while starts.0.len() < KEPT || starts.0[0] == [0, 0] {
            assert_eq!(starts.are_enough(), starts.0.len() >= ENOUGH);
            starts.add(&[[1, 2]], &[[4, 9]]);
        }
        assert!(starts.are_full() && starts.0.len() == KEPT);
        let text: String = starts.lines().map(|line| line + "\n").collect();
        assert_eq!(Starts::read(&format!("1 2 3\n{text}3 7\n")), starts);
    }
}
