//! What the system says about its local ports.

use crate::root::Root;

/// Linux holds a closed connection for so long (`TCP_TIMEWAIT_LEN`).
pub const TIME_WAIT_S: u64 = 60;
/// With `tcp_tw_reuse` a port in `TIME_WAIT` may be taken again after so long.
const REUSE_S: u64 = 1;

/// How many ports there are, and how long one stays taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRules {
    /// Ports in `net.ipv4.ip_local_port_range`.
    pub per_source: u64,
    /// How long a port stays taken when this side closed first.
    pub held_s: u64,
}

impl PortRules {
    /// Reads the rules; what cannot be read is taken at Linux's default.
    pub fn read(root: &Root, loopback: bool) -> Self {
        let file = |name: &str| root.text(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
        let per_source = ports_in_range(&file("ip_local_port_range")).unwrap_or(28_232);
        let held_s = held_seconds(&file("tcp_tw_reuse"), loopback);
        Self { per_source, held_s }
    }
}

pub(crate) fn ports_in_range(text: &str) -> Option<u64> {
    let mut ends = text.split_whitespace().map(str::parse::<u64>);
    let (low, high) = (ends.next()?.ok()?, ends.next()?.ok()?);
    (high.checked_sub(low)?).checked_add(1)
}

/// `tcp_tw_reuse` is 0 for never, 1 for always, 2 for loopback only (default).
fn held_seconds(text: &str, loopback: bool) -> u64 {
    match text.trim() {
        "1" => REUSE_S,
        "0" => TIME_WAIT_S,
        _ if loopback => REUSE_S,
        _ => TIME_WAIT_S,
    }
}

/// Connections in `TIME_WAIT` on the whole system, from `/proc/net/sockstat`; 0 where
/// they are not counted.
pub fn time_wait_now(root: &Root) -> u64 {
    let text = root.text("/proc/net/sockstat").unwrap_or_default();
    parse_time_wait(&text).unwrap_or(0)
}

pub(crate) fn parse_time_wait(sockstat: &str) -> Option<u64> {
    let line = sockstat.lines().find(|line| line.starts_with("TCP:"))?;
    let mut words = line.split_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn the_systems_files_are_read() {
        assert_eq!(ports_in_range("32768\t60999\n"), Some(28_232));
        assert_eq!(ports_in_range("5 4"), None);
        assert_eq!(ports_in_range(""), None);
        assert_eq!((held_seconds("2\n", true), held_seconds("2\n", false)), (1, 60));
        assert_eq!((held_seconds("1", false), held_seconds("0", true)), (1, 60));
        let text = "sockets: used 1\nTCP: inuse 5 orphan 0 tw 42 alloc 7 mem 1\n";
        assert_eq!(parse_time_wait(text), Some(42));
    }

    #[test]
    fn what_cannot_be_read_is_taken_at_its_default() {
        let fixture = Fixture::empty();
        let rules = PortRules { per_source: 28_232, held_s: 60 };
        assert_eq!(PortRules::read(&fixture.root(), false), rules);
        assert_eq!(time_wait_now(&fixture.root()), 0);
        fixture.write("/proc/sys/net/ipv4/ip_local_port_range", "1000 1999\n");
        fixture.write("/proc/sys/net/ipv4/tcp_tw_reuse", "1\n");
        let rules = PortRules { per_source: 1000, held_s: 1 };
        assert_eq!(PortRules::read(&fixture.root(), false), rules);
    }
}
