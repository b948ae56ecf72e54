//! `iotoll studies`: what can be timed.

use std::fmt::Write as _;

use clap::Args;

use crate::exit::Exit;
use crate::terminal::output;

/// List the studies with their strategies and parameters
#[derive(Args)]
pub(crate) struct StudiesArgs {}

pub(crate) fn run(_: &StudiesArgs) -> anyhow::Result<Exit> {
    let mut out = String::new();
    for (index, spec) in studies::specs().into_iter().enumerate() {
        let gap = if index == 0 { "" } else { "\n" };
        let bold = anstyle::Style::new().bold();
        writeln!(out, "{gap}{bold}{}{bold:#}  {}", spec.name, spec.about)?;
        writeln!(out, "  strategies")?;
        for strategy in &spec.strategies {
            let named = if strategy.by_default { "" } else { " [only with --strategy]" };
            writeln!(out, "    {:<12} {}{named}", strategy.name, strategy.about)?;
            if !strategy.promise.is_empty() {
                writeln!(out, "    {:<12} durability: {}", "", strategy.promise)?;
            }
        }
        if !spec.promise_when.is_empty() {
            writeln!(out, "  durability that depends on parameters")?;
        }
        for rule in &spec.promise_when {
            let promise =
                if rule.promise.is_empty() { "nothing is written" } else { &rule.promise };
            writeln!(out, "    {}: {promise}", rule.when)?;
        }
        if !spec.relies_on.is_empty() {
            writeln!(out, "  relied on where several processes share the files")?;
        }
        for rule in &spec.relies_on {
            writeln!(out, "    {}: {}", rule.on.shown(), rule.when)?;
        }
        if !spec.figures.is_empty() {
            writeln!(out, "  additional figures")?;
        }
        for figure in &spec.figures {
            writeln!(out, "    {:<19} {}", figure.name, figure.about)?;
        }
        writeln!(out, "  parameters")?;
        for param in &spec.params {
            writeln!(out, "    {:<12} {}", param.name, param.about)?;
            writeln!(
                out,
                "    {:<12} {} [default: {}]",
                "",
                param.accepts,
                param.default.join(", ")
            )?;
        }
    }
    output::result(&out)?;
    Ok(Exit::Done)
}
