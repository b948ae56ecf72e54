//! The program on the kernel of a stable Debian, older than most developers': in a virtual machine
//! that runs nothing else, for this machine's architecture and, emulated, for the other.
//!
//! It shows what a root tree cannot: the kernel's verifier takes the programs that record by eBPF.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use xtask::process;

use super::root::packed;
use super::starts::unpacked;
use crate::install_tools;
use crate::release::{Release, Target};
use crate::steps::{Outcome, skip};

const SUITE: &str = "bookworm";
/// Emulated, it takes a tenth of that.
const LONGEST_S: &str = "300";
/// Writes that the shell below makes, and the recorder has to count.
const WRITES: u32 = 50;

/// What the machine does: its file system is in memory, and it ends by itself.
const INIT: &str = "#!/bin/sh
export PATH=/bin HOME=/root
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
cd /srv
for by in ebpf ptrace; do
    iotoll record --mechanism $by -o /tmp/$by.trace -- \\
        sh -c 'i=0; while [ $i -lt 50 ]; do echo $i >> log; i=$((i+1)); done'
    iotoll show /tmp/$by.trace --json - | tr -d ' \\n' > /tmp/$by.json
    echo \"recorded by $by: $(grep -o '\"kind\":\"write\",\"calls\":[0-9]*' /tmp/$by.json)\"
done
iotoll compare --quiet --budget 10s --study log disk=/srv shm=/dev/shm
poweroff -f
";

/// Boots a kernel for a target, with the released program, or says why it cannot.
pub(super) fn boots(release: &Release, target: &Target) -> Result<Outcome> {
    let is_made = release.tarball(target).exists();
    ensure!(is_made, skip(format!("there is no program for {}", target.machine)));
    let package = if target.short == "amd64" { "qemu-system-x86" } else { "qemu-system-arm" };
    let emulator = format!("qemu-system-{}", target.machine);
    for (name, package) in [(&*emulator, package), ("cpio", "cpio"), ("gzip", "gzip")] {
        install_tools::need(name, package)?;
    }
    let debian = packages(release, target)?;
    let folder = tempfile::tempdir_in(&release.out)?;
    let mut unpack = Command::new("tar");
    unpack.arg("--extract").arg("--file").arg(&debian).arg("-C").arg(folder.path());
    unpack.args(["--wildcards", "./boot/vmlinuz-*", "./usr/bin/busybox", "./bin/busybox"]);
    // Debian has busybox in one of the two.
    let _ = unpack.stderr(Stdio::null()).status().context("running tar")?;
    let kernel = only_file(&folder.path().join("boot"))?;
    let initrd = initrd(release, target, folder.path())?;
    let said = run(&emulator, target, &kernel, &initrd)?;
    for by in ["ebpf", "ptrace"] {
        let line = said.lines().find(|line| line.contains(&format!("recorded by {by}:")));
        let is_counted = line.is_some_and(|line| line.ends_with(&format!("\"calls\":{WRITES}")));
        ensure!(is_counted, "recording by {by} does not count {WRITES} writes:\n{said}");
    }
    let name = kernel.file_name().unwrap_or_default().to_string_lossy();
    let seen = super::starts::verdict(&said)?;
    Ok(Outcome::Passed(format!("{seen}; eBPF and ptrace count {WRITES} writes, on {name}")))
}

/// A kernel and busybox.
fn packages(release: &Release, target: &Target) -> Result<PathBuf> {
    let architecture = format!("--architectures={}", target.short);
    let include = format!("--include=linux-image-{},busybox-static", target.short);
    let options = ["--variant=extract", &architecture, &include];
    packed(release, &format!("kernel-{}", target.short), SUITE, &options)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder).context("the packages have no kernel")?;
    Ok(files.next().context("the packages have no kernel")??.path())
}

fn initrd(release: &Release, target: &Target, folder: &Path) -> Result<PathBuf> {
    let tree = folder.join("tree");
    for name in ["bin", "proc", "sys", "dev", "tmp", "root", "srv"] {
        fs::create_dir_all(tree.join(name))?;
    }
    let busybox = ["bin/busybox", "usr/bin/busybox"].map(|name| folder.join(name));
    let busybox = busybox.iter().find(|file| file.exists()).context("there is no busybox")?;
    fs::copy(busybox, tree.join("bin/busybox"))?;
    std::os::unix::fs::symlink("busybox", tree.join("bin/sh"))?;
    let (_program, program) = unpacked(release, target)?;
    fs::copy(program, tree.join("bin/iotoll"))?;
    fs::write(tree.join("init"), INIT)?;
    fs::set_permissions(tree.join("init"), fs::Permissions::from_mode(0o755))?;
    let initrd = folder.join("initrd");
    let script = "cd \"$1\" && find . | cpio --quiet --create --format newc | gzip -1 > \"$2\"";
    let mut pack = Command::new("sh");
    process::succeed(pack.args(["-e", "-c", script, "sh"]).arg(&tree).arg(&initrd))?;
    Ok(initrd)
}

/// What the machine prints until it ends.
fn run(emulator: &str, target: &Target, kernel: &Path, initrd: &Path) -> Result<String> {
    let mut machine = Command::new("timeout");
    // One processor: emulated ones were seen to wait for each other for ever.
    machine.args([LONGEST_S, emulator, "-smp", "1", "-m", "2048", "-nographic", "-no-reboot"]);
    let (model, console): (&[&str], _) = match target.short {
        "amd64" => (&["-cpu", "max"], "ttyS0"),
        _ => (&["-M", "virt", "-cpu", "max,pauth-impdef=on"], "ttyAMA0"),
    };
    machine.args(model).args(["-nic", "none", "-kernel"]).arg(kernel);
    machine.arg("-initrd").arg(initrd).arg("-append");
    machine.arg(format!("console={console} quiet panic=-1")).stdin(Stdio::null());
    let output = machine.output().with_context(|| format!("running {emulator}"))?;
    let said = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    ensure!(output.status.success(), "{}:\n{said}", output.status);
    Ok(said)
}
