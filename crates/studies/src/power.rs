//! What a strategy promises at a power failure, as something that can be tried.
//!
//! A [`Trial`] writes by its study's own code, and looks at what a power failure left of
//! that by its study's own code as well. Neither cuts any power: `cargo xtask bench
//! promises` does, below a file system. [`crate::power_trial`] makes one.

use engine::recorder::Recorder;
use engine::study::{Ready, SliceFolders, StudyError};

/// One arm, whose writing is cut short.
pub trait Trial {
    /// Makes a slice ready, as a run does. Whoever tells how many operations are done is
    /// the recorder that it is run with.
    ///
    /// # Errors
    /// Where that cannot be done.
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        recorder: &Recorder,
    ) -> Result<Box<dyn Ready + 'a>, StudyError>;

    /// Looks at what is left of the latest slice, of which so many operations were done.
    ///
    /// # Errors
    /// Where that cannot be read, which is no finding about the strategy.
    fn look(&self, folders: SliceFolders<'_>, done: u64) -> Result<Left, StudyError>;

    /// Whether the promise rests on what is there before the first operation, so that it
    /// has to be on the device by then.
    fn starts_settled(&self) -> bool;
}

/// What is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Operations that were acknowledged and are not there.
    pub lost: u64,
    /// What is there and is not whole.
    pub damage: Option<String>,
    /// What of this is against the strategy's promise.
    pub against: Option<String>,
}

impl Left {
    /// So many operations lost, of which the promise lets so many go.
    pub(crate) fn lost(lost: u64, allowed: u64) -> Self {
        let against = (lost > allowed)
            .then(|| format!("{lost} acknowledged operations were lost; at most {allowed} may be"));
        Self { lost, damage: None, against }
    }

    /// With something that is not whole; damage that the promise speaks of is allowed.
    pub(crate) fn with_damage(mut self, damage: Option<String>, allowed: bool) -> Self {
        if !allowed {
            self.against = self.against.or_else(|| damage.clone());
        }
        self.damage = damage;
        self
    }
}
