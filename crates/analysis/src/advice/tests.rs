use model::advice::{Advice, Group};
use model::arm::{Axis, Pair};
use model::condition::{Condition, ParamCondition, PromiseWhenDescription};
use model::description::MixDescription;
use model::place::PlaceFacts;
use model::run::Run;
use model::strategy::StrategyDescription;
use model::study::{ParamDescription, ParamKind};

use crate::{analyse, testing};

/// What is done now at the disk `a` in so many nanoseconds, another way there, moved to memory,
/// and both, in so many times the time.
fn run(now_ns: f64, [rewritten, moved, both]: [f64; 3]) -> Run {
    let mut slices = Vec::new();
    for block in 0..40 {
        for (arm, factor) in [1.0, rewritten, moved, both].into_iter().enumerate() {
            let mut slice = testing::slice(arm, block);
            let noise = 0.005 * ((block * block * 7 + arm * 31) % 11) as f64 - 0.025;
            slice.spent.elapsed_ns = (100.0 * now_ns * factor * noise.exp()) as u64;
            slices.push(slice);
        }
    }
    let mut run = testing::run(4, slices);
    for (arm, place) in run.plan.arms.iter_mut().zip([0, 0, 1, 1]) {
        arm.place = place;
    }
    for arm in [1, 3] {
        run.plan.arms[arm].strategy = "other".to_owned();
    }
    let axes = [Axis::Strategy, Axis::Place, Axis::Both];
    let pairs = axes.into_iter().zip(1..);
    run.plan.pairs = pairs.map(|(axis, other)| Pair { base: 0, other, axis }).collect();
    run
}

/// The same with promises of the two ways of doing it: `plain` and `other`.
fn promising(mut run: Run, promises: [&str; 2]) -> Run {
    let named = ["plain", "other"].into_iter().zip(promises);
    run.studies[0].strategies =
        named.map(|(name, promise)| StrategyDescription::new(name, "", promise)).collect();
    run
}

const SAFE: &str = "power failure: nothing committed is lost";
const UNDONE: &str = "power failure: the latest requests may be undone, and nothing else";
const REBOOT: &str = "the files can be made again (a reboot loses them)";

/// The group, condition and comparison of each.
fn advised(run: &Run) -> Vec<(Group, Option<String>, usize)> {
    let of = |advice: &Advice| (advice.group, advice.condition.clone(), advice.comparisons[0]);
    analyse(run).advice.iter().map(of).collect()
}

fn only_if(condition: &str, comparison: usize) -> (Group, Option<String>, usize) {
    (Group::OnlyIf, Some(condition.to_owned()), comparison)
}

#[test]
fn what_keeps_every_promise_is_to_be_done_and_never_hidden_by_what_is_faster() {
    let way = run(10e6, [0.5, 0.1, 0.045]);
    assert_eq!(advised(&way), [(Group::Do, None, 0), only_if(REBOOT, 2)]);
    let kept = promising(way.clone(), [UNDONE, SAFE]);
    assert_eq!(advised(&kept), [(Group::Do, None, 0), only_if(REBOOT, 2)]);
    assert!(analyse(&kept).advice[0].keeps_promises && !analyse(&kept).advice[1].keeps_promises);
    let less = promising(way, [SAFE, UNDONE]);
    let condition = "a power failure may undo the latest requests";
    assert_eq!(advised(&less), [only_if(condition, 0), only_if(REBOOT, 2)]);
}

#[test]
fn a_harsher_condition_is_named_only_where_it_surely_saves_more() {
    let found = advised(&run(10e6, [0.05, 0.1, 0.05]));
    assert_eq!(found, [(Group::Do, None, 0)], "neither move saves more than the other way");
    let moved = advised(&run(10e6, [1.0, 0.1, 0.1]));
    assert_eq!(moved, [only_if(REBOOT, 1)], "both changes save no more than one");
    let mut back = run(10e6, [1.0, 0.1, 0.1]);
    back.places.swap(0, 1);
    assert_eq!(advised(&back), [(Group::Do, None, 1)], "out of memory nothing is risked");
}

#[test]
fn a_value_of_a_parameter_that_promises_less_has_its_condition() {
    let mut run = run(10e6, [0.05, 1.0, 1.0]);
    for (arm, sync) in run.plan.arms.iter_mut().zip(["each", "never", "each", "never"]) {
        arm.strategy = "plain".to_owned();
        arm.params.insert("sync".to_owned(), sync.to_owned());
    }
    run.studies[0].strategies = vec![StrategyDescription::new("plain", "", SAFE)];
    let when = Condition::params(vec![ParamCondition::one_of("sync", &["never"])]);
    let promise = "process crash: the buffer is lost; power failure: data not yet written back is \
                   lost; the moon falls"
        .to_owned();
    run.studies[0].promise_when = vec![PromiseWhenDescription { when, promise }];
    let condition = "a power failure may lose the last half minute of data, and records may be lost \
                     when the process dies, and the moon falls";
    assert_eq!(advised(&run), [only_if(condition, 0)]);
    assert_eq!(analyse(&run).advice[0].change.as_deref(), Some("sync never"));
}

#[test]
fn what_a_command_of_the_users_keeps_is_theirs_to_judge() {
    let mut run = run(10e6, [0.05, 1.0, 1.0]);
    for (arm, command) in run.plan.arms.iter_mut().zip(["a", "b", "a", "b"]) {
        arm.strategy = "plain".to_owned();
        arm.params.insert("command".to_owned(), command.to_owned());
    }
    run.studies[0].strategies = vec![StrategyDescription::new("plain", "", "")];
    assert_eq!(advised(&run), [(Group::Do, None, 0)]);
    run.studies[0].params = vec![ParamDescription::new("command", "", ParamKind::Shell(""), "")];
    let condition = "the new command keeps your data as safe, which iotoll cannot judge";
    assert_eq!(advised(&run), [only_if(condition, 0)]);
}

#[test]
fn a_place_whose_mount_options_keep_less_has_its_condition() {
    let mut run = run(10e6, [1.0, 0.1, 0.1]);
    let disk = run.places[0].clone();
    run.places[1] = PlaceFacts { label: "b".to_owned(), ..disk };
    assert_eq!(advised(&run), [(Group::Do, None, 1)]);
    run.places[1].mount_options = vec!["barrier=0".to_owned()];
    let condition = "a power failure may lose or damage synced data (barrier=0)";
    assert_eq!(advised(&run), [only_if(condition, 1)]);
    assert!(!analyse(&run).advice[0].keeps_promises);
    run.places[0].mount_options = vec!["nobarrier".to_owned()];
    assert_eq!(advised(&run), [(Group::Do, None, 1)], "it is so now, too");
}

#[test]
fn what_is_there_to_be_seen_failing_is_never_advised() {
    let run = promising(run(10e6, [0.05, 1.0, 0.05]), [SAFE, "none: it must fail"]);
    assert!(analyse(&run).advice.iter().all(|advice| !advice.is_a_change()));
}

#[test]
fn a_rate_decides_what_is_worth_it() {
    // It saves half a microsecond: 1% of a worker's time at 20,000 a second.
    let mut now_and_then = run(1e3, [0.5, 0.9, 0.9]);
    let group = |run: &Run| analyse(run).advice[0].group;
    assert_eq!(group(&now_and_then), Group::Leave);
    now_and_then.plan.per_second = [("made".to_owned(), 1000.0)].into();
    assert_eq!(group(&now_and_then), Group::Leave);
    now_and_then.plan.per_second = [("made".to_owned(), 100_000.0)].into();
    let found = &analyse(&now_and_then).advice[0];
    assert_eq!((found.group, found.per_second), (Group::Do, Some(100_000.0)));
    assert!(found.pays_from_per_s.is_some_and(|from| (19e3..21e3).contains(&from)));
    assert_eq!(advised(&run(10e3, [0.5, 0.9, 0.9])), [only_if("you do it very often", 0)]);
}

/// Fails where memory is named for what the other way saves nearly as well at the disk.
#[test]
fn of_changes_that_do_not_pay_the_mildest_is_named_that_saves_nearly_as_much() {
    for (times, named) in [([0.33, 0.9, 0.3], 0), ([1.0, 0.3, 0.3], 1), ([0.8, 0.9, 0.3], 2)] {
        assert_eq!(advised(&run(1e3, times)), [(Group::Leave, None, named)]);
    }
}

#[test]
fn what_is_slower_is_left_and_what_is_open_is_said_to_be() {
    assert_eq!(advised(&run(10e6, [1.3, 1.2, 1.1])), [(Group::Leave, None, 2)]);
    let mut short = run(10e6, [0.8, 1.0, 1.0]);
    short.slices.truncate(8);
    assert_eq!(analyse(&short).advice[0].group, Group::Undecided);
    let alone = analyse(&testing::run(1, vec![testing::slice(0, 0)])).advice;
    assert_eq!((alone.len(), alone[0].change.as_deref()), (1, None));
}

/// Files that are written and removed: at `a`, and in so many times the time in memory.
fn set([written, removed]: [f64; 2]) -> Run {
    let mut slices = Vec::new();
    for block in 0..40 {
        for (arm, factor) in [1.0, written, 1.0, removed].into_iter().enumerate() {
            let mut slice = testing::slice(arm, block);
            let noise = 0.005 * ((block * block * 7 + arm * 31) % 11) as f64 - 0.025;
            slice.spent.elapsed_ns = (1e9 * factor * noise.exp()) as u64;
            slices.push(slice);
        }
    }
    let mut run = testing::run(4, slices);
    for (arm, what) in run.plan.arms.iter_mut().zip(["write", "write", "remove", "remove"]) {
        arm.place %= 2;
        arm.params.insert("what".to_owned(), what.to_owned());
    }
    let pair = |base| Pair { base, other: base + 1, axis: Axis::Place };
    run.plan.pairs = [0, 2].map(pair).to_vec();
    let times = [("write", 1.0), ("remove", 1.0)].map(|(what, times)| (what.to_owned(), times));
    run.studies[0].mix = Some(MixDescription { param: "what".to_owned(), times: times.to_vec() });
    run
}

#[test]
fn files_of_one_set_are_moved_together_or_not_at_all() {
    let worse = analyse(&set([1.5, 0.9])).advice;
    assert_eq!((worse.len(), worse[0].group, worse[0].now.len()), (1, Group::Leave, 2));
    let better = analyse(&set([1.2, 0.1])).advice;
    assert_eq!((better.len(), better[0].group), (1, Group::OnlyIf));
    assert_eq!(better[0].condition.as_deref(), Some(REBOOT));
    assert!(better[0].ratio.is_some_and(|ratio| (0.63..0.67).contains(&ratio)), "{better:?}");
    // Where nothing gets slower, each may be moved for what it gains.
    let apart = analyse(&set([1.0, 0.1])).advice;
    assert_eq!(apart.iter().map(|a| a.group).collect::<Vec<_>>(), [Group::OnlyIf, Group::Leave]);
}
