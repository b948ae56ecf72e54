//! How far another rank's clock is ahead of this one's, and how surely that is known.
//!
//! Each rank is asked for the time. It answered between the asking and the answer, so its clock
//! is known within half of what that took (Cristian: Probabilistic clock synchronization, 1989).
//! Of several rounds the shortest counts. Clocks of two machines go apart slowly; an
//! offset is taken anew after a while, and until then its error grows. Ranks on one machine
//! have one clock between them, of which nothing is uncertain.

/// The most by which two clocks go apart: Linux slews its clock by at most 500 ppm
/// (adjtimex(2)), and oscillators of computers are off by less than 100.
const DRIFT: f64 = 600e-6;
/// After this long an offset is taken anew: until then drift adds 0.15 ms at the most.
const FRESH_NS: u64 = 250_000_000;

/// One question for the time, by the clock of whoever asked, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) asked_ns: u64,
    pub(crate) theirs_ns: u64,
    pub(crate) answered_ns: u64,
    /// Whether both say that theirs is the same clock.
    pub(crate) is_one: bool,
}

/// How a clock stands to this one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Offset {
    ahead_ns: i64,
    error_ns: u64,
    taken_ns: u64,
    /// It is this one.
    is_one: bool,
}

impl Offset {
    /// By the shortest of some rounds; nothing of none.
    pub(crate) fn of(rounds: &[Round]) -> Option<Self> {
        let took = |round: &&Round| round.answered_ns.saturating_sub(round.asked_ns);
        let Round { asked_ns, theirs_ns, answered_ns, is_one } = *rounds.iter().min_by_key(took)?;
        // Copies of one virtual machine say so, too, and show other times.
        if is_one && (asked_ns..=answered_ns).contains(&theirs_ns) {
            return Some(Self { is_one, taken_ns: answered_ns, ..Self::default() });
        }
        let error_ns = answered_ns.saturating_sub(asked_ns).div_ceil(2);
        let between = asked_ns + error_ns;
        let ahead_ns = theirs_ns.wrapping_sub(between).cast_signed();
        Some(Self { ahead_ns, error_ns, taken_ns: answered_ns, is_one: false })
    }

    /// What their clock shows when this one shows `ns`.
    pub(crate) fn theirs(self, ns: u64) -> u64 {
        ns.wrapping_add_signed(self.ahead_ns)
    }

    /// By how much that may be wrong at `now_ns` of this clock.
    pub(crate) fn error_ns(self, now_ns: u64) -> u64 {
        let drift = if self.is_one { 0.0 } else { DRIFT };
        self.error_ns + (self.age_ns(now_ns) as f64 * drift) as u64
    }

    /// Whether it is time to take it anew.
    pub(crate) fn is_stale(self, now_ns: u64) -> bool {
        !self.is_one && self.age_ns(now_ns) > FRESH_NS
    }

    fn age_ns(self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.taken_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that is ahead by so much, asked over a way that takes so long.
    fn round(ahead_ns: i64, there_ns: u64, back_ns: u64) -> Round {
        let asked_ns = 5_000_000;
        let theirs_ns = (asked_ns + there_ns).wrapping_add_signed(ahead_ns);
        Round { asked_ns, theirs_ns, answered_ns: asked_ns + there_ns + back_ns, is_one: false }
    }

    #[test]
    fn the_true_offset_lies_within_the_error_however_uneven_the_way() {
        for ahead_ns in [0, 7_000_000_000, -4_000_000, -5_000_000_000] {
            for (there, back) in [(10, 10), (0, 400), (900, 1), (1, 0)] {
                let rounds = [round(ahead_ns, 50_000, 3), round(ahead_ns, there, back)];
                let offset = Offset::of(&rounds).unwrap_or_default();
                let truth = 6_000_000_u64.wrapping_add_signed(ahead_ns);
                let off = offset.theirs(6_000_000).wrapping_sub(truth).cast_signed();
                assert!(off.unsigned_abs() <= offset.error_ns, "{off} of {offset:?}");
                assert!(offset.error_ns <= (there + back).div_ceil(2), "the shortest counts");
            }
        }
    }

    #[test]
    fn an_offset_is_worth_less_with_time_and_is_taken_anew() {
        let offset = Offset::of(&[round(0, 100, 100)]).unwrap_or_default();
        let taken = offset.taken_ns;
        assert_eq!(offset.error_ns(taken), 100);
        assert_eq!(offset.error_ns(taken + 1_000_000), 700);
        assert!(!offset.is_stale(taken + FRESH_NS) && offset.is_stale(taken + FRESH_NS + 1));
        assert_eq!(Offset::of(&[]), None);
    }

    #[test]
    fn ranks_of_one_machine_have_one_clock_unless_it_shows_otherwise() {
        let one = |round: Round| Offset::of(&[Round { is_one: true, ..round }]).unwrap_or_default();
        let same = one(round(0, 900, 100));
        assert_eq!((same.theirs(77), same.error_ns(u64::MAX)), (77, 0));
        assert!(!same.is_stale(u64::MAX));
        // A virtual machine was copied while it ran.
        let copied = round(7_000_000, 900, 100);
        assert_eq!(Some(one(copied)), Offset::of(&[copied]));
    }
}
