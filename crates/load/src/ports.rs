//! Local ports: how many there are, how many are taken, and where more come
//! from.
//!
//! A connection takes a local port for as long as it lasts. When this side
//! closes first, the port stays taken for another minute (`TIME_WAIT`), or, with
//! `net.ipv4.tcp_tw_reuse`, for one second. The server is asked to close
//! first, which leaves that burden to it, but not every server does.
//!
//! A port is taken for one pair of addresses only. Towards a server on
//! 127.0.0.0/8 any other address of that network serves as a source with as
//! many ports of its own, so that no load on this host ends for want of ports.

use host::{
    clock::SECOND_NS,
    ports::{PortRules, TIME_WAIT_S},
};
use std::net::Ipv4Addr;

/// The fuller the range, the longer the kernel looks for a free port. Past
/// this share of it, connecting becomes slow enough to show.
const FULL: f64 = 0.6;
/// Source addresses used at most: 127.0.0.1 (by default) to 127.0.0.64.
const SOURCES_MAX: u32 = 64;

/// Where the next connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The system chooses.
    Any,
    /// This address, with a port that the system chooses.
    Loopback(Ipv4Addr),
}

/// Source addresses needed for so many ports at a time.
pub(crate) fn sources_for(rules: PortRules, ports: u64) -> u64 {
    let usable = (rules.per_source as f64 * FULL) as u64;
    ports.div_ceil(usable.max(1)).max(1)
}

/// The ports that this load has taken, as far as it can know.
#[derive(Debug)]
pub(crate) struct Ports {
    rules: PortRules,
    may_add_sources: bool,
    sources: u32,
    turn: u32,
    /// Ports in `TIME_WAIT` when the load began, not ours.
    foreign: u64,
    /// Closes by this side in each of the last seconds, round and round.
    closes: Box<[u64; TIME_WAIT_S as usize]>,
    held: u64,
    second: u64,
}

impl Ports {
    pub(crate) fn new(rules: PortRules, may_add_sources: bool, foreign: u64) -> Self {
        Self {
            rules,
            may_add_sources,
            sources: 1,
            turn: 0,
            foreign,
            closes: Box::new([0; TIME_WAIT_S as usize]),
            held: 0,
            second: 0,
        }
    }

    /// Source addresses in use.
    pub(crate) fn sources(&self) -> u32 {
        self.sources
    }

    /// Notes that a port stays taken because this side closed first.
    pub(crate) fn closed_first(&mut self, now_ns: u64) {
        self.advance(now_ns / SECOND_NS);
        self.closes[(self.second % TIME_WAIT_S) as usize] += 1;
        self.held += 1;
    }

    /// Chooses where the next connection comes from, `open` being open.
    pub(crate) fn next_source(&mut self, now_ns: u64, open: u64) -> Source {
        if !self.may_add_sources {
            return Source::Any;
        }
        self.advance(now_ns / SECOND_NS);
        let taken = self.foreign + self.held + open;
        let usable = self.rules.per_source as f64 * FULL * f64::from(self.sources);
        if taken as f64 >= usable {
            self.add_source();
        }
        if self.sources == 1 {
            return Source::Any;
        }
        self.turn = (self.turn + 1) % self.sources;
        Source::Loopback(Ipv4Addr::new(127, 0, 0, (self.turn + 1) as u8))
    }

    /// Takes one source address more; false when there is none.
    pub(crate) fn add_source(&mut self) -> bool {
        let may = self.may_add_sources && self.sources < SOURCES_MAX;
        self.sources += u32::from(may);
        may
    }

    /// Forgets the closes that are no longer held.
    fn advance(&mut self, second: u64) {
        if self.second == 0 || second > self.second + 2 * TIME_WAIT_S {
            self.closes.fill(0);
            self.held = 0;
            self.second = second;
        }
        while self.second < second {
            self.second += 1;
            // The slot of the second that has just grown too old.
            let expired = (self.second + TIME_WAIT_S - (self.rules.held_s + 1).min(TIME_WAIT_S))
                % TIME_WAIT_S;
            let slot = &mut self.closes[expired as usize];
            self.held -= *slot;
            *slot = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: PortRules = PortRules { per_source: 1000, held_s: 1 };
    const T0: u64 = 1_000 * SECOND_NS;

    #[test]
    fn sources_are_added_before_the_ports_of_one_run_out() {
        let mut ports = Ports::new(RULES, true, 0);
        assert_eq!(ports.next_source(T0, 10), Source::Any);
        assert_eq!(ports.next_source(T0, 700), Source::Loopback(Ipv4Addr::new(127, 0, 0, 2)));
        assert_eq!(ports.next_source(T0, 700), Source::Loopback(Ipv4Addr::LOCALHOST));
        assert_eq!(ports.sources(), 2);
        assert_eq!(sources_for(RULES, 600), 1);
        assert_eq!(sources_for(RULES, 601), 2);
    }

    #[test]
    fn ports_that_wait_are_counted_and_forgotten_in_time() {
        for (held_s, gone_after_s) in [(1, 2), (60, 60)] {
            let mut ports = Ports::new(PortRules { held_s, ..RULES }, true, 0);
            for _ in 0..599 {
                ports.closed_first(T0);
            }
            assert_eq!(ports.next_source(T0, 0), Source::Any);
            ports.advance((T0 / SECOND_NS) + gone_after_s - 1);
            assert_eq!(ports.held, 599, "held for {held_s} s");
            ports.advance((T0 / SECOND_NS) + gone_after_s);
            assert_eq!(ports.held, 0, "held for {held_s} s");
        }
    }

    #[test]
    fn no_source_is_added_where_none_may_be() {
        let mut ports = Ports::new(RULES, false, 0);
        assert_eq!(ports.next_source(T0, 5000), Source::Any);
        assert!(!ports.add_source());
    }
}
