//! A folder of findings: for each defect the shortest input that shows it, and a description.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::outcome::Defect;

/// The ending of descriptions.
const ABOUT: &str = "json";

/// A defect, and how it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The defect.
    pub defect: Defect,
    /// How long after the target's beginning it was found first.
    pub after_s: f64,
    /// After how many inputs.
    pub after_inputs: u64,
    /// The input, below the folder.
    pub input: PathBuf,
    /// How long that is.
    pub bytes: usize,
}

/// Keeps an input that shows a defect, unless a shorter one is there.
///
/// # Errors
/// Where it cannot be written.
pub fn keep(
    folder: &Path,
    defect: &Defect,
    input: &[u8],
    (after_s, after_inputs): (f64, u64),
) -> io::Result<()> {
    let name = file_name(&defect.place);
    let about = folder.join(&name).with_extension(ABOUT);
    let known = read(&about);
    if known.as_ref().is_some_and(|known| known.bytes <= input.len()) {
        return Ok(());
    }
    let (after_s, after_inputs) =
        known.map_or((after_s, after_inputs), |known| (known.after_s, known.after_inputs));
    let (defect, bytes) = (defect.clone(), input.len());
    let finding = Finding { defect, after_s, after_inputs, input: folder.join(&name), bytes };
    fs::create_dir_all(folder)?;
    fs::write(&finding.input, input)?;
    fs::write(about, serde_json::to_vec_pretty(&finding)?)
}

/// The findings in a folder, in the order in which they were found.
pub fn all(folder: &Path) -> Vec<Finding> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let abouts = files.filter(|path| path.extension().is_some_and(|is| is == ABOUT));
    let mut all: Vec<Finding> = abouts.filter_map(|about| read(&about)).collect();
    all.sort_by(|a, b| a.after_s.total_cmp(&b.after_s).then_with(|| a.input.cmp(&b.input)));
    all
}

fn read(about: &Path) -> Option<Finding> {
    serde_json::from_slice(&fs::read(about).ok()?).ok()
}

/// A place as the name of a file. It has no point, so that an ending can be added.
fn file_name(place: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    place.chars().map(letter).take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_input_of_each_defect_is_kept() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let defect = |place: &str| Defect { place: place.to_owned(), message: "why".to_owned() };
        let (first, second) = (defect("crates/a.rs:1:2"), defect("memory"));
        for (defect, input, after) in [
            (&first, &b"longer"[..], (1.0, 10)),
            (&second, b"other", (1.5, 15)),
            (&first, b"short", (2.0, 20)),
            (&first, b"longest", (3.0, 30)),
        ] {
            keep(folder.path(), defect, input, after)?;
        }
        let found = all(folder.path());
        let places: Vec<&Defect> = found.iter().map(|finding| &finding.defect).collect();
        assert_eq!(places, [&first, &second]);
        assert_eq!((found[0].after_inputs, fs::read(&found[0].input)?), (10, b"short".to_vec()));
        Ok(())
    }
}
