//! Processor time, divided between a program and the kernel.

/// A sum in the proportion of two counts; all of it outside the kernel where neither is known.
pub(crate) fn share(sum: u64, user: u64, system: u64) -> (u64, u64) {
    let whole = u128::from(user) + u128::from(system);
    if whole == 0 {
        return (sum, 0);
    }
    let within = (u128::from(sum) * u128::from(system) / whole) as u64;
    (sum - within, within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared_as_ticks_are() {
        assert_eq!(share(100, 1, 3), (25, 75));
        assert_eq!(share(100, 0, 0), (100, 0));
        assert_eq!(share(u64::MAX, u64::MAX, u64::MAX), (u64::MAX / 2 + 1, u64::MAX / 2));
    }
}
