//! Histories: transactions, checkpoints and reopenings, with whatever goes wrong on the way.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::error::Error;
use crate::options::{Compression, Options, Space, Writing};
use crate::simulated::disk::{Disk, Survival};
use crate::simulated::examine::Examiner;
use crate::simulated::flaws::Flaws;
use crate::simulated::machine::{Faults, Machine};
use crate::simulated::model::{Model, items};
use crate::simulated::tally::Tally;
use crate::store::Store;

/// Runs one history, which follows from its seed and number. Every third is small and has
/// a crash in each of its operations, the others have them at random.
pub(crate) fn run(seed: u64, number: u64, flaws: Flaws) -> Result<Tally, String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    let options = options(&mut rng);
    let mut history = History {
        examiner: Examiner { options, flaws, tally: Tally::default() },
        model: Model::new(),
        keys: rng.random_range(1..200),
        items_max: rng.random_range(1..12),
        rng,
    };
    history.examiner.tally.histories = 1;
    let done = if number.is_multiple_of(3) { history.small() } else { history.large() };
    done.map_err(|what| format!("{what} ({options:?})"))?;
    Ok(history.examiner.tally)
}

fn options(rng: &mut ChaCha8Rng) -> Options {
    let compressions =
        [Compression::None, Compression::Lz4, Compression::Snappy, Compression::Zstd { level: 1 }];
    let spaces = [Space::Growing, Space::Preallocated, Space::ZeroFilled, Space::Recycled];
    let writings = [Writing::Buffered, Writing::Dsync, Writing::Direct];
    let block_bytes = [512, 512, 4096][rng.random_range(0..3)];
    Options {
        differences: rng.random(),
        compression: compressions[rng.random_range(0..compressions.len())],
        threshold_bytes: [0, 2000][rng.random_range(0..2)],
        block_bytes,
        writing: writings[rng.random_range(0..writings.len())],
        space: spaces[rng.random_range(0..spaces.len())],
        segment_bytes: u64::from(block_bytes) * rng.random_range(2..24),
    }
}

/// How a stretch of a history ended.
enum Ended {
    /// All of it was done.
    Whole,
    /// Something failed that was made to.
    Failed,
}

struct History {
    examiner: Examiner,
    model: Model,
    keys: u32,
    items_max: usize,
    rng: ChaCha8Rng,
}

impl History {
    /// A few transactions; then a crash in each operation of it, and a failing sync at each.
    fn small(&mut self) -> Result<(), String> {
        let rng = ChaCha8Rng::from_rng(&mut self.rng);
        let machine = Machine::new(Disk::default(), self.examiner.flaws.faults(), rng);
        machine.record();
        let start = self.rng.clone();
        let steps = 8;
        self.stretch(&machine, steps)?;
        for moment in machine.recorded() {
            self.examiner.thoroughly(&moment, &self.model, &mut self.rng)?;
        }
        self.examiner.flips(&machine.now(), &self.model, 40, &mut self.rng)?;
        let mut rng = self.rng.clone();
        for operation in 1..machine.operations() {
            // The same again, up to a sync that fails; then a crash, or none.
            (self.rng, self.model) = (start.clone(), Model::new());
            let faults =
                Faults { sync_fails_from: Some(operation), ..self.examiner.flaws.faults() };
            let machine = Machine::new(Disk::default(), faults, ChaCha8Rng::from_rng(&mut rng));
            self.stretch(&machine, steps)?;
            self.examiner.tally.failed_syncs += machine.failures();
            self.examiner.once(&machine.now(), &self.model, &mut rng)?;
            self.stretch(&machine, 2)?;
            self.examiner.once(&machine.now(), &self.model, &mut rng)?;
        }
        Ok(())
    }

    /// Crashes at random, of which one is gone on from.
    fn large(&mut self) -> Result<(), String> {
        let mut disk = Disk::default();
        for _ in 0..self.rng.random_range(4..12) {
            let faults = self.random_faults();
            let rng = ChaCha8Rng::from_rng(&mut self.rng);
            let machine = Machine::new(disk, faults, rng);
            let steps = self.rng.random_range(1..60);
            // What fails without a crash is opened again on the same machine.
            while let Ended::Failed = self.stretch(&machine, steps)? {
                if machine.has_crashed() {
                    break;
                }
                let crash_at = Some(machine.operations() + self.rng.random_range(1..200));
                machine.set_faults(Faults { crash_at, ..self.examiner.flaws.faults() });
            }
            if faults.room_bytes.is_some() {
                self.examiner.tally.full_disks += machine.failures();
            } else {
                self.examiner.tally.failed_syncs += machine.failures();
            }
            let now = machine.now();
            for _ in 0..12 {
                self.examiner.once(&now, &self.model, &mut self.rng)?;
            }
            self.examiner.flips(&now, &self.model, 2, &mut self.rng)?;
            let survival = Survival::random(&mut self.rng, now.operation);
            disk = now.disk.after_crash(survival, &mut self.rng);
        }
        Ok(())
    }

    fn random_faults(&mut self) -> Faults {
        let rng = &mut self.rng;
        let mut faults = self.examiner.flaws.faults();
        match rng.random_range(0..4) {
            0 => faults.sync_fails_from = Some(rng.random_range(1..200)),
            1 => faults.room_bytes = Some(rng.random_range(10_000..400_000)),
            _ => faults.crash_at = Some(rng.random_range(1..300)),
        }
        faults
    }

    /// Opens the store, compares it with the model and does so many steps.
    fn stretch(&mut self, machine: &Machine, steps: u32) -> Result<Ended, String> {
        machine.set_mark(self.model.mark());
        let failures = machine.failures();
        let is_expected = |stop| expect_failure(machine, failures, stop);
        let mut store = None;
        for _ in 0..steps {
            let open = match store.take() {
                Some(store) => store,
                None => match self.open(machine) {
                    Ok(store) => store,
                    Err(stop) => return is_expected(stop),
                },
            };
            match self.step(machine, open) {
                Ok(open) => store = open,
                Err(stop) => return is_expected(stop),
            }
        }
        Ok(Ended::Whole)
    }

    fn open(&mut self, machine: &Machine) -> Result<Store<Machine>, Stop> {
        let Examiner { options, flaws, .. } = &self.examiner;
        let store = Store::open_with(machine.clone(), options, flaws.library)?;
        self.model.state_of(&store, self.model.mark()).map_err(Stop::Wrong)?;
        self.model.return_to(&store);
        machine.set_mark(self.model.mark());
        Ok(store)
    }

    /// A transaction, sometimes a checkpoint, or one that is given up; the store is closed
    /// now and then.
    fn step(
        &mut self,
        machine: &Machine,
        mut store: Store<Machine>,
    ) -> Result<Option<Store<Machine>>, Stop> {
        match self.rng.random_range(0..16) {
            0 => return Ok(None),
            1..3 => store.checkpoint(())?,
            3 => {
                let mut transaction = store.begin(())?;
                for (key, value) in items(&mut self.rng, self.keys, self.items_max) {
                    transaction.put(&key, &value)?;
                }
                drop(transaction);
                self.model.state_of(&store, self.model.mark()).map_err(Stop::Wrong)?;
            }
            _ => {
                let items = items(&mut self.rng, self.keys, self.items_max);
                let mut transaction = store.begin(())?;
                for (key, value) in &items {
                    transaction.put(key, value)?;
                }
                let before = self.model.mark();
                self.model.attempt(items);
                machine.set_mark(self.model.mark());
                if let Err(error) = transaction.commit() {
                    // What is in memory is as it was, and nothing more is committed.
                    self.model.state_of(&store, before).map_err(Stop::Wrong)?;
                    if !matches!(store.begin(()).err(), Some(Error::Refused)) {
                        let what = "a transaction was begun after one had failed";
                        return Err(Stop::Wrong(what.to_owned()));
                    }
                    return Err(error.into());
                }
                self.model.acknowledge();
                self.examiner.tally.commits += 1;
                machine.set_mark(self.model.mark());
            }
        }
        Ok(Some(store))
    }
}

/// An error is right where the machine was made to fail since then, and only there.
fn expect_failure(machine: &Machine, failures: u64, stop: Stop) -> Result<Ended, String> {
    match stop {
        Stop::Failed(Error::Io { .. })
            if machine.has_crashed() || machine.failures() > failures =>
        {
            Ok(Ended::Failed)
        }
        stop => Err(stop.to_string()),
    }
}

/// Why a step did not end as usual.
#[derive(Debug, thiserror::Error)]
enum Stop {
    /// The store says that something failed.
    #[error("an error without a reason: {0}")]
    Failed(#[from] Error),
    /// The store is wrong.
    #[error("{0}")]
    Wrong(String),
}
