//! Programs do the same recorded as they do alone, whatever happens to the recorder.
#![expect(unsafe_code, reason = "the test says what its command does between fork and exec")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use crate::common::{copy_program, is_root, skip, stderr, stdout};
use crate::record::recorded::{Program, mechanisms, read, record, recording};

/// However busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

fn await_(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what} did not happen");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn output_exit_codes_and_signals_are_the_commands_own() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("x.trace");
    for mechanism in mechanisms("output_exit_codes_and_signals_are_the_commands_own") {
        let run = |script: &str| {
            recording(mechanism, &trace).args(["sh", "-c", script]).output().unwrap()
        };
        let output = run("echo out; echo err >&2; exit 7");
        assert_eq!((output.status.code(), stdout(&output)), (Some(7), "out\n".to_owned()));
        assert!(stderr(&output).starts_with("err\n"), "{}", stderr(&output));
        for signal in [libc::SIGTERM, libc::SIGKILL, libc::SIGSEGV] {
            let output = run(&format!("kill -{signal} $$; sleep 10"));
            assert_eq!(output.status.signal(), Some(signal), "{mechanism}");
        }
        let mut cat = recording(mechanism, &trace)
            .arg("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        cat.stdin.take().unwrap().write_all(b"through and through").unwrap();
        assert_eq!(stdout(&cat.wait_with_output().unwrap()), "through and through");
    }
}

#[test]
fn descriptors_signals_and_limits_are_as_without() {
    let folder = tempfile::tempdir().unwrap();
    let script = "ls /proc/self/fd; grep -E '^(Sig(Blk|Ign|Cgt)|NoNewPrivs|Seccomp):' \
                  /proc/self/status; ulimit -a; umask; env | sort | grep -v '^_='; pwd";
    let mut alone = Command::new("sh");
    sys::start::default_signals(&mut alone);
    alone.args(["-c", script]).env_remove("IOTOLL_DIR").env_remove("CLICOLOR_FORCE");
    let alone = alone.output().unwrap();
    for mechanism in mechanisms("descriptors_signals_and_limits_are_as_without") {
        let mut recorded = recording(mechanism, &folder.path().join("x.trace"));
        let recorded = recorded.env_remove("IOTOLL_DIR").args(["sh", "-c", script]).output();
        // The library's own handler is all that can be seen of it there.
        let mut recorded = stdout(&recorded.unwrap());
        if mechanism == "preload" {
            assert!(recorded.contains("SigCgt:\t0000000040000"), "{recorded}");
            recorded = recorded.replace("SigCgt:\t0000000040", "SigCgt:\t0000000000");
        }
        assert_eq!(recorded, stdout(&alone), "{mechanism}");
    }
}

#[test]
fn a_program_goes_on_when_its_recorder_is_killed() {
    for mechanism in mechanisms("a_program_goes_on_when_its_recorder_is_killed") {
        for _ in 0..3 {
            let folder = tempfile::tempdir().unwrap();
            let trace = folder.path().join("x.trace");
            let script = "i=0; while [ $i -lt 40000 ]; do echo $i >> log; i=$((i+1)); done; \
                          echo $? > end";
            let mut recorder = recording(mechanism, &trace)
                .args(["sh", "-c", script])
                .current_dir(folder.path())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let log = folder.path().join("log");
            await_("the first line", || log.exists());
            sleep(Duration::from_millis(20));
            recorder.kill().unwrap();
            recorder.wait().unwrap();
            await_("the end", || fs::read(folder.path().join("end")).is_ok_and(|e| e == b"0\n"));
            let lines = fs::read_to_string(&log).unwrap();
            assert_eq!(lines.lines().count(), 40_000, "{mechanism}");
            assert!(read(&trace).summary.is_none(), "{mechanism}: it was cut short");
        }
    }
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_program() {
    let test = "a_full_disk_ends_the_recording_and_not_the_program";
    let Some(program) = Program::built(test, &[]) else { return };
    for mechanism in mechanisms(test) {
        // It takes the header, and not much more.
        let Some(small) = crate::common::Mounted::tmpfs(test, "size=16k") else { return };
        let log = program.folder.path().join("log");
        let _ = fs::remove_file(&log);
        let output = recording(mechanism, &small.path().join("x.trace"))
            .args(program.does("kinds", 3000))
            .output()
            .unwrap();
        assert!(output.status.success(), "{mechanism}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("The recording ended before the program did"), "{said}");
    }
}

#[test]
fn a_stopped_program_stays_stopped_until_it_is_continued() {
    for mechanism in mechanisms("a_stopped_program_stays_stopped_until_it_is_continued") {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = recording(mechanism, &folder.path().join("x.trace"))
            .args(["sh", "-c", "echo $$ > pid; mv pid id; kill -STOP $$; echo went on > end"])
            .current_dir(folder.path())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let id = folder.path().join("id");
        await_("its number", || id.exists());
        let id = fs::read_to_string(id).unwrap();
        let stat = format!("/proc/{}/stat", id.trim());
        let is_stopped = || {
            let stat = fs::read_to_string(&stat).unwrap_or_default();
            stat.contains(") T ") || stat.contains(") t ")
        };
        await_("its stop", is_stopped);
        sleep(Duration::from_millis(100));
        assert!(is_stopped() && !folder.path().join("end").exists(), "{mechanism}");
        let continued = Command::new("kill").args(["-CONT", id.trim()]).status().unwrap();
        assert!(continued.success());
        assert!(recorder.wait().unwrap().success(), "{mechanism}");
        assert!(folder.path().join("end").exists());
    }
}

/// Fails where a signal that is sent to iotoll alone ends nothing, as one of a terminal does not.
#[test]
fn signals_to_the_recorder_are_passed_on() {
    for mechanism in mechanisms("signals_to_the_recorder_are_passed_on") {
        for signal in ["-TERM", "-INT", "-USR1", "-USR2", "-ALRM"] {
            let folder = tempfile::tempdir().unwrap();
            let script = "trap 'echo got it; exit 5' TERM INT USR1 USR2 ALRM; : > ready; while :; do sleep 0.02; done";
            let recorder = recording(mechanism, &folder.path().join("x.trace"))
                .args(["sh", "-c", script])
                .current_dir(folder.path())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            await_("the program", || folder.path().join("ready").exists());
            let id = recorder.id().to_string();
            assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
            let output = recorder.wait_with_output().unwrap();
            assert_eq!((output.status.code(), stdout(&output)), (Some(5), "got it\n".to_owned()));
        }
    }
}

#[test]
fn rights_that_a_recorder_would_take_are_kept() {
    let test = "rights_that_a_recorder_would_take_are_kept";
    let has_setpriv = Command::new("setpriv").arg("--version").output().is_ok();
    if !is_root() || !has_setpriv {
        skip(test, "it takes root and setpriv(1) to make and run a program that sets the user");
        return;
    }
    let Some(program) = Program::built(test, &[]) else { return };
    let folder = program.folder.path();
    let everyones = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    everyones(folder, 0o777);
    let iotoll = folder.join("iotoll");
    copy_program(&iotoll);
    everyones(&iotoll, 0o755);
    everyones(&program.file, 0o4755);
    let by_nobody = |command: &[&str]| {
        let mut nobody = Command::new("setpriv");
        nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        nobody.arg(&iotoll).args(["record", "-o"]).arg(folder.join("x.trace")).arg("--");
        nobody.args(command).output().unwrap()
    };
    let file = program.file.display().to_string();
    let shell = by_nobody(&["sh", "-c", &format!("{file} rights 0 /dev/null; exit 4")]);
    let said = stderr(&shell);
    assert_eq!((shell.status.code(), stdout(&shell)), (Some(4), "65534 0\n".to_owned()), "{said}");
    let in_a_line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(in_a_line.contains("1 program could not be followed"), "{said}");
    assert!(said.contains("eBPF would have cost less"), "{said}");
    if cfg!(target_arch = "x86_64") {
        assert!(in_a_line.contains("Recorded by a preloaded library"), "{said}");
    }
    let direct = by_nobody(&[&file, "rights", "0", "/dev/null"]);
    crate::common::assert_fails(&direct, 1, &["record it as root"]);
    let by_root = record("auto", &program.does("rights", 0));
    assert_eq!(stdout(&by_root.output), "0 0\n");
}

#[test]
fn where_nothing_may_be_recorded_the_command_is_not_run() {
    const DISPATCH: u64 = 59;
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let of_dispatch =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, DISPATCH).unwrap();
    let dispatch = vec![SeccompRule::new(vec![of_dispatch]).unwrap()];
    let rules =
        [(libc::SYS_ptrace, Vec::new()), (libc::SYS_bpf, Vec::new()), (libc::SYS_prctl, dispatch)];
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules.into(), SeccompAction::Allow, refuse, arch).unwrap();
    let program = BpfProgram::try_from(filter).unwrap();
    let mut command = recording("auto", &folder.path().join("x.trace"));
    let apply = move || apply_filter(&program).map_err(|_| std::io::ErrorKind::Other.into());
    // SAFETY: between fork and exec the closure makes two system calls.
    unsafe { command.pre_exec(apply) };
    let output = command.arg("touch").arg(&made).output().unwrap();
    crate::common::assert_fails(&output, 1, &["programs may not be recorded here"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
