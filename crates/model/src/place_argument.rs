//! Places as they are given on a command line: `disk=/var/log`, or the path alone,
//! which is then labelled by its last part.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};
use std::str::FromStr;

use crate::created::asks_to_create;
use crate::place::{LABEL_CHARS_MAX, PlaceRequest, PlaceSyntaxError, Target, is_label_char};

/// As many parts as a label has room for, with what joins them.
const PARTS_MAX: usize = LABEL_CHARS_MAX / 2;

/// A place with its label, or a path that is yet to get one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceArgument {
    /// `label=/path`.
    Labelled(PlaceRequest),
    /// `/path`, or what is to be made.
    Bare(Target),
}

impl FromStr for PlaceArgument {
    type Err = PlaceSyntaxError;

    /// What has a slash before its first `=` is a path, as `./a=b` is. No label has a colon,
    /// so what begins as something to be made is that.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if asks_to_create(text) {
            return Self::bare(text);
        }
        match text.split_once('=') {
            Some((label, _)) if label.contains('/') => Self::bare(text),
            None => Self::bare(text),
            Some((label, path)) if label.is_empty() || path.is_empty() => {
                Err(PlaceSyntaxError::Empty(text.to_owned()))
            }
            Some((label, path)) => PlaceRequest::new(label, path).map(Self::Labelled),
        }
    }
}

impl FromStr for PlaceRequest {
    type Err = PlaceSyntaxError;

    /// One place by itself, which is labelled from nothing but what is written.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let argument: PlaceArgument = text.parse()?;
        Ok(labelled(&[argument], Path::new("/")).remove(0))
    }
}

impl PlaceArgument {
    fn bare(text: &str) -> Result<Self, PlaceSyntaxError> {
        if text.is_empty() {
            return Err(PlaceSyntaxError::Nothing);
        }
        Target::new(text).map(Self::Bare)
    }

    /// What it is.
    pub fn target(&self) -> &Target {
        match self {
            Self::Labelled(place) => &place.target,
            Self::Bare(target) => target,
        }
    }
}

/// The places, each with a label: a path alone gets its last part, and as many parts
/// before that as tell it from the others. Labels that were given stay as they are.
/// Relative paths are in the directory `here`.
pub fn labelled(arguments: &[PlaceArgument], here: &Path) -> Vec<PlaceRequest> {
    let mut names: Vec<Name> = arguments.iter().map(|argument| Name::new(argument, here)).collect();
    loop {
        let labels: Vec<String> = names.iter().map(Name::label).collect();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for label in &labels {
            *uses.entry(label).or_default() += 1;
        }
        let mut has_grown = false;
        for (name, label) in names.iter_mut().zip(&labels) {
            has_grown |= uses[label.as_str()] > 1 && name.take_another_part();
        }
        if !has_grown {
            break;
        }
    }
    let labels = numbered(&names);
    let place = |(argument, label): (&PlaceArgument, String)| PlaceRequest {
        label,
        target: argument.target().clone(),
    };
    arguments.iter().zip(labels).map(place).collect()
}

/// The labels, those that no part of the path tells apart with a number at the end.
fn numbered(names: &[Name]) -> Vec<String> {
    let given = names.iter().filter(|name| matches!(name, Name::Given(_)));
    let mut taken: HashSet<String> = given.map(Name::label).collect();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let label = |name: &Name| {
        let own = name.label();
        if matches!(name, Name::Given(_)) || taken.insert(own.clone()) {
            return own;
        }
        let number = numbers.entry(own.clone()).or_insert(1);
        loop {
            *number += 1;
            let end = format!("-{number}");
            let kept: String = own.chars().take(LABEL_CHARS_MAX - end.len()).collect();
            if taken.insert(kept.clone() + &end) {
                return kept + &end;
            }
        }
    };
    names.iter().map(label).collect()
}

/// What a place is called.
enum Name {
    /// What its user calls it.
    Given(String),
    /// The last so many parts of its path.
    Parts { parts: Vec<String>, taken: usize },
}

impl Name {
    fn new(argument: &PlaceArgument, here: &Path) -> Self {
        match argument {
            PlaceArgument::Labelled(place) => Self::Given(place.label.clone()),
            PlaceArgument::Bare(Target::Directory(path)) => {
                Self::Parts { parts: parts(&here.join(path)), taken: 1 }
            }
            PlaceArgument::Bare(Target::Created(created)) => {
                Self::Parts { parts: vec![created.usual_label().to_owned()], taken: 1 }
            }
        }
    }

    fn label(&self) -> String {
        match self {
            Self::Given(label) => label.clone(),
            Self::Parts { parts, taken } => {
                let first = parts.len().saturating_sub(*taken);
                let label: String =
                    parts[first..].join("-").chars().take(LABEL_CHARS_MAX).collect();
                if label.is_empty() { "root".to_owned() } else { label }
            }
        }
    }

    fn take_another_part(&mut self) -> bool {
        match self {
            Self::Parts { parts, taken } if *taken < parts.len().min(PARTS_MAX) => {
                *taken += 1;
                true
            }
            Self::Parts { .. } | Self::Given(_) => false,
        }
    }
}

/// The names on the way to a directory, as labels can have them.
fn parts(path: &Path) -> Vec<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => parts.push(as_label(&name.to_string_lossy())),
            Component::ParentDir => _ = parts.pop(),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    parts
}

/// A name with a `-` for what a label cannot have.
fn as_label(name: &str) -> String {
    let words = name.split(|c| !is_label_char(c)).filter(|word| !word.is_empty());
    let label = words.collect::<Vec<_>>().join("-");
    if label.is_empty() { "place".to_owned() } else { label }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn labels(given: &[&str]) -> Vec<String> {
        let arguments: Vec<PlaceArgument> =
            given.iter().map(|text| text.parse().unwrap()).collect();
        let places = labelled(&arguments, Path::new("/home/me/project"));
        places.into_iter().map(|place| place.label).collect()
    }

    #[test]
    fn a_path_alone_is_labelled_by_its_last_part() {
        assert_eq!(labels(&["/var/log", "/dev/shm"]), ["log", "shm"]);
        assert_eq!(labels(&["/var/log/", "cache", "."]), ["log", "cache", "project"]);
        assert_eq!(labels(&["/", ".."]), ["root", "me"]);
        assert_eq!(labels(&["/srv/my data (old)", "/srv/日本"]), ["my-data-old", "place"]);
        assert_eq!(labels(&["disk=/srv", "/dev/shm"]), ["disk", "shm"]);
    }

    #[test]
    fn as_many_parts_are_taken_as_tell_places_apart() {
        assert_eq!(labels(&["a/data", "b/data", "/srv"]), ["a-data", "b-data", "srv"]);
        assert_eq!(labels(&["/x/a/data", "/y/a/data"]), ["x-a-data", "y-a-data"]);
        assert_eq!(labels(&["/data", "/srv/data"]), ["data", "srv-data"]);
        // A label that was given is not another path's.
        assert_eq!(labels(&["/var/log", "log=/srv"]), ["var-log", "log"]);
        assert_eq!(labels(&["/srv", "/srv", "/srv"]), ["srv", "srv-2", "srv-3"]);
        assert_eq!(labels(&["/srv", "srv=/x", "srv-2=/y"]), ["srv-3", "srv", "srv-2"]);
        let long = "/x".repeat(40);
        let told = labels(&[&format!("/{long}"), &format!("/y{long}"), &long, "/x"]);
        assert!(told.iter().all(|label| label.len() <= LABEL_CHARS_MAX), "{told:?}");
        let mut once = told.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), 4, "{told:?}");
    }

    #[test]
    fn a_slash_before_the_equals_sign_makes_a_path() {
        assert_eq!(labels(&["./a=b", "/srv/c=d"]), ["a-b", "c-d"]);
        let target = |text: &str| text.parse::<PlaceArgument>().unwrap().target().to_string();
        assert_eq!(target("./a=b"), "./a=b");
        assert_eq!(target("a=b"), "b");
        let wrong = |text: &str| text.parse::<PlaceArgument>().unwrap_err().to_string();
        assert!(wrong("").contains("empty"), "{}", wrong(""));
        assert!(wrong("=/tmp").contains("both the label and the path"));
        assert!(wrong("a b=/tmp").contains("is not a label"));
        assert!(wrong("tmpfs:x").contains("`tmpfs:x` cannot be created: `x` is not a size"));
        assert!(wrong("a=zram:1").contains("`zram:1` cannot be created"));
    }

    #[test]
    fn what_is_to_be_made_is_labelled_by_its_kind() {
        let given = ["tmpfs:1G", "ram=tmpfs:1G", "image:btrfs:1G:compress=zstd", "tmpfs:2G"];
        assert_eq!(labels(&given), ["tmpfs", "ram", "btrfs", "tmpfs-2"]);
        assert_eq!(labels(&["./tmpfs:1G"]), ["tmpfs-1G"]);
    }
}
