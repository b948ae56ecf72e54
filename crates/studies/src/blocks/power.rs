//! What a power failure leaves of blocks that were written in place.

use engine::power::Left;
use engine::slice_timer::SliceTimer;
use engine::study::{PowerTrial, Ready, SliceFolders, StudyError, Workload as _};
use model::study::Params;

use super::Arm;
use super::config::{Config, Turn};
use super::spec::Access;
use super::store::Left as Block;

/// A file of which blocks are written one at a time.
pub(crate) struct Overwritten {
    arm: Arm,
    turns: Vec<Turn>,
}

impl Overwritten {
    pub(crate) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let config = Config::new(strategy, params)?;
        if Access::of(params.choice("access"))? != Access::Write || config.depth > 1 {
            let text = "the power failure test needs blocks that are written one at a time: set \
                        access=write and depth=1";
            return Err(StudyError::Unsuited(text.to_owned()));
        }
        Ok(Self { arm: Arm::new(config), turns: Vec::new() })
    }
}

impl PowerTrial for Overwritten {
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        self.turns = self.arm.config.turns(operations, self.arm.slices + 1, self.arm.next);
        self.arm.ready(folders, operations, timer)
    }

    fn look(&self, folders: SliceFolders<'_>, done: u64) -> Result<Left, StudyError> {
        let config = &self.arm.config;
        let Some(kept) = &self.arm.store else { return Ok(Left::default()) };
        let mut turn_of = vec![None; config.share.in_file() as usize];
        for (number, turn) in self.turns.iter().enumerate() {
            turn_of[turn.block as usize] = Some(number as u64);
        }
        let (mut lost, mut damage, mut is_allowed) = (0, None, true);
        for (block, left) in (0..).zip(kept.store().left(folders.kept, config)?) {
            let turn: Option<u64> = turn_of[block as usize];
            let is_done = turn.is_some_and(|turn| turn < done);
            lost += u64::from(is_done && left != Block::New);
            if left == Block::Neither {
                damage.get_or_insert_with(|| format!("block {block} is neither old nor new"));
                // Only what was being written may be, or had not been written back yet.
                is_allowed &= turn.is_some() && !(is_done && config.is_synced());
            }
        }
        let may_lose = if config.is_synced() { 0 } else { done };
        Ok(Left::lost(lost, may_lose).with_damage(damage, is_allowed))
    }
}
