//! How long the lines of a log of the user's are.

use std::path::Path;
use std::sync::Arc;

use engine::study::StudyError;
use memchr::memchr_iter;
use model::material::Material;
use model::study::Sizes;
use units::{counted, exact_size, rough_size};

use super::inherited::{self, Kept};
use super::source::{open_file, read_part, shown, unreadable};
use crate::shared::Shared;

/// What is read of a log, from its end.
const READ_BYTES_MAX: u64 = 16 << 20;
/// So many sizes stand for all: each for an equal number of lines, of which it is the mean.
const SIZES_MAX: usize = 1024;

/// Lines' sizes, each with its newline.
#[derive(Debug)]
pub(crate) struct LineSizes {
    /// From the smallest on, each as likely as the next.
    pub(crate) sizes: Vec<u32>,
    about: String,
    _kept: Option<Kept>,
}

impl LineSizes {
    /// Looks at a log, or shares what another arm has seen of it. Sizes are at least `min`,
    /// and a line of more than `max` is an error.
    pub(crate) fn read(path: &str, min: u32, max: u32) -> Result<Arc<Self>, StudyError> {
        static READ: Shared<(String, [u32; 2]), LineSizes> = Shared::new();
        READ.get((path.to_owned(), [min, max]), || {
            let name = format!("lines of {path}, {min} to {max}");
            if let Some(given) = inherited::given(&name) {
                let ((sizes, about), _) = given?;
                return Ok(Self { sizes, about, _kept: None });
            }
            let (bytes, is_whole) = last_bytes(path)?;
            let found = Self::of(&bytes, is_whole, min, max)
                .map_err(|e| format!("{}: {e}", shown(Path::new(path))))?;
            let kept = inherited::keep(&name, &(&found.sizes, &found.about), [])?;
            Ok(Self { _kept: Some(kept), ..found })
        })
        .map_err(StudyError::Unsuited)
    }

    /// Those of a log's last bytes, or of all of it.
    fn of(bytes: &[u8], is_whole: bool, min: u32, max: u32) -> Result<Self, String> {
        let mut ends = memchr_iter(b'\n', bytes).map(|at| at + 1);
        // Where the first line begins is not seen.
        let mut start = if is_whole { 0 } else { ends.next().unwrap_or(bytes.len()) };
        let mut sizes: Vec<u32> = Vec::new();
        for end in ends {
            sizes.push(u32::try_from(end - start).unwrap_or(u32::MAX));
            start = end;
        }
        sizes.sort_unstable();
        let (Some(&smallest), Some(&largest)) = (sizes.first(), sizes.last()) else {
            return Err("it has no complete line to take a size from; name a log with lines".into());
        };
        if largest > max {
            return Err(format!(
                "it has a line of {}, and records are at most {}; name a log with shorter lines",
                rough_size(largest.into()),
                exact_size(max.into())
            ));
        }
        let total: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        let raised = sizes.partition_point(|&size| size < min);
        let mut about = format!(
            "record sizes of {}, {smallest} B to {largest} B, {:.0} B on average; contents are \
             generated",
            counted(sizes.len() as u64, "line"),
            total as f64 / sizes.len() as f64
        );
        if raised > 0 {
            let lines = counted(raised as u64, "line");
            about += &format!("; {lines} of less than {min} B written as {min} B");
        }
        sizes[..raised].fill(min);
        Ok(Self { sizes: grouped(&sizes), about, _kept: None })
    }

    /// The smallest and the largest.
    pub(crate) fn range(&self) -> Sizes {
        let ends = [self.sizes.first(), self.sizes.last()];
        let [min, max] = ends.map(|size| size.copied().unwrap_or_default().into());
        Sizes { min, max }
    }

    pub(crate) fn mean(&self) -> f64 {
        let total: u64 = self.sizes.iter().map(|&size| u64::from(size)).sum();
        total as f64 / self.sizes.len().max(1) as f64
    }

    /// What reports say of it.
    pub(crate) fn material(&self) -> Material {
        Material::own(self.about.clone(), 0)
    }
}

/// Means of groups of neighbours that are as large as one another.
fn grouped(sizes: &[u32]) -> Vec<u32> {
    let groups = sizes.len().min(SIZES_MAX);
    let bound = |group: usize| group * sizes.len() / groups;
    let mean = |group: usize| {
        let of = &sizes[bound(group)..bound(group + 1)];
        let total: u64 = of.iter().map(|&size| u64::from(size)).sum();
        (total as f64 / of.len() as f64).round() as u32
    };
    (0..groups).map(mean).collect()
}

/// The last bytes of a log, and whether they are all of it.
fn last_bytes(path: &str) -> Result<(Vec<u8>, bool), String> {
    let (file, stat) = open_file(path)?;
    let size = stat.st_size as u64;
    let from = size.saturating_sub(READ_BYTES_MAX);
    let bytes = read_part(&mut file.into(), from, size - from);
    Ok((bytes.map_err(|e| unreadable(Path::new(path), e))?, from == 0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_have_sizes_within_bounds_or_are_refused(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
            is_whole in any::<bool>(),
        ) {
            if let Ok(found) = LineSizes::of(&bytes, is_whole, 3, 100) {
                prop_assert!(!found.sizes.is_empty() && found.sizes.is_sorted());
                prop_assert!(found.sizes.iter().all(|size| (3..=100).contains(size)));
            }
        }
    }

    fn of(text: &[u8], is_whole: bool) -> Result<LineSizes, String> {
        LineSizes::of(text, is_whole, 3, 100)
    }

    #[test]
    fn lines_count_with_their_newlines_and_only_whole_ones() {
        assert_eq!(of(b"1234\n12\n123456\ncut", true).unwrap().sizes, [3, 5, 7]);
        // The first may have begun before what was read.
        assert_eq!(of(b"1234\n12\n123456\ncut", false).unwrap().sizes, [3, 7]);
        let short = of(b"\n\n12345\n", true).unwrap();
        assert_eq!(short.sizes, [3, 3, 6]);
        assert!(short.about.contains("2 lines of less than 3 B written as 3 B"), "{short:?}");
        for nothing in [&b""[..], b"no newline"] {
            assert!(of(nothing, true).unwrap_err().contains("no complete line"));
        }
        assert!(
            of(&[b"x".repeat(100), b"\n".to_vec()].concat(), true).unwrap_err().contains("101 B")
        );
    }

    #[test]
    fn many_lines_keep_their_mean_and_their_spread() {
        let sizes: Vec<u32> = (1..=100_000).collect();
        let kept = grouped(&sizes);
        let mean = |of: &[u32]| of.iter().map(|&s| f64::from(s)).sum::<f64>() / of.len() as f64;
        assert_eq!(kept.len(), SIZES_MAX);
        assert!((mean(&kept) / mean(&sizes) - 1.0).abs() < 1e-3);
        assert!(kept[0] < 100 && kept[SIZES_MAX - 1] > 99_900 && kept.is_sorted());
    }
}
