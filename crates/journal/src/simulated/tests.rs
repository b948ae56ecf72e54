//! The crash tests in a short form, and that they catch what they are for.

use super::*;
use crate::defect::{Defect, Planted};

/// Enough for each planted defect to be caught many times over.
const IMAGES: u64 = 20_000;

#[test]
fn every_crash_leaves_what_was_acknowledged() {
    let tally = histories(1, IMAGES, 2).unwrap();
    println!("{tally:#?}");
    // What the tests are about has happened.
    let Tally { images, images_ahead, images_of_recovery, .. } = tally;
    assert!(images >= IMAGES && images_ahead > images / 100 && images_of_recovery > images / 10);
    assert!(tally.failed_syncs > 100 && tally.full_disks > 0);
    assert!(tally.flips_told > 100 && tally.flips_in_tail > 5);
}

#[test]
fn a_history_follows_from_its_seed_and_number() {
    for number in 0..4 {
        assert_eq!(history(7, number), history(7, number));
    }
}

/// What is found of a defect, within as many histories as it takes.
fn caught(flaws: Flaws) -> String {
    let found = (0..400).find_map(|number| flawed_history(3, number, flaws).err());
    let what = found.expect("the planted defect is not caught").what;
    println!("{what}");
    what
}

fn of_library(defect: Defect) -> Flaws {
    Flaws { library: Planted { defect: Some(defect) }, ..Flaws::default() }
}

#[test]
fn files_that_are_not_synced_are_caught() {
    caught(Flaws { ignores_sync: true, ..Flaws::default() });
}

#[test]
fn names_that_are_not_synced_are_caught() {
    caught(Flaws { ignores_names_sync: true, ..Flaws::default() });
}

#[test]
fn a_missing_checksum_is_caught() {
    caught(of_library(Defect::NoChecksum));
}

#[test]
fn a_seed_without_the_number_is_caught() {
    caught(of_library(Defect::NoNumberInSeed));
}

#[test]
fn believing_a_second_sync_is_caught() {
    caught(of_library(Defect::SyncsAgain));
}

#[test]
fn not_looking_behind_damage_is_caught() {
    caught(of_library(Defect::NoLookBehind));
}
