//! A static program, the same bits wherever it is built.
//!
//! It contains glibc, so that it starts on machines with an older one or none. iotoll looks up no
//! users or hosts by name services and has no locales, which static programs lack.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use xtask::process;

use crate::install_tools;
use crate::release::{Release, Target};
use crate::steps::{Skip, skip};

/// Debian's own compiler, which has the standard library for other machines in packages.
const DEBIANS_RUSTC: &str = "/usr/bin/rustc";

/// Builds it, or says why that is not possible here.
pub(crate) fn build(release: &Release, target: &Target) -> Result<PathBuf> {
    let rustc = rustc_for(target)?;
    build_by(release, target, "build", |cargo, _| {
        cargo.env("RUSTC", rustc);
        if !target.is_native() {
            cross_compiler(cargo, target);
        }
        Ok(())
    })
}

/// The program with MPI, which no static one can have: each cluster has an MPI of its own.
pub(crate) fn build_with_mpi(release: &Release, target: &Target) -> Result<PathBuf> {
    let needed =
        [("mpicc", "libopenmpi-dev"), ("libclang", "libclang-dev"), ("dpkg-shlibdeps", "dpkg-dev")];
    for (name, package) in needed {
        install_tools::need(name, package)?;
    }
    build_by(release, target, "build-mpi", |cargo, checkout| {
        cargo.args(["--features", "mpi"]).env("RUSTFLAGS", remapped(checkout)?);
        cargo.env("IOTOLL_BUILD", format!("MPI, {}", target.machine));
        Ok(())
    })
}

/// Builds this checkout in a folder by its name, with settings of its own after those of all.
fn build_by(
    release: &Release,
    target: &Target,
    folder: &str,
    own_settings: impl FnOnce(&mut Command, &Path) -> Result<()>,
) -> Result<PathBuf> {
    install_tools::cargo_tool("cargo-auditable")?;
    let (checkout, folder) = (process::root().canonicalize()?, release.out.join(folder));
    let mut cargo = process::cargo(&["auditable", "build", "--locked", "--profile", "dist"]);
    cargo.args(["--package", "iotoll", "--target", target.triple]).current_dir(&checkout);
    cargo.arg("--target-dir").arg(&folder);
    settings(&mut cargo, release, target, &checkout)?;
    own_settings(&mut cargo, &checkout)?;
    install_tools::add_to_path(&mut cargo);
    process::succeed(&mut cargo)?;
    let program = folder.join(target.triple).join("dist/iotoll");
    ensure!(program.is_file(), "cargo made no {}", program.display());
    Ok(program)
}

/// Runs the tests within these crates for a target, emulated where it is not this machine, and
/// returns what they print; or says why that is not possible here.
pub(crate) fn test(target: &Target, crates: &[&str], folder: &Path) -> Result<String> {
    let rustc = rustc_for(target)?;
    let mut cargo = process::cargo(&["test", "--locked", "--lib", "--no-fail-fast"]);
    cargo.args(crates.iter().flat_map(|name| ["--package", name]));
    cargo.args(["--target", target.triple, "--target-dir"]).arg(folder);
    cargo.env("RUSTC", rustc).env("RUSTFLAGS", "-C target-feature=+crt-static");
    if !target.is_native() {
        cross_compiler(&mut cargo, target);
        let triple = target.triple.replace('-', "_").to_uppercase();
        cargo.env(format!("CARGO_TARGET_{triple}_RUNNER"), format!("qemu-{}", target.machine));
    }
    process::output_alone(&mut cargo)
}

/// All that is in the program besides its sources. Paths of this machine are not.
fn settings(cargo: &mut Command, release: &Release, target: &Target, root: &Path) -> Result<()> {
    cargo.env("RUSTFLAGS", format!("-C target-feature=+crt-static {}", remapped(root)?));
    let (root, cargo_home) = (root.display(), cargo_home()?);
    let cargo_home = cargo_home.display();
    let triple = target.triple.replace('-', "_");
    let flags = format!("-ffile-prefix-map={root}=/iotoll -ffile-prefix-map={cargo_home}=/cargo");
    cargo.env(format!("CFLAGS_{triple}"), flags);
    cargo.env("SOURCE_DATE_EPOCH", &release.epoch);
    cargo.env("CARGO_INCREMENTAL", "0");
    cargo.env("CARGO_PROFILE_DIST_DEBUG", "false").env("CARGO_PROFILE_DIST_STRIP", "symbols");
    cargo.env("IOTOLL_COMMIT", &release.commit);
    cargo.env("IOTOLL_BUILD", format!("static, {}", target.machine));
    Ok(())
}

/// What has the compiler write other paths than this machine's.
fn remapped(root: &Path) -> Result<String> {
    let (root, cargo_home) = (root.display(), cargo_home()?);
    Ok(format!(
        "--remap-path-prefix={root}=/iotoll --remap-path-prefix={}=/cargo",
        cargo_home.display()
    ))
}

fn cargo_home() -> Result<PathBuf> {
    let given = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = || std::env::home_dir().map(|home| home.join(".cargo"));
    given.or_else(home).context("finding cargo's folder")
}

fn cross_compiler(cargo: &mut Command, target: &Target) {
    let compiler = target.tool("gcc");
    let triple = target.triple.replace('-', "_");
    cargo.env(format!("CC_{triple}"), &compiler);
    cargo.env(format!("CARGO_TARGET_{}_LINKER", triple.to_uppercase()), &compiler);
}

/// A compiler that has the standard library for a target.
fn rustc_for(target: &Target) -> Result<PathBuf, Skip> {
    let own = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    if !target.is_native() {
        let compiler = target.tool("gcc");
        let package = format!("gcc-{}-linux-gnu", target.machine);
        install_tools::need(&compiler, &package)?;
        let library = format!("libc6-dev-{}-cross", target.short);
        install_tools::need(&format!("/usr/{}-linux-gnu/lib/libc.a", target.machine), &library)?;
    }
    let has_target = |rustc: &Path| {
        let mut command = Command::new(rustc);
        command.args(["--print", "target-libdir", "--target", target.triple]);
        let folder = process::output(&mut command).ok()?;
        let mut files = std::fs::read_dir(folder.trim()).ok()?.flatten();
        files.any(|file| file.file_name().to_string_lossy().starts_with("libstd-")).then_some(())
    };
    let rustcs = [own, PathBuf::from(DEBIANS_RUSTC)];
    rustcs.into_iter().find(|rustc| has_target(rustc).is_some()).ok_or_else(|| {
        skip(format!(
            "no standard library for {triple}; to have it: rustup target add {triple}, or on \
             Debian apt-get install rustc-web libstd-rust-web-dev:{}",
            target.short,
            triple = target.triple
        ))
    })
}
