//! What a power failure left of a slice.
//!
//! A [`PowerTrial`](crate::study::PowerTrial) writes by its study's own code, and looks at what a
//! power failure left of that by its study's own code as well. Neither cuts any power:
//! `cargo xtask bench promises` does, below a file system.

/// What is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Operations that were acknowledged and are not there.
    pub lost: u64,
    /// What is there and is not whole.
    pub damage: Option<String>,
    /// What of this is against the strategy's promise.
    pub against: Option<String>,
}

impl Left {
    /// So many operations lost, of which the promise lets so many go.
    #[must_use]
    pub fn lost(lost: u64, allowed: u64) -> Self {
        let against = (lost > allowed)
            .then(|| format!("{lost} acknowledged operations were lost; at most {allowed} may be"));
        Self { lost, damage: None, against }
    }

    /// With something that is not whole; damage that the promise speaks of is allowed.
    #[must_use]
    pub fn with_damage(mut self, damage: Option<String>, allowed: bool) -> Self {
        if !allowed {
            self.against = self.against.or_else(|| damage.clone());
        }
        self.damage = damage;
        self
    }
}
