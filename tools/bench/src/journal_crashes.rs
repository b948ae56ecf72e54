//! `cargo xtask bench journal-crashes`: crashes of the page journal, on a simulated file
//! system. Nothing is timed, and no disk is touched.

use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::Result;
use journal::simulated::{Tally, histories, history};
use units::count;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many disks that a crash left are recovered, at the least
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    images: u64,
    /// What the histories follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Run the history of this number alone
    #[arg(long, value_name = "NUMBER")]
    only: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let began = Instant::now();
    let tally = if let Some(number) = args.only {
        history(args.seed, number)?
    } else {
        let threads = available_parallelism().map_or(1, usize::from);
        histories(args.seed, args.images, threads)?
    };
    print(&tally);
    println!("simulated, from seed {}, in {:.0} s", args.seed, began.elapsed().as_secs_f64());
    Ok(())
}

fn print(tally: &Tally) {
    let line = |number: u64, what: &str| println!("{:>12}  {what}", count(number));
    line(tally.histories, "histories");
    line(tally.commits, "transactions acknowledged");
    line(tally.failed_syncs, "syncs failed");
    line(tally.full_disks, "writes found the disk full");
    line(tally.images, "disks as a crash left them, all recovered to what they must hold");
    line(tally.images_of_recovery, "  of a crash during recovery");
    line(tally.images_with_nothing, "  with nothing that was not synced");
    line(tally.images_reordered, "  with later operations without earlier ones");
    line(tally.images_torn, "  with sectors left by chance");
    line(tally.images_ahead, "  with the transaction under way, whole");
    line(tally.flips, "bits flipped, none of which changed anything in silence");
    line(tally.flips_told, "  told of as damage");
    line(tally.flips_in_tail, "  in the last transaction, taken for one that was interrupted");
}
