//! The targets.

mod checks;
mod kernel;
mod plans;
mod protocols;
mod results;
mod ring;
mod seeds;
mod texts;
mod traces;

use crate::Target;

/// All of them, those first that take longest.
pub fn all() -> Vec<Target> {
    [
        results::all(),
        ring::all(),
        traces::all(),
        plans::all(),
        protocols::all(),
        kernel::all(),
        texts::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Each line of a text as an input.
fn lines(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_its_share_and_all_of_them_are_all() {
        assert_eq!(all().iter().map(|target| target.share).sum::<u64>(), 10_000);
        assert!(all().iter().all(|target| target.share >= 100));
        let mut names: Vec<&str> = all().iter().map(|target| target.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
