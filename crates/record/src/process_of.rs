//! The process of a thread.

use std::fs;

/// The number of a thread's process, and its name; none where it has ended.
pub(crate) fn process_of(thread: u32) -> Option<(u32, String)> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let process: u32 = field("Tgid:")?.parse().ok()?;
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some((process, name.trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_process_that_it_is_of() {
        let here = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        assert_eq!(process_of(here).map(|(process, _)| process), Some(std::process::id()));
        assert_eq!(process_of(u32::MAX), None);
    }
}
