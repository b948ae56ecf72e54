//! Lists in the order in which things were first met: each once, or by what they have in common.

/// Adds what is not there yet.
pub fn push_new<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}

/// Each once.
pub fn each_once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    all.into_iter().for_each(|one| push_new(&mut once, one));
    once
}

/// The group of a key, which is empty where the key is new.
pub fn group_of<K: PartialEq, V>(groups: &mut Vec<(K, Vec<V>)>, key: K) -> &mut Vec<V> {
    let known = groups.iter().position(|(known, _)| *known == key);
    let at = known.unwrap_or(groups.len());
    if known.is_none() {
        groups.push((key, Vec::new()));
    }
    &mut groups[at].1
}

/// The groups of all keys.
pub fn in_groups<K: PartialEq, V>(all: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups = Vec::new();
    all.into_iter().for_each(|(key, one)| group_of(&mut groups, key).push(one));
    groups
}
