//! Whether a launcher of MPI started this process, by the environment that it gave it: known
//! before MPI is asked, and where there is none.

/// A launcher, with the variables in which it tells a process its rank and how many there are.
struct Launcher {
    name: &'static str,
    rank: &'static str,
    ranks: &'static str,
}

/// The first that fits counts: `mpirun` may itself run in a step of Slurm. `SLURM_PROCID` is
/// set in a batch script, too, which is one process; `SLURM_STEP_NUM_TASKS` is not.
const LAUNCHERS: [Launcher; 3] = [
    Launcher { name: "mpirun", rank: "OMPI_COMM_WORLD_RANK", ranks: "OMPI_COMM_WORLD_SIZE" },
    Launcher { name: "mpiexec", rank: "PMI_RANK", ranks: "PMI_SIZE" },
    Launcher { name: "srun", rank: "SLURM_PROCID", ranks: "SLURM_STEP_NUM_TASKS" },
];

/// What a launcher told this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The launcher's command.
    pub launcher: &'static str,
    /// The rank of this process, from 0.
    pub rank: usize,
    /// How many processes it started.
    pub ranks: usize,
}

impl Launch {
    /// What this process was told; nothing where it was started alone.
    pub fn here() -> Option<Self> {
        Self::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name| variable(name)?.trim().parse::<usize>().ok();
        let launched = |launcher: &Launcher| {
            let (rank, ranks) = (number(launcher.rank)?, number(launcher.ranks)?);
            Some(Self { launcher: launcher.name, rank, ranks })
        };
        LAUNCHERS.iter().find_map(launched).filter(|launch| launch.ranks > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(variables: &[(&str, &str)]) -> Option<(&'static str, usize, usize)> {
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Launch::of(value).map(|launch| (launch.launcher, launch.rank, launch.ranks))
    }

    #[test]
    fn each_launcher_is_known_by_its_variables() {
        assert_eq!(launch(&[]), None);
        let open_mpi = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "8")];
        assert_eq!(launch(&open_mpi), Some(("mpirun", 3, 8)));
        assert_eq!(launch(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]), Some(("mpiexec", 0, 2)));
        let slurm = [("SLURM_PROCID", "5"), ("SLURM_STEP_NUM_TASKS", "6")];
        assert_eq!(launch(&slurm), Some(("srun", 5, 6)));
        assert_eq!(launch(&[&slurm[..], &open_mpi[..]].concat()), Some(("mpirun", 3, 8)));
    }

    #[test]
    fn a_process_by_itself_was_not_launched() {
        // A batch script of Slurm runs once, whatever its allocation.
        assert_eq!(launch(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), None);
        assert_eq!(launch(&[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")]), None);
        assert_eq!(launch(&[("PMI_RANK", "first"), ("PMI_SIZE", "2")]), None);
    }
}
