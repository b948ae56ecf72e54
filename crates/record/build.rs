//! Makes the library that recorded programs take (`src/preload/library`), where it can be used.

use std::env;
use std::ffi::OsString;
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

fn main() {
    let folder = Path::new("src/preload/library");
    println!("cargo::rerun-if-changed={}", folder.display());
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("preload.so");
    let is_possible =
        target("ARCH") == "x86_64" && target("OS") == "linux" && target("ENV") == "gnu";
    if !is_possible {
        assert!(std::fs::write(&out, "").is_ok(), "{} cannot be written", out.display());
        return;
    }
    let compiler = cc::Build::new().no_default_flags(true).warnings(false).get_compiler();
    let mut command = compiler.to_command();
    command.args(FLAGS).args(SOURCES.iter().map(|source| OsString::from(folder.join(source))));
    let done = command.arg("-o").arg(&out).status();
    assert!(done.is_ok_and(|status| status.success()), "the library was not made: {command:?}");
}
