//! Processes outside of a recording that end its waits: looked at while they are there.

use std::collections::{HashMap, HashSet};

use trace::AwaitedProcess;

use crate::process_of::process_of;
use crate::{connections, inherited};

/// So many are looked at.
const LOOKED_AT: usize = 256;

/// What was found, by thread; none for one that was gone already.
#[derive(Default)]
pub(crate) struct Outside(HashMap<u32, Option<AwaitedProcess>>);

impl Outside {
    /// A thread has ended a wait.
    pub(crate) fn meet(&mut self, thread: u32) {
        if self.0.len() < LOOKED_AT || self.0.contains_key(&thread) {
            self.0.entry(thread).or_insert_with(|| look(thread));
        }
    }

    pub(crate) fn found(self) -> HashMap<u32, AwaitedProcess> {
        self.0.into_iter().filter_map(|(thread, found)| Some((thread, found?))).collect()
    }
}

fn look(thread: u32) -> Option<AwaitedProcess> {
    let (number, name) = process_of(thread)?;
    let sockets = inherited::sockets(number).collect::<HashSet<u64>>();
    Some(AwaitedProcess { number, name, address: connections::address(number, &sockets) })
}
