//! Before the start: are there enough descriptors and ports?
//!
//! The worst that a rate can need is what it takes when the server stops
//! answering: every connection of one whole timeout is open at once. That
//! much is asked for. When it cannot be had, the load may still be run, for a
//! server that answers needs far less, but it is said beforehand what would
//! run out and when; and a step in which it did run out is invalid.

use crate::{Plan, Steps, plan::Reuse, ports::sources_for};
use host::{ports::PortRules, process, root::Root, sockets::Endpoint};
use model::load::Preflight;
use rustix::process::{Resource, Rlimit, setrlimit};
use sys::limits;

/// Descriptors that are not connections: standard streams, epoll, timer,
/// files of the server's process while it is measured.
const SPARE_DESCRIPTORS: u64 = 32;
/// The soft limit of descriptors where the system does not say: that of Linux itself.
const USUAL_LIMIT: u64 = 1024;
/// The rate assumed for a search, which does not know yet where it will end.
const SEARCH_RATE: f64 = 20_000.0;

/// Checks, raises the limit of descriptors as far as is needed and allowed,
/// and says what may not suffice.
pub(crate) fn check(plan: &Plan, endpoint: &Endpoint, rules: PortRules) -> Preflight {
    let needed = connections_at_worst(plan);
    let descriptors = raise_descriptors(needed + SPARE_DESCRIPTORS + open_descriptors());
    let mut preflight =
        Preflight { connections_at_worst: needed, descriptors, ..Preflight::default() };
    let usable = descriptors.saturating_sub(SPARE_DESCRIPTORS);
    if usable < needed {
        preflight.warnings.push(format!(
            "{usable} file descriptors are available, but {needed} connections would be open if \
             the server stopped answering for the whole timeout; raise the hard limit (ulimit -Hn) or lower --timeout"
        ));
    }
    if let Endpoint::Tcp(_) = endpoint {
        check_ports(plan, endpoint, rules, needed, &mut preflight);
    }
    if matches!(plan.steps, Steps::MaxRate { .. }) {
        // A search ends by itself where they no longer suffice.
        preflight.warnings.clear();
    }
    preflight
}

fn check_ports(
    plan: &Plan,
    endpoint: &Endpoint,
    rules: PortRules,
    needed: u64,
    preflight: &mut Preflight,
) {
    let sources =
        if endpoint.is_loopback_v4() { sources_for(rules, needed).clamp(1, 64) } else { 1 };
    preflight.ports_per_source = Some(rules.per_source);
    preflight.sources = Some(sources);
    let ports = rules.per_source * sources;
    if ports < needed {
        preflight.warnings.push(format!(
            "{ports} local ports are available, but {needed} connections would be open if the \
             server stopped answering for the whole timeout; widen net.ipv4.ip_local_port_range or lower --timeout"
        ));
    }
    let held = ports_held_when_we_close(plan, rules);
    if held > rules.per_source && !endpoint.is_loopback_v4() {
        preflight.warnings.push(format!(
            "{ports} local ports are available, but {held} would be in TIME_WAIT for {} s if the \
             server left closing the connections to the client; set net.ipv4.tcp_tw_reuse=1",
            rules.held_s
        ));
    }
}

fn connections_at_worst(plan: &Plan) -> u64 {
    let within_timeout = |rate: f64, connections: Option<u64>| {
        let open = (rate * plan.timeout.as_secs_f64()).ceil() as u64;
        connections.map_or(open, |n| open.min(n))
    };
    match &plan.steps {
        Steps::Closed { concurrency, .. } => u64::from(*concurrency),
        Steps::MaxRate { .. } => within_timeout(SEARCH_RATE, None),
        Steps::Rates { rates, connections } => {
            rates.iter().map(|rate| within_timeout(*rate, *connections)).max().unwrap_or(0)
        }
    }
}

/// Ports held when it is always this side that closes first.
fn ports_held_when_we_close(plan: &Plan, rules: PortRules) -> u64 {
    match &plan.steps {
        Steps::Rates { rates, connections } => {
            let held = |rate: &f64| {
                let ports = (rate * rules.held_s as f64).ceil() as u64;
                connections.map_or(ports, |n| ports.min(n))
            };
            rates.iter().map(held).max().unwrap_or(0)
        }
        Steps::Closed { requests, .. } if plan.reuse == Reuse::Never => *requests,
        Steps::Closed { .. } | Steps::MaxRate { .. } => 0,
    }
}

fn open_descriptors() -> u64 {
    process::open_descriptors(&Root::real()).map_or(16, |count| count as u64)
}

/// Raises the soft limit to `needed` or to the hard limit; returns the limit.
fn raise_descriptors(needed: u64) -> u64 {
    let Some([soft, hard]) = limits::descriptors() else { return USUAL_LIMIT };
    if soft >= needed {
        return soft;
    }
    let raised = hard.min(needed);
    let new_limit = Rlimit { current: Some(raised), maximum: Some(hard) };
    if setrlimit(Resource::Nofile, new_limit).is_ok() { raised } else { soft }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Target;

    const RULES: PortRules = PortRules { per_source: 28_232, held_s: 1 };

    fn plan(rates: &[f64], connections: Option<u64>) -> (Plan, Endpoint) {
        let target = Target::parse("http://127.0.0.1:1/").unwrap();
        let endpoint = target.endpoints().unwrap().remove(0);
        (Plan::new(target, Steps::Rates { rates: rates.to_vec(), connections }), endpoint)
    }

    #[test]
    fn the_worst_is_a_timeout_of_the_highest_rate_or_all_connections() {
        assert_eq!(connections_at_worst(&plan(&[200.0, 300.0], None).0), 1500);
        assert_eq!(connections_at_worst(&plan(&[200.0, 300.0], Some(100)).0), 100);
    }

    #[test]
    fn on_this_host_source_addresses_make_up_for_ports() {
        let (plan, endpoint) = plan(&[30_000.0], None);
        let found = check(&plan, &endpoint, RULES);
        assert_eq!(found.sources, Some(9));
        assert!(!found.warnings.iter().any(|w| w.contains("ports")), "{:?}", found.warnings);
    }

    #[test]
    fn elsewhere_a_want_of_ports_is_told_beforehand() {
        let (plan, _) = plan(&[30_000.0], None);
        let far = Endpoint::Tcp("192.0.2.1:80".parse().unwrap());
        let found = check(&plan, &far, PortRules { held_s: 60, ..RULES });
        assert_eq!(found.warnings.iter().filter(|w| w.contains("local ports")).count(), 2);
    }

    #[test]
    fn a_limit_that_suffices_is_left_alone() {
        let [before, _] = limits::descriptors().unwrap();
        assert_eq!(raise_descriptors(1), before);
        assert!(raise_descriptors(u64::MAX) >= before);
    }
}
