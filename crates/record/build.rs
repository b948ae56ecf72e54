//! Makes the library that recorded programs take (`src/preload/library`) and the program that it is
//! calibrated by, where they can be used.

#[path = "src/shared.rs"]
mod shared;
#[path = "src/timing.rs"]
mod timing;

use std::env;
use std::path::{Path, PathBuf};

const SOURCES: &[&str] = &[
    "calls.c",
    "clone.c",
    "dispatch.c",
    "entry.S",
    "execute.c",
    "record.c",
    "shared.c",
    "signals.c",
    "start.c",
    "user_dispatch.c",
];

/// No compiler may make calls of libc's where there are none, or touch registers that a program
/// has in use. What the library has of its own is seen by nobody; its constructor is the first.
const FLAGS: &[&str] = &[
    "-std=c11",
    "-O2",
    "-fPIC",
    "-shared",
    "-nostdlib",
    "-ffreestanding",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-tree-loop-distribute-patterns",
    "-fasynchronous-unwind-tables",
    "-fcf-protection=none",
    "-mgeneral-regs-only",
    "-fvisibility=hidden",
    "-U_FORTIFY_SOURCE",
    "-Wall",
    "-Wextra",
    "-Wl,-z,initfirst",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,-z,noexecstack",
];

/// The program that the library is calibrated by begins without `main`.
const PROGRAM: &str = "src/preload/time_calls.c";
const PROGRAM_FLAGS: &[&str] =
    &["-std=gnu11", "-O2", "-fPIE", "-pie", "-nostartfiles", "-Wall", "-Wextra"];

fn main() {
    let folder = Path::new("src/preload/library");
    for file in [folder, Path::new("src/shared.rs"), Path::new("src/timing.rs"), Path::new(PROGRAM)]
    {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let headers = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let (library, program) = (headers.join("preload.so"), headers.join("time-calls"));
    let is_possible =
        target("ARCH") == "x86_64" && target("OS") == "linux" && target("ENV") == "gnu";
    if !is_possible {
        write(&library, "");
        write(&program, "");
        return;
    }
    write(&headers.join("constants.h"), &constants());
    write(&headers.join("places.h"), &assertions());
    write(&headers.join("timing.h"), &timed());
    let sources = SOURCES.iter().map(|source| folder.join(source));
    compile(FLAGS, &headers, sources, &library);
    compile(PROGRAM_FLAGS, &headers, [PathBuf::from(PROGRAM)], &program);
}

fn compile(flags: &[&str], headers: &Path, sources: impl IntoIterator<Item = PathBuf>, out: &Path) {
    let compiler = cc::Build::new().no_default_flags(true).warnings(false).get_compiler();
    let mut command = compiler.to_command();
    // The linker's number for a build would differ by where it was built.
    command.args(flags).arg("-Wl,--build-id=none").arg("-I").arg(headers).args(sources);
    let done = command.arg("-o").arg(out).status();
    assert!(done.is_ok_and(|status| status.success()), "it was not made: {command:?}");
}

fn write(file: &Path, text: &str) {
    assert!(std::fs::write(file, text).is_ok(), "{} cannot be written", file.display());
}

/// The constants, for the library to use.
fn constants() -> String {
    let suffix = |is_long: bool| if is_long { "ul" } else { "u" };
    let number = |(name, value, is_long): &(&str, u64, bool)| {
        format!("#define {name} {value:#x}{}\n", suffix(*is_long))
    };
    let text = |(name, text): &(&str, &str)| format!("#define {name} \"{text}\"\n");
    shared::CONSTANTS.iter().map(number).chain(shared::TEXTS.iter().map(text)).collect()
}

/// What the program for calibrating times.
fn timed() -> String {
    let numbers = [
        ("CALL_BYTES", timing::CALL_BYTES as u64),
        ("ROUNDS", timing::ROUNDS as u64),
        ("STARTS", timing::STARTS as u64),
        ("COLD_OFFSET", timing::COLD_OFFSET),
        ("COLD_BYTES", timing::COLD_BYTES as u64),
        ("COLD_PART", timing::COLD_PART.into()),
    ];
    let number = |(name, value): (&str, u64)| format!("#define {name} {value}\n");
    let text = |(name, text): (&str, &str)| format!("#define {name} \"{text}\"\n");
    let texts = [("NAMED", timing::NAMED), ("COLD_NAMED", timing::COLD_NAMED)];
    numbers.into_iter().map(number).chain(texts.into_iter().map(text)).collect()
}

/// What has to hold where the library has defined its structures, and may have defined a
/// constant again.
fn assertions() -> String {
    let holds = |what: String| format!("_Static_assert({what}, \"not as in shared.rs\");\n");
    let constant = |(name, value, _): &(&str, u64, bool)| holds(format!("{name} == {value:#x}"));
    let place = |(of, field, at, bytes): &(&str, &str, usize, usize)| {
        let is_there = holds(format!("__builtin_offsetof(struct {of}, {field}) == {at}"));
        match bytes {
            0 => is_there,
            _ => is_there + &holds(format!("sizeof(((struct {of} *)0)->{field}) == {bytes}")),
        }
    };
    shared::CONSTANTS.iter().map(constant).chain(shared::PLACES.iter().map(place)).collect()
}
