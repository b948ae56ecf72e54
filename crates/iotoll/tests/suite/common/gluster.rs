//! A volume of `GlusterFS`, served and mounted on this machine, without the daemon that
//! manages volumes.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How a volume's files lie on its bricks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// On the only one.
    One,
    /// Each on one of two.
    Distribute,
    /// Each on both.
    Replicate,
}

/// The server's processes and mount, ended when it is dropped.
pub(crate) struct Volume {
    folder: TempDir,
    processes: Vec<Child>,
}

impl Volume {
    /// Serves folders and mounts them; why not, where that cannot be done here.
    pub(crate) fn mounted(layout: Layout) -> Result<Self, &'static str> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root may mount a GlusterFS volume");
        }
        if !Path::new("/dev/fuse").exists() {
            return Err("there is no /dev/fuse");
        }
        let bricks = if matches!(layout, Layout::One) { 1 } else { 2 };
        let mut volume = Self { folder: tempfile::tempdir().unwrap(), processes: Vec::new() };
        fs::create_dir(volume.mount()).unwrap();
        // Each is bound until all are known, so that no two are the same.
        let bound: Vec<TcpListener> =
            (0..bricks).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = bound.iter().map(|one| one.local_addr().unwrap().port()).collect();
        drop(bound);
        for (number, port) in ports.iter().enumerate() {
            let brick = volume.folder.path().join(format!("brick-{number}"));
            fs::create_dir(&brick).unwrap();
            volume.start("glusterfsd", &format!("brick-{number}"), &server(&brick, *port), &[])?;
        }
        // They listen before a client that does not find them gives up for three seconds.
        sleep(Duration::from_millis(500));
        let mount = volume.mount();
        volume.start("glusterfs", "client", &client(layout, &ports), &[&mount])?;
        volume.wait_until_usable();
        Ok(volume)
    }

    fn start(
        &mut self,
        program: &str,
        name: &str,
        text: &str,
        more: &[&Path],
    ) -> Result<(), &'static str> {
        let file = self.folder.path().join(format!("{name}.vol"));
        fs::write(&file, text).unwrap();
        let mut command = Command::new(program);
        command.arg("--no-daemon").arg("--volfile").arg(file);
        command.arg("--log-file").arg(self.folder.path().join(format!("{name}.log")));
        let started = command.args(more).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        self.processes.push(started.map_err(|_| "no glusterfs-server")?);
        Ok(())
    }

    /// It is mounted before its bricks are connected.
    fn wait_until_usable(&self) {
        let began = Instant::now();
        let mount = self.mount();
        let is_mounted =
            || fs::read_to_string("/proc/mounts").unwrap().contains(mount.to_str().unwrap());
        let probe = mount.join("probe");
        while !is_mounted() || fs::write(&probe, "x").is_err() {
            assert!(began.elapsed() < Duration::from_secs(30), "the volume is not mounted");
            sleep(Duration::from_millis(50));
        }
        fs::remove_file(probe).unwrap();
    }

    pub(crate) fn mount(&self) -> PathBuf {
        self.folder.path().join("mnt")
    }

    /// The folders that hold the files, one of each brick.
    pub(crate) fn bricks(&self) -> Vec<PathBuf> {
        let all = [0, 1].map(|number| self.folder.path().join(format!("brick-{number}")));
        all.into_iter().filter(|brick| brick.exists()).collect()
    }
}

fn server(brick: &Path, port: u16) -> String {
    format!(
        "volume brick\ntype storage/posix\noption directory {}\nend-volume\n\
         volume locks\ntype features/locks\nsubvolumes brick\nend-volume\n\
         volume server\ntype protocol/server\noption transport-type tcp\n\
         option transport.socket.bind-address 127.0.0.1\n\
         option transport.socket.listen-port {port}\n\
         option auth.addr.locks.allow 127.0.0.1\nsubvolumes locks\nend-volume\n",
        brick.display()
    )
}

fn client(layout: Layout, ports: &[u16]) -> String {
    let one = |(number, port): (usize, &u16)| {
        format!(
            "volume client-{number}\ntype protocol/client\noption transport-type tcp\n\
             option remote-host 127.0.0.1\noption remote-port {port}\n\
             option remote-subvolume locks\nend-volume\n"
        )
    };
    let clients: String = ports.iter().enumerate().map(one).collect();
    let (cluster, below) = match layout {
        Layout::One => (String::new(), "client-0"),
        Layout::Distribute => (joined("distribute"), "cluster"),
        Layout::Replicate => (joined("replicate"), "cluster"),
    };
    format!(
        "{clients}{cluster}volume write-behind\ntype performance/write-behind\n\
         subvolumes {below}\nend-volume\n"
    )
}

fn joined(how: &str) -> String {
    format!("volume cluster\ntype cluster/{how}\nsubvolumes client-0 client-1\nend-volume\n")
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
