//! The tables of descriptors, which threads share and forks copy.

use std::collections::HashMap;
use std::rc::Rc;

use super::open_file::Description;

/// How many descriptors are followed at a time, all processes together.
const SLOTS_MAX: usize = 1 << 20;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TableId(u64);

/// A descriptor.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) open: Rc<Description>,
    pub(super) closed_by_exec: bool,
    /// When the call that made it had ended.
    pub(super) since_ns: u64,
    /// What the descriptor stood for until then, where no end of that was seen yet.
    before: Option<Rc<Description>>,
}

impl Slot {
    pub(super) fn new(open: Rc<Description>, closed_by_exec: bool, since_ns: u64) -> Self {
        Self { open, closed_by_exec, since_ns, before: None }
    }
}

#[derive(Debug, Default)]
struct Table {
    slots: HashMap<i32, Slot>,
    /// How many threads have it.
    users: usize,
}

/// All tables.
#[derive(Debug, Default)]
pub(super) struct Tables {
    by_id: HashMap<TableId, Table>,
    next: u64,
    /// How many descriptors there are.
    held: usize,
}

impl Tables {
    /// An empty one, with one user.
    pub(super) fn empty(&mut self) -> TableId {
        let id = TableId(self.next);
        self.next += 1;
        self.by_id.insert(id, Table { users: 1, ..Table::default() });
        id
    }

    /// A copy with one user.
    pub(super) fn copy(&mut self, of: TableId) -> TableId {
        let id = self.empty();
        let slots = self.by_id.get(&of).map(|table| &table.slots);
        let count = slots.map_or(0, HashMap::len);
        if self.held + count > SLOTS_MAX {
            return id;
        }
        let slots = slots.cloned().unwrap_or_default();
        self.held += count;
        self.by_id.insert(id, Table { slots, users: 1 });
        id
    }

    /// The same, with one more user.
    pub(super) fn share(&mut self, id: TableId) -> TableId {
        if let Some(table) = self.by_id.get_mut(&id) {
            table.users += 1;
        }
        id
    }

    /// The table for a user of this one alone.
    pub(super) fn unshare(&mut self, id: TableId) -> TableId {
        if self.by_id.get(&id).is_some_and(|table| table.users == 1) {
            return id;
        }
        let copy = self.copy(id);
        self.leave(id);
        copy
    }

    /// One user less; without any it is gone.
    pub(super) fn leave(&mut self, id: TableId) {
        let Some(table) = self.by_id.get_mut(&id) else { return };
        table.users -= 1;
        if table.users == 0 {
            self.held -= table.slots.len();
            self.by_id.remove(&id);
        }
    }

    pub(super) fn get(&self, id: TableId, fd: i32) -> Option<&Slot> {
        self.by_id.get(&id)?.slots.get(&fd)
    }

    pub(super) fn get_mut(&mut self, id: TableId, fd: i32) -> Option<&mut Slot> {
        self.by_id.get_mut(&id)?.slots.get_mut(&fd)
    }

    /// Puts a descriptor there, in the place of what it stood for.
    pub(super) fn put(&mut self, id: TableId, fd: i32, mut slot: Slot) {
        let Some(table) = self.by_id.get_mut(&id).filter(|_| fd >= 0) else { return };
        if let Some(known) = table.slots.get_mut(&fd) {
            slot.before = Some(Rc::clone(&known.open));
            *known = slot;
        } else if self.held < SLOTS_MAX {
            table.slots.insert(fd, slot);
            self.held += 1;
        }
    }

    /// Closes a descriptor by a call that began then; what it stood for.
    ///
    /// The kernel gives a descriptor's number away before the call that closes it has ended, so
    /// another thread's open may have been seen before.
    pub(super) fn close(&mut self, id: TableId, fd: i32, began_ns: u64) -> Option<Rc<Description>> {
        let table = self.by_id.get_mut(&id)?;
        let slot = table.slots.get_mut(&fd)?;
        if slot.since_ns > began_ns && slot.before.is_some() {
            return slot.before.take();
        }
        self.held -= 1;
        table.slots.remove(&fd).map(|slot| slot.open)
    }

    /// Closes those that it says this of.
    pub(super) fn close_where(&mut self, id: TableId, is_closed: impl Fn(i32, &Slot) -> bool) {
        let Some(table) = self.by_id.get_mut(&id) else { return };
        let before = table.slots.len();
        table.slots.retain(|fd, slot| !is_closed(*fd, slot));
        self.held -= before - table.slots.len();
    }

    /// Has exec close those.
    pub(super) fn close_by_exec(&mut self, id: TableId, first: i32, last: i32) {
        let Some(table) = self.by_id.get_mut(&id) else { return };
        let meant = table.slots.iter_mut().filter(|(fd, _)| (first..=last).contains(*fd));
        meant.for_each(|(_, slot)| slot.closed_by_exec = true);
    }
}
