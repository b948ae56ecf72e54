//! Records to pass on: without what tells whose they are, and whole enough to be analysed
//! and shown as the originals are.
//!
//! What stays is numbers, and words that the hardware, the kernel and iotoll itself give.
//! What a person chose (labels, paths, commands, names of programs) is replaced, and what
//! may quote any of it (errors, reasons) is left out. A test plants a name in every text of
//! a record in turn.

mod comparison;
mod load;

pub use comparison::without_names;
pub use load::without_names as load_without_names;

use crate::run::Machine;

/// Stands for a text that is left out.
pub(crate) const LEFT_OUT: &str = "(not shared)";

fn left_out() -> String {
    LEFT_OUT.to_owned()
}

/// For a reason that the record has, or has not.
fn reason(given: Option<String>) -> Option<String> {
    given.map(|_| left_out())
}

fn machine(machine: Machine) -> Machine {
    Machine { kernel: kernel(&machine.kernel), ..machine }
}

/// Parts of a kernel's release that say whose distribution it is, and nothing of who runs it.
const RELEASES: &str = "\
    amd64 arm64 x86 64 aarch64 generic cloud lowlatency rt lts rc azure aws gcp gke oracle \
    microsoft standard WSL2 pve arch1 arch2 zen1 hardened1 default linuxkit raspi rpi bpo deb \
    cm4all virt edge xanmod1 liquorix";

/// A kernel's release without words that whoever built it may have chosen.
fn kernel(release: &str) -> String {
    let is_known = |part: &str| {
        let after = |prefix: &str| {
            let rest = part.strip_prefix(prefix);
            rest.is_some_and(|rest| !rest.is_empty() && is_number(rest))
        };
        is_number(part)
            || RELEASES.split_whitespace().any(|known| known == part)
            || ["el", "fc", "deb", "bpo", "rc", "rt", "gentoo"].into_iter().any(after)
    };
    let is_divider = |c: char| matches!(c, '.' | '-' | '_' | '+' | '~');
    let mut kept = String::new();
    for part in release.split_inclusive(is_divider) {
        let word = part.trim_end_matches(is_divider);
        if !is_known(word) {
            break;
        }
        kept.push_str(part);
    }
    match kept.trim_end_matches(is_divider) {
        "" => left_out(),
        kept => kept.to_owned(),
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernels_release_loses_what_a_person_may_have_called_it() {
        for known in ["6.18.0", "6.8.0-45-generic", "6.1.0-28-cloud-amd64", "5.14.0-427.el9.x86_64"]
        {
            assert_eq!(kernel(known), known);
        }
        assert_eq!(kernel("6.9.3-alice-laptop"), "6.9.3");
        assert_eq!(kernel("6.12.1+acme7"), "6.12.1");
        assert_eq!(kernel("secret"), LEFT_OUT);
    }
}
