//! How far a load may go without being asked for twice.
//!
//! A mistyped host or one zero too many makes an attack of a measurement. So servers
//! beyond this machine and private networks need a word, and so does what only a server
//! of one's own should have to bear.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use host::sockets::Endpoint;

use crate::{Error, Plan, Steps, target::shown};

/// What the user has agreed to beyond the defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Permission {
    /// A server beyond this machine and private networks.
    pub remote: bool,
    /// As many connections as are asked for.
    pub unlimited: bool,
}

/// Who has to bear a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// A socket in the file system, loopback, or another address of this machine.
    ThisMachine,
    /// Addresses that are not routed on the Internet: RFC 1918, RFC 4193, RFC 6598 and
    /// link-local ones.
    Private,
    /// Everyone else.
    Public,
}

/// What a load may do by default.
struct Limits {
    /// Connections started in a second.
    rate: f64,
    /// Clients of a closed loop.
    concurrency: u32,
    /// Connections or requests of a step.
    in_all: u64,
    /// Whether the highest rate that is held may be looked for.
    may_search: bool,
}

impl Reach {
    fn of(endpoint: &Endpoint) -> Self {
        match endpoint {
            Endpoint::Unix(_) => Self::ThisMachine,
            Endpoint::Tcp(address) if is_of_this_machine(*address) => Self::ThisMachine,
            Endpoint::Tcp(address) if is_private(address.ip()) => Self::Private,
            Endpoint::Tcp(_) => Self::Public,
        }
    }

    /// On this machine and in a private network, ten times what a server that touches
    /// files answers; elsewhere, what a few hundred visitors do.
    fn limits(self) -> Limits {
        match self {
            Self::ThisMachine => {
                Limits { rate: 1e5, concurrency: 20_000, in_all: u64::MAX, may_search: true }
            }
            Self::Private => {
                Limits { rate: 1e4, concurrency: 2000, in_all: u64::MAX, may_search: true }
            }
            Self::Public => {
                Limits { rate: 100.0, concurrency: 20, in_all: 10_000, may_search: false }
            }
        }
    }

    fn shown(self) -> &'static str {
        match self {
            Self::ThisMachine => "on this machine",
            Self::Private => "in a private network",
            Self::Public => "outside this machine and private networks",
        }
    }
}

fn is_of_this_machine(address: SocketAddr) -> bool {
    let ip = address.ip().to_canonical();
    ip.is_loopback() || ip.is_unspecified() || is_own_address(SocketAddr::new(ip, address.port()))
}

/// Whether the kernel would send from the very address: connecting a UDP socket looks up
/// the route, and sends nothing.
fn is_own_address(address: SocketAddr) -> bool {
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let from = UdpSocket::bind(any).and_then(|socket| {
        socket.connect(address)?;
        socket.local_addr()
    });
    from.is_ok_and(|from| from.ip() == address.ip())
}

fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let shared = ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 64;
            ip.is_private() || ip.is_link_local() || shared
        }
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

/// Refuses what was not agreed to, before anything is sent.
pub(crate) fn check(plan: &Plan, endpoints: &[Endpoint]) -> Result<(), Error> {
    let reach = endpoints.iter().map(Reach::of).max();
    let Some(reach) = reach else { return Ok(()) };
    if reach == Reach::Public && !plan.permission.remote {
        let addresses: Vec<String> = endpoints.iter().map(Endpoint::to_string).collect();
        return Err(Error::Usage(format!(
            "{}: the server ({}) is neither on this machine nor in a private network; if you are \
             allowed to put load on it, add --remote",
            shown(&plan.target.url),
            addresses.join(", ")
        )));
    }
    if plan.permission.unlimited {
        return Ok(());
    }
    match beyond(&plan.steps, &reach.limits()) {
        Some(what) => Err(Error::Usage(format!(
            "{what} for a server {}; if you are allowed to put that much load on it, add \
             --unlimited",
            reach.shown()
        ))),
        None => Ok(()),
    }
}

/// What of the steps is beyond the limits, beside the limit.
fn beyond(steps: &Steps, limits: &Limits) -> Option<String> {
    let Limits { rate: rate_max, concurrency: concurrency_max, in_all, may_search } = *limits;
    let too_many = |what: &str, asked: u64| {
        (asked > in_all).then(|| format!("{asked} {what}, where the limit is {in_all}"))
    };
    match steps {
        Steps::Rates { rates, connections } => {
            let highest = rates.iter().copied().fold(0.0, f64::max);
            if highest > rate_max {
                return Some(format!(
                    "{highest} connections a second, where the limit is {rate_max}"
                ));
            }
            too_many("connections in a step", connections.unwrap_or_default())
        }
        Steps::MaxRate { .. } if !may_search => {
            Some("a search for the highest rate, which loads the server until it fails".to_owned())
        }
        Steps::MaxRate { .. } => None,
        Steps::Closed { concurrency, .. } if *concurrency > concurrency_max => {
            Some(format!("{concurrency} clients at a time, where the limit is {concurrency_max}"))
        }
        Steps::Closed { requests, .. } => too_many("requests", *requests),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Target;

    fn reach(address: &str) -> Reach {
        Reach::of(&Endpoint::Tcp(address.parse().unwrap()))
    }

    /// Addresses for documentation stand for public ones.
    #[test]
    fn addresses_are_told_apart_however_they_are_written() {
        for near in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "0.0.0.0:1"] {
            assert_eq!(reach(near), Reach::ThisMachine, "{near}");
        }
        for private in [
            "10.255.0.1:1",
            "172.31.255.255:1",
            "192.168.3.4:1",
            "169.254.1.1:1",
            "100.127.0.1:1",
            "[fd00::1]:1",
            "[fe80::1]:1",
            "[::ffff:10.1.2.3]:1",
        ] {
            assert_eq!(reach(private), Reach::Private, "{private}");
        }
        for public in [
            "192.0.2.1:1",
            "172.32.0.1:1",
            "100.128.0.1:1",
            "11.0.0.1:1",
            "[2001:db8::1]:1",
            "[::ffff:192.0.2.1]:1",
        ] {
            assert_eq!(reach(public), Reach::Public, "{public}");
        }
    }

    fn checked(url: &str, steps: Steps, permission: Permission) -> Result<(), Error> {
        let plan = Plan { permission, ..Plan::new(Target::parse(url).unwrap(), steps) };
        check(&plan, &plan.target.endpoints().unwrap())
    }

    fn at(rate: f64) -> Steps {
        Steps::Rates { rates: vec![1.0, rate], connections: None }
    }

    const AGREED: Permission = Permission { remote: true, unlimited: false };
    const ALL: Permission = Permission { remote: true, unlimited: true };

    #[test]
    fn the_internet_needs_a_word_and_keeps_a_limit() {
        let far = "http://192.0.2.1/";
        let refused = checked(far, at(1.0), Permission::default()).unwrap_err();
        assert!(refused.is_usage() && refused.to_string().contains("--remote"), "{refused}");
        assert!(checked(far, at(100.0), AGREED).is_ok());
        let closed = |concurrency, requests| Steps::Closed { concurrency, requests };
        let search = Steps::MaxRate { connections: None };
        let long = Steps::Rates { rates: vec![1.0], connections: Some(10_001) };
        for steps in [at(101.0), closed(21, 10), closed(1, 10_001), search, long] {
            let refused = checked(far, steps.clone(), AGREED).unwrap_err();
            assert!(refused.to_string().contains("--unlimited"), "{steps:?}: {refused}");
            assert!(checked(far, steps, ALL).is_ok());
        }
    }

    #[test]
    fn near_servers_need_no_word_and_have_a_wider_limit() {
        let none = Permission::default();
        for (near, most) in [("http://127.0.0.1/", 1e5), ("http://10.0.0.1/", 1e4)] {
            assert!(checked(near, at(most), none).is_ok(), "{near}");
            assert!(checked(near, Steps::MaxRate { connections: None }, none).is_ok(), "{near}");
            assert!(checked(near, at(most + 1.0), none).is_err(), "{near}");
        }
        let only = Permission { unlimited: true, ..none };
        assert!(checked("http://127.0.0.1/", at(1e6), only).is_ok());
        // To lift the limit is not to agree to a server elsewhere.
        assert!(checked("http://192.0.2.1/", at(1.0), only).is_err());
    }
}
