//! x
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing, and fail where a file is out of date
    #[arg(long)]
    check: bool,
}
pub(crate) fn run(_: &Args) -> anyhow::Result<()> {
    Ok(())
}
