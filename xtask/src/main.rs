//! The project's own chores.

mod bench_load;

use clap::Parser;

/// The project's own chores
#[derive(Debug, Parser)]
enum Chore {
    /// Measure the project itself beside others
    #[command(subcommand)]
    Bench(Bench),
}

#[derive(Debug, clap::Subcommand)]
enum Bench {
    /// The load generator beside wrk, ab, oha and httperf
    Load(bench_load::BenchLoadArgs),
}

fn main() -> anyhow::Result<()> {
    let Chore::Bench(Bench::Load(args)) = Chore::parse();
    bench_load::run(&args)
}
