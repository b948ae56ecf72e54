//! What docs/safety.md promises of a whole run, seen from outside: strace has every call that
//! creates, changes or removes something, or that talks to anybody.

#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{is_root, place, skip, stderr};
use report::formats::{FORMATS, Format};
use tempfile::TempDir;

/// Calls that make, change, rename or remove what has a name.
const NAMED: [&str; 23] = [
    "creat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "chmod",
    "fchmodat",
    "chown",
    "lchown",
    "fchownat",
    "truncate",
    "mknod",
    "mknodat",
    "setxattr",
    "lsetxattr",
];
/// Calls that change what a descriptor stands for.
const BY_DESCRIPTOR: [&str; 4] = ["fchmod", "fchown", "ftruncate", "fsetxattr"];
/// Calls that reach others.
const SOCKETS: [&str; 4] = ["connect", "bind", "sendto", "sendmsg"];
/// Calls that change the system, or may. `fsmount` is none of them: what it mounts is nowhere until
/// `move_mount`, and is how tracefs is read where it is not mounted.
const SYSTEM: [&str; 23] = [
    "mount",
    "umount2",
    "move_mount",
    "open_tree",
    "mount_setattr",
    "pivot_root",
    "swapon",
    "swapoff",
    "sethostname",
    "setdomainname",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "kexec_load",
    "acct",
    "quotactl",
    "add_key",
    "keyctl",
];

/// What was done: a call, and the path or address that it was done to.
#[derive(Debug, PartialEq, Eq)]
struct Deed {
    call: String,
    to: String,
}

/// A folder to work in, with a store, a place and a folder for outputs.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["place", "other", "out", "traced"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Runs the program under strace; what it did, and how it ended.
    fn traced(&self, args: &[&str]) -> (Vec<Deed>, Output) {
        let calls: Vec<String> = [&["open", "openat", "openat2"][..], &NAMED, &BY_DESCRIPTOR]
            .concat()
            .iter()
            .chain(&SOCKETS)
            .chain(&SYSTEM)
            .map(|call| format!("?{call}"))
            .collect();
        let traced = self.path("traced");
        fs::remove_dir_all(&traced).unwrap();
        fs::create_dir(&traced).unwrap();
        let mut command = Command::new("strace");
        command.args(["-ff", "-y", "-qq", "-s", "4096", "-e", "signal=none"]);
        command.args(["-e", &format!("trace={}", calls.join(","))]);
        command.arg("-o").arg(traced.join("of")).arg(env!("CARGO_BIN_EXE_iotoll")).args(args);
        command.env("IOTOLL_DIR", self.path("store")).current_dir(self.path("out"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        let files = common::entries(&traced);
        assert!(!files.is_empty());
        let logs = files.iter().map(|file| fs::read(file).unwrap());
        let logs: Vec<String> =
            logs.map(|log| String::from_utf8_lossy(&log).into_owned()).collect();
        let cwd = self.path("out");
        let deeds = logs.iter().flat_map(|log| log.lines()).flat_map(|line| deeds(line, &cwd));
        (deeds.collect(), output)
    }

    /// Whether it lies where every run may write: a working folder in the place, the store.
    fn is_own(&self, path: &str) -> bool {
        let in_place = ["place", "other"].iter().any(|place| {
            let within = Path::new(path).strip_prefix(self.path(place));
            let first = within.ok().and_then(|within| within.components().next());
            first.is_some_and(|first| is_working_folder(&first.as_os_str().to_string_lossy()))
        });
        // Root's runs look there for what killed runs with created places left, and remove it.
        let left = is_root() && (is_of_run(path) || path.ends_with("/zram-control/hot_remove"));
        in_place || left || Path::new(path).starts_with(self.path("store")) || path == "/dev/null"
    }

    /// Whether it is one of these outputs, or what becomes one.
    fn is_output(&self, path: &str, names: &[&str]) -> bool {
        let Ok(within) = Path::new(path).strip_prefix(self.path("out")) else { return false };
        let name = within.to_string_lossy();
        let is_temporary = name.starts_with(".iotoll-") && name.ends_with(".tmp");
        // One without a name has its number.
        let is_unnamed = name.starts_with('#') && name.contains("(deleted)");
        is_temporary || is_unnamed || names.contains(&name.as_ref())
    }
}

/// Whether it lies in the folder of a run that creates places.
fn is_of_run(path: &str) -> bool {
    let first = path.strip_prefix("/run/").and_then(|within| within.split('/').next());
    first.is_some_and(is_working_folder)
}

/// `.iotoll-` and 16 random hexadecimal digits.
fn is_working_folder(name: &str) -> bool {
    name.strip_prefix(".iotoll-")
        .is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// What a line of strace says was done.
fn deeds(line: &str, cwd: &Path) -> Vec<Deed> {
    let Some((call, rest)) = line.split_once('(') else { return Vec::new() };
    let Some((args, result)) = rest.rsplit_once(") = ").or_else(|| rest.rsplit_once(" = ")) else {
        return Vec::new();
    };
    // A connection that was tried counts as one that was made.
    if result.starts_with(['-', '?']) && !SOCKETS.contains(&call) {
        return Vec::new();
    }
    let deed = |to: String| Deed { call: call.to_owned(), to };
    if call.starts_with("open") && call != "open_tree" {
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];
        let opened = within_brackets(result).unwrap_or_else(|| panic!("no path in {line}"));
        return writes
            .iter()
            .any(|flag| args.contains(flag))
            .then(|| deed(opened))
            .into_iter()
            .collect();
    }
    if BY_DESCRIPTOR.contains(&call) {
        return vec![deed(within_brackets(args).unwrap_or_else(|| panic!("no path in {line}")))];
    }
    if NAMED.contains(&call) {
        let skipped = usize::from(call.starts_with("symlink"));
        return paths(args, cwd).into_iter().skip(skipped).map(deed).collect();
    }
    // strace has no names for the newest calls, and no filter for calls without a name.
    if call.starts_with("syscall_") { Vec::new() } else { vec![deed(args.to_owned())] }
}

/// The path that strace shows behind a descriptor: `3</tmp/x>`.
fn within_brackets(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('<')?;
    let (path, after) = rest.split_once('>')?;
    Some(if after.starts_with("(deleted)") { format!("{path}(deleted)") } else { path.to_owned() })
}

/// The paths in the arguments of a call, each by the descriptor before it.
fn paths(args: &str, cwd: &Path) -> Vec<String> {
    let mut folder = cwd.to_owned();
    let mut paths = Vec::new();
    for arg in args.split(", ") {
        if let Some(name) = arg.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            paths.push(folder.join(name).display().to_string());
        } else if let Some(path) = within_brackets(arg) {
            folder = PathBuf::from(path);
        }
    }
    paths
}

/// Whether a socket reaches nobody but this machine.
fn is_local(address: &str) -> bool {
    let local = ["AF_UNIX", "AF_NETLINK", "AF_UNSPEC", "inet_addr(\"127.", "\"::1\""];
    !address.contains("sa_family=") || local.iter().any(|part| address.contains(part))
}

/// What was done that none of the promises covers.
fn unpromised(deeds: &[Deed], is_promised: impl Fn(&str) -> bool) -> Vec<&Deed> {
    let is_fine = |deed: &&Deed| match deed.call.as_str() {
        call if SOCKETS.contains(&call) => is_local(&deed.to),
        "umount2" => deed.to.contains("/run/.iotoll-"),
        call if SYSTEM.contains(&call) => false,
        // The name that a file without one gets its own by.
        "linkat" if deed.to.starts_with("/proc/self/fd/") => true,
        _ => is_promised(&deed.to),
    };
    deeds.iter().filter(|deed| !is_fine(deed)).collect()
}

fn has_strace(test: &str) -> bool {
    let has = Command::new("strace").arg("-V").output().is_ok();
    if !has {
        skip(test, "strace is not installed");
    }
    has
}

const NONE: [&Deed; 0] = [];

#[test]
fn a_run_changes_its_own_folder_the_store_and_the_files_that_were_named() {
    if !has_strace("a_run_changes_its_own_folder_the_store_and_the_files_that_were_named") {
        return;
    }
    let stage = Stage::new();
    let disk = place("disk", &stage.path("place"));
    let other = place("other", &stage.path("other"));
    let names = FORMATS.iter().map(|format| format!("r.{}", format.flag)).collect::<Vec<_>>();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let promised = |path: &str| stage.is_own(path) || stage.is_output(path, &names);
    let outputs = FORMATS.iter().map(|Format { flag, .. }| format!("--{flag}=r.{flag}"));
    let outputs: Vec<String> = outputs.collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let measured = |studies: &str| {
        let compare = ["compare", &disk, &other, "--study", studies, "--budget", "5s", "--quiet"];
        let (deeds, _) = stage.traced(&[&compare[..], &outputs].concat());
        assert_eq!(unpromised(&deeds, promised), NONE, "{studies}");
        deeds
    };
    let deeds = measured("log,stream,blocks,page,cache,files,sqlite,journal");
    let writes = |part: &str| deeds.iter().any(|deed| deed.to.contains(part));
    assert!(writes("/place/.iotoll-") && writes("/store/runs.db") && writes("/out/r.json"));
    let served = measured("serve");
    assert!(served.iter().any(|deed| deed.call == "connect"), "no server was loaded");
    for place in ["place", "other"] {
        assert_eq!(common::entries(&stage.path(place)), Vec::<PathBuf>::new());
    }
}

#[test]
fn commands_for_saved_runs_change_the_store_and_the_files_that_were_named() {
    if !has_strace("commands_for_saved_runs_change_the_store_and_the_files_that_were_named") {
        return;
    }
    let stage = Stage::new();
    let disk = place("disk", &stage.path("place"));
    let measure = ["compare", &disk, "--study=log", "--budget=1s", "-q", "--json", "r.json"];
    let measured = |args: &[&str]| stage.traced(args).0;
    let no_save = measured(&[&measure[..], &["--no-save"]].concat());
    assert!(!no_save.iter().any(|deed| deed.to.contains("/store")), "--no-save saved it");
    measured(&measure);
    measured(&measure);
    for (args, names) in [
        (&["show", "r.json", "--html", "s.html"][..], &["s.html"][..]),
        (&["show", "last", "--full"], &[]),
        (&["history"], &[]),
        (&["diff", "last~1", "r.json", "--json", "d.json"], &["d.json"]),
        (&["report", "r.json", "-o", "p.html"], &["p.html"]),
        (&["share", "last", "-o", "a.json"], &["a.json"]),
        (&["rerun", "last", "--dry-run"], &[]),
        (&["places", &disk], &[]),
        (&["studies"], &[]),
        (&["prune", "last"], &[]),
        (&["clean", &stage.text("place")], &[]),
    ] {
        let (deeds, _) = stage.traced(args);
        let is_store = |path: &str| Path::new(path).starts_with(stage.path("store"));
        let promised =
            |path: &str| is_store(path) || stage.is_own(path) || stage.is_output(path, names);
        assert_eq!(unpromised(&deeds, promised), NONE, "{args:?}");
        // None of them talks to anybody, on this machine or elsewhere.
        let sockets = deeds.iter().filter(|deed| SOCKETS.contains(&deed.call.as_str()));
        assert_eq!(sockets.count(), 0, "{args:?}");
    }
}

#[test]
fn a_recording_changes_the_trace_and_what_the_program_itself_changes() {
    if !has_strace("a_recording_changes_the_trace_and_what_the_program_itself_changes") {
        return;
    }
    // Under strace no other tracer is possible, so ptrace is not among these.
    let mechanisms = if is_root() { &["ebpf", "preload"][..] } else { &["preload"] };
    for mechanism in mechanisms {
        let stage = Stage::new();
        let own = stage.text("place/of-the-program");
        let script = format!("echo text > '{own}'; cat '{own}'");
        let args = ["record", "--mechanism", mechanism, "-o", "t.trace", "--", "/bin/sh", "-c"];
        let (deeds, _) = stage.traced(&[&args[..], &[&script]].concat());
        // The preloaded library and its ring are files in memory, which have no name.
        let in_memory = |path: &str| path.starts_with("/memfd:") || path.starts_with("/dev/shm/");
        let promised = |path: &str| {
            path == own
                || path == "/dev/null"
                || in_memory(path)
                // What recording costs here is kept with the saved runs.
                || path.contains("/store/cache") || path.ends_with("/store")
                || stage.is_output(path, &["t.trace"])
        };
        assert_eq!(unpromised(&deeds, promised), NONE, "{mechanism}");
        assert!(deeds.iter().any(|deed| deed.to == own), "{mechanism} did not run it");
    }
    if !is_root() {
        skip("a_recording_changes_the_trace", "eBPF takes root");
    }
}

#[test]
fn places_that_are_created_change_only_devices_and_folders_of_the_run() {
    let test = "places_that_are_created_change_only_devices_and_folders_of_the_run";
    if !has_strace(test) {
        return;
    }
    if !is_root() {
        return skip(test, "creating places takes root");
    }
    let stage = Stage::new();
    let disk = place("disk", &stage.path("place"));
    let args = ["compare", &disk, "ram=tmpfs:256M", "zram:256M", "--study=log"];
    let (deeds, _) = stage.traced(&[&args[..], &["--budget=3s", "-q", "--no-save"]].concat());
    let devices = [
        "/dev/zram",
        "/sys/block/zram",
        "/sys/class/zram-control/",
        "/sys/devices/virtual/block/zram",
    ];
    let promised = |path: &str| {
        stage.is_own(path)
            || is_of_run(path)
            || devices.iter().any(|device| path.starts_with(device))
    };
    // What is mounted is in a mount namespace of the run.
    let mounts = ["mount", "umount2", "move_mount"];
    let mut unpromised = unpromised(&deeds, promised);
    unpromised.retain(|deed| !mounts.contains(&deed.call.as_str()));
    assert_eq!(unpromised, NONE);
    assert!(deeds.iter().any(|deed| deed.to.contains("/place-zram/")));
    let mounted = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounted.contains("/place-zram"), "it is mounted outside of the run's namespace");
}

#[test]
fn every_test_that_the_page_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let page = fs::read_to_string(root.join("docs/safety.md")).unwrap();
    let mut sources = Vec::new();
    for folder in ["crates", "xtask", "tools"] {
        rust_files(&root.join(folder), &mut sources);
    }
    let has = |file: &str, test: &str| {
        let is_file = |path: &&PathBuf| {
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            // A test of several files is called by its folder.
            let parent = path.parent().and_then(Path::file_name).unwrap().to_string_lossy();
            stem == file || (parent == file && ["main", "mod", "tests"].contains(&stem.as_str()))
        };
        let text = |path: &PathBuf| fs::read_to_string(path).unwrap();
        let head = format!("fn {test}(");
        sources.iter().filter(is_file).any(|path| text(path).contains(&head))
    };
    let is_test_name = |name: &&str| {
        let parts: Vec<&str> = name.split("::").collect();
        let is_word = |part: &&str| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        parts.len() == 2 && parts.iter().all(|part| !part.is_empty() && is_word(part))
    };
    let mut sections: Vec<&str> = Vec::new();
    let mut tested: Vec<&str> = Vec::new();
    let mut section = "";
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push(heading);
            section = heading;
        }
        // The last section lists the tests of the others.
        let item = line.strip_prefix("- [").and_then(|item| item.split_once("](#"));
        if let Some((heading, _)) = item {
            section = heading;
        }
        for name in line.split('`').skip(1).step_by(2).filter(is_test_name) {
            let (file, test) = name.split_once("::").unwrap();
            assert!(has(file, test), "docs/safety.md names {name}, which is not there");
            tested.push(section);
        }
        for name in line.split("--test ").skip(1) {
            let name = name.split([' ', '`']).next().unwrap();
            let is_test = |path: &PathBuf| {
                path.ends_with(format!("tests/{name}.rs"))
                    || path.ends_with(format!("tests/{name}/main.rs"))
            };
            assert!(sources.iter().any(is_test), "docs/safety.md names a test {name}");
            tested.push(section);
        }
    }
    let untested: Vec<&&str> = sections.iter().filter(|one| !tested.contains(one)).collect();
    assert!(untested.is_empty(), "docs/safety.md names no test of {untested:?}");
    assert!(sections.len() >= 7, "the page has lost its sections");
}

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}
