//! The clocks of the ranks below one, by which it tells them when to start.
//!
//! Each rank knows the clocks of those directly below it, and tells them what it was told
//! itself. So rank 0 asks a few however many there are, and what is not known adds up on the
//! way down.

use std::collections::HashMap;
use std::ops::Range;

use host::clock::{monotonic_name, monotonic_ns};
use process::StopFlag;

use crate::clock::{Offset, Round};
use crate::comm::Comm;
use crate::error::Error;
use crate::message::{FromRank, Reading, ToRank, When, written};
use crate::waiting::answer;

/// How often a rank is asked for the time at once, of which the quickest answer counts.
const ROUNDS: usize = 5;

/// How clocks stand to this one.
pub(crate) struct Clocks {
    /// Which clock this one is, where that is known.
    own: Option<String>,
    known: HashMap<usize, Offset>,
}

impl Clocks {
    /// None so far.
    pub(crate) fn new() -> Self {
        Self { own: monotonic_name(), known: HashMap::new() }
    }

    /// What this rank answers whoever asks for the time.
    pub(crate) fn reading(&self) -> Reading {
        Reading { monotonic_ns: monotonic_ns(), clock: self.own.clone() }
    }

    /// Asks those of these ranks of whose clocks too little is known by now. They have nothing
    /// else to say.
    pub(crate) fn ask(
        &mut self,
        comm: &dyn Comm,
        ranks: Range<usize>,
        stop: &StopFlag,
    ) -> Result<(), Error> {
        for rank in ranks {
            let known = self.known.get(&rank);
            if known.is_none_or(|offset| offset.is_stale(monotonic_ns())) {
                let rounds: Result<Vec<_>, _> =
                    (0..ROUNDS).map(|_| self.round(comm, rank, stop)).collect();
                self.known.extend(Offset::of(&rounds?).map(|offset| (rank, offset)));
            }
        }
        Ok(())
    }

    fn round(&self, comm: &dyn Comm, rank: usize, stop: &StopFlag) -> Result<Round, Error> {
        let asked_ns = monotonic_ns();
        comm.send(rank, &written(&ToRank::Time)?)?;
        let Reading { monotonic_ns: theirs_ns, clock } =
            answer(comm, rank, stop, |message| match message {
                FromRank::Time(reading) => Some(reading),
                _ => None,
            })?;
        let is_one = clock.is_some() && clock == self.own;
        Ok(Round { asked_ns, theirs_ns, answered_ns: monotonic_ns(), is_one })
    }

    /// A moment of this clock, by that of a rank.
    pub(crate) fn theirs(&self, rank: usize, When { at_ns, error_ns }: When) -> When {
        let offset = self.known.get(&rank).copied().unwrap_or_default();
        let more_ns = offset.error_ns(monotonic_ns());
        When { at_ns: offset.theirs(at_ns), error_ns: error_ns.saturating_add(more_ns) }
    }
}
