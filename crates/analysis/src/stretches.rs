//! How a run's rounds are cut into stretches, each of which is a short run by itself.
//!
//! The engine says of each slice which stretch it is part of. A run that was saved before
//! there were stretches is cut into as many parts of equally many rounds; files and folders
//! were not made again for these, so that the parts resemble each other more than stretches do.

use model::run::Run;
use stats::STRETCHES;

/// A run's stretches.
pub(crate) struct Cut {
    /// How many rounds each complete stretch has, in order. Rounds that follow are of one
    /// that was not completed.
    pub(crate) rounds: Vec<usize>,
    /// Whether they were not stretches when the run was measured.
    pub(crate) afterwards: bool,
}

/// Cuts a run.
pub(crate) fn cut(run: &Run) -> Cut {
    let stretches: Vec<Option<usize>> =
        run.blocks().map(|block| block.first().and_then(|slice| slice.stretch)).collect();
    if stretches.iter().any(Option::is_none) {
        return Cut { rounds: in_equal_parts(stretches.len()), afterwards: true };
    }
    let same = stretches.chunk_by(|a, b| a == b);
    let mut rounds: Vec<usize> = same.map(<[_]>::len).collect();
    // The last one was cut short where it has fewer rounds than any other.
    if (run.run.interrupted || run.run.ended_early.is_some())
        && let Some((last, others)) = rounds.split_last()
        && others.iter().min().is_none_or(|fewest| last < fewest)
    {
        rounds.pop();
    }
    Cut { rounds, afterwards: false }
}

/// So many rounds as parts that differ by one round at the most, none of them empty.
fn in_equal_parts(rounds: usize) -> Vec<usize> {
    let parts = rounds.min(STRETCHES);
    (0..parts).map(|part| (part + 1) * rounds / parts - part * rounds / parts).collect()
}

#[cfg(test)]
mod tests {
    use model::slice::Slice;

    use super::*;
    use crate::testing;

    /// A run of rounds of two arms that are part of these stretches.
    fn run(stretches: &[Option<usize>]) -> Run {
        let slice = |(block, stretch): (usize, &Option<usize>)| {
            [0, 1].map(|arm| Slice { stretch: *stretch, ..testing::slice(arm, block) })
        };
        testing::run(2, stretches.iter().enumerate().flat_map(slice).collect())
    }

    #[test]
    fn stretches_are_those_that_were_measured() {
        let measured = run(&[0, 0, 0, 1, 1, 2].map(Some));
        let Cut { rounds, afterwards } = cut(&measured);
        assert_eq!((rounds, afterwards), (vec![3, 2, 1], false));
        let mut interrupted = measured;
        interrupted.run.interrupted = true;
        assert_eq!(cut(&interrupted).rounds, [3, 2], "the last has fewer rounds than any other");
    }

    #[test]
    fn a_run_that_had_all_the_rounds_that_were_asked_for_has_its_last_stretch() {
        let mut measured = run(&[0, 1, 2, 3, 4].map(Some));
        measured.run.ended_early = Some("it has all the rounds that were asked for".to_owned());
        assert_eq!(cut(&measured).rounds, [1; 5]);
    }

    #[test]
    fn a_run_without_stretches_is_cut_into_ten() {
        let Cut { rounds, afterwards } = cut(&run(&[None; 43]));
        assert_eq!((rounds.len(), rounds.iter().sum::<usize>(), afterwards), (10, 43, true));
        assert!(rounds.iter().all(|rounds| (4..=5).contains(rounds)), "{rounds:?}");
        assert_eq!(cut(&run(&[None; 3])).rounds, [1; 3]);
        assert!(cut(&run(&[])).rounds.is_empty());
    }
}
