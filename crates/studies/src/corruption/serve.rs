//! Of the log of a server of ours.

use super::*;
use crate::serve::built_in::{LINE_BYTES, line};
use crate::serve::log_check::{Logged, account};

const REQUESTS: u64 = 12;
const OF_REQUEST: u64 = 2;

fn whole() -> Vec<u8> {
    let lines = (0..REQUESTS).flat_map(|request| (0..OF_REQUEST).map(move |n| line(request, n)));
    lines.flatten().collect()
}

fn after(harm: impl FnOnce(&mut Vec<u8>)) -> Outcome {
    let folder = testing::in_memory();
    let log = folder.path().join("log");
    fs::write(&log, whole()).unwrap();
    let harmed = rewrite(&log, harm);
    let lines = REQUESTS * OF_REQUEST;
    let logged = Logged { lines, requests: REQUESTS, every: 1, of_request: OF_REQUEST };
    match said(account(fs::File::open(&log).unwrap(), logged)) {
        Outcome::Unseen if !harmed => Outcome::Harmless,
        outcome => outcome,
    }
}

#[test]
fn a_whole_log_is_whole() {
    none_found("serve", |_| after(|_| {}));
}

#[test]
fn what_happens_to_its_lines_is_found() {
    all_found("serve: a bit flipped", |chance| after(|log| flip_a_bit(log, chance)));
    all_found("serve: the end cut off", |chance| after(|log| cut_the_end_off(log, chance)));
    all_found("serve: another's line", |chance| {
        after(|log| {
            let at = chance.random_range(0..log.len() / LINE_BYTES) * LINE_BYTES;
            let other = line(chance.random_range(0..2 * REQUESTS), chance.random_range(0..4));
            log[at..at + LINE_BYTES].copy_from_slice(&other);
        })
    });
}
