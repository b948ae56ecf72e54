//! Processes outside of a recording that end its waits: looked at while they are there.

use std::collections::{HashMap, HashSet};
use std::{fs, iter};

use host::process::Stat;
use host::root::Root;
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
    let (process, name) = process_of(thread)?;
    let sockets = inherited::sockets(process).collect::<HashSet<u64>>();
    let address = connections::address(process, &sockets);
    Some(AwaitedProcess { number: first_of_program(process), name, address })
}

/// A server may answer each client by a process that ends with the client: the first process of the
/// same program stays.
fn first_of_program(process: u32) -> u32 {
    let program = |process: u32| fs::read_link(format!("/proc/{process}/exe")).ok();
    let parent =
        |process: u32| Stat::read(&Root::real(), process.cast_signed())?.parent.try_into().ok();
    let own = program(process);
    let parents = iter::successors(Some(process), |process| parent(*process));
    parents
        .take_while(|process| own.is_some() && program(*process) == own)
        .last()
        .unwrap_or(process)
}
