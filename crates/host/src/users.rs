//! Users: which number stands for those whom this user namespace does not know.

use crate::root::Root;

/// The kernel's number for owners whom a user namespace has no number for
/// (`user_namespaces(7)`), where `/proc` does not say.
const OVERFLOW_UID: u32 = 65_534;

/// The number under which files appear whose owners have none in this user namespace;
/// nothing where all have one, so that this number, too, is a user's.
pub fn unmapped_uid(root: &Root) -> Option<u32> {
    let overflow = root.attribute("/proc/sys/kernel/overflowuid");
    let overflow = overflow.and_then(|text| text.parse().ok()).unwrap_or(OVERFLOW_UID);
    let map = root.text("/proc/self/uid_map").ok()?;
    (!maps(&map, overflow)).then_some(overflow)
}

/// Whether one of the map's ranges, each given by its first number here, the one that it
/// stands for, and its length, has a number.
fn maps(map: &str, uid: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<u64>().unwrap_or(0));
        let (first, _, length) = (numbers.next(), numbers.next(), numbers.next());
        let range = first.zip(length).map(|(first, length)| first..first.saturating_add(length));
        range.is_some_and(|range| range.contains(&u64::from(uid)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn unmapped(map: &str) -> Option<u32> {
        let fixture = Fixture::empty();
        fixture.write("/proc/self/uid_map", map);
        unmapped_uid(&fixture.root())
    }

    #[test]
    fn nobody_is_a_user_unless_the_namespace_lacks_that_number() {
        assert_eq!(unmapped("         0          0 4294967295\n"), None);
        assert_eq!(unmapped("         0       1000          1\n"), Some(65_534));
        assert_eq!(unmapped("0 1000 1\n1 100000 65536\n"), None);
        assert_eq!(unmapped(""), Some(65_534));
    }

    #[test]
    fn the_kernel_may_have_another_number_for_them() {
        let fixture = Fixture::empty();
        fixture.write("/proc/self/uid_map", "0 1000 1\n");
        fixture.write("/proc/sys/kernel/overflowuid", "99\n");
        assert_eq!(unmapped_uid(&fixture.root()), Some(99));
        assert_eq!(unmapped_uid(&Fixture::empty().root()), None);
    }
}
