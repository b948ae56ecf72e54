//! The soft and hard resource limits of this process. None if the system does not tell them: rustix
//! panics then.

// The type of a resource's number is not the same in each C library.
macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident of $resource:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name() -> Option<[u64; 2]> {
            let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the call writes to `limits` alone, which outlives it.
            let outcome = unsafe { libc::getrlimit(libc::$resource, &raw mut limits) };
            (outcome == 0).then_some([limits.rlim_cur, limits.rlim_max])
        }
    )*};
}

limits! {
    /// How many descriptors it may have open.
    descriptors of RLIMIT_NOFILE;
    /// How many bytes its stack may have.
    stack of RLIMIT_STACK;
}
