//! A lane: a process that does some of the kills, one after another.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::trial::{Trial, subjects};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The program
    #[arg(long)]
    iotoll: PathBuf,
    /// How many kills there are in all lanes
    #[arg(long)]
    kills: u64,
    /// Seed of everything random
    #[arg(long)]
    seed: u64,
    /// Which lane this is
    #[arg(long)]
    lane: u64,
    /// How many there are
    #[arg(long)]
    lanes: u64,
    /// Whether runs make places for themselves
    #[arg(long)]
    made: bool,
    /// Where runs are killed
    #[arg(value_name = "NAME=PATH")]
    grounds: Vec<String>,
}

/// Does the lane's kills; what became of each is a line of JSON on standard output.
pub(crate) fn run(args: &Args) -> Result<()> {
    // Whatever a killed run leaves behind becomes a child of this process.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let subjects = subjects();
    for number in (args.lane..args.kills).step_by(args.lanes.max(1) as usize) {
        // Each kill is what it is whatever lane it falls to.
        let mut random = ChaCha8Rng::seed_from_u64(args.seed);
        random.set_stream(number);
        let index = number as usize;
        let ground = &args.grounds[index / subjects.len() % args.grounds.len()];
        let (name, path) = ground.split_once('=').context("NAME=PATH")?;
        let folder = PathBuf::from(path).join(format!("lane-{}", args.lane));
        let [place, data] = ["place", "data"].map(|name| folder.join(name));
        fs::create_dir_all(&place)?;
        let subject = &subjects[index % subjects.len()];
        let trial =
            Trial { iotoll: &args.iotoll, place: &place, data: &data, subject, made: args.made };
        let outcome = trial.run(number, name, &mut random).with_context(|| subject.name.clone())?;
        let mut line = serde_json::to_string(&outcome)?;
        line.push('\n');
        std::io::stdout().write_all(line.as_bytes())?;
    }
    Ok(())
}
