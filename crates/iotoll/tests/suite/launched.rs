//! Processes that a launcher of MPI started, as their environment says, with an iotoll that was
//! built without MPI: one speaks for all.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::process::Output;

use common::{assert_fails, iotoll, stderr, stdout};

/// What Open MPI, MPICH and Slurm set.
const LAUNCHERS: [(&str, &str, &str); 3] = [
    ("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("mpiexec", "PMI_RANK", "PMI_SIZE"),
    ("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
];

fn launched(variables: [(&str, &str); 2], args: &[&str]) -> Output {
    iotoll().envs(variables).args(args).output().unwrap()
}

/// A launcher ends all as soon as one ends with another code, be it before rank 0 has spoken.
#[track_caller]
fn assert_silent(output: &Output) {
    assert_eq!((output.status.code(), stderr(output)), (Some(0), String::new()));
}

#[cfg(not(feature = "mpi"))]
#[test]
fn without_mpi_one_of_all_processes_says_so() {
    let args = ["compare", "/dev/shm", "--study", "log", "--no-save"];
    for (launcher, rank, ranks) in LAUNCHERS {
        let first = launched([(rank, "0"), (ranks, "8")], &args);
        let says = [&format!("{launcher} started 8 processes"), "without MPI", "--features mpi"];
        assert_fails(&first, 2, &says);
        assert_eq!(stderr(&first).matches("started").count(), 1);
        assert_silent(&launched([(rank, "7"), (ranks, "8")], &args));
    }
}

#[cfg(not(feature = "mpi"))]
#[test]
fn without_mpi_a_real_launcher_ends_with_the_code_of_the_one_that_says_so() {
    let mut mpirun = std::process::Command::new("mpirun");
    mpirun.args(["--oversubscribe", "-n", "4", env!("CARGO_BIN_EXE_iotoll")]);
    mpirun.args(["compare", "/dev/shm", "--study", "log", "--no-save"]);
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let Ok(told) = mpirun.stdin(std::process::Stdio::null()).output() else {
        return common::skip("without_mpi_a_real_launcher", "no mpirun");
    };
    assert_eq!(told.status.code(), Some(2), "{}", stderr(&told));
    assert_eq!(stderr(&told).matches("mpirun started 4 processes").count(), 1, "{}", stderr(&told));
}

#[test]
fn other_commands_that_measure_are_for_one_process() {
    for (launcher, rank, ranks) in LAUNCHERS {
        for args in [&["selftest", "/dev/shm"][..], &["rerun", "last"]] {
            let first = launched([(rank, "0"), (ranks, "2")], args);
            assert_fails(
                &first,
                2,
                &[&format!("`iotoll {}` measures with one", args[0]), launcher],
            );
            assert_silent(&launched([(rank, "1"), (ranks, "2")], args));
        }
    }
}

#[test]
fn what_is_wrong_with_the_flags_is_said_once() {
    let (_, rank, ranks) = LAUNCHERS[0];
    let args = ["compare", "--no-such-flag"];
    assert_fails(&launched([(rank, "0"), (ranks, "4")], &args), 2, &["--no-such-flag"]);
    assert_silent(&launched([(rank, "3"), (ranks, "4")], &args));
}

#[test]
fn a_launcher_of_one_process_is_none() {
    let (_, rank, ranks) = LAUNCHERS[0];
    let args = ["compare", "/dev/shm", "--study", "log", "--dry-run"];
    let alone = launched([(rank, "0"), (ranks, "1")], &args);
    assert_eq!(alone.status.code(), Some(0), "{}", stderr(&alone));
    assert!(stdout(&alone).contains("held"), "{}", stdout(&alone));
}

#[test]
fn more_clients_than_processes_are_refused() {
    let args = ["compare", "/dev/shm", "--study", "log", "--set", "log.clients=4", "--no-save"];
    let refused = iotoll().args(args).output().unwrap();
    assert_fails(&refused, 2, &["log.clients=4 needs 4 processes", "mpirun -n 4 iotoll compare"]);
}
