//! A plan or a run from a stranger: all that it makes iotoll do is shown and asked for, before any
//! of it is done; and root acts on no file that others control.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use crate::common;

use std::fs;
use std::io::Write as _;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use common::{assert_fails, iotoll, is_root, place, skip, stderr, stdout};
use model::study::{ParamDescription, ParamKind, StudyDescription};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;
use serde_json::Value;
use tempfile::TempDir;

const NOBODY: u32 = 65_534;

/// A folder with a stranger's files, and a place in memory.
struct Scene {
    folder: TempDir,
    ram: TempDir,
}

impl Scene {
    fn new() -> Self {
        let [folder, ram] = [(); 2].map(|()| tempfile::tempdir_in("/dev/shm").unwrap());
        Self { folder, ram }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A plan with that study, and its path.
    fn plan(&self, study: &str) -> String {
        let file = self.path("plan.toml");
        let place = self.ram.path().display();
        let text = format!("budget = \"1s\"\n[places]\nram = \"{place}\"\n[[study]]\n{study}");
        fs::write(&file, text).unwrap();
        file.display().to_string()
    }

    /// The result of a run of a command, in which something was exchanged.
    fn result(&self, exchanged: &[(&str, &str)]) -> String {
        let file = self.path("run.json");
        let output = quick(&[
            "compare",
            &place("ram", self.ram.path()),
            "--study=exec",
            "--budget=1s",
            "--set=exec.command=cat {place}/x; sh -c \"echo {variant}\"",
            "--set=exec.prepare=echo a > {place}/x",
            "--set=exec.variant=plain",
            "--json",
            file.to_str().unwrap(),
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
        let mut text = fs::read_to_string(&file).unwrap();
        for (old, new) in exchanged {
            assert!(text.contains(old), "{old} is not in the result");
            text = text.replace(old, new);
        }
        fs::write(&file, text).unwrap();
        file.display().to_string()
    }
}

/// A run that is not saved, with no terminal.
fn quick(args: &[&str]) -> Output {
    iotoll().args(args).arg("--no-save").stdin(Stdio::null()).output().unwrap()
}

fn compare(plan: &str, flags: &[&str]) -> Output {
    quick(&[&["compare", "--plan", plan], flags].concat())
}

/// Sees who opens a file, or a folder and what is in it.
struct Watch(OwnedFd);

impl Watch {
    fn of(path: &Path) -> Self {
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&watch, path, WatchFlags::OPEN | WatchFlags::ACCESS).unwrap();
        Self(watch)
    }

    /// Whether it was opened since it was last asked.
    fn was_opened(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&self.0, &mut buffer);
        let mut seen = false;
        loop {
            match events.next() {
                Ok(_) => seen = true,
                Err(Errno::AGAIN) => return seen,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

const ASKED: [&str; 2] = ["nothing was run or read", "add --allow-commands"];

#[test]
fn a_variant_that_runs_within_a_command_is_shown_as_it_will_run() {
    let scene = Scene::new();
    let ran = scene.path("ran");
    let variant = format!("$(touch {})", ran.display());
    let run = scene.result(&[("\"plain\"", &format!("\"{variant}\""))]);
    let command = format!("sh -c \"echo '{variant}'\"");
    let output = quick(&["rerun", &run]);
    assert_fails(&output, 2, &ASKED);
    assert_fails(&output, 2, &[&command, "exec.prepare     echo a >", "measure  ram"]);
    assert!(!ran.exists(), "it ran");
    let shown = quick(&["rerun", &run, "--dry-run"]);
    assert!(shown.status.success() && stdout(&shown).contains(&command), "{}", stdout(&shown));
    assert!(!ran.exists(), "it ran");
    // The same in a plan.
    let study = "name = \"exec\"\ncommand = '''ls {place}; sh -c \"echo {variant}\"'''\n";
    let plan = scene.plan(&format!("{study}variant = \"{variant}\""));
    assert_fails(&compare(&plan, &[]), 2, &[ASKED[0], ASKED[1], &command]);
    assert!(!ran.exists(), "it ran");
    compare(&plan, &["--allow-commands"]);
    assert!(ran.exists(), "with consent it runs: the test would see it");
}

/// Each parameter of each study, with a value that names a file or a folder.
fn texts() -> impl Iterator<Item = (&'static StudyDescription, &'static ParamDescription)> {
    let specs = studies::specs().into_iter();
    let params = specs.flat_map(|spec| spec.params.iter().map(move |param| (spec, param)));
    params.filter(|(_, param)| {
        matches!(param.limits, Some(ParamKind::Path(_) | ParamKind::Text(_) | ParamKind::Name(_)))
    })
}

fn canaries(scene: &Scene) -> [PathBuf; 2] {
    let [file, folder] = ["file", "folder"].map(|name| scene.path(name));
    fs::write(&file, "a line\n").unwrap();
    fs::create_dir(&folder).unwrap();
    // A file that the program of the trace found.
    fs::write(folder.join("shop.php"), "a part").unwrap();
    [file, folder]
}

#[test]
fn no_file_that_a_plan_names_is_opened_before_it_is_asked_for() {
    let scene = Scene::new();
    let mut paths = 0;
    for (canary, (spec, param)) in
        canaries(&scene).iter().flat_map(|c| texts().map(move |t| (c, t)))
    {
        if !matches!(param.limits, Some(ParamKind::Path(_))) {
            continue;
        }
        let name = format!("{}.{}", spec.name, param.name);
        let canary_path = canary.display();
        let plan =
            scene.plan(&format!("name = \"{}\"\n{} = \"{canary_path}\"", spec.name, param.name));
        let watch = Watch::of(canary);
        let entry = format!("read     {name:<16} {canary_path}");
        assert_fails(&compare(&plan, &[]), 2, &[ASKED[0], ASKED[1], &entry]);
        assert!(!watch.was_opened(), "{name}: it was opened");
        let shown = compare(&plan, &["--dry-run"]);
        assert!(shown.status.success() && stdout(&shown).contains(&entry), "{}", stdout(&shown));
        assert!(!watch.was_opened(), "{name}: it was opened for --dry-run");
        paths += 1;
    }
    assert!(paths >= 2 * 8, "{paths} were tried");
}

/// Otherwise a plan could have it opened without being asked for.
#[test]
fn what_studies_open_is_a_path_by_its_kind() {
    let scene = Scene::new();
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/replay.trace");
    let sql = scene.path("request.sql");
    fs::write(&sql, "SELECT 1;\n").unwrap();
    let sql = sql.display();
    // Without these nothing else of their studies is looked at.
    let companion = |study: &str, param: &str| match (study, param) {
        ("replay", "folder" | "with_files") => Some(format!("replay.trace={trace}")),
        ("sqlite", "database") => Some(format!("sqlite.statements={sql}")),
        ("sqlite", "statements") => Some(format!("sqlite.database={sql}")),
        _ => None,
    };
    let [file, folder] = canaries(&scene);
    for (spec, param) in texts() {
        let opened = [&file, &folder].into_iter().filter(|canary| {
            let watch = Watch::of(canary);
            let set = format!("{}.{}={}", spec.name, param.name, canary.display());
            let at = place("ram", scene.ram.path());
            let mut args = vec!["compare", "--dry-run", &at, "--study", &spec.name, "--set", &set];
            let other = companion(&spec.name, &param.name);
            args.extend(other.iter().flat_map(|other| ["--set", other]));
            // Typed by the user, it is not asked for.
            let output = quick(&args);
            assert!(!stderr(&output).contains("--allow-commands"), "{}", stderr(&output));
            watch.was_opened()
        });
        let is_opened = opened.count() > 0;
        let is_path = matches!(param.limits, Some(ParamKind::Path(_)));
        assert_eq!(is_opened, is_path, "{}.{}: {:?}", spec.name, param.name, param.kind);
    }
}

#[test]
fn a_sample_that_a_run_names_is_shown_and_not_read() {
    let scene = Scene::new();
    let sample = scene.path("shadow");
    fs::write(&sample, "root:x\n").unwrap();
    let file = scene.path("log.json");
    let own = scene.path("own");
    fs::write(&own, "a line\n").unwrap();
    let output = quick(&[
        "compare",
        &place("ram", scene.ram.path()),
        "--study=log",
        "--strategy=held",
        "--budget=1s",
        "--set",
        &format!("log.sample={}", own.display()),
        "--json",
        file.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(own.to_str().unwrap(), sample.to_str().unwrap())).unwrap();
    let watch = Watch::of(&sample);
    let entry = format!("log.sample       {}", sample.display());
    assert_fails(&quick(&["rerun", file.to_str().unwrap()]), 2, &[ASKED[0], ASKED[1], &entry]);
    assert!(!watch.was_opened());
    let again = quick(&["rerun", file.to_str().unwrap(), "--allow-commands"]);
    assert!(again.status.success() && watch.was_opened(), "{}", stderr(&again));
}

#[test]
fn mount_options_that_are_not_known_to_be_harmless_are_refused() {
    let scene = Scene::new();
    let result = scene.result(&[]);
    let text = fs::read_to_string(&result).unwrap();
    let here = scene.folder.path().display();
    for (made, option) in [
        (format!("image:ext4:64M:errors=panic@{here}"), "errors=panic"),
        ("image:ext4:64M:data_err=abort,noatime".to_owned(), "data_err=abort"),
        ("image:xfs:400M:logdev=/dev/vda".to_owned(), "logdev=/dev/vda"),
        ("image:btrfs:256M:device=/dev/vda".to_owned(), "device=/dev/vda"),
        ("image:ext4:64M:journal_path=/dev/vda".to_owned(), "journal_path=/dev/vda"),
    ] {
        let said = format!("the mount option `{option}` is not allowed");
        let mut run: Value = serde_json::from_str(&text).unwrap();
        run["places"][0]["made"] = made.as_str().into();
        fs::write(&result, run.to_string()).unwrap();
        assert_fails(&quick(&["rerun", &result, "--allow-commands"]), 2, &[&said]);
        let plan = scene.path("made.toml");
        fs::write(&plan, format!("[places]\nx = \"{made}\"")).unwrap();
        let plan = plan.display().to_string();
        assert_fails(&compare(&plan, &["--allow-commands"]), 2, &[&said]);
        assert_fails(&quick(&["compare", &format!("x={made}")]), 2, &[&said]);
    }
    // Harmless ones of a file are asked for, and so is a directory.
    for made in [format!("image:ext4:64MiB@{here}"), format!("overlay:{here}")] {
        let plan = scene.path("made.toml");
        fs::write(&plan, format!("[places]\nx = \"{made}\"")).unwrap();
        let plan = plan.display().to_string();
        let entry = format!("create   x                {made}");
        assert_fails(&compare(&plan, &[]), 2, &[ASKED[0], ASKED[1], &entry]);
        let shown = compare(&plan, &["--dry-run"]);
        assert!(shown.status.success() && stdout(&shown).contains(&entry), "{}", stdout(&shown));
    }
}

#[test]
fn a_plan_that_brings_nothing_runs_unasked_and_so_does_what_the_user_typed() {
    let scene = Scene::new();
    let plan = scene.plan("name = \"log\"\nstrategy = \"held\"");
    let output = compare(&plan, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let exec = scene.plan("name = \"exec\"\nspace = \"1 MiB\"");
    let output = compare(&exec, &["--set", "exec.command=ls {place}"]);
    assert!(output.status.success(), "{}", stderr(&output));
    // A command of the user's is theirs, but not where the file has it run something.
    let exec = scene.plan("name = \"exec\"\nvariant = \"$(id)\"");
    let output = compare(&exec, &["--set", "exec.command=ls {place}; sh -c \"{variant}\""]);
    assert_fails(&output, 2, &[ASKED[0], "sh -c \"'$(id)'\""]);
    // What was saved by a run of the user's own is not asked for.
    let store = scene.path("store");
    let kept = |args: &[&str]| {
        let output = iotoll().args(args).env("IOTOLL_DIR", &store).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let at = place("ram", scene.ram.path());
    kept(&["compare", &at, "--study=exec", "--budget=1s", "--set=exec.command=ls {place}"]);
    kept(&["rerun", "last"]);
}

#[test]
fn a_command_cannot_hide_what_it_does() {
    let scene = Scene::new();
    let blanks = " ".repeat(20_000);
    let study = "name = \"exec\"\ncommand = \"\"\"ls {place} \\u001b[8m \\r \\u202e";
    let plan = scene.plan(&format!("{study}{blanks}; echo the-end\n  run  exec.x  y\"\"\""));
    let output = compare(&plan, &[]);
    let said = stderr(&output);
    assert_fails(&output, 2, &["\\u{1b}[8m \\r \\u{202e}", "; echo the-end\n", "|   run  exec.x"]);
    assert!(!said.contains('\u{1b}') && !said.contains('\r') && !said.contains('\u{202e}'));
    assert!(said.contains("Together: 1 command, 2 lines for a shell."), "{said}");
}

#[test]
fn a_plan_that_is_piped_in_is_not_refused_and_is_asked_for() {
    let scene = Scene::new();
    let plan = fs::read(scene.plan("name = \"exec\"\ncommand = \"ls {place}\"")).unwrap();
    let piped = |flags: &[&str]| {
        let mut command = iotoll();
        command.args(["compare", "--no-save", "--plan", "/dev/stdin"]).args(flags);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&plan).unwrap();
        child.wait_with_output().unwrap()
    };
    assert_fails(&piped(&[]), 2, &ASKED);
    let output = piped(&["--allow-commands"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

/// What a terminal shows while a plan is run at it, and `answer` is typed.
fn at_a_terminal(plan: &str, answer: &str) -> Option<(String, Option<i32>)> {
    let iotoll = env!("CARGO_BIN_EXE_iotoll");
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &format!("'{iotoll}' compare --no-save --plan '{plan}'"), "/dev/null"]);
    let piped = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().ok()?;
    // Left open: an end of input would be an answer, too.
    let mut terminal = child.stdin.take().unwrap();
    terminal.write_all(answer.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(terminal);
    Some((stdout(&output), output.status.code()))
}

#[test]
fn at_a_terminal_it_is_asked_for_once_and_runs_where_the_answer_is_yes() {
    let scene = Scene::new();
    let ran = scene.path("ran");
    let study = format!("name = \"exec\"\ncommand = \"ls {{place}}; touch {}\"", ran.display());
    let plan = scene.plan(&study);
    for (answer, agrees) in [("n\n", false), ("\n", false), ("yep\n", false), ("y\n", true)] {
        let Some((shown, code)) = at_a_terminal(&plan, answer) else {
            return skip("at_a_terminal_it_is_asked_for", "there is no script (util-linux)");
        };
        assert_eq!(shown.matches("Run this? [y/N]").count(), 1, "{shown}");
        assert!(shown.find("exec.command") < shown.find("Run this?"), "{shown}");
        assert_eq!((code, ran.exists()), (Some(if agrees { 0 } else { 2 }), agrees), "{shown}");
    }
}

#[test]
fn root_acts_on_no_file_that_others_control_and_reads_it_all_the_same() {
    if !is_root() {
        return skip("root_acts_on_no_file_that_others_control", "only root is refused them");
    }
    let scene = Scene::new();
    let plan = scene.plan("name = \"log\"\nstrategy = \"held\"");
    let run = scene.result(&[]);
    let fails = |say: &[&str]| {
        for flag in ["--allow-commands", "--dry-run"] {
            assert_fails(&quick(&["rerun", &run, flag]), 2, say);
            assert_fails(&compare(&plan, &[flag]), 2, say);
        }
    };
    let own = |path: &Path, uid| chown(path, Some(uid), None).unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    for file in [&plan, &run].map(Path::new) {
        own(file, NOBODY);
    }
    let remedy = ["install -m 600", "sudo -u '#65534' iotoll"];
    fails(&[&["belongs to the user with UID 65534"], &remedy[..]].concat());
    for command in [["show", &run], ["report", &run]] {
        let mut args = command.to_vec();
        args.extend((command[0] == "report").then_some(["-o", "-"]).into_iter().flatten());
        let output = iotoll().args(args).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    for file in [&plan, &run].map(Path::new) {
        own(file, 0);
        mode(file, 0o666).unwrap();
    }
    fails(&["can be written to by others", remedy[0]]);
    for file in [&plan, &run].map(Path::new) {
        mode(file, 0o644).unwrap();
    }
    own(scene.folder.path(), NOBODY);
    fails(&[&["which belongs to the user with UID 65534"], &remedy[..]].concat());
    own(scene.folder.path(), 0);
    mode(scene.folder.path(), 0o777).unwrap();
    fails(&["others can rename", remedy[0]]);
    // Its own file in a folder such as `/tmp` is root's alone.
    mode(scene.folder.path(), 0o1777).unwrap();
    for output in [quick(&["rerun", &run, "--allow-commands"]), compare(&plan, &[])] {
        assert!(output.status.success(), "{}", stderr(&output));
    }
    // A baseline is only read.
    own(Path::new(&run), NOBODY);
    let exec = scene.plan("name = \"exec\"\ncommand = \"ls {place}\"");
    let output = compare(&exec, &["--allow-commands", "--baseline", &run]);
    let judged = [Some(0), Some(5), Some(6)].contains(&output.status.code());
    assert!(judged, "{}", stderr(&output));
}
