//! A file system that several machines may share: a volume of `GlusterFS` with one brick,
//! served and mounted on this machine, without the daemon that manages volumes.

#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

mod common;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{entries, place, run, stderr, stdout};
use serde_json::Value;
use tempfile::TempDir;

/// The server's processes and mount, ended when it is dropped.
struct Volume {
    folder: TempDir,
    processes: Vec<Child>,
}

impl Volume {
    /// Serves a folder and mounts it; why not, where that cannot be done here.
    fn mounted() -> Result<Self, &'static str> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root may mount a GlusterFS volume");
        }
        if !Path::new("/dev/fuse").exists() {
            return Err("there is no /dev/fuse");
        }
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let brick = folder.path().join("brick");
        fs::create_dir(&brick).unwrap();
        fs::create_dir(folder.path().join("mnt")).unwrap();
        let brick = brick.display();
        let server = format!(
            "volume brick\ntype storage/posix\noption directory {brick}\nend-volume\n\
             volume locks\ntype features/locks\nsubvolumes brick\nend-volume\n\
             volume server\ntype protocol/server\noption transport-type tcp\n\
             option transport.socket.bind-address 127.0.0.1\n\
             option transport.socket.listen-port {port}\n\
             option auth.addr.locks.allow 127.0.0.1\nsubvolumes locks\nend-volume\n"
        );
        let client = format!(
            "volume client\ntype protocol/client\noption transport-type tcp\n\
             option remote-host 127.0.0.1\noption remote-port {port}\n\
             option remote-subvolume locks\nend-volume\n\
             volume write-behind\ntype performance/write-behind\nsubvolumes client\nend-volume\n"
        );
        let mut volume = Self { folder, processes: Vec::new() };
        for (program, text) in [("glusterfsd", server), ("glusterfs", client)] {
            let file = volume.folder.path().join(format!("{program}.vol"));
            fs::write(&file, text).unwrap();
            let mut command = Command::new(program);
            command.arg("--no-daemon").arg("--volfile").arg(file);
            command.arg("--log-file").arg(volume.folder.path().join(format!("{program}.log")));
            if program == "glusterfs" {
                command.arg(volume.mount());
            }
            let started = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
            volume.processes.push(started.map_err(|_| "no glusterfs-server")?);
            sleep(Duration::from_millis(500));
        }
        let began = Instant::now();
        while !fs::read_to_string("/proc/mounts")
            .unwrap()
            .contains(volume.mount().to_str().unwrap())
        {
            assert!(began.elapsed() < Duration::from_secs(30), "the volume is not mounted");
            sleep(Duration::from_millis(50));
        }
        Ok(volume)
    }

    fn mount(&self) -> PathBuf {
        self.folder.path().join("mnt")
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.mount()).status();
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[test]
fn a_glusterfs_volume_is_known_and_measured() {
    let volume = match Volume::mounted() {
        Ok(volume) => volume,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let gv = place("gv", &volume.mount());
    let told = run(["places", &gv, "--json", "-"]);
    let told: Value = serde_json::from_str(&stdout(&told)).unwrap();
    let facts = &told["places"][0];
    assert_eq!(
        (&facts["kind"], &facts["filesystem"]),
        (&"network".into(), &"fuse.glusterfs".into())
    );
    let detail = |name: &str| {
        let details = facts["details"].as_array().unwrap();
        let found = details.iter().find(|detail| detail["name"] == name);
        found.map(|detail| detail["value"].as_str().unwrap().to_owned()).unwrap()
    };
    assert!(detail("appends").starts_with("atomic between machines"), "{facts}");
    assert!(detail("locks").starts_with("shared between machines"), "{facts}");

    let study = ["--study", "log", "--strategy", "held,flock", "--set", "log.writers=2"];
    let measured = run([
        &["compare", &gv, "--json", "-", "--budget", "10s", "--no-save"],
        &study[..],
    ]
    .concat());
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    let result: Value = serde_json::from_str(&stdout(&measured)).unwrap();
    for arm in result["arms"].as_array().unwrap() {
        assert_eq!(arm["failure"], Value::Null, "{arm}");
        assert!(arm["integrity"]["records"].as_u64().unwrap() > 0, "{arm}");
        for broken in ["lost", "torn", "overwritten"] {
            assert_eq!(arm["integrity"][broken], 0, "{arm}");
        }
    }
    assert_eq!(entries(&volume.mount()).len(), 0);
}
