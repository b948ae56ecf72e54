//! Lets the program be linked, and so linted, where libFuzzer is not.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_LINKED").is_none() {
        println!("cargo::rustc-link-arg-bins=-Wl,--unresolved-symbols=ignore-all");
    }
}
