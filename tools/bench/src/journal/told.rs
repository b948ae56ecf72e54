//! What came of it: tables, and what the figures should be.

use anyhow::{Context as _, Result, ensure};
use units::{count, rough_size, three_digits, time};

use super::race::Done;
use crate::spread::Spread;

/// The journal takes at most this share of what whole pages take.
const BYTES_SHARE_MAX: f64 = 1.0 / 20.0;
/// A commit takes at most this share of the time that whole pages take.
const TIME_SHARE_MAX: f64 = 0.5;
/// Ours is ahead of engines without a log of what changed by this at least.
const AHEAD_MIN: f64 = 2.0;
const RECOVERY_MIN_BYTES_PER_S: f64 = 1e9;
/// Whole pages of random keys over those of keys in order, at least.
const AMPLIFICATION_MIN: f64 = 7.0;

/// The ratio of all blocks together may lie outside the interval by this factor untold.
const BESIDE: f64 = 1.01;

/// Against which engines ours should be ahead by how much.
const RIVALS: [(&str, f64); 5] = [
    ("sqlite", AHEAD_MIN),
    ("lmdb-one-sync", AHEAD_MIN),
    ("redb", AHEAD_MIN),
    ("rocksdb", 1.0),
    ("rocksdb-zstd", 1.0),
];

/// The engines, each held against ours, which is the first.
pub(super) fn engines(all: &[Done]) {
    println!();
    println!(
        "{:<30} {:>9} {:>8} {:>9} {:>11}  time over ours, 95% interval",
        "per commit:", "commits/s", "syncs", "CPU time", "written"
    );
    for done in all {
        println!(
            "{:<30} {:>9} {:>8.2} {:>9} {:>11}  {}",
            done.title,
            count(done.rate().round() as u64),
            done.syncs(),
            time(done.per_commit(|stretch| stretch.cpu_ns)),
            rough_size(done.per_commit(|stretch| stretch.device_bytes).round() as u64),
            against(done, &all[0])
        );
    }
}

fn against(done: &Done, ours: &Done) -> String {
    if done.engine == ours.engine {
        return String::new();
    }
    let [syncs, own] = [done, ours].map(Done::usual_syncs);
    if syncs != own {
        return format!("not compared: a commit makes {syncs} syncs, ours {own}");
    }
    let ratio = done.time_over(ours);
    let all = ours.rate() / done.rate();
    // Some blocks took very long, which a median does not tell.
    let is_told = ratio.low / BESIDE <= all && all <= ratio.high * BESIDE;
    let beside =
        if is_told { String::new() } else { format!("; of all blocks together {}", times(all)) };
    ratio.show(times) + &beside
}

fn times(ratio: f64) -> String {
    format!("×{}", three_digits(ratio))
}

/// The library by itself.
pub(super) fn journals<'a>(all: impl IntoIterator<Item = &'a Done>) {
    println!();
    println!(
        "{:<30} {:>11} {:>11} {:>11} {:>9}  recovery, in pages a second",
        "per commit, no checkpoints:", "as pages", "in journal", "to device", "time"
    );
    for done in all {
        let size = |bytes: f64| rough_size(bytes.round() as u64);
        println!(
            "{:<30} {:>11} {:>11} {:>11} {:>9}  {}/s",
            done.title,
            size(done.per_commit(|stretch| stretch.page_bytes)),
            size(done.per_commit(|stretch| stretch.journal_bytes)),
            size(done.per_commit(|stretch| stretch.device_bytes)),
            time(done.per_commit(|stretch| stretch.elapsed_ns)),
            size(recovery(done))
        );
    }
}

/// Bytes of whole pages that are recovered in a second.
fn recovery(done: &Done) -> f64 {
    done.recovery.map_or(0.0, |recovery| {
        recovery.page_bytes as f64 / recovery.elapsed_ns.max(1) as f64 * 1e9
    })
}

/// Whether a figure is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Holds,
    DoesNot,
    /// The interval leaves it open.
    Open,
    NotCompared,
    NotBuilt,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNot => "DOES NOT HOLD",
            Self::Open => "open",
            Self::NotCompared => "not compared",
            Self::NotBuilt => "not built",
        }
    }

    fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::DoesNot }
    }

    /// Whether a ratio is surely that large, or surely not.
    fn at_least(ratio: &Spread, least: f64) -> Self {
        if ratio.low >= least {
            Self::Holds
        } else if ratio.high < least {
            Self::DoesNot
        } else {
            Self::Open
        }
    }
}

/// Prints what should hold, and whether it does; an error where it surely does not.
pub(super) fn expectations(engines: &[Done], journals: &[Done], sequential: &[Done]) -> Result<()> {
    println!();
    let mut missed = 0;
    let found = RIVALS.iter().map(|(rival, least)| rivalled(engines, rival, *least));
    let found = found.chain(by_itself(journals, sequential)?);
    for (outcome, what) in found {
        missed += usize::from(outcome == Outcome::DoesNot);
        println!("{:<14} {what}", outcome.word());
    }
    ensure!(missed == 0, "{missed} figures are not as they should be");
    Ok(())
}

/// Whether ours is ahead of another engine, or, where that is enough, not behind.
fn rivalled(engines: &[Done], rival: &str, least: f64) -> (Outcome, String) {
    let Some(theirs) = engines.iter().find(|done| done.engine == rival) else {
        return (Outcome::NotBuilt, format!("{rival}: ours against it"));
    };
    let ours = &engines[0];
    let ratio = theirs.time_over(ours);
    let is_alike = theirs.usual_syncs() == ours.usual_syncs();
    // To be told from it in neither direction is not to be behind.
    let outcome = match Outcome::at_least(&ratio, least) {
        _ if !is_alike => Outcome::NotCompared,
        Outcome::Open if least <= 1.0 => Outcome::Holds,
        outcome => outcome,
    };
    let wanted = if least > 1.0 {
        format!("ours is ahead {} or more", times(least))
    } else {
        "ours is not behind".to_owned()
    };
    (outcome, format!("{}: {wanted}: {}", theirs.title, ratio.show(times)))
}

fn of<'d>(all: &'d [Done], engine: &str) -> Result<&'d Done> {
    let found = all.iter().find(|done| done.engine == engine);
    found.with_context(|| format!("{engine} was not measured"))
}

fn by_itself(journals: &[Done], sequential: &[Done]) -> Result<Vec<(Outcome, String)>> {
    let (best, lz4) = (of(journals, "journal-best")?, of(journals, "journal-lz4")?);
    let (fast, alike) = (of(journals, "journal-fast")?, of(journals, "journal-pages-direct")?);
    let pages = of(journals, "journal-pages")?;
    let in_order = of(sequential, "journal-pages")?;
    let share = |done: &Done| done.journal_bytes() / pages.journal_bytes();
    let fraction = |share: f64| format!("1/{}", three_digits(1.0 / share));
    let time_share = fast.time_over(pages);
    let faster = Spread {
        median: 1.0 / time_share.median,
        low: 1.0 / time_share.high,
        high: 1.0 / time_share.low,
    };
    let amplification = pages.journal_bytes() / in_order.journal_bytes();
    // Whole pages that were written past the page cache are read from the device, which then
    // is what the figure is about.
    let read = journals.iter().filter(|done| done.engine != alike.engine);
    let slowest = read.map(recovery).fold(f64::INFINITY, f64::min);
    Ok(vec![
        (
            Outcome::of(share(best) <= BYTES_SHARE_MAX),
            format!(
                "journal bytes are {} of the pages' or less: {}; by LZ4 alone {}",
                fraction(BYTES_SHARE_MAX),
                fraction(share(best)),
                fraction(share(lz4))
            ),
        ),
        (
            Outcome::at_least(&faster, 1.0 / TIME_SHARE_MAX),
            format!(
                "a commit takes {TIME_SHARE_MAX} of the pages' time or less: {}; of that of pages \
                 written the same way: {}",
                time_share.show(three_digits),
                fast.time_over(alike).show(three_digits)
            ),
        ),
        (
            Outcome::of(slowest >= RECOVERY_MIN_BYTES_PER_S),
            format!(
                "recovery reads {}/s of pages or more: {}/s",
                rough_size(RECOVERY_MIN_BYTES_PER_S as u64),
                rough_size(slowest as u64)
            ),
        ),
        (
            Outcome::of(amplification >= AMPLIFICATION_MIN),
            format!(
                "random keys write {} the pages of keys in order or more: {}",
                times(AMPLIFICATION_MIN),
                times(amplification)
            ),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::engines::Stretch;
    use super::*;

    /// An engine whose commits take so long, block by block, with so many syncs each.
    fn done(engine: &'static str, ns: [u64; 6], syncs: u64) -> Done {
        let stretch =
            |elapsed_ns| Stretch { elapsed_ns, syncs: vec![syncs; 3], ..Stretch::default() };
        Done { engine, title: engine, stretches: ns.map(stretch).into(), recovery: None }
    }

    fn rivalled(ns: [u64; 6], syncs: u64, least: f64) -> Outcome {
        let engines = [done("ours-best", [100; 6], 1), done("rival", ns, syncs)];
        super::rivalled(&engines, "rival", least).0
    }

    #[test]
    fn ours_is_ahead_where_the_whole_interval_says_so() {
        assert_eq!(rivalled([210, 230, 250, 220, 240, 260], 1, 2.0), Outcome::Holds);
        assert_eq!(rivalled([150, 160, 170, 180, 190, 199], 1, 2.0), Outcome::DoesNot);
        assert_eq!(rivalled([190, 190, 210, 210, 210, 210], 1, 2.0), Outcome::Open);
    }

    #[test]
    fn ours_is_not_behind_where_it_is_not_told_apart() {
        assert_eq!(rivalled([90, 95, 100, 105, 110, 115], 1, 1.0), Outcome::Holds);
        assert_eq!(rivalled([90, 95, 96, 97, 98, 99], 1, 1.0), Outcome::DoesNot);
    }

    #[test]
    fn engines_are_not_compared_where_a_commit_makes_another_number_of_syncs() {
        assert_eq!(rivalled([900; 6], 2, 2.0), Outcome::NotCompared);
        let [ours, rival] = [done("ours-best", [100; 6], 1), done("rival", [900; 6], 2)];
        assert_eq!(against(&rival, &ours), "not compared: a commit makes 2 syncs, ours 1");
        assert_eq!(super::rivalled(&[ours], "rival", 2.0).0, Outcome::NotBuilt);
    }

    #[test]
    fn blocks_that_took_very_long_are_told_beside_the_median() {
        let [ours, rival] = [done("ours-best", [100; 6], 1), done("rival", [200; 6], 1)];
        assert_eq!(against(&rival, &ours), "×2.00 (×2.00 to ×2.00)");
        let mut blocks = vec![200; 12];
        blocks[3] = 20_000;
        let long = |ns: u64| done("", [ns; 6], 1).stretches.remove(0);
        let rival = Done { stretches: blocks.into_iter().map(long).collect(), ..rival };
        let ours = Done { stretches: vec![long(100); 12], ..ours };
        assert!(against(&rival, &ours).ends_with("of all blocks together ×18.5"));
    }
}
