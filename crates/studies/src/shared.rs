//! What several arms have in common and is made or read once.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What was made and is still in use, by what it was made of.
pub(crate) struct Shared<K, T>(Mutex<Vec<(K, Weak<T>)>>);

impl<K: PartialEq, T> Shared<K, T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// What comes of this, made unless it is in use.
    pub(crate) fn get<E>(&self, key: K, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, kept)| kept.strong_count() > 0);
        let found = known.iter().find(|(of, _)| *of == key);
        if let Some(kept) = found.and_then(|(_, kept)| kept.upgrade()) {
            return Ok(kept);
        }
        let new = Arc::new(make()?);
        known.push((key, Arc::downgrade(&new)));
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_once_while_anybody_has_it_and_failures_are_not_kept() {
        let shared = Shared::new();
        assert_eq!(shared.get("a", || Err::<u8, _>("no")), Err("no"));
        let make = |value| move || Ok::<_, &str>(value);
        let one = shared.get("a", make(1));
        assert_eq!(shared.get("a", make(2)), Ok(Arc::new(1)));
        assert_eq!(shared.get("b", make(3)), Ok(Arc::new(3)));
        drop(one);
        assert_eq!(shared.get("a", make(4)), Ok(Arc::new(4)));
    }
}
