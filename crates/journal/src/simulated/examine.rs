//! Looks at disks as crashes left them: whether what recovery makes of them is right.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::error::Error;
use crate::layout::{HEADER_BYTES, TransactionHeader};
use crate::options::Options;
use crate::simulated::disk::{Disk, SECTOR_BYTES, Survival};
use crate::simulated::flaws::Flaws;
use crate::simulated::machine::{Machine, Mark, Moment};
use crate::simulated::model::Model;
use crate::simulated::tally::Tally;
use crate::store::Store;

/// How many images are made of each moment of a small history.
const IMAGES: u32 = 10;

pub(crate) struct Examiner {
    pub(crate) options: Options,
    pub(crate) flaws: Flaws,
    pub(crate) tally: Tally,
}

impl Examiner {
    /// Many crashes in one operation, and for one of them a crash in each operation of
    /// the recovery.
    pub(crate) fn thoroughly(
        &mut self,
        moment: &Moment,
        model: &Model,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), String> {
        for survival in [Survival::All, Survival::Nothing, Survival::Until(moment.operation)] {
            self.image(moment, survival, model, rng, false)?;
        }
        for _ in 0..IMAGES {
            let survival = Survival::random(rng, moment.operation);
            self.image(moment, survival, model, rng, false)?;
        }
        let survival = Survival::random(rng, moment.operation);
        for during in self.image(moment, survival, model, rng, true)? {
            self.tally.images_of_recovery += 1;
            self.image(&during, Survival::random(rng, during.operation), model, rng, false)?;
        }
        Ok(())
    }

    /// One crash, and another one during recovery.
    pub(crate) fn once(
        &mut self,
        moment: &Moment,
        model: &Model,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), String> {
        let survival = Survival::random(rng, moment.operation);
        let mut during = self.image(moment, survival, model, rng, true)?;
        // And once more, during the recovery from that.
        while !during.is_empty() && rng.random_bool(0.7) {
            let moment = during.swap_remove(rng.random_range(0..during.len()));
            self.tally.images_of_recovery += 1;
            let survival = Survival::random(rng, moment.operation);
            during = self.image(&moment, survival, model, rng, true)?;
        }
        Ok(())
    }

    /// Recovers from one crash, and returns the moments of that.
    fn image(
        &mut self,
        moment: &Moment,
        survival: Survival,
        model: &Model,
        rng: &mut ChaCha8Rng,
        records: bool,
    ) -> Result<Vec<Moment>, String> {
        let image = moment.disk.after_crash(survival, rng);
        let machine = Machine::new(image, self.flaws.faults(), ChaCha8Rng::from_rng(rng));
        machine.set_mark(moment.mark);
        if records {
            machine.record();
        }
        let context = |what: String| {
            format!("a crash in operation {} that left {survival:?}: {what}", moment.operation)
        };
        let last = self.recover(&machine, model, moment.mark).map_err(context)?;
        self.tally.images += 1;
        match survival {
            Survival::Nothing => self.tally.images_with_nothing += 1,
            Survival::Some(_) => self.tally.images_reordered += 1,
            Survival::Torn(_) => self.tally.images_torn += 1,
            Survival::All | Survival::Until(_) => {}
        }
        self.tally.images_ahead += u64::from(last > moment.mark.acknowledged);
        let moments = machine.recorded();
        if rng.random_bool(0.2) {
            // What recovery found must be there to stay.
            let image = machine.now().disk.after_crash(Survival::Nothing, rng);
            let machine = Machine::new(image, self.flaws.faults(), ChaCha8Rng::from_rng(rng));
            let mark = Mark { acknowledged: last, attempted: last };
            let again = self.recover(&machine, model, mark);
            again.map_err(|what| context(format!("after the next crash, {what}")))?;
        }
        Ok(moments)
    }

    /// Opens the store, and says at which transaction it is.
    fn recover(&self, machine: &Machine, model: &Model, mark: Mark) -> Result<u64, String> {
        let store = Store::open_with(machine.clone(), &self.options, self.flaws.library)
            .map_err(|error| format!("an error without a reason: {error}"))?;
        model.state_of(&store, mark)
    }

    /// Flips bits, one at a time: each is told, or makes no difference.
    pub(crate) fn flips(
        &mut self,
        moment: &Moment,
        model: &Model,
        times: u32,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), String> {
        let image = moment.disk.after_crash(Survival::All, rng);
        let machine = Machine::new(image.clone(), self.flaws.faults(), rng.clone());
        let last = self.recover(&machine, model, moment.mark)?;
        for _ in 0..times {
            let mut damaged = image.clone();
            let Some((name, at)) = damaged.flip(rng) else { continue };
            let machine = Machine::new(damaged, self.flaws.faults(), rng.clone());
            self.tally.flips += 1;
            let is_in_tail = is_in_transaction(&image, &name, at, last);
            let lowest = if is_in_tail { last - 1 } else { last };
            let mark = Mark { acknowledged: lowest, attempted: last };
            match Store::open_with(machine, &self.options, self.flaws.library) {
                Err(Error::Damaged(_) | Error::NoJournal) => self.tally.flips_told += 1,
                Err(error) => return Err(format!("{name}, byte {at} flipped: {error}")),
                Ok(store) => {
                    let found = model.state_of(&store, mark);
                    let found = found.map_err(|what| format!("{name}, byte {at}: {what}"))?;
                    self.tally.flips_in_tail += u64::from(found < last);
                }
            }
        }
        Ok(())
    }
}

/// Whether a byte of a file is in the transaction with this number.
fn is_in_transaction(disk: &Disk, name: &str, at: usize, number: u64) -> bool {
    let Some(inode) = disk.find(name).filter(|_| name.starts_with("journal-")) else {
        return false;
    };
    let bytes = disk.inode(inode).bytes();
    (0..=at).step_by(SECTOR_BYTES).any(|offset| {
        let header = bytes.get(offset..offset + HEADER_BYTES).and_then(TransactionHeader::decode);
        header.is_some_and(|header| header.number == number && at < offset + header.bytes())
    })
}
