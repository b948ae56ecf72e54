//! Runs of several clients on a simulated machine, in a terminal and on a page: what all get
//! done together, from how many on it is no more, and whose machines differ.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::LazyLock;

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::client::Client;
use model::figure::{Better, FigureDescription, Unit};
use model::plan::{Draft, StudyPlan};
use model::run::Run;
use model::scaling::{CLIENTS, CLIENTS_PER_S};
use model::study::{ParamDescription, ParamKind, StrategyDescription, StudyDescription};
use report::html::{Sheet, page};
use report::terminal;

static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| StudyDescription {
    strategies: vec![StrategyDescription::new("wheel", "", "")],
    params: vec![
        ParamDescription::new("size", "litres", ParamKind::Count { min: 1, max: 99 }, "5"),
        ParamDescription::new(CLIENTS, "potters", ParamKind::Count { min: 1, max: 99 }, "1"),
    ],
    figures: vec![FigureDescription {
        unit: Unit::PerSecond,
        better: Better::More,
        shown: false,
        ..FigureDescription::new(CLIENTS_PER_S, "all", "")
    }],
    ..StudyDescription::new("pottery", "make pots", "pot")
});

/// Pots of all potters in a second: of 5 litres, and of 9.
const RATES: [[f64; 4]; 2] = [[1500.0, 2900.0, 4500.0, 4520.0], [600.0, 1200.0, 2400.0, 4800.0]];

/// A run of 1, 2, 4 and 8 clients with pots of two sizes.
fn pots() -> Run {
    let places = ["kiln=/srv"].map(|place| place.parse().unwrap()).into();
    let mut draft = Draft { places, studies: vec![StudyPlan::new(&SPEC)], ..Draft::default() };
    let settings = ["pottery.size=5,9", "pottery.clients=1,2,4,8"].map(str::to_owned);
    draft.set_all(&settings, &[&SPEC]).unwrap();
    let plan = draft.finish(7).unwrap();
    let arms = (0..plan.arms().len()).map(|_| ArmBehaviour::steady(1e6, 0.001)).collect();
    let mut run = run(&plan, &mut SimulatedRunner::new(arms, 1));
    for slice in &mut run.slices {
        let rate = RATES[slice.arm / 4][slice.arm % 4];
        slice.outcome.figures.insert(CLIENTS_PER_S.to_owned(), rate);
    }
    let client = |kernel: &str| Client {
        host: format!("node-{kernel}"),
        kernel: kernel.to_owned(),
        cpu: "EPYC".to_owned(),
        cpus: 2,
        memory_bytes: 8 << 30,
        mounts: vec!["nfs4".to_owned()],
    };
    run.clients = vec![client("6.1"), client("6.1"), client("5.10")];
    run
}

#[test]
fn a_report_says_from_how_many_clients_on_no_more_gets_done() {
    let run = pots();
    let styled = terminal::report(&run, &analyse(&run), terminal::Rest::Below, 80);
    let printed = anstream::adapter::strip_str(&styled).to_string();
    assert!(printed.contains(" s, 3 clients on 2 machines"), "{printed}");
    assert!(printed.contains("other than node-6.1: node-5.10 has Linux"), "{printed}");
    let (_, section) = printed.split_once("  Clients together\n").unwrap();
    let section = section.split("\n\n").next().unwrap();
    assert_eq!(
        section,
        "  • wheel(size=5) on kiln: 1,500 pots/s with 1, 2,900 with 2, 4,500 with 4,\n    4,520 \
         with 8. No more gets done by more than 4 clients (within 5%).\n  \
         • wheel(size=9) on kiln: 600 pots/s with 1, 1,200 with 2, 2,400 with 4, 4,800\n    \
         with 8. It still grows at 8 clients."
    );
    // Without them none of it is there.
    let alone = Run { clients: Vec::new(), ..run };
    let printed = terminal::report(&alone, &analyse(&alone), terminal::Rest::Below, 80);
    assert!(!printed.contains("on 2 machines"), "{printed}");
}

#[test]
fn a_page_draws_what_all_clients_get_done_by_their_number() {
    let run = pots();
    let page = page(&[Sheet::Comparison { run: &run, analysis: &analyse(&run) }]);
    let title = "All clients together, by their number";
    let figures = page.split("<figure").filter(|figure| figure.contains(title));
    let charts: Vec<&str> =
        figures.map(|figure| figure.split("</figure>").next().unwrap()).collect();
    let [chart] = charts[..] else { panic!("{} charts", charts.len()) };
    for shown in [
        "wheel(size=5) on kiln: No more gets done by more than 4 clients (within 5%).",
        "2,000/s",
        ">4,520<",
        "How many pots all clients together get done in a second",
    ] {
        assert!(chart.contains(shown), "{shown}: {chart}");
    }
}
