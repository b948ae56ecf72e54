//! The way between a group and its workers.

use super::protocol::{Assignment, FromWorker};
use crate::{Error, StopFlag};

/// Carries the messages of one group of workers, which it knows by their index.
///
/// Whether the workers share a clock, memory or a `/proc` with this process is known
/// here and nowhere above. Dropping a transport ends its workers.
pub trait Transport {
    /// How many workers there are.
    fn workers(&self) -> usize;

    /// Gives a worker its work. A worker that has gone is noticed on [`receive`].
    ///
    /// [`receive`]: Self::receive
    fn assign(&mut self, worker: usize, assignment: &Assignment) -> Result<(), Error>;

    /// Starts all workers at one moment, as close together as the transport can.
    fn start_together(&mut self) -> Result<(), Error>;

    /// Has all go on with the next part of their work, each as soon as it hears of it.
    fn go_on(&mut self) -> Result<(), Error>;

    /// Waits for a worker's next message; an error where it has ended, breaks the
    /// protocol, or sends nothing for too long, and when `stop` is set.
    fn receive(&mut self, worker: usize, stop: &StopFlag) -> Result<FromWorker, Error>;

    /// Kills all workers that can be killed, in the middle of what they do.
    fn kill(&mut self);

    /// Lets the workers go, whose work is done.
    fn release(self: Box<Self>);
}
