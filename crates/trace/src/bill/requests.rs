//! Requests that a server answered: on a connection that it accepted it read, and then wrote.

use std::collections::HashSet;

use crate::call::{Call, NO_FD};
use crate::entry::ACCEPTED;
use crate::follow::{Followed, OpenFile, OpenKind};
use crate::op::Op;

/// As many connections are told apart at a time.
const CONNECTIONS_MAX: usize = 1 << 16;

/// Connections by their open files' numbers.
#[derive(Default)]
pub(crate) struct Requests {
    accepted: HashSet<u64>,
    /// Those on which something was read that was not answered yet.
    asked: HashSet<u64>,
    answered: u64,
}

impl Requests {
    /// Takes any call.
    pub(crate) fn take(&mut self, call: &Call, followed: &Followed) {
        if call.result < 0 {
            return;
        }
        let file = followed.file.as_deref();
        match call.op {
            Op::Socket if call.fd != NO_FD => self.accept(followed.made[0].as_deref()),
            // Others may have a copy, as the process has that is to answer.
            Op::Close => drop(self.answer(file)),
            Op::Read | Op::Receive if call.result > 0 => self.ask(file),
            Op::Write | Op::Send => self.answered += u64::from(self.answer(file)),
            Op::Sendfile | Op::Splice => {
                self.answered += u64::from(self.answer(followed.other.as_deref()));
            }
            _ => {}
        }
    }

    pub(crate) fn answered(&self) -> u64 {
        self.answered
    }

    fn accept(&mut self, connection: Option<&OpenFile>) {
        if self.accepted.len() >= CONNECTIONS_MAX {
            self.accepted.clear();
            self.asked.clear();
        }
        self.accepted.extend(connection.map(|connection| connection.number));
    }

    fn ask(&mut self, connection: Option<&OpenFile>) {
        let known = connection.filter(|connection| {
            let path = connection.path.as_deref().unwrap_or_default();
            let was_there = connection.kind == OpenKind::Socket && path.ends_with(ACCEPTED);
            was_there || self.accepted.contains(&connection.number)
        });
        self.asked.extend(known.map(|connection| connection.number));
    }

    /// Marks what was read on a connection as answered; whether there was anything to answer.
    fn answer(&mut self, connection: Option<&OpenFile>) -> bool {
        connection.is_some_and(|connection| self.asked.remove(&connection.number))
    }
}
