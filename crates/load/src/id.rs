//! Which connection an event of epoll is about.

use rustix::event::epoll;

/// The slot of a connection, and which of the slot's connections it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Id {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl Id {
    pub(crate) fn to_data(self) -> epoll::EventData {
        epoll::EventData::new_u64(u64::from(self.generation) << 32 | u64::from(self.slot))
    }

    pub(crate) fn from_data(data: u64) -> Self {
        Self { slot: data as u32, generation: (data >> 32) as u32 }
    }
}
