//! The B+tree: keys and values in the leaves, page 0 the root.
//!
//! The root stays where it is: where it is full, its cells move to a new page.

use crate::error::Error;
use crate::page::PAGE_BYTES;
use crate::store::node::{self, ITEM_BYTES_MAX, KEY_BYTES_MAX};
use crate::store::pages::Pages;

const ROOT: u32 = 0;

/// A node that was divided: the first key of its new right half, and that page.
struct Divided {
    key: Vec<u8>,
    right: u32,
}

/// The value that belongs to a key.
pub(crate) fn get<'p>(pages: &'p Pages, key: &[u8]) -> Option<&'p [u8]> {
    if pages.len() == 0 {
        return None;
    }
    let mut node = pages.get(ROOT);
    while node::level(node) > 0 {
        node = pages.get(node::child(node, node::find_child(node, key)));
    }
    node::find(node, key).ok().map(|index| node::cell(node, index).1)
}

/// Gives a key a value, whether it had one or not.
pub(crate) fn put(pages: &mut Pages, key: &[u8], value: &[u8]) -> Result<(), Error> {
    if key.len() > KEY_BYTES_MAX || key.len() + value.len() > ITEM_BYTES_MAX {
        return Err(Error::ItemTooLong {
            key_bytes: key.len(),
            value_bytes: value.len(),
            key_bytes_max: KEY_BYTES_MAX,
            item_bytes_max: ITEM_BYTES_MAX,
        });
    }
    if pages.len() == 0 {
        let root = pages.add()?;
        node::clear(pages.get_mut(root), 0);
    }
    let mut way = Vec::new();
    let mut page = ROOT;
    loop {
        let node = pages.get(page);
        if node::level(node) == 0 {
            break;
        }
        let index = node::find_child(node, key);
        way.push((page, index));
        page = node::child(node, index);
    }
    let leaf = pages.get_mut(page);
    let (index, has_fit) = match node::find(leaf, key) {
        Ok(index) => (index, node::replace(leaf, index, key, value)),
        Err(index) => (index, node::insert(leaf, index, key, value)),
    };
    if has_fit {
        return Ok(());
    }
    let mut divided = divide(pages, page, index, key, value)?;
    while let Some((page, index)) = way.pop() {
        let value = divided.right.to_le_bytes();
        if node::insert(pages.get_mut(page), index + 1, &divided.key, &value) {
            return Ok(());
        }
        divided = divide(pages, page, index + 1, &divided.key, &value)?;
    }
    raise(pages, &divided)
}

/// Divides a full node, and adds a cell to the half that it belongs to.
fn divide(
    pages: &mut Pages,
    page: u32,
    index: usize,
    key: &[u8],
    value: &[u8],
) -> Result<Divided, Error> {
    let right = pages.add()?;
    let mut new = pages.take(right);
    let full = pages.get_mut(page);
    node::clear(&mut new, node::level(full));
    let from = node::division(full, index);
    node::divide(full, from, &mut new);
    let has_fit = if index < from {
        node::insert(full, index, key, value)
    } else {
        node::insert(&mut new, index - from, key, value)
    };
    debug_assert!(has_fit, "after a split, the cell fits into its half of the node");
    let first = node::key(&new, 0).to_vec();
    pages.put_back(right, new);
    Ok(Divided { key: first, right })
}

/// The root was divided: its cells move to a page of their own, below it.
fn raise(pages: &mut Pages, divided: &Divided) -> Result<(), Error> {
    let left = pages.add()?;
    let mut moved = pages.take(left);
    let root = pages.get_mut(ROOT);
    *moved = *root;
    let level = node::level(root).checked_add(1).ok_or(Error::Full)?;
    root[..].fill(0);
    node::clear(root, level);
    node::insert(root, 0, &[], &left.to_le_bytes());
    node::insert(root, 1, &divided.key, &divided.right.to_le_bytes());
    pages.put_back(left, moved);
    Ok(())
}

/// What is wrong with pages that were read from files: after this, nothing that is done to
/// them can fail.
pub(crate) fn check(pages: &Pages) -> Result<(), &'static str> {
    let mut is_pointed_to = vec![false; pages.len()];
    for page in 0..pages.len() as u32 {
        let node = pages.get(page);
        if !node::is_sound(node, pages.len()) {
            return Err("a page of the tree is malformed");
        }
        let Some(below) = node::level(node).checked_sub(1) else { continue };
        for index in 0..node::count(node) {
            let child = node::child(node, index);
            if node::level(pages.get(child)) != below {
                return Err("a page of the tree points to one of the wrong level");
            }
            if std::mem::replace(&mut is_pointed_to[child as usize], true) {
                return Err("a page of the tree is pointed to twice");
            }
        }
    }
    match is_pointed_to.split_first() {
        Some((false, others)) if others.contains(&false) => {
            Err("a page of the tree is unreachable")
        }
        Some((true, _)) => Err("a page of the tree points to its root"),
        _ => Ok(()),
    }
}

/// All keys and values, in order.
pub(crate) struct Items<'p> {
    pages: &'p Pages,
    /// From the root down, each with the next cell to look at.
    way: Vec<(u32, usize)>,
}

impl<'p> Items<'p> {
    pub(crate) fn new(pages: &'p Pages) -> Self {
        Self { pages, way: if pages.len() == 0 { Vec::new() } else { vec![(ROOT, 0)] } }
    }
}

impl<'p> Iterator for Items<'p> {
    type Item = (&'p [u8], &'p [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (page, index) = self.way.last_mut()?;
            let node = self.pages.get(*page);
            if *index == node::count(node) {
                self.way.pop();
                continue;
            }
            let at = *index;
            *index += 1;
            if node::level(node) == 0 {
                return Some(node::cell(node, at));
            }
            self.way.push((node::child(node, at), 0));
        }
    }
}

const _: () = assert!(ITEM_BYTES_MAX * 4 < PAGE_BYTES);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn items(pages: &Pages) -> Vec<(Vec<u8>, Vec<u8>)> {
        Items::new(pages).map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
    }

    /// What was put is there, in order, in a sound tree.
    fn compare(pages: &Pages, expected: &BTreeMap<Vec<u8>, Vec<u8>>) {
        assert_eq!(check(pages), Ok(()));
        assert!(items(pages) == expected.clone().into_iter().collect::<Vec<_>>());
        for (key, value) in expected {
            assert_eq!(get(pages, key), Some(&value[..]));
            assert_eq!(get(pages, &[key, &b"x"[..]].concat()[..]), None);
        }
    }

    #[test]
    fn an_empty_tree_has_nothing() {
        compare(&Pages::default(), &BTreeMap::new());
        assert_eq!(get(&Pages::default(), b""), None);
    }

    #[test]
    fn a_high_tree_of_long_keys_in_any_order_has_them_all() {
        for order in [1, 3001, 4999] {
            let (mut pages, mut expected) = (Pages::default(), BTreeMap::new());
            for number in (0..5000_u32).map(|number| number * order % 5000) {
                let mut key = number.to_be_bytes().to_vec();
                key.resize(KEY_BYTES_MAX - 1, 0);
                let value = vec![1; number as usize * 7 % 700];
                put(&mut pages, &key, &value).unwrap();
                expected.insert(key, value);
            }
            assert!(node::level(pages.get(ROOT)) >= 3);
            compare(&pages, &expected);
        }
    }

    #[test]
    fn keys_in_order_leave_full_pages() {
        let mut pages = Pages::default();
        for number in 0..10_000_u32 {
            put(&mut pages, &number.to_be_bytes(), &[0; 100]).unwrap();
        }
        let least = 10_000 * (4 + 100) / PAGE_BYTES;
        assert!(pages.len() < least * 11 / 10, "{} pages", pages.len());
    }

    #[test]
    fn what_is_discarded_was_never_there() {
        let mut pages = Pages::default();
        put(&mut pages, b"a", b"1").unwrap();
        pages.accept();
        for number in 0..1000_u32 {
            put(&mut pages, &number.to_be_bytes(), &[0; 100]).unwrap();
        }
        put(&mut pages, b"a", b"2").unwrap();
        pages.discard();
        assert_eq!(items(&pages), [(b"a".to_vec(), b"1".to_vec())]);
        assert!(pages.len() == 1 && !pages.is_changed());
    }

    proptest! {
        #[test]
        fn any_puts_are_there(
            puts in prop::collection::vec(
                (prop::collection::vec(0..4_u8, 0..6), 0..900_usize, any::<u8>()),
                0..400,
            ),
        ) {
            let (mut pages, mut expected) = (Pages::default(), BTreeMap::new());
            for (key, len, byte) in puts {
                put(&mut pages, &key, &vec![byte; len]).unwrap();
                expected.insert(key, vec![byte; len]);
            }
            compare(&pages, &expected);
        }
    }
}
