//! A few kills at random moments, of the program that was built with the tests.

use std::process::Command;

use xtask::process::built_iotoll;

#[test]
fn killed_runs_leave_nothing_and_keep_every_complete_block() {
    let mut kill = Command::new(env!("CARGO_BIN_EXE_iotoll-bench"));
    kill.args(["kill", "--usual", "--kills", "18", "--at-once", "2", "--iotoll"]);
    let told = kill.arg(built_iotoll()).output().expect("the bench starts");
    let text = [told.stdout, told.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(told.status.success(), "{}", text.concat());
}
