//! Stores of many runs without measuring them, for tests and benchmarks.

use model::run::Run;

use crate::Store;
use crate::error::Error;
use crate::saved::Summary;

impl Store {
    /// Saves a run so many times, each under a name of its own, with its summary where it is
    /// known.
    pub fn save_copies(
        mut self,
        run: &Run,
        summary: Option<&Summary>,
        times: u32,
    ) -> Result<Self, Error> {
        for number in 0..times {
            let mut copy = run.clone();
            copy.run.id = format!("{number:08x}00000000");
            let mut recording = self.begin(&copy)?;
            recording.append(&copy.slices)?;
            self = recording.finish(&copy)?;
            if let Some(summary) = summary {
                self.summarise(&copy.run.id, summary, &[])?;
            }
        }
        Ok(self)
    }
}
