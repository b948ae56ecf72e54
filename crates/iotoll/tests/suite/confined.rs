//! What strangers may have written is read without rights: by a child, or a thread, that can open
//! nothing. What that refuses is tested with `host::confinement`; these tests see that every
//! command is so confined before it reads, and works all the same.

#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use common::{copy_program, is_root, place, skip, stderr, stdout};
use report::formats::FORMATS;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use trace::Op;
use trace::planted::Planted;

const NOBODY: u32 = 65_534;

/// A result and a trace that everybody may read, and a copy of the program.
struct Files {
    folder: TempDir,
    result: String,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        copy_program(&folder.path().join("iotoll"));
        let result = folder.path().join("run.json").display().to_string();
        let files = Self { folder, result };
        let places = ["a", "b"].map(|label| files.path(label));
        for path in &places {
            fs::create_dir(path).unwrap();
        }
        let [a, b] = ["a", "b"].map(|label| place(label, &files.path(label)));
        let mut measured = files.iotoll();
        measured.args(["compare", &a, &b, "--study", "log", "--budget", "1s", "-q"]);
        success(measured.args(["--json", &files.result]));
        fs::set_permissions(&files.result, fs::Permissions::from_mode(0o644)).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn iotoll(&self) -> Command {
        let mut command = Command::new(self.path("iotoll"));
        command.env("IOTOLL_DIR", self.path("store")).env_remove("CLICOLOR_FORCE");
        command.current_dir(self.folder.path());
        sys::start::default_signals(&mut command);
        command
    }

    fn trace(&self) -> String {
        let mut planted = Planted::new(self.folder.path().to_str().unwrap());
        for _ in 0..500 {
            planted.open("logs/app.log", 0o2101, 3);
            planted.moved(Op::Write, 3, 137, 1000);
            planted.on(Op::Close, 3, 1000);
        }
        let file = self.path("app.trace");
        fs::write(&file, planted.finish()).unwrap();
        file.display().to_string()
    }
}

fn success(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    output
}

/// A pipe with a name, which this process keeps open until it lets go of it.
fn fifo(path: &Path) -> File {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let held = File::options().read(true).write(true).open(path).unwrap();
    rustix::pipe::fcntl_setpipe_size(held.as_fd(), 1 << 20).unwrap();
    held
}

/// What the kernel says of the thread or child of a process that has a list of system calls;
/// nothing once it has ended without one.
fn confined(process: &mut Child) -> Option<(i32, String)> {
    let tasks = |of: String| {
        let tasks = fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
        tasks.map(|task| task.path()).collect::<Vec<_>>()
    };
    while process.try_wait().unwrap().is_none() {
        let own = tasks(process.id().to_string());
        let children = own.iter().map(|task| {
            let children = fs::read_to_string(task.join("children")).unwrap_or_default();
            children.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        });
        let of_children: Vec<PathBuf> = children.flatten().flat_map(tasks).collect();
        for task in own.iter().chain(&of_children) {
            let status = fs::read_to_string(task.join("status")).unwrap_or_default();
            if field(&status, "Seccomp") == "2" {
                let number = task.file_name().unwrap().to_str().unwrap().parse().unwrap();
                return Some((number, status));
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    None
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_default().trim()
}

#[test]
fn every_command_that_reads_a_file_is_confined_before_it_reads() {
    let files = Files::new();
    let [a, b] = ["a", "b"].map(|label| place(label, &files.path(label)));
    let result = files.result.clone();
    let out = files.text("out.html");
    // Each names a pipe that has nothing yet.
    let commands: [&[&str]; 7] = [
        &["show", "PIPE"],
        &["diff", "PIPE", &result],
        &["diff", &result, "PIPE"],
        &["report", "PIPE", "-o", &out],
        &["share", "PIPE", "-o", &out],
        &["rerun", "PIPE", "--dry-run"],
        &[
            "compare",
            &a,
            &b,
            "--study=log",
            "--budget=1s",
            "--no-save",
            "--allow-missing",
            "--baseline",
            "PIPE",
        ],
    ];
    for (number, command) in commands.into_iter().enumerate() {
        let path = files.path(&format!("pipe-{number}"));
        let mut pipe = fifo(&path);
        let args = command.iter().map(|word| match *word {
            "PIPE" => path.as_os_str(),
            word => word.as_ref(),
        });
        let mut started = files.iotoll();
        let started = started.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = started.spawn().unwrap();
        let Some((_, status)) = confined(&mut process) else {
            let output = process.wait_with_output().unwrap();
            panic!("{command:?} is not confined: {}", stderr(&output));
        };
        assert_eq!(field(&status, "NoNewPrivs"), "1", "{command:?}");
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert_eq!(field(&status, set), "0000000000000000", "{command:?}: {set}");
        }
        pipe.write_all(&fs::read(&result).unwrap()).unwrap();
        drop(pipe);
        let output = process.wait_with_output().unwrap();
        // On a busy machine it may be slower than its baseline.
        let is_read = matches!(output.status.code(), Some(0 | 5));
        assert!(is_read, "{command:?}: {}", stderr(&output));
    }
}

#[test]
fn a_child_that_is_killed_is_reported_in_a_sentence() {
    let files = Files::new();
    let path = files.path("pipe");
    let _pipe = fifo(&path);
    let mut started = files.iotoll();
    started.arg("show").arg(&path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = started.spawn().unwrap();
    let (child, _) = confined(&mut process).unwrap();
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    let output = process.wait_with_output().unwrap();
    common::assert_fails(&output, 1, &["the process that was reading it ended before", "SIGKILL"]);
}

/// What a confined process may call, as strace names it: nothing that has a path or an address.
const CALLS: [&str; 30] = [
    "read",
    "readv",
    "pread64",
    "write",
    "writev",
    "lseek",
    "close",
    "fcntl",
    "fstat",
    "statx",
    "poll",
    "ppoll",
    "ioctl",
    "brk",
    "mmap",
    "munmap",
    "mremap",
    "mprotect",
    "madvise",
    "futex",
    "getrandom",
    "sigaltstack",
    "rt_sigprocmask",
    "rt_sigaction",
    "clock_gettime",
    "sched_yield",
    "getpid",
    "gettid",
    "exit",
    "exit_group",
];

#[test]
fn after_confinement_nothing_but_the_open_input_is_used() {
    let files = Files::new();
    let log = files.text("strace");
    if Command::new("strace").arg("-V").output().is_err() {
        skip("after_confinement", "strace is not installed");
        return;
    }
    let trace = files.trace();
    let page = files.text("page.html");
    for command in [
        &["show", &files.result, "--full"][..],
        &["show", &trace],
        &["diff", &files.result, &files.result],
        &["report", &files.result, "-o", &page],
        &["show", &page],
    ] {
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-e", "signal=none", "-o", &log]).arg(files.path("iotoll"));
        traced.env("IOTOLL_DIR", files.path("store"));
        success(traced.args(command));
        let log = fs::read_to_string(&log).unwrap();
        let lines = || log.lines().filter_map(|line| line.split_once(' '));
        let filter = "seccomp(SECCOMP_SET_MODE_FILTER";
        let child = lines().find(|(_, call)| call.trim().starts_with(filter));
        let child = child.unwrap_or_else(|| panic!("{command:?} is not confined: {log}")).0;
        let of_child = || lines().filter(|(of, _)| *of == child).map(|(_, call)| call.trim());
        let names: Vec<&str> = of_child()
            .skip_while(|call| !call.starts_with(filter))
            .skip(1)
            .filter(|call| !call.starts_with(['+', '<']))
            .filter_map(|call| Some(call.split_once('(')?.0))
            .collect();
        assert!(names.contains(&"read"), "{command:?} read before it was confined: {log}");
        let others: Vec<&&str> = names.iter().filter(|name| !CALLS.contains(name)).collect();
        assert!(others.is_empty(), "{command:?}: {others:?}");
        if of_child().any(|call| call.contains("LANDLOCK_CREATE_RULESET_VERSION) = ")) {
            let refused = of_child().any(|call| {
                call.starts_with("landlock_restrict_self(") && call.trim_end().ends_with("= 0")
            });
            assert!(refused, "Landlock is here and is not in force: {log}");
        }
    }
}

/// Every form of every command, as this user and as another: they write the same.
#[test]
fn all_forms_are_written_as_root_and_as_another_user() {
    let files = Files::new();
    let trace = files.trace();
    let users = if is_root() { vec![0, NOBODY] } else { vec![rustix::process::getuid().as_raw()] };
    let mut first: Vec<Vec<u8>> = Vec::new();
    for (number, user) in users.into_iter().enumerate() {
        let home = files.path(&format!("of-{user}"));
        fs::create_dir(&home).unwrap();
        if is_root() {
            std::os::unix::fs::chown(&home, Some(user), Some(user)).unwrap();
        }
        let all = forms(&files, &trace, &home, user);
        assert!(all.iter().all(|bytes| !bytes.is_empty()));
        if number == 0 {
            first = all;
        } else {
            assert!(all == first, "user {user} was written something else");
        }
    }
}

fn forms(files: &Files, trace: &str, home: &Path, user: u32) -> Vec<Vec<u8>> {
    let result = files.result.as_str();
    let as_user = |args: &[&str]| {
        let mut command = files.iotoll();
        command.args(args).current_dir(home).env("IOTOLL_DIR", home.join("store"));
        if is_root() {
            command.uid(user).gid(user);
        }
        command
    };
    let mut all = Vec::new();
    let mut written = |args: &[&str], flag: &str, name: &str| {
        let file = home.join(name).display().to_string();
        success(&mut as_user(&[args, &[flag, &file]].concat()));
        let bytes = fs::read(&file).unwrap();
        let printed = success(&mut as_user(&[args, &[flag, "/dev/stdout"]].concat()));
        let is_by_name = args[0] == "report" || args[0] == "share";
        assert!(is_by_name || printed.stdout == bytes, "{args:?} {flag}");
        // With standard output closed.
        let mut closed = Command::new("sh");
        closed.args(["-c", "exec \"$@\" >&-", "sh"]).arg(files.path("iotoll")).args(args);
        closed.args([flag, &file]).env("IOTOLL_DIR", home.join("store"));
        success(&mut closed);
        assert_eq!(fs::read(&file).unwrap(), bytes);
        fs::remove_file(&file).unwrap();
        all.push(bytes);
    };
    for format in &FORMATS {
        written(&["show", result], &format!("--{}", format.flag), "out");
    }
    written(&["show", trace], "--json", "out");
    written(&["diff", result, result], "--json", "out");
    for name in ["out.html", "out.md"] {
        written(&["report", result], "-o", name);
    }
    for name in ["out.html", "out.json"] {
        written(&["share", result], "-o", name);
    }
    written(&["share", trace], "-o", "out.trace");
    // By the names that they choose themselves, and as text.
    for args in [&["report", result][..], &["share", result], &["share", trace]] {
        let before = common::entries(home);
        success(&mut as_user(args));
        let new = common::entries(home).into_iter().filter(|path| !before.contains(path));
        all.extend(new.map(|path| fs::read(path).unwrap()));
    }
    let texts = [&["show", result, "--full"][..], &["show", trace], &["diff", result, result]];
    all.extend(texts.map(|args| success(&mut as_user(args)).stdout));
    all
}

#[test]
fn a_big_file_and_a_reader_that_goes_away_are_no_obstacle() {
    let files = Files::new();
    let whole = success(files.iotoll().args(["show", &files.result]));
    let big = files.text("big.json");
    let mut content = fs::read(&files.result).unwrap();
    content.resize(64 << 20, b'\n');
    fs::write(&big, content).unwrap();
    let shown = success(files.iotoll().args(["show", &big]));
    let words = [(&shown, &big), (&whole, &files.result)];
    let [shown, whole] = words.map(|(output, file)| common::unnamed(&stdout(output), file));
    assert_eq!(shown, whole);
    let piped = format!("'{}' show '{big}' --json - | head -c 10", files.text("iotoll"));
    let head = success(Command::new("bash").args(["-c", &format!("set -o pipefail; {piped}")]));
    assert_eq!(head.stdout.len(), 10);
}
