//! The programs that advice is judged by.

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::replay::{Program, programs};

/// What helps a program with a habit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Remedy {
    /// To do it another way.
    Write,
    /// Memory, for files that it removes again.
    Scratch,
    /// Fewer syncs.
    Sync,
    /// Nothing: it has no habit.
    None,
}

/// A program, and its twin without a habit.
pub(crate) struct Listed {
    pub(crate) program: Program,
    pub(crate) twin: Option<(Program, Remedy)>,
}

#[derive(Deserialize)]
struct File {
    real: Vec<String>,
    habit: Vec<Habit>,
}

#[derive(Deserialize)]
struct Habit {
    name: String,
    remedy: Remedy,
    prepare: String,
    #[serde(rename = "habit")]
    command: String,
    fixed: String,
}

/// All of them, in the order of the list.
pub(crate) fn all() -> Result<Vec<Listed>> {
    let file = include_str!("../../../../bench/advice.toml");
    let File { real, habit } = toml::from_str(file).context("bench/advice.toml")?;
    let mut known = programs()?;
    let mut listed = Vec::new();
    for name in real {
        let at = known.iter().position(|program| program.name == name);
        let program = known.swap_remove(at.with_context(|| format!("no program {name}"))?);
        listed.push(Listed { program, twin: None });
    }
    for Habit { name, remedy, prepare, command, fixed } in habit {
        let program = |command: String| Program {
            name: name.clone(),
            needs: ["python3", "sqlite3"].map(str::to_owned).to_vec(),
            prepare: prepare.clone(),
            command,
        };
        let twin = Some((program(fixed), remedy));
        listed.push(Listed { program: program(command), twin });
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_list_has_enough_of_both_kinds() {
        let all = all().unwrap();
        let twins = all.iter().filter(|listed| listed.twin.is_some()).count();
        assert!(twins >= 15 && all.len() - twins >= 15, "{twins} of {}", all.len());
    }
}
