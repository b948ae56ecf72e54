//! Processes that are not to outlive what they are for.

use std::process::Child;

/// One that is killed with this. That it has ended already is no error.
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
