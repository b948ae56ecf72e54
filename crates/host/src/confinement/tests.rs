//! Bugs that a parser could have, planted in confined threads: none may reach anything.
#![expect(unsafe_code, reason = "the tests make calls that nothing else makes")]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::panic::catch_unwind;
use std::path::Path;
use std::process::Command;
use std::thread;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, geteuid, getppid, kill_process, test_kill_process};
use tempfile::TempDir;

use super::*;

/// Does it in a thread, which may be confined without the rest of the tests.
fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

/// What a bug would go for, with targets that are there and that this user can reach.
struct Targets {
    folder: TempDir,
    _tcp: TcpListener,
    address: SocketAddr,
    _unix: UnixListener,
    parent: Pid,
}

impl Targets {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret"), "of the user").unwrap();
        fs::create_dir(folder.path().join("empty")).unwrap();
        let unix = UnixListener::bind(folder.path().join("socket")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap();
        Self { folder, _tcp: tcp, address, _unix: unix, parent: getppid().unwrap_or(Pid::INIT) }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// The attempts that succeeded.
    fn reached(&self) -> Vec<&'static str> {
        let secret = self.path("secret");
        let new = self.path("new");
        let attempts: [(&'static str, io::Result<()>); 15] = [
            ("read a file", fs::read(&secret).map(drop)),
            ("read /etc/shadow", File::open("/etc/shadow").map(drop)),
            ("list a folder", fs::read_dir(self.folder.path()).map(drop)),
            ("create a file", File::create_new(&new).map(drop)),
            ("write to a file", File::options().append(true).open(&secret).map(drop)),
            ("make a folder", fs::create_dir(self.path("folder"))),
            ("make a link", symlink("/", self.path("link"))),
            ("rename a file", fs::rename(&secret, self.path("renamed"))),
            ("remove a folder", fs::remove_dir(self.path("empty"))),
            ("connect by TCP", TcpStream::connect(self.address).map(drop)),
            ("open a port", TcpListener::bind("127.0.0.1:0").map(drop)),
            ("send by UDP", send_by_udp()),
            ("connect to a socket's path", UnixStream::connect(self.path("socket")).map(drop)),
            ("run /bin/true", Command::new("/bin/true").status().map(drop)),
            ("signal another", test_kill_process(self.parent).map_err(io::Error::from)),
        ];
        attempts.into_iter().filter(|(_, tried)| tried.is_ok()).map(|(name, _)| name).collect()
    }
}

fn send_by_udp() -> io::Result<()> {
    UdpSocket::bind("127.0.0.1:0")?.send_to(b"secret", "127.0.0.1:9").map(drop)
}

fn has_landlock() -> bool {
    const VERSION: libc::c_uint = 1;
    let none = std::ptr::null::<u8>();
    // SAFETY: with this flag the call reads nothing, and answers with a number.
    let has = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0, VERSION) } > 0;
    if !has {
        eprintln!("SKIPPED: Landlock: this kernel does not have it");
    }
    has
}

#[test]
fn a_bug_in_a_confined_thread_reaches_nothing() {
    let targets = Targets::new();
    let unconfined = targets.reached();
    assert!(unconfined.contains(&"read a file") && unconfined.contains(&"run /bin/true"));
    assert!(unconfined.contains(&"connect by TCP") && unconfined.contains(&"create a file"));
    let targets = Targets::new();
    let (layers, reached) = in_thread(|| (confine_thread(), targets.reached()));
    assert_eq!(reached, [""; 0], "{layers:?}");
    let landlock = has_landlock().then_some(Layer::Landlock);
    let mut all = vec![Layer::NoNewPrivileges, Layer::NoCapabilities, Layer::Seccomp];
    all.splice(2..2, landlock);
    assert_eq!(layers, all);
    assert_eq!(fs::read_dir(targets.folder.path()).unwrap().count(), 3, "it made something");
}

#[test]
fn the_kernel_confirms_what_is_in_force() {
    let text = in_thread(|| {
        let mut status = File::open("/proc/thread-self/status").unwrap();
        confine_thread();
        let mut text = String::new();
        status.read_to_string(&mut text).unwrap();
        text
    });
    let has = |line: &str| text.lines().any(|l| l.split_whitespace().eq(line.split_whitespace()));
    for line in ["NoNewPrivs: 1", "Seccomp: 2"] {
        assert!(has(line), "{line}: {text}");
    }
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert!(has(&format!("{set}: 0000000000000000")), "{set}: {text}");
    }
    assert!(!geteuid().is_root() || has("CapBnd: 0000000000000000"), "{text}");
}

#[test]
fn landlock_alone_keeps_every_path_and_port_from_it() {
    if !has_landlock() {
        return;
    }
    let targets = Targets::new();
    let reached = in_thread(|| {
        set_no_new_privs(true).unwrap();
        assert_ne!(refuse_paths().unwrap(), RulesetStatus::NotEnforced);
        targets.reached()
    });
    // Landlock knows neither UDP nor the paths of sockets yet. It lets the parent be signalled
    // only on kernels that do not have its scopes.
    let known = ["send by UDP", "connect to a socket's path", "signal another"];
    assert!(reached.iter().all(|name| known.contains(name)), "{reached:?}");
}

#[test]
fn the_list_of_calls_alone_keeps_all_of_it_from_it() {
    let targets = Targets::new();
    let reached = in_thread(|| {
        refuse_calls().unwrap();
        targets.reached()
    });
    assert_eq!(reached, [""; 0]);
    // Calls that no attempt above makes.
    let errors = in_thread(|| {
        refuse_calls().unwrap();
        let call = |number: i64| {
            // SAFETY: the arguments are null or zero, for which each of these calls fails, if it
            // is made at all.
            let result = unsafe { libc::syscall(number, 0, 0, 0, 0, 0, 0) };
            (result == -1).then(|| io::Error::last_os_error().raw_os_error()).flatten()
        };
        let refused = [
            libc::SYS_ptrace,
            libc::SYS_bpf,
            libc::SYS_mount,
            libc::SYS_execveat,
            libc::SYS_io_uring_setup,
            libc::SYS_openat2,
            libc::SYS_open_by_handle_at,
            libc::SYS_process_vm_readv,
            libc::SYS_pidfd_open,
            libc::SYS_clone3,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_keyctl,
            libc::SYS_userfaultfd,
            libc::SYS_perf_event_open,
        ];
        refused.map(call)
    });
    assert!(errors.iter().all(|error| *error == Some(libc::ENOSYS)), "{errors:?}");
    let other = in_thread(|| {
        refuse_calls().unwrap();
        kill_process(Pid::INIT, Signal::WINCH)
    });
    assert_eq!(other, Err(Errno::NOSYS));
}

#[test]
fn root_without_capabilities_reads_no_file_of_others() {
    if !geteuid().is_root() {
        eprintln!("SKIPPED: root without capabilities: this is not root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("of another");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    chown(&file, Some(65_534), Some(65_534)).unwrap();
    let open = |path: &Path| File::open(path).map(drop).map_err(|error| error.raw_os_error());
    assert_eq!(open(&file), Ok(()));
    let tried = in_thread(|| {
        drop_capabilities().unwrap();
        (open(&file), chown(&file, Some(0), Some(0)).is_ok())
    });
    assert_eq!(tried, (Err(Some(libc::EACCES)), false));
}

#[test]
fn a_confined_thread_computes_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, vec![7; 3 << 20]).unwrap();
    let mut input = File::open(&path).unwrap();
    let (mut reader, mut writer) = io::pipe().unwrap();
    let panicked = in_thread(move || {
        confine_thread();
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).unwrap();
        assert_eq!(input.metadata().unwrap().len(), 3 << 20);
        // Large and small, so that memory is mapped, grown and given back.
        let pieces: Vec<Vec<u8>> = bytes.chunks(1000).map(<[u8]>::to_vec).collect();
        bytes.resize(100 << 20, 1);
        let sorted: std::collections::HashSet<usize> = pieces.iter().map(Vec::len).collect();
        assert_eq!(sorted.len(), 2);
        thread::sleep(std::time::Duration::from_millis(1));
        writer.write_all(b"done").unwrap();
        catch_unwind(|| panic!("planted")).is_err()
    });
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    assert!(panicked && said == "done");
}

#[test]
fn other_threads_keep_their_rights() {
    in_thread(confine_thread);
    assert!(File::open("/proc/self/status").is_ok());
    assert!(UnixDatagram::unbound().is_ok());
}
