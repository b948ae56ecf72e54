//! What a store holds against what was committed to it.

use engine::study::StudyError;
use host::clock::Clock;
use journal::{Error, Recovered, Snapshot};
use model::integrity::Integrity;

use super::base::Digest;
use super::failure::failed;
use super::files::SliceFiles;
use super::items::Items;
use super::parts::Recovering;

/// What must be there.
pub(super) struct Expected<'a> {
    /// What the store was loaded with.
    pub(super) base: Digest,
    /// The number of the last transaction of that.
    pub(super) last: u64,
    /// Of the transactions behind it.
    pub(super) items: &'a Items,
}

/// What was found.
#[derive(Default)]
pub(super) struct RecoveryCheck {
    pub(super) integrity: Integrity,
    /// What was replayed; nothing where the store cannot be read.
    pub(super) recovered: Recovered,
    /// How long that took.
    pub(super) recovery_ns: f64,
}

/// Recovers a store from its files, without writing to them, and looks at each item.
pub(super) fn account(
    files: &SliceFiles,
    expected: &Expected<'_>,
    clock: &Clock,
) -> Result<RecoveryCheck, StudyError> {
    let mut recovering = Recovering::new(clock.clone());
    let transactions = expected.items.transactions();
    let records = transactions as u64;
    let snapshot = match Snapshot::read(files, &mut recovering) {
        Ok(snapshot) => snapshot,
        Err(error @ Error::Io { .. }) => return Err(failed(error)),
        Err(error) => {
            let example = Some(error.to_string());
            let integrity = Integrity { records, torn: records, example, ..Integrity::default() };
            return Ok(RecoveryCheck { integrity, ..RecoveryCheck::default() });
        }
    };
    let mut integrity = Integrity { records, ..Integrity::default() };
    if !is_as_expected(&snapshot, expected) {
        tell_apart(&snapshot, expected, &mut integrity);
    }
    let recovered = snapshot.recovered();
    Ok(RecoveryCheck { integrity, recovered, recovery_ns: recovering.ns() })
}

/// Says what is wrong with a store that holds anything else than what is expected.
fn tell_apart(snapshot: &Snapshot, expected: &Expected<'_>, integrity: &mut Integrity) {
    for number in 0..expected.items.transactions() {
        let Some(broken) = state_of(snapshot, expected.items, number).field(integrity) else {
            continue;
        };
        *broken += 1;
        let example = format!("transaction {number} is not as it was committed");
        integrity.example.get_or_insert(example);
    }
    integrity.foreign = u64::from(integrity.is_intact());
}

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Whole,
    Missing,
    /// Some of its items are there.
    Partial,
    /// All of its keys are there, and not all values.
    Changed,
}

impl State {
    fn field(self, integrity: &mut Integrity) -> Option<&mut u64> {
        match self {
            Self::Whole => None,
            Self::Missing => Some(&mut integrity.lost),
            Self::Partial => Some(&mut integrity.torn),
            Self::Changed => Some(&mut integrity.overwritten),
        }
    }
}

pub(super) fn state_of(snapshot: &Snapshot, items: &Items, transaction: usize) -> State {
    let (mut all, mut there, mut right) = (0, 0, 0);
    for (key, value) in items.of(transaction) {
        let found = snapshot.get(key);
        all += 1;
        there += u64::from(found.is_some());
        right += u64::from(found == Some(value));
    }
    match (there, right) {
        _ if right == all => State::Whole,
        (0, _) => State::Missing,
        _ if there < all => State::Partial,
        _ => State::Changed,
    }
}

/// Whether all that was loaded and committed is there, and no other item.
fn is_as_expected(snapshot: &Snapshot, expected: &Expected<'_>) -> bool {
    let mut found = Digest::default();
    snapshot.iter().for_each(|item| found.add(item));
    let last = expected.last + expected.items.transactions() as u64;
    found == expected.base.with(expected.items) && snapshot.recovered().last == last
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use journal::{Options, Store};

    use super::super::items::Kind;
    use super::super::spec::{Keys, Values};
    use super::*;

    const KIND: Kind = Kind { keys: Keys::Random, values: Values::Json, value_bytes: 100 };

    /// What is found in a store to which all of `put` was committed, each transaction from its
    /// item `from` on, where the first three transactions of [`KIND`] are expected.
    fn found(put: &Items, from: usize) -> Integrity {
        found_beside(Digest::default(), put, |transaction| put.of(transaction).skip(from).collect())
    }

    /// The same where this was loaded before, as it is taken to be, and a transaction puts these.
    fn found_beside<'i>(
        base: Digest,
        put: &'i Items,
        of: impl Fn(usize) -> Vec<(&'i [u8], &'i [u8])>,
    ) -> Integrity {
        let folder = tempfile::tempdir().unwrap();
        let opened = std::fs::File::open(folder.path()).unwrap();
        let files = SliceFiles::new(opened.into(), None).unwrap();
        let mut store = Store::open(files.clone(), &Options::default()).unwrap();
        for number in 0..put.transactions() {
            let mut transaction = store.begin(()).unwrap();
            for (key, value) in of(number) {
                transaction.put(key, value).unwrap();
            }
            transaction.commit().unwrap();
        }
        drop(store);
        let items = KIND.items(0..3);
        let expected = Expected { base, last: 0, items: &items };
        account(&files, &expected, &Clock::new()).unwrap().integrity
    }

    #[test]
    fn what_was_committed_otherwise_is_found() {
        assert!(found(&KIND.items(0..3), 0).is_intact());
        let others = Kind { values: Values::Zeros, ..KIND };
        assert_eq!(found(&others.items(0..3), 0).overwritten, 3, "values are others");
        assert_eq!(found(&KIND.items(0..3), 1).torn, 3, "an item of each is not there");
        assert_eq!(found(&KIND.items(0..2), 0).lost, 1, "a transaction is not there");
        assert_eq!(found(&KIND.items(0..4), 0).foreign, 1, "there is one too many");
        let mut loaded = Digest::default();
        loaded.add((b"key", b"value"));
        let all = KIND.items(0..3);
        let without = found_beside(loaded, &all, |transaction| all.of(transaction).collect());
        assert_eq!(without.foreign, 1, "an item that was loaded is not there");
        let swapped = found_beside(Digest::default(), &all, |transaction| {
            let (keys, mut values): (Vec<_>, Vec<_>) = all.of(transaction).unzip();
            values.rotate_left(1);
            keys.into_iter().zip(values).collect()
        });
        assert_eq!(swapped.overwritten, 3, "each value is another key's");
    }
}
