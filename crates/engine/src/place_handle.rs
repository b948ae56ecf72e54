//! A place as slices use it.

use std::io;
use std::os::fd::OwnedFd;

use model::spent::DeviceTraffic;

use crate::study::Footprint;

/// The places of a run.
pub(crate) type Places<'a> = Vec<Box<dyn PlaceHandle + 'a>>;

/// A place as slices use it.
pub trait PlaceHandle {
    /// A fresh and empty folder for one slice.
    fn fresh_folder(&mut self) -> io::Result<OwnedFd>;

    /// An arm's own folder: empty when it is made, and kept until the run ends.
    fn kept_folder(&mut self, arm: usize) -> io::Result<OwnedFd>;

    /// The slice is over. Its folder is done away with when the place is settled next, and other
    /// slices may have theirs before.
    fn leave(&mut self);

    /// Whether slices may have left so much there when another one is prepared.
    fn may_leave(&self, left: &Footprint) -> bool;

    /// Does away with what one slice left, if any did.
    fn put_away(&mut self) -> io::Result<()>;

    /// Waits, within reason, until the devices have nothing more to do for what was put away.
    fn settle(&mut self) -> io::Result<()>;

    /// Whether what is written there wears anything: all but memory does.
    fn wears(&self) -> bool;

    /// The counters of the devices behind the place, where they can be read.
    fn device_bytes(&mut self) -> Option<DeviceTraffic>;
}

/// How many bytes the devices behind a place have written, where their counters can be read.
pub(crate) fn written_bytes(place: &mut dyn PlaceHandle) -> Option<u64> {
    Some(place.device_bytes()?.written_bytes)
}

/// How many they have written since they had written that many.
pub(crate) fn written_since(place: &mut dyn PlaceHandle, before: Option<u64>) -> Option<u64> {
    Some(written_bytes(place)?.saturating_sub(before?))
}
