//! The built-in server's port is open to all users of this machine, and answers its own client
//! alone.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use crate::common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use common::{entries, iotoll, place, stderr, stdout};
use rustix::fs::Uid;
use rustix::thread::{set_thread_groups, set_thread_res_uid};
use serde_json::Value;

const NOBODY: u32 = 65_534;
const PRIVATE: &str = "nobody else may read this";
/// What others may try.
const PATHS: [&str; 6] = ["/", "/private", "/empty", "/account", "/?log", "/../private"];
/// No run of these tests takes as long.
const HANG: Duration = Duration::from_secs(120);

/// A server that runs just now: its process and its configuration.
struct Server {
    process: u32,
    port: u16,
    secret: String,
}

/// A child's servers, which are below its keepers.
fn servers_of(child: &Child) -> Vec<Server> {
    let children = |pid: u32| {
        let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let numbers = listed.unwrap_or_default();
        numbers.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()
    };
    // The run, the process of its slices, the server's supervisor, the server.
    let below = children(child.id()).into_iter().flat_map(children);
    let below: Vec<u32> = below.collect();
    let deeper = below.clone().into_iter().flat_map(children);
    below.iter().copied().chain(deeper).filter_map(server).collect()
}

fn server(process: u32) -> Option<Server> {
    let words = fs::read(format!("/proc/{process}/cmdline")).ok()?;
    if !String::from_utf8_lossy(&words).contains("__serve") {
        return None;
    }
    let config: Value =
        serde_json::from_slice(&fs::read(format!("/proc/{process}/fd/0")).ok()?).ok()?;
    let secret = config["secret"].as_str().expect("a server has a secret").to_owned();
    Some(Server { process, port: config["port"].as_u64().unwrap().try_into().unwrap(), secret })
}

/// What the server on a port answers, if it does.
fn ask(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).ok()?;
    Some(reply)
}

/// Whether a process can be looked into, by the user who asks.
fn can_look_into(process: u32) -> bool {
    ["fd/0", "environ", "mem"]
        .iter()
        .any(|file| fs::File::open(format!("/proc/{process}/{file}")).is_ok())
}

/// What another user is answered, and sees of a process.
fn as_another(server: &Server) -> (Vec<String>, bool, String) {
    scope(|threads| {
        let asking = threads.spawn(|| {
            // Of this thread alone, as the system calls have it.
            let nobody = Uid::from_raw(NOBODY);
            set_thread_groups(&[]).unwrap();
            set_thread_res_uid(nobody, nobody, nobody).unwrap();
            let replies = PATHS.iter().filter_map(|path| ask(server.port, path)).collect();
            let words = fs::read(format!("/proc/{}/cmdline", server.process)).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            (replies, can_look_into(server.process), words)
        });
        asking.join().unwrap()
    })
}

/// A run that serves a file of mode 0600.
fn serving(private: &Path, ram: &Path, json: &Path) -> Child {
    fs::set_permissions(private, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(private.join("private"), PRIVATE).unwrap();
    fs::set_permissions(private.join("private"), fs::Permissions::from_mode(0o600)).unwrap();
    iotoll()
        .args(["compare", "--study=serve", "--budget=4s", "--set=serve.connections=100"])
        .args(["--set", &format!("serve.set={}", private.display())])
        .args(["--json", json.to_str().unwrap()])
        .arg(place("ram", ram))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn another_user_gets_nothing_of_what_is_served_and_the_secret_is_nowhere() {
    if !common::is_root() {
        return common::skip("another_user_gets_nothing", "only root can act as another user");
    }
    let [private, ram, out] = [(); 3].map(|()| tempfile::tempdir_in("/dev/shm").unwrap());
    let json = out.path().join("run.json");
    let mut child = serving(private.path(), ram.path(), &json);
    let (began, mut secrets, mut refused) = (Instant::now(), BTreeSet::new(), 0);
    let mut is_served = false;
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < HANG, "the run does not end");
        for server in servers_of(&child) {
            let (replies, looked, words) = as_another(&server);
            assert!(!looked && !words.contains(&server.secret), "it can be seen: {words}");
            for reply in replies {
                assert!(reply.starts_with("HTTP/1.1 404 "), "{reply}");
                assert!(!reply.contains(PRIVATE), "{reply}");
                refused += 1;
            }
            let reply = ask(server.port, &format!("{}/", server.secret));
            is_served |= reply.is_some_and(|reply| reply.contains(PRIVATE));
            secrets.insert(server.secret);
        }
        sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert!(is_served && refused > 0, "it was not asked while it served");
    assert!(secrets.len() > 1, "each server has its own secret: {}", secrets.len());
    let result = fs::read_to_string(&json).unwrap();
    let saved: Vec<Vec<u8>> = entries(common::data_folder())
        .iter()
        .filter(|path| path.is_file())
        .map(|path| fs::read(path).unwrap())
        .collect();
    assert!(!saved.is_empty(), "the run was not saved");
    for secret in secrets.iter().map(|secret| secret.trim_start_matches('/')) {
        let is_in =
            |bytes: &[u8]| bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
        for said in [&output.stdout, &output.stderr, result.as_bytes()] {
            assert!(!is_in(said), "the secret is in what was said");
        }
        assert!(!saved.iter().any(|file| is_in(file)), "the secret is in what was saved");
    }
}

/// Messages name what was asked for, without the secret.
#[test]
fn a_server_that_loses_its_files_says_so_without_the_secret() {
    let ram = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut child = iotoll()
        .args(["compare", "--study=serve", "--budget=20s", "--set=serve.connections=400"])
        .args(["--no-save", "--json=-"])
        .arg(place("ram", ram.path()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (began, mut secrets) = (Instant::now(), BTreeSet::new());
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < HANG, "the run does not end");
        secrets.extend(servers_of(&child).into_iter().map(|server| server.secret));
        let lost = common::slice_folders(ram.path()).into_iter().filter(|_| !secrets.is_empty());
        for folder in lost {
            for file in fs::read_dir(folder).into_iter().flatten().flatten() {
                let _ = fs::remove_file(file.path());
            }
        }
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    assert!(said.contains("failed: loading the server"), "{said}");
    for secret in secrets {
        assert!(!said.contains(secret.trim_start_matches('/')), "{said}");
    }
}
