//! When to color what is printed.

use std::ffi::OsString;

use anstream::ColorChoice;
use clap::ValueEnum;

/// When to color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

impl ColorArg {
    /// What a command line asks for that cannot be read, or asks for help.
    pub(crate) fn of(arguments: impl Iterator<Item = OsString>) -> Self {
        let own: Vec<OsString> = arguments.take_while(|argument| argument != "--").collect();
        let joined = own.iter().filter_map(|argument| argument.to_str()?.strip_prefix("--color="));
        let apart = own.windows(2).filter(|pair| pair[0] == "--color");
        let last = joined.chain(apart.filter_map(|pair| pair[1].to_str())).last();
        last.and_then(|value| Self::from_str(value, false).ok()).unwrap_or_default()
    }

    /// Applies it to all that is printed from now on.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}
