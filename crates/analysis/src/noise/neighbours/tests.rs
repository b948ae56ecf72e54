#![allow(clippy::unwrap_used)]

use model::analysis::Analysis;
use model::place::DeviceLayer;
use model::run::Run;
use model::slice::PlaceTraffic;

use super::*;
use crate::testing;

/// Ten stretches of four rounds of an arm on a disk and one in memory, each of so many
/// nanoseconds for a hundred operations. The first one waits in syncs for the share `waits`.
/// In `disturbed` rounds others write 1 MB to the disk while the second runs, and the first takes
/// `slower` times as long.
fn run(ns: [f64; 2], waits: f64, disturbed: impl Fn(usize) -> bool, slower: f64) -> Run {
    let slices = (0..40).flat_map(|block| {
        let shake = |arm: usize| 1.0 + 0.01 * ((block * 7 + arm * 3) % 5) as f64;
        let factor = if disturbed(block) { slower } else { 1.0 };
        let mut slices = [testing::slice(0, block), testing::slice(1, block)];
        for (arm, slice) in slices.iter_mut().enumerate() {
            let ns = ns[arm] * shake(arm) * if arm == 0 { factor } else { 1.0 };
            slice.spent.elapsed_ns = ns as u64;
            slice.spent.sync_ns = if arm == 0 { (ns * waits) as u64 } else { 0 };
            slice.spent.user_ns = slice.spent.elapsed_ns - slice.spent.sync_ns;
            slice.spent.run_queue_ns = Some(0);
            slice.stretch = Some(block / 4);
        }
        if disturbed(block) {
            slices[1].other_places = vec![PlaceTraffic { place: 0, bytes: 1_000_000 }];
        }
        slices
    });
    let mut run = testing::run(2, slices.collect());
    run.places[0].devices = vec![device(254)];
    run
}

fn device(major: u32) -> DeviceLayer {
    DeviceLayer { name: "vda".to_owned(), major, ..DeviceLayer::default() }
}

fn analysed(run: &Run) -> (Verdict, Analysis) {
    let analysis = crate::analyse(run);
    (analysis.comparisons[0].verdict, analysis)
}

fn neighbour(analysis: &Analysis) -> &NoiseSource {
    let mut sources = analysis.noise.sources.iter();
    sources.find(|source| source.code == NoiseCode::PlaceNeighbour).unwrap()
}

#[test]
fn a_verdict_that_a_neighbour_of_one_place_may_have_made_is_unclear() {
    let (verdict, _) = analysed(&run([20e6, 15e6], 0.5, |_| false, 1.0));
    assert_eq!(verdict, Verdict::Faster);
    let (verdict, analysis) = analysed(&run([20e6, 15e6], 0.5, |_| true, 1.0));
    assert_eq!(verdict, Verdict::Unclear);
    let why = analysis.comparisons[0].why.as_deref().unwrap();
    assert!(why.contains("used its disk,") && why.contains("50%"), "{why}");
    let source = neighbour(&analysis);
    assert_eq!(source.touched, ["b"]);
    assert!(source.text.contains("40 of 40 rounds: 40.0 MB"), "{}", source.text);
    assert!(source.text.contains("may have moved b by up to 100%"), "{}", source.text);
    assert_eq!(source.effect.map(|effect| (effect * 100.0).round()), Some(50.0));
}

#[test]
fn a_verdict_that_holds_without_the_neighbour_stands_and_the_neighbour_is_reported() {
    let (verdict, analysis) = analysed(&run([20e6, 4e6], 0.5, |_| true, 1.0));
    assert_eq!(verdict, Verdict::Faster);
    assert_eq!(neighbour(&analysis).touched, ["b"]);
    // A program that hardly waits for the disk lost hardly anything to its neighbour.
    let (verdict, analysis) = analysed(&run([20e6, 15e6], 0.01, |_| true, 1.0));
    assert_eq!(verdict, Verdict::Faster);
    let source = neighbour(&analysis);
    assert!(source.touched.is_empty());
    assert!(source.text.ends_with("It moved no comparison by 5% or more."), "{}", source.text);
}

#[test]
fn rounds_without_the_neighbour_show_what_it_cost() {
    let half = |block: usize| block.is_multiple_of(2);
    // It was there in half of the rounds, and they took no longer.
    let (verdict, analysis) = analysed(&run([20e6, 15e6], 0.5, half, 1.0));
    assert_eq!(verdict, Verdict::Faster);
    assert!(neighbour(&analysis).touched.is_empty());
    // They took twice as long, of which the verdict is made.
    let (verdict, analysis) = analysed(&run([15e6, 15e6], 0.6, half, 2.0));
    assert_eq!(verdict, Verdict::Unclear);
    assert!(analysis.comparisons[0].why.as_deref().unwrap().contains("29%"));
    assert_eq!(neighbour(&analysis).touched, ["b"]);
}

#[test]
fn few_rounds_with_a_neighbour_cost_no_more_than_they_took_beyond_the_others() {
    let few = |block: usize| block == 3 || block == 20;
    let (verdict, analysis) = analysed(&run([20e6, 15e6], 0.9, few, 3.0));
    assert_eq!(verdict, Verdict::Faster);
    let effect = neighbour(&analysis).effect.unwrap();
    // Two of forty rounds took three times as long.
    let expected = 1.0 - (-2.0 * 3.0_f64.ln() / 40.0).exp();
    assert!((effect - expected).abs() < 0.01, "{effect} for {expected}");
}

#[test]
fn traffic_of_the_run_itself_is_no_neighbour() {
    let quiet = |change: fn(&mut Run)| {
        let mut run = run([20e6, 15e6], 0.5, |_| true, 1.0);
        change(&mut run);
        analysed(&run).0
    };
    assert_eq!(quiet(|_| ()), Verdict::Unclear);
    // Both places are on one disk, or nobody knows what is behind the second.
    assert_eq!(quiet(|run| run.places[1].devices = vec![device(254)]), Verdict::Faster);
    assert_eq!(quiet(|run| run.places[1].filesystem = "fuse.sshfs".to_owned()), Verdict::Faster);
    assert_eq!(quiet(|run| run.places[1].devices = vec![device(8)]), Verdict::Unclear);
    // The program itself wrote there.
    let wrote = |run: &mut Run| {
        for slice in &mut run.slices {
            let calls = slice.spent.calls.get_or_insert_default();
            calls.storage_dirtied_bytes = 2_000_000;
        }
    };
    assert_eq!(quiet(wrote), Verdict::Faster);
}
