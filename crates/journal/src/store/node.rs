//! A page of the tree: keys in order, each with what belongs to it.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0 | the level: 0 is a leaf, the root has the highest |
//! | 1 | 0 |
//! | 2–3 | how many cells there are |
//! | 4–5 | where the lowest cell begins |
//! | 6–7 | bytes among the cells that no cell uses any more |
//! | 8– | for each cell, in the order of keys, where it begins |
//!
//! A cell is a length of two bytes for the key, one for the value, and both. Cells are
//! added from the page's end downwards and stay where they are, so that an insert changes
//! little of the page. Above the leaves, values are numbers of pages with the keys from
//! there on; the key of the first cell is of no account, for all lower ones belong there.

use crate::page::{PAGE_BYTES, Page};

/// How long a key may be.
pub const KEY_BYTES_MAX: usize = 256;
/// How long a key and its value together may be: four fit into a page.
pub const ITEM_BYTES_MAX: usize = 1000;

const HEADER_BYTES: usize = 8;
const SLOT_BYTES: usize = 2;
const CELL_HEADER_BYTES: usize = 4;

const COUNT: usize = 2;
const LOWEST: usize = 4;
const UNUSED: usize = 6;

fn field(page: &Page, at: usize) -> usize {
    usize::from(u16::from_le_bytes([page[at], page[at + 1]]))
}

fn set_field(page: &mut Page, at: usize, value: usize) {
    page[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
}

fn slot(index: usize) -> usize {
    HEADER_BYTES + SLOT_BYTES * index
}

/// Makes it an empty node of this level.
pub(crate) fn clear(page: &mut Page, level: u8) {
    page[..HEADER_BYTES].fill(0);
    page[0] = level;
    set_field(page, LOWEST, PAGE_BYTES);
}

pub(crate) fn level(page: &Page) -> u8 {
    page[0]
}

pub(crate) fn count(page: &Page) -> usize {
    field(page, COUNT)
}

/// The key and the value of a cell.
pub(crate) fn cell(page: &Page, index: usize) -> (&[u8], &[u8]) {
    let at = field(page, slot(index));
    let key = at + CELL_HEADER_BYTES;
    let value = key + field(page, at);
    (&page[key..value], &page[value..value + field(page, at + 2)])
}

pub(crate) fn key(page: &Page, index: usize) -> &[u8] {
    cell(page, index).0
}

/// The page that a cell above the leaves leads to. The node was checked.
pub(crate) fn child(page: &Page, index: usize) -> u32 {
    cell(page, index).1.first_chunk().map_or(u32::MAX, |number| u32::from_le_bytes(*number))
}

fn cell_bytes(page: &Page, index: usize) -> usize {
    let (key, value) = cell(page, index);
    CELL_HEADER_BYTES + key.len() + value.len()
}

/// Where a key is in a leaf, or where it would have to be.
pub(crate) fn find(page: &Page, wanted: &[u8]) -> Result<usize, usize> {
    let index = first_not(page, 0, |key| key < wanted);
    if index < count(page) && key(page, index) == wanted { Ok(index) } else { Err(index) }
}

/// The cell above the leaves behind which a key belongs.
pub(crate) fn find_child(page: &Page, wanted: &[u8]) -> usize {
    first_not(page, 1, |key| key <= wanted) - 1
}

/// The first cell from `low` on whose key is not `before` what is looked for.
fn first_not(page: &Page, mut low: usize, before: impl Fn(&[u8]) -> bool) -> usize {
    let mut high = count(page);
    while low < high {
        let middle = usize::midpoint(low, high);
        if before(key(page, middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Adds a cell; false where there is no room for it.
pub(crate) fn insert(page: &mut Page, index: usize, key: &[u8], value: &[u8]) -> bool {
    let bytes = CELL_HEADER_BYTES + key.len() + value.len();
    let count = count(page);
    let slots_end = slot(count + 1);
    if field(page, LOWEST) < slots_end + bytes {
        if field(page, LOWEST) + field(page, UNUSED) < slots_end + bytes {
            return false;
        }
        compact(page);
    }
    let at = field(page, LOWEST) - bytes;
    let body = at + CELL_HEADER_BYTES;
    set_field(page, at, key.len());
    set_field(page, at + 2, value.len());
    page[body..body + key.len()].copy_from_slice(key);
    page[body + key.len()..at + bytes].copy_from_slice(value);
    page.copy_within(slot(index)..slot(count), slot(index + 1));
    set_field(page, slot(index), at);
    set_field(page, LOWEST, at);
    set_field(page, COUNT, count + 1);
    true
}

/// Gives a cell another value; false where there is no room for it, and then the cell is
/// gone.
pub(crate) fn replace(page: &mut Page, index: usize, key: &[u8], value: &[u8]) -> bool {
    if cell(page, index).1.len() == value.len() {
        let end = field(page, slot(index)) + cell_bytes(page, index);
        page[end - value.len()..end].copy_from_slice(value);
        return true;
    }
    remove(page, index);
    insert(page, index, key, value)
}

fn remove(page: &mut Page, index: usize) {
    let unused = field(page, UNUSED) + cell_bytes(page, index);
    set_field(page, UNUSED, unused);
    let count = count(page);
    page.copy_within(slot(index + 1)..slot(count), slot(index));
    set_field(page, COUNT, count - 1);
}

/// Puts the cells side by side.
fn compact(page: &mut Page) {
    let before = *page;
    let mut at = PAGE_BYTES;
    for index in 0..count(&before) {
        let from = field(&before, slot(index));
        let bytes = cell_bytes(&before, index);
        at -= bytes;
        page[at..at + bytes].copy_from_slice(&before[from..from + bytes]);
        set_field(page, slot(index), at);
    }
    set_field(page, LOWEST, at);
    set_field(page, UNUSED, 0);
}

/// Where to divide a full node that a cell is to be added to at `index`. What is added at
/// the end begins a node of its own: keys that come in order leave full nodes behind.
pub(crate) fn division(page: &Page, index: usize) -> usize {
    let count = count(page);
    if index == count {
        return count;
    }
    let half = (PAGE_BYTES - HEADER_BYTES) / 2;
    let mut bytes = 0;
    let mut at = 0;
    while at + 1 < count && bytes < half {
        bytes += cell_bytes(page, at) + SLOT_BYTES;
        at += 1;
    }
    at
}

/// Moves the cells from `from` on to an empty node.
pub(crate) fn divide(page: &mut Page, from: usize, right: &mut Page) {
    let count = count(page);
    let mut moved = 0;
    for index in from..count {
        let (key, value) = cell(page, index);
        insert(right, index - from, key, value);
        moved += cell_bytes(page, index);
    }
    set_field(page, COUNT, from);
    let unused = field(page, UNUSED) + moved;
    set_field(page, UNUSED, unused);
}

/// Whether this is a node, so that nothing else here can fail, of a tree of so many pages.
pub(crate) fn is_sound(page: &Page, pages: usize) -> bool {
    let count = count(page);
    let lowest = field(page, LOWEST);
    if lowest < slot(count) || lowest > PAGE_BYTES || page[1] != 0 {
        return false;
    }
    let mut cells = 0;
    for index in 0..count {
        let at = field(page, slot(index));
        if at < lowest || at + CELL_HEADER_BYTES > PAGE_BYTES {
            return false;
        }
        let (key_bytes, value_bytes) = (field(page, at), field(page, at + 2));
        let bytes = CELL_HEADER_BYTES + key_bytes + value_bytes;
        if key_bytes > KEY_BYTES_MAX
            || key_bytes + value_bytes > ITEM_BYTES_MAX
            || at + bytes > PAGE_BYTES
        {
            return false;
        }
        let leads_somewhere = value_bytes == 4 && (child(page, index) as usize) < pages;
        if level(page) > 0 && !leads_somewhere {
            return false;
        }
        cells += bytes;
    }
    let is_in_order = (1..count).all(|index| {
        let first_counts = level(page) == 0 || index > 1;
        !first_counts || key(page, index - 1) < key(page, index)
    });
    let is_accounted = cells + field(page, UNUSED) == PAGE_BYTES - lowest;
    is_in_order && is_accounted && (level(page) == 0 || count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut Page);

    /// A leaf with three items, after a change.
    fn is_sound_after(change: impl Fn(&mut Page)) -> bool {
        let mut page = [0; PAGE_BYTES];
        clear(&mut page, 0);
        for (index, key) in [b"a", b"b", b"c"].into_iter().enumerate() {
            assert!(insert(&mut page, index, key, b"value"));
        }
        change(&mut page);
        is_sound(&page, 1)
    }

    #[test]
    fn a_leaf_is_sound_until_one_of_its_fields_is_another() {
        const AT: usize = PAGE_BYTES - 3 * 10;
        assert!(is_sound_after(|_| {}));
        let cannot_be: [(&str, Change); 8] = [
            ("cells where slots are", |page| {
                set_field(page, LOWEST, slot(2));
                set_field(page, UNUSED, AT - slot(2));
            }),
            ("the lowest cell beyond the page", |page| set_field(page, LOWEST, PAGE_BYTES + 1)),
            ("something in the byte that has nothing", |page| page[1] = 1),
            ("a cell below the lowest", |page| set_field(page, slot(1), AT - 1)),
            ("a cell beyond the page", |page| set_field(page, slot(1), PAGE_BYTES - 1)),
            ("a key that is too long", |page| set_field(page, AT, KEY_BYTES_MAX + 1)),
            ("a key twice", |page| set_field(page, slot(1), AT + 20)),
            ("bytes that are not accounted for", |page| set_field(page, UNUSED, 1)),
        ];
        for (what, change) in cannot_be {
            assert!(!is_sound_after(change), "{what}");
        }
    }
}
