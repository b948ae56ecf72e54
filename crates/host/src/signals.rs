//! What becomes of signals to this process (signal(7)).

/// Whether a signal is ignored here, by whoever started this process or by itself.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: with no new action the call only fills in the present one, which is valid
    // when zeroed; where it is refused the zeros, the default action, stay.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_told_from_what_is_not() {
        // The standard library ignores it in every program.
        assert!(is_ignored(libc::SIGPIPE));
        assert!(!is_ignored(libc::SIGTERM));
        assert!(!is_ignored(-1));
    }
}
