//! A file system that several machines may share.

#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

use crate::common;

use common::gluster::{Layout, Volume};
use common::{entries, place, run, stderr, stdout};
use serde_json::Value;

#[test]
fn a_glusterfs_volume_is_known_and_measured() {
    let volume = match Volume::mounted(Layout::One) {
        Ok(volume) => volume,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let gv = place("gv", &volume.mount());
    let told = run(["places", &gv, "--json", "-"]);
    let told: Value = serde_json::from_str(&stdout(&told)).unwrap();
    let facts = &told["places"][0];
    assert_eq!(
        (&facts["kind"], &facts["filesystem"]),
        (&"network".into(), &"fuse.glusterfs".into())
    );
    let detail = |name: &str| {
        let details = facts["details"].as_array().unwrap();
        let found = details.iter().find(|detail| detail["name"] == name);
        found.map(|detail| detail["value"].as_str().unwrap().to_owned()).unwrap()
    };
    assert!(detail("appends").starts_with("atomic between machines"), "{facts}");
    assert!(detail("locks").starts_with("shared between machines"), "{facts}");

    let study = ["--study", "log", "--strategy", "held,flock", "--set", "log.writers=2"];
    let measured = run([
        &["compare", &gv, "--json", "-", "--budget", "10s", "--no-save"],
        &study[..],
    ]
    .concat());
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    let result: Value = serde_json::from_str(&stdout(&measured)).unwrap();
    for arm in result["arms"].as_array().unwrap() {
        assert_eq!(arm["failure"], Value::Null, "{arm}");
        assert!(arm["integrity"]["records"].as_u64().unwrap() > 0, "{arm}");
        for broken in ["lost", "torn", "overwritten"] {
            assert_eq!(arm["integrity"][broken], 0, "{arm}");
        }
    }
    assert_eq!(entries(&volume.mount()).len(), 0);
}
