//! Processes outside of a recording that end its waits: looked at while they are there.

use std::collections::HashMap;
use std::{fs, iter};

use host::process::Stat;
use host::root::Root;
use host::sockets::sockets;
use trace::AwaitedProcess;

use crate::connections;

/// So many are looked at.
const LOOKED_AT: usize = 256;

/// What was found, by thread.
#[derive(Default)]
pub(crate) struct Outside(HashMap<u32, Met>);

/// What a thread is of.
enum Met {
    Program(AwaitedProcess),
    /// It was gone already.
    Gone,
    /// The kernel itself, which nobody can watch.
    Kernel,
}

impl Outside {
    /// A thread has ended a wait, which may be one of a process that is followed. Whether it may be
    /// a program's.
    pub(crate) fn meet(&mut self, thread: u32, is_followed: impl Fn(u32) -> bool) -> bool {
        if self.0.len() >= LOOKED_AT && !self.0.contains_key(&thread) {
            return true;
        }
        let met = self.0.entry(thread).or_insert_with(|| look(thread, is_followed));
        !matches!(met, Met::Kernel)
    }

    pub(crate) fn found(self) -> HashMap<u32, AwaitedProcess> {
        let found = self.0.into_iter().filter_map(|(thread, met)| match met {
            Met::Program(process) => Some((thread, process)),
            Met::Gone | Met::Kernel => None,
        });
        found.collect()
    }
}

fn stat(process: u32) -> Option<Stat> {
    Stat::read(&Root::real(), process.cast_signed())
}

fn look(thread: u32, is_followed: impl Fn(u32) -> bool) -> Met {
    let Some((process, name)) = process_of(thread) else { return Met::Gone };
    if stat(process).is_some_and(|stat| stat.kernel_thread) {
        return Met::Kernel;
    }
    let sockets = sockets(&Root::real(), process.cast_signed()).unwrap_or_default();
    let address = connections::address(process, &sockets.into_iter().collect());
    let number = if is_followed(process) { process } else { first_of_program(process) };
    Met::Program(AwaitedProcess { number, name, address })
}

/// Programs that run other programs: two processes of them need not be one server.
const INTERPRETERS: [&str; 8] =
    ["python", "node", "ruby", "perl", "java", "bash", "dash", "busybox"];

/// A server may answer each client by a process that ends with the client: the first process of the
/// same program stays.
fn first_of_program(process: u32) -> u32 {
    let program = |process: u32| fs::read_link(format!("/proc/{process}/exe")).ok();
    let parent = |process: u32| stat(process)?.parent.try_into().ok();
    let own = program(process).filter(|own| {
        let name = own.file_name().unwrap_or_default().to_string_lossy();
        !INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter))
    });
    let parents = iter::successors(Some(process), |process| parent(*process));
    let is_own = |process: &u32| own.is_some() && program(*process) == own;
    parents.take_while(is_own).last().unwrap_or(process)
}

/// The number of a thread's process, and its name; none where it has ended.
fn process_of(thread: u32) -> Option<(u32, String)> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let process: u32 = field("Tgid:")?.parse().ok()?;
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some((process, name.trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_process_that_it_is_of() {
        let here = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        assert_eq!(process_of(here).map(|(process, _)| process), Some(std::process::id()));
        assert_eq!(process_of(u32::MAX), None);
    }
}
