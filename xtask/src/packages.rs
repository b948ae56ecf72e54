//! Programs that some tests use where they are installed.
//!
//! A test that misses its program skips itself and says so. Here they are
//! installed where that is allowed, so that nothing is skipped for want of one.
//! Debian starts the servers among them only where an init system runs.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::process;

/// A program or a part of one, the Debian package that brings it, and the tests
/// that use it.
#[derive(Clone, Copy)]
struct Need {
    name: &'static str,
    package: &'static str,
    used_by: &'static str,
}

const NEEDS: &[Need] = &[
    need("findmnt", "util-linux", "places: the mount of a directory"),
    need("lsblk", "util-linux", "places: the devices behind a directory"),
    need("setpriv", "util-linux", "iotoll: a place that may not be written, a program with rights"),
    need("unshare", "util-linux", "iotoll load: a network short of ports"),
    need("ip", "iproute2", "iotoll load: a network short of ports"),
    need("mount", "mount", "places and iotoll: whatever is mounted for a test"),
    need("mkfs.ext4", "e2fsprogs", "places: a file system in a file"),
    need("mkfs.xfs", "xfsprogs", "places: a file system in a file"),
    need("mkfs.btrfs", "btrfs-progs", "places: a file system that checks its data"),
    need("cc", "gcc", "iotoll record: programs that make known calls"),
    need("php", "php-cli", "log: the strategies in PHP"),
    need("python3", "python3", "log: the strategies in Python; iotoll load: a server"),
    need("node", "nodejs", "log: the strategies in Node.js"),
    need("nginx", "nginx-light", "load: a real server; examples: PHP"),
    need("lighttpd", "lighttpd", "load: a real server; examples: PHP"),
    need("php-cgi", "php-cgi", "examples: PHP"),
    need("php-fpm", "php-fpm", "examples: PHP with SQLite"),
    need("php-sqlite3", "php-sqlite3", "examples: PHP with SQLite"),
    need("opcache", "php-opcache", "examples: a manifest in PHP"),
    need("django", "python3-django", "examples: Django"),
    need("gunicorn", "gunicorn", "examples: Django"),
    need("glusterfsd", "glusterfs-server", "iotoll: a place that several machines share"),
    need("mpirun", "openmpi-bin", "iotoll: ranks of MPI"),
    need("mpicc", "libopenmpi-dev", "iotoll: built with MPI"),
    need("libclang", "libclang-dev", "iotoll: built with MPI"),
    need("chromium", "chromium", "report: pages in a browser"),
    need("npm", "npm", "report: pages in a browser"),
    need("prometheus", "prometheus", "iotoll show: metrics that a dashboard asks for"),
];

const fn need(name: &'static str, package: &'static str, used_by: &'static str) -> Need {
    Need { name, package, used_by }
}

/// What is no program of that name, and the shell command that succeeds where it is
/// there. Python is a venv's or the system's own.
const PARTS: [(&str, &str); 5] = [
    // The one for C; that for C++ comes with other packages and does not serve.
    ("libclang", "ls /usr/lib/llvm-*/lib/libclang*.so* | grep -qv -e -cpp"),
    ("django", "python3 -c 'import django' || /usr/bin/python3 -c 'import django'"),
    ("opcache", "php-cgi -m | grep -x 'Zend OPcache'"),
    ("php-fpm", "command -v php-fpm || ls /usr/sbin/php-fpm[0-9]*"),
    ("php-sqlite3", "php-cgi -m | grep -x pdo_sqlite"),
];

/// Whether a program, a part of one or a file by its whole path, is installed.
pub fn is_installed(name: &str) -> bool {
    match PARTS.iter().find(|(part, _)| *part == name) {
        Some((_, test)) => process::output(Command::new("sh").args(["-c", test])).is_ok(),
        None => process::find_program(name).is_some(),
    }
}

/// Installs what is missing, where that is allowed. A line for each program
/// that is missing all the same.
pub fn provide() -> Vec<String> {
    let missing = missing();
    if missing.is_empty() {
        return Vec::new();
    }
    let mut packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    packages.sort_unstable();
    packages.dedup();
    let why = match install(&packages) {
        Ok(()) => "its package did not bring it".to_owned(),
        Err(error) => format!("{error:#}"),
    };
    let line = |need: Need| {
        let Need { name, package, used_by } = need;
        format!("{used_by}: no {name} (Debian package {package}): {why}")
    };
    self::missing().into_iter().map(line).collect()
}

/// Those of these that are not installed.
fn missing() -> Vec<Need> {
    NEEDS.iter().filter(|need| !is_installed(need.name)).copied().collect()
}

/// Installs Debian packages. Asks for fresh lists of them only when the ones that are there do not do.
pub fn install(packages: &[&str]) -> Result<()> {
    ensure!(process::is_root(), "only root can install it");
    ensure!(process::find_program("apt-get").is_some(), "there is no apt-get to install it with");
    println!("installing {}", packages.join(" "));
    let install = [&["install", "--no-install-recommends"], packages].concat();
    apt_get(&install).or_else(|_| apt_get(&["update"]).and_then(|()| apt_get(&install)))
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let output = Command::new("apt-get")
        .args(["--yes", "--quiet=2"])
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output()
        .context("running apt-get")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default();
    ensure!(output.status.success(), "apt-get {} failed: {last}", arguments.join(" "));
    Ok(())
}
