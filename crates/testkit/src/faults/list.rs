//! What each study's calls are, and what is expected where one fails: the lists in
//! `crates/iotoll/tests/faults`.
//!
//! ```text
//! # log/held
//! fdatasync place/work/slice-#/app.log: ENOSPC told, EIO told, EINTR told
//! ```
//!
//! Only what a study does to its slices' files and says to its processes is listed; the
//! rest is everyone's. A site that not every run comes to ends in `(now and then)`.

use std::collections::BTreeMap;
use std::fmt;

use super::calls::Fault;
use super::injection::Site;

/// What comes of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The run tells of it, or the arm fails, or the data is found broken.
    Told,
    /// The run goes on as if nothing had happened: the call is made again, or its result
    /// did not matter.
    Absorbed,
    /// Either, by when it happens.
    Either,
}

/// Of one site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// Whether some runs do without the call.
    pub now_and_then: bool,
    /// By the names of the faults.
    pub faults: BTreeMap<String, Taken>,
}

/// Of one study, by the names of its subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List(pub BTreeMap<String, BTreeMap<Site, Expectation>>);

const SOMETIMES: &str = " (now and then)";
/// Of a site that no trial has come to.
const UNTRIED: &str = "untried";

impl Taken {
    fn of(word: &str) -> Option<Self> {
        [Self::Told, Self::Absorbed, Self::Either].into_iter().find(|t| t.to_string() == word)
    }

    /// What two trials together say.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Either }
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Told => "told",
            Self::Absorbed => "absorbed",
            Self::Either => "either",
        })
    }
}

impl Expectation {
    /// Adds what a trial came to.
    pub fn learn(&mut self, fault: Fault, told: bool) {
        let taken = if told { Taken::Told } else { Taken::Absorbed };
        let known = self.faults.entry(fault.to_string()).or_insert(taken);
        *known = known.and(taken);
    }

    /// Whether a trial may have come to that.
    pub fn allows(&self, fault: Fault, told: bool) -> bool {
        match self.faults.get(&fault.to_string()) {
            Some(Taken::Told) => told,
            // Telling of more than was expected is no defect.
            _ => true,
        }
    }
}

impl List {
    /// Reads a list.
    ///
    /// # Errors
    /// With the line that cannot be read.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut list = Self::default();
        let mut subject = None;
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(name) = line.strip_prefix("# ") {
                subject = Some(list.0.entry(name.to_owned()).or_default());
                continue;
            }
            let read = subject.as_mut().zip(read_line(line));
            let (subject, (site, expectation)) = read.ok_or_else(|| line.to_owned())?;
            subject.insert(site, expectation);
        }
        Ok(list)
    }
}

fn read_line(line: &str) -> Option<(Site, Expectation)> {
    let without = line.strip_suffix(SOMETIMES);
    let (site, faults) = without.unwrap_or(line).split_once(": ")?;
    let (call, object) = site.split_once(' ')?;
    let fault = |text: &str| {
        let (fault, taken) = text.split_once(' ')?;
        Some((fault.to_owned(), Taken::of(taken)?))
    };
    let faults = faults.split(", ").filter(|faults| *faults != UNTRIED);
    let faults = faults.map(fault).collect::<Option<_>>()?;
    let site = Site { call: call.to_owned(), object: object.to_owned() };
    Some((site, Expectation { now_and_then: without.is_some(), faults }))
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (subject, sites)) in self.0.iter().enumerate() {
            let apart = if number > 0 { "\n" } else { "" };
            writeln!(f, "{apart}# {subject}")?;
            for (site, Expectation { now_and_then, faults }) in sites {
                let mut faults: Vec<String> =
                    faults.iter().map(|(fault, taken)| format!("{fault} {taken}")).collect();
                if faults.is_empty() {
                    faults.push(UNTRIED.to_owned());
                }
                let sometimes = if *now_and_then { SOMETIMES } else { "" };
                writeln!(f, "{site}: {}{sometimes}", faults.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_as_it_was_written() {
        let text = "# log/held\n\
            fdatasync place/work/slice-#/app.log: EIO told, EINTR either\n\
            write pipe: short absorbed (now and then)\n\
            read /memfd:iotoll-acks: untried\n\n\
            # log/reopen\n";
        let list = List::read(text).expect("it is a list");
        assert_eq!(List::read(&list.to_string()), Ok(list.clone()));
        assert_eq!(list.0["log/held"].len(), 3);
        assert!(List::read("# log/held\nwrite pipe").is_err());
    }
}
