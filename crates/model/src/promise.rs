//! What a promise keeps: its text, read.
//!
//! A promise is a text of clauses, such as `process crash: nothing acknowledged is lost; power
//! failure: data not yet written back is lost`. Two promises are compared clause by clause, so
//! that a change which keeps less can be told from one which keeps as much.

/// How much is lost, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Nothing that was acknowledged.
    Nothing,
    /// The latest transaction, and nothing else.
    LastOne,
    /// What the device holds in a cache of its own.
    DeviceCache,
    /// The latest requests or records, and nothing else.
    Latest,
    /// What the kernel has not yet written back: up to half a minute of it.
    Unwritten,
    /// Files may be incomplete or corrupted.
    Damage,
    /// All of it.
    All,
}

/// What is lost, as texts of promises say it.
const LOSSES: [(&str, Loss); 20] = [
    ("nothing acknowledged is lost", Loss::Nothing),
    ("nothing acknowledged is lost, provided that the device honours flushes", Loss::Nothing),
    ("nothing committed is lost", Loss::Nothing),
    ("nothing is undone", Loss::Nothing),
    ("no line logged is lost", Loss::Nothing),
    ("a batch not yet acknowledged is lost", Loss::Nothing),
    ("the latest transaction may be undone, and nothing else", Loss::LastOne),
    ("data still in the device's own cache is lost", Loss::DeviceCache),
    ("the latest requests may be undone, and nothing else", Loss::Latest),
    ("the latest changes of names may be undone", Loss::Latest),
    ("what was written after the last sync is lost", Loss::Latest),
    ("the buffer is lost", Loss::Latest),
    ("records in the queue are lost although they were acknowledged", Loss::Latest),
    ("what the stream still buffers is lost although write() has returned", Loss::Latest),
    ("data not yet written back is lost", Loss::Unwritten),
    ("lines not yet written back are lost", Loss::Unwritten),
    ("these and data not yet written back are lost", Loss::Unwritten),
    ("the buffer and data not yet written back are lost", Loss::Unwritten),
    ("what was not yet synced is lost, and a sync waits in the queue, too", Loss::Unwritten),
    ("the database may be corrupted", Loss::Damage),
];
/// Clauses that say both at once.
const WHOLE: [(&str, [Option<Loss>; 2]); 4] = [
    ("readers see the old file or the new one", [Some(Loss::Nothing), None]),
    (
        "readers see the old file or the new one, also after a power failure",
        [Some(Loss::Nothing), Some(Loss::Nothing)],
    ),
    ("after a power failure a file may be empty, cut short or zeros", [None, Some(Loss::Damage)]),
    (
        "after a crash, and for a reader meanwhile, a file may be incomplete",
        [Some(Loss::Damage), Some(Loss::Damage)],
    ),
];
/// Clauses that promise something more.
const GAINS: [&str; 2] = [
    "records keep their order",
    "a transaction that is being committed is there whole or not at all",
];
/// A strategy with this promise is there to be seen failing.
const CONTROL: &str = "none";

/// A promise, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise<'a> {
    /// What is lost when the process dies.
    pub process_crash: Loss,
    /// What is lost when the machine does.
    pub power_failure: Loss,
    /// What else may happen, a clause each.
    pub besides: Vec<&'a str>,
}

impl<'a> Promise<'a> {
    /// Reads a text; an empty one is of data that nothing depends on. A text that does not
    /// mention a power failure promises nothing after one.
    pub fn read(text: &'a str) -> Self {
        let mut lost = [None, if text.is_empty() { Some(Loss::Nothing) } else { None }];
        let mut besides = Vec::new();
        for clause in text.split("; ").filter(|clause| !clause.is_empty()) {
            match of_clause(clause) {
                Some(found) => {
                    lost = [found[0].max(lost[0]), found[1].max(lost[1])];
                }
                None if GAINS.contains(&clause) => {}
                None => besides.push(clause),
            }
        }
        let [process_crash, power_failure] = lost;
        Self {
            process_crash: process_crash.unwrap_or(Loss::Nothing),
            power_failure: power_failure.unwrap_or(Loss::Damage),
            besides,
        }
    }

    /// Whether a way of doing it is there to be compared with alone.
    pub fn is_control(&self) -> bool {
        self.besides.iter().any(|clause| clause.starts_with(CONTROL))
    }
}

/// What a clause says is lost when the process dies, and when the machine does.
fn of_clause(clause: &str) -> Option<[Option<Loss>; 2]> {
    if let Some((_, found)) = WHOLE.iter().find(|(known, _)| *known == clause) {
        return Some(*found);
    }
    let (when, what) = clause.split_once(": ")?;
    let loss = LOSSES.iter().find(|(known, _)| *known == what).map(|(_, loss)| *loss)?;
    match when {
        "process crash" => Some([Some(loss), None]),
        "power failure" => Some([None, Some(loss)]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_read_clause_by_clause() {
        let text = "process crash: the buffer is lost; power failure: data not yet written back is \
                    lost; several writers: records are mixed";
        let besides = vec!["several writers: records are mixed"];
        let read = Promise { process_crash: Loss::Latest, power_failure: Loss::Unwritten, besides };
        assert_eq!(Promise::read(text), read);
        let both = Promise::read(
            "readers see the old file or the new one; after a power failure a file may be empty, \
             cut short or zeros",
        );
        assert_eq!((both.process_crash, both.power_failure), (Loss::Nothing, Loss::Damage));
    }

    #[test]
    fn what_is_not_mentioned_is_not_promised_unless_nothing_depends_on_it() {
        assert_eq!(Promise::read("").power_failure, Loss::Nothing);
        assert_eq!(Promise::read("process crash: nothing is undone").power_failure, Loss::Damage);
        let unknown = Promise::read("power failure: the moon falls");
        assert_eq!((unknown.power_failure, unknown.besides.len()), (Loss::Damage, 1));
        assert!(Promise::read("none with several writers: they overwrite").is_control());
    }
}
