//! What a plan from a file makes a run do, besides measuring in directories: commands that are
//! run, files that are read, and places that are created with mount options or in a directory.
//!
//! All of it follows from the kinds of the studies' parameters, so that a new parameter cannot be
//! forgotten: a shell reads a [`ParamKind::Shell`], and a [`ParamKind::Path`] is opened.

use units::quoted;

use crate::arm::Arm;
use crate::grouped::each_once;
use crate::place::{PlaceRequest, Target};
use crate::plan::Plan;
use crate::shell::{PLACE, VARIANT, filled_in};
use crate::study::{ParamDescription, ParamKind};

/// The parts of a plan that the user typed, so that no file brought them.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    /// Parameters, by their study and name: all their values.
    pub params: Vec<(&'static str, &'static str)>,
    /// Paths that may be read, whichever parameter takes them.
    pub paths: Vec<String>,
    /// Places, by their labels.
    pub places: Vec<String>,
}

/// One thing that a file brought, which is done where the user agrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    /// A shell runs a command.
    Run {
        /// The parameter: `serve.command`.
        param: String,
        /// The command as it will run. The place stands for the folder in it.
        command: String,
    },
    /// Commands find a text in their environment which does not stand in them.
    Set {
        /// The parameter: `exec.variant`.
        param: String,
        /// What the environment calls it.
        name: &'static str,
        /// The text.
        text: String,
    },
    /// A file or folder is read.
    Read {
        /// The parameter: `log.sample`.
        param: String,
        /// Its path.
        path: String,
    },
    /// A place is created, mounted with options or in a directory that is named.
    Create {
        /// Its label.
        label: String,
        /// What is created.
        target: String,
    },
}

impl Typed {
    fn has_param(&self, arm: &Arm, param: &str) -> bool {
        self.params.iter().any(|(study, name)| *study == arm.study.name && *name == param)
    }

    fn has_place(&self, place: &PlaceRequest) -> bool {
        self.places.contains(&place.label)
    }
}

impl Plan {
    /// All that its file brought and the user did not type, each once, in the order of its arms.
    pub fn demands(&self, typed: &Typed) -> Vec<Demand> {
        let of_arms = self.arms().into_iter().flat_map(|arm| self.demands_of(&arm, typed));
        let mut demands = each_once(of_arms);
        let places = self.places.iter().filter(|place| !typed.has_place(place));
        demands.extend(places.filter_map(created));
        demands
    }

    fn demands_of(&self, arm: &Arm, typed: &Typed) -> Vec<Demand> {
        let place = &self.places[arm.place];
        let mut demands = Vec::new();
        for (param, text) in texts(arm) {
            let name = || format!("{}.{}", arm.study.name, param.name);
            let is_typed = typed.has_param(arm, &param.name);
            match param.limits {
                Some(ParamKind::Shell(_))
                    if !is_typed || is_completed(arm, place, &text, typed) =>
                {
                    let command = command(arm, place, &text);
                    demands.push(Demand::Run { param: name(), command });
                }
                Some(ParamKind::Path(_)) if !is_typed && !typed.paths.contains(&text) => {
                    demands.push(Demand::Read { param: name(), path: text });
                }
                Some(ParamKind::Name(_)) if !is_typed && is_hidden(arm) => {
                    let name_there = VARIANT[1];
                    demands.push(Demand::Set { param: name(), name: name_there, text });
                }
                _ => {}
            }
        }
        demands
    }
}

/// An arm's parameters that have a text.
fn texts(arm: &Arm) -> impl Iterator<Item = (&'static ParamDescription, String)> {
    let given = arm.params.0.iter();
    let texts = given.filter_map(|(name, value)| Some((arm.study.param(name)?, value.to_string())));
    texts.filter(|(_, text)| !text.is_empty())
}

fn commands(arm: &Arm) -> impl Iterator<Item = String> {
    let shell = texts(arm).filter(|(param, _)| matches!(param.limits, Some(ParamKind::Shell(_))));
    shell.map(|(_, text)| text)
}

/// The text by which commands differ.
fn variant(arm: &Arm) -> Option<(&'static ParamDescription, String)> {
    texts(arm).find(|(param, _)| matches!(param.limits, Some(ParamKind::Name(_))))
}

/// Whether an arm has commands, and none of them shows its variant.
fn is_hidden(arm: &Arm) -> bool {
    commands(arm).next().is_some() && !commands(arm).any(|text| text.contains(VARIANT[0]))
}

/// Whether a file completes a command that the user typed, with what a shell might run.
fn is_completed(arm: &Arm, place: &PlaceRequest, text: &str, typed: &Typed) -> bool {
    let by_variant = variant(arm).is_some_and(|(param, _)| !typed.has_param(arm, &param.name));
    let names_place = PLACE.iter().any(|name| text.contains(name));
    let is_plain = place.target.directory().is_none_or(|path| {
        let path = path.display().to_string();
        quoted(&path) == path
    });
    by_variant || names_place && !is_plain && !typed.has_place(place)
}

/// A command as it will run, as far as that is known before.
fn command(arm: &Arm, place: &PlaceRequest, text: &str) -> String {
    let variant = variant(arm).map_or_else(String::new, |(_, text)| text);
    let directory = place.target.directory().map(|path| path.display().to_string());
    let mut values = vec![(VARIANT[0], variant.as_str())];
    values.extend(directory.iter().map(|path| (PLACE[0], path.as_str())));
    filled_in(text, &values)
}

/// The place, where creating it needs the user's consent.
fn created(place: &PlaceRequest) -> Option<Demand> {
    let Target::Created(created) = &place.target else { return None };
    let (label, target) = (place.label.clone(), created.to_string());
    created.needs_consent().then_some(Demand::Create { label, target })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::LazyLock;

    use super::*;
    use crate::plan::{Draft, StudyPlan};
    use crate::study::{ParamValue, StrategyDescription, StudyDescription};

    static STUDY: LazyLock<StudyDescription> = LazyLock::new(|| {
        let param = |name, kind| ParamDescription::new(name, "", kind, "");
        StudyDescription {
            strategies: vec![StrategyDescription::new("one", "", "")],
            params: vec![
                param("command", ParamKind::Shell("")),
                param("check", ParamKind::Shell("")),
                param("variant", ParamKind::Name("")),
                param("set", ParamKind::Path("")),
                param("url", ParamKind::Text("")),
            ],
            ..StudyDescription::new("made", "", "step")
        }
    });

    fn plan(places: &[&str], given: &[(&'static str, &[&str])]) -> Plan {
        let mut study = StudyPlan::new(&STUDY);
        for (name, values) in given {
            study.set(name, values.iter().map(|text| ParamValue::text(text)).collect());
        }
        let places = places.iter().map(|place| place.parse().unwrap()).collect();
        Draft { places, studies: vec![study], ..Draft::default() }.finish(1).unwrap()
    }

    fn demands(plan: &Plan, typed: &Typed) -> Vec<String> {
        let written = |demand| match demand {
            Demand::Run { param, command } => format!("run {param}: {command}"),
            Demand::Set { param, name, text } => format!("set {param} as {name}: {text}"),
            Demand::Read { param, path } => format!("read {param}: {path}"),
            Demand::Create { label, target } => format!("create {label}: {target}"),
        };
        plan.demands(typed).into_iter().map(written).collect()
    }

    fn typed(params: &[&'static str]) -> Typed {
        let params = params.iter().map(|name| ("made", *name)).collect();
        Typed { params, ..Typed::default() }
    }

    #[test]
    fn each_command_is_listed_once_as_it_will_run() {
        let given: [(&str, &[&str]); 3] = [
            ("command", &[r#"sh -c "cat {place}/x; echo {variant} {port}""#]),
            ("check", &["true"]),
            ("variant", &["$(touch /PWNED)", "b"]),
        ];
        let plan = plan(&["disk=/srv", "ram=tmpfs:64M"], &given);
        let expected = [
            r#"run made.command: sh -c "cat /srv/x; echo '$(touch /PWNED)' {port}""#,
            "run made.check: true",
            r#"run made.command: sh -c "cat {place}/x; echo '$(touch /PWNED)' {port}""#,
            r#"run made.command: sh -c "cat /srv/x; echo b {port}""#,
            r#"run made.command: sh -c "cat {place}/x; echo b {port}""#,
        ];
        assert_eq!(demands(&plan, &Typed::default()), expected);
    }

    #[test]
    fn a_variant_that_no_command_shows_is_listed_by_itself() {
        let given: [(&str, &[&str]); 2] =
            [("command", &["eval $IOTOLL_VARIANT"]), ("variant", &["touch /PWNED"])];
        let plan = plan(&["/srv"], &given);
        let expected = [
            "run made.command: eval $IOTOLL_VARIANT",
            "set made.variant as IOTOLL_VARIANT: touch /PWNED",
        ];
        assert_eq!(demands(&plan, &Typed::default()), expected);
        // A file's variant completes a command of the user's.
        assert_eq!(demands(&plan, &typed(&["command"])), expected);
        assert_eq!(demands(&plan, &typed(&["command", "variant"])), [""; 0]);
        assert_eq!(demands(&plan, &typed(&["variant"])), expected[..1]);
    }

    #[test]
    fn files_that_are_read_and_places_that_are_created_are_listed() {
        let given: [(&str, &[&str]); 2] = [("set", &["/etc/shadow", "/etc/x"]), ("url", &["/y"])];
        let places = [
            "a=/srv",
            "b=tmpfs:64M:huge=always",
            "c=zram:64M",
            "d=image:ext4:64M",
            "e=image:ext4:64M:commit=1",
            "f=image:ext4:64M@/srv",
            "g=overlay:/etc",
        ];
        let plan = plan(&places, &given);
        let created = [
            "create e: image:ext4:64MiB:commit=1",
            "create f: image:ext4:64MiB@/srv",
            "create g: overlay:/etc",
        ];
        let read = ["read made.set: /etc/shadow", "read made.set: /etc/x"];
        assert_eq!(demands(&plan, &Typed::default()), [&read[..], &created].concat());
        assert_eq!(demands(&plan, &typed(&["set"])), created);
        let places = ["e", "f", "g"].map(str::to_owned).to_vec();
        assert_eq!(demands(&plan, &Typed { places, ..Typed::default() }), read);
        // A path that was typed says nothing of another that the file names.
        let paths = vec!["/etc/x".to_owned()];
        let asked = demands(&plan, &Typed { paths, ..Typed::default() });
        assert_eq!(asked, [&read[..1], &created].concat());
    }

    #[test]
    fn a_place_of_a_file_completes_a_users_command_only_where_a_shell_might_run_it() {
        let demanded = |place: &str| {
            let plan = plan(&[place], &[("command", &[r#"sh -c "ls {place}""#])]);
            demands(&plan, &typed(&["command"]))
        };
        assert_eq!(demanded("disk=/srv/app"), [""; 0]);
        assert_eq!(demanded("disk=/tmp/$(id)"), [r#"run made.command: sh -c "ls '/tmp/$(id)'""#]);
    }
}
