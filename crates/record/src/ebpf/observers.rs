//! What is seen beside system calls: page faults of mapped files, `io_uring`, and when a program is
//! idle. A kernel may lack any of it; the recording then says so.

use std::io;

use host::clock::monotonic_ns;
use trace::{Entry, Sees};

use super::assembler::Maps;
use super::btf::Btf;
use super::fault_programs;
use super::kernel::{Kind, Map, Program};
use super::places::Places;
use super::programs::{Named, load};
use super::ring_programs;
use super::switch_program::{self, Observed, Words};

/// As many faults, and as many operations of rings, can be under way at a time.
const UNDER_WAY: u32 = 1 << 14;
const WORD: u32 = 8;

/// The programs, with the maps that they use.
pub(super) struct Observers {
    faults: Vec<Program>,
    rings: Vec<Program>,
    words: Option<IdleWords>,
    _maps: Vec<Map>,
}

struct IdleWords {
    _runs_here: Map,
    running: Map,
    since: Map,
}

impl Observers {
    /// Loads what this kernel takes, without attaching it, and the program that sees how processors
    /// go from thread to thread, which there has to be.
    pub(super) fn load(btf: &Btf, maps: &Maps, places: &Places) -> io::Result<(Self, Program)> {
        let mut kept = Vec::new();
        let rings = rings(btf, maps, &mut kept);
        let (faults, map) = faults(btf, maps).unzip();
        let number = map.as_ref().map(Map::number);
        let (switch, words) = match idle(btf, maps, number, places) {
            Some((switch, words)) => (switch, Some(words)),
            None => (switch(btf, maps, places, None)?, None),
        };
        // Without it, nobody sees how long they take.
        let faults = faults.filter(|_| words.is_some()).unwrap_or_default();
        kept.extend(map);
        let rings = rings.unwrap_or_default();
        Ok((Self { faults, rings, words, _maps: kept }, switch))
    }

    /// From now on they run; what of them does.
    pub(super) fn attach(&mut self) -> Sees {
        let all = |programs: &mut Vec<Program>| {
            let attached = programs.iter_mut().try_for_each(Program::attach).is_ok();
            if !attached {
                programs.clear();
            }
            !programs.is_empty()
        };
        let (faults, rings) = (all(&mut self.faults), all(&mut self.rings));
        Sees { faults, rings, idle: self.words.is_some() }
    }

    pub(super) fn detach(&mut self) {
        self.faults.iter_mut().chain(&mut self.rings).for_each(Program::detach);
    }

    pub(super) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.faults.iter().chain(&self.rings)
    }

    /// None of the threads that are followed runs just now.
    pub(super) fn none_runs(&self) -> io::Result<()> {
        let Some(words) = &self.words else { return Ok(()) };
        words.since.set(&0_u32.to_ne_bytes(), &monotonic_ns().to_ne_bytes())
    }

    /// The idle time that has not ended yet.
    pub(super) fn idle_until_now(&self) -> io::Result<Option<Entry>> {
        let Some(words) = &self.words else { return Ok(None) };
        let (running, began_ns) = (words.running.number_at(0)?, words.since.number_at(0)?);
        let ended_ns = monotonic_ns();
        let is_idle = running == 0 && (1..ended_ns).contains(&began_ns);
        let took_ns = ended_ns.saturating_sub(began_ns);
        Ok(is_idle.then_some(Entry::Idle { at_ns: began_ns, took_ns }))
    }
}

fn loaded(btf: &Btf, programs: impl IntoIterator<Item = Named>) -> Option<Vec<Program>> {
    programs.into_iter().map(|program| load(btf, program).ok()).collect()
}

fn faults(btf: &Btf, maps: &Maps) -> Option<(Vec<Program>, Map)> {
    // Where the kernel lacks this, the others are of no use.
    btf.tracepoint(fault_programs::OF_FILE)?;
    let map = Map::new(Kind::RecentHash, 4, fault_programs::FAULT_BYTES, UNDER_WAY).ok()?;
    let number = map.number();
    let of_file = fault_programs::of_file(maps, number, btf);
    let programs = [
        ("page_mapped", fault_programs::MAPPED, fault_programs::mapped(maps, number)),
        ("page_dirtied", fault_programs::DIRTIED, fault_programs::dirtied(maps, number)),
        ("fault_of_file", fault_programs::OF_FILE, of_file),
        ("fault", fault_programs::ANY, fault_programs::any(maps, number)),
    ];
    Some((loaded(btf, programs)?, map))
}

fn rings(btf: &Btf, maps: &Maps, kept: &mut Vec<Map>) -> Option<Vec<Program>> {
    btf.tracepoint(ring_programs::HANDED_IN)?;
    let requests = Map::new(Kind::Hash, WORD, ring_programs::REQUEST_BYTES, UNDER_WAY).ok()?;
    let number = requests.number();
    kept.push(requests);
    let done = ring_programs::done(maps, number, btf);
    let hand_in = ring_programs::hand_in(maps, number, btf);
    let programs = [
        ("ring_done", ring_programs::DONE, done),
        ("ring_hand_in", ring_programs::HANDED_IN, hand_in),
    ];
    loaded(btf, programs)
}

/// The program that also sees when no thread runs, and which sleep in a fault.
fn idle(
    btf: &Btf,
    maps: &Maps,
    faults: Option<i32>,
    places: &Places,
) -> Option<(Program, IdleWords)> {
    let runs_here = Map::new(Kind::PerProcessorArray, 4, WORD, 1).ok()?;
    let running = Map::new(Kind::Array, 4, WORD, 1).ok()?;
    let since = Map::new(Kind::Array, 4, WORD, 1).ok()?;
    let words =
        Words { runs_here: runs_here.number(), running: running.number(), since: since.number() };
    let program = switch(btf, maps, places, Some(&Observed { words, faults })).ok()?;
    Some((program, IdleWords { _runs_here: runs_here, running, since }))
}

fn switch(
    btf: &Btf,
    maps: &Maps,
    places: &Places,
    observed: Option<&Observed>,
) -> io::Result<Program> {
    let code = switch_program::switch(maps, places, observed);
    load(btf, ("switch", switch_program::TRACEPOINT, code))
}
